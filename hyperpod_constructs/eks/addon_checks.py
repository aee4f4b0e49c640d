"""What a control plane cannot have of an add-on, said before anything is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.eks.base import KubernetesControlPlane
from hyperpod_constructs.facts import addon_versions
from hyperpod_constructs.facts import addons as facts
from hyperpod_constructs.facts.mistake import Mistake


def check_addon(
    path: str, control_plane: KubernetesControlPlane, name: str, version: str | None, configuration: Mapping[str, Any] | None
) -> None:
    """Refuse a version or a configuration that the add-on does not have on this version of Kubernetes."""
    mistake = addon_versions.kubernetes_mistake(name, control_plane.version) or _version(control_plane, name, version)
    if mistake is not None:
        raise ValueError(f"{path}: {mistake}")
    refused = None if configuration is None else facts.configuration_mistake(name, configuration, is_unknown)
    if refused is not None:
        fix = f"see aws eks describe-addon-configuration --addon-name {name}"
        raise ValueError(f"{path}: the configuration of the add-on {name}: {refused}; {fix}")


def _version(control_plane: KubernetesControlPlane, name: str, version: str | None) -> Mistake | None:
    if version is None or is_unknown(version):
        return None
    return addon_versions.version_mistake(name, version, control_plane.version)


def check_order(path: str, control_plane: KubernetesControlPlane, name: str, after: Sequence[object]) -> None:
    """Refuse an add-on that would start without a node."""
    if facts.needs_nodes(name) and control_plane.has_nodes is False and not after:
        raise ValueError(
            f"{path}: the add-on {name} fails without a node, and {control_plane.node.path} has none of its own; "
            "write after=[readiness], with the ReadinessGate of the HyperPod cluster, or give the control plane default_capacity=2"
        )
