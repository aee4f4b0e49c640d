from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli import check as command
from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.plain_check import parsed
from tests.cli.test_check import untrusted

PROGRAM = (
    "import sys\n"
    "from hyperpod_constructs.cli.main import main\n"
    "try: main()\n"
    "finally: sys.stderr.write(' '.join({'typer', 'pydantic', 'rich', 'boto3', 'jsii'} & sys.modules.keys()))\n"
)


def run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, cwd=directory, check=False
    )


@pytest.fixture
def mistaken(tmp_path: Path) -> Path:
    (tmp_path / "template.json").write_text(json.dumps(untrusted()))
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ["cdk.out"],
        ["a.yaml", "b/c.json"],
        ["--format", "sarif", "a.yaml", "--fail-on", "warning", "b.yaml"],
        ["a.yaml", "--format", "json", "--format", "github"],
    ],
)
def test_the_parser_understands_the_same(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def check(paths: Sequence[Path], *, form: command.FindingFormat, fail_on: command.FailOn) -> None:
        seen.append((list(paths), form, fail_on))

    monkeypatch.setattr(command, "check", check)
    assert CliRunner().invoke(app, ["check", *arguments]).exit_code == 0
    assert [parsed(["check", *arguments])] == seen


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["plan", "a.yaml"],
        ["check"],
        ["check", ""],
        ["check", "-"],
        ["check", "--help"],
        ["check", "a.yaml", "--", "b.yaml"],
        ["check", "a.yaml", "--format=json"],
        ["check", "a.yaml", "--format", "xml"],
        ["check", "a.yaml", "--fail-on"],
    ],
)
def test_what_is_not_plain_is_left_to_the_parser(arguments: list[str]) -> None:
    assert parsed(arguments) is None


def test_a_plain_check_loads_no_parser(mistaken: Path) -> None:
    done = run(mistaken, "check", "template.json")
    assert (done.returncode, done.stderr) == (1, "")
    assert "HP-ROL-" in done.stdout


def test_an_unusable_input_is_reported_as_by_the_parser(tmp_path: Path) -> None:
    plain, parsed_one = run(tmp_path, "check", "none.json"), run(tmp_path, "check", "none.json", "--format=text")
    assert plain.returncode == parsed_one.returncode == 2
    assert plain.stderr.startswith("hyperpod: none.json")
    assert plain.stderr.splitlines()[0] == parsed_one.stderr.splitlines()[0]


@pytest.mark.parametrize("form", ["text", "json"])
def test_nobody_reads_the_output(mistaken: Path, form: str) -> None:
    command = [sys.executable, "-c", PROGRAM, "check", "template.json", "--format", form]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=mistaken) as process:  # noqa: S603
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 1)
