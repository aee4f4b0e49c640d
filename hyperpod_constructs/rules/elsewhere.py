"""Findings in other deployments that the templates foresee: in other regions, and with other values of parameters."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import listed, shortened
from hyperpod_constructs.analysis.deployments import others
from hyperpod_constructs.rules.finding import Finding, Level
from hyperpod_constructs.templates.model import Model


def elsewhere(model: Model, named: Collection[tuple[str, str]], find: Callable[[Model], Sequence[Finding]]) -> Iterator[Finding]:
    """The findings in other deployments, each once, at resources of which nothing is said already.

    With other values of parameters a stack may be smaller on purpose: of these, only what fails is said.

    :param named: the templates and names of the resources of which the deployment with the defaults says something.
    :param find: gives the findings in one deployment.
    """
    found = [
        ((one.rule, one.template, one.resource, one.path), (one, other))
        for other in others(model)
        for one in find(model.deployed(other.deployment))
        if (one.template, one.resource) not in named and (other.alike or fails(one.rule, one.level))
    ]
    for same in grouped(found).values():
        first, other = same[0]
        words = listed(one.words for _, one in same if one.alike) if other.alike else other.words
        yield replace(first, message=shortened(f"{first.message} ({words})"))


def fails(rule: str, level: Level) -> bool:
    """Whether what a rule finds fails: errors do, and ways that end."""
    return level is Level.ERROR or rule.startswith("HP-REACH-")
