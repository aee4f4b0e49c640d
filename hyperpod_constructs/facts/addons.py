"""Add-ons of EKS that a HyperPod cluster uses: `addons.json` holds one entry for each, with its source; the file carries the date.

The versions are those that a source names, most of them the newest for a version of Kubernetes. EKS offers more:
`aws eks describe-addon-versions` lists them. A rule warns of a minor version that only later versions of Kubernetes have; the
embedded AWS takes its defaults from the list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple

from hyperpod_constructs.facts.data import document
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.facts.pod_settings import setting_mistakes
from hyperpod_constructs.facts.shapes import shape_mistakes

VPC_CNI = "vpc-cni"
KUBE_PROXY = "kube-proxy"
COREDNS = "coredns"
POD_IDENTITY_AGENT = "eks-pod-identity-agent"
CERT_MANAGER = "cert-manager"
TASK_GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"
TRAINING_OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
OBSERVABILITY = "amazon-sagemaker-hyperpod-observability"
FSX_CSI = "aws-fsx-csi-driver"
EBS_CSI = "aws-ebs-csi-driver"
S3_CSI = "aws-mountpoint-s3-csi-driver"
METRICS_SERVER = "metrics-server"
CLOUDWATCH = "amazon-cloudwatch-observability"
EFS_CSI = "aws-efs-csi-driver"
EXTERNAL_DNS = "external-dns"

COREDNS_TOLERATES = ("CriticalAddonsOnly", "node-role.kubernetes.io/control-plane")
"""Keys of the taints that CoreDNS tolerates unless its configuration has tolerations (as of 2026-11-27).

Kubernetes has the first. The second is not documented for EKS; no rule complains of it.

Source: https://github.com/kubernetes/kubernetes/blob/master/cluster/addons/dns/coredns/coredns.yaml.base
"""

FSX_CSI_DRIVER = "fsx.csi.aws.com"
"""The name of the driver of FSx for Lustre in volumes.

Source: https://docs.aws.amazon.com/eks/latest/userguide/fsx-csi.html (as of 2026-11-22)
"""

NAME = Limit(
    shortest=1,
    longest=100,
    pattern="^[0-9A-Za-z][A-Za-z0-9_-]*$",
    words="{shortest} to {longest} letters, digits, '-' and '_' (aws eks describe-addon-versions prints the names)",
    example=CERT_MANAGER,
)
"""The form of an add-on's name.

Source: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAddon.html (as of 2026-11-22)
"""

NO_INLINE_IDENTITY = (TRAINING_OPERATOR, "v1.2.1-eksbuild.1")
"""An add-on and its version that refuse a pod identity inside the add-on, with the words "Pod Identity feature is not supported for
addon version".

Source: https://github.com/awslabs/awsome-distributed-training/issues/1075 (as of 2026-11-22)
"""

VOLUME_ACTIONS = ("sagemaker:AttachClusterNodeVolume", "sagemaker:DetachClusterNodeVolume")
LOOK_AT_CLUSTER = "eks:DescribeCluster"
"""Actions by which the EBS driver attaches volumes to nodes, on every HyperPod cluster, and by which it looks at the EKS cluster.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-ebs.html (as of 2026-11-22)
"""

KEY_ACTIONS = ("kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncrypt*")
"""Actions of the EBS driver on the keys of volumes, beside `kms:CreateGrant`.

Source: https://docs.aws.amazon.com/eks/latest/userguide/ebs-csi.html (as of 2026-11-22)
"""

LOG_ACTIONS = (
    "logs:CreateLogGroup",
    "logs:CreateLogStream",
    "logs:DescribeLogGroups",
    "logs:DescribeLogStreams",
    "logs:FilterLogEvents",
    "logs:GetLogEvents",
    "logs:GetLogRecord",
    "logs:GetQueryResults",
    "logs:PutLogEvents",
    "logs:StartQuery",
    "logs:StopQuery",
)
"""Actions of the collector of observability on the log groups of clusters.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-troubleshooting.html (as of 2026-11-22)
"""

WRITE_LOGS = ("logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents")
"""Those of them without which no log is written."""

SCRAPE_SECONDS = 30
"""Seconds between two looks at a metric, in AWS's own configuration of observability (as of 2026-11-22).

