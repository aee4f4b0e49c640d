"""What IAM is asked for when a call is made: actions with the resources that they are about, and whose these are.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ministack.core.iam_evaluator import EvalContext, evaluate, parse_policy_document  # type: ignore[import-untyped]

from hyperpod_constructs.facts.node_permissions import NODES_PRINCIPAL
from tests.custom_resources.observed import Call, action_of
from tests.custom_resources.synthesized import listed

Parameters = Mapping[str, Any]
Statements = Sequence[Mapping[str, Any]]
OTHER = "another"


@dataclass(frozen=True)
class Need:
    """One question to IAM.

    :param owners: parts of the resource or of the context, each of which says whose it is.
    """

    action: str
    resource: str = "*"
    owners: tuple[str, ...] = ()
    context: Mapping[str, str] = field(default_factory=dict)

    def of_others(self) -> Iterator[Need]:
        """The same question about what belongs to another cluster, stack, bucket or program."""
        for owner in self.owners:
            context = {key: value.replace(owner, OTHER) for key, value in self.context.items()}
            yield Need(self.action, self.resource.replace(owner, OTHER), (), context)

    def allowed(self, statements: Statements) -> bool:
        """Whether a policy of these statements allows it, by the evaluator of the embedded AWS."""
        asked = EvalContext(
            principal_arn="arn:aws:sts::123456789012:assumed-role/handler/handler",
            principal_type="AssumedRole",
            principal_account="123456789012",
            action=self.action,
            resource_arn=self.resource,
            region="us-west-2",
            service_context={key.lower(): value for key, value in self.context.items()},
        )
        return bool(evaluate(asked, [parse_policy_document({"Statement": list(statements)})]).decision == "Allow")


def needs(call: Call, region: str, account: str) -> list[Need]:
    """The questions to IAM when a call is made."""
    about = _ABOUT.get(f"{call.service}:{call.operation}")
    assert about is not None, f"{call.service}:{call.operation} is new: write its resources in {__name__}"
    return list(about(call, f"{region}:{account}"))


def elsewhere(statements: Statements) -> Iterator[tuple[Mapping[str, Any], int, Statements]]:
    """Each statement with the place of one of its resources, and the statements in which this one is another's."""
    for index, statement in enumerate(statements):
        resources = listed(statement["Resource"])
        for place, resource in enumerate(resources):
            if resource != "*":
                fixed, star, rest = resource.partition("*")
                moved = [*resources[:place], f"{fixed}{OTHER}{star}{rest}", *resources[place + 1 :]]
                yield statement, place, [*statements[:index], {**statement, "Resource": moved}, *statements[index + 1 :]]


def _no_resource(call: Call, _: str) -> Iterator[Need]:
    """The service has no permissions by resource for it."""
    yield Need(action_of(call))


def _named(member: str) -> Callable[[Call, str], Iterator[Need]]:
    """A member is the ARN, and the last part of it is the name."""

    def about(call: Call, _: str) -> Iterator[Need]:
        arn = call.parameters[member]
        yield Need(action_of(call), arn, (arn.rpartition("/")[2],))

    return about


def _update_cluster(call: Call, place: str) -> Iterator[Need]:
    yield from _named("ClusterName")(call, place)
    for role in {group["ExecutionRole"] for group in call.parameters["InstanceGroups"]}:
        owners = (role.rpartition("/")[2], NODES_PRINCIPAL)
        yield Need("iam:PassRole", role, owners, {"iam:PassedToService": NODES_PRINCIPAL})


def _create_extension(call: Call, place: str) -> Iterator[Need]:
    yield from _named("ClusterArn")(call, place)
    name = call.parameters["ExtensionName"]
    yield Need("sagemaker:AddTags", f"arn:aws:sagemaker:{place}:extension/sagemaker-x/{name}/1", ("sagemaker-x", name))


def _extension(member: str) -> Callable[[Call, str], Iterator[Need]]:
    def about(call: Call, _: str) -> Iterator[Need]:
        arn = call.parameters[member]
        yield Need(action_of(call), arn, tuple(arn.split("/")[1:3]))

    return about


def _training_plan(call: Call, place: str) -> Iterator[Need]:
    name = call.parameters["TrainingPlanName"].rpartition("/")[2]
    yield Need(action_of(call), f"arn:aws:sagemaker:{place}:training-plan/{name}", (name,))


def _parameters(call: Call, place: str) -> Iterator[Need]:
    """The first two parts of a path are the inventory's."""
    asked = call.parameters
    for name in asked.get("Names", [asked.get("Name", asked.get("Path"))]):
        yield Need(action_of(call), f"arn:aws:ssm:{place}:parameter{name}", tuple(f"/{part}" for part in name.split("/")[1:3]))


def _log_stream(call: Call, place: str) -> Iterator[Need]:
    group, stream = call.parameters["logGroupName"], call.parameters["logStreamName"]
    resource = f"arn:aws:logs:{place}:log-group:{group}:log-stream:{stream}"
    yield Need(action_of(call), resource, (*group.split("/")[-2:], stream.partition("/")[0]))


