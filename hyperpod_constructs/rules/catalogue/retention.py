"""Retention: data whose resource is deleted or replaced."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.networks import VPC
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, security_groups_of, subnets_of
from hyperpod_constructs.facts.data_holders import DATA_HOLDERS, KEEPING_POLICIES, POLICY_WORDS
from hyperpod_constructs.plan.stateful import lost, survives
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_int, as_items, as_str, at, parts_of

_DELETION = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html"
_REPLACEMENT = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html"
_SNAPSHOT = "Snapshot"

# Data of a cluster that a team cannot make again: not secrets, dashboards and logs.
_DATA = (
    "AWS::APS::Workspace",
    "AWS::EFS::FileSystem",
    FILE_SYSTEM,
    "AWS::FSx::Volume",
    "AWS::KMS::Key",
    "AWS::RDS::DBCluster",
    "AWS::RDS::DBInstance",
    "AWS::S3::Bucket",
)


def _loses(resource: Resource, policy: Value, *, replaced: bool = False) -> bool:
    """Whether the data surely goes when the resource does, under this policy.

    :param replaced: whether it goes because of a replacement, which takes no last snapshot by itself; false by default.
    """
    kind = DATA_HOLDERS[resource.type]
    written = as_str(policy)
    if policy is not ABSENT and written is None:
        return False
    if (
        written in KEEPING_POLICIES
        or (written == _SNAPSHOT and kind.snapshot)
        or (policy is ABSENT and kind.snapshot_by_default and not replaced)
    ):
        return False
    return survives(resource) is None


@warning(
    "HP-RET-001",
    on=_DATA,
    title="data outlives its stack",
    why="CloudFormation deletes it with the stack, or as soon as it leaves the template, unless a DeletionPolicy keeps it",
    fix="write DeletionPolicy: RetainExceptOnCreate and UpdateReplacePolicy: Retain (in the CDK: "
    "RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)",
    allowed="Retain or RetainExceptOnCreate; Snapshot for a type that has snapshots",
    source=_DELETION,
    silences=("HP-RET-002",),
)
def data_outlives_the_stack(resource: Resource) -> Hit | None:
    if not resource.exists or not _loses(resource, resource.deletion_policy):
        return None
    return Hit(resource, (), f"its deletion loses {lost(resource)}", found=resource.deletion_policy)


@warning(
    "HP-RET-002",
    on=_DATA,
    title="data outlives its replacement",
    why="a change of a property fixed at creation makes a new, empty resource, and CloudFormation deletes the old one",
    fix="write UpdateReplacePolicy: Retain (in the CDK: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)",
    allowed="Retain; Snapshot for a type that has snapshots",
    source=_REPLACEMENT,
)
def data_outlives_its_replacement(resource: Resource) -> Hit | None:
    policy = resource.update_replace_policy
    if not resource.exists or not _loses(resource, policy, replaced=True):
        return None
    return Hit(resource, (), f"its replacement loses {lost(resource)}", found=policy)


@warning(
    "HP-RET-003",
    on=FILE_SYSTEM,
    title="a file system that stays keeps its network",
    why="its interfaces stay in the subnet: the deletion of the stack hangs at subnet, group and VPC, and then fails",
    fix="write DeletionPolicy: RetainExceptOnCreate on its subnet, security groups and VPC too, or let the file system go with the "
    "stack",
    allowed="Retain or RetainExceptOnCreate on the subnet, the security groups and the VPC of a retained file system",
    source="https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html",
)
def network_stays_with_file_systems(file_system: Resource) -> str | None:
    stays = as_str(file_system.deletion_policy) in KEEPING_POLICIES
    going = [resource.logical_id for resource in _below(file_system) if _goes(resource)] if stays else []
    return f"it stays when its stack is deleted, and {enumerated(going)} cannot go from under it" if going else None


def _below(file_system: Resource) -> list[Resource]:
    """Subnets, security groups and VPCs in which a file system has its interfaces."""
    subnets = subnets_of(file_system) or ()
    networks = [resource_of(subnet.get("VpcId"), VPC) for subnet in subnets]
    found = [*subnets, *(security_groups_of(file_system) or ()), *(network for network in networks if network is not None)]
    return list(dict.fromkeys(found))


def _goes(resource: Resource) -> bool:
    policy = resource.deletion_policy
    return policy is ABSENT or as_str(policy) == "Delete"


def _linked(model: Model) -> Iterator[Resource]:
    """The buckets that a file system is linked to."""
    named = (one.get("DataRepositoryPath") for one in model.resources("AWS::FSx::DataRepositoryAssociation"))
    found = (resource_of(part, "AWS::S3::Bucket") for value in named for part in parts_of(value) if isinstance(part, Reference))
    return (bucket for bucket in dict.fromkeys(found) if bucket is not None)


@warning(
    "HP-RET-005",
    on=_linked,
    title="a bucket of data is kept by its stack",
    why="the deletion of the stack fails at a bucket with objects, and whoever empties it for that loses the data",
    fix="write DeletionPolicy: RetainExceptOnCreate and UpdateReplacePolicy: Retain",
    allowed="Retain or RetainExceptOnCreate for a bucket that a file system is linked to",
    source=_DELETION,
    silences=("HP-RET-001",),
)
def buckets_of_data_are_kept(bucket: Resource) -> Hit | None:
    policy = as_str(bucket.deletion_policy)
    text = "a file system is linked to it, and its DeletionPolicy is Delete"
    return Hit(bucket, (), text, found=policy) if policy == "Delete" else None


@warning(
    "HP-RET-007",
    on=_linked,
    title="no rule of a bucket deletes all of its data",
    why="S3 deletes each object at its age: the data of which the file system shows the names, and what it has exported",
    fix="write a Prefix for what may go",
    allowed="an expiration of objects with a Prefix, a tag or a size",
    source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-expire-general-considerations.html",
)
def data_does_not_expire(bucket: Resource) -> Iterator[Hit]:
    for index, rule in enumerate(as_items(bucket.get("LifecycleConfiguration", "Rules")) or ()):
        expires = [key for key in ("ExpirationDate", "ExpirationInDays") if at(rule, key) is not ABSENT]
        limits = [key for key in _LIMITS if at(rule, key) not in (ABSENT, "")]
        if expires and not limits and as_str(at(rule, "Status")) == "Enabled":
            text = "a file system is linked to it, and a rule without a prefix deletes all objects"
            yield hit(bucket, text, "LifecycleConfiguration", "Rules", index, expires[0])


_LIMITS = ("ObjectSizeGreaterThan", "ObjectSizeLessThan", "Prefix", "TagFilters")
"""The properties of a rule without which it is for all objects."""


@error(
    "HP-RET-004",
    on=lambda model: model.resources(),
    title="DeletionPolicy and UpdateReplacePolicy have words that CloudFormation takes",
    why="CloudFormation refuses the template",
    fix="write Retain; RetainExceptOnCreate is a word of DeletionPolicy only",
    allowed="Delete, Retain and Snapshot; in DeletionPolicy also RetainExceptOnCreate",
    source=_REPLACEMENT,
    silences=("HP-RET-001", "HP-RET-002"),
)
def policies_have_known_words(resource: Resource) -> Iterator[Hit]:
    for name, words in POLICY_WORDS.items():
        written = as_str(resource.policy(name)) if name in resource.raw else None
        if written is not None and written not in words:
            yield Hit(resource, (), f"its {name} is {written!r}", found=written, allowed=", ".join(words))


@warning(
    "HP-RET-006",
    on="AWS::RDS::DBInstance",
    at=("BackupRetentionPeriod",),
    title="databases have backups",
    why="without automatic backups all that was written since the last snapshot goes with the instance",
    fix="write a BackupRetentionPeriod of 1 to 35 days",
    allowed="1 to 35 days",
    source="https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_WorkingWithAutomatedBackups.html",
)
def databases_have_backups(database: Resource) -> str | None:
    copy = any(database.get(key) is not ABSENT for key in ("DBClusterIdentifier", "SourceDBInstanceIdentifier"))
    off = as_int(database.get("BackupRetentionPeriod")) == 0
    return f"{database.logical_id} keeps no backups" if off and not copy else None
