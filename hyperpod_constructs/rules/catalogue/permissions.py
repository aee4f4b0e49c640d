"""What the roles of nodes, of autoscaling and of deployers must be allowed, feature by feature."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hyperpod_constructs.rules.facts.clusters import CLUSTER, Cluster, Group, groups
from hyperpod_constructs.rules.facts.iam import ROLE, RoleFacts, role_facts
from hyperpod_constructs.rules.facts.node_roles import (
    Feature,
    Need,
    RoleUse,
    ec2_arn,
    missing,
    named,
    needs_of,
    role_uses,
)
from hyperpod_constructs.rules.facts.placement import FILE_SYSTEM
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import ABSENT, UNKNOWN, Reference, Value, as_bool, as_str, at, resource_of, shown

_PREREQUISITES = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html"
_AUTOSCALING = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html"
_MANAGED = "AmazonSageMakerClusterInstanceRolePolicy"


@rule(
    "HP-IAM-010",
    Level.ERROR,
    title="nodes can read their lifecycle scripts",
    why="nodes cannot fetch their scripts, and the creation of the cluster fails and rolls back",
    fix="allow s3:GetObject on the prefix and s3:ListBucket on the bucket, in the role's policy or in the bucket's",
    allowed="s3:GetObject on the prefix of SourceS3Uri and s3:ListBucket on its bucket",
    source=_PREREQUISITES,
    silences=("HP-IAM-019",),
)
def scripts_are_readable(model: Model) -> Iterator[Hit]:
    """The managed policy for nodes reads only buckets whose names begin with ``sagemaker-``."""
    for use, needs in _missing(model, Feature.SCRIPTS):
        where = ", ".join(dict.fromkeys(f"{need.action} on {_pattern(need.resource)}" for need in needs))
        remark = f" ({_MANAGED} covers only buckets named sagemaker-*)" if _has_managed_policy(use.role) else ""
        yield _hit(use, needs, f"may not read the lifecycle scripts: missing {where}{remark}")


@rule(
    "HP-IAM-011",
    Level.ERROR,
    title="nodes can have interfaces in the cluster's VPC",
    why='the creation of the cluster fails at once, with "Unable to retrieve subnets" or the like',
    fix="allow the role the actions that are missing; the managed policy for nodes does not hold them",
    allowed="what a cluster with VpcConfig needs of EC2",
    source=_PREREQUISITES,
    silences=("HP-IAM-015", "HP-IAM-016"),
)
def network_is_allowed(model: Model) -> Iterator[Hit]:
    """``VpcConfig`` takes permissions that a cluster in the service's own VPC does not."""
    for use, needs in _missing(model, Feature.NETWORK):
        yield _hit(use, needs, f"may not make interfaces in the VPC: missing {_actions(needs)}")


@rule(
    "HP-IAM-012",
    Level.ERROR,
    title="the controller can read the accounting database's password",
    why="the controller cannot connect to its accounting database, and its set-up fails",
    fix="allow the controller's role secretsmanager:GetSecretValue on the secret, in its policy or in the secret's",
    allowed="secretsmanager:GetSecretValue on SecretArn",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAccountingDatabase.html",
)
def accounting_secret_is_readable(model: Model) -> Iterator[Hit]:
    """``AccountingDatabase.SecretArn`` is read as the role of the controller's group."""
    for use, needs in _missing(model, Feature.SECRET):
        yield _hit(use, needs, f"may not read the password in {shown(needs[0].resource)}: missing {_actions(needs)}")


@rule(
    "HP-IAM-013",
    Level.ERROR,
    title="nodes can decrypt the scripts and passwords that they read",
    why="S3 and Secrets Manager refuse to hand out what is encrypted with a key that the reader may not use",
    fix="allow the role kms:Decrypt on the key, in its policy or in the key's own",
    allowed="kms:Decrypt on the key",
    source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html",
)
def keys_are_usable(model: Model) -> Iterator[Hit]:
    """The bucket's or secret's customer managed key needs a permission of its own."""
    for use, needs in _missing(model, Feature.READ_KEY):
        keys = ", ".join(dict.fromkeys(str(shown(need.resource)) for need in needs))
        yield _hit(use, needs, f"may read what is encrypted with {keys}, but may not decrypt it: missing {_actions(needs)}")


@rule(
    "HP-IAM-014",
    Level.ERROR,
    title="nodes can have volumes encrypted with a key of your own",
    why="the service makes grants for the volumes as this role, and without them no node starts",
    fix="allow the role kms:CreateGrant and kms:DescribeKey on the key",
    allowed="kms:CreateGrant and kms:DescribeKey on VolumeKmsKeyId",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html",
)
def volume_keys_are_usable(model: Model) -> Iterator[Hit]:
    """``EbsVolumeConfig.VolumeKmsKeyId`` names a key of the model."""
    for use, needs in _missing(model, Feature.VOLUME_KEY):
        key = shown(needs[0].resource)
        yield _hit(use, needs, f"may not use the key {key} of the volumes: missing {_actions(needs)}")


