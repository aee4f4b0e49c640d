"""The commands of the pages are executed, in one copy of the checkout, those of a page in one shell; those in running text exist.

A block marked `aws` (```console aws) needs a real account and is not run; one marked `nodes` runs where virtual nodes
can. `make test`, `make test-fast`, `make coverage` and `make bench` are only planned (`make --dry-run`): the first runs this, the
others have tests of their own.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from hyperpod_constructs.cli.commands import app
from tests.docs.markdown import AWS, NODES, inline_code
from tests.docs.pages import PAGES, ROOT, Place, fenced
from tests.nodes.conftest import require_nodes

SHELL = ("console", "sh")
AWS_CLI = ROOT / ".venv-aws" / "bin"
PAGE_SECONDS = 1200

# The environment is the one that the tests run in, so it is never set up again from the copy.
MAKE = """#!/bin/sh
for word in "$@"; do
    case $word in test | test-fast | coverage | bench) set -- --dry-run "$@" ;; esac
done
exec "{make}" --assume-old=.venv/.ready --assume-old=.venv/.ready-dev --assume-old=.venv/.ready-eks "$@"
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the checkout in which commands may leave files; its embedded AWS is stopped at the end."""
    copy = tmp_path_factory.mktemp("pages") / "checkout"
    skipped = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "cdk.out", "cdk.context.json", "*_cache", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=skipped)
    (copy / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    wrapper = copy.parent / "bin" / "make"
    wrapper.parent.mkdir()
    wrapper.write_text(MAKE.format(make=shutil.which("make")))
    wrapper.chmod(0o755)
    yield copy
    _assert_succeed(["hyperpod local stop"], copy)


def _assert_succeed(commands: list[str], directory: Path) -> None:
    """Run commands in one shell, each after its title, without any way to a real account."""
    script = "\n".join(f"printf '%s\\n' {shlex.quote(f'$ {command}')}\n{command}" for command in commands)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MAKE", "MFLAGS"))}
    environment |= {
        "PATH": os.pathsep.join(
            [str(directory.parent / "bin"), str(Path(sys.executable).parent), str(AWS_CLI), os.environ["PATH"]]
        ),
        "PYTHONPATH": str(directory),
        "AWS_CONFIG_FILE": "/nonexistent",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    done = subprocess.run(  # noqa: S603
        [shutil.which("bash") or "bash", "-euo", "pipefail", "-c", script],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PAGE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-4000:]


def _run_by(one: Place, other: Place) -> bool:
    """Whether a block runs the commands of another, in their order, among more."""
    commands = iter(other.block.commands())
    return len(other.block.commands()) > len(one.block.commands()) and all(command in commands for command in one.block.commands())


BLOCKS = fenced(*SHELL)


def _mark(place: Place) -> str:
    """What the block needs to run beside the checkout."""
    return NODES if NODES in place.block.marks else "plain"


RUN = [one for one in BLOCKS if AWS not in one.block.marks and not any(_run_by(one, other) for other in BLOCKS)]
SHELLS = list(dict.fromkeys((place.page, _mark(place)) for place in RUN))


@pytest.mark.parametrize("place", fenced(), ids=lambda place: place.id)
def test_block_has_a_known_language_and_mark(place: Place) -> None:
    assert place.block.language in (*SHELL, "text", "json", "python", "yaml")
    assert place.block.marks <= {AWS, NODES}
    assert place.block.language not in SHELL or place.block.commands()


@pytest.mark.parametrize(("page", "mark"), SHELLS, ids=lambda value: value.stem if isinstance(value, Path) else value)
def test_commands_run(page: Path, mark: str, checkout: Path) -> None:
    if mark == NODES:
        require_nodes()
    commands = [command for place in RUN if (place.page, _mark(place)) == (page, mark) for command in place.block.commands()]
    _assert_succeed(commands, checkout)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_name_targets_commands_and_options_that_exist(page: Path) -> None:
    written = [command for place in BLOCKS if place.page == page for command in place.block.commands()]
    for command in (*written, *inline_code(page.read_text("utf-8"))):
        mistake = _mistake(command)
        assert mistake is None, f"{command}: {mistake}"


def _mistake(command: str) -> str | None:
    """What a command names that is not there; of other programs' commands nothing is known."""
    program, _, rest = command.partition(" ")
    if program == "make" and rest:
        return _mistake_of_make(shlex.split(rest))
    if program == "hyperpod" and rest:
        return _mistake_of_hyperpod(rest.split())
    script = re.match(r"(?:python3? )?(tools/\S+)", command)
    return None if script is None or (ROOT / script[1]).exists() else f"there is no {script[1]}"


def _mistake_of_make(words: list[str]) -> str | None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    variables = set(re.findall(r"\$\(([A-Z]+)\)|(?<=,)\$\(([A-Z]+)\)", makefile))
    known = {*re.findall(r"^([a-z-]+):", makefile, re.MULTILINE), *(name for names in variables for name in names)}
    return next((f"no target or variable {word}" for word in words if word.partition("=")[0] not in known), None)


def _mistake_of_hyperpod(words: list[str]) -> str | None:
    command: Any = get_command(app)
    for word in words:
        if hasattr(command, "commands") and re.fullmatch(r"[a-z]+(-[a-z]+)*", word):
            subcommand = command.get_command(None, word)
            if subcommand is None:
                return f"no command {word}"
            command = subcommand
        elif word.startswith("-") and word.partition("=")[0] not in _options(command):
            return f"no option {word}"
    return None


def _options(command: Any) -> set[str]:
    return {"--help", *(name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts))}


def test_a_command_that_does_not_exist_is_a_mistake() -> None:
    assert _mistake("make nothing") == "no target or variable nothing"
    assert _mistake("make deploy NOTHING=1") == "no target or variable NOTHING=1"
    assert _mistake("hyperpod nothing") == "no command nothing"
    assert _mistake("hyperpod no-thing") == "no command no-thing"
    assert _mistake("hyperpod training-plan nothing") == "no command nothing"
    assert _mistake("hyperpod local start --nothing") == "no option --nothing"
    assert _mistake("python tools/nothing.py") == "there is no tools/nothing.py"
