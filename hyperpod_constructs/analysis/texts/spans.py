"""Spans of time: what ends before it begins, or had ended when this library learned its facts, so before every deployment."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, mapping
from hyperpod_constructs.facts.dates import SPANS
from hyperpod_constructs.facts.schema import schema_date
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value

_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(\.\d+)?Z?)?")


def span(resource: Resource) -> Slips:
    """A span that has a time to come in it."""
    found = SPANS[resource.type]
    for place, value in place_in(resource.get(), found.place):
        end, start = _time(value, found.end), _time(value, found.start)
        path = (*place, found.end)
        if end and end[:10] < schema_date()[:10]:
            yield Slip(f"{found.end} is {end}, which is over", "a time to come", path, end, dead=True)
        elif end and start and end <= start:
            message = f"{found.end} is {end}, and {found.start} {start}"
            yield Slip(message, f"a time after {start}", path, end, doubts=((*place, found.start),))


def _time(value: Value, key: str) -> str | None:
    """A time in the one form in which texts are ordered as times are; `None` for another."""
    text = known(mapping(value).get(key, ABSENT)) or ""
    return text.removesuffix("Z") if _TIME.fullmatch(text) else None


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = dict.fromkeys(SPANS, span)
