"""Automatic patching of instance groups: what the API takes and CloudFormation does not."""

from __future__ import annotations

from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.mistake import fixed_by

DRAIN_FIRST = "DrainFirst"
"""The strategy that evicts pods before it patches a node; only the API knows it, and only for clusters on EKS (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html
"""

IDLE_WAIT = Limit(least=3600, most=2_160_000)
"""Seconds for which patching waits for idle nodes: an hour to 25 days; a day unless given (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html
"""

DRAIN_TIMEOUT = Limit(least=0, most=5400)
"""Seconds for which patching waits until a node has no pods: up to 90 minutes; an hour unless given (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterDrainPolicy.html
"""

MULTI_NODE_CHECK = "MultiNodeTrainingValidation"
"""The deep health check that only the API knows (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
"""


@fixed_by("use IdlePatching, or a cluster on EKS")
def drain_first_on_slurm(group: str) -> str:
    """Draining pods where there are none."""
    return f"group {group!r} has the patching strategy DrainFirst, which the service takes on clusters that EKS orchestrates"


@fixed_by("give the group automatic patching in the cluster, or leave the fields out")
def no_patching(group: str) -> str:
    """Fields of patching on a group that is not patched automatically."""
    return f"group {group!r} has no AutoPatchConfig in the cluster, so it has no patching to wait for"


@fixed_by("leave AutoPatchConfig out of the cluster's group")
def two_strategies(group: str, strategy: str) -> str:
    """Draining on a group whose template says another strategy."""
    return f"group {group!r} has the strategy {strategy} in the cluster and DrainFirst here; each would take the other back"
