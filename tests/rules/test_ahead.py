"""The check beside a synthesis."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from threading import Event

import pytest

from hyperpod_constructs.rules import ahead
from hyperpod_constructs.rules.ahead import CheckAhead, Checked
from hyperpod_constructs.templates.model import Model


def checked(assembly: Path) -> Checked:
    """A check that finds nothing."""
    return Checked(Model([]), [])


def write(assembly: Path, text: str = "{}") -> None:
    """Write a manifest, as the end of a synthesis does."""
    (assembly / "manifest.json").write_text(text)


def test_checks_when_the_manifest_is_written(tmp_path: Path) -> None:
    began = Event()

    def check(assembly: Path) -> Checked:
        began.set()
        return checked(assembly)

    early = CheckAhead(tmp_path, check)
    assert not began.wait(0.1)
    write(tmp_path)
    assert began.wait(30)
    assert early.take() is not None


def test_a_manifest_of_an_earlier_synthesis_is_not_the_one(tmp_path: Path) -> None:
    write(tmp_path)
    began = Event()
    early = CheckAhead(tmp_path, lambda assembly: began.set() or checked(assembly))  # type: ignore[func-returns-value]
    assert not began.wait(0.1)
    write(tmp_path, "{ }")
    assert began.wait(30)
    assert early.take() is not None


def test_an_empty_manifest_is_not_yet_written(tmp_path: Path) -> None:
    """Whoever writes it opens it first, and can be interrupted before its text is there."""
    began = Event()
    early = CheckAhead(tmp_path, lambda assembly: began.set() or checked(assembly))  # type: ignore[func-returns-value]
    write(tmp_path, "")
    assert not began.wait(0.1)
    write(tmp_path)
    assert began.wait(30)
    assert early.take() is not None


def test_a_manifest_that_still_grows_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([None, (1, 100, 5), (1, 200, 6), (1, 300, 7)])
    seen: list[object] = []

    def written(early: CheckAhead) -> object:
        seen.append(next(looks, (1, 300, 7)))
        return seen[-1]

    monkeypatch.setattr(CheckAhead, "_written", written)
    began = Event()
    early = CheckAhead(tmp_path, lambda assembly: began.set() or checked(assembly))  # type: ignore[func-returns-value]
    assert began.wait(30)
    assert seen == [None, (1, 100, 5), (1, 200, 6), (1, 300, 7), (1, 300, 7)]
    assert early.take() is not None


def test_who_asks_before_the_look_waits_for_the_check(tmp_path: Path) -> None:
    early = CheckAhead(tmp_path, checked)
    write(tmp_path)
    assert early.take() is not None


def test_without_a_manifest_nothing_is_found(tmp_path: Path) -> None:
    assert CheckAhead(tmp_path, checked).take() is None


def test_an_assembly_that_changed_meanwhile_is_not_taken(tmp_path: Path) -> None:
    def change(assembly: Path) -> Checked:
        write(assembly, "{ }")
        return checked(assembly)

    early = CheckAhead(tmp_path, change)
    write(tmp_path)
    assert early.take() is None


def test_the_rules_are_loaded_early_without_the_cdk() -> None:
    code = """
import sys, threading
from hyperpod_constructs import load_rules_early

load_rules_early()
for thread in threading.enumerate():
    if thread.name == "hyperpod-rules-early":
        thread.join(60)
print([name in sys.modules for name in ("hyperpod_constructs.rules.catalogue", "aws_cdk", "jsii")])
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert result.stdout == "[True, False, False]\n"


@pytest.mark.parametrize("error", [ImportError("no such module"), SystemExit(0)])
def test_rules_that_cannot_be_loaded_early_stop_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(ahead, "load_rules", fail)
    threads = set(threading.enumerate())
    ahead.load_rules_early()
    for thread in set(threading.enumerate()) - threads:
        thread.join(30)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("error", [ImportError("no such module"), SystemExit(0)])
def test_a_check_that_fails_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(ahead, "load_rules", fail)
    early = CheckAhead(tmp_path, checked)
    write(tmp_path)
    assert early.take() is None


def test_the_wait_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_MOST_LOOKS", 3)
    early = CheckAhead(tmp_path, checked)
    early._thread.join(30)
    assert not early._thread.is_alive()
