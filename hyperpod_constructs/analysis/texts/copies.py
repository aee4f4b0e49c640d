"""Copies in other regions: of a registry's images, and of secrets; filters are for repositories that are there.

Sources: https://docs.aws.amazon.com/AmazonECR/latest/userguide/replication.html and
https://docs.aws.amazon.com/secretsmanager/latest/userguide/replicate-secrets.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, mapping
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT

REGISTRY, SECRET, _REPOSITORY = "AWS::ECR::ReplicationConfiguration", "AWS::SecretsManager::Secret", "AWS::ECR::Repository"
_RULES = "ReplicationConfiguration/Rules/*"
_OWN = "a region that is not that of the stack"


def registry(resource: Resource) -> Slips:
    """The destinations of a registry, and the repositories that its filters choose."""
    for place, one in place_in(resource.get(), f"{_RULES}/Destinations/*"):
        if mapping(one).get("RegistryId", ABSENT) == resource.template.owner:
            yield from _at_home(resource, (*place, "Region"))
    yield from _of_nothing(resource)


def secret(resource: Resource) -> Slips:
    """The regions of a secret's replicas."""
    for place, _ in place_in(resource.get(), "ReplicaRegions/*/Region"):
        yield from _at_home(resource, place)


def _at_home(resource: Resource, place: tuple[str | int, ...]) -> Iterator[Slip]:
    region = known(resource.get(*place))
    if region is not None and region == region_of(resource):
        yield Slip(f"{region} is the region of the stack itself, and copies are for others", _OWN, place, region)


def _of_nothing(resource: Resource) -> Iterator[Slip]:
    """A filter is the beginning of names; one that is nearly that of the repositories, or in their family, and chooses none."""
    model = resource.template.model
    given = [one.get("RepositoryName") for one in model.resources(_REPOSITORY)]
    names = [name for one in given if (name := known(one))]
    if not model.complete or len(names) != len(given):
        return
    for place, value in place_in(resource.get(), f"{_RULES}/RepositoryFilters/*/Filter"):
        start = known(value) or ""
        near = typo_of(start, {name[: len(start) + longer] for name in names for longer in (-1, 0, 1)})
        if start and not any(name.startswith(start) for name in names) and (near or nobodys(model, start, given)):
            message = f"no repository of the templates has a name that begins with {start}"
            yield Slip(message, near or ", ".join(names), place, start, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {REGISTRY: registry, SECRET: secret}
