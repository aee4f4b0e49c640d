"""The groups of a cluster with their roles, and the permissions that each role needs before the nodes can be created."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.arns import bucket_arn, s3_uri_arns
from hyperpod_constructs.analysis.clusters import Cluster, Group, clusters, given
from hyperpod_constructs.analysis.iam import ROLE, RoleFacts, role_facts
from hyperpod_constructs.analysis.resource_policies import KEY, key_admits, key_of, policies_admit
from hyperpod_constructs.facts import node_permissions
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Text, Value, as_items, at, is_known, joined, parts_of

BUCKET = "AWS::S3::Bucket"
SECRET = "AWS::SecretsManager::Secret"


@dataclass(frozen=True, slots=True)
class RoleUse:
    """A role of the model with the groups of one cluster that use it."""

    cluster: Resource
    role: Resource
    groups: tuple[Group, ...]

    @property
    def facts(self) -> RoleFacts:
        """The role with its permissions."""
        return role_facts(self.role)


def role_uses(model: Model) -> Iterator[RoleUse]:
    """The roles of each cluster, as far as they are in the model."""
    for cluster in clusters(model):
        roles = ((resource_of(group.get("ExecutionRole"), ROLE), group) for group in cluster.groups)
        for role, groups in grouped(roles).items():
            if role is not None:
                yield RoleUse(cluster.resource, role, tuple(groups))


def cluster_roles(model: Model) -> Iterator[tuple[Resource, Cluster]]:
    """The roles by which Karpenter scales, as far as they are in the model, each with its cluster."""
    for cluster in clusters(model):
        role = resource_of(cluster.get("ClusterRole"), ROLE)
        if role is not None:
            yield role, cluster


class Feature(Enum):
    """The feature that takes a permission."""

    SCRIPTS = "lifecycle scripts"
    NETWORK = "interfaces in the cluster's VPC"
    SECRET = "the password of the accounting database"
    READ_KEY = "encrypted scripts and passwords"
    VOLUME_KEY = "volumes encrypted with a key of your own"
    ALARMS = "alarms that roll an update back"


@dataclass(frozen=True, slots=True)
class Need:
    """A permission that the creation of nodes takes."""

    feature: Feature
    action: str
    resource: Value
    """The resource of the action; `"*"` for actions without resources."""
    groups: tuple[Group, ...]
    key: Resource | None = None
    """The key, if the permission can come from its policy too."""


def needs_of(use: RoleUse) -> tuple[Need, ...]:
    """The permissions that a role needs, as far as the templates tell."""
    return (*_scripts(use), *_network(use), *_secret(use), *_volume_keys(use), *_alarms(use))


def missing(facts: RoleFacts, needs: Sequence[Need]) -> list[Need]:
    """The needs that surely are not met."""
    return [need for need in needs if facts.may(need.action, need.resource) is False and not _by_another_policy(facts, need)]


def _by_another_policy(facts: RoleFacts, need: Need) -> bool:
    """Whether the policy of the bucket, the secret or the key may give it; a denial in the role's own policies decides."""
    if facts.denies(need.action, need.resource):
        return False
    by_key = need.key is not None and key_admits(need.key, facts.role, need.action) is not False
    return by_key or policies_admit(facts.role, need.action, need.resource) is not False


def _scripts(use: RoleUse) -> Iterator[Need]:
    for uri, groups in _by_value(use.groups, "LifeCycleConfig", "SourceS3Uri"):
        arns = s3_uri_arns(uri)
        if arns is None:
            continue
        bucket, objects = arns
        yield Need(Feature.SCRIPTS, "s3:GetObject", objects, groups)
        yield Need(Feature.SCRIPTS, "s3:ListBucket", bucket, groups)
        key = key_of(_bucket(use.cluster.template.model, bucket))
        if key is not None:
            yield Need(Feature.READ_KEY, "kms:Decrypt", Reference(key, "Arn"), groups, key)