Source: https://github.com/awslabs/awsome-distributed-training, the Terraform module of the add-on
"""

CERTIFICATES = ("tlsCertificateS3Bucket",)
"""The place of the bucket of certificates in the configuration of inference.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html (as of 2026-11-27)
"""

OF_SAGEMAKER = "amazon-sagemaker-"
"""The first part of the names of SageMaker's add-ons."""


class Nodes(StrEnum):
    """What an add-on does in a Kubernetes cluster without a node."""

    NONE = "none"
    """It is active: it runs on each node that comes. The nodes are ready only with it."""
    HEALS = "heals"
    """It is degraded, and active as soon as nodes come."""
    NEEDS = "needs"
    """Its creation fails: it comes after the nodes."""


class Mark(NamedTuple):
    """An object of Kubernetes by which a cluster shows that it has a program, whether an add-on or a chart has brought it."""

    api_version: str
    kind: str
    name: str


MARKS: Mapping[str, Mark] = {
    CERT_MANAGER: Mark("apiextensions.k8s.io/v1", "CustomResourceDefinition", "certificates.cert-manager.io"),
    POD_IDENTITY_AGENT: Mark("apps/v1", "DaemonSet", "eks-pod-identity-agent"),
    METRICS_SERVER: Mark("apiregistration.k8s.io/v1", "APIService", "v1beta1.metrics.k8s.io"),
    FSX_CSI: Mark("storage.k8s.io/v1", "CSIDriver", FSX_CSI_DRIVER),
    S3_CSI: Mark("storage.k8s.io/v1", "CSIDriver", "s3.csi.aws.com"),
}
"""The objects that the charts of prerequisites make, by the add-on (as of 2026-11-23).

Sources: https://cert-manager.io/docs/reference/api-docs/, https://github.com/aws/eks-pod-identity-agent,
https://github.com/kubernetes-sigs/metrics-server, https://docs.aws.amazon.com/eks/latest/userguide/fsx-csi.html and
https://github.com/awslabs/mountpoint-s3-csi-driver
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Identity:
    """A service account of an add-on that needs a role.

    :param managed_policy: the managed policy for it, with its path; none where the permissions depend on the account's resources.
    """

    namespace: str
    service_account: str
    managed_policy: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfiguredRole:
    """A role that an add-on takes in its configuration, for a service account that gets it by a token.

    :param at: its place in the configuration.
    """

    at: tuple[str, ...]
    namespace: str
    service_account: str

    @property
    def subject(self) -> str:
        """The subject of the tokens for which the role is."""
        return f"{SUBJECT}{self.namespace}:{self.service_account}"


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownVersion:
    """A version that a source names.

    :param kubernetes: the version of Kubernetes that the source names it for; `None` for any.
    """

    version: str
    kubernetes: str | None
    source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AddonFacts:
    """An add-on.

    :param least: the lowest version that HyperPod takes, without its build; any for `None`.
    :param least_kubernetes: the lowest version of Kubernetes; any for `None`.
    :param follows_kubernetes: whether its minor version is that of Kubernetes.
    :param prerequisites: the add-ons that must be there before it, with the lowest version of each.
    :param companions: add-ons that need this version or a newer one if they are there too.
    :param endpoints: the services that its pods call, beside those of every node and of identities; by the names of endpoints.
    :param accounts: other service accounts of its pods that can have a role, and do not need one on every node.
    :param namespace: that of these accounts.
    :param roles: the roles in its configuration.
    :param configuration: the JSON schema of its configuration, as far as a source tells it; `None` if none does.
    """

    name: str
    nodes: Nodes
    source: str
    least: str | None
    least_kubernetes: str | None
    follows_kubernetes: bool
    prerequisites: Mapping[str, str | None]
    companions: Mapping[str, str]
    identities: tuple[Identity, ...]
    versions: tuple[KnownVersion, ...]
    endpoints: tuple[str, ...]
    accounts: tuple[str, ...]
    namespace: str
    roles: tuple[ConfiguredRole, ...]
    configuration: Mapping[str, Any] | None

    @property
    def service_accounts(self) -> tuple[str, ...]:
        """All service accounts of its pods that can have a role."""
        return (*(one.service_account for one in self.identities), *self.accounts)


AUDIENCE, SUBJECT = "sts.amazonaws.com", "system:serviceaccount:"
"""The audience of the tokens by which pods take roles, and the beginning of their subject, before namespace and service account.

