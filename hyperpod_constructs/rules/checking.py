"""The check of a model: all rules of the catalogue, and their findings in order."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache

from hyperpod_constructs.analysis.hidden import Secrets, secrets_of
from hyperpod_constructs.rules import catalogue
from hyperpod_constructs.rules.acknowledgement import Acknowledged, Acknowledgement
from hyperpod_constructs.rules.consequences import Heard, of_parameters_once, without_consequences
from hyperpod_constructs.rules.elsewhere import elsewhere, fails
from hyperpod_constructs.rules.explanations import explained
from hyperpod_constructs.rules.failure import CATALOGUE as CATALOGUE_STAGE
from hyperpod_constructs.rules.failure import guarded
from hyperpod_constructs.rules.finding import Finding, Hit, Level
from hyperpod_constructs.rules.rule import CATALOGUE, Rule
from hyperpod_constructs.templates.model import Model, Resource

_MOST_HITS = 10_000
"""Findings of one rule: more than anybody reads, and fewer than a rule without an end yields."""


def load_catalogue() -> Mapping[str, Rule]:
    """Import every module of `rules/catalogue`, and return `CATALOGUE`; rules of `broken_modules` are not in it."""
    broken_modules()
    return CATALOGUE


@cache
def broken_modules() -> tuple[Finding, ...]:
    """A finding for each module of the catalogue whose import fails."""
    found: list[Finding] = []
    for module in pkgutil.iter_modules(catalogue.__path__):
        with guarded(CATALOGUE_STAGE, found):
            importlib.import_module(f"{catalogue.__name__}.{module.name}")
    return tuple(found)


def check(
    model: Model,
    acknowledged: Iterable[Acknowledgement] = (),
    rules: Iterable[Rule] | None = None,
    *,
    validated: bool = False,
) -> list[Finding]:
    """The findings of all rules, sorted by template, level and place, without silenced and acknowledged ones.

    A failed rule costs only itself: its failure is a finding, which nothing silences and nobody can accept.

    :param acknowledged: accepted findings, beside those that the templates' metadata accept.
    :param rules: the rules to run; by default the whole catalogue.
    :param validated: CDK's own validation is in charge of schemas, so the rules that would say the same are left out.
    """
    failures = list(broken_modules()) if rules is None else []
    # Of two findings that follow from each other the first one stays, so that no order of imports may decide.
    every = sorted(load_catalogue().values() if rules is None else rules, key=lambda one: one.id)
    chosen = [one for one in every if not (validated and one.validated)]
    accepted = Acknowledged(acknowledged)

    def find(deployed: Model, hits: list[Heard]) -> list[Heard]:
        said = [one for one in every if validated and one.validated] if hits else []
        beside = [one for one in _audible([*said, *chosen], deployed, [], accepted) if one[0].validated] if said else []
        return explained(without_consequences(hits, [*beside, *hits], deployed), deployed, every)

    def find_new(deployed: Model) -> list[Finding]:
        hits = _audible(chosen, deployed, [], accepted)
        return [] if _places(hits) <= places else [one for _, _, one in find(deployed, hits)]

    heard = _audible(chosen, model, failures, accepted)
    places, here = _places(heard), find(model, heard)
    found: dict[tuple[str, str, str, str, str], Finding] = {}
    for finding in (*(one for _, _, one in here), *elsewhere(model, _named(here), find_new)):
        found.setdefault((finding.rule, finding.template, finding.resource, finding.path, finding.message), finding)
    return [*failures, *_sorted((_readable(one, secrets_of(model)) for one in found.values()), model)]


def _places(heard: Iterable[Heard]) -> set[tuple[str, ...]]:
    return {(one.rule, one.template, one.resource, one.path) for _, _, one in heard}


def _named(heard: Iterable[Heard]) -> set[tuple[str, str]]:
    """The resources of which something is said, also those that a message only names beside its own."""
    return {(one.template.name, one.logical_id) for _, hit, _ in heard for one in (hit.resource, *hit.covers)}


def _readable(one: Finding, secrets: Secrets) -> Finding:
    """A finding as everybody may read it."""
    return replace(one, message=secrets.text(one.message), found=secrets.value(one.found))


def _audible(rules: Iterable[Rule], model: Model, failures: list[Finding], accepted: Acknowledged) -> list[Heard]:
    """What these rules say, without what is silenced or accepted."""
    hits = _of_one_voice([(current, hit, finding) for current in rules for hit, finding in _heard(current, model, failures)])
    silent = _silenced(hits)
    failing = any(fails(one.id, one.level) for one in {one[0] for one in hits})
    hits = [one for one in hits if not (failing and one[0].last)]
    return [one for one in hits if (one[0].id, one[1].resource) not in silent and not _is_accepted(one[0], one[1], accepted)]


def _is_accepted(rule: Rule, hit: Hit, accepted: Acknowledged) -> bool:
    """Whether a hit is accepted where it stands, or at the resource that it is about."""
    return any(accepted.covers(rule.ids, one) for one in (hit.resource, hit.judged) if one is not None)


def _heard(rule: Rule, model: Model, failures: list[Finding]) -> list[tuple[Hit, Finding]]:
    """The hits of a rule, up to its failure if it fails."""
    heard: list[Hit] = []
    with guarded(rule.id, failures):
        for hit in rule.check(model):
            if len(heard) >= _MOST_HITS:
                raise OverflowError(f"it found more than {_MOST_HITS:,} mistakes; the others are not shown")
            heard.append(_proper(hit))
    if not heard:
        return []
    found: list[tuple[Hit, Finding]] = []
    with guarded(rule.id, failures):
        found.extend((hit, rule.finding(hit)) for hit in of_parameters_once(heard))
    return found


def _proper(hit: object) -> Hit:
    if not isinstance(hit, Hit):
        raise TypeError(f"it yielded {type(hit).__name__}, which is not a Hit")
    if not isinstance(hit.message, str) or not isinstance(hit.allowed, str | None):
        raise TypeError("it yielded a Hit whose text is no text")
    if not isinstance(hit.path, tuple) or not all(isinstance(step, str | int) for step in hit.path):
        raise TypeError("it yielded a Hit whose path is no path")
    if not all(isinstance(resource, Resource) for resource in (hit.resource, *hit.covers)):
        raise TypeError("it yielded a Hit whose resource is no Resource")
    return hit


def _sorted(findings: Iterable[Finding], model: Model) -> list[Finding]:
    order = {template.name: position for position, template in enumerate(model.templates)}
    return sorted(
        findings,
        key=lambda one: (order[one.template], one.level is not Level.ERROR, one.resource, one.path, one.rule),
    )


_Path = tuple[str | int, ...]


def _of_one_voice(hits: Sequence[Heard]) -> list[Heard]:
    """One hit where a rule that yields and others speak of one property, or the others of one below it.

    An error of the others stays. Their warnings go, because the one that yields is an error.
    """
    below: dict[tuple[Resource, _Path], list[Heard]] = {}
    for heard in hits:
        path = heard[1].path
        for depth in range(1, len(path) + 1) if not heard[0].yields else ():
            below.setdefault((heard[1].resource, path[:depth]), []).append(heard)
    gone: set[int] = set()
    for heard in (one for one in hits if one[0].yields):
        resource, path = heard[1].resource, heard[1].path
        others = list(below.get((resource, path), ()))
        others += [one for place in heard[1].about for one in below.get((resource, place), ()) if one[1].path == place]
        certain = any(other.level is Level.ERROR for other, _, _ in others)
        gone.update(map(id, [heard] if certain else others))
    return [heard for heard in hits if id(heard) not in gone]


def _silenced(hits: Iterable[Heard]) -> set[tuple[str, Resource]]:
    return {
        (silenced, resource)
        for current, hit, _ in hits
        for silenced in current.silences
        for resource in (hit.resource, *hit.covers)
    }
