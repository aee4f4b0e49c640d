"""The README is executed: every command and every code block, in order, in one copy of the checkout.

A block marked `aws` (```console aws) needs a real account and is not run; one marked `nodes` runs where virtual nodes
can. `make test` and `make bench` are only planned (`make --dry-run`): the first is what runs this, the second has tests of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli.main import app
from tests.docs.markdown import AWS, NODES, Block, blocks, inline_code, local_links
from tests.nodes.conftest import require_nodes

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = blocks(README)
SHELL = ("console", "sh")
NOT_CODE = ("text", "mermaid")
PARSERS = {"json": json.loads, "toml": tomllib.loads}
COMMAND_SECONDS = 600

# The environment is the one that the tests run in, so it is never set up again from the copy.
MAKE = """#!/bin/sh
for word in "$@"; do
    case $word in test | bench) set -- --dry-run "$@" ;; esac
done
exec "{make}" --assume-old=.venv/.ready "$@"
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the checkout in which commands may leave files; its embedded AWS is stopped at the end."""
    copy = tmp_path_factory.mktemp("readme") / "checkout"
    skipped = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "cdk.out", "cdk.context.json", "*_cache", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=skipped)
    (copy / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    wrapper = copy.parent / "bin" / "make"
    wrapper.parent.mkdir()
    wrapper.write_text(MAKE.format(make=shutil.which("make")))
    wrapper.chmod(0o755)
    yield copy
    _assert_succeeds(["hyperpod", "local", "stop"], copy)


def _assert_succeeds(command: list[str], directory: Path, **variables: str) -> None:
    """Run a command without any way to a real account."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MAKE", "MFLAGS"))}
    environment |= {
        "PATH": os.pathsep.join([str(directory.parent / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(directory),
        "AWS_CONFIG_FILE": "/nonexistent",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        "AWS_EC2_METADATA_DISABLED": "true",
        **variables,
    }
    done = subprocess.run(  # noqa: S603
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-4000:]


def _name(block: Block) -> str:
    return f"line{block.line}-{block.language}"


@pytest.mark.parametrize("block", BLOCKS, ids=_name)
def test_block_has_a_known_language_and_mark(block: Block) -> None:
    assert block.language in (*SHELL, *NOT_CODE, *PARSERS, "python")
    assert block.marks <= {AWS, NODES}
    assert block.language not in SHELL or block.commands()


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language in SHELL and AWS not in b.marks], ids=_name)
def test_commands_run(block: Block, checkout: Path) -> None:
    if NODES in block.marks:
        require_nodes()
    bash = shutil.which("bash") or "bash"
    for command in block.commands():
        _assert_succeeds([bash, "-euo", "pipefail", "-c", command], checkout)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "python" and AWS not in b.marks], ids=_name)
def test_python_runs(block: Block, checkout: Path, tmp_path: Path) -> None:
    script = tmp_path / "example.py"
    script.write_text(block.text, "utf-8")
    _assert_succeeds([sys.executable, "-W", "error", str(script)], checkout)


def test_the_first_example_has_no_findings(checkout: Path, tmp_path: Path) -> None:
    script = tmp_path / "app.py"
    script.write_text(next(block for block in BLOCKS if block.language == "python").text, "utf-8")
    _assert_succeeds([sys.executable, str(script)], checkout, CDK_OUTDIR=str(tmp_path / "out"))

    _assert_succeeds(["hyperpod", "check", str(tmp_path / "out"), "--fail-on", "warning"], checkout)


def test_data_is_well_formed() -> None:
    for block in BLOCKS:
        PARSERS.get(block.language, str)(block.text)


def test_commands_in_running_text_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    code = inline_code(README)
    assert {text.split()[1] for text in code if re.match(r"make [a-z]", text)} <= targets
    for text in code:
        if text.startswith("hyperpod "):
            words = [word for word in text.split()[1:] if re.fullmatch(r"[a-z]+", word)]
            assert CliRunner().invoke(app, [*words, "--help"]).exit_code == 0, text


def test_links_lead_to_files_of_the_project() -> None:
    assert [link for link in local_links(README) if not (ROOT / link).exists()] == []
