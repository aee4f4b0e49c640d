"""The resources on which nodes need permissions, place by place: scripts, interfaces, keys and the like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.answered_values import answered
from hyperpod_constructs.analysis.arns import bucket_arn, s3_uri_arns
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.database import DATABASES, secret_of
from hyperpod_constructs.analysis.kubernetes import cni_has_own_role, eks_of
from hyperpod_constructs.analysis.node_roles import RoleUse
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.resource_policies import KEY, key_of
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS
from hyperpod_constructs.facts.permissions import Place
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import (
    ABSENT,
    UNKNOWN,
    Reference,
    Text,
    Value,
    as_bool,
    as_items,
    at,
    is_known,
    joined,
    parts_of,
)

BUCKET = "AWS::S3::Bucket"
_COMPOSITE = "AWS::CloudWatch::CompositeAlarm"
_ROLLBACK = ("ScheduledUpdateConfig", "DeploymentConfig", "AutoRollbackConfiguration")


class Used(NamedTuple):
    """A resource that nodes use."""

    place: Place
    arn: Value
    """`"*"` for actions without resources."""
    groups: tuple[Group, ...]
    through: str = ""
    """The service that makes the call for the nodes, as in `kms:ViaService`."""
    encrypted: Resource | None = None
    """What that service encrypts with the key."""


def used_by(use: RoleUse) -> Iterator[Used]:
    """What the nodes of a role use, as far as the templates tell."""
    yield from _always(use.cluster, use.groups)
    yield from _scripts(use)
    yield from _network(use)
    yield from _password(use)
    yield from _volume_keys(use.groups)
    yield from _alarms(use)
    mounting = tuple(group for group in use.groups if _mounts_efa(group))
    if mounting:
        yield Used(Place.EFA_OF_LUSTRE, "*", mounting)
    if use.groups[0].cluster.on_eks:
        yield from _kubernetes(use)


def used_by_any(role: Resource) -> Iterator[Used]:
    """What nodes in a VPC use, for a role of a cluster that is not in the model."""
    yield from _always(role, ())
    yield Used(Place.IN_VPC, "*", ())
    yield Used(Place.INTERFACES, ec2_arn(role, "network-interface", UNKNOWN), ())
    yield Used(Place.INSTANCES_ELSEWHERE, "*", ())
    for kind in ("subnet", "security-group"):
        yield Used(Place.NETWORK_OF_INTERFACES, ec2_arn(role, kind, UNKNOWN), ())


def ec2_arn(resource: Resource, kind: str, name: Value) -> Value:
    """The ARN of an object of EC2 in the account and the region of a resource; one for each name."""
    if not isinstance(name, str | Reference) and name is not UNKNOWN:
        return _ec2_arn(resource, kind, name)
    key = (ec2_arn, resource.template, kind, None if name is UNKNOWN else name)
    return resource.template.model.cached(key, lambda: _ec2_arn(resource, kind, name))


def _ec2_arn(resource: Resource, kind: str, name: Value) -> Value:
    return arn_at(resource, "ec2", joined([f"{kind}/", *parts_of(name)]))


def arn_at(resource: Resource, service: str, name: Value) -> Value:
    """The ARN of something in the account and the region of a resource."""
    region, account = region_of(resource) or UNKNOWN, resource.template.owner
    return joined([f"arn:aws:{service}:", region, ":", *parts_of(account), ":", *parts_of(name)])


def _always(resource: Resource, groups: tuple[Group, ...]) -> Iterator[Used]:
    template = resource.template
    logs = template.model.cached(
        (_always, template), lambda: arn_at(resource, "logs", joined([f"log-group:{LOG_GROUPS}/", UNKNOWN]))
    )
    yield Used(Place.LOGS, logs, groups)
    yield Used(Place.METRICS, "*", groups)
    yield Used(Place.EVERYTHING, "*", groups)


def _logs(resource: Resource) -> Value:
    return arn_at(resource, "logs", joined([f"log-group:{LOG_GROUPS}/", UNKNOWN]))


def _scripts(use: RoleUse) -> Iterator[Used]:
    for uri, groups in _by_value(use.groups, "LifeCycleConfig", "SourceS3Uri"):
        arns = s3_uri_arns(answered(uri))
        if arns is None:
            continue
        bucket, objects = arns
        yield Used(Place.SCRIPTS, objects, groups)
        yield Used(Place.BUCKET_OF_SCRIPTS, bucket, groups)
        found = bucket_at(use.cluster.template.model, bucket)
        key = key_of(found)
        if key is not None:
            yield Used(Place.KEYS_TO_READ, Reference(key, "Arn"), groups, "s3", found)


def bucket_at(model: Model, arn: Value) -> Resource | None:
    """The bucket of the model that has an ARN."""
    return model.cached(bucket_at, lambda: _buckets(model)).get(arn) if isinstance(arn, str | Text) else None


def _buckets(model: Model) -> dict[Value, Resource]:
    """The buckets of the model by their ARNs, each by its reference and by its name; of two with one name the first."""
    found: dict[Value, Resource] = {}
    for bucket in model.resources(BUCKET):
        name = bucket.get("BucketName")
        written = name if name is not ABSENT and is_known(name) else Reference(bucket)
        for arn in (bucket_arn(written), bucket_arn(Reference(bucket))):
            found.setdefault(arn, bucket)
    return found


def _network(use: RoleUse) -> Iterator[Used]:
    networks = [
        (use.cluster.get("VpcConfig"), tuple(group for group in use.groups if group.get("OverrideVpcConfig") is ABSENT)),
        *((group.get("OverrideVpcConfig"), (group,)) for group in use.groups),
    ]
    for network, groups in networks:
        if not isinstance(network, Mapping) or not groups:
            continue
        yield Used(Place.IN_VPC, "*", groups)
        yield Used(Place.INTERFACES, ec2_arn(use.cluster, "network-interface", UNKNOWN), groups)
        yield Used(Place.INSTANCES_ELSEWHERE, "*", groups)
        for key, kind in (("Subnets", "subnet"), ("SecurityGroupIds", "security-group")):
            for item in as_items(at(network, key)) or ():
                yield Used(Place.NETWORK_OF_INTERFACES, ec2_arn(use.cluster, kind, item), groups)


def _password(use: RoleUse) -> Iterator[Used]:
    database = use.cluster.get("Orchestrator", "Slurm", "AccountingDatabase")
    arn = at(database, "SecretArn")
    groups = tuple(group for group in use.groups if group.node_type == "Controller")
    if arn is ABSENT or not isinstance(database, Mapping) or not groups:
        return
    yield Used(Place.PASSWORD, arn, groups)
    key = key_of(secret_of(arn)) or key_of_managed_secret(resource_of(arn, *DATABASES))
    if key is not None:
        yield Used(Place.KEYS_TO_READ, Reference(key, "Arn"), groups, "secretsmanager", secret_of(arn))


def key_of_managed_secret(database: Resource | None) -> Resource | None:
    """The key of the secret that RDS makes for a database."""
    return None if database is None else resource_of(database.get("MasterUserSecret", "KmsKeyId"), KEY)


def _volume_keys(groups: Sequence[Group]) -> Iterator[Used]:
    for group in groups:
        for key in keys_of_volumes([group]):
            yield Used(Place.KEYS_OF_VOLUMES, Reference(key, "Arn"), (group,))


def keys_of_volumes(groups: Sequence[Group]) -> dict[Resource, None]:
    """The keys of the model that encrypt volumes of groups."""
    volumes = (volume for group in groups for _, volume in group.storage("EbsVolumeConfig"))
    found = (resource_of(at(volume, "VolumeKmsKeyId"), KEY) for volume in volumes)
    return dict.fromkeys(key for key in found if key is not None)


def _alarms(use: RoleUse) -> Iterator[Used]:
    """The alarms of updates, by their names; to look at a composite one takes the permission on all."""
    for alarms, groups in _by_value(use.groups, *_ROLLBACK):
        for name in dict.fromkeys(at(alarm, "AlarmName") for alarm in as_items(alarms) or ()):
            composite = resource_of(name, _COMPOSITE) is not None
            yield Used(Place.ALARMS, "*" if composite else _alarm_arn(use.cluster, name), groups)


def _alarm_arn(cluster: Resource, name: Value) -> Value:
    return arn_at(cluster, "cloudwatch", joined(["alarm:", *parts_of(name)]))


def _mounts_efa(group: Group) -> bool:
    systems = [resource_of(at(mount, "DnsName"), FILE_SYSTEM) for _, mount in group.storage("FsxLustreConfig")]
    return any(one is not None and as_bool(one.get("LustreConfiguration", "EfaEnabled")) is True for one in systems)


def _kubernetes(use: RoleUse) -> Iterator[Used]:
    """The VPC CNI acts as the role of the nodes, unless the add-on has a role of its own."""
    eks = eks_of(use.groups[0].cluster)
    yield Used(Place.REGISTRIES, "*", use.groups)
    yield Used(Place.IMAGES, UNKNOWN, use.groups)
    if not cni_has_own_role(use.role.template.model):
        yield Used(Place.ADDRESSES_OF_PODS, "*", use.groups)
        yield Used(Place.INTERFACES_OF_PODS, ec2_arn(use.cluster, "network-interface", UNKNOWN), use.groups)
    if eks is not None and eks.gives_identities:
        yield Used(Place.IDENTITIES_OF_PODS, Reference(eks.resource, "Arn"), use.groups)


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