Source: https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html (as of 2026-11-27)
"""


@cache
def addon_facts(name: str) -> AddonFacts | None:
    """The facts of an add-on; `None` for one that this file does not know."""
    found: Mapping[str, Any] | None = document("addons.json")["addons"].get(name)
    if found is None:
        return None
    return AddonFacts(
        name=name,
        nodes=Nodes(found["nodes"]),
        source=found["source"],
        least=found.get("least"),
        least_kubernetes=found.get("least_kubernetes"),
        follows_kubernetes=found.get("follows_kubernetes", False),
        prerequisites=found.get("prerequisites", {}),
        companions=found.get("companions", {}),
        identities=tuple(_identity(identity) for identity in found.get("identities", ())),
        versions=tuple(KnownVersion(**version) for version in found.get("versions", ())),
        endpoints=tuple(found.get("endpoints", ())),
        accounts=tuple(found.get("accounts", ())),
        namespace=found.get("namespace", ""),
        roles=tuple(ConfiguredRole(**{**role, "at": tuple(role["at"])}) for role in found.get("roles", ())),
        configuration=found.get("configuration"),
    )


def known_addons() -> tuple[str, ...]:
    """The names of all add-ons with facts."""
    return tuple(document("addons.json")["addons"])


def namespaces() -> frozenset[str]:
    """The namespaces of the service accounts of all add-ons that are known."""
    facts = [found for name in known_addons() if (found := addon_facts(name)) is not None]
    return frozenset({*(one.namespace for one in facts), *(own.namespace for one in facts for own in one.identities)})


def named(nodes: Nodes) -> tuple[str, ...]:
    """The add-ons that do the same without a node."""
    return tuple(name for name in known_addons() if (facts := addon_facts(name)) is not None and facts.nodes is nodes)


def prerequisites(name: str) -> tuple[str, ...]:
    """The add-ons that must be there before one."""
    facts = addon_facts(name)
    return () if facts is None else tuple(facts.prerequisites)


def needs_nodes(name: str) -> bool:
    """Whether an add-on is known to fail without a node."""
    facts = addon_facts(name)
    return facts is not None and facts.nodes is Nodes.NEEDS


def _identity(found: Mapping[str, str]) -> Identity:
    return Identity(
        namespace=found["namespace"], service_account=found["service_account"], managed_policy=found.get("managed_policy")
    )


def configuration_mistake(name: str, values: Mapping[str, Any], unknown: Callable[[object], bool]) -> str | None:
    """The first value of a configuration that the add-on's schema refuses, or Kubernetes in any, in words.

    :param unknown: whether a value is known only at the deployment.
    """
    facts = addon_facts(name)
    schema = {} if facts is None or facts.configuration is None else facts.configuration
    return next(shape_mistakes(schema, values, unknown), None) or next(setting_mistakes(values, unknown), None)


def subjects(name: str) -> tuple[str, ...]:
    """The subjects of the tokens of an add-on's pods, as far as they are known."""
    facts = addon_facts(name)
    needed = () if facts is None else tuple((one.namespace, one.service_account) for one in facts.identities)
    others = () if facts is None else tuple((facts.namespace, account) for account in facts.accounts)
    return tuple(f"{SUBJECT}{namespace}:{account}" for namespace, account in (*needed, *others))


def misspelled_account(name: str, account: str) -> str | None:
    """The service account of an add-on that was probably meant; `None` for one that it has, and for a name that is like none.

    The name or the namespace of the add-on stands for its only account.
    """
    facts = addon_facts(name)
    known = () if facts is None else facts.service_accounts
    if facts is None or account in known:
        return None
    if len(known) == 1 and account in (name, facts.namespace, *(one.namespace for one in facts.identities)):
        return known[0]
    from difflib import get_close_matches  # only an unknown name needs it

    near = get_close_matches(account, known, n=1, cutoff=0.75)
    return near[0] if near else None
