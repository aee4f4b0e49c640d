from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from hyperpod_constructs.cli import cdk, cdk_cli
from hyperpod_constructs.cli.assembly import Assembly
from hyperpod_constructs.cli.cdk import App
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
    assert assembly.needing([cluster]) == (cluster,)
    assert assembly.needing([foundation]) == (foundation, cluster)
    assert assembly.needed_by([cluster]) == (foundation, cluster)
    assert assembly.needed_by([foundation]) == (foundation,)


def test_stacks_are_named_by_their_ids(workdir: Path) -> None:
    write_assembly(workdir / "out")
    assembly = Assembly.read(workdir / "out")
    assert [stack.id for stack in assembly.named(["Cluster"])] == ["Cluster"]
    assert assembly.named(["all"]) == assembly.stacks
    with pytest.raises(CliError, match="no stack 'cluster': name one of Foundation, Cluster, or all"):
        assembly.named(["cluster"])


def test_synthesize_passes_app_and_context_in_the_target_environment(fake_cdk: Path, target: StubbedTarget) -> None:
    write_assembly(fake_cdk / "out")
    cdk.synthesize(App("python app.py", ("preset=llm",)), target, Path("out"))
    call = (fake_cdk / "calls").read_text()
    assert call.startswith(f"stubbed {fake_cdk} synth --quiet --output out --context preset=llm --app python app.py")


@pytest.mark.parametrize("settings", [None, {"context": {}}])
def test_fails_without_an_app(workdir: Path, settings: dict[str, object] | None) -> None:
    if settings is not None:
        (workdir / "cdk.json").write_text(json.dumps(settings))
    with pytest.raises(CliError, match=r"no cdk\.json in .* names an app: go to the app's directory"):
        cdk.check_app(App())


def test_an_app_is_named_by_cdk_json_or_by_its_command(workdir: Path) -> None:
    cdk.check_app(App("python app.py"))
    with pytest.raises(CliError, match="names an app"):
        cdk.check_app(App())
    (workdir / "cdk.json").write_text('{"app": "python app.py"}')
    cdk.check_app(App())


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
    assert cdk_cli.executable() == tmp_path / "cdk"


def test_fails_without_the_cdk_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CliError, match=r"npm install --global aws-cdk@2\.1148\.1"):
        cdk_cli.check_cli()


def _install(directory: Path, version: str, *, package: bool) -> None:
    """A CDK CLI of this version, as npm installs it, or as a program of its own."""
    program = directory / "lib" / "aws-cdk" / "bin" / "cdk"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 1\n" if package else f"#!/bin/sh\necho '{version} (build fcf5e34)'\n")
    program.chmod(0o755)
    if package:
        (program.parents[1] / "package.json").write_text(json.dumps({"name": "aws-cdk", "version": version}))
    (directory / "cdk").symlink_to(program)


@pytest.mark.parametrize("package", [True, False])
@pytest.mark.parametrize(("version", "usable"), [("2.1148.1", True), ("2.1146.9", False), ("2.178.2", False), ("3.0.0", False)])
def test_only_a_cdk_cli_that_reads_the_assembly_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, usable: bool, package: bool
) -> None:
    _install(tmp_path, version, package=package)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    if usable:
        cdk_cli.check_cli()
        return
    with pytest.raises(CliError, match=rf"{version} of the CDK CLI, which cannot read .* aws-cdk@2\.1148\.1"):
        cdk_cli.check_cli()


def test_fails_for_a_cdk_cli_without_a_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _install(tmp_path, "hello", package=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(CliError, match=r"does not say its version \(found 'hello"):
        cdk_cli.check_cli()


def test_an_assembly_is_deployed_as_it_is(fake_cdk: Path, target: StubbedTarget) -> None:
    write_assembly(fake_cdk / "ready")
    assembly = cdk.synthesize(App(command=str(fake_cdk / "ready")), target, fake_cdk / "out")
    assert assembly.directory == fake_cdk / "ready"
    assert not (fake_cdk / "calls").exists()


def test_fails_for_a_directory_without_an_assembly(fake_cdk: Path, target: StubbedTarget) -> None:
    with pytest.raises(CliError, match="holds no assembly"):
        cdk.synthesize(App(command=str(fake_cdk)), target, fake_cdk / "out")
