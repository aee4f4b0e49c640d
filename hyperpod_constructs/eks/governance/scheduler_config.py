"""The scheduling policy of a cluster: priorities of jobs, and the sharing of idle nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.cluster_properties import Clusterlike
from hyperpod_constructs._support.tree import placed
from hyperpod_constructs.eks.governance.policies import Policies
from hyperpod_constructs.eks.governance.values import PolicyName, PriorityClassName, PriorityWeight
from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.rules.plugin import register_rules


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class PriorityClass:
    """A class of jobs.

    :param name: 1 to 40 lowercase letters, digits and hyphens. Jobs ask for `<name>-priority`.
    :param weight: 0 to 100; of two waiting jobs the one with the higher weight comes first.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_PriorityClass.html
    """

    name: PriorityClassName
    weight: PriorityWeight

    def render(self) -> sagemaker.CfnClusterSchedulerConfig.PriorityClassProperty:
        """The L1 struct."""
        return sagemaker.CfnClusterSchedulerConfig.PriorityClassProperty(name=self.name, weight=self.weight)


class SchedulerConfig(Construct):
    """The scheduling policy of a cluster on EKS (`AWS::SageMaker::ClusterSchedulerConfig`). A cluster has one.

    The service writes it into objects that the add-on of task governance defines, so it awaits the add-on. Quotas of the same stack
    await the policy.

    A change of `name` or `cluster` needs another policy, and CloudFormation makes the new one before it deletes the old one. So a
    change of `name` alone **fails**: take the construct away in one deployment and add it in the next.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateClusterSchedulerConfig.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster: Clusterlike,
        priority_classes: Sequence[PriorityClass] = (),
        fair_share: bool = True,
        idle_resource_sharing: bool = False,
        name: PolicyName = "scheduler",
        description: str | None = None,
        task_governance: Construct | None = None,
    ) -> None:
        """
        :param cluster: the HyperPod cluster, orchestrated by EKS.
        :param priority_classes: at most ten; none unless given, and then jobs run in the order in which they come. A job without a
            class comes last.
        :param fair_share: whether idle nodes go to teams by the weights of their quotas; yes unless given. Otherwise the first team
            that asks gets them.
        :param idle_resource_sharing: whether teams may also borrow what no quota holds; no unless given.
        :param name: 1 to 63 letters, digits and hyphens; `scheduler` unless given.
        :param description: a text for people; none unless given.
        :param task_governance: the add-on, which the policy awaits. Give it unless the add-on is there already.
        :raises ValueError: for a second policy of the cluster, more than ten classes, two classes of one name, or a Slurm cluster.
        """
        super().__init__(scope, id)
        placed(self, scope, id)
        register_rules(self, scope)
        self._names = tuple(priority.name for priority in priority_classes)
        self._check_classes()
        Policies.of(self, cluster).add_scheduler(self, self)
        #: The L1.
        self.resource = sagemaker.CfnClusterSchedulerConfig(
            self,
            "Resource",
            name=name,
            cluster_arn=cluster.cluster_arn,
            description=description,
            scheduler_config=sagemaker.CfnClusterSchedulerConfig.SchedulerConfigProperty(
                priority_classes=[priority.render() for priority in priority_classes],
                fair_share="Enabled" if fair_share else "Disabled",
                idle_resource_sharing="Enabled" if idle_resource_sharing else "Disabled",
            ),
        )
        unknown = "the CDK's list of types by region lacks this one"
        Validations.of(self.resource).acknowledge(Acknowledgment(id="CloudFormation-Validate::F3006", reason=unknown))
        if task_governance is not None:
            self.resource.node.add_dependency(task_governance)

    @property
    def scheduler_config_arn(self) -> str:
        """The ARN of the policy."""
        return self.resource.attr_cluster_scheduler_config_arn

    @property
    def scheduler_config_id(self) -> str:
        """The id of the policy, which its API takes."""
        return self.resource.attr_cluster_scheduler_config_id

    @property
    def priority_class_names(self) -> tuple[str, ...]:
        """The names of the priority classes."""
        return self._names

    @checked
    def priority_class(self, name: str) -> str:
        """The value by which jobs ask for a class: `<name>-priority`.

        :raises ValueError: for a class that the policy lacks.
        """
        return priority_value(self, name, self._names)

    def _check_classes(self) -> None:
        mistake = facts.PRIORITY_CLASSES.mistake("priority_classes", self._names)
        repeated = next((name for name in self._names if self._names.count(name) > 1), None)
        if mistake is None and repeated is not None:
            mistake = facts.repeated_class(repeated)
        if mistake is not None:
            raise ValueError(f"{self.node.path}: {mistake}")


def priority_value(construct: Construct, name: str, known: Sequence[str] | None) -> str:
    """The value by which jobs ask for a priority class.

    :param known: the names of the classes; any when `None`.
    :raises ValueError: for another name.
    """
    if known is not None and name not in known:
        raise ValueError(f"{construct.node.path}: {facts.unknown_class(name, known)}")
    return facts.priority_value(name)
