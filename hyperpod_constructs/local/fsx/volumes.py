"""Root volumes of OpenZFS file systems in the embedded FSx, and snapshots of them.

No data is stored, and quotas hold nobody back. Not published, and decided here: the wording of errors; one update of a volume at a
time, which holds when it ends; a list of quotas replaces the one before, and a quota of 0 GiB is none; snapshots go with their file
system. Child volumes are not served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hyperpod_constructs.facts import openzfs
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.changes import mapped
from hyperpod_constructs.local.fsx.checks import check_volume, refusal
from hyperpod_constructs.local.fsx.state import FileSystem, Record, find, mine, moment, new_id
from hyperpod_constructs.local.paging import page

Parameters = Mapping[str, Any]
R = TypeVar("R", bound=Record)
NO_VOLUME, NO_SNAPSHOT = "VolumeNotFound", "SnapshotNotFound"
DEFAULTS: Mapping[str, Any] = {
    "CopyTagsToSnapshots": False,
    "DataCompressionType": "NONE",
    "NfsExports": [{"ClientConfigurations": [{"Clients": "*", "Options": ["crossmnt"]}]}],
    "ReadOnly": False,
    "RecordSizeKiB": 128,
    "UserAndGroupQuotas": [],
}


@dataclass(eq=False)
class Volume(Record):
    """The root volume of a file system; `configuration` is what holds, and `target` what the running update changes."""

    file_system: str = ""
    configuration: dict[str, Any] = field(default_factory=dict)
    target: dict[str, Any] | None = None
    asked: float = 0.0
    updated: dict[str, Any] | None = None

    def advance(self, now: float) -> bool:
        """Settle, and with it the running update."""
        exists = super().advance(now)
        if self.target is not None and now >= self.due:
            self.configuration |= self.target
            self.updated, self.target = self.target, None
        return exists

    def describe(self) -> dict[str, Any]:
        """The volume in DescribeVolumes, with its last update."""
        answer = {
            **self.common(),
            "FileSystemId": self.file_system,
            "Name": openzfs.ROOT_VOLUME,
            "VolumeId": self.identifier,
            "VolumeType": "OPENZFS",
            "OpenZFSConfiguration": {**DEFAULTS, **self.configuration, "VolumePath": f"/{openzfs.ROOT_VOLUME}"},
        }
        target = self.updated if self.target is None else self.target
        if target is None:
            return answer
        action = {
            "AdministrativeActionType": "VOLUME_UPDATE",
            "RequestTime": moment(self.asked),
            "Status": "COMPLETED" if self.target is None else "IN_PROGRESS",
            "TargetVolumeValues": {"OpenZFSConfiguration": target},
        }
        return {**answer, "AdministrativeActions": [action]}


@dataclass(eq=False)
class Snapshot(Record):
    """A snapshot of a root volume."""

    name: str = ""
    volume: str = ""
    file_system: str = ""

    def describe(self) -> dict[str, Any]:
        """The snapshot in DescribeSnapshots."""
        return {**self.common(), "SnapshotId": self.identifier, "Name": self.name, "VolumeId": self.volume}


class Volumes:
    """The volumes and snapshots of all accounts. `due` is when a change that begins now ends."""

    def __init__(self, due: Callable[[float], float]) -> None:
        self._due = due
        self._volumes: dict[str, Volume] = {}
        self._snapshots: dict[str, Snapshot] = {}
        self._tokens: dict[tuple[Caller, str], str] = {}

    def add(self, identifier: str, file_system: FileSystem, configuration: Mapping[str, Any]) -> None:
        """The root volume of a new file system."""
        arn = f"{file_system.arn.replace(':file-system/', ':volume/')}/{identifier}"
        self._volumes[identifier] = Volume(
            identifier,
            arn,
            file_system.caller,
            file_system.created,
            file_system.due,
            {},
            file_system=file_system.identifier,
            configuration=dict(configuration),
        )

    def advance(self, now: float, file_systems: Iterable[str]) -> None:
        """Enter the state of a second; the volumes of file systems that are gone go too."""
        there = set(file_systems)
        self._volumes = {key: one for key, one in self._volumes.items() if one.file_system in there and one.advance(now)}
        self._snapshots = {key: one for key, one in self._snapshots.items() if one.file_system in there and one.advance(now)}

    def clear(self) -> None:
        """Forget every volume."""
        self._volumes.clear()
        self._snapshots.clear()
        self._tokens.clear()

    def tagged(self, arn: str) -> Record | None:
        """The volume or snapshot with an ARN."""
        return next((one for one in (*self._volumes.values(), *self._snapshots.values()) if one.arn == arn), None)

    def describe(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """DescribeVolumes."""
        chosen = _chosen(self._volumes, parameters, "VolumeIds", caller, NO_VOLUME)
        for name, values in _filters(parameters, ("file-system-id",)):
            chosen = [one for one in chosen if {"file-system-id": one.file_system}[name] in values]
        records, following = page(chosen, parameters, 20, "BadRequest")
        return {"Volumes": [one.describe() for one in records], **following}

    def update(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """UpdateVolume."""
        volume = find(self._volumes, parameters["VolumeId"], caller, NO_VOLUME)
        if parameters.get("Name", openzfs.ROOT_VOLUME) != openzfs.ROOT_VOLUME:
            raise refusal("Name of a root volume cannot be changed")
        if volume.lifecycle != "AVAILABLE" or volume.target is not None:
            raise refusal(f"{volume.identifier} is {volume.lifecycle} and has an update in progress; wait for its end")
        change = dict(parameters.get("OpenZFSConfiguration", {}))
        check_volume({**volume.configuration, **change})
        if "UserAndGroupQuotas" in change:
            change["UserAndGroupQuotas"] = [quota for quota in change["UserAndGroupQuotas"] if quota["StorageCapacityQuotaGiB"] > 0]
        volume.target, volume.asked, volume.due = change, now, self._due(now)
        return {"Volume": volume.describe()}

    def create_snapshot(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """CreateSnapshot. The same token gives the same snapshot."""
        token = (caller, parameters.get("ClientRequestToken", ""))
        earlier = self._snapshots.get(self._tokens.get(token, "")) if token[1] else None
        if earlier is not None:
            return {"Snapshot": earlier.describe()}
        volume = find(self._volumes, parameters["VolumeId"], caller, NO_VOLUME)
        name = parameters["Name"]
        if any((one.volume, one.name) == (volume.identifier, name) for one in self._snapshots.values()):
            raise refusal(f"{volume.identifier} has a snapshot {name} already")
        identifier = new_id("fsvolsnap")
        arn = f"{volume.arn.partition(':volume/')[0]}:snapshot/{volume.identifier}/{identifier}"
        snapshot = Snapshot(
            identifier,
            arn,
            caller,
            now,
            self._due(now),
            mapped(parameters.get("Tags", ())),
            name=name,
            volume=volume.identifier,
            file_system=volume.file_system,
        )
        self._snapshots[identifier] = snapshot
        self._tokens[token] = identifier
        return {"Snapshot": snapshot.describe()}

    def describe_snapshots(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """DescribeSnapshots."""
        chosen = _chosen(self._snapshots, parameters, "SnapshotIds", caller, NO_SNAPSHOT)
        for name, values in _filters(parameters, ("file-system-id", "volume-id")):
            chosen = [one for one in chosen if {"file-system-id": one.file_system, "volume-id": one.volume}[name] in values]
        records, following = page(chosen, parameters, 20, "BadRequest")
        return {"Snapshots": [one.describe() for one in records], **following}

    def delete_snapshot(self, parameters: Parameters, caller: Caller, now: float) -> dict[str, Any]:
        """DeleteSnapshot."""
        snapshot = find(self._snapshots, parameters["SnapshotId"], caller, NO_SNAPSHOT)
        snapshot.move("DELETING", self._due(now))
        return {"SnapshotId": snapshot.identifier, "Lifecycle": snapshot.lifecycle}


def _filters(parameters: Parameters, known: tuple[str, ...]) -> list[tuple[str, list[str]]]:
    found = [(condition.get("Name", ""), condition.get("Values", [])) for condition in parameters.get("Filters", ())]
    for name, _ in found:
        if name not in known:
            raise refusal(f"the filter {name} is not served here; write {' or '.join(known)}")
    return found


def _chosen(records: Mapping[str, R], parameters: Parameters, key: str, caller: Caller, code: str) -> list[R]:
    wanted = parameters.get(key, ())
    return [find(records, name, caller, code) for name in wanted] if wanted else mine(records, caller)
