"""Labels and taints of a group's nodes in Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from aws_cdk import aws_sagemaker as sagemaker

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.values import KUBERNETES_KEY, TAINTS, KubernetesKey, KubernetesValue
from hyperpod_constructs.facts import orchestration


class KubernetesTaintEffect(StrEnum):
    """The fate of pods that do not tolerate a taint."""

    NO_SCHEDULE = "NoSchedule"
    """No new pod comes to the nodes."""
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    """A new pod comes only if no other node has room."""
    NO_EXECUTE = "NoExecute"
    """No new pod comes, and running pods are evicted."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class KubernetesTaint:
    """A taint of nodes.

    :param key: such as `nvidia.com/gpu`.
    :param effect: the fate of pods that do not tolerate it.
    :param value: up to 63 characters; none unless given.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterKubernetesTaint.html
    """

    key: KubernetesKey
    effect: KubernetesTaintEffect
    value: KubernetesValue | None = None

    def render(self) -> sagemaker.CfnCluster.ClusterKubernetesTaintProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.ClusterKubernetesTaintProperty(key=self.key, value=self.value, effect=self.effect.value)


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class KubernetesConfig:
    """Labels and taints of the nodes of a group. The service keeps them on nodes that it replaces.

    :param labels: at most 50, by key; none unless given.
    :param taints: at most 50; none unless given. A group with deep health checks cannot have any.
    :raises ValueError: for too many labels, or a malformed key.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterKubernetesConfig.html
    """

    labels: Mapping[str, KubernetesValue] = field(default_factory=dict)
    taints: Annotated[Sequence[KubernetesTaint], TAINTS] = ()

    def __post_init__(self) -> None:
        keys = [key for key in self.labels if not is_unknown(key)]
        malformed = (KUBERNETES_KEY.mistake("a label's key", key) for key in keys)
        mistakes = [orchestration.LABELS.mistake("labels", list(self.labels)), *malformed]
        mistake = next((found for found in mistakes if found is not None), None)
        if mistake is not None:
            raise ValueError(f"KubernetesConfig: {mistake}")

    def render(self) -> sagemaker.CfnCluster.ClusterKubernetesConfigProperty:
        """The L1 struct."""
        return sagemaker.CfnCluster.ClusterKubernetesConfigProperty(
            labels=dict(self.labels) or None, taints=[taint.render() for taint in self.taints] or None
        )
