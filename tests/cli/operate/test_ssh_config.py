"""`hyperpod ssh-config`, with given answers, and as OpenSSH reads it."""

from __future__ import annotations

import shlex
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cli.operate.ssh_config import FIRST_LINE
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ASKED, CLUSTER, NODES, run

NAMED = [{**found, "PrivateDnsHostname": f"ip-10-1-2-{number}.us-west-2.compute.internal"} for number, found in enumerate(NODES)]
needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="OpenSSH is not installed")


def answer(target: StubbedTarget, **members: Any) -> None:
    target.answer("sagemaker", "describe_cluster", {**CLUSTER, **members}, ClusterName="trainer")


def read(file: Path, host: str) -> dict[str, str]:
    """What OpenSSH makes of the file for a host."""
    done = subprocess.run(["ssh", "-G", "-F", str(file), host], capture_output=True, text=True, check=True)  # noqa: S603
    return dict(line.partition(" ")[::2] for line in done.stdout.splitlines())


@needs_ssh
def test_openssh_finds_the_command_of_each_entry(account: StubbedTarget, tmp_path: Path) -> None:
    answer(account)
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": NAMED}, **ASKED)
    file = tmp_path / "new folder" / "hyperpod"
    result = run("ssh-config", "--cluster", "trainer", "--nodes", "--write", str(file))
    assert result.exit_code == 0, result.output
    assert f'Include "{file}"' in result.output
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for host, wanted in (("trainer", "controller"), ("trainer-workers", "workers"), ("trainer-ip-10-1-2-1", "ip-10-1-2-1")):
        settings = read(file, host)
        program, *words = shlex.split(settings["proxycommand"])
        assert Path(program).name == "hyperpod"
        assert words[:6] == ["connect", wanted, "--cluster", "trainer", "--stdio", "22"]
        assert words[6:] == ["--target", "aws", "--region", "us-west-2"]
        assert (settings["user"], settings["userknownhostsfile"]) == ("ubuntu", "/dev/null")
    assert "proxycommand" not in read(file, "elsewhere.example.com")


def test_it_is_printed_without_a_file(account: StubbedTarget) -> None:
    answer(account)
    lines = run("ssh-config", "--cluster", "trainer", "--user", "ada").stdout.splitlines()
    assert lines[0] == FIRST_LINE
    assert [line for line in lines if line.startswith("Host ")] == [
        "Host trainer",
        "Host trainer-controller",
        "Host trainer-workers",
    ]
    assert lines.count("    User ada") == 3


def test_it_is_written_anew_over_its_own_file_only(account: StubbedTarget, tmp_path: Path) -> None:
    own, other, link = tmp_path / "own", tmp_path / "config", tmp_path / "link"
    own.write_text(f"{FIRST_LINE}\nHost old\n")
    other.write_text("Host bastion\n")
    link.symlink_to(own)
    for file in (other, link):
        answer(account)
        result = run("ssh-config", "--cluster", "trainer", "--write", str(file))
        assert result.exit_code == 1
        assert "was not written by hyperpod ssh-config" in " ".join(result.output.split())
    assert other.read_text() == "Host bastion\n"
    answer(account)
    assert run("ssh-config", "--cluster", "trainer", "--write", str(own)).exit_code == 0
    assert "Host old" not in own.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config", "link", "own"]


def test_a_name_that_means_something_to_a_shell_is_refused(account: StubbedTarget) -> None:
    (group, *others) = CLUSTER["InstanceGroups"]
    answer(account, InstanceGroups=[{**group, "InstanceGroupName": "a;touch /tmp/b"}, *others])
    result = run("ssh-config", "--cluster", "trainer")
    assert result.exit_code == 1
    assert "nothing is written" in result.output
    assert "Host" not in result.stdout


def test_a_user_that_is_none_is_refused(account: StubbedTarget) -> None:
    answer(account)
    result = run("ssh-config", "--cluster", "trainer", "--user", "a b")
    assert "--user 'a b' is no name of a user" in " ".join(result.output.split())
