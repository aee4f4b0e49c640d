"""The quota of a team: guaranteed resources, and the lending and borrowing of idle ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import jsii
from aws_cdk import Acknowledgment, CfnResource, ITaggable, TagManager, TagType, Validations
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.cluster_properties import Clusterlike
from hyperpod_constructs._support.deferred import deferred_value
from hyperpod_constructs._support.metadata import BEYOND_CAPACITY
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.eks.governance.policies import Policies, Quota
from hyperpod_constructs.eks.governance.values import BorrowLimit, FairShareWeight, PolicyName, QuotaAmount, QuotaCount, TeamName
from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.facts import quota_amounts
from hyperpod_constructs.facts.quota_amounts import Allocation
from hyperpod_constructs.rules.plugin import register_rules


class ResourceSharingStrategy(StrEnum):
    """What a team does with idle resources."""

    LEND_AND_BORROW = "LendAndBorrow"
    """The team lends its idle resources and borrows those of others."""
    LEND = "Lend"
    """The team lends its idle resources and borrows nothing."""
    DONT_LEND = "DontLend"
    """The team keeps its idle resources and borrows nothing."""


class PreemptTeamTasks(StrEnum):
    """What happens to a team's own running jobs when a more important one of the team waits."""

    LOWER_PRIORITY = "LowerPriority"
    """A running job of a lower priority makes way."""
    NEVER = "Never"
    """Running jobs go on."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class AcceleratorPartition:
    """Parts of GPUs (MIG).

    :param type: such as `mig-1g.10gb`; the instance type says which there are.
    :param count: the number of parts.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_AcceleratorPartitionConfig.html
    """

    type: str
    count: QuotaCount

    def render(self) -> dict[str, Any]:
        """The properties."""
        return {"Type": self.type, "Count": self.count}


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class ComputeQuotaResource:
    """Resources of one instance type: whole instances (`count`), or single resources.

    Of single resources, the service fills in what is left out: vCPUs and memory in the ratio of the accelerators, or of each other.

    :param instance_type: the type.
    :param count: whole instances.
    :param accelerators: GPUs or Trainium chips.
    :param vcpu: virtual processors.
    :param memory_in_gib: memory in GiB.
    :param accelerator_partition: parts of GPUs, instead of `accelerators`.
    :raises ValueError: without an amount, for `count` beside single resources, for accelerators beside parts of them, or for a part
        that the type does not have.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ComputeQuotaResourceConfig.html
    """

    instance_type: ClusterInstanceType
    count: QuotaCount | None = None
    accelerators: QuotaCount | None = None
    vcpu: QuotaAmount | None = None
    memory_in_gib: QuotaAmount | None = None
    accelerator_partition: AcceleratorPartition | None = None

    def __post_init__(self) -> None:
        if is_unknown(self.instance_type.name) and self.accelerator_partition is not None:
            return
        mistake = quota_amounts.amounts_mistake(_allocation(self))
        if mistake is not None:
            raise ValueError(f"ComputeQuotaResource: {mistake}")

    def render(self) -> dict[str, Any]:
        """The properties."""
        partition = self.accelerator_partition
        found = {
            "InstanceType": self.instance_type.name,
            "Count": self.count,
            "Accelerators": self.accelerators,
            "VCpu": self.vcpu,
            "MemoryInGiB": self.memory_in_gib,
            "AcceleratorPartition": None if partition is None else partition.render(),
        }
        return {name: value for name, value in found.items() if value is not None}


def _allocation(resource: ComputeQuotaResource) -> Allocation:
    """The amounts, for their arithmetic."""
    partition = resource.accelerator_partition
    return Allocation(
        instance_type=resource.instance_type.name,
        count=resource.count,
        accelerators=resource.accelerators,
        vcpus=resource.vcpu,
        memory_gib=resource.memory_in_gib,
        partition=None if partition is None else partition.type,
        partitions=0 if partition is None else partition.count,
    )


@jsii.implements(ITaggable)
class ComputeQuota(Construct):
    """The quota of one team on a cluster on EKS (`AWS::SageMaker::ComputeQuota`).

    The service makes the team's namespace and queues from it; see `Team`, which also lets people in. It writes them with the add-on
    of task governance, so the quota awaits the add-on, and in the same stack the cluster's `SchedulerConfig`.

    The quotas of a cluster of this app may not guarantee more of an instance type than its groups have nodes, unless Karpenter adds
    nodes. The service itself allows it.

    A change of `team`, `name` or `cluster` **replaces** the quota: CloudFormation deletes it, with the team's queues, before it
    makes the new one.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateComputeQuota.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: Clusterlike,
        team: TeamName,
        resources: Sequence[ComputeQuotaResource],
        strategy: ResourceSharingStrategy = ResourceSharingStrategy.LEND_AND_BORROW,
        borrow_limit: BorrowLimit | None = None,
        absolute_borrow_limits: Sequence[ComputeQuotaResource] = (),
        preempt_team_tasks: PreemptTeamTasks = PreemptTeamTasks.LOWER_PRIORITY,
        fair_share_weight: FairShareWeight = 0,
        enabled: bool = True,
        name: PolicyName | None = None,
        description: str | None = None,
        beyond_capacity: bool = False,
        task_governance: Construct | None = None,
    ) -> None:
        """
        :param cluster: the HyperPod cluster, orchestrated by EKS.
        :param team: 1 to 40 lowercase letters, digits and hyphens. The namespace is `hyperpod-ns-<team>`.
        :param resources: the guaranteed resources, at most 15 entries.
        :param strategy: lend and borrow unless given.
        :param borrow_limit: idle resources that the team may borrow, in percent of its own, 0 to 10000; 50 when not given. The
            service's page names 500 at most, so more is a warning.
        :param absolute_borrow_limits: the most that it may borrow, by instance type, whatever the percentage; none unless given.
        :param preempt_team_tasks: the team's jobs of lower priority make way unless given.
        :param fair_share_weight: 0 to 100, the weight among teams that ask for idle resources; 0 unless given.
        :param enabled: whether the quota is in force; yes unless given.
        :param name: 1 to 63 letters, digits and hyphens; the team's name when not given.
        :param description: a text for people; none unless given.
        :param beyond_capacity: whether the quota is for nodes that come later, and is not compared with the present groups; no
            unless given.
        :param task_governance: the add-on, which the quota awaits. Give it unless the add-on is there already.
        :raises ValueError: for a second quota of the team, without an entry or with more than 15, for a borrow limit of a team that
            does not borrow, or for a Slurm cluster. A type that no group has, and quotas beyond the groups, are errors at
            synthesis.
        """
        super().__init__(scope, id)
        placed(self, scope, id)
        register_rules(self, scope)
        self._tags = TagManager(TagType.STANDARD, facts.COMPUTE_QUOTA)
        self._check_arguments(resources, strategy, borrow_limit, absolute_borrow_limits)
        policies = Policies.of(self, cluster)
        sharing = {
            "Strategy": strategy.value,
            "BorrowLimit": borrow_limit,
            "AbsoluteBorrowLimits": [limit.render() for limit in absolute_borrow_limits] or None,
        }
        #: The resource: the CDK has no L1 of this type yet.
        self.resource = CfnResource(
            self,
            "Resource",
            type=facts.COMPUTE_QUOTA,
            properties={
                "Name": team if name is None else name,
                "Description": description,
                "ClusterArn": cluster.cluster_arn,
                "ComputeQuotaConfig": {
                    "ComputeQuotaResources": [resource.render() for resource in resources],
                    "ResourceSharingConfig": {key: value for key, value in sharing.items() if value is not None},
                    "PreemptTeamTasks": preempt_team_tasks.value,
                },
                "ComputeQuotaTarget": {"TeamName": team, "FairShareWeight": fair_share_weight},
                "ActivationState": "Enabled" if enabled else "Disabled",
                "Tags": deferred_value(self._render_tags),
            },
        )
        unknown = "the CDK's list of resource types lacks this one, which CloudFormation has"
        Validations.of(self.resource).acknowledge(Acknowledgment(id="CloudFormation-Validate::F3006", reason=unknown))
        quota = Quota(
            team=team,
            construct=self,
            allocations=[(_allocation(resource), resource.instance_type) for resource in resources],
            counts=not beyond_capacity,
        )
        policies.add_quota(quota, self.resource)
        if beyond_capacity:
            self.resource.add_metadata(BEYOND_CAPACITY, True)
        if task_governance is not None:
            self.resource.node.add_dependency(task_governance)

    @property
    def tags(self) -> TagManager:
        """The tags of the quota; `Tags.of` sets them."""
        return self._tags

    @property
    def compute_quota_arn(self) -> str:
        """The ARN of the quota."""
        return self.resource.get_att("ComputeQuotaArn").to_string()

    @property
    def compute_quota_id(self) -> str:
        """The id of the quota, which its API takes."""
        return self.resource.get_att("ComputeQuotaId").to_string()

    def _check_arguments(
        self,
        resources: Sequence[ComputeQuotaResource],
        strategy: ResourceSharingStrategy,
        borrow_limit: int | None,
        absolute: Sequence[ComputeQuotaResource],
    ) -> None:
        mistakes = (
            facts.QUOTA_ENTRIES.mistake("resources", resources),
            facts.RESOURCES.mistake("absolute_borrow_limits", absolute),
            facts.borrow_mistake(strategy.value, borrow_limit is not None or bool(absolute)),
        )
        for mistake in mistakes:
            if mistake is not None:
                raise ValueError(f"{self.node.path}: {mistake}")

    def _render_tags(self) -> list[Mapping[str, str]] | None:
        return [{"Key": key, "Value": value} for key, value in sorted(self._tags.tag_values().items())] or None
