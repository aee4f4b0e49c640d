"""The CloudFormation types AWS::FSx::FileSystem and AWS::FSx::DataRepositoryAssociation, over the FSx API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.conversion import parameters
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.service import AwsError, Caller
from hyperpod_constructs.local.tagging import tag_changes
from hyperpod_constructs.local.waiting import wait

HANDLER_SECONDS = 3600.0
BUSY = ("CREATING", "UPDATING")
CONFIGURATIONS = ("LustreConfiguration", "OpenZFSConfiguration")


class FileSystemProvider:
    """Creates, updates and deletes file systems. `Ref` is the id.

    A change of a property that UpdateFileSystem does not take, such as DeploymentType, is refused: the schema does not call these
    create-only, and the documentation of some says that they replace the file system. BackupId is not served.
    """

    type_name = "AWS::FSx::FileSystem"
    create_only = frozenset({"KmsKeyId", "SecurityGroupIds", "FileSystemType", "SubnetIds", "BackupId"})

    def __init__(self, clients: Clients, timeout: float = HANDLER_SECONDS) -> None:
        self._clients = clients
        self._timeout = timeout

    def create(self, properties: Mapping[str, Any], logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create a file system and wait until it is AVAILABLE; one that fails is deleted."""
        fsx = self._clients("fsx", caller)
        _deletion_options(properties)
        identifier = str(fsx.create_file_system(**_request(fsx, "CreateFileSystem", properties))["FileSystem"]["FileSystemId"])
        described = self._stable(fsx, identifier)
        if described["Lifecycle"] != "AVAILABLE":
            self.delete(identifier, properties, caller)
            raise _failure(self.type_name, identifier, described)
        return _file_system(described)

    def update(self, physical_id: str, old: Mapping[str, Any], new: Mapping[str, Any], stack: str, caller: Caller) -> Provisioned:
        """Update in place what UpdateFileSystem takes, and the tags."""
        fsx = self._clients("fsx", caller)
        self._stable(fsx, physical_id)
        _deletion_options(new)
        before, after = _request(fsx, "CreateFileSystem", old), _request(fsx, "CreateFileSystem", new)
        change = _change(before, after)
        _check_updatable(physical_id, change, fsx.meta.service_model.operation_model("UpdateFileSystem").input_shape.members)
        if change:
            fsx.update_file_system(FileSystemId=physical_id, **change)
        described = self._stable(fsx, physical_id)
        if described["Lifecycle"] != "AVAILABLE":
            raise _failure(self.type_name, physical_id, described)
        _update_tags(fsx, described["ResourceARN"], before, after)
        return _file_system(described)

    def delete(self, physical_id: str, properties: Mapping[str, Any], caller: Caller) -> None:
        """Delete the file system with its associations, and wait until it is gone; no final backup is taken."""
        fsx = self._clients("fsx", caller)
        _delete(
            lambda: fsx.describe_file_systems(FileSystemIds=[physical_id])["FileSystems"][0]["Lifecycle"],
            lambda: fsx.delete_file_system(FileSystemId=physical_id),
            "FileSystemNotFound",
            self._timeout,
            physical_id,
        )

    def _stable(self, fsx: Any, identifier: str) -> Mapping[str, Any]:
        def described() -> Mapping[str, Any] | None:
            found: Mapping[str, Any] = fsx.describe_file_systems(FileSystemIds=[identifier])["FileSystems"][0]
            return None if found["Lifecycle"] in BUSY else found

        return wait(described, self._timeout, identifier)


