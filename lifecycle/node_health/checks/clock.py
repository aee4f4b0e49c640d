"""The clock according to chrony. A deviation is only noted: a wrong clock needs correction and not a new node."""

from __future__ import annotations

from node_health.checks.context import Context
from node_health.finding import Finding

SECONDS = 5.0
OFFSET_SECONDS = 1.0
OFFSET_COLUMN = 4
LEAP_COLUMN = 13


def check(context: Context) -> list[Finding]:
    program = context.system.find("chronyc")
    if program is None:
        return []
    result = context.run("chronyc", [program, "-c", "tracking"], SECONDS)
    if result.code != 0:
        return [Finding("clock:chrony", f"chronyc tracking: {result.last_line or 'no answer'}"[:200])]
    columns = result.output.strip().split(",")
    if len(columns) <= LEAP_COLUMN:
        return []
    if columns[LEAP_COLUMN] == "Not synchronised":
        return [Finding("clock:free", "the clock is not synchronised")]
    try:
        offset = abs(float(columns[OFFSET_COLUMN]))
    except ValueError:
        return []
    return [Finding("clock:offset", f"the clock is {offset:.1f} s off")] if offset > OFFSET_SECONDS else []
