"""What to ask and how to delete, for each type of resource that a destroyed stack can leave behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from hyperpod_constructs.cli.kept import LOG_GROUP_TYPE
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import unless_denied
from hyperpod_constructs.custom_resources.handlers.redaction import one_line
from hyperpod_constructs.facts import file_system_metrics as metrics

_PAGE = 1000
_LOOK_BACK = timedelta(hours=1)
_CHARACTERS = 100
_UNITS = ("bytes", "KB", "MB", "GB", "TB")


class Family(StrEnum):
    """What is asked for together, in the order of the deletion."""

    FILE_SYSTEMS = "file-systems"
    DATABASES = "databases"
    BUCKETS = "buckets"
    LOG_GROUPS = "log-groups"
    SECRETS = "secrets"
    KEYS = "keys"
    NETWORKS = "networks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A resource as its service describes it.

    :param tags: its tags.
    :param holds: what goes with it, in words.
    :param data: whether it holds data, or may.
    :param in_use: who uses it, in words; it is not deleted then.
    """

    tags: Mapping[str, str]
    holds: str | None = None
    data: bool = False
    in_use: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """How a type is seen and deleted.

    :param seen: takes the place, the physical id and the answer of the type's call in `kept`.
    :param delete: takes the client of the type's service and the physical id.
    :param empty: takes the same, and deletes the data that the service wants deleted first.
    :param tagged: whether CloudFormation gives it its own tags.
    :param done: the result of a deletion that was taken.
    :param waits: whether it is still there for a while, and keeps its network in use.
    """

    family: Family
    seen: Callable[[Place, str, Mapping[str, Any]], Seen]
    delete: Callable[[Any, str], object]
    empty: Callable[[Any, str], None] | None = None
    tagged: bool = True
    done: str = "deleted"
    waits: bool = False


def size(count: float) -> str:
    """A number of bytes in few characters."""
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 else f"{count:.1f} {_UNITS[unit]}"


def _tags(listed: Iterable[Mapping[str, str]] | None, key: str = "Key", value: str = "Value") -> dict[str, str]:
    return {tag[key]: tag[value] for tag in listed or ()}


def _file_system(place: Place, id: str, answer: Mapping[str, Any]) -> Seen:
    found = answer["FileSystems"][0]
    used = _used(place, id, found.get("FileSystemType", ""))
    amount = "an unknown amount" if used is None else size(used)
    return Seen(
        tags=_tags(found.get("Tags")),
        holds=f"{amount} in {found.get('StorageCapacity', '?')} GiB",
        data=used is None or used > 0,
    )


def _used(place: Place, id: str, kind: str) -> float | None:
    """The bytes that a file system holds; `None` if CloudWatch does not say."""
    if kind not in metrics.USED:
        return None
    name, statistic = metrics.USED[kind]
    now = datetime.now(UTC)
    points: list[Mapping[str, Any]] = []
    with unless_denied():
        points = place.client("cloudwatch").get_metric_statistics(
            Namespace=metrics.NAMESPACE,
            MetricName=name,
            Dimensions=[{"Name": metrics.DIMENSION, "Value": id}],
            StartTime=now - _LOOK_BACK,
            EndTime=now,
            Period=metrics.PERIOD_SECONDS,
            Statistics=[statistic],
        )["Datapoints"]
    newest = max(points, key=lambda point: point["Timestamp"], default=None)
    return None if newest is None else float(newest[statistic])


def _database(place: Place, id: str, answer: Mapping[str, Any]) -> Seen:
    found = (answer.get("DBInstances") or answer.get("DBClusters") or [{}])[0]
    return Seen(tags=_tags(found.get("TagList")), holds=f"records in {found.get('AllocatedStorage', '?')} GiB", data=True)


def _bucket(place: Place, id: str, answer: Mapping[str, Any]) -> Seen:
    s3 = place.client("s3")
    try:
        tags = _tags(s3.get_bucket_tagging(Bucket=id)["TagSet"])
    except s3.exceptions.ClientError as error:
        if error.response["Error"]["Code"] != "NoSuchTagSet":
            raise
        tags = {}
    page = s3.list_object_versions(Bucket=id, MaxKeys=_PAGE)
    count = len(page.get("Versions", ())) + len(page.get("DeleteMarkers", ()))
    more = " or more" if page.get("IsTruncated") else ""
    return Seen(
        tags=tags, holds=f"{count:,}{more} version{'' if count == 1 else 's'} of objects" if count else "no object", data=count > 0
    )


