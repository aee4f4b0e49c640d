"""A small table of this node's findings and of its last marks."""

from __future__ import annotations

import time
from typing import Any, Callable

from node_health.bounds import load, shown
from node_health.check import REPORT
from node_health.marks import LOCAL
from node_health.system import System
from node_health.watch import REPORT as HANG_REPORT

MARKS_SHOWN = 5
LIMIT = 1024 * 1024


def table(system: System) -> str:
    """The table, or a sentence before the first check. Text from others is escaped for the terminal."""
    lines = [*_part(system, REPORT, _found), *_part(system, HANG_REPORT, _steps)]
    marks = [line.split() for line in (system.read(LOCAL) or "").split("\n")]
    lines += [f"marked {_moment(int(mark[0]))} {mark[1]}" for mark in marks if len(mark) == 2 and mark[0].isdecimal()][
        -MARKS_SHOWN:
    ]
    return "".join(f"{shown(line)}\n" for line in lines)


def _part(system: System, path: str, lines: Callable[[System, dict[str, Any]], list[str]]) -> list[str]:
    loaded = load(system.read(path) or "{}", LIMIT)
    try:
        return lines(system, loaded)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return [f"{path}: is damaged; the next check rewrites it"]


def _found(system: System, report: dict[str, Any]) -> list[str]:
    if not report:
        return ["this node has not checked itself yet"]
    age = int(system.now() - report["time"])
    rows = [(shown(found[0]), shown(found[2] or "note"), shown(found[1])) for found in report["findings"]]
    lines = [f"{len(rows) or 'no'} faults, checked {age} s ago"]
    if rows:
        lines += _aligned([("FAULT", "ASKS FOR", "DETAIL"), *rows])
        lines.append(f"decision: {report['action'] or 'no mark'}: {report['why']}")
    return lines


def _steps(system: System, steps: dict[str, Any]) -> list[str]:
    return [f"step {step}: {_step(state)}" for step, state in sorted(steps.items())]


def _step(state: dict[str, Any]) -> str:
    words = [f"{len(state['ranks'])} of {state['world']} ranks here", "hung" if state["hung"] else "moving"]
    if state["stragglers"]:
        words.append("stragglers " + ", ".join(str(rank) for rank in state["stragglers"]))
    return ", ".join([*words, *filter(None, [state["decided"]])])


def _aligned(rows: list[tuple[str, str, str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return [f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}" for row in rows]


def _moment(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
