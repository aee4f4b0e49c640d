"""Takes a snapshot of a volume of OpenZFS by a schedule, and deletes those of the schedule that are beyond the number to keep.

A name is the schedule's prefix and the scheduled time, so an event that comes twice takes one snapshot. Other snapshots stay.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from . import answers
from .aws import LOOK_SECONDS, Patient, client, code
from .errors import OperationError
from .properties import parse


@dataclass(frozen=True, kw_only=True, slots=True)
class Scheduled:
    """The event of a schedule; `time` is the scheduled one."""

    volume_id: str
    prefix: str
    keep: int
    time: str

    @property
    def name(self) -> str:
        """The name of its snapshot; names of one schedule sort by time."""
        return f"{self.prefix}.{self.time}"


def take(
    event: Mapping[str, Any],
    clients: Callable[[str], Any] = client,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, Any]:
    """Take the snapshot, then delete the old ones.

    :raises OperationError: if the snapshots of the volume cannot be listed: then none is deleted.
    """
    wanted = parse(Scheduled, event)
    fsx = Patient(clients("fsx"), clock() + LOOK_SECONDS, clock, sleep)
    # Lambda repeats an event whose function failed; with the same token FSx takes no second snapshot.
    token = hashlib.sha256(f"{wanted.volume_id} {wanted.name}".encode()).hexdigest()[:63]
    fsx.call("create_snapshot", VolumeId=wanted.volume_id, Name=wanted.name, ClientRequestToken=token)
    deleted = []
    for name, identifier in _own(fsx, wanted)[: -wanted.keep]:
        _delete(fsx, identifier)
        deleted.append(name)
    return {"Snapshot": wanted.name, "Deleted": deleted}


def _own(fsx: Patient, wanted: Scheduled) -> list[tuple[str, str]]:
    """The names and ids of the schedule's snapshots, the oldest first, without those that go already."""
    volume = [{"Name": "volume-id", "Values": [wanted.volume_id]}]
    found = []
    for page, sound in answers.pages(lambda more: fsx.listed("describe_snapshots", more, Filters=volume)):
        if not sound:
            raise OperationError(f"DescribeSnapshots: the list of {wanted.volume_id} does not end; no snapshot is deleted")
        for each in answers.structures(page, "Snapshots"):
            name, identifier = answers.text(each, "Name"), answers.text(each, "SnapshotId")
            is_own = answers.text(each, "VolumeId") == wanted.volume_id and name.startswith(f"{wanted.prefix}.")
            if is_own and identifier and answers.text(each, "Lifecycle") != "DELETING":
                found.append((name, identifier))
    return sorted(found)


def _delete(fsx: Patient, identifier: str) -> None:
    try:
        fsx.call("delete_snapshot", SnapshotId=identifier)
    except ClientError as error:
        if code(error) != "SnapshotNotFound":
            raise


def on_schedule(event: dict[str, Any], _: object) -> dict[str, Any]:
    """Lambda entry: the event of a schedule."""
    return take(event)
