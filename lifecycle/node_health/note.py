"""The node's note to the others, through slurmctld: the text `Extra` of its Slurm node, which survives the node's replacement.

It never drains a node. It contains the node's faults, the times of its marks and its claim for a new one. If somebody else uses the
field, the text stays, and the node neither reports nor marks.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

PREFIX = "node_health:"
FAULTS_SHOWN = 8
MARKS_SHOWN = 8
LONGEST = 8192
FAULT = 200
NUMBER = re.compile(r"[0-9]{1,12}")


class Note(NamedTuple):
    """The content of a note; times are seconds of the node's own clock, `action` belongs to the last mark."""

    faults: tuple[str, ...] = ()
    marks: tuple[int, ...] = ()
    action: str = ""
    claim: int = 0

    def __str__(self) -> str:
        """The text for slurmctld, without blanks; empty if there is nothing to report."""
        parts = []
        if self.faults:
            parts.append("faults=" + ",".join(quote(fault, safe="/:.-_") for fault in sorted(self.faults)[:FAULTS_SHOWN]))
        if self.marks:
            parts.append("marks=" + ",".join(str(mark) for mark in sorted(self.marks)[-MARKS_SHOWN:]))
        if self.action:
            parts.append("last=" + quote(self.action, safe=":"))
        if self.claim:
            parts.append(f"claim={self.claim}")
        return PREFIX + ";".join(parts) if parts else ""


def is_foreign(extra: str) -> bool:
    return bool(extra) and not extra.startswith(PREFIX)


def parse(extra: str) -> Note:
    """The note in a text, within a node's limits; an empty note for any other text."""
    if not extra.startswith(PREFIX) or len(extra) > LONGEST:
        return Note()
    values = dict(part.partition("=")[::2] for part in extra[len(PREFIX) :].split(";"))
    faults = tuple(unquote(fault)[:FAULT] for fault in values.get("faults", "").split(",") if fault)
    marks = tuple(int(mark) for mark in values.get("marks", "").split(",") if NUMBER.fullmatch(mark))
    claim, last = values.get("claim", ""), unquote(values.get("last", ""))[:FAULT]
    return Note(faults[:FAULTS_SHOWN], marks[-MARKS_SHOWN:], last, int(claim) if NUMBER.fullmatch(claim) else 0)