class DataRepositoryAssociationProvider:
    """Creates, updates and deletes links between a file system and S3. `Ref` is the id. Deleting one keeps the files."""

    type_name = "AWS::FSx::DataRepositoryAssociation"
    create_only = frozenset({"FileSystemId", "FileSystemPath", "DataRepositoryPath", "BatchImportMetaDataOnCreate"})

    def __init__(self, clients: Clients, timeout: float = HANDLER_SECONDS) -> None:
        self._clients = clients
        self._timeout = timeout

    def create(self, properties: Mapping[str, Any], logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create an association and wait until it is AVAILABLE; one that fails is deleted."""
        fsx = self._clients("fsx", caller)
        request = _request(fsx, "CreateDataRepositoryAssociation", properties)
        identifier = str(fsx.create_data_repository_association(**request)["Association"]["AssociationId"])
        described = self._stable(fsx, identifier)
        if described["Lifecycle"] != "AVAILABLE":
            self.delete(identifier, properties, caller)
            raise _failure(self.type_name, identifier, described)
        return _association(described)

    def update(self, physical_id: str, old: Mapping[str, Any], new: Mapping[str, Any], stack: str, caller: Caller) -> Provisioned:
        """Update the policies, the chunk size and the tags."""
        fsx = self._clients("fsx", caller)
        self._stable(fsx, physical_id)
        before = _request(fsx, "CreateDataRepositoryAssociation", old)
        after = _request(fsx, "CreateDataRepositoryAssociation", new)
        change = {key: after[key] for key in ("S3", "ImportedFileChunkSize") if key in after and after[key] != before.get(key)}
        if change:
            fsx.update_data_repository_association(AssociationId=physical_id, **change)
        described = self._stable(fsx, physical_id)
        _update_tags(fsx, described["ResourceARN"], before, after)
        return _association(described)

    def delete(self, physical_id: str, properties: Mapping[str, Any], caller: Caller) -> None:
        """Delete the association and wait until it is gone, which it is with its file system too."""
        fsx = self._clients("fsx", caller)
        _delete(
            lambda: fsx.describe_data_repository_associations(AssociationIds=[physical_id])["Associations"][0]["Lifecycle"],
            lambda: fsx.delete_data_repository_association(AssociationId=physical_id),
            "DataRepositoryAssociationNotFound",
            self._timeout,
            physical_id,
        )

    def _stable(self, fsx: Any, identifier: str) -> Mapping[str, Any]:
        def described() -> Mapping[str, Any] | None:
            found: Mapping[str, Any] = fsx.describe_data_repository_associations(AssociationIds=[identifier])["Associations"][0]
            return None if found["Lifecycle"] in BUSY else found

        return wait(described, self._timeout, identifier)


def _request(fsx: Any, operation: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return parameters(fsx.meta.service_model.operation_model(operation).input_shape, properties)


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
            change[key] = {name: new.get(name) for name in sorted({*old, *new}) if old.get(name) != new.get(name)}
        else:
            change[key] = after.get(key)
    return change


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


def _delete(lifecycle: Callable[[], str], delete: Callable[[], Any], missing: str, timeout: float, what: str) -> None:
    def gone() -> bool | None:
        try:
            if lifecycle() != "DELETING":
                delete()
        except ClientError as error:
            if error.response["Error"]["Code"] != missing:
                raise
            return True
        return None

    wait(gone, timeout, f"the deletion of {what}")


def _failure(type_name: str, identifier: str, described: Mapping[str, Any]) -> AwsError:
    cause = described.get("FailureDetails", {}).get("Message", "no cause was given")
    return AwsError("NotStabilized", f"Resource of type '{type_name}' {identifier} is {described['Lifecycle']}: {cause}")


def _file_system(described: Mapping[str, Any]) -> Provisioned:
    attributes = {
        "Id": described["FileSystemId"],
        "DNSName": described["DNSName"],
        "ResourceARN": described["ResourceARN"],
        "LustreMountName": described.get("LustreConfiguration", {}).get("MountName"),
        "RootVolumeId": described.get("OpenZFSConfiguration", {}).get("RootVolumeId"),
    }
    return Provisioned(described["FileSystemId"], {key: value for key, value in attributes.items() if value is not None})


def _association(described: Mapping[str, Any]) -> Provisioned:
    attributes = {"AssociationId": described["AssociationId"], "ResourceARN": described["ResourceARN"]}
    return Provisioned(described["AssociationId"], attributes)
