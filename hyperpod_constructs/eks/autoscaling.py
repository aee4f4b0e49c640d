"""The objects by which Karpenter scales a cluster: a class of nodes, made of instance groups, and pools of such nodes."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.deferred import check_at_synthesis
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import Namespace
from hyperpod_constructs.cluster.cluster import HyperPodCluster
from hyperpod_constructs.cluster.instance_group import InstanceGroup
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.eks.awaiting import await_definition
from hyperpod_constructs.eks.base import KubernetesControlPlane
from hyperpod_constructs.facts import autoscaling as facts
from hyperpod_constructs.facts.kubernetes_nodes import ARCHITECTURE, INSTANCE_TYPE, ZONE
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.rules.plugin import register_rules

KarpenterName = Namespace
Seconds = Annotated[int, Limit(least=0)]


class ConsolidationPolicy(StrEnum):
    """The nodes that Karpenter takes away by itself."""

    WHEN_EMPTY = "WhenEmpty"
    """Nodes without pods; no running pod is moved."""
    WHEN_EMPTY_OR_UNDERUTILIZED = "WhenEmptyOrUnderutilized"
    """Also nodes whose pods fit elsewhere: they are evicted, and a training job starts again from its checkpoint."""


class KarpenterNodeClass(Construct):
    """Instance groups that Karpenter fills from 0 nodes (`HyperpodNodeClass`).

    Take a group out of its node class before you remove it from the cluster: a class with an unknown group adds no nodes.

    Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html and, for spot
    capacity, which that page does not know yet, https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-spot.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        control_plane: KubernetesControlPlane,
        cluster: HyperPodCluster,
        instance_groups: Sequence[InstanceGroup],
        name: KarpenterName,
    ) -> None:
        """
        :param control_plane: the EKS cluster.
        :param cluster: the HyperPod cluster, with `auto_scaling`. The object waits for it, and up to 14 minutes more until the
            service has installed Karpenter's kinds.
        :param instance_groups: 1 to 10 groups of the cluster with a count of 0, in one zone each, without a training plan and
            without deep health checks. Karpenter prefers spot groups to groups on demand.
        :param name: of the object. A change **replaces** it.
        :raises ValueError: for other groups, or a cluster without autoscaling.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        mistake = facts.WITHOUT_AUTOSCALING if cluster.resource.auto_scaling is None else _mistake_of(instance_groups)
        if mistake is not None:
            raise ValueError(f"{self.node.path}: {mistake}")
        self._control_plane, self._cluster = control_plane, cluster
        self._groups, self._name = tuple(instance_groups), name
        self._manifest = eks.KubernetesManifest(
            self,
            "Resource",
            cluster=control_plane.cluster,
            manifest=[
                {
                    "apiVersion": f"{facts.NODE_CLASS_GROUP}/v1",
                    "kind": facts.NODE_CLASS_KIND,
                    "metadata": {"name": name},
                    "spec": {"instanceGroups": [group.name for group in instance_groups]},
                }
            ],
        )
        installed = await_definition(
            self, "Kind", cluster=control_plane.cluster, name=facts.NODE_CLASS_DEFINITION, after=cluster.resource
        )
        self._manifest.node.add_dependency(cluster.resource, installed)
        check_at_synthesis(self, self._unknown, resource=self._manifest)

    @property
    def name(self) -> str:
        """The name of the object."""
        return self._name

    @property
    def instance_groups(self) -> tuple[InstanceGroup, ...]:
        """The groups."""
        return self._groups

    @property
    def manifest(self) -> eks.KubernetesManifest:
        """The object; node pools wait for it."""
        return self._manifest

    @property
    def control_plane(self) -> KubernetesControlPlane:
        """The EKS cluster."""
        return self._control_plane

    def _unknown(self) -> list[str]:
        known = [group.name for group in self._cluster.instance_groups]
        return [str(facts.unknown_group(group.name, known)) for group in self._groups if group.name not in known]


class KarpenterNodePool(Construct):
    """Nodes that Karpenter may add (`NodePool`): which types, in which zones, and when it takes them away.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodepool.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        node_class: KarpenterNodeClass,
        name: KarpenterName,
        instance_types: Sequence[ClusterInstanceType] = (),
        availability_zones: Sequence[str] = (),
        consolidation_policy: ConsolidationPolicy = ConsolidationPolicy.WHEN_EMPTY,
        consolidate_after_seconds: Seconds = 300,
    ) -> None:
        """
        :param node_class: the groups.
        :param name: of the object. A change **replaces** it, and Karpenter drains the nodes of the old one.
        :param instance_types: types of the groups; all of them unless given.
        :param availability_zones: names of zones, such as `us-west-2a`; all of the groups unless given.
        :param consolidation_policy: the nodes that go by themselves; those without pods unless given.
        :param consolidate_after_seconds: time without a change of pods before a node goes; 300 s unless given.
        :raises ValueError: for a type that no group has.
        """
        super().__init__(scope, id)
        register_rules(self, scope)
        known = [kind.name for group in node_class.instance_groups for kind in group.instance_types]
        types = [kind.name for kind in instance_types]
        foreign = [one for one in types if one not in known and not is_unknown(one)]
        if foreign and not any(map(is_unknown, known)):
            raise ValueError(f"{self.node.path}: {facts.unknown_types(foreign, known)}")
        self._manifest = eks.KubernetesManifest(
            self,
            "Resource",
            cluster=node_class.control_plane.cluster,
            manifest=[
                {
                    "apiVersion": f"{facts.NODE_POOL_GROUP}/v1",
                    "kind": facts.NODE_POOL_KIND,
                    "metadata": {"name": name},
                    "spec": {
                        "template": {"spec": _template(node_class.name, types, availability_zones)},
                        "disruption": {
                            "consolidationPolicy": consolidation_policy.value,
                            "consolidateAfter": f"{consolidate_after_seconds}s",
                        },
                    },
                }
            ],
        )
        installed = await_definition(
            self,
            "Kind",
            cluster=node_class.control_plane.cluster,
            name=facts.NODE_POOL_DEFINITION,
            after=node_class.manifest,
        )
        self._manifest.node.add_dependency(node_class.manifest, installed)

    @property
    def manifest(self) -> eks.KubernetesManifest:
        """The object."""
        return self._manifest


