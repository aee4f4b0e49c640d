"""Retention: data whose resource is deleted or replaced."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.alone import is_handed_on, users_of
from hyperpod_constructs.analysis.bucket_rules import (
    DataBucket,
    Read,
    contradiction,
    data_buckets,
    deletable,
    prefix_of,
    read_objects,
    rules_of,
)
from hyperpod_constructs.analysis.kept_networks import Stranded, stranded
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.resource_policies import KEY
from hyperpod_constructs.facts.backups import DAYS_KEPT
from hyperpod_constructs.facts.data_holders import (
    ARCHIVES,
    DATA_HOLDERS,
    ENCRYPT_FOR_THEMSELVES,
    KEEPING_POLICIES,
    OLD_DAYS,
    PASSED_ON,
    POLICY_WORDS,
    SMALL_TOO,
)
from hyperpod_constructs.plan.stateful import is_given_up, lost, survives
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_int, as_items, as_str, at

_DELETION = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html"
_REPLACEMENT = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatereplacepolicy.html"
_SNAPSHOT, _START = "Snapshot", "DailyAutomaticBackupStartTime"
_BESIDE = ("AWS::IAM::", "AWS::KMS::", NESTED_STACK)
"""The begins of types that name a key and encrypt nothing with it."""
_POLICIES = "AWS::IAM::"

# Data of a cluster that a team cannot make again: not secrets, dashboards and logs.
_DATA = (
    "AWS::APS::Workspace",
    "AWS::EFS::FileSystem",
    FILE_SYSTEM,
    "AWS::FSx::Volume",
    KEY,
    "AWS::RDS::DBCluster",
    "AWS::RDS::DBInstance",
    "AWS::S3::Bucket",
)


def _loses(resource: Resource, policy: Value, *, replaced: bool = False) -> bool:
    """Whether the data surely goes when the resource does, under this policy.

    :param replaced: whether it goes because of a replacement, which takes no last snapshot by itself; false by default. A key is
        never replaced: CloudFormation refuses a change of what is fixed at its creation, see
        https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-kms-key.html
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
    if resource.type == KEY and (replaced or _encrypts_nothing(resource) or _opens_nothing_kept(resource)):
        return False
    return survives(resource) is None and not is_given_up(resource)


def _encrypts_nothing(key: Resource) -> bool:
    """Whether only policies name a key, and what passes its data on."""
    users = users_of(key)
    known = bool(users) and all(one.type.startswith(_POLICIES) or one.type in PASSED_ON for one in users)
    return known and not is_handed_on(key)


def _opens_nothing_kept(key: Resource) -> bool:
    """Whether all that a key encrypts goes without it too."""
    users = [one for one in users_of(key) if not one.type.startswith(_BESIDE)]
    holders = [one for one in users if one.type not in ENCRYPT_FOR_THEMSELVES]
    return bool(users) and all(one.type in DATA_HOLDERS and _loses(one, one.deletion_policy) for one in holders)


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
    on=stranded,
    title="a file system that stays keeps its network",
    why="its interfaces stay in the subnet: the deletion of the stack hangs at subnet, group and VPC, and then fails",
    fix="write DeletionPolicy: RetainExceptOnCreate on its subnet, security groups and VPC too, or let the file system go with the "
    "stack",
    allowed="Retain or RetainExceptOnCreate on the subnet, the security groups and the VPC of a retained file system",
    source="https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html",
)
def network_stays_with_file_systems(found: Stranded) -> Hit:
    names, (first, *others) = enumerated(one.logical_id for one in found.going), found.staying
    if others:
        text = f"{enumerated(one.logical_id for one in found.staying)} stay, and {names} cannot go from under them"
        return Hit(found.going[0], (), text, covers=(*found.staying, *found.going[1:]))
    return Hit(first, (), f"it stays when its stack is deleted, and {names} cannot go from under it")


@warning(
    "HP-RET-005",
    on=deletable,
    title="data that is kept otherwise is kept by its stack",
    why="the deletion of the stack fails at a bucket with objects, and deletes the rest: the data goes",
    fix="write DeletionPolicy: RetainExceptOnCreate and UpdateReplacePolicy: Retain; Snapshot for a database",
    allowed="Retain, RetainExceptOnCreate or Snapshot for what a file system is linked to, or what a replacement keeps",
    source=_DELETION,
    silences=("HP-RET-001",),
)
def what_is_kept_is_kept_by_the_stack(resource: Resource) -> Hit:
    return Hit(resource, (), contradiction(resource), found="Delete")


