"""Places for pods: groups of nodes by their labels and taints; and the add-ons whose pods find none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.addons import Addon, addons
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.kubernetes import MANIFEST, EksCluster, joined
from hyperpod_constructs.facts.addons import COREDNS, COREDNS_TOLERATES
from hyperpod_constructs.facts.kubernetes_nodes import GIVEN_LABELS
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, as_str, at, frozen, is_known

OTHERS = ("AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::Instance", "AWS::EKS::FargateProfile")
"""What may bring other nodes, beside manifests."""
_BY_DEFAULT: tuple[Value, ...] = tuple({"key": key, "operator": "Exists"} for key in COREDNS_TOLERATES)


class Unplaced(NamedTuple):
    """An add-on whose pods find no node, in words."""

    resource: Resource
    path: tuple[str | int, ...]
    message: str
    covers: tuple[Resource, ...] = ()


class Place(NamedTuple):
    """A group of nodes; its labels and taints are `None` where they are not known."""

    resource: Resource
    labels: Mapping[str, Value] | None
    taints: tuple[Value, ...] | None
    path: tuple[str | int, ...]
    """The place of the taints."""
    group: Group | None = None
    """The instance group of HyperPod."""


def unplaced(model: Model) -> Iterator[Unplaced]:
    """The add-ons whose pods surely find no node, where no other nodes can be."""
    known = model.complete and not model.resources(*OTHERS, MANIFEST)
    return (found for addon in (addons(model) if known else ()) for found in _unplaced(addon))


def _unplaced(addon: Addon) -> Iterator[Unplaced]:
    places = list(places_of(addon.eks)) if addon.eks is not None and not addon.eks.is_automatic else []
    configuration = addon.configuration or ({} if addon.resource.get("ConfigurationValues") is ABSENT else None)
    selector, written = at(configuration, "nodeSelector"), at(configuration, "tolerations")
    tolerations = _BY_DEFAULT if written is ABSENT else as_items(frozen(written))
    wanted = {key: as_str(value) for key, value in selector.items()} if isinstance(selector, Mapping) else {}
    labels = [one.labels for one in places if one.labels is not None]
    if configuration is None or not places or len(labels) < len(places) or any(map(is_of_kubernetes, wanted)):
        return
    fits = [all(as_str(own.get(key, ABSENT)) == value for key, value in wanted.items()) for own in labels]
    fitting = [place for place, is_fit in zip(places, fits, strict=True) if is_fit]
    if not fitting:
        text = f"no group of nodes has the label {enumerated(f'{key}={value}' for key, value in wanted.items())}"
        yield Unplaced(addon.resource, ("ConfigurationValues",), f"{text}, which {addon.name} selects")
    elif addon.name == COREDNS and all(keeps_out(one.taints, tolerations) for one in fitting):
        text = f"{addon.name} does not tolerate the taints of its nodes"
        yield Unplaced(fitting[0].resource, fitting[0].path, text, (addon.resource,))
    elif addon.name == COREDNS and (groups := _empty(fitting, tolerations)):
        text = f"{addon.name} has no other place than {enumerated(one.label for one in groups)}, which starts with no nodes"
        yield Unplaced(groups[0].resource, (*groups[0].path, "InstanceCount"), text, (addon.resource,))


def _empty(places: Sequence[Place], tolerations: tuple[Value, ...] | None) -> list[Group]:
    """The instance groups to which pods may go, if these are the only places and all are empty; none if Karpenter may fill them."""
    open_ = [one for one in places if not keeps_out(one.taints, tolerations)]
    groups = [one.group for one in open_ if one.group is not None and one.group.count == 0 and one.taints is not None]
    grows = any(one.resource.get("AutoScaling", "Mode") not in (ABSENT, "Disable") for one in open_)
    return groups if len(groups) == len(open_) and tolerations is not None and not grows else []


def is_of_kubernetes(label: str) -> bool:
    """Whether Kubernetes, a cloud or a device gives nodes a label, and not the template."""
    return label.partition("/")[0].endswith(GIVEN_LABELS)


def places_of(eks: EksCluster) -> Iterator[Place]:
    """The groups of nodes of a cluster."""
    for nodes in eks.node_groups:
        yield Place(nodes, _labels(nodes.get("Labels")), as_items(nodes.get("Taints")), ("Taints",))
    for group in (group for cluster, its in joined(eks.resource.template.model) if its == eks for group in cluster.groups):
        labels, taints = (group.get("KubernetesConfig", key) for key in ("Labels", "Taints"))
        yield Place(group.resource, _labels(labels), as_items(taints), (*group.path, "KubernetesConfig", "Taints"), group)


def _labels(value: Value) -> Mapping[str, Value] | None:
    return {} if value is ABSENT else value if isinstance(value, Mapping) else None


def keeps_out(taints: tuple[Value, ...] | None, tolerations: tuple[Value, ...] | None) -> bool:
    """Whether a taint surely keeps pods out."""
    effects = [(one, (as_str(at(one, "Effect")) or "").upper().replace("_", "")) for one in taints or ()]
    hard = [one for one, effect in effects if effect in ("NOSCHEDULE", "NOEXECUTE") and is_known(one)]
    return tolerations is not None and any(not any(_tolerates(each, one) for each in tolerations) for one in hard)


def _tolerates(toleration: Value, taint: Value) -> bool:
    key, value = as_str(at(toleration, "key")), as_str(at(toleration, "value"))
    if key is None:
        return True
    return key == as_str(at(taint, "Key")) and (at(toleration, "operator") == "Exists" or value == as_str(at(taint, "Value")))
