from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from hyperpod_constructs.cli import cdk
from hyperpod_constructs.cli.cdk import App, Assembly
from hyperpod_constructs.cli.console import CliError
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import write_assembly


@pytest.fixture
def fake_cdk(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A CDK CLI that records its arguments and one variable, and exits with the code in the file `code`."""
    program = workdir / "bin" / "cdk"
    program.parent.mkdir()
    lines = [
        "#!/bin/sh",
        f'echo "$MARK $PWD $*" >> "{workdir}/calls"',
        "echo said",
        f'exit $(cat "{workdir}/code" 2>/dev/null || echo 0)',
    ]
    program.write_text("\n".join(lines))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(cdk, "executable", lambda: program)
    return workdir


def test_context_of_the_command_line_wins_over_cdk_json(workdir: Path) -> None:
    (workdir / "cdk.json").write_text(json.dumps({"context": {"preset": "announcement", "workers": 4}}))
    app = App(context=("preset=llm", "note=a=b"))
    assert [app.value(key) for key in ("preset", "workers", "note", "other")] == ["llm", "4", "a=b", None]


@pytest.mark.parametrize("pair", ["preset", "=llm", ""])
def test_fails_for_context_without_key_or_value(pair: str) -> None:
    with pytest.raises(CliError, match="write key=value"):
        App(context=(pair,))


def test_fails_for_broken_cdk_json(workdir: Path) -> None:
    (workdir / "cdk.json").write_text("{")
    with pytest.raises(CliError, match=r"cdk\.json is not valid JSON"):
        App().value("preset")


def test_stacks_come_after_those_they_need(workdir: Path) -> None:
    write_assembly(workdir / "out")
    assembly = Assembly.read(workdir / "out")
    assert [(stack.id, stack.name) for stack in assembly.stacks] == [
        ("Foundation", "HyperPod-Foundation"),
        ("Cluster", "HyperPod-Cluster"),
    ]
    foundation, cluster = assembly.stacks
    assert assembly.needing(cluster) == (cluster,)
    assert assembly.needing(foundation) == (foundation, cluster)


def test_synthesize_passes_app_and_context_in_the_target_environment(fake_cdk: Path, target: StubbedTarget) -> None:
    write_assembly(fake_cdk / "out")
    cdk.synthesize(App("python app.py", ("preset=llm",)), target, Path("out"))
    call = (fake_cdk / "calls").read_text()
    assert call.startswith(f"stubbed {fake_cdk} synth --quiet --output out --context preset=llm --app python app.py")


def test_fails_without_an_app(fake_cdk: Path, target: StubbedTarget) -> None:
    with pytest.raises(CliError, match=r"no cdk\.json in .*: go to the app's directory"):
        cdk.synthesize(App(), target, Path("out"))


def test_fails_when_the_app_fails(fake_cdk: Path, target: StubbedTarget) -> None:
    (fake_cdk / "code").write_text("1")
    with pytest.raises(CliError, match="not synthesized"):
        cdk.synthesize(App("false"), target, Path("out"))


def test_bootstrap_runs_away_from_the_app_and_shows_the_end_of_its_log(fake_cdk: Path, target: StubbedTarget) -> None:
    cdk.bootstrap(target, Path("state"))
    expected = f"stubbed {fake_cdk}/state/bootstrap bootstrap aws://111122223333/us-west-2"
    assert (fake_cdk / "calls").read_text().startswith(expected)
    (fake_cdk / "code").write_text("3")
    with pytest.raises(CliError, match="said"):
        cdk.bootstrap(target, Path("state"))


def test_cdk_beside_this_python_is_found_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cdk").touch()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert cdk.executable() == tmp_path / "cdk"


def test_fails_without_the_cdk_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CliError, match=r"npm install --global aws-cdk@2\.1148\.1"):
        cdk.executable()


def test_an_assembly_is_deployed_as_it_is(fake_cdk: Path, target: StubbedTarget) -> None:
    write_assembly(fake_cdk / "ready")
    assembly = cdk.synthesize(App(command=str(fake_cdk / "ready")), target, fake_cdk / "out")
    assert assembly.directory == fake_cdk / "ready"
    assert not (fake_cdk / "calls").exists()


def test_fails_for_a_directory_without_an_assembly(fake_cdk: Path, target: StubbedTarget) -> None:
    with pytest.raises(CliError, match="holds no assembly"):
        cdk.synthesize(App(command=str(fake_cdk)), target, fake_cdk / "out")