@rule(
    "HP-IAM-015",
    Level.WARNING,
    title="interfaces of nodes can be tagged, detached and deleted",
    why="auto-resume cannot replace nodes, and the interfaces of those that go stay in the subnet, use up its addresses and block "
    "its deletion",
    fix="allow the role the actions that are missing, on network-interface/*",
    allowed="the actions that take an interface away",
    source=_PREREQUISITES,
)
def interfaces_can_be_removed(model: Model) -> Iterator[Hit]:
    """What the removal of nodes in a custom VPC takes."""
    verbs = ("CreateTags", "DeleteNetworkInterface", "DeleteNetworkInterfacePermission", "DetachNetworkInterface")
    for use in _in_vpc(model):
        interface = ec2_arn(use.cluster, "network-interface", UNKNOWN)
        lacking = _lacking(role_facts(use.role), [(f"ec2:{verb}", interface) for verb in verbs])
        if lacking:
            yield Hit(use.role, (), f"the role of {named(use.groups)} may not remove interfaces in the VPC: missing {lacking}")


_POD_NETWORK = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:AttachNetworkInterface",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeInstances",
    "ec2:DescribeTags",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
)


@rule(
    "HP-IAM-016",
    Level.WARNING,
    title="nodes of EKS can give addresses to pods",
    why="where the VPC CNI meets a refusal, pods get no addresses, and nodes stay NotReady",
    fix="allow the role the actions that are missing, or attach AmazonEKS_CNI_Policy",
    allowed="what the VPC CNI needs of EC2",
    source=_PREREQUISITES,
)
def pods_get_addresses(model: Model) -> Iterator[Hit]:
    """The role of nodes is that of the VPC CNI, unless the add-on has one of its own."""
    for use in _of_eks(model):
        lacking = "" if _cni_has_own_role(model) else _lacking(role_facts(use.role), [(action, None) for action in _POD_NETWORK])
        if lacking:
            yield Hit(use.role, (), f"the role of {named(use.groups)} may not give addresses to pods: missing {lacking}")


@rule(
    "HP-IAM-017",
    Level.WARNING,
    title="nodes of EKS can pull images from ECR",
    why="the images of add-ons and of your jobs are not pulled (ImagePullBackOff), and nodes stay NotReady",
    fix="allow the role the actions that are missing, or attach AmazonEC2ContainerRegistryPullOnly",
    allowed="what pulling an image needs of ECR",
    source=_PREREQUISITES,
)
def images_can_be_pulled(model: Model) -> Iterator[Hit]:
    """The kubelet pulls as the role of the nodes."""
    verbs = ("BatchGetImage", "GetAuthorizationToken", "GetDownloadUrlForLayer")
    for use in _of_eks(model):
        lacking = _lacking(role_facts(use.role), [(f"ecr:{verb}", None) for verb in verbs])
        if lacking:
            yield Hit(use.role, (), f"the role of {named(use.groups)} may not pull images from ECR: missing {lacking}")


@rule(
    "HP-IAM-018",
    Level.WARNING,
    title="nodes can ask whether a file system has EFA",
    why="the check of EFA for Lustre is skipped, and mounts use TCP at a fraction of the bandwidth without saying so",
    fix='allow the role fsx:DescribeFileSystems on "*" (the action knows no resources)',
    allowed="fsx:DescribeFileSystems",
    source="https://github.com/awslabs/awsome-distributed-ai/pull/1202",
)
def efa_of_lustre_is_seen(model: Model) -> Iterator[Hit]:
    """Only for a file system of the model that has EFA."""
    for use in role_uses(model):
        mounting = [group for group in use.groups if _mounts_efa(group)]
        lacking = _lacking(role_facts(use.role), [("fsx:DescribeFileSystems", "*")]) if mounting else ""
        if lacking:
            yield Hit(use.role, (), f"the role of {named(mounting)}, which mount a file system with EFA, lacks {lacking}")


_BASE = (
    "logs:CreateLogGroup",
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)


@rule(
    "HP-IAM-019",
    Level.WARNING,
    title="nodes can write logs and be connected to",
    why="the log of a lifecycle script that fails is empty, and no shell can be opened on a node",
    fix=f"attach {_MANAGED}, or allow the role the actions that are missing",
    allowed="logs on /aws/sagemaker/Clusters/* and the channels of Session Manager",
    source=_PREREQUISITES,
)
def nodes_can_be_observed(model: Model) -> Iterator[Hit]:
    """What the managed policy for nodes holds beside S3."""
    for use in role_uses(model):
        lacking = _lacking(role_facts(use.role), [(action, None) for action in _BASE])
        if lacking:
            yield Hit(use.role, (), f"the role of {named(use.groups)} may not write logs or open shells: missing {lacking}")


