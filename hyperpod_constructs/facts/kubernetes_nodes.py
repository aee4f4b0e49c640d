"""Nodes of HyperPod in Kubernetes: names, labels, taints and resources (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from hyperpod_constructs.facts.instance_types import InstanceType

_PREFIX = "sagemaker.amazonaws.com"

OWN_LABELS = f"{_PREFIX}/"
"""The beginning of the labels of the service."""

HEALTH = f"{_PREFIX}/node-health-status"
SCHEDULABLE, UNSCHEDULABLE = "Schedulable", "Unschedulable"
PENDING_REPLACEMENT, PENDING_REBOOT = "UnschedulablePendingReplacement", "UnschedulablePendingReboot"
"""Values of the label of health. The last two make the service replace or reboot the node, whoever sets them."""

DEEP_HEALTH = f"{_PREFIX}/deep-health-check-status"
CHECKING, PASSED = "InProgress", "Passed"
"""The values of the label of deep health during the checks and after them."""

FAULTS = tuple(f"{_PREFIX}/{name}" for name in ("fault-types", "fault-type", "fault-reasons", "fault-reason"))
"""Labels that say why a node is unhealthy. The page writes the singular, and samples of AWS use the plural."""

CLUSTER = f"{_PREFIX}/cluster-name"
GROUP = f"{_PREFIX}/instance-group-name"
COMPUTE_TYPE: Mapping[str, str] = MappingProxyType({f"{_PREFIX}/compute-type": "hyperpod"})

INSTANCE_TYPE, ZONE, REGION = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
ARCHITECTURE, SYSTEM = "kubernetes.io/arch", "kubernetes.io/os"
"""Labels of every node, also of those that are not HyperPod's.

Source: https://kubernetes.io/docs/reference/labels-annotations-taints/
"""

GIVEN_LABELS = (
    *("amazonaws.com", "amd.com", "eksctl.io", "intel.com", "k8s.aws", "k8s.io", "karpenter.sh"),
    *("kubernetes.io", "nvidia.com"),
)
"""The ends of domains whose labels nodes get from others than templates: Kubernetes, AWS, HyperPod, Karpenter, and programs that
look for devices.

Sources: https://kubernetes.io/docs/reference/labels-annotations-taints/,
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html,
https://docs.aws.amazon.com/eks/latest/userguide/ml-workload-topology.html,
https://karpenter.sh/docs/concepts/scheduling/, https://kubernetes-sigs.github.io/node-feature-discovery/stable/usage/features.html,
https://github.com/NVIDIA/k8s-device-plugin/blob/main/docs/gpu-feature-discovery/README.md and
https://docs.aws.amazon.com/eks/latest/eksctl/nodegroup-managed.html (as of 2026-12-01)
"""

UNHEALTHY_TAINT: Mapping[str, str] = MappingProxyType({"key": HEALTH, "value": UNSCHEDULABLE, "effect": "NoSchedule"})
"""The taint of a node that takes no pods."""

ACCELERATORS: Mapping[str, str] = MappingProxyType({"gpu": "nvidia.com/gpu", "neuron": "aws.amazon.com/neuron"})
"""The resource that a device plugin offers, by kind of accelerator."""

EFA = "vpc.amazonaws.com/efa"

_NODE_NAME = re.compile(r"hyperpod-(i-[0-9a-f]{8,17})(?:\.|$)")
_ARM = re.compile(r"ml\.[a-z]+\d+g[a-z]*\.|ml\.p\d+e-gb\d+\.")


def node_name(instance_id: str) -> str:
    """The name of the node of an instance."""
    return f"hyperpod-{instance_id}"


def instance_of(node: str) -> str | None:
    """The id of the instance of a node; `None` for a node that is not HyperPod's."""
    found = _NODE_NAME.match(node)
    return None if found is None else found[1]


def architecture(instance_type: str) -> str:
    """The value of the label `kubernetes.io/arch`: types with Graviton and Grace processors are arm64."""
    return "arm64" if _ARM.match(instance_type) else "amd64"


_QUANTITY = re.compile(r"\+?(?P<number>\d{1,15}(\.\d{0,9})?)(?P<unit>[KMGTPE]i|[mkMGTPE]?)")
_UNITS = {"": 1.0, "m": 1e-3, **{unit: 1e3**power for power, unit in enumerate("kMGTPE", 1)}}
_UNITS |= {f"{unit}i": 1024.0**power for power, unit in enumerate("KMGTPE", 1)}


def quantity(found: object) -> float | None:
    """The number of a quantity of Kubernetes, such as `1536Gi` or `100m`; `None` for a text of a rarer form.

    Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ (as of 2026-11-24)
    """
    match = None if isinstance(found, bool) else _QUANTITY.fullmatch(str(found))
    return None if match is None else float(match["number"]) * _UNITS[match["unit"]]


def resources(kind: InstanceType) -> dict[str, str]:
    """The resources of a node, as far as the facts of its type are known: without what system processes keep."""
    found: dict[str, float | str | None] = {
        "cpu": kind.vcpus,
        "memory": None if kind.memory_gib is None else f"{int(kind.memory_gib * 1024)}Mi",
        EFA: kind.efa_interfaces or None,
    }
    if kind.accelerator is not None:
        found[ACCELERATORS[kind.accelerator.kind]] = kind.accelerator.count
    return {name: str(value) for name, value in found.items() if value is not None}
