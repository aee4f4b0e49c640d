"""A plugin of pytest: `--record FILE` writes down how long a complete run has taken, with its coverage, if it passed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bench import suite

STARTED = time.monotonic()
COMPLETE = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", type=Path, metavar="FILE", help="where to write how long a complete run has taken, if it passes")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[COMPLETE] = exitstatus == 0 and session.config.args_source is pytest.Config.ArgsSource.TESTPATHS


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last thing that a run does."""
    path = config.getoption("--record")
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if path is None or hasattr(config, "workerinput") or not config.stash.get(COMPLETE, False):
        return
    assert isinstance(reporter, pytest.TerminalReporter)
    counts = {outcome: len(reporter.stats.get(outcome, ())) for outcome in ("passed", "skipped", "deselected")}
    if not counts["deselected"]:
        processes = config.getoption("numprocesses", None) or 1
        suite.record(time.monotonic() - STARTED, counts["passed"], counts["skipped"], processes, path)
