"""Storage and what it names: subnets of file systems, vaults and resources of backups, the time to live of tables.

Sources: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemOpenZFSConfiguration.html,
https://docs.aws.amazon.com/fsx/latest/APIReference/API_LustreLogCreateConfiguration.html,
https://docs.aws.amazon.com/aws-backup/latest/devguide/vault-lock.html,
https://docs.aws.amazon.com/aws-backup/latest/devguide/backup-feature-availability.html and
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/time-to-live-ttl-before-you-start.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.arns import Arn, s3_uri_arns
from hyperpod_constructs.analysis.policy_document import listed
from hyperpod_constructs.analysis.references.forms import gives_arn
from hyperpod_constructs.analysis.schema.violation import Path, quoted
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.analysis.unsaved import taken_by_tags, why_unsaved
from hyperpod_constructs.facts.arn_forms import FORMS, ArnForm
from hyperpod_constructs.facts.backups import BACKED_UP
from hyperpod_constructs.facts.lustre import LOG_GROUPS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.globs import glob
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, as_int, at, is_known, parts_of

_LOGS = f"arn:*:logs:*:log-group:{LOG_GROUPS}*"
_HEADER = "s3:x-amz-server-side-encryption"
_FILE_SYSTEM = "AWS::FSx::FileSystem"
_VAULT = "AWS::Backup::BackupVault"


def file_system(resource: Resource) -> Slips:
    """The preferred subnet of a file system is one of its subnets, and its log group has a name for FSx."""
    logs = resource.get("LustreConfiguration", "LogConfiguration", "Destination")
    if isinstance(logs, str | Text) and (_matches(logs, _LOGS) is False or _is_of_other_group(logs)):
        message = f"logs go to {quoted(logs)}, and the name of their group begins with {LOG_GROUPS}"
        yield Slip(message, f"a log group of {LOG_GROUPS}", ("LustreConfiguration", "LogConfiguration", "Destination"), logs)
    yield from _export(resource)
    for kind in ("OntapConfiguration", "OpenZFSConfiguration", "WindowsConfiguration"):
        preferred, subnets = resource.get(kind, "PreferredSubnetId"), resource.get("SubnetIds")
        sure = isinstance(subnets, tuple) and all(map(_is_sure, (preferred, *subnets)))
        if isinstance(subnets, tuple) and sure and preferred not in subnets:
            message = f"the preferred subnet is {quoted(preferred)}, and the file system is in {', '.join(map(quoted, subnets))}"
            yield Slip(message, "one of SubnetIds", (kind, "PreferredSubnetId"), preferred)


def _is_of_other_group(logs: str | Text) -> bool:
    """Whether a text with a log group has one whose name is not one of FSx."""
    groups = [target_of(one) for one in logs.references if one.attribute is None] if isinstance(logs, Text) else []
    names = [known(one.get("LogGroupName")) for one in groups if one.type == "AWS::Logs::LogGroup"]
    return any(one is not None and not one.startswith(LOG_GROUPS) for one in names)


def _export(resource: Resource) -> Slips:
    """Lustre exports to the bucket from which it imports."""
    found = [s3_uri_arns(resource.get("LustreConfiguration", name)) for name in ("ImportPath", "ExportPath")]
    buckets = [Arn(one[0]) for one in found if one is not None]
    if len(buckets) > 1 and buckets[0].covers(buckets[1]) is False:
        value = resource.get("LustreConfiguration", "ExportPath")
        message = f"it exports to {quoted(value)}, and imports from another bucket"
        yield Slip(message, "a path of the bucket of ImportPath", ("LustreConfiguration", "ExportPath"), value)


def bucket_policy(resource: Resource) -> Slips:
    """A policy denies no object that is encrypted as its bucket does it by default."""
    bucket = resource_of(resource.get("Bucket"), "AWS::S3::Bucket")
    own = () if bucket is None else tuple(_algorithms(bucket))
    for index, raw in enumerate(listed(resource.get("PolicyDocument", "Statement")) if own and None not in own else ()):
        denies = known(at(raw, "Effect")) == "Deny"
        wanted = [known(one) for one in listed(at(raw, "Condition", "StringNotEquals", _HEADER))] if denies else []
        if wanted and None not in wanted and not set(wanted) & set(own):
            found = f"encrypts with {own[0]}, and the policy denies what is not {wanted[0]}"
            place = ("PolicyDocument", "Statement", index)
            yield Slip(f"its bucket {found}", "the algorithm of the bucket", place, raw, dead=True)


def _algorithms(bucket: Resource) -> Iterator[str | None]:
    """What a bucket encrypts with by default, rule by rule; `None` for what is not known."""
    for _, one in entries(bucket.get("BucketEncryption", "ServerSideEncryptionConfiguration")):
        yield known(at(one, "ServerSideEncryptionByDefault", "SSEAlgorithm"))


def _matches(value: str | Text, pattern: str) -> bool | None:
    return value.matches(pattern) if isinstance(value, Text) else glob(pattern, value)


def _is_sure(value: Value) -> bool:
    return isinstance(value, Reference) or (is_known(value) and value is not ABSENT and not isinstance(value, Text))


def plan(resource: Resource) -> Slips:
    """The backups of a plan are kept as long as the lock of the vault demands, and the vault has the name."""
    for index, rule in entries(resource.get("BackupPlan", "BackupPlanRule")):
        path = ("BackupPlan", "BackupPlanRule", index)
        value, life = mapping(rule).get("TargetBackupVault", ABSENT), mapping(rule).get("Lifecycle", ABSENT)
        vault = resource_of(value, _VAULT)
        if vault is not None:
            for slip in _lock(vault, life):
                yield slip.below(*path)
        name, model = known(value) or "", resource.template.model
        given = [one.get("BackupVaultName") for one in model.resources(_VAULT)]
        names = [own for one in given if (own := known(one))]
        meant = typo_of(name, names)
        if vault is None and (meant is not None or nobodys(model, name, given)):
            says = f"there is no vault {name}{f'; did you mean {meant}?' if meant else ' in the templates'}"
            yield Slip(says, meant or ", ".join(names), (*path, "TargetBackupVault"), value)


def _lock(vault: Resource, life: Value) -> Slips:
    days = mapping(life).get("DeleteAfterDays", ABSENT)
    kept = as_int(days) if days is not ABSENT else None
    least, most = (as_int(vault.get("LockConfiguration", name)) for name in ("MinRetentionDays", "MaxRetentionDays"))
    if least is not None and most is not None and least > most:
        return
    forever = days is ABSENT and (life is ABSENT or isinstance(life, Mapping))
    if kept is not None and ((least is not None and kept < least) or (most is not None and kept > most)):
        message = f"backups are kept {kept} days, and the lock of {vault.logical_id} demands {_range(least, most)}"
        yield Slip(message, _range(least, most), ("Lifecycle", "DeleteAfterDays"), days)
    elif forever and most is not None:
        message = f"backups are kept for ever, and the lock of {vault.logical_id} demands {_range(least, most)}"
        yield Slip(message, _range(least, most), ("Lifecycle",))


def _range(least: int | None, most: int | None) -> str:
    return f"{least} to {most} days" if least and most else f"{least} days or more" if least else f"{most} days or less"


def selection(resource: Resource) -> Slips:
    """A selection has the ARNs of resources that are backed up, or tags that resources have."""
    yield from _tags(resource)
    yield from _by_tags(resource)
    for index, one in entries(resource.get("BackupSelection", "Resources")):
        path = ("BackupSelection", "Resources", index)
        if not isinstance(one, Reference):
            yield from _of_unsaved(_named_in(one), path, one)
            continue
        target = target_of(one)
        form = FORMS.get(target.type, ArnForm())
        if one.attribute in form.names or (gives_arn(one) is False and target.type.startswith("AWS::")):
            yield Slip(f"{quoted(one)} gives a name, and a selection has ARNs", "the ARN of a resource", path, one)
        elif one.attribute in form.others:
            yield Slip(f"{quoted(one)} is a part of {target.logical_id}", "the ARN of the resource itself", path, one)
        elif why_unsaved(target) is not None:
            yield from _of_unsaved(target, path, one)
        elif target.type in FORMS and target.type not in BACKED_UP and one.attribute in form.arns:
            yield Slip(f"AWS Backup makes no backups of {target.type}", "a resource that AWS Backup supports", path, one)


def _of_unsaved(target: Resource | None, path: Path, found: Value) -> Slips:
    why = None if target is None else why_unsaved(target)
    if target is not None and why is not None:
        message = f"{target.logical_id} {why}, and FSx makes no backups of it"
        yield Slip(message, "a file system of which FSx makes backups", path, found)


def _by_tags(resource: Resource) -> Slips:
    """A selection by tags takes no file system of which there are no backups."""
    for taken in taken_by_tags(resource):
        first, (key, value) = taken.systems[0], taken.tag
        message = f"{key} {value} is a tag of {enumerated(one.logical_id for one in taken.systems)} too: {first.logical_id} "
        message += f"{why_unsaved(first)}, and FSx makes no backups of it"
        beside = tuple((one, ("Tags",)) for one in taken.systems)
        yield Slip(message, "a tag of resources with backups", taken.path, resource.get(*taken.path), dead=True, beside=beside)


def _named_in(value: Value) -> Resource | None:
    """The file system of an ARN that is written as a text with its id at the end."""
    *before, last = parts_of(value) if isinstance(value, Text) else [None]
    begin = before[-1] if before else ""
    return resource_of(last, _FILE_SYSTEM) if isinstance(begin, str) and begin.endswith(":file-system/") else None


def _tags(resource: Resource) -> Slips:
    """A selection by tags has keys as they are written at the resources, and values that they have there."""
    kept = [each.get(key) for each in resource.template.model.resources() for key in ("FileSystemTags", "Tags")]
    tags = [one for each in kept for _, one in entries(each)]
    there = {known(at(one, "Key")) for one in tags}
    for index, one in entries(resource.get("BackupSelection", "ListOfTags")):
        key = known(at(one, "ConditionKey"))
        values = [known(at(tag, "Value")) for tag in tags if known(at(tag, "Key")) == key]
        wanted = known(at(one, "ConditionValue"))
        if wanted is not None and values and wanted not in values and None not in (key, *values, *there):
            path = ("BackupSelection", "ListOfTags", index, "ConditionValue")
            yield Slip(
                f"no resource has the tag {key} with {wanted}", ", ".join(sorted({*map(str, values)})), path, wanted, dead=True
            )
        meant = typo_of(key or "", sorted(filter(None, there)))
        if meant is not None:
            path = ("BackupSelection", "ListOfTags", index, "ConditionKey")
            yield Slip(f"no resource has the tag {key}; did you mean {meant}?", meant, path, key, dead=True)


def table(resource: Resource) -> Slips:
    """The time to live of a table is a number, and its indexes have names of their own."""
    yield from _indexes(resource)
    name = known(resource.get("TimeToLiveSpecification", "AttributeName"))
    for _, one in entries(resource.get("AttributeDefinitions")):
        kind = known(mapping(one).get("AttributeType", ABSENT))
        if name is not None and known(mapping(one).get("AttributeName", ABSENT)) == name and kind in ("S", "B"):
            message = f"{name} is a key of the type {kind}, and a time to live is a number of seconds"
            yield Slip(message, "an attribute of the type N", ("TimeToLiveSpecification", "AttributeName"), name, dead=True)


def _indexes(resource: Resource) -> Slips:
    """A local index has the first key of its table, and no two indexes have one name."""
    first, names = _first_key(resource.get("KeySchema")), list[str]()
    for kind in ("GlobalSecondaryIndexes", "LocalSecondaryIndexes"):
        for index, one in entries(resource.get(kind)):
            name, own = known(at(one, "IndexName")), _first_key(at(one, "KeySchema"))
            if name is not None and name in names and kind == "LocalSecondaryIndexes":
                yield Slip(f"two indexes are called {name}", "a name of its own", (kind, index, "IndexName"), name)
            names += [name] if name else []
            if kind == "LocalSecondaryIndexes" and first and own and own != first:
                message = f"a local index begins with {own}, and its table with {first}"
                yield Slip(message, f"{first} as HASH", (kind, index, "KeySchema"), at(one, "KeySchema"))


def _first_key(keys: Value) -> str | None:
    """The attribute of the key of the type HASH."""
    hashed = [one for _, one in entries(keys) if known(at(one, "KeyType")) == "HASH"]
    return known(at(hashed[0], "AttributeName")) if len(hashed) == 1 else None


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::Backup::BackupPlan": plan,
    "AWS::Backup::BackupSelection": selection,
    "AWS::DynamoDB::Table": table,
    _FILE_SYSTEM: file_system,
    "AWS::S3::BucketPolicy": bucket_policy,
}
