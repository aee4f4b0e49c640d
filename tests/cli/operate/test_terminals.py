"""Every command on clusters in a terminal of 60 columns, without colours, in ASCII and in a pipe."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.console import make_encodable
from tests.cli.operate.conftest import node
from tests.cli.operate.entries import ENTRIES, Stage, once, table_of_commands

HOSTILE = "lifecycle script failed on a node with a long story\x1b[2J\x9b1m \u202e\n" * 3
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
COLOURS = re.compile(r"\x1b\[[0-9;]*(3[0-8]|4[0-8]|9[0-7]|10[0-7])[0-9;]*m")
STYLES = re.compile(r"\x1b\[[0-9;]*m")
LONG_LINES = re.compile(r"hyperpod |aws |ProxyCommand|^\d{4}-\d\d-\d\d ")
"""Commands to copy and lines of a log are not folded: a terminal breaks them itself."""


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    found = Stage(tmp_path, monkeypatch)
    peopled(found)
    return found


def peopled(stage: Stage) -> None:
    """A fleet in which much has failed, with hostile reasons."""
    fleet = stage.fleet()
    fleet.listed.insert(1, {**fleet.listed[0], **node(3, status="Failure", message=HOSTILE)})
    fleet.lines = [{"eventId": "1", "logStreamName": "LifecycleConfig/workers/i-00000000000000002", "timestamp": 2**43}]
    fleet.lines[0]["message"] = HOSTILE
    fleet.events = [{**_EVENT, "Description": HOSTILE}]


_EVENT = {
    "EventId": "00000001-0000-4000-8000-000000000000",
    "ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcde01234yz",
    "ClusterName": "trainer",
    "ResourceType": "Instance",
    "EventTime": node(1)["LaunchTime"],
    "EventLevel": "Error",
}


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, arguments: list[str], *, encoding: str = "utf-8", term: str = "dumb") -> str:
    """What a terminal of 60 columns gets of a command that succeeds."""
    raw = io.BytesIO()
    terminal = Terminal(raw, encoding=encoding, write_through=True)
    make_encodable(terminal)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERM", term)
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", terminal)
        patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"hostname\n")))
        with pytest.raises(SystemExit) as ended:
            app(arguments)
    assert ended.value.code == 0
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_sixty_columns_of_a_plain_terminal_hold_every_line(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, name: str, encoding: str
) -> None:
    text = shown(monkeypatch, once(name), encoding=encoding)
    assert not CONTROLS.search(text)
    assert not [line for line in text.splitlines() if len(line) > 60 and not LONG_LINES.search(line)]
    assert text.isascii() or encoding != "ascii"


@pytest.mark.parametrize("name", ENTRIES)
def test_no_color_takes_the_colours_away(stage: Stage, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = shown(monkeypatch, once(name), term="xterm-256color")
    assert not COLOURS.search(text)
    assert not CONTROLS.search(STYLES.sub("", text))


@pytest.mark.parametrize("name", ENTRIES)
def test_a_pipe_gets_plain_text_that_is_not_folded(stage: Stage, name: str) -> None:
    result = CliRunner().invoke(app, once(name), input="hostname\n")
    assert result.exit_code == 0, result.output
    assert not CONTROLS.search(result.stdout)
    peopled(stage)
    assert result.stdout == CliRunner(env={"TERM": "xterm-256color"}).invoke(app, once(name), input="hostname\n").stdout


@pytest.mark.parametrize("wide", [(), ("--wide",)])
@pytest.mark.parametrize("command", ["nodes", "status"])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_sixty_columns_hold_everything_essential(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, command: str, encoding: str, wide: tuple[str, ...]
) -> None:
    text = " ".join(shown(monkeypatch, [*once(command), *wide], encoding=encoding).split())
    assert "i-00000000000000003" in text
    assert text.count("lifecycle script failed on a node with a long story") == 3
    assert ("Left out, because the terminal is too narrow" in text) == bool(wide)


@pytest.mark.parametrize("name", sorted(table_of_commands()))
def test_help_fits_sixty_columns_of_ascii(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text = STYLES.sub("", shown(monkeypatch, [*name.split(), "--help"], encoding="ascii", term="xterm"))
    # An ellipsis takes three characters in ASCII.
    assert max(map(len, text.replace("...", "…").splitlines())) <= 60
    shortened = re.search(r"--[a-z-]+\.\.\.", text)
    assert shortened is None, shortened
