"""Permissions of the pods of add-ons, work by work, and of the control plane; the tag by which they are given."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.addons import Addon, addons
from hyperpod_constructs.analysis.arns import bucket_arn
from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.iam import ROLE, RoleFacts, role_facts
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters, joined
from hyperpod_constructs.analysis.node_roles import BUCKET
from hyperpod_constructs.analysis.resource_policies import key_admits, key_of, policies_admit
from hyperpod_constructs.facts.addon_permissions import CLUSTER_POLICY, WORK, Work
from hyperpod_constructs.facts.addons import S3_CSI, TRAINING_OPERATOR
from hyperpod_constructs.facts.orchestration import TAG_OF_ADDONS
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import warning
from hyperpod_constructs.templates.model import resource_of
from hyperpod_constructs.templates.values import UNKNOWN, Reference, as_items, as_str, at, is_known

_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"


@warning(
    "HP-EKP-001",
    on=addons,
    title="the pods of add-ons may do their work",
    why="the add-on becomes active, and AWS refuses the calls of its pods: jobs find no nodes, metrics or volumes are missing",
    fix="allow the role the missing actions, or attach the managed policy for the add-on",
    allowed="the actions that the add-on's guide lists",
    source=f"{_EKS_GUIDE}add-ons-iam.html",
)
def pods_may_do_their_work(addon: Addon) -> Iterator[Hit]:
    for role in addon.roles:
        for work in WORK.get(addon.name, ()):
            lacking = _lacking(role_facts(role), work) if _is_on(addon, work) else []
            if lacking:
                yield hit(role, f"the pods of {addon.name} may not {work.words}: missing {', '.join(lacking)}{_managed(addon)}")


def _is_on(addon: Addon, work: Work) -> bool:
    return not work.setting or at(addon.configuration or {}, *work.setting) is True


def _lacking(facts: RoleFacts, work: Work) -> list[str]:
    """The actions that a role surely lacks; none of a work that it has not chosen."""
    lacking = [action for action in work.actions if facts.may(action) is False and not _by_a_bucket(facts, action)]
    return [] if work.chosen and len(lacking) == len(work.actions) else lacking


def _by_a_bucket(facts: RoleFacts, action: str) -> bool:
    """Whether the policy of a bucket may give an action of S3."""
    return action.startswith("s3:") and policies_admit(facts.role, action, UNKNOWN) is not False


def _managed(addon: Addon) -> str:
    names = [one.managed_policy.rpartition("/")[2] for one, _ in addon.identities if one.managed_policy]
    return f" (the managed policy for it is {', '.join(names)})" if names else ""


@warning(
    "HP-EKP-002",
    on=addons,
    title="the S3 driver can use the keys of its buckets",
    why="S3 refuses to hand out or to take objects of a bucket with a key of its own, and pods get an I/O error",
    fix="allow the role of the driver the missing actions on the key",
    allowed="kms:Decrypt on the key, and kms:GenerateDataKey where pods write",
    source="https://github.com/awslabs/mountpoint-s3/blob/main/doc/CONFIGURATION.md",
)
def buckets_can_be_decrypted(addon: Addon) -> Iterator[Hit]:
    for role in addon.roles if addon.name == S3_CSI else ():
        facts = role_facts(role)
        for bucket in role.template.model.resources(BUCKET):
            key, objects = key_of(bucket), bucket_arn(Reference(bucket), "any")
            used = {"s3:GetObject": "kms:Decrypt", "s3:PutObject": "kms:GenerateDataKey"} if key is not None else {}
            for use, needed in used.items():
                if key is None or facts.may(use, objects) is not True or facts.may(needed, Reference(key, "Arn")) is not False:
                    continue
                if key_admits(key, role, needed) is False:
                    yield hit(role, f"the pods of {addon.name} may not use the key of {bucket.logical_id}: missing {needed}")


_TAG, _TAG_VALUE = TAG_OF_ADDONS


@warning(
    "HP-EKP-004",
    on=joined,
    at=("Tags",),
    title=f"a cluster with add-ons of SageMaker has the tag {_TAG}={_TAG_VALUE}",
    why="the managed policy of the training operator allows it to look at nodes of clusters with this tag only, and the console "
    "installs its add-ons on such clusters",
    fix=f"give the HyperPod cluster the tag {_TAG} with the value {_TAG_VALUE}",
    allowed=f"Tags with {_TAG}={_TAG_VALUE}",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html",
)
def the_cluster_has_the_tag_of_addons(cluster: Cluster, eks: EksCluster) -> str | None:
    tags = as_items(cluster.get("Tags")) if given(cluster.get("Tags")) is not False else ()
    asking = eks.installed([TRAINING_OPERATOR])
    if not asking or tags is None or not all(is_known(one) for one in tags):
        return None
    tagged = any(as_str(at(one, "Key")) == _TAG and as_str(at(one, "Value")) == _TAG_VALUE for one in tags)
    return None if tagged else f"the cluster has no tag {_TAG}={_TAG_VALUE}, and the add-on {TRAINING_OPERATOR} looks for it"


@warning(
    "HP-EKP-003",
    on=eks_clusters,
    title=f"the role of the control plane has {CLUSTER_POLICY}",
    why="EKS makes and removes interfaces, security groups and load balancers as this role: the creation of the cluster fails, or "
    "what Kubernetes asks for later",
    fix=f"attach {CLUSTER_POLICY} to the role",
    allowed=CLUSTER_POLICY,
    source=f"{_EKS_GUIDE}cluster-iam-role.html",
)
def the_control_plane_may_work(eks: EksCluster) -> Hit | None:
    role = resource_of(eks.resource.get("RoleArn"), ROLE)
    if role is None or CLUSTER_POLICY in (facts := role_facts(role)).managed_policies:
        return None
    return hit(role, f"the role of {eks.resource.logical_id} lacks {CLUSTER_POLICY}") if facts.may(_SAMPLE) is False else None


_SAMPLE = "ec2:DescribeSubnets"
"""An action of the policy: a role that has it may have the others by a policy of its own."""
