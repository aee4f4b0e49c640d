"""The add-ons that the embedded EKS has, by the facts.

EKS has versions that no source names: any version counts that has the form of one and fits the version of Kubernetes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.facts import addon_versions, addons, eks
from hyperpod_constructs.facts.addons import AddonFacts, Nodes
from hyperpod_constructs.facts.kubernetes import version_of
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.eks.records import invalid


def names() -> tuple[str, ...]:
    """Every add-on."""
    return tuple(sorted({*addons.known_addons(), *eks.OTHER_ADDONS}))


def check_name(name: str) -> None:
    """Refuse an add-on that EKS does not have.

    :raises AwsError: with those that it has.
    """
    if name not in names():
        raise invalid(f"Addon {name} specified is not supported; the embedded AWS has {', '.join(names())}")


def versions(name: str, kubernetes: str) -> list[str]:
    """The versions of an add-on that a source names for this version of Kubernetes, the newest first."""
    facts = addons.addon_facts(name)
    known = {item.version for item in facts.versions if item.kubernetes in (None, kubernetes)} if facts is not None else set()
    return sorted((text for text in known if _problem(name, text, kubernetes) is None), key=_order, reverse=True)


def default_version(name: str, kubernetes: str) -> str:
    """The version of an add-on that a request does not give; one of the right form where no source names any."""
    known = versions(name, kubernetes)
    if known:
        return known[0]
    facts = addons.addon_facts(name)
    if facts is not None and facts.follows_kubernetes:
        return f"v{kubernetes}.0-eksbuild.1"
    newest = sorted((item.version for item in facts.versions), key=_order) if facts is not None else []
    return newest[-1] if newest else f"v{(facts.least if facts is not None else None) or '1.0.0'}-eksbuild.1"


def check_version(name: str, version: str, kubernetes: str) -> None:
    """Refuse a version that this version of Kubernetes cannot have.

    :raises AwsError: with what is allowed.
    """
    if (problem := _problem(name, version, kubernetes)) is not None:
        raise AwsError("InvalidParameterException", f"Addon version specified is not supported: {problem}")


def check_step(name: str, old: str, new: str) -> None:
    """Refuse an update over a version that is needed in between.

    :raises AwsError: with the way to take.
    """
    if addon_versions.skips_a_step(name, old, new):
        raise invalid(f"Addon version specified is not supported: {addon_versions.skipped_step(name, old, new)}")


def check_kubernetes(name: str, kubernetes: str) -> None:
    """Refuse an add-on that needs a newer Kubernetes.

    :raises AwsError: with the least version.
    """
    if (mistake := addon_versions.kubernetes_mistake(name, kubernetes)) is not None:
        raise invalid(f"Addon {name} is not supported: {mistake}")


def check_configuration(name: str, text: str) -> None:
    """Refuse configuration values that the add-on's schema refuses. YAML, which EKS takes too, is not read here.

    :raises AwsError: with the first wrong value.
    """
    if not text:
        return
    try:
        values = json.loads(text)
    except ValueError:
        raise invalid(f"ConfigurationValue is not in valid JSON: found {text[:80]!r}; the embedded AWS reads JSON only") from None
    if not isinstance(values, dict):
        raise invalid(f"ConfigurationValue must be a JSON object; found {text[:80]!r}")
    mistake = addons.configuration_mistake(name, values, lambda value: False)
    if mistake is not None:
        raise invalid(
            f"ConfigurationValue provided in request is not supported: Json schema validation failed with error: {mistake}"
        )


def schema(name: str) -> dict[str, Any]:
    """The schema of an add-on's configuration; one that allows everything where no source tells it."""
    facts = addons.addon_facts(name)
    known: Mapping[str, Any] = {} if facts is None or facts.configuration is None else facts.configuration
    return {"$schema": "http://json-schema.org/draft-07/schema#", **(known or {"type": "object"})}


def facts_of(name: str) -> AddonFacts | None:
    """The facts of an add-on, if there are any."""
    return addons.addon_facts(name)


def nodes_of(name: str) -> Nodes:
    """What an add-on does in a cluster without nodes; nothing for one without facts."""
    facts = addons.addon_facts(name)
    return Nodes.NONE if facts is None else facts.nodes


def refuses_inline_identity(name: str, version: str) -> bool:
    """Whether this version refuses pod identity associations inside the add-on."""
    return (name, version) == addons.NO_INLINE_IDENTITY


def _problem(name: str, version: str, kubernetes: str) -> str | None:
    mistake = addon_versions.version_mistake(name, version, kubernetes)
    return None if mistake is None else str(mistake)


def _order(version: str) -> tuple[tuple[int, ...], int]:
    return version_of(version) or (), int(version.rpartition(".")[2])
