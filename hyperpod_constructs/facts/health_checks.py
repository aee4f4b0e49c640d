"""Deep health checks that somebody asks for: what they are, and what the service does meanwhile (as of 2026-11-24).

Those of a node's start are a setting of its group; see `clusters`. Whether the service takes the request with continuous
provisioning is not known and was not tried: AWS's skills for agents say no, and the guide does not.

Sources: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StartClusterHealthCheck.html,
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-deep-health-checks.html
"""

from __future__ import annotations

from hyperpod_constructs.facts.clusters import CONNECTIVITY_OF_ONE
from hyperpod_constructs.facts.instance_types import instance_type, is_instance_type
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.facts.patching import MULTI_NODE_CHECK

STRESS, CONNECTIVITY, MULTI_NODE = "InstanceStress", "InstanceConnectivity", MULTI_NODE_CHECK
"""The checks. The guide names the first two for Slurm."""

IN_PROGRESS = "DeepHealthCheckInProgress"
"""The status of a node while it is checked."""

MOST_CONFIGURATIONS = 99
"""Most configurations of one request."""

MOST_INSTANCES = 500
"""Most instances of one configuration."""

JOB_WAIT_SECONDS = 600
"""Seconds that a check waits for the jobs of a node; after them it leaves the node out. The guide says so for Slurm."""

LEAST_FOR_CONNECTIVITY = 2
"""The fewest nodes between which connections are measured."""

_ROLES_WITHOUT_CHECKS = frozenset({"Controller", "Login"})


def why_not(node_type: str | None, kind: str) -> str | None:
    """Why the service leaves a node out; `None` if it checks the node.

    :param node_type: the Slurm node type of its group.
    :param kind: its instance type, such as `ml.p5.48xlarge`; an unknown one is checked.
    """
    if node_type in _ROLES_WITHOUT_CHECKS:
        return f"deep health checks are for compute nodes, and this is a {node_type} node"
    if is_instance_type(kind) and instance_type(kind).vcpus is not None and instance_type(kind).accelerator is None:
        return f"{kind} has no accelerator to check"
    return None


def connectivity_mistake(check: str, count: int) -> Mistake | None:
    """Connections of a single node; `None` for what the service can do."""
    if check == CONNECTIVITY and count < LEAST_FOR_CONNECTIVITY:
        return Mistake(CONNECTIVITY_OF_ONE.message, CONNECTIVITY_OF_ONE.fix)
    return None
