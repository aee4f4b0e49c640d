"""The batch scripts and the files that they source."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.examples.jobs import EXAMPLES

BATCH = sorted(EXAMPLES.glob("*/*.sbatch"))


@pytest.mark.parametrize("script", BATCH, ids=lambda path: path.name)
def test_every_line_to_change_has_a_comment(script: Path) -> None:
    head, found, _ = script.read_text().partition('source "$EXAMPLES')
    settings = [line for line in head.splitlines() if re.match(r"#SBATCH|(# )?export \w+=", line)]
    assert found
    assert len(settings) > 15
    assert [line for line in settings if not re.search(r"\S\s+# ?\w", line)] == []


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*/*.py")), ids=lambda path: path.name)
def test_no_flag_that_torchrun_takes_for_its_own(script: Path) -> None:
    assert "--log" not in script.read_text()


def environment(family: str, *names: str) -> subprocess.CompletedProcess[str]:
    program = f'source "{EXAMPLES}/common/environment.sh" && set_environment && printf "%s\\n" ' + " ".join(
        f'"${{{n}-}}"' for n in names
    )
    return subprocess.run(  # noqa: S603
        ["bash", "-c", program],
        env={"INSTANCE_FAMILY": family, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_environment_of_each_family() -> None:
    names = ("FI_PROVIDER", "FI_EFA_USE_DEVICE_RDMA", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE")
    assert environment("p4d", *names).stdout.splitlines() == ["efa", "1", "1"]
    assert environment("p5", *names).stdout.splitlines() == ["efa", "", "1"]
    assert environment("c5", *names).stdout.splitlines() == ["", "", "1"]


@pytest.mark.skipif(Path("/dev/neuron0").exists(), reason="this is a Trainium machine")
def test_fails_with_a_sentence_for_trn1_elsewhere() -> None:
    result = environment("trn1")
    assert result.returncode
    assert "this node has no Neuron device (/dev/neuron0); submit to a partition of trn1 nodes" in result.stderr


@pytest.mark.parametrize(
    ("node", "known", "address"),
    [
        ("node-0", "NodeAddr=10.1.2.3", "10.1.2.3"),
        ("ip-10-1-2-3", "NodeAddr=ip-10-1-2-3", "10.1.2.3"),
        ("ip-10-9-8-7", "", "10.9.8.7"),
    ],
)
def test_address_of_a_node(tmp_path: Path, node: str, known: str, address: str) -> None:
    scontrol = tmp_path / "scontrol"
    scontrol.write_text(f"#!/bin/sh\necho 'NodeName={node} {known} Weight=1'\n")
    scontrol.chmod(0o755)
    program = f'source "{EXAMPLES}/common/slurm.sh" && node_address {node}'
    result = subprocess.run(  # noqa: S603
        ["bash", "-c", program], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == address


def guard(tmp_path: Path, beats: bool) -> str:
    """The calls of scontrol by the watch over a live or silent batch host, within some seconds."""
    asked = tmp_path / "asked"
    scontrol = tmp_path / "scontrol"
    scontrol.write_text(f'#!/bin/sh\necho "$@" >>{asked}\n')
    scontrol.chmod(0o755)
    beat = 'for n in $(seq 40); do echo $n >"$(pulse_file)"; sleep 0.1; done; touch "$COMPLETE"'
    silence = 'echo 1 >"$(pulse_file)"'
    program = f'source "$EXAMPLES/common/slurm.sh"; ({beat if beats else silence}) & bash "$EXAMPLES/common/guard.sh"; wait'
    environment = {
        "EXAMPLES": str(EXAMPLES),
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "RUN_DIR": str(tmp_path),
        "COMPLETE": str(tmp_path / "complete"),
        "SLURM_JOB_ID": "7",
        "PULSE_SECONDS": "0.1",
        "BATCH_HOST_SECONDS": "1",
    }
    subprocess.run(["bash", "-c", program], env=environment, check=True, timeout=60)  # noqa: S603
    return asked.read_text() if asked.exists() else ""


def test_silent_batch_host_puts_the_job_back_into_the_queue(tmp_path: Path) -> None:
    assert guard(tmp_path, beats=False) == "requeue 7\n"


def test_batch_host_that_is_alive_is_left_alone(tmp_path: Path) -> None:
    assert guard(tmp_path, beats=True) == ""