def _template(node_class: str, types: Sequence[str], zones: Sequence[str]) -> dict[str, Any]:
    anywhere = {"key": INSTANCE_TYPE, "operator": "Exists"}
    return {
        "nodeClassRef": {"group": facts.NODE_CLASS_GROUP, "kind": facts.NODE_CLASS_KIND, "name": node_class},
        "expireAfter": "Never",
        "requirements": [
            _one_of(INSTANCE_TYPE, types) if types else anywhere,
            *([_one_of(ZONE, zones)] if zones else []),
            _one_of(ARCHITECTURE, [facts.ARCHITECTURE]),
        ],
    }


def _one_of(key: str, values: Sequence[str]) -> dict[str, Any]:
    return {"key": key, "operator": "In", "values": list(values)}


def _mistake_of(groups: Sequence[InstanceGroup]) -> Mistake | None:
    if not 1 <= len(groups) <= facts.MOST_GROUPS:
        return facts.number_of_groups(len(groups))
    return next((found for group in groups if (found := _mistake_of_group(group)) is not None), None)


def _mistake_of_group(group: InstanceGroup) -> Mistake | None:
    settings = {
        "a training plan": group.training_plan_arn is not None,
        "deep health checks": bool(group.deep_health_checks),
    }
    subnets = () if group.override_vpc_config is None else group.override_vpc_config.subnets
    zones = sorted({subnet.availability_zone for subnet in subnets}) if len(subnets) > 1 else []
    count = None if is_unknown(group.count) else group.count
    return facts.group_mistake(group.name, count, settings, [] if any(map(is_unknown, zones)) else zones)
