"""The seconds of a state machine: one that ends before a wait in it is over never goes on behind that.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/statemachine-structure.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import heappop, heappush

from hyperpod_constructs.analysis.state_machines import states as all_states
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Slip, entries, mapping
from hyperpod_constructs.templates.values import ABSENT, Value, as_int


def waits_too_long(machine: Mapping[str, Value]) -> Iterator[Slip]:
    """The first wait that is over only when the whole machine has timed out, on the quickest way to it."""
    limit = as_int(machine.get("TimeoutSeconds", ABSENT))
    if limit is None:
        return
    begins = _begins(known(machine.get("StartAt", ABSENT)), mapping(machine.get("States", ABSENT)))
    for one in all_states(machine):
        begin, wait = begins.get(one.name, 0), _seconds(one.value)
        if wait and begin + wait >= limit:
            message = f"the machine ends after {limit} seconds, and its state {one.name!r} has waited only after {begin + wait}"
            yield Slip(message, f"TimeoutSeconds above {begin + wait}, or a shorter wait", dead=True)
            return


def ways_from(state: Mapping[str, Value]) -> Iterable[Value]:
    """The states that come after a state."""
    rules = (mapping(one) for key in ("Choices", "Catch") for _, one in entries(state.get(key)))
    return [state.get("Next", ABSENT), state.get("Default", ABSENT), *(one.get("Next", ABSENT) for one in rules)]


def _begins(start: str | None, states: Mapping[str, Value]) -> Mapping[str, int]:
    """The seconds after which a machine comes to each state at the earliest."""
    found: dict[str, int] = {}
    waiting = [(0, start or "")]
    while waiting:
        begin, name = heappop(waiting)
        if name in found or name not in states:
            continue
        found[name] = begin
        state = mapping(states[name])
        for way in ways_from(state):
            heappush(waiting, (begin + _seconds(state), known(way) or ""))
    return found


def _seconds(state: Mapping[str, Value]) -> int:
    """The seconds that a state waits at least."""
    return max(as_int(state.get("Seconds", ABSENT)) or 0, 0) if known(state.get("Type", ABSENT)) == "Wait" else 0
