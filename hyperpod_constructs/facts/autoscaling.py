"""Autoscaling by the service's Karpenter: its objects, its limits, and the words for mistakes (as of 2026-11-22).

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodepool.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperpod_constructs.facts.mistake import Mistake, fixed_by

ROLE_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html"
"""The page about the cluster role."""

NODE_CLASS_GROUP = "karpenter.sagemaker.amazonaws.com"
"""The API group of `HyperpodNodeClass`."""

NODE_CLASS_KIND = "HyperpodNodeClass"
"""The kind of a node class."""

NODE_POOL_GROUP = "karpenter.sh"
"""The API group of `NodePool`."""

NODE_POOL_KIND = "NodePool"
"""The kind of a node pool."""

NODE_CLASS_DEFINITION = f"hyperpodnodeclasses.{NODE_CLASS_GROUP}"
"""The name of the definition of `HyperpodNodeClass`.

Source: the plural in manifests and programs of public repositories; AWS's pages name the kind only (as of 2026-11-23).
"""

NODE_POOL_DEFINITION = f"nodepools.{NODE_POOL_GROUP}"
"""The name of the definition of `NodePool`.

Source: https://karpenter.sh/docs/concepts/nodepools/ (as of 2026-11-23)
"""

MOST_GROUPS = 10
"""Most instance groups of a node class."""

ARCHITECTURE = "amd64"
"""The architecture of nodes that Karpenter adds."""

WITHOUT_AUTOSCALING = Mistake(
    "the cluster has no autoscaling, so the service does not install Karpenter and its kinds of objects",
    "give the HyperPodCluster auto_scaling=AutoScaling()",
)


@fixed_by(f"give each node class 1 to {MOST_GROUPS} instance groups")
def number_of_groups(count: int) -> str:
    """A node class with too many groups, or none."""
    return f"the node class has {count} instance groups"


@fixed_by("write a count of 0: Karpenter adds the nodes, and would take these away")
def nodes_of_the_user(group: str, count: int) -> str:
    """A group that starts with nodes."""
    return f"instance group {group!r} of the node class has a count of {count}"


@fixed_by("leave it out, or leave the group out of the node class")
def unsupported(group: str, setting: str) -> str:
    """A group with what Karpenter does not support.

    :param setting: such as `a training plan`.
    """
    return f"instance group {group!r} of the node class has {setting}"


@fixed_by("name subnets of one zone; another zone needs a group of its own")
def several_zones(group: str, zones: Sequence[str]) -> str:
    """A group whose nodes can be in several zones."""
    return f"instance group {group!r} of the node class has subnets in {', '.join(zones)}"


@fixed_by("add the group to the HyperPodCluster")
def unknown_group(group: str, known: Sequence[str]) -> str:
    """A group that the cluster does not have."""
    return f"instance group {group!r} of the node class is not in the cluster, which has {', '.join(known) or 'none'}"


@fixed_by("name types of the groups of the node class, or none for all of them")
def unknown_types(types: Sequence[str], known: Sequence[str]) -> str:
    """Types that no group of the node class has."""
    return f"the node pool names {', '.join(types)}; its node class has {', '.join(known)}"


def group_mistake(group: str, count: int | None, settings: Mapping[str, bool], zones: Sequence[str]) -> Mistake | None:
    """What keeps Karpenter from filling a group of a node class; `None` for a group that it can fill.

    :param count: the wanted nodes; `None` if that is not known.
    :param settings: by words such as `a training plan`, whether the group has it.
    :param zones: the zones in which its nodes can be, as far as they are known to differ.
    """
    if count:
        return nodes_of_the_user(group, count)
    wrong = next((setting for setting, there in settings.items() if there), None)
    if wrong is not None:
        return unsupported(group, wrong)
    return several_zones(group, zones) if len(zones) > 1 else None
