"""Resources that outlived the stacks of an app, those of earlier deployments too, and the command that removes each.

CloudFormation records a kept resource as DELETE_SKIPPED, and answers for a deleted stack for 90 days, by its id.
Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStacks.html
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hyperpod_constructs.cli.cloudformation import events, stack_summaries, template_body
from hyperpod_constructs.cli.stacks import CLUSTER_TYPE, Resource
from hyperpod_constructs.cli.target import Target
from hyperpod_constructs.facts.log_groups import MADE_BY_SERVICES
from hyperpod_constructs.facts.node_permissions import LOG_GROUPS

LOG_GROUP_TYPE = "AWS::Logs::LogGroup"

_GONE = re.compile(r"NotFound|NoSuch|\b404\b")
_NODE_LOGS = f"{LOG_GROUPS}/"
_EMPTY_AND_DELETE = (
    "python3 -c \"import boto3; bucket = boto3.resource('s3').Bucket('{id}'); bucket.object_versions.delete(); bucket.delete()\""
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A type that can be kept: its name for a person, the call that finds one, and the command that removes one.

    :param request: the parameters of the call for a physical id.
    :param is_gone: whether an answer means that the id is not there, or on its way out.
    """

    noun: str
    service: str
    operation: str
    request: Callable[[str], dict[str, Any]]
    command: str
    is_gone: Callable[[Mapping[str, Any], str], bool] = lambda answer, id: False


def _one(key: str) -> Callable[[str], dict[str, Any]]:
    return lambda id: {key: id}


def _list(key: str) -> Callable[[str], dict[str, Any]]:
    return lambda id: {key: [id]}


KINDS: Mapping[str, Kind] = {
    "AWS::FSx::FileSystem": Kind(
        "file system", "fsx", "describe_file_systems", _list("FileSystemIds"), "aws fsx delete-file-system --file-system-id {id}"
    ),
    "AWS::RDS::DBInstance": Kind(
        "database",
        "rds",
        "describe_db_instances",
        _one("DBInstanceIdentifier"),
        "aws rds delete-db-instance --skip-final-snapshot --db-instance-identifier {id}",
    ),
    "AWS::RDS::DBCluster": Kind(
        "database",
        "rds",
        "describe_db_clusters",
        _one("DBClusterIdentifier"),
        "aws rds delete-db-cluster --skip-final-snapshot --db-cluster-identifier {id}",
    ),
    "AWS::S3::Bucket": Kind("bucket", "s3", "head_bucket", _one("Bucket"), _EMPTY_AND_DELETE),
    LOG_GROUP_TYPE: Kind(
        "log group",
        "logs",
        "describe_log_groups",
        _one("logGroupNamePrefix"),
        "aws logs delete-log-group --log-group-name {id}",
        lambda answer, id: all(group["logGroupName"] != id for group in answer["logGroups"]),
    ),
    "AWS::SecretsManager::Secret": Kind(
        "secret",
        "secretsmanager",
        "describe_secret",
        _one("SecretId"),
        "aws secretsmanager delete-secret --secret-id {id}",
        lambda answer, id: "DeletedDate" in answer,
    ),
    "AWS::KMS::Key": Kind(
        "key",
        "kms",
        "describe_key",
        _one("KeyId"),
        "aws kms schedule-key-deletion --key-id {id}",
        lambda answer, id: answer["KeyMetadata"].get("KeyState") == "PendingDeletion",
    ),
    "AWS::EC2::SecurityGroup": Kind(
        "security group",
        "ec2",
        "describe_security_groups",
        _list("GroupIds"),
        "aws ec2 delete-security-group --group-id {id}",
    ),
    "AWS::EC2::Subnet": Kind("subnet", "ec2", "describe_subnets", _list("SubnetIds"), "aws ec2 delete-subnet --subnet-id {id}"),
    "AWS::EC2::VPC": Kind("vpc", "ec2", "describe_vpcs", _list("VpcIds"), "aws ec2 delete-vpc --vpc-id {id}"),
}
"""In the order in which they can be removed. Rules, policies and links that are kept go with the resource that they belong to."""


@dataclass(frozen=True, slots=True)
class History:
    """What the stacks of an app have left behind. Each stack is named by its id.

    :param kept: kept resources, in the order in which they can be removed.
    :param clusters: by the id of a cluster: its stack.
    :param makers: by a log group that another service may have made: the physical id of what it is for, and that one's stack.
    """

    kept: tuple[Resource, ...]
    clusters: Mapping[str, str]
    makers: Mapping[str, tuple[str, str]]

    def templates(self, target: Target) -> list[dict[str, Any]]:
        """The templates of the stacks, reduced to what is kept of them."""
        return [
            reduced(template_body(target, stack), {one.logical_id for one in self.kept if one.stack == stack})
            for stack in sorted({resource.stack for resource in self.kept})
        ]


