"""`hyperpod job`: the folder of a job for a cluster, and the look at batch scripts."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cli.operate.batch_script import LARGEST, misplaced_options
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import CLUSTER, run
from tests.cli.operate.entries import invoke
from tests.examples.jobs import EXAMPLES

CONTROLLER, WORKERS = CLUSTER["InstanceGroups"]
GPUS = {
    **WORKERS,
    "InstanceGroupName": "gpus",
    "InstanceType": "ml.p5.48xlarge",
    "CurrentCount": 4,
    "TargetCount": 4,
    "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["training"]},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(target: StubbedTarget, *groups: dict[str, Any], **members: Any) -> None:
    found = {**CLUSTER, "InstanceGroups": [CONTROLLER, *groups], **members}
    target.answer("sagemaker", "describe_cluster", found, ClusterName="trainer")


def new(*arguments: str) -> Any:
    return run("job", "new", *arguments, "--cluster", "trainer")


def said(result: Any) -> str:
    return " ".join(result.output.split())


@pytest.mark.parametrize("method", ["ddp", "fsdp2", "elastic"])
def test_a_job_has_the_facts_of_the_cluster(account: StubbedTarget, folder: Path, method: str) -> None:
    answer(account, GPUS)
    result = new("llama-7b", "--method", method)
    assert result.exit_code == 0, result.output
    assert "cd llama-7b && PYTHON=/fsx/venv/bin/python sbatch llama-7b.sbatch" in said(result)
    script = folder / "llama-7b" / "llama-7b.sbatch"
    text = script.read_text()
    assert re.findall(r"^#SBATCH --(job-name|nodes|partition)=(\S+)", text, re.MULTILINE) == [
        ("job-name", "llama-7b"),
        ("partition", "training"),
        ("nodes", "2-4" if method == "elastic" else "4"),
    ]
    assert "RANKS_PER_NODE:-8} # ml.p5.48xlarge: 8 H100, 32 cards with EFA" in text
    assert "INSTANCE_FAMILY:-p5}" in text
    assert ('srun "${resume[@]}"' in text) is (method != "elastic")
    assert list(misplaced_options(text)) == []
    subprocess.run(["bash", "-n", str(script)], check=True)  # noqa: S603
    assert [path.name for path in (folder / "llama-7b").rglob("*.sbatch")] == ["llama-7b.sbatch"]
    for name in re.findall(r"\$EXAMPLES/(\S+?\.(?:sh|py))", text):
        assert (folder / "llama-7b" / name).read_text() == (EXAMPLES / name).read_text()


def test_a_job_is_for_as_many_nodes_as_are_wanted(account: StubbedTarget, folder: Path) -> None:
    answer(account, WORKERS, GPUS)
    assert new("small", "--group", "gpus", "--nodes", "2").exit_code == 0
    assert "#SBATCH --nodes=2\n" in (folder / "small/small.sbatch").read_text()


@pytest.mark.parametrize("name", ["../away", "a b", "-x", "", "a;b", "a" * 64, "/tmp/x"])
def test_fails_for_a_name_with_a_meaning_of_its_own(account: StubbedTarget, folder: Path, name: str) -> None:
    result = invoke(["job", "new", "--cluster", "trainer", "--target", "aws", "--", name])
    assert result.exit_code == 1
    assert "NAME is" in said(result)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_fails_for_what_is_there_and_changes_nothing(account: StubbedTarget, folder: Path, kind: str) -> None:
    taken = folder / "taken"
    if kind == "folder":
        taken.mkdir()
    elif kind == "file":
        taken.touch()
    else:
        taken.symlink_to("nowhere")
    result = new("taken")
    assert result.exit_code == 1
    assert "taken is there already, and nothing is overwritten" in said(result)
    assert list(folder.rglob("*")) == [taken]


@pytest.mark.parametrize(
    ("groups", "arguments", "message"),
    [
        ([WORKERS, GPUS], [], "name the group of workers with --group; trainer has workers, gpus"),
        ([GPUS], ["--nodes", "5"], "--nodes is 5, but group 'gpus' has 4: write --nodes 4"),
        ([GPUS], ["--group", "controller"], "group 'controller' is the Controller of trainer"),
        ([{**GPUS, "CurrentCount": 0, "TargetCount": 0}], [], "group 'gpus' has no nodes"),
        ([{**GPUS, "InstanceType": "ml.trn1.32xlarge"}], [], "these jobs train on GPUs and CPUs only"),
        ([{**GPUS, "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["a\nb"]}}], [], "which is no name of one"),
    ],
)
def test_fails_for_a_group_that_cannot_run_it(
    account: StubbedTarget, folder: Path, groups: list[dict[str, Any]], arguments: list[str], message: str
) -> None:
    answer(account, *groups)
    result = new("job", *arguments)
    assert result.exit_code == 1
    assert message in said(result)
    assert list(folder.iterdir()) == []


def test_fails_on_kubernetes(account: StubbedTarget) -> None:
    answer(account, Orchestrator={"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/k"}})
    assert "trainer runs Kubernetes, and this job is one of Slurm" in said(new("job"))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("#!/bin/bash\n#SBATCH --auto-resume=1\n", [2]),
        ("sbatch --nodes 4 --auto-resume=1 run.slurm ./llama_7b.sh\n", [1]),
        ("cd x && /opt/slurm/bin/sbatch \\\n  --nodes=4 \\\n  --auto-resume=1 run.slurm; echo\n", [1]),
        ("\n\nsalloc --auto-resume -N2\n", [3]),
        ("sbatch it's --auto-resume=1\n", [1]),
        ("job=$(sbatch --auto-resume=1 x)\n", [1]),
        ("srun --auto-resume=1 train.sh\n", []),
        ("sbatch --wrap='srun --auto-resume=1 x'\n", []),
        ("sbatch x; srun --auto-resume=1 y\n", []),
        ("# sbatch --auto-resume=1 is ignored\n", []),
        ("echo done # \\\nsrun --auto-resume=1 x\n", []),
    ],
)
def test_auto_resume_is_found_where_it_has_no_effect(folder: Path, text: str, lines: list[int]) -> None:
    (folder / "run.sh").write_text(text)
    result = invoke(["job", "check", "run.sh"])
    assert result.exit_code == (1 if lines else 0), result.output
    assert [int(line) for line in re.findall(r"^run\.sh:(\d+): warning: --auto-resume on", result.output, re.MULTILINE)] == lines


def test_the_jobs_of_the_library_pass(folder: Path) -> None:
    scripts = [str(path) for path in EXAMPLES.rglob("*") if path.suffix in (".sh", ".sbatch")]
    assert invoke(["job", "check", *scripts]).exit_code == 0


@pytest.mark.parametrize(
    ("content", "message"), [(b"x" * (LARGEST + 1), "is no script"), (b"a\0b", "is no script"), (None, "No such file or directory")]
)
def test_fails_for_what_is_no_script(folder: Path, content: bytes | None, message: str) -> None:
    if content is not None:
        (folder / "big").write_bytes(content)
    result = invoke(["job", "check", "big"])
    assert result.exit_code == 1
    assert message in said(result)