def _empty(s3: Any, id: str) -> None:
    """Delete all versions, a thousand a call.

    :raises ValueError: if one stays.
    """
    while True:
        page = s3.list_object_versions(Bucket=id, MaxKeys=_PAGE)
        found = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
        if not found:
            return
        objects = [{"Key": one["Key"], "VersionId": one["VersionId"]} for one in found]
        failed = s3.delete_objects(Bucket=id, Delete={"Objects": objects, "Quiet": True}).get("Errors", ())
        if failed:
            raise ValueError(f"{failed[0].get('Code')}: {failed[0].get('Message')}: {failed[0].get('Key')}")


def _log_group(place: Place, id: str, answer: Mapping[str, Any]) -> Seen:
    found = next(group for group in answer["logGroups"] if group["logGroupName"] == id)
    tags = place.client("logs").list_tags_for_resource(resourceArn=found["arn"].removesuffix(":*"))["tags"]
    return Seen(tags=tags, holds=f"{size(found.get('storedBytes', 0))} of logs")


def _secret(place: Place, id: str, answer: Mapping[str, Any]) -> Seen:
    return Seen(tags=_tags(answer.get("Tags")), holds="can be restored for 30 days")


def _key(place: Place, id: str, answer: Mapping[str, Any]) -> Seen:
    pages = place.client("kms").get_paginator("list_resource_tags").paginate(KeyId=id)
    tags = _tags((tag for page in pages for tag in page["Tags"]), "TagKey", "TagValue")
    return Seen(tags=tags, holds="can be restored for 30 days; what it encrypts is lost then")


def _network(member: str, by: str) -> Callable[[Place, str, Mapping[str, Any]], Seen]:
    """A part of a network, by the member of the answer and the filter of its network interfaces."""

    def seen(place: Place, id: str, answer: Mapping[str, Any]) -> Seen:
        filters = [{"Name": by, "Values": [id]}]
        faces = place.client("ec2").describe_network_interfaces(Filters=filters)["NetworkInterfaces"]
        used = None
        if faces:
            first = one_line(faces[0].get("Description") or faces[0].get("NetworkInterfaceId", ""), _CHARACTERS)
            used = f"{len(faces)} network interface{'s' if len(faces) > 1 else ''} ({first})"
        return Seen(tags=_tags(answer[member][0].get("Tags")), in_use=used)

    return seen


CLEANING: Mapping[str, Cleaning] = {
    "AWS::FSx::FileSystem": Cleaning(
        family=Family.FILE_SYSTEMS,
        seen=_file_system,
        delete=lambda fsx, id: fsx.delete_file_system(FileSystemId=id),
        done="deleting",
        waits=True,
    ),
    "AWS::RDS::DBInstance": Cleaning(
        family=Family.DATABASES,
        seen=_database,
        delete=lambda rds, id: rds.delete_db_instance(DBInstanceIdentifier=id, SkipFinalSnapshot=True),
        done="deleting",
        waits=True,
    ),
    "AWS::RDS::DBCluster": Cleaning(
        family=Family.DATABASES,
        seen=_database,
        delete=lambda rds, id: rds.delete_db_cluster(DBClusterIdentifier=id, SkipFinalSnapshot=True),
        done="deleting",
        waits=True,
    ),
    "AWS::S3::Bucket": Cleaning(
        family=Family.BUCKETS, seen=_bucket, empty=_empty, delete=lambda s3, id: s3.delete_bucket(Bucket=id)
    ),
    LOG_GROUP_TYPE: Cleaning(
        family=Family.LOG_GROUPS, seen=_log_group, delete=lambda logs, id: logs.delete_log_group(logGroupName=id)
    ),
    "AWS::SecretsManager::Secret": Cleaning(
        family=Family.SECRETS,
        seen=_secret,
        delete=lambda manager, id: manager.delete_secret(SecretId=id, RecoveryWindowInDays=30),
        done="deleted in 30 days",
    ),
    "AWS::KMS::Key": Cleaning(
        family=Family.KEYS,
        seen=_key,
        delete=lambda kms, id: kms.schedule_key_deletion(KeyId=id, PendingWindowInDays=30),
        tagged=False,
        done="deleted in 30 days",
    ),
    "AWS::EC2::SecurityGroup": Cleaning(
        family=Family.NETWORKS,
        seen=_network("SecurityGroups", "group-id"),
        delete=lambda ec2, id: ec2.delete_security_group(GroupId=id),
    ),
    "AWS::EC2::Subnet": Cleaning(
        family=Family.NETWORKS, seen=_network("Subnets", "subnet-id"), delete=lambda ec2, id: ec2.delete_subnet(SubnetId=id)
    ),
    "AWS::EC2::VPC": Cleaning(
        family=Family.NETWORKS, seen=_network("Vpcs", "vpc-id"), delete=lambda ec2, id: ec2.delete_vpc(VpcId=id)
    ),
}
"""For each of the types in `kept.KINDS`. A key's tags are the template's alone, but nobody else gets its id.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-resource-tags.html
"""
