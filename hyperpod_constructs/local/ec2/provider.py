"""What the CloudFormation providers of EC2 types share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import listed, mapped
from hyperpod_constructs.local.clients import Clients, ignoring
from hyperpod_constructs.local.provider import Provisioned

Properties = Mapping[str, Any]


class Ec2Provider:
    """A provider over boto3's EC2 client. Subclasses are the CloudFormation types, and declare the calls that serve them."""

    type_name: str
    creation: ClassVar[str]
    """The call that makes the resource."""
    arguments: ClassVar[tuple[str, ...]] = ()
    """The properties that it takes under their own names."""
    found_at: ClassVar[tuple[str, ...]]
    """Where its answer has the physical id."""
    deletion: ClassVar[str]
    """The call that deletes the resource, by the last name of `found_at`."""
    id_attribute: ClassVar[str] = "Id"
    """The attribute with the physical id."""
    tagged_as: ClassVar[str] = ""
    """EC2's name of the resource among those that have tags; none for a resource without."""

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the resource with its tags, and configure it."""
        ec2 = self.ec2(caller)
        tags = tag_specifications(self.tagged_as, properties.get("Tags", ())) if self.tagged_as else {}
        found = getattr(ec2, self.creation)(**self._wanted(properties, logical_id, stack), **tags)
        for name in self.found_at:
            found = found[name]
        self._configure(ec2, found, properties)
        return Provisioned(found, self._attributes(ec2, found))

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the resource in place, and its tags."""
        ec2 = self.ec2(caller)
        self._change(ec2, physical_id, old, new)
        self._configure(ec2, physical_id, new)
        if self.tagged_as:
            retag(ec2, physical_id, old, new)
        return Provisioned(physical_id, self._attributes(ec2, physical_id))

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the resource; EC2 refuses while another one needs it."""
        with ignoring(*GONE):
            getattr(self.ec2(caller), self.deletion)(**{self.found_at[-1]: physical_id})

    def remade(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Delete the resource, then create it with other properties, where two cannot exist at a time."""
        self.delete(physical_id, old, caller)
        return self.create(new, "", stack, caller)

    def ec2(self, caller: Caller) -> Any:
        """The EC2 client of the caller."""
        return self._clients("ec2", caller)

    def _wanted(self, properties: Properties, logical_id: str, stack: str) -> dict[str, Any]:
        """The arguments of the creation."""
        return given(properties, *self.arguments)

    def _change(self, ec2: Any, physical_id: str, old: Properties, new: Properties) -> None:
        """Call what only an update calls."""

    def _configure(self, ec2: Any, physical_id: str, properties: Properties) -> None:
        """Call what a creation and an update call alike."""

    def _attributes(self, ec2: Any, physical_id: str) -> dict[str, str]:
        return {self.id_attribute: physical_id}


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
    wanted = mapped(new.get("Tags") or ())
    gone = mapped(old.get("Tags") or ()).keys() - wanted.keys()
    if gone:
        ec2.delete_tags(Resources=[resource_id], Tags=[{"Key": key} for key in sorted(gone)])
    if wanted:
        ec2.create_tags(Resources=[resource_id], Tags=listed(wanted))


def document(value: Any) -> str:
    """A policy document of a template, which may be a string."""
    return value if isinstance(value, str) else json.dumps(value)


def boolean(value: Any) -> bool:
    """A boolean of a template, which may be a string."""
    return str(value).lower() == "true"


GONE = ("NotFound", ".Malformed", ".NotAttached")
"""How the codes of errors end with which EC2 says of a resource to delete: it does not exist."""


def refuse_update(type_name: str, what: str) -> AwsError:
    """The error for a change that the type does not take in place."""
    return AwsError("InvalidRequest", f"{type_name}: {what} cannot be changed in place")
