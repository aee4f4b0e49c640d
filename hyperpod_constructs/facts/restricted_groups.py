"""Restricted instance groups, in which Amazon Nova models are trained: conditions of the service, and the words for mistakes."""

from __future__ import annotations

from hyperpod_constructs.facts.mistake import Mistake, fixed_by

ON_SLURM = Mistake(
    "restricted instance groups are for clusters that EKS orchestrates, and Slurm orchestrates this one",
    "leave them out, or orchestrate the cluster by EKS (Orchestrator.eks)",
)
"""Restricted groups, or their shared environment, in a Slurm cluster (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/nova-hp-cluster.html
"""


CHART_REVISION = "520886bbc1a0494c61d2c78dac6027429475d696"
"""The revision of the service's chart that AWS's templates install for restricted groups; other groups have `chart.REVISION` (as of
2026-11-22).

Source: https://github.com/aws/sagemaker-hyperpod-cluster-setup/tree/main/eks/cloudformation
"""

OTHER_CHART = Mistake(
    "restricted instance groups need another revision of the service's chart, and its script install_rig_dependencies.sh for the "
    "pods of the network; task governance does not manage jobs on them",
    f"write hyperpod chart fetch --revision {CHART_REVISION}, and see docs/kubernetes.md",
)
"""What the default revision of the chart lacks.

Source: https://github.com/aws/sagemaker-hyperpod-cli/tree/main/helm_chart
"""


@fixed_by("give the group an EnvironmentConfig with a size and a throughput, or give all groups a SharedEnvironmentConfig")
def without_file_system(group: str) -> str:
    """A restricted group with neither a file system of its own nor a shared one.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/nova-hp-cluster.html
    """
    return f"restricted instance group {group!r} has no file system: neither its own nor a shared one"


@fixed_by("give the group an OverrideVpcConfig with the one subnet in the zone of its capacity")
def several_subnets(group: str, count: int) -> str:
    """A restricted group whose nodes can be in several subnets.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html
    """
    return f"the nodes of restricted instance group {group!r} can be in {count} subnets"
