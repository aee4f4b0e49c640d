"""Keys that a service cannot encrypt with: asymmetric ones, and those that AWS manages for another service."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.resource_policies import key_named
from hyperpod_constructs.facts.arn_properties import arn_property
from hyperpod_constructs.facts.managed_keys import CUSTOMERS_ONLY, OTHERS, OWN_KEY
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Reference, Value, as_str

_SYMMETRIC = "SYMMETRIC_DEFAULT"
_WITH_RULES_OF_THEIR_OWN = ("AWS::EKS::Cluster", "AWS::KMS::Alias")
_MANAGED = re.compile(r"(?:arn:[^:]+:kms:[^:]*:[^:]*:)?alias/aws/([a-z0-9-]+)")
Path = tuple[str | int, ...]


class UnfitKey(NamedTuple):
    """A key that a resource names and its service cannot use.

    :param key: the asymmetric key; `None` for one that AWS manages.
    :param words: the mistake.
    """

    resource: Resource
    path: Path
    key: Resource | None
    words: str


def unfit_keys(model: Model) -> Iterator[UnfitKey]:
    """The unfit keys of all resources."""
    for resource in model.resources():
        if resource.type not in _WITH_RULES_OF_THEIR_OWN:
            for path, value in _keys(resource.get(), ()):
                yield from _unfit(resource, path, value)


def _keys(value: Value, path: Path) -> Iterator[tuple[Path, Value]]:
    """The properties with keys, each with its place."""
    if isinstance(value, Mapping):
        for name, one in value.items():
            wanted = None if isinstance(one, Mapping | tuple) else arn_property(name)
            if wanted is not None and "kms" in wanted.services:
                yield (*path, name), one
            else:
                yield from _keys(one, (*path, name))
    elif isinstance(value, tuple):
        for index, one in enumerate(value):
            yield from _keys(one, (*path, index))


def _unfit(resource: Resource, path: Path, value: Value) -> Iterator[UnfitKey]:
    key = key_named(value) if isinstance(value, Reference) else None
    spec = None if key is None else as_str(key.get("KeySpec"))
    if key is not None and spec is not None and spec != _SYMMETRIC:
        yield UnfitKey(
            resource, path, key, f"{key.logical_id} is a key of {spec}, and {resource.logical_id} encrypts with symmetric ones"
        )
    managed = _MANAGED.fullmatch(as_str(value) or "")
    own = OTHERS.get(str(path[0]), OWN_KEY.get(f"{resource.type}::".split("::")[1]))
    if managed is not None and resource.type in CUSTOMERS_ONLY:
        words = f"{path[-1]} is the key that AWS manages for {managed[1]}, and {resource.type} takes keys of customers only"
        yield UnfitKey(resource, path, None, words)
    elif managed is not None and own is not None and managed[1] != own:
        words = f"{path[-1]} is the key that AWS manages for {managed[1]}, and its policy lets no other service in"
        yield UnfitKey(resource, path, None, words)
