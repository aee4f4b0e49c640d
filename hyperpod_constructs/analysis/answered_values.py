"""What the functions of custom resources answer for them, where their code says it: attributes, and physical ids.

>>> shown(answered(group.get("LifeCycleConfig", "SourceS3Uri")))
's3://${ScriptsBucket}/lifecycle'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.code_runs.runs import CREATE, UPDATE, Run, Way
from hyperpod_constructs.analysis.code_runs.things import Object, Thing, value_of
from hyperpod_constructs.analysis.custom_resources import IS_COMPLETE, ON_EVENT, makers
from hyperpod_constructs.analysis.function_code import FUNCTION, runs_of
from hyperpod_constructs.analysis.sent_answers import FAILED
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Part, Reference, Text, Value, at, is_known, joined, parts_of


def answered(value: Value) -> Value:
    """A text, with what the functions of custom resources surely answer in the place of their attributes."""
    return joined(part for one in parts_of(value) for part in _answer(one)) if isinstance(value, Text | Reference) else value


def attributes_of(resource: Resource) -> tuple[str, ...] | None:
    """The attributes that a custom resource surely has at most; `None` if its code does not say it. Computed once."""
    found = _data(resource)
    return None if found is None else tuple(dict.fromkeys(name for one in found for name in one.items))


def id_of(resource: Resource) -> Value:
    """The physical id that a function answers for a custom resource by `cfnresponse`; `UNKNOWN` if nobody knows."""
    ways = _ways(resource, UPDATE)
    found = [value_of(sent.id) for way in ways or () for sent in way.sent if sent.status != FAILED]
    return found[0] if found and is_known(found[0]) and all(one == found[0] for one in found) else UNKNOWN


def _answer(part: Part) -> tuple[Part, ...]:
    resource = target_of(part) if isinstance(part, Reference) else None
    found = (_data(resource) if resource is not None else None) or ()
    name = part.attribute if isinstance(part, Reference) else None
    values = [value_of(one.items[name]) for one in found if name in one.items]
    known = bool(values) and isinstance(values[0], str | Text | Reference) and all(one == values[0] for one in values)
    return parts_of(values[0]) if known else (part,)


def _data(resource: Resource) -> tuple[Object, ...] | None:
    """The data of all answers after which a custom resource is there; `None` if nobody knows them. Computed once."""
    model = resource.template.model
    return model.cached((_data, resource), lambda: _collected(resource))


def _collected(resource: Resource) -> tuple[Object, ...] | None:
    ways = _ways(resource, CREATE, UPDATE)
    found = [None] if ways is None else [one for way in ways for one in _of_way(way, is_direct=_is_direct(resource))]
    known = [one for one in found if isinstance(one, Object) and not one.is_open]
    return tuple(known) if len(known) == len(found) > 0 else None


def _of_way(way: Way, *, is_direct: bool) -> Iterator[Thing]:
    if is_direct:
        yield from (Object() if sent.data is None else sent.data for sent in way.sent if sent.status != FAILED)
    elif not way.raises and not way.caught:
        answer = Object() if way.returned is None else way.returned
        yield answer.items.get("Data", Object()) if isinstance(answer, Object) and not answer.is_open else UNKNOWN


def _is_direct(resource: Resource) -> bool:
    maker = makers(resource.template.model).get(resource)
    return maker is not None and not _users(maker)


def _users(maker: Resource) -> Mapping[str, Resource | None]:
    """The functions of a framework's user."""
    given = maker.get("Environment", "Variables")
    return {name: resource_of(value, FUNCTION) for name in (ON_EVENT, IS_COMPLETE) if (value := at(given, name)) is not ABSENT}


def _ways(resource: Resource, *requests: str) -> list[Way] | None:
    """The ways of the functions of a custom resource for some requests; `None` where others may answer, or in other ways."""
    maker = makers(resource.template.model).get(resource)
    functions = [] if maker is None else [*_users(maker).values()] or [maker]
    found: list[Run] = []
    for function in functions:
        own = [] if function is None else [one for one in runs_of(function) if one.resource is resource and one.request in requests]
        if not own:
            return None
        found += own
    ways = [way for one in found for way in one.ways]
    return ways if found and all(one.is_whole and one.ends for one in found) and not any(way.hands_on for way in ways) else None
