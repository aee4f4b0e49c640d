"""Resources that outlived the stacks of an app, those of earlier deployments too, and the command that removes each.

CloudFormation records a kept resource as DELETE_SKIPPED, and answers for a deleted stack for 90 days, by its id.
Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ListStacks.html
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
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
    :param is_gone: whether an answer means that it is on its way out.
    """

    noun: str
    service: str
    operation: str
    request: Callable[[str], dict[str, Any]]
    command: str
    is_gone: Callable[[Mapping[str, Any]], bool] = lambda answer: False


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
        lambda answer: not answer["logGroups"],
    ),
    "AWS::SecretsManager::Secret": Kind(
        "secret",
        "secretsmanager",
        "describe_secret",
        _one("SecretId"),
        "aws secretsmanager delete-secret --secret-id {id}",
        lambda answer: "DeletedDate" in answer,
    ),
    "AWS::KMS::Key": Kind(
        "key",
        "kms",
        "describe_key",
        _one("KeyId"),
        "aws kms schedule-key-deletion --key-id {id}",
        lambda answer: answer["KeyMetadata"].get("KeyState") == "PendingDeletion",
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
    """What the stacks of an app have left behind.

    :param kept: kept resources that still exist, in the order in which they can be removed; each stack by its id.
    :param clusters: the ids of all clusters that were in these stacks.
    :param logs: the log groups that other services may have made for what these stacks no longer have.
    """

    kept: tuple[Resource, ...]
    clusters: frozenset[str]
    logs: frozenset[str]

    def templates(self, target: Target) -> list[dict[str, Any]]:
        """The templates of the stacks, reduced to what is kept of them."""
        return [
            _reduced(template_body(target, stack), {one.logical_id for one in self.kept if one.stack == stack})
            for stack in sorted({resource.stack for resource in self.kept})
        ]


def history(target: Target, names: Collection[str], owned: Collection[str]) -> History:
    """Read what earlier and present stacks of these names have left behind.

    :param target: the account.
    :param names: names of stacks.
    :param owned: physical ids of resources that a stack has now; they are not left behind.
    """
    kept: dict[tuple[str, str], Resource] = {}
    clusters, logs = set(), set()
    for summary in stack_summaries(target):
        if summary["StackName"] not in names:
            continue
        for event in events(target, summary["StackId"]):
            type, id = event.get("ResourceType", ""), event.get("PhysicalResourceId", "")
            if type == CLUSTER_TYPE and id:
                clusters.add(id.rsplit("/", 1)[-1])
            if type in MADE_BY_SERVICES and id and id not in owned:
                logs.add(MADE_BY_SERVICES[type].format(id))
            if event["ResourceStatus"] == "DELETE_SKIPPED" and type in KINDS and id not in owned:
                kept[type, id] = Resource(summary["StackId"], event["LogicalResourceId"], type, id, True)
    order = list(KINDS)
    found = sorted(kept.values(), key=lambda resource: order.index(resource.type))
    logs -= {id for type, id in kept if type == LOG_GROUP_TYPE}
    return History(tuple(resource for resource in found if _exists(target, resource)), frozenset(clusters), frozenset(logs))


def _exists(target: Target, resource: Resource) -> bool:
    """Whether a resource is still there; also if the caller may not see it."""
    kind = KINDS[resource.type]
    client = target.client(kind.service)
    try:
        answer = getattr(client, kind.operation)(**kind.request(resource.physical_id))
    except client.exceptions.ClientError as error:
        return _GONE.search(error.response["Error"]["Code"]) is None
    return not kind.is_gone(answer)


def service_logs(target: Target, past: History) -> list[str]:
    """The log groups that services made. They belong to no stack, so they stay."""
    nodes = [name for name in _log_groups(target, _NODE_LOGS) if name.rsplit("/", 1)[-1] in past.clusters] if past.clusters else []
    return [*nodes, *(name for name in sorted(past.logs) if name in _log_groups(target, name))]


def _log_groups(target: Target, prefix: str) -> list[str]:
    pages = target.client("logs").get_paginator("describe_log_groups").paginate(logGroupNamePrefix=prefix)
    return [group["logGroupName"] for page in pages for group in page["logGroups"]]


def removal(type: str, id: str, region: str) -> str:
    """The command that removes a resource of one of the `KINDS`."""
    command = KINDS[type].command.format(id=shlex.quote(id))
    return f"{command} --region {region}" if command.startswith("aws ") else f"AWS_REGION={region} {command}"


def _reduced(template: Mapping[str, Any], wanted: Collection[str]) -> dict[str, Any]:
    found: Sequence[tuple[str, Any]] = tuple(template.get("Resources", {}).items())
    return {**template, "Resources": {key: value for key, value in found if key in wanted}}