def _log_group(call: Call, place: str) -> Iterator[Need]:
    group = call.parameters["logGroupName"]
    yield Need(action_of(call), f"arn:aws:logs:{place}:log-group:{group}:*", tuple(group.split("/")[-2:]))


def _role(call: Call, place: str) -> Iterator[Need]:
    name = call.parameters["RoleName"]
    yield Need(action_of(call), f"arn:aws:iam::{place.rpartition(':')[2]}:role/{name}", (name,))


def _bucket(call: Call, _: str) -> Iterator[Need]:
    bucket, prefix = call.parameters["Bucket"], call.parameters.get("Prefix")
    context = {} if prefix is None else {"s3:prefix": prefix}
    yield Need(
        action_of(call), f"arn:aws:s3:::{bucket}", (bucket, *(prefix or "").split("/")[:2]) if prefix else (bucket,), context
    )


def _objects(call: Call, _: str) -> Iterator[Need]:
    """The first two parts of a key are the upload's."""
    asked = call.parameters
    keys = [found["Key"] for found in asked["Delete"]["Objects"]] if "Delete" in asked else [asked["Key"]]
    for key in keys:
        yield Need(action_of(call), f"arn:aws:s3:::{asked['Bucket']}/{key}", (asked["Bucket"], *key.split("/")[:2]))


def _file_system(call: Call, place: str) -> Iterator[Need]:
    id = call.parameters["FileSystemId"]
    yield Need(action_of(call), f"arn:aws:fsx:{place}:file-system/{id}", (id,))


def _volume(call: Call, place: str) -> Iterator[Need]:
    """The id of a volume is unique, whatever its file system."""
    id = call.parameters["VolumeId"]
    yield Need(action_of(call), f"arn:aws:fsx:{place}:volume/fs-1/{id}", (id,))


def _create_task(call: Call, place: str) -> Iterator[Need]:
    yield from _file_system(call, place)
    yield Need(action_of(call), f"arn:aws:fsx:{place}:task/*", ("task",))
    yield Need("fsx:TagResource", f"arn:aws:fsx:{place}:task/task-1", ("task/", "task-1"))


def _task(call: Call, place: str) -> Iterator[Need]:
    id = call.parameters["TaskId"]
    yield Need(action_of(call), f"arn:aws:fsx:{place}:task/{id}", (id,))


_ABOUT: Mapping[str, Callable[[Call, str], Iterator[Need]]] = {
    "cloudformation:DescribeStackResource": _named("StackName"),
    "cloudformation:DescribeStacks": _named("StackName"),
    "ec2:DescribeInstanceTypeOfferings": _no_resource,
    "ec2:DescribeNetworkInterfaces": _no_resource,
    "ec2:DescribeSubnets": _no_resource,
    "fsx:CancelDataRepositoryTask": _task,
    "fsx:CreateDataRepositoryTask": _create_task,
    "fsx:DescribeDataRepositoryTasks": _no_resource,
    "fsx:DescribeFileSystems": _no_resource,
    "fsx:DescribeVolumes": _no_resource,
    "fsx:UpdateFileSystem": _file_system,
    "fsx:UpdateVolume": _volume,
    "iam:GetRole": _role,
    **dict.fromkeys(("logs:AssociateKmsKey", "logs:CreateLogGroup", "logs:PutRetentionPolicy"), _log_group),
    "logs:GetLogEvents": _log_stream,
    "s3:DeleteObjects": _objects,
    "s3:GetObject": _objects,
    "s3:HeadBucket": _bucket,
    "s3:ListObjectsV2": _bucket,
    "s3:PutObject": _objects,
    "sagemaker:AddTags": _extension("ResourceArn"),
    "sagemaker:CreateClusterExtension": _create_extension,
    "sagemaker:DeleteClusterExtension": _extension("ExtensionArn"),
    "sagemaker:DeleteTags": _extension("ResourceArn"),
    "sagemaker:DescribeCluster": _named("ClusterName"),
    "sagemaker:DescribeClusterEvent": _named("ClusterName"),
    "sagemaker:DescribeClusterExtension": _extension("ExtensionArn"),
    "sagemaker:DescribeClusterNode": _named("ClusterName"),
    "sagemaker:DescribeTrainingPlan": _training_plan,
    "sagemaker:ListClusterEvents": _named("ClusterName"),
    "sagemaker:ListClusterExtensions": _named("ClusterArn"),
    "sagemaker:ListClusterNodes": _named("ClusterName"),
    "sagemaker:ListClusters": _no_resource,
    "sagemaker:ListTags": _extension("ResourceArn"),
    "sagemaker:UpdateCluster": _update_cluster,
    "sagemaker:UpdateClusterExtension": _extension("ExtensionArn"),
    "ssm:DeleteParameters": _parameters,
    "ssm:GetParametersByPath": _parameters,
    "ssm:PutParameter": _parameters,
    "service-quotas:ListAWSDefaultServiceQuotas": _no_resource,
    "service-quotas:ListServiceQuotas": _no_resource,
}
