"""What the CloudFormation providers of EC2 types share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.service import AwsError, Caller

Properties = Mapping[str, Any]


class Ec2Provider:
    """A provider over boto3's EC2 client. Subclasses are the CloudFormation types."""

    type_name: str
    create_only: frozenset[str] = frozenset()

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def ec2(self, caller: Caller) -> Any:
        """The EC2 client of the caller."""
        return self._clients("ec2", caller)


def given(properties: Properties, *names: str, **renamed: str) -> dict[str, Any]:
    """The arguments of an API call: the named properties that the template sets; `renamed` is argument=property."""
    wanted = {name: name for name in names} | renamed
    return {argument: value for argument, name in wanted.items() if (value := properties.get(name)) is not None}


def tag_specifications(kind: str, tags: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """The argument with which EC2 tags a resource at its creation; none without tags."""
    pairs = tag_list(tags)
    return {"TagSpecifications": [{"ResourceType": kind, "Tags": pairs}]} if pairs else {}


def tag_list(tags: Iterable[Mapping[str, str]] | None) -> list[dict[str, str]]:
    """The `Tags` of a template as the API takes them."""
    return [{"Key": tag["Key"], "Value": tag["Value"]} for tag in tags or ()]


def retag(ec2: Any, resource_id: str, old: Properties, new: Properties) -> None:
    """Make the tags of a resource those of the new properties; tags from elsewhere stay."""
    wanted = {tag["Key"]: tag["Value"] for tag in tag_list(new.get("Tags"))}
    gone = [key for key in (tag["Key"] for tag in tag_list(old.get("Tags"))) if key not in wanted]
    if gone:
        ec2.delete_tags(Resources=[resource_id], Tags=[{"Key": key} for key in gone])
    if wanted:
        ec2.create_tags(Resources=[resource_id], Tags=[{"Key": key, "Value": value} for key, value in wanted.items()])


def boolean(value: Any) -> bool:
    """A boolean of a template, which may be a string."""
    return str(value).lower() == "true"


def unless_gone(delete: Callable[[], Any]) -> None:
    """Delete; a resource that does not exist is a success."""
    try:
        delete()
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if not code.endswith((".NotFound", ".Malformed", "NotFound")):
            raise


def refuse_update(type_name: str, what: str) -> AwsError:
    """The error for a change that the type does not take in place."""
    return AwsError("InvalidRequest", f"{type_name}: {what} cannot be changed in place")


def until(done: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Wait for a state. Raises AwsError after that many seconds."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise AwsError("NotStabilized", f"{what} did not stabilize within {seconds:g} seconds")
        time.sleep(0.05)
