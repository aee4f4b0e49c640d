"""Permissions of the roles of a cluster: what nodes and autoscaling need, feature by feature."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from hyperpod_constructs.analysis.clusters import Cluster, Group, groups, quoted
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.kubernetes import EksCluster, cni_has_own_role
from hyperpod_constructs.analysis.node_roles import Feature, Need, RoleUse, cluster_roles, ec2_arn, missing, needs_of, role_uses
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.resource_policies import KEY, key_admits
from hyperpod_constructs.facts import node_permissions
from hyperpod_constructs.facts.autoscaling import ROLE_GUIDE
from hyperpod_constructs.facts.node_permissions import CLUSTER_POLICY, DETACH_INTERFACE, READ_ALARMS
from hyperpod_constructs.facts.software_updates import UPDATE_GUIDE
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_bool, at, shown

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_PREREQUISITES = f"{_GUIDE}sagemaker-hyperpod-prerequisites-iam.html"
_API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"


def _needing(feature: Feature) -> Callable[[Model], Iterator[tuple[RoleUse, Sequence[Need]]]]:
    """Uses of roles without permissions that a feature needs."""

    def found(model: Model) -> Iterator[tuple[RoleUse, Sequence[Need]]]:
        for use in role_uses(model):
            lacking = missing(use.facts, [need for need in needs_of(use) if need.feature is feature])
            if lacking:
                yield use, lacking

    return found


def _short(use: RoleUse, needs: Sequence[Need], message: str) -> Hit:
    members = {group.path: group for need in needs for group in need.groups}.values()
    return hit(use.role, f"the role of {quoted(members)} of {use.cluster.logical_id} {message}")


def _actions(needs: Iterable[Need]) -> str:
    return ", ".join(dict.fromkeys(need.action for need in needs))


@error(
    "HP-IAM-010",
    on=_needing(Feature.SCRIPTS),
    title="nodes can read their lifecycle scripts",
    why="nodes cannot fetch their scripts, and the creation of the cluster fails and rolls back",
    fix="allow s3:GetObject on the prefix and s3:ListBucket on the bucket, in the role's policy or in the bucket's",
    allowed="s3:GetObject on the prefix of SourceS3Uri and s3:ListBucket on its bucket",
    source=_PREREQUISITES,
    silences=("HP-IAM-019",),
)
def scripts_are_readable(use: RoleUse, needs: Sequence[Need]) -> Hit:
    where = ", ".join(dict.fromkeys(f"{need.action} on {_pattern(need.resource)}" for need in needs))
    managed = CLUSTER_POLICY in use.facts.managed_policies
    remark = f" ({CLUSTER_POLICY} covers only buckets named sagemaker-*)" if managed else ""
    return _short(use, needs, f"may not read the lifecycle scripts: missing {where}{remark}")


def _pattern(arn: Value) -> str:
    """An ARN as a policy has it: an unknown end is any end."""
    text, anything = str(shown(arn)), str(shown(UNKNOWN))
    return f"{text.removesuffix(anything)}*" if text.endswith(anything) else text


@error(
    "HP-IAM-011",
    on=_needing(Feature.NETWORK),
    title="nodes can have interfaces in the cluster's VPC",
    why='the creation of the cluster fails at once, with "Unable to retrieve subnets" or the like',
    fix="allow the role the missing actions; the managed policy for nodes does not hold them",
    allowed="the actions of EC2 that a cluster with VpcConfig needs",
    source=_PREREQUISITES,
    silences=("HP-IAM-015", "HP-IAM-016"),
)
def network_is_allowed(use: RoleUse, needs: Sequence[Need]) -> Hit:
    return _short(use, needs, f"may not make interfaces in the VPC: missing {_actions(needs)}")


@error(
    "HP-IAM-012",
    on=_needing(Feature.SECRET),
    title="the controller can read the accounting database's password",
    why="the controller cannot connect to its accounting database, and its set-up fails",
    fix="allow the controller's role secretsmanager:GetSecretValue on the secret, in its policy or in the secret's",
    allowed="secretsmanager:GetSecretValue on SecretArn",
    source=f"{_API}API_ClusterAccountingDatabase.html",
)
def accounting_secret_is_readable(use: RoleUse, needs: Sequence[Need]) -> Hit:
    return _short(use, needs, f"may not read the password in {shown(needs[0].resource)}: missing {_actions(needs)}")


@error(
    "HP-IAM-013",
    on=_needing(Feature.READ_KEY),
    title="nodes can decrypt the scripts and passwords that they read",
    why="S3 and Secrets Manager refuse to hand out encrypted data to a reader without permission on the key",
    fix="allow the role kms:Decrypt on the key, in its policy or in the key's own",
    allowed="kms:Decrypt on the key",
    source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html",
)
def keys_are_usable(use: RoleUse, needs: Sequence[Need]) -> Hit:
    keys = ", ".join(dict.fromkeys(str(shown(need.resource)) for need in needs))
    return _short(use, needs, f"may read what is encrypted with {keys}, but may not decrypt it: missing {_actions(needs)}")


@error(
    "HP-IAM-014",
    on=_needing(Feature.VOLUME_KEY),
    title="nodes can have volumes encrypted with a key of your own",
    why="the service makes grants for the volumes as this role, and without them no node starts",
    fix="allow the role kms:CreateGrant and kms:DescribeKey on the key",
    allowed="kms:CreateGrant and kms:DescribeKey on VolumeKmsKeyId",
    source=f"{_GUIDE}smcluster-cmk.html",
)
def volume_keys_are_usable(use: RoleUse, needs: Sequence[Need]) -> Hit:
    return _short(use, needs, f"may not use the key {shown(needs[0].resource)} of the volumes: missing {_actions(needs)}")


@warning(
    "HP-IAM-022",
    on=_needing(Feature.ALARMS),
    title="the service can look at the alarms that roll an update back",
    why="the service looks at them as the role of the nodes; without the permission nothing rolls a bad image back",
    fix=f'allow the role {READ_ALARMS} on "*", because composite alarms are not told apart by ARN',
    allowed=f'{READ_ALARMS} on "*"',
    source=UPDATE_GUIDE,
)
def alarms_are_readable(use: RoleUse, needs: Sequence[Need]) -> Hit:
    return _short(use, needs, f"may not look at the alarms of its updates: missing {_actions(needs)}")


def _lacking(role: Resource, actions: Iterable[str], on: Value | None = None) -> str:
    """The actions that a role surely lacks, in words; empty if it lacks none."""
    return ", ".join(action for action in actions if role_facts(role).may(action, on) is False)


def _unable(use: RoleUse, to: str, actions: Iterable[str], on: Value | None = None) -> Hit | None:
    return _without(use, to, _lacking(use.role, actions, on))


def _without(use: RoleUse, to: str, lacking: str) -> Hit | None:
    return hit(use.role, f"the role of {quoted(use.groups)} may not {to}: missing {lacking}") if lacking else None


@warning(
    "HP-IAM-015",
    on=role_uses,
    title="interfaces of nodes can be tagged, detached and deleted",
    why="auto-resume cannot replace nodes, and the interfaces of removed nodes stay in the subnet, use up its addresses and block "
    "its deletion",
    fix=f'allow the role {DETACH_INTERFACE} on "*" in a statement of its own, because the instances of HyperPod are in the account '
    "of the service, and the other missing actions on network-interface/*",
    allowed=f'{DETACH_INTERFACE} on "*", and the other actions that take an interface away on network-interface/*',
    source=_PREREQUISITES,
)
def interfaces_can_be_removed(use: RoleUse) -> Hit | None:
    if not any(need.feature is Feature.NETWORK for need in needs_of(use)):
        return None
    interface = ec2_arn(use.cluster, "network-interface", UNKNOWN)
    lacking = _lacking(use.role, (*node_permissions.REMOVE_INTERFACES, DETACH_INTERFACE), interface)
    if DETACH_INTERFACE not in lacking and not use.facts.may_elsewhere(DETACH_INTERFACE, "instance"):
        elsewhere = f"{DETACH_INTERFACE} on instances of other accounts"
        lacking = f"{lacking}, {elsewhere}" if lacking else elsewhere
    return _without(use, "remove interfaces in the VPC", lacking)


def _on_eks(model: Model) -> Iterator[RoleUse]:
    return (use for use in role_uses(model) if use.groups[0].cluster.on_eks)


@warning(
    "HP-IAM-016",
    on=_on_eks,
    title="nodes of EKS can give addresses to pods",
    why="where the VPC CNI meets a refusal, pods get no addresses, and nodes stay NotReady",
    fix="allow the role the missing actions, or attach AmazonEKS_CNI_Policy",
    allowed="the actions of EC2 that the VPC CNI needs",
    source=_PREREQUISITES,
)
def pods_get_addresses(use: RoleUse) -> Hit | None:
    """The VPC CNI acts as the role of the nodes, unless the add-on has a role of its own."""
    own = cni_has_own_role(use.role.template.model)
    return None if own else _unable(use, "give addresses to pods", node_permissions.ADDRESS_PODS)


@warning(
    "HP-IAM-017",
    on=_on_eks,
    title="nodes of EKS can pull images from ECR",
    why="the images of add-ons and of your jobs are not pulled (ImagePullBackOff), and nodes stay NotReady",
    fix="allow the role the missing actions, or attach AmazonEC2ContainerRegistryPullOnly",
    allowed="the actions of ECR that pull an image",
    source=_PREREQUISITES,
)
def images_can_be_pulled(use: RoleUse) -> Hit | None:
    return _unable(use, "pull images from ECR", node_permissions.PULL_IMAGES)


@warning(
    "HP-IAM-023",
    on=_on_eks,
    title="nodes of EKS can get the credentials of pods",
    why="the pod identity agent asks for them as the role of the nodes; refused, every call of the pods to AWS fails",
    fix=f"allow the role {node_permissions.POD_IDENTITY}",
    allowed=node_permissions.POD_IDENTITY,
    source="https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html",
)
def pods_get_credentials(use: RoleUse) -> Hit | None:
    eks = EksCluster.of(use.groups[0].cluster.eks_arn)
    asked = eks is not None and eks.pod_identities
    return _unable(use, "ask for the credentials of pods", [node_permissions.POD_IDENTITY]) if asked else None


@warning(
    "HP-IAM-018",
    on=role_uses,
    title="nodes can ask whether a file system has EFA",
    why="the check of EFA for Lustre is skipped, and mounts use TCP at a fraction of the bandwidth without saying so",
    fix='allow the role fsx:DescribeFileSystems on "*" (the action knows no resources)',
    allowed="fsx:DescribeFileSystems",
    source="https://github.com/awslabs/awsome-distributed-ai/pull/1202",
)
def efa_of_lustre_is_seen(use: RoleUse) -> Hit | None:
    mounting = [group for group in use.groups if _mounts_efa(group)]
    lacking = _lacking(use.role, ["fsx:DescribeFileSystems"], "*") if mounting else ""
    return (
        hit(use.role, f"the role of {quoted(mounting)}, which mount a file system with EFA, lacks {lacking}") if lacking else None
    )


def _mounts_efa(group: Group) -> bool:
    systems = [resource_of(at(mount, "DnsName"), FILE_SYSTEM) for _, mount in group.storage("FsxLustreConfig")]
    return any(one is not None and as_bool(one.get("LustreConfiguration", "EfaEnabled")) is True for one in systems)


@warning(
    "HP-IAM-019",
    on=role_uses,
    title="nodes can write logs and metrics, and be connected to",
    why="the log of a failing lifecycle script is empty, and no shell can be opened on a node",
    fix=f"attach {CLUSTER_POLICY}, or allow the role the missing actions",
    allowed=f"logs on {node_permissions.LOG_GROUPS}/*, metrics and the channels of Session Manager",
    source=_PREREQUISITES,
)
def nodes_can_be_observed(use: RoleUse) -> Hit | None:
    return _unable(use, "write logs and metrics, or open shells", node_permissions.WRITE_LOGS_AND_OPEN_SHELLS)


@warning(
    "HP-IAM-020",
    title="who creates clusters may use their training plans",
    why="CreateCluster is refused: with a training plan it takes permission on the plan as well as on the cluster",
    fix="allow sagemaker:CreateCluster and sagemaker:UpdateCluster on training-plan/* and reserved-capacity/* too",
    allowed="sagemaker:CreateCluster on the training plan",
    source=f"{_GUIDE}training-plan-iam-permissions.html",
)
def plans_can_be_used(model: Model) -> Iterator[Hit]:
    """Roles of the templates that can create clusters, but no cluster with a plan of the model."""
    plans = [plan for group in groups(model) if (plan := group.get("TrainingPlanArn")) is not ABSENT]
    for role in model.resources(ROLE) if plans else ():
        facts = role_facts(role)
        refused = [plan for plan in plans if facts.may("sagemaker:CreateCluster", plan) is False]
        creates = any(one.effect == "Allow" and one.speaks_of("sagemaker:CreateCluster") for one in facts.statements)
        if refused and creates:
            yield hit(role, f"the role may create clusters, but may not use the training plan {shown(refused[0])}")


@warning(
    "HP-IAM-021",
    on=cluster_roles,
    title="autoscaling can add and delete nodes",
    why="Karpenter gets no new nodes, and idle nodes stay",
    fix="allow the cluster role the missing actions, on the cluster",
    allowed=" and ".join(node_permissions.SCALE_CLUSTER),
    source=ROLE_GUIDE,
)
def autoscaling_is_allowed(role: Resource, cluster: Cluster) -> str | None:
    """Karpenter's controller acts as `ClusterRole`."""
    enabled = cluster.get("AutoScaling", "Mode") == "Enable"
    lacking = _lacking(role, node_permissions.SCALE_CLUSTER, Reference(cluster.resource, "ClusterArn")) if enabled else ""
    return f"the cluster role of {cluster.resource.logical_id} may not scale the cluster: missing {lacking}" if lacking else None


@warning(
    "HP-IAM-024",
    on=cluster_roles,
    title="autoscaling can make volumes with keys of your own",
    why="the service makes grants for the volumes of new nodes as this role, and without them Karpenter gets no node",
    fix="allow the cluster role the missing actions on the key, for SageMaker by kms:ViaService",
    allowed=" and ".join(node_permissions.USE_VOLUME_KEYS),
    source=ROLE_GUIDE,
)
def autoscaling_uses_volume_keys(role: Resource, cluster: Cluster) -> Iterator[Hit]:
    enabled = cluster.get("AutoScaling", "Mode") == "Enable"
    volumes = (volume for group in cluster.groups for _, volume in group.storage("EbsVolumeConfig")) if enabled else ()
    for key in dict.fromkeys(resource_of(at(volume, "VolumeKmsKeyId"), KEY) for volume in volumes):
        lacking = "" if key is None else _lacking(role, node_permissions.USE_VOLUME_KEYS, Reference(key, "Arn"))
        if key is not None and lacking and key_admits(key, role, node_permissions.USE_VOLUME_KEYS[0]) is False:
            what = f"the cluster role of {cluster.resource.logical_id} may not use the key {key.logical_id} of the volumes"
            yield hit(role, f"{what}: missing {lacking}")
