from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from hyperpod_constructs.cli.console import say
from hyperpod_constructs.cli.operate import watch


def interrupting(after: int) -> Callable[[float], None]:
    """A sleep that the user ends."""
    slept = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == after:
            raise KeyboardInterrupt

    return sleep


def test_in_a_pipe_only_changes_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    texts = iter(["one", "one", "two"])
    watch.show(lambda: say(next(texts)), watch=True, every=5, sleep=interrupting(3))
    assert capsys.readouterr().out == "one\ntwo\n"


def test_without_watching_it_draws_once(capsys: pytest.CaptureFixture[str]) -> None:
    watch.show(lambda: say("one"), watch=False, every=5, sleep=interrupting(1))
    assert capsys.readouterr().out == "one\n"


def test_in_a_terminal_it_stays_in_its_place_and_counts_what_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LINES", "5")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    def draw() -> None:
        for line in "abcdefg":
            say(line)

    watch.show(draw, watch=True, every=5, sleep=interrupting(1))
    shown = capsys.readouterr().out
    assert shown.startswith("\x1b[Ha\x1b[K\n")
    assert shown.endswith("c\x1b[K\nand 4 more lines\x1b[K\n\x1b[J")
