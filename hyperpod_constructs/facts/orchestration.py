"""The settings that only one of the orchestrators takes, and the words for the others' mistakes (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateCluster.html, unless a sentence names another.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_constructs.facts.clusters import LEAST_TIERED_PERCENTAGE
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.mistake import Mistake, fixed_by

LABELS = Limit(most_items=50)
"""The number of labels of a group; the schema of CloudFormation has none.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterKubernetesConfig.html
"""

TAG_OF_ADDONS = ("SageMaker", "true")
"""The tag of a HyperPod cluster by which add-ons and the console may use it.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html
"""

TAG_OF_NODE_SUBNETS = ("kubernetes.io/role/internal-elb", "1")
"""The tag of private subnets, in which Kubernetes makes internal load balancers.

Source: https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html
"""

TAG_OF_PUBLIC_SUBNETS = ("kubernetes.io/role/elb", "1")
"""The tag of public subnets, in which Kubernetes makes load balancers for the internet.

Source: https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html
"""

WITHOUT_NETWORK = Mistake(
    "a cluster on EKS without VpcConfig",
    "give it private subnets and a security group of the VPC of the Kubernetes cluster",
)
"""A cluster on EKS in the service's own VPC.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
"""


@fixed_by("leave it out: Kubernetes places jobs by labels and taints, and needs neither controller nor login nodes")
def slurm_on_eks(group: str, setting: str) -> str:
    """A setting of Slurm on a group of a cluster on EKS.

    Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSlurmConfig.html
    """
    return f"{setting} on instance group {group!r} of a cluster on EKS"


@fixed_by("name the entry point in OnCreate")
def completed_on_eks(group: str) -> str:
    """Scripts that extend the image's set-up for Slurm.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html
    """
    return f"OnInitComplete on instance group {group!r} of a cluster on EKS"


@fixed_by("leave it out, and install the add-on aws-fsx-csi-driver: pods get file systems from persistent volumes")
def mount_on_eks(group: str, kind: str) -> str:
    """A file system that the service would mount.

    :param kind: `FsxLustreConfig` or `FsxOpenZfsConfig`.
    """
    return f"{kind} on instance group {group!r} of a cluster on EKS"


@fixed_by("leave the taints out, or leave the deep health checks out")
def taints_beside_checks(group: str) -> str:
    """Taints of the user on nodes that the deep health checks taint themselves.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-deep-health-checks.html
    """
    return f"instance group {group!r} has deep health checks and custom taints"


@fixed_by("leave it out, or orchestrate the cluster by EKS")
def feature_of_eks(feature: str) -> str:
    """A feature of clusters on EKS on a Slurm cluster.

    :param feature: the property, such as `TieredStorageConfig`.
    """
    return f"{feature} on a Slurm cluster, which cannot have it"


@fixed_by("write ClusterRole, NodeProvisioningMode: Continuous and NodeRecovery: Automatic")
def autoscaling_without(lacking: Sequence[str]) -> str:
    """Autoscaling without its conditions.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling.html
    """
    return f"autoscaling without {' and '.join(lacking)}"


@fixed_by(f"write InstanceMemoryAllocationPercentage {LEAST_TIERED_PERCENTAGE} or more, or leave it out")
def tiered_share(percentage: int) -> str:
    """Less memory for checkpoints than the guide allows.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/managed-tier-checkpointing-setup.html
    """
    return f"tiered storage of {percentage} percent of the memory"
