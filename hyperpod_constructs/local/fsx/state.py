"""What the embedded FSx remembers: file systems and data repository associations, and when their state changes next."""

from __future__ import annotations

import secrets
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.changes import listed

_MOST_ACTIONS = 20


@dataclass(eq=False)
class Record:
    """A resource with a life: CREATING or UPDATING becomes AVAILABLE at the second `due`, DELETING becomes nothing."""

    identifier: str
    arn: str
    caller: Caller
    created: float
    due: float
    tags: dict[str, str]
    lifecycle: str = "CREATING"

    def move(self, lifecycle: str, due: float) -> None:
        """Enter a state that ends at a second."""
        self.lifecycle, self.due = lifecycle, due

    def advance(self, now: float) -> bool:
        """Settle if it is time; whether the resource still exists."""
        if self.due > now or self.lifecycle == "AVAILABLE":
            return True
        if self.lifecycle == "DELETING":
            return False
        self.lifecycle = "AVAILABLE"
        return True

    def common(self) -> dict[str, Any]:
        """The members of a description that all resources have."""
        answer: dict[str, Any] = {
            "ResourceARN": self.arn,
            "Lifecycle": self.lifecycle,
            "CreationTime": moment(self.created),
        }
        return answer | ({"Tags": listed(self.tags)} if self.tags else {})


@dataclass(eq=False)
class FileSystem(Record):
    """A file system; `request` holds the members of the request that made it, as updates have changed them.

    `actions` are its latest updates, and `looked` is the time of the last look. `squash` is a root squash that holds when the
    running update ends.
    """

    request: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    interfaces: list[str] = field(default_factory=list)
    mount_name: str = ""
    root_volume: str = ""
    actions: list[dict[str, Any]] = field(default_factory=list)
    squash: dict[str, Any] | None = None
    looked: float = 0.0

    @property
    def kind(self) -> str:
        """`LUSTRE` or `OPENZFS`."""
        return str(self.request["FileSystemType"])

    def advance(self, now: float) -> bool:
        """Settle if it is time, and with it the running update."""
        self.looked = now
        exists = super().advance(now)
        if self.lifecycle == "AVAILABLE":
            for action in self.actions:
                action["Status"] = "COMPLETED"
            if self.squash is not None:
                self.request["LustreConfiguration"] = {
                    **self.request.get("LustreConfiguration", {}),
                    "RootSquashConfiguration": self.squash,
                }
                self.squash = None
        return exists

    def begin_update(self, target: Mapping[str, Any], now: float) -> None:
        """Note an update, the newest first, as an administrative action."""
        action = {
            "AdministrativeActionType": "FILE_SYSTEM_UPDATE",
            "RequestTime": moment(now),
            "Status": "IN_PROGRESS",
            "TargetFileSystemValues": dict(target),
        }
        self.actions = [action, *self.actions][:_MOST_ACTIONS]

    def describe(self) -> dict[str, Any]:
        """The file system in DescribeFileSystems. The list of security groups is not told, as on AWS."""
        repeated = (
            "FileSystemType",
            "StorageCapacity",
            "StorageType",
            "SubnetIds",
            "KmsKeyId",
            "FileSystemTypeVersion",
            "NetworkType",
        )
        answer = {
            **self.common(),
            **{member: self.request[member] for member in repeated if member in self.request},
            **self.facts,
            "FileSystemId": self.identifier,
            "OwnerId": self.caller.account,
            "NetworkInterfaceIds": self.interfaces,
        }
        if self.actions:
            answer["AdministrativeActions"] = self.actions
        if self.kind == "LUSTRE":
            answer["LustreConfiguration"] = _lustre(self.request.get("LustreConfiguration", {}), self.mount_name)
        else:
            given = self.request["OpenZFSConfiguration"]
            kept = {key: value for key, value in given.items() if key != "RootVolumeConfiguration"}
            answer["OpenZFSConfiguration"] = {**kept, "RootVolumeId": self.root_volume}
        return answer


@dataclass(eq=False)
class Association(Record):
    """A data repository association; `request` as of `FileSystem`."""

    request: dict[str, Any] = field(default_factory=dict)

    @property
    def file_system(self) -> str:
        """The id of its file system."""
        return str(self.request["FileSystemId"])

    @property
    def exports(self) -> bool:
        """Whether it exports changes by itself."""
        return bool(self.request.get("S3", {}).get("AutoExportPolicy", {}).get("Events"))

    def describe(self) -> dict[str, Any]:
        """The association in DescribeDataRepositoryAssociations."""
        return {**self.common(), "AssociationId": self.identifier, **self.request}


R = TypeVar("R", bound=Record)


def mine(records: Mapping[str, R], caller: Caller) -> list[R]:
    """The resources of the caller's account and region."""
    home = (caller.account, caller.region)
    return [record for record in records.values() if (record.caller.account, record.caller.region) == home]


def find(records: Mapping[str, R], identifier: str, caller: Caller, code: str) -> R:
    """One of them.

    :raises AwsError: with the code, if there is none.
    """
    for record in mine(records, caller):
        if record.identifier == identifier:
            return record
    raise AwsError(code, f"'{identifier}' does not exist.")


def moment(seconds: float) -> datetime:
    """A time in an answer."""
    return datetime.fromtimestamp(seconds, UTC)


def new_id(prefix: str) -> str:
    """An id as FSx gives them: the prefix and 17 hexadecimal digits."""
    return f"{prefix}-{secrets.token_hex(9)[:17]}"


def new_mount_name() -> str:
    """Eight lowercase letters and digits."""
    return "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(8))


def _lustre(given: Mapping[str, Any], mount_name: str) -> dict[str, Any]:
    repository = ("ImportPath", "ExportPath", "ImportedFileChunkSize", "AutoImportPolicy")
    answer = {"DeploymentType": "SCRATCH_1", "DataCompressionType": "NONE", "MountName": mount_name}
    answer |= {key: value for key, value in given.items() if key not in repository}
    linked = {key: given[key] for key in repository if key in given}
    return answer | ({"DataRepositoryConfiguration": linked} if linked else {})