@warning(
    "HP-RET-007",
    on=data_buckets,
    title="no rule of a bucket deletes all of its data",
    why="S3 deletes each object at its age: checkpoints that nobody has copied, data of which a file system shows the names, and "
    "scripts without which no node is replaced",
    fix="write a Prefix for what may go",
    allowed="an expiration of objects with a Prefix, a tag or a size, not of what a file system imports or nodes read",
    source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-expire-general-considerations.html",
)
def data_does_not_expire(found: DataBucket) -> Iterator[Hit]:
    for index, rule in rules_of(found.resource):
        expires = [key for key in ("ExpirationDate", "ExpirationInDays") if _is_given(found.resource, index, rule, key)]
        prefix = prefix_of(rule) if expires else None
        cleared = [one for one in ("", *found.read) if prefix is not None and one.startswith(prefix)]
        if cleared:
            what = f"a rule deletes all of {cleared[0]}" if prefix else "a rule without a prefix deletes all objects"
            yield hit(found.resource, f"{found.why}, and {what}", "LifecycleConfiguration", "Rules", index, expires[0])


def _is_given(bucket: Resource, index: int, rule: Value, key: str) -> bool:
    """Whether a rule has an age of less than a year, of which nobody says that it is wrong."""
    given, path = at(rule, key), ("LifecycleConfiguration", "Rules", index, key)
    days = as_int(given) if key == "ExpirationInDays" else None
    is_old = days is not None and days >= OLD_DAYS
    return given is not ABSENT and not is_old and not bucket.template.model.doubts.are_of(bucket.key, path)


@warning(
    "HP-RET-008",
    on=read_objects,
    title="data that a file system, nodes or models read is not archived",
    why="nobody can read an object of an archive until somebody restores it: each such file of Lustre is an error, and no node is "
    "created whose scripts are there",
    fix="write a Prefix for what nobody reads, or take GLACIER_IR, whose objects are read at once",
    allowed="STANDARD_IA, INTELLIGENT_TIERING without archives, or GLACIER_IR",
    source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/restoring-objects.html",
)
def what_is_read_is_not_archived(bucket: Resource, reads: Sequence[Read]) -> Iterator[Hit]:
    for index, rule in rules_of(bucket):
        cold = next((step for step in _steps(rule) if step in ARCHIVES), None)
        read = next((one for one in reads if one.is_under(rule)), None) if cold is not None else None
        if read is not None:
            all_of_them = read.always or bucket.get("LifecycleConfiguration", "TransitionDefaultMinimumObjectSize") == SMALL_TOO
            text = f"objects {'' if all_of_them else 'of 128 KB and more '}that {read.reader} go to {cold}"
            yield hit(bucket, text, "LifecycleConfiguration", "Rules", index, "Transitions")
    for index, tiers in enumerate(as_items(bucket.get("IntelligentTieringConfigurations")) or ()):
        read = next((one for one in reads if one.always and one.is_under(tiers)), None)
        if read is not None:
            text = f"objects that {read.reader} go to an archive of Intelligent-Tiering"
            yield hit(bucket, text, "IntelligentTieringConfigurations", index)


def _steps(rule: Value) -> list[str | None]:
    """The storage classes through which objects of a rule go."""
    return [as_str(at(step, "StorageClass")) for step in as_items(at(rule, "Transitions")) or ()]


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
    on=("AWS::RDS::DBInstance", FILE_SYSTEM),
    title="databases and file systems of homes have backups",
    why="without automatic backups all that was written since the last snapshot goes with the database or the file system",
    fix="write a BackupRetentionPeriod of 1 to 35 days, or AutomaticBackupRetentionDays of 1 to 90 days",
    allowed="1 day or more",
    source="https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_WorkingWithAutomatedBackups.html",
)
def databases_have_backups(resource: Resource) -> Hit | None:
    """Of a database, and of a file system that is not Lustre: scratch data is linked to S3 instead.

    A plan may back up a file system in their place, unless it has a time for daily backups of its own.
    """
    path = next((path for path in DAYS_KEPT if as_int(resource.get(*path)) == 0), None)
    copy = any(resource.get(key) is not ABSENT for key in ("DBClusterIdentifier", "SourceDBInstanceIdentifier"))
    elsewhere = resource.type == FILE_SYSTEM and bool(resource.template.model.resources("AWS::Backup::BackupSelection"))
    timed = path is not None and resource.get(*path[:-1], _START) is not ABSENT
    if path is None or copy or (elsewhere and not timed):
        return None
    return hit(resource, f"{resource.logical_id} keeps no backups{', and has a time for daily ones' if timed else ''}", *path)
