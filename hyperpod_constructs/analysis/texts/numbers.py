"""Rules of one list that have the same number."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.numbered import NUMBERED
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, as_bool, as_int


def number(resource: Resource) -> Slips:
    """The number of a rule is its own in its list; of two with one number the second is wrong."""
    own = _place(resource)
    for other in resource.template.model.resources(resource.type) if own is not None else ():
        if other is resource:
            return
        if _place(other) == own:
            key = NUMBERED[resource.type].number
            message = f"{key} is {as_int(resource.get(key))}, which {other.logical_id} has in the same list"
            yield Slip(message, "a number of its own", (key,))
            return


def _place(resource: Resource) -> tuple[object, ...] | None:
    """The list of a rule that is surely there, with its half, and the number in it; `None` if one is not known."""
    kind = NUMBERED[resource.type]
    owner, place = resource.get(kind.owner), as_int(resource.get(kind.number))
    half = resource.get(kind.half) if kind.half else False
    known = as_bool(False if half is ABSENT else half)
    if resource.exists is not True or place is None or known is None or not isinstance(owner, str | Reference):
        return None
    return (target_of(owner) if isinstance(owner, Reference) else owner), known, place


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = dict.fromkeys(NUMBERED, number)
