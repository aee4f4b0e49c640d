"""The stack that owns a cluster, and where its template states the count of a group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_constructs.cli.cloudformation import template_body
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import Cluster

TAG = "aws:cloudformation:stack-name"
_KINDS = ("InstanceGroups", "RestrictedInstanceGroups")
_DENIED = ("AccessDenied", "AccessDeniedException")
_GONE = ("DELETE_COMPLETE", "DELETE_SKIPPED")


@dataclass(frozen=True, slots=True)
class Owner:
    """A stack with the cluster. `logical_id` is empty where only the cluster's tag names the stack."""

    stack: str
    logical_id: str = ""


@dataclass(frozen=True, slots=True)
class Stated:
    """A group's count in a template: its path, and the count if it is written as a number."""

    path: str
    count: int | None


def owner_of(place: Place, cluster: Cluster) -> Owner | None:
    """The stack of a cluster; `None` if no stack has it.

    CloudFormation is asked. Where that is not allowed, a tag of the cluster may name the stack; without one, the error stays.
    """
    from botocore.exceptions import ClientError

    try:
        return holder(place, cluster.arn)
    except ClientError as error:
        if error.response["Error"]["Code"] not in _DENIED or (owner := _by_tag(place, cluster)) is None:
            raise
        return owner


def holder(place: Place, physical_id: str) -> Owner | None:
    """The stack that has a resource now; `None` if none has it."""
    from botocore.exceptions import ClientError

    try:
        found = place.client("cloudformation").describe_stack_resources(PhysicalResourceId=physical_id)["StackResources"]
    except ClientError as error:
        answer = error.response["Error"]
        if answer["Code"] == "ValidationError" and physical_id in answer.get("Message", ""):
            return None
        raise
    mine = [one for one in found if one.get("PhysicalResourceId") == physical_id and one["ResourceStatus"] not in _GONE]
    return Owner(mine[0]["StackName"], mine[0]["LogicalResourceId"]) if mine else None


def stated(place: Place, owner: Owner, group: str) -> Stated | None:
    """Where the owner's template states the count of a group; `None` if it does not name the group."""
    if not owner.logical_id:
        return None
    template = template_body(place.target, owner.stack)
    resource = _structure(_structure(template, "Resources"), owner.logical_id)
    for kind in _KINDS:
        groups = _structure(resource, "Properties").get(kind)
        for number, spec in enumerate(groups if isinstance(groups, list) else ()):
            if isinstance(spec, Mapping) and spec.get("InstanceGroupName") == group:
                count = spec.get("InstanceCount")
                number_in_template = count if isinstance(count, int) else None
                return Stated(f"Resources.{owner.logical_id}.Properties.{kind}[{number}].InstanceCount", number_in_template)
    return None


def _by_tag(place: Place, cluster: Cluster) -> Owner | None:
    from botocore.exceptions import ClientError

    try:
        tags = place.client("sagemaker").list_tags(ResourceArn=cluster.arn, MaxResults=100)["Tags"]
    except ClientError:
        return None
    return next((Owner(tag["Value"]) for tag in tags if tag["Key"] == TAG), None)


def _structure(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, Mapping) else {}
