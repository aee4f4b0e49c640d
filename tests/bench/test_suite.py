"""Seconds of the tests are recorded for complete runs that pass, and printed with their commit and date."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import suite
from bench.suite import Run

RUN = Run(seconds=712.4, passed=5108, skipped=1, workers=4, cores=2, commit="commit 1a2b3c4", date="2026-01-31")
pytest_plugins = ["pytester"]


def test_a_run_is_one_line() -> None:
    assert RUN.line == "712 s   5108 passed, 1 skipped; 4 processes on 2 cores, commit 1a2b3c4, 2026-01-31"


def test_what_was_recorded_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "build" / "tests.json"
    assert suite.read(path) is None
    monkeypatch.setattr(suite, "commit", lambda: RUN.commit)
    suite.record(12.34, 5, 0, 4, path)
    run = suite.read(path)
    assert run is not None
    assert (run.seconds, run.passed, run.skipped, run.workers, run.commit) == (12.3, 5, 0, 4, RUN.commit)


def test_a_changed_checkout_is_marked() -> None:
    assert suite.commit().startswith(("commit ", "no commit"))


def test_the_bench_measures_the_recipe_of_make() -> None:
    assert suite.fast_options()[:3] == ["--fast", "--numprocesses", "auto"]
    assert not [option for option in suite.fast_options() if "$" in option]


@pytest.mark.parametrize(
    ("arguments", "recorded"),
    [([], True), (["-n", "2"], True), (["-k", "two"], False), (["tests/test_one.py"], False)],
    ids=["all", "all in two processes", "some by name", "a file"],
)
@pytest.mark.parametrize("passes", [True, False])
def test_only_complete_runs_that_pass_are_recorded(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, arguments: list[str], recorded: bool, passes: bool
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(suite.ROOT))
    pytester.makeini("[pytest]\ntestpaths = tests\n")
    tests = pytester.mkdir("tests")
    (tests / "test_one.py").write_text(f"def test_one():\n    assert {passes}\n\ndef test_two():\n    pass\n")
    pytester.runpytest_subprocess("-p", "tests.recording", "--record", "record.json", *arguments)
    run = suite.read(pytester.path / "record.json")
    assert (run is not None) is (recorded and passes)
    assert run is None or (run.passed, run.workers) == (2, 2 if "-n" in arguments else 1)


def test_the_file_of_the_record_is_not_taken_for_a_file_of_tests() -> None:
    """Before pytest knows the option, an argument beside it that exists would be where it looks for conftest.py."""
    recipe = (suite.ROOT / "Makefile").read_text(encoding="utf-8").partition("\ntest:")[2].partition("\n\n")[0]
    assert f"--record={suite.RECORD.relative_to(suite.ROOT)} " in recipe
