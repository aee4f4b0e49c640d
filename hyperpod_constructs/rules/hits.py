"""Subjects of rules, and their judges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any, TypeAlias

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.templates.model import Model, Resource

Said: TypeAlias = Hit | Mistake | str
"""A mistake of a subject: as a hit, or in words for the place of the rule."""
Judge: TypeAlias = Callable[..., Iterable[Said] | Said | None]
"""The function of a rule, which judges one subject."""
Subjects: TypeAlias = Callable[[Model], Iterable[Any]] | str | tuple[str, ...]
"""The subjects of a rule: a function that lists them, or types of resources. A tuple without names becomes several arguments of
the judge."""


def over(subjects: Subjects, at: tuple[str | int, ...], once: bool, judge: Judge) -> Callable[[Model], Iterator[Hit]]:
    """The check that asks a judge about each subject of a model.

    :param at: the place of a mistake in words, in the subject; of several arguments the first is the subject.
    :param once: one hit for the groups of a cluster with the same mistake at the same property; its message names all of them.
    """

    def spoken(model: Model) -> Iterator[tuple[Any, Hit]]:
        found = subjects(model) if callable(subjects) else model.resources(*([subjects] if isinstance(subjects, str) else subjects))
        for subject in found:
            arguments = subject if type(subject) is tuple else (subject,)
            for said in _each(judge(*arguments)):
                yield arguments[0], said if isinstance(said, Hit) else hit(arguments[0], said, *at)

    @wraps(judge)
    def check(model: Model) -> Iterator[Hit]:
        return _merged(spoken(model)) if once else (found for _, found in spoken(model))

    return check


def _each(said: Iterable[Said] | Said | None) -> Iterable[Said]:
    if said is None:
        return ()
    return (said,) if isinstance(said, (Hit, Mistake, str)) else said


def _merged(spoken: Iterable[tuple[Any, Hit]]) -> Iterator[Hit]:
    alike: dict[tuple[Resource, str | int], dict[str, Hit]] = {}
    for group, found in spoken:
        alike.setdefault((found.resource, found.path[-1]), {}).setdefault(group.label, found)
    for hits in alike.values():
        (_, first), *others = hits.items()
        more = f"; the same in {enumerated(repr(label) for label, _ in others)}" if others else ""
        yield replace(first, message=f"{first.message}{more}")
