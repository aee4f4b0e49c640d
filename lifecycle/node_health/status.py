"""A small table of what this node found, and of its last marks."""

from __future__ import annotations

import json
import time
from typing import Any

from node_health.check import REPORT
from node_health.marks import LOCAL
from node_health.system import System
from node_health.watch import REPORT as HANG_REPORT

MARKS_SHOWN = 5


def table(system: System) -> str:
    """The table; of a node that has not checked itself yet, a sentence."""
    report = _load(system, REPORT)
    lines = [_head(system, report)]
    rows = [(str(found[0]), str(found[2] or "note"), str(found[1])) for found in report.get("findings", [])]
    lines += _aligned([("FAULT", "ASKS FOR", "DETAIL"), *rows]) if rows else []
    if rows:
        lines.append(f"decision: {report.get('action') or 'no mark'}: {report.get('why', '')}")
    for step, state in sorted(_load(system, HANG_REPORT).items()):
        lines.append(f"step {step}: {_step(state)}")
    marks = (system.read(LOCAL) or "").splitlines()[-MARKS_SHOWN:]
    lines += [f"marked {_moment(int(mark.split()[0]))} {mark.split()[1]}" for mark in marks if len(mark.split()) == 2]
    return "\n".join(lines) + "\n"


def _head(system: System, report: dict[str, Any]) -> str:
    if not report:
        return "this node has not checked itself yet"
    age = int(system.now() - report["time"])
    return f"{len(report['findings']) or 'no'} faults, checked {age} s ago"


def _step(state: dict[str, Any]) -> str:
    words = [f"{len(state['ranks'])} ranks", "hung" if state["hung"] else "moving"]
    if state["stragglers"]:
        words.append("stragglers " + ", ".join(str(rank) for rank in state["stragglers"]))
    return ", ".join([*words, *filter(None, [state["decided"]])])


def _aligned(rows: list[tuple[str, str, str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return [f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}" for row in rows]


def _moment(seconds: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _load(system: System, path: str) -> dict[str, Any]:
    try:
        loaded = json.loads(system.read(path) or "{}")
    except ValueError:
        return {}
    return loaded if isinstance(loaded, dict) else {}