@dataclass(frozen=True, slots=True)
class ServiceLog:
    """A log group that a service made.

    :param stack: the id of the stack that had what it is for.
    :param maker: the physical id of that; empty for a cluster, whose log group has its id.
    """

    name: str
    stack: str
    maker: str
    created: datetime
    stored_bytes: int


def history(target: Target, names: Collection[str], owned: Collection[str]) -> History:
    """Read what earlier and present stacks of these names have left behind and what still exists.

    :param target: the account.
    :param names: names of stacks.
    :param owned: physical ids of resources that a stack has now; they are not left behind.
    """
    stacks = [summary["StackId"] for summary in stack_summaries(target) if summary["StackName"] in names]
    past = recorded(target, stacks, owned)
    return History(tuple(one for one in past.kept if _exists(target, one)), past.clusters, past.makers)


def recorded(target: Target, stacks: Sequence[str], owned: Collection[str] = ()) -> History:
    """Read what stacks have left behind, whether it still exists or not.

    :param stacks: ids of stacks, deleted ones too.
    """
    kept: dict[tuple[str, str], Resource] = {}
    clusters: dict[str, str] = {}
    makers: dict[str, tuple[str, str]] = {}
    for stack in stacks:
        for event in events(target, stack):
            type, id = event.get("ResourceType", ""), event.get("PhysicalResourceId", "")
            if type == CLUSTER_TYPE and id:
                clusters[id.rsplit("/", 1)[-1]] = stack
            if type in MADE_BY_SERVICES and id and id not in owned:
                makers[MADE_BY_SERVICES[type].format(id)] = id, stack
            if event["ResourceStatus"] == "DELETE_SKIPPED" and type in KINDS and id not in owned:
                kept[type, id] = Resource(stack, event["LogicalResourceId"], type, id, True)
    order = list(KINDS)
    found = sorted(kept.values(), key=lambda resource: order.index(resource.type))
    named = {id for type, id in kept if type == LOG_GROUP_TYPE}
    return History(tuple(found), clusters, {name: maker for name, maker in makers.items() if name not in named})


def look(target: Target, type: str, id: str) -> Mapping[str, Any] | None:
    """What the service answers of a resource; `None` if it is gone or on its way out."""
    kind = KINDS[type]
    client = target.client(kind.service)
    try:
        answer: Mapping[str, Any] = getattr(client, kind.operation)(**kind.request(id))
    except client.exceptions.ClientError as error:
        if _GONE.search(error.response["Error"]["Code"]) is None:
            raise
        return None
    return None if kind.is_gone(answer, id) else answer


def _exists(target: Target, resource: Resource) -> bool:
    """Whether a resource is still there; also if the caller may not see it."""
    try:
        return look(target, resource.type, resource.physical_id) is not None
    except target.client(KINDS[resource.type].service).exceptions.ClientError:
        return True


def service_logs(target: Target, past: History) -> list[ServiceLog]:
    """The log groups that services made. They belong to no stack, so they stay."""
    found = []
    for group in _log_groups(target, _NODE_LOGS) if past.clusters else ():
        stack = past.clusters.get(group["logGroupName"].rsplit("/", 1)[-1])
        if stack is not None:
            found.append(_service_log(group, stack))
    for name, (maker, stack) in sorted(past.makers.items()):
        found += [_service_log(group, stack, maker) for group in _log_groups(target, name) if group["logGroupName"] == name]
    return found


def _service_log(group: Mapping[str, Any], stack: str, maker: str = "") -> ServiceLog:
    created = datetime.fromtimestamp(group.get("creationTime", 0) / 1000, UTC)
    return ServiceLog(group["logGroupName"], stack, maker, created, group.get("storedBytes", 0))


def _log_groups(target: Target, prefix: str) -> list[Mapping[str, Any]]:
    pages = target.client("logs").get_paginator("describe_log_groups").paginate(logGroupNamePrefix=prefix)
    return [group for page in pages for group in page["logGroups"]]


def removal(type: str, id: str, region: str) -> str:
    """The command that removes a resource of one of the `KINDS`."""
    command = KINDS[type].command.format(id=shlex.quote(id))
    return f"{command} --region {region}" if command.startswith("aws ") else f"AWS_REGION={region} {command}"


def reduced(template: Mapping[str, Any], wanted: Collection[str]) -> dict[str, Any]:
    """A template with these resources alone."""
    found: Sequence[tuple[str, Any]] = tuple(template.get("Resources", {}).items())
    return {**template, "Resources": {key: value for key, value in found if key in wanted}}