def _bucket(model: Model, arn: Value) -> Resource | None:
    """The bucket of the model that has an ARN."""
    return model.cached(_bucket, lambda: _buckets(model)).get(arn) if isinstance(arn, str | Text) else None


def _buckets(model: Model) -> dict[Value, Resource]:
    """The buckets of the model by their ARNs, each by its reference and by its name; of two with one name the first."""
    found: dict[Value, Resource] = {}
    for bucket in model.resources(BUCKET):
        name = bucket.get("BucketName")
        written = name if name is not ABSENT and is_known(name) else Reference(bucket)
        for arn in (bucket_arn(written), bucket_arn(Reference(bucket))):
            found.setdefault(arn, bucket)
    return found


def _network(use: RoleUse) -> Iterator[Need]:
    networks = [
        (use.cluster.get("VpcConfig"), tuple(group for group in use.groups if group.get("OverrideVpcConfig") is ABSENT)),
        *((group.get("OverrideVpcConfig"), (group,)) for group in use.groups),
    ]
    for network, groups in networks:
        if not isinstance(network, Mapping) or not groups:
            continue
        for action in node_permissions.DESCRIBE_NETWORK:
            yield Need(Feature.NETWORK, action, "*", groups)
        interface = ec2_arn(use.cluster, "network-interface", UNKNOWN)
        for resource in (interface, *_attached_to(use.cluster, network)):
            yield Need(Feature.NETWORK, "ec2:CreateNetworkInterface", resource, groups)
        yield Need(Feature.NETWORK, "ec2:CreateNetworkInterfacePermission", interface, groups)


def _attached_to(cluster: Resource, network: Value) -> Iterator[Value]:
    for key, kind in (("Subnets", "subnet"), ("SecurityGroupIds", "security-group")):
        for item in as_items(at(network, key)) or ():
            yield ec2_arn(cluster, kind, item)


def ec2_arn(cluster: Resource, kind: str, name: Value) -> Value:
    """The ARN of an object of EC2 in the cluster's account and region."""
    region, account = (cluster.template.ref(f"AWS::{what}") for what in ("Region", "AccountId"))
    return joined(["arn:aws:ec2:", *parts_of(region), ":", *parts_of(account), f":{kind}/", *parts_of(name)])


def _secret(use: RoleUse) -> Iterator[Need]:
    arn = use.cluster.get("Orchestrator", "Slurm", "AccountingDatabase", "SecretArn")
    groups = tuple(group for group in use.groups if group.node_type == "Controller")
    if arn is ABSENT or not groups:
        return
    yield Need(Feature.SECRET, "secretsmanager:GetSecretValue", arn, groups)
    key = key_of(resource_of(arn, SECRET))
    if key is not None:
        yield Need(Feature.READ_KEY, "kms:Decrypt", Reference(key, "Arn"), groups, key)


def _volume_keys(use: RoleUse) -> Iterator[Need]:
    for group in use.groups:
        for _, volume in group.storage("EbsVolumeConfig"):
            key = resource_of(at(volume, "VolumeKmsKeyId"), KEY)
            if key is not None:
                for action in ("kms:CreateGrant", "kms:DescribeKey"):
                    yield Need(Feature.VOLUME_KEY, action, Reference(key, "Arn"), (group,), key)


def _alarms(use: RoleUse) -> Iterator[Need]:
    path = ("ScheduledUpdateConfig", "DeploymentConfig", "AutoRollbackConfiguration")
    watching = tuple(group for group in use.groups if given(group.get(*path)))
    if watching:
        yield Need(Feature.ALARMS, node_permissions.READ_ALARMS, "*", watching)


def _by_value(groups: Sequence[Group], *path: str) -> Iterator[tuple[Value, tuple[Group, ...]]]:
    """The values at a path in groups, each with its groups."""
    found: list[tuple[Value, list[Group]]] = []
    for group in groups:
        value = group.get(*path)
        for known, members in found:
            if known == value:
                members.append(group)
                break
        else:
            found.append((value, [group]))
    for value, members in found:
        yield value, tuple(members)
