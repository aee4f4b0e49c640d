"""How an update is deployed: the batches of nodes, the wait between them, and the alarms that end it.

The documentation does not say of how many nodes a percentage is taken, nor how it is rounded. Here a batch has nodes of one group,
the percentage is of the group's nodes to update, and it is rounded down, to one node at least: no other reading takes fewer nodes
away at a time. Without a size for the rollback, all nodes go back at once, as CloudFormation's page says.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-sagemaker-cluster-rollingupdatepolicy.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.facts.software_updates import MOST_PERCENT
from hyperpod_constructs.local.hyperpod.state import Node

Batches = list[Sequence[Node]]


@dataclass(frozen=True, slots=True)
class Deployment:
    """A DeploymentConfig; an empty one updates all nodes at once."""

    config: Mapping[str, Any]

    @property
    def wait(self) -> float:
        """Seconds between two batches."""
        return float(self.config.get("WaitIntervalInSeconds", 0))

    @property
    def alarms(self) -> list[str]:
        """The names of the alarms that end the update."""
        return [alarm["AlarmName"] for alarm in self.config.get("AutoRollbackConfiguration", ())]

    def batches(self, groups: Sequence[Sequence[Node]]) -> Batches:
        """The nodes to update, by group, in batches."""
        return self._split(groups, "MaximumBatchSize")

    def rollback_batches(self, groups: Sequence[Sequence[Node]]) -> Batches:
        """The nodes to take back, by group, in batches."""
        return self._split(groups, "RollbackMaximumBatchSize")

    def _split(self, groups: Sequence[Sequence[Node]], size: str) -> Batches:
        policy = self.config.get("RollingUpdatePolicy", {})
        if size not in policy:
            everything = [node for nodes in groups for node in nodes]
            return [everything] if everything else []
        found: Batches = []
        for nodes in groups:
            count = _count(policy[size], len(nodes))
            found += [nodes[start : start + count] for start in range(0, len(nodes), count)]
        return found


def _count(size: Mapping[str, Any], nodes: int) -> int:
    value = int(size["Value"])
    return value if size["Type"] == "INSTANCE_COUNT" else max(1, nodes * value // MOST_PERCENT)