@rule(
    "HP-IAM-020",
    Level.WARNING,
    title="who creates clusters may use their training plans",
    why="CreateCluster is refused: with a training plan it takes permission on the plan as well as on the cluster",
    fix="allow sagemaker:CreateCluster and sagemaker:UpdateCluster on training-plan/* and reserved-capacity/* too",
    allowed="sagemaker:CreateCluster on the training plan",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-iam-permissions.html",
)
def plans_can_be_used(model: Model) -> Iterator[Hit]:
    """For roles of the templates that can create clusters but no cluster with a plan of the model."""
    plans = [plan for _, group in groups(model) if (plan := group.get("TrainingPlanArn")) is not ABSENT]
    for role in model.resources(ROLE) if plans else ():
        facts = role_facts(role)
        refused = [plan for plan in plans if facts.may("sagemaker:CreateCluster", plan) is False]
        if refused and _names_action(facts, "sagemaker:CreateCluster"):
            yield Hit(role, (), f"the role may create clusters, but may not use the training plan {shown(refused[0])}")


@rule(
    "HP-IAM-021",
    Level.WARNING,
    title="autoscaling can add and delete nodes",
    why="Karpenter asks for nodes and none comes, and those that are idle stay",
    fix="allow the cluster role the actions that are missing, on the cluster",
    allowed="sagemaker:BatchAddClusterNodes and sagemaker:BatchDeleteClusterNodes",
    source=_AUTOSCALING,
)
def autoscaling_is_allowed(model: Model) -> Iterator[Hit]:
    """``ClusterRole`` is what Karpenter's controller acts as."""
    actions = ("sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes")
    for cluster in model.resources(CLUSTER):
        role = resource_of(cluster.get("ClusterRole"), ROLE)
        if role is None or cluster.get("AutoScaling", "Mode") != "Enable":
            continue
        own: Value = Reference(cluster, "ClusterArn")
        lacking = _lacking(role_facts(role), [(action, own) for action in actions])
        if lacking:
            yield Hit(role, (), f"the cluster role of {cluster.logical_id} may not scale the cluster: missing {lacking}")


def _missing(model: Model, feature: Feature) -> Iterator[tuple[RoleUse, list[Need]]]:
    for use in role_uses(model):
        lacking = missing(role_facts(use.role), [need for need in needs_of(use) if need.feature is feature])
        if lacking:
            yield use, lacking


def _hit(use: RoleUse, needs: Sequence[Need], message: str) -> Hit:
    return Hit(use.role, (), f"the role of {named(_groups(needs))} of {use.cluster.logical_id} {message}")


def _groups(needs: Iterable[Need]) -> list[Group]:
    return list({group.path: group for need in needs for group in need.groups}.values())


def _pattern(arn: Value) -> str:
    """An ARN as a policy has it: whatever it ends in is any."""
    text, anything = str(shown(arn)), str(shown(UNKNOWN))
    return f"{text.removesuffix(anything)}*" if text.endswith(anything) else text


def _actions(needs: Iterable[Need]) -> str:
    return ", ".join(dict.fromkeys(need.action for need in needs))


def _lacking(facts: RoleFacts, needed: Iterable[tuple[str, Value | None]]) -> str:
    """The actions that a role surely lacks, in words; empty if there is none."""
    return ", ".join(action for action, resource in needed if facts.may(action, resource) is False)


def _has_managed_policy(role: Resource) -> bool:
    return _MANAGED in role_facts(role).managed_policies


def _in_vpc(model: Model) -> Iterator[RoleUse]:
    return (use for use in role_uses(model) if any(need.feature is Feature.NETWORK for need in needs_of(use)))


def _of_eks(model: Model) -> Iterator[RoleUse]:
    return (use for use in role_uses(model) if Cluster(use.cluster).on_eks)


def _cni_has_own_role(model: Model) -> bool:
    """Whether the VPC CNI can have a role of its own: by its add-on, or by its service account."""
    addons = [addon for addon in model.resources("AWS::EKS::Addon") if as_str(addon.get("AddonName")) in ("vpc-cni", None)]
    own = any(
        addon.get("ServiceAccountRoleArn") is not ABSENT or addon.get("PodIdentityAssociations") is not ABSENT for addon in addons
    )
    accounts = [as_str(one.get("ServiceAccount")) for one in model.resources("AWS::EKS::PodIdentityAssociation")]
    return own or any(account in ("aws-node", None) for account in accounts)


def _mounts_efa(group: Group) -> bool:
    return any(_has_efa(resource_of(at(mount, "DnsName"), FILE_SYSTEM)) for _, mount in group.storage("FsxLustreConfig"))


def _has_efa(file_system: Resource | None) -> bool:
    return file_system is not None and as_bool(file_system.get("LustreConfiguration", "EfaEnabled")) is True


def _names_action(facts: RoleFacts, action: str) -> bool:
    return any(statement.effect == "Allow" and statement.speaks_of(action) for statement in facts.statements)
