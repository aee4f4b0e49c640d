"""Endpoints of subscriptions that a parameter gives: its form is that of the protocol.

A parameter that takes addresses of people, by its AllowedPattern, gives no endpoint of https.

Source: https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.references.parameters import declared, fits_pattern
from hyperpod_constructs.analysis.schema.violation import Path, listed
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Slip
from hyperpod_constructs.facts.receivers import ENDPOINTS, PROTOCOLS
from hyperpod_constructs.templates.dependencies import parameter_at
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, as_str


def of_another_protocol(subscription: Resource, *path: str | int) -> Iterator[Slip]:
    """An endpoint from a parameter that takes those of other protocols alone.

    :param path: the place of the subscription in the resource.
    """
    protocol, place = known(subscription.get(*path, "Protocol")) or "", (*path, "Endpoint")
    pattern = _pattern(subscription, place)
    if pattern is None or protocol not in ENDPOINTS:
        return
    name, form = pattern
    taken = [one for one, endpoints in ENDPOINTS.items() if any(fits_pattern(form, text) is not False for text in endpoints)]
    if taken and protocol not in taken:
        says = f"the endpoint of {protocol} is the parameter {name}, which takes those of {listed(taken)}"
        yield Slip(says, PROTOCOLS[protocol][2], place, subscription.get(*place), doubts=((*path, "Protocol"),))


def _pattern(resource: Resource, path: Path) -> tuple[str, str] | None:
    """The parameter without a default that gives a value, and the pattern of its texts."""
    found = parameter_at(resource, path)
    parameter = None if found is None else declared(found[0]).get(found[1])
    pattern = None if parameter is None else as_str(parameter.limit("AllowedPattern"))
    if parameter is None or not pattern or parameter.limit("Default") is not ABSENT:
        return None
    return parameter.name, pattern
