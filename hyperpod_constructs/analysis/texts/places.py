"""The texts of a model and the mistakes in them. A module with judges is imported when a template has something for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, WholeJudge
from hyperpod_constructs.analysis.texts.subjects import LANGUAGES_OF, MODULES, PAGES, TYPES_OF, Topic
from hyperpod_constructs.facts.texts import LANGUAGES, Language
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Either, Unknown, Value, alternatives_of

_MODULE_OF = {language: module for module, languages in LANGUAGES_OF.items() for language in languages}
_WHOLES = grouped((type_, (module, key)) for module, types in TYPES_OF.items() for type_, key in types.items())
_TYPES = (*dict.fromkeys((*LANGUAGES, *_WHOLES)),)

_SOURCE = re.compile(r"https://[^\s,]+")


class _Book(Protocol):
    """A module with judges."""

    JUDGES: Mapping[Language, Judge]
    WHOLES: Mapping[str, WholeJudge]


@cache
def book(module: str) -> _Book:
    """The module of a name."""
    return cast(_Book, import_module(f"{__package__}.{module}"))


class Found(NamedTuple):
    """A mistake in a text of a resource."""

    resource: Resource
    module: str
    """The module that judges it."""
    slip: Slip

    @property
    def topic(self) -> Topic:
        """Its subject."""
        return MODULES[self.module]

    @property
    def source(self) -> str:
        """The documentation on it: the first source of the module, else that of the topic."""
        own = _SOURCE.search(book(self.module).__doc__ or "")
        return PAGES[self.topic] if own is None else own[0]


def texts_with_mistakes(model: Model) -> Mapping[Topic, list[Found]]:
    """The mistakes in the texts of a model, each place once; computed once."""
    return model.cached(texts_with_mistakes, lambda: grouped((one.topic, one) for one in _found(model)))


def _found(model: Model) -> Iterator[Found]:
    for resource in model.resources(*_TYPES):
        said: set[tuple[Resource, Path]] = set()
        for module, slip in (*_of_places(resource), *_of_whole(resource)):
            place = slip.at or resource, slip.path
            if place not in said:
                said.add(place)
                yield Found(place[0], module, slip)


def _of_places(resource: Resource) -> Iterator[tuple[str, Slip]]:
    for path, language in LANGUAGES.get(resource.type, {}).items():
        module = _MODULE_OF[language]
        for place, value in place_in(resource.get(), path):
            if _is_text(value):
                slips = _judged(resource, value, book(module).JUDGES[language])
                yield from ((module, _complete(slip, value).below(*place)) for slip in slips)


def _of_whole(resource: Resource) -> Iterator[tuple[str, Slip]]:
    for module, key in _WHOLES.get(resource.type, ()):
        if key and key not in resource.properties:
            continue
        for slip in book(module).WHOLES[resource.type](resource):
            yield module, slip if slip.found is not ABSENT else replace(slip, found=(slip.at or resource).get(*slip.path))


def _complete(slip: Slip, value: Value) -> Slip:
    return slip if slip.found is not ABSENT or slip.path else replace(slip, found=value)


def _is_text(value: Value) -> bool:
    return not (value is ABSENT or isinstance(value, Unknown) or value is None or value == "")


def _judged(resource: Resource, value: Value, judge: Judge) -> list[Slip]:
    """The mistakes of a value; of one with alternatives those of each, and under a condition only if all have some."""
    branches = [list(judge(one)) for one in alternatives_of(value) if _is_text(one)]
    if isinstance(value, Either) and resource.exists is None and not all(branches):
        return []
    return [slip for branch in branches for slip in branch]
