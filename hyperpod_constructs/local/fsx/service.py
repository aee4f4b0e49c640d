"""The embedded Amazon FSx: file systems of Lustre and OpenZFS, links and tasks, root volumes, snapshots, tags.

State moves when it is looked at, by the time that has passed. No data is stored, imported or exported, and root squash changes
nothing on virtual nodes. Not published, and decided here: the wording of errors; an update takes the file system through UPDATING,
with one administrative action, and a new root squash holds when it ends; the interface goes when a deletion begins.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import listed, mapped
from hyperpod_constructs.local.clients import Clients, dns_suffix, partition
from hyperpod_constructs.local.faults import Faults
from hyperpod_constructs.local.fsx.checks import (
    UPDATABLE,
    check_create,
    check_update,
    configured,
    default_version,
    described,
    refusal,
)
from hyperpod_constructs.local.fsx.links import check_association
from hyperpod_constructs.local.fsx.logs import check_log_group
from hyperpod_constructs.local.fsx.network import check_network, close_interface, open_interface
from hyperpod_constructs.local.fsx.state import Association, FileSystem, Record, find, mine, new_id, new_mount_name
from hyperpod_constructs.local.fsx.tasks import Task, Tasks
from hyperpod_constructs.local.fsx.volumes import Volumes
from hyperpod_constructs.local.paging import page
from hyperpod_constructs.local.timed_service import Operation, Parameters, TimedService

INVALID = "BadRequest"
NO_FILE_SYSTEM, NO_ASSOCIATION = "FileSystemNotFound", "DataRepositoryAssociationNotFound"


class Fsx(TimedService):
    """Amazon FSx. `clock` gives seconds since the epoch; the real time unless a test gives another."""

    name = "fsx"

    def __init__(self, faults: Faults, clients: Clients, clock: Callable[[], float] = time.time) -> None:
        self._clients = clients
        self._file_systems: dict[str, FileSystem] = {}
        self._associations: dict[str, Association] = {}
        self._tasks = Tasks(clients)
        self._volumes = Volumes(self._due)
        self._tokens: dict[tuple[Caller, str], str] = {}
        operations: dict[str, Operation] = {
            "CreateFileSystem": self._create_file_system,
            "DescribeFileSystems": self._describe_file_systems,
            "UpdateFileSystem": self._update_file_system,
            "DeleteFileSystem": self._delete_file_system,
            "CreateDataRepositoryAssociation": self._create_association,
            "DescribeDataRepositoryAssociations": self._describe_associations,
            "UpdateDataRepositoryAssociation": self._update_association,
            "DeleteDataRepositoryAssociation": self._delete_association,
            "CreateDataRepositoryTask": self._create_task,
            "DescribeDataRepositoryTasks": lambda parameters, caller, now: self._tasks.describe(parameters, caller),
            "CancelDataRepositoryTask": lambda parameters, caller, now: self._tasks.cancel(parameters, caller, now),
            "DescribeVolumes": self._volumes.describe,
            "UpdateVolume": self._volumes.update,
            "CreateSnapshot": self._volumes.create_snapshot,
            "DescribeSnapshots": self._volumes.describe_snapshots,
            "DeleteSnapshot": self._volumes.delete_snapshot,
            "TagResource": self._tag,
            "UntagResource": self._untag,
            "ListTagsForResource": self._list_tags,
        }
        super().__init__(faults, clock, operations)

    def _advance(self, now: float) -> None:
        self._file_systems = {key: record for key, record in self._file_systems.items() if record.advance(now)}
        self._associations = {key: record for key, record in self._associations.items() if record.advance(now)}
        self._tasks.advance(now)
        self._volumes.advance(now, self._file_systems)

    def reset(self) -> None:
        """Forget every file system."""
        with self._lock:
            self._file_systems.clear()
            self._associations.clear()
            self._tasks.clear()
            self._volumes.clear()
            self._tokens.clear()

    def _due(self, now: float) -> float:
        return now + self.faults.slow_creation

    def _create_file_system(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        request = {key: value for key, value in parameters.items() if key not in ("ClientRequestToken", "Tags")}
        token = (caller, parameters.get("ClientRequestToken", ""))
        earlier = self._file_systems.get(self._tokens.get(token, "")) if token[1] else None
        if earlier is not None:
            return {"FileSystem": earlier.describe()}
        check_create(request)
        self._check_logs(request, caller)
        ec2 = self._clients("ec2", caller)
        vpc, groups = check_network(ec2, request)
        identifier = new_id("fs")
        record = FileSystem(
            identifier,
            _arn(caller, f"file-system/{identifier}"),
            caller,
            now,
            self._due(now),
            mapped(parameters.get("Tags", ())),
            request={"StorageType": "SSD", **request},
            facts={"VpcId": vpc, "DNSName": f"{identifier}.fsx.{caller.region}.{dns_suffix(caller.region)}"},
        )
        if record.kind == "LUSTRE":
            lustre = request.get("LustreConfiguration", {})
            record.request.setdefault("FileSystemTypeVersion", default_version(lustre))
            # The first generation of scratch file systems has one mount name for all.
            record.mount_name = "fsx" if lustre.get("DeploymentType", "SCRATCH_1") == "SCRATCH_1" else new_mount_name()
        else:
            record.root_volume = new_id("fsvol")
            self._volumes.add(record.root_volume, record, request["OpenZFSConfiguration"].get("RootVolumeConfiguration", {}))
        record.interfaces = [open_interface(ec2, subnet, groups, record.arn) for subnet in request["SubnetIds"]]
        self._file_systems[identifier] = record
        self._tokens[token] = identifier
        return {"FileSystem": record.describe()}

    def _describe_file_systems(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        wanted = parameters.get("FileSystemIds", ())
        found = [find(self._file_systems, name, caller, NO_FILE_SYSTEM) for name in wanted]
        chosen = found if wanted else mine(self._file_systems, caller)
        records, following = page(chosen, parameters, 100, INVALID)
        return {"FileSystems": [record.describe() for record in records], **following}

    def _update_file_system(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        record = find(self._file_systems, parameters["FileSystemId"], caller, NO_FILE_SYSTEM)
        _require_available(record)
        check_update(record.kind, record.request, parameters)
        self._check_logs(parameters, caller)
        member = "LustreConfiguration" if record.kind == "LUSTRE" else "OpenZFSConfiguration"
        change = dict(parameters.get(member, {}))
        if change.get("AutomaticBackupRetentionDays") and self._links(record):
            raise refusal(f"{record.identifier} has data repository associations, which exclude automatic backups")
        outer = {key: parameters[key] for key in UPDATABLE if key in parameters}
        record.begin_update(outer | ({member: described(change)} if change else {}), now)
        record.request |= outer
        record.squash = change.pop("RootSquashConfiguration", None)
        if change:
            record.request[member] = configured(record.request.get(member, {}), change)
        record.move("UPDATING", self._due(now))
        return {"FileSystem": record.describe()}

    def _delete_file_system(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        record = find(self._file_systems, parameters["FileSystemId"], caller, NO_FILE_SYSTEM)
        task = self._tasks.running(record.identifier)
        if task is not None:
            raise refusal(
                f"{record.identifier} has the running data repository task {task.identifier}; cancel it, or wait for its end"
            )
        if record.lifecycle != "DELETING":
            for interface in record.interfaces:
                close_interface(self._clients("ec2", record.caller), interface)
            for each in (record, *self._links(record)):
                each.move("DELETING", self._due(now))
        return {"FileSystemId": record.identifier, "Lifecycle": "DELETING"}

    def _check_logs(self, request: Parameters, caller: Caller) -> None:
        destination = request.get("LustreConfiguration", {}).get("LogConfiguration", {}).get("Destination")
        if destination is not None:
            check_log_group(self._clients("logs", caller), destination, _arn(caller, "").replace(":fsx:", ":logs:"))

    def _create_task(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        file_system = find(self._file_systems, parameters["FileSystemId"], caller, NO_FILE_SYSTEM)
        links = [link for link in self._links(file_system) if link.lifecycle in ("AVAILABLE", "UPDATING")]
        return self._tasks.create(parameters, caller, _arn(caller, "task/"), file_system, links, self.faults.slow_creation)

    def _links(self, record: FileSystem) -> list[Association]:
        return [link for link in self._associations.values() if link.file_system == record.identifier]

    def _create_association(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        defaults = {"FileSystemPath": "/", "BatchImportMetaDataOnCreate": False, "ImportedFileChunkSize": 1024}
        request = {**defaults, **{key: value for key, value in parameters.items() if key not in ("ClientRequestToken", "Tags")}}
        file_system = find(self._file_systems, request["FileSystemId"], caller, NO_FILE_SYSTEM)
        check_association(file_system, self._links(file_system), request, self._clients("s3", caller))
        identifier = new_id("dra")
        arn = _arn(caller, f"association/{file_system.identifier}/{identifier}")
        record = Association(identifier, arn, caller, now, self._due(now), mapped(parameters.get("Tags", ())), request=request)
        self._associations[identifier] = record
        return {"Association": record.describe()}

    def _describe_associations(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        wanted = parameters.get("AssociationIds", ())
        found = [find(self._associations, name, caller, NO_ASSOCIATION) for name in wanted]
        chosen = found if wanted else mine(self._associations, caller)
        for condition in parameters.get("Filters", ()):
            name, values = condition.get("Name"), condition.get("Values", ())
            if name == "file-system-id":
                chosen = [link for link in chosen if link.file_system in values]
            elif name == "data-repository-type":
                chosen = chosen if "S3" in values else []
            else:
                raise refusal(f"the filter {name} is not for data repository associations; write file-system-id")
        records, following = page(chosen, parameters, 25, INVALID)
        return {"Associations": [record.describe() for record in records], **following}

    def _update_association(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        record = find(self._associations, parameters["AssociationId"], caller, NO_ASSOCIATION)
        _require_available(record)
        record.request |= {key: parameters[key] for key in ("S3", "ImportedFileChunkSize") if key in parameters}
        record.move("UPDATING", self._due(now))
        return {"Association": record.describe()}

    def _delete_association(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        record = find(self._associations, parameters["AssociationId"], caller, NO_ASSOCIATION)
        if record.lifecycle != "DELETING":
            record.move("DELETING", self._due(now))
        remove = bool(parameters.get("DeleteDataInFileSystem", False))
        return {"AssociationId": record.identifier, "Lifecycle": "DELETING", "DeleteDataInFileSystem": remove}

    def _tagged(self, parameters: Parameters) -> Record | Task:
        for record in (*self._file_systems.values(), *self._associations.values()):
            if record.arn == parameters["ResourceARN"]:
                return record
        task = self._tasks.tagged(parameters["ResourceARN"])
        found = self._volumes.tagged(parameters["ResourceARN"]) if task is None else task
        if found is not None:
            return found
        raise AwsError("ResourceNotFound", f"there is no resource {parameters['ResourceARN']}")

    def _tag(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        self._tagged(parameters).tags.update(mapped(parameters["Tags"]))
        return {}

    def _untag(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        record = self._tagged(parameters)
        record.tags = {key: value for key, value in record.tags.items() if key not in parameters["TagKeys"]}
        return {}

    def _list_tags(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        tags = self._tagged(parameters).tags
        return {"Tags": listed(tags)} if tags else {}


def _arn(caller: Caller, resource: str) -> str:
    return f"arn:{partition(caller.region)}:fsx:{caller.region}:{caller.account}:{resource}"


def _require_available(record: Record) -> None:
    if record.lifecycle != "AVAILABLE":
        raise refusal(f"{record.identifier} is {record.lifecycle}; it must be AVAILABLE")
