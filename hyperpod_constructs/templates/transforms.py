"""Macros for a whole template: whether they may add resources, or change the properties of those in the template."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.templates.documents import resources_of
from hyperpod_constructs.templates.raw import Raw

# Transforms that leave the resources as written; any other can change or add anything.
_HARMLESS = frozenset({"AWS::LanguageExtensions", "AWS::SecretsManager-2020-07-23", "AWS::SecretsManager-2024-09-16"})
# It adds functions with their own resources; only its connectors add policies to other roles.
_SERVERLESS = "AWS::Serverless-2016-10-31"
_ADDING = frozenset({"AWS::CodeDeployBlueGreen", _SERVERLESS})


def may_add(body: Mapping[str, Raw]) -> bool:
    """Whether a macro may add resources that matter to those in the template."""
    adding = macros(body) - _HARMLESS
    return bool(adding) and (adding != {_SERVERLESS} or _connected(body))


def may_name(body: Mapping[str, Raw]) -> bool:
    """Whether a macro may add names that the template does not list: resources, parameters, conditions."""
    return bool(macros(body) - _HARMLESS) or "Fn::Transform" in body


def may_rewrite(body: Mapping[str, Raw]) -> bool:
    """Whether a custom macro may change any property."""
    return bool(macros(body) - _HARMLESS - _ADDING)


def macros(body: Mapping[str, Raw]) -> set[str]:
    """The names of the macros; `?` for a computed name."""
    transform = body.get("Transform")
    listed = transform if isinstance(transform, list) else [] if transform is None else [transform]
    names = [item.get("Name") if isinstance(item, dict) else item for item in listed]
    return {name if isinstance(name, str) else "?" for name in names}


def _connected(body: Mapping[str, Raw]) -> bool:
    written = resources_of(body).values()
    return any(one["Type"] == "AWS::Serverless::Connector" or "Connectors" in one for one in written)
