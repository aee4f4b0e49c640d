"""The CloudFormation types AWS::FSx::FileSystem and AWS::FSx::DataRepositoryAssociation, over the FSx API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from botocore import xform_name

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import tag_changes
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.stable import Properties, StableProvider, request

HANDLER_SECONDS = 3600.0
CONFIGURATIONS = ("LustreConfiguration", "OpenZFSConfiguration")


class _FsxProvider(StableProvider):
    service = "fsx"
    creation: ClassVar[str]
    member: ClassVar[str]
    """The member of answers with the resource, and the beginning of its id's."""
    status, ready, busy, undeletable = "Lifecycle", "AVAILABLE", ("CREATING", "UPDATING"), ("DELETING",)

    def __init__(self, clients: Clients, timeout: float = HANDLER_SECONDS) -> None:
        super().__init__(clients, timeout)

    def _create(self, client: Any, properties: Properties, logical_id: str, stack: str) -> str:
        _deletion_options(properties)
        made = getattr(client, xform_name(self.creation))(**request(client, self.creation, properties))
        return str(made[self.member][f"{self.member}Id"])

    def _describe(self, client: Any, identifier: str) -> Any:
        operation = xform_name(self.creation).replace("create", "describe")
        return getattr(client, f"{operation}s")(**{f"{self.member}Ids": [identifier]})[f"{self.member}s"][0]

    def _delete(self, client: Any, identifier: str) -> None:
        getattr(client, xform_name(self.creation).replace("create", "delete"))(**{f"{self.member}Id": identifier})

    def _failure(self, described: Mapping[str, Any]) -> AwsError:
        cause = described.get("FailureDetails", {}).get("Message", "no cause was given")
        identifier = self._provisioned(described).physical_id
        return AwsError("NotStabilized", f"Resource of type '{self.type_name}' {identifier} is {described['Lifecycle']}: {cause}")


class FileSystemProvider(_FsxProvider):
    """Creates, updates and deletes file systems. `Ref` is the id.

    A change of a property that UpdateFileSystem does not take, such as DeploymentType, is refused: the schema does not call these
    create-only, and the documentation of some says that they replace the file system. BackupId is not served. A deletion takes no
    final backup.
    """

    type_name = "AWS::FSx::FileSystem"
    creation, member = "CreateFileSystem", "FileSystem"
    missing = "FileSystemNotFound"

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Update in place what UpdateFileSystem takes, and the tags."""
        fsx = self._client(caller)
        self._stable(fsx, physical_id)
        _deletion_options(new)
        before, after = (request(fsx, self.creation, each) for each in (old, new))
        change = _change(before, after)
        _check_updatable(physical_id, change, fsx.meta.service_model.operation_model("UpdateFileSystem").input_shape.members)
        if change:
            fsx.update_file_system(FileSystemId=physical_id, **change)
        described = self._stable(fsx, physical_id)
        if described["Lifecycle"] != "AVAILABLE":
            raise self._failure(described)
        _update_tags(fsx, described["ResourceARN"], before, after)
        return self._provisioned(described)

    def _provisioned(self, described: Mapping[str, Any]) -> Provisioned:
        attributes = {
            "Id": described["FileSystemId"],
            "DNSName": described["DNSName"],
            "ResourceARN": described["ResourceARN"],
            "LustreMountName": described.get("LustreConfiguration", {}).get("MountName"),
            "RootVolumeId": described.get("OpenZFSConfiguration", {}).get("RootVolumeId"),
        }
        return Provisioned(described["FileSystemId"], {key: value for key, value in attributes.items() if value is not None})


class DataRepositoryAssociationProvider(_FsxProvider):
    """Creates, updates and deletes links between a file system and S3. `Ref` is the id. Deleting one keeps the files."""

    type_name = "AWS::FSx::DataRepositoryAssociation"
    creation, member = "CreateDataRepositoryAssociation", "Association"
    missing = "DataRepositoryAssociationNotFound"

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Update the policies, the chunk size and the tags."""
        fsx = self._client(caller)
        self._stable(fsx, physical_id)
        before, after = (request(fsx, self.creation, each) for each in (old, new))
        change = {key: after[key] for key in ("S3", "ImportedFileChunkSize") if key in after and after[key] != before.get(key)}
        if change:
            fsx.update_data_repository_association(AssociationId=physical_id, **change)
        described = self._stable(fsx, physical_id)
        _update_tags(fsx, described["ResourceARN"], before, after)
        return self._provisioned(described)

    def _provisioned(self, described: Mapping[str, Any]) -> Provisioned:
        attributes = {"AssociationId": described["AssociationId"], "ResourceARN": described["ResourceARN"]}
        return Provisioned(described["AssociationId"], attributes)


def _deletion_options(properties: Mapping[str, Any]) -> None:
    """Read the one property that is for the deletion: what may be deleted with an OpenZFS file system; here there is nothing."""
    (properties.get("OpenZFSConfiguration") or {}).get("Options")


def _change(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    change: dict[str, Any] = {}
    for key in sorted({*before, *after} - {"Tags"}):
        if before.get(key) == after.get(key):
            continue
        if key in CONFIGURATIONS:
            old, new = before.get(key, {}), after.get(key, {})
            changes = {name: new.get(name) for name in sorted({*old, *new}) if old.get(name) != new.get(name)}
            change[key] = {**changes, **_table_changes(old, new)} if "RouteTableIds" in changes else changes
            change[key].pop("RouteTableIds", None)
        else:
            change[key] = after.get(key)
    return change


def _table_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, list[str]]:
    """The route tables of a file system in several zones, as the API takes them: those to add and those to remove."""
    before, after = old.get("RouteTableIds", ()), new.get("RouteTableIds", ())
    changes = {
        "AddRouteTableIds": [table for table in after if table not in before],
        "RemoveRouteTableIds": [table for table in before if table not in after],
    }
    return {name: tables for name, tables in changes.items() if tables}


def _check_updatable(identifier: str, change: Mapping[str, Any], members: Mapping[str, Any]) -> None:
    for key, value in change.items():
        names = {f"{key}.{name}": item for name, item in value.items()} if key in CONFIGURATIONS else {key: value}
        known = {f"{key}.{name}" for name in members[key].members} if key in CONFIGURATIONS else set(members)
        for name, item in names.items():
            if name not in known or item is None:
                how = "taken away" if item is None else "changed"
                raise AwsError(
                    "NotUpdatable", f"{name} of {identifier} cannot be {how} in place; create a new file system, or keep it"
                )


def _update_tags(fsx: Any, arn: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    changed, removed = tag_changes(before.get("Tags", ()), after.get("Tags", ()))
    if changed:
        fsx.tag_resource(ResourceARN=arn, Tags=changed)
    if removed:
        fsx.untag_resource(ResourceARN=arn, TagKeys=removed)
