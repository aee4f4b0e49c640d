"""`hyperpod local copy`, with a node whose programs run on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli import copying
from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.console import CliError
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import ARN, answer_cluster


@pytest.fixture
def nodes(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> StubbedTarget:
    """A cluster with a virtual node, beside a node of another cluster."""
    answer_cluster(target)
    other = {"InstanceId": "i-other", "Command": ["false"]}
    ours = {"InstanceId": "i-0000000000000000c", "Command": ["env"]}
    monkeypatch.setattr(copying, "running_virtual_nodes", lambda: [other, ours])
    return target


def test_directories_and_files_arrive_under_their_names(nodes: StubbedTarget, workdir: Path) -> None:
    (workdir / "examples/common").mkdir(parents=True)
    (workdir / "examples/common/run.sh").write_text("run")
    (workdir / "examples/common/run.sh").chmod(0o755)
    (workdir / "corpus.txt").write_text("text")
    copying.copy(nodes, [Path("examples"), Path("corpus.txt")], str(workdir / "fsx/new"), cluster=ARN)
    assert (workdir / "fsx/new/corpus.txt").read_text() == "text"
    assert (workdir / "fsx/new/examples/common/run.sh").stat().st_mode & 0o777 == 0o755


def test_fails_with_the_words_of_the_node(nodes: StubbedTarget, workdir: Path) -> None:
    (workdir / "full").write_text("a file, not a directory")
    with pytest.raises(CliError, match=r"the copy to .*/full failed: .*full"):
        copying.copy(nodes, [Path("full")], str(workdir / "full"), cluster=ARN)


@pytest.mark.parametrize(
    ("source", "destination", "message"),
    [("absent", "/fsx", "there is no absent"), (".", "fsx", "fsx is not an absolute path on a node: write one such as /fsx/fsx")],
)
def test_fails_before_anything_is_asked(target: StubbedTarget, workdir: Path, source: str, destination: str, message: str) -> None:
    with pytest.raises(CliError, match=message):
        copying.copy(target, [Path(source)], destination, cluster=ARN)


def test_fails_without_a_running_node(target: StubbedTarget, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "running_virtual_nodes", list)
    answer_cluster(target)
    with pytest.raises(CliError, match=r"no virtual node of .* runs: deploy it with nodes"):
        copying.copy(target, [Path()], "/fsx", cluster=ARN)


def test_the_command_needs_a_source_and_a_running_server(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "needs SOURCE and DESTINATION" in CliRunner().invoke(app, ["local", "copy", "/fsx"]).stderr
    monkeypatch.setattr("hyperpod_constructs.cli.local.running_embedded_aws", lambda: None)
    result = CliRunner().invoke(app, ["local", "copy", ".", "/fsx"])
    assert (result.exit_code, "deploy with nodes first" in result.stderr) == (1, True)
