"""Quotas against the embedded FSx and a clock that a test moves."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.openzfs_quotas import OpenZfsQuotas
from hyperpod_constructs.custom_resources.handlers.resource import is_complete, on_event
from hyperpod_constructs.local.fsx.service import Fsx
from tests.local.file_systems import openzfs
from tests.local.in_process import InProcessClient
from tests.local.moto_cloud import Cloud, moto_cloud

Event = dict[str, Any]
Quotas = dict[tuple[str, int], int]
ALICE, TEAM, STRANGER = ("USER", 1001), ("GROUP", 1002), ("USER", 7)


class Volume:
    """A volume, the handler, and the events of CloudFormation."""

    def __init__(self, cloud: Cloud) -> None:
        self.clock = cloud.clock
        self.fsx: Any = InProcessClient(Fsx(cloud.faults, cloud.client, cloud.clock))
        self.home = self.fsx.create_file_system(**openzfs(cloud))["FileSystem"]
        self.name = str(self.home["OpenZFSConfiguration"]["RootVolumeId"])
        self.clock.tick()
        self.handler = OpenZfsQuotas(lambda service: self.fsx, self.clock, self.clock.tick)

    def properties(self, quotas: Quotas) -> Event:
        rendered = [{"Type": kind, "Id": str(number), "Gib": str(gib)} for (kind, number), gib in quotas.items()]
        return {"VolumeId": self.name, "Quotas": rendered, "TimeoutSeconds": "3600"}

    def event(self, kind: str, quotas: Quotas, old: Quotas | None = None) -> Event:
        event: Event = {"RequestType": kind, "RequestId": "1", "LogicalResourceId": "Quotas"}
        event["ResourceProperties"] = self.properties(quotas)
        if old is not None:
            event["OldResourceProperties"] = self.properties(old)
        return event if kind == "Create" else {**event, "PhysicalResourceId": f"openzfs-quotas|{self.name}"}

    def start(self, event: Event) -> Event:
        return {**event, **on_event(self.handler, event, self.clock)}

    def look(self, started: Event) -> dict[str, Any]:
        return is_complete(self.handler, started)

    def settle(self, event: Event) -> dict[str, Any]:
        """The last answer of an operation."""
        started = self.start(event)
        for _ in range(10):
            answer = self.look(started)
            if answer["IsComplete"]:
                return answer
            self.clock.tick(10)
        raise AssertionError("the operation does not end")

    def set(self, quotas: Quotas) -> None:
        sent = [{"Type": kind, "Id": number, "StorageCapacityQuotaGiB": gib} for (kind, number), gib in quotas.items()]
        self.fsx.update_volume(VolumeId=self.name, OpenZFSConfiguration={"UserAndGroupQuotas": sent})
        self.clock.tick()

    @property
    def shown(self) -> Quotas:
        (found,) = self.fsx.describe_volumes(VolumeIds=[self.name])["Volumes"]
        quotas = found["OpenZFSConfiguration"]["UserAndGroupQuotas"]
        return {(quota["Type"], quota["Id"]): quota["StorageCapacityQuotaGiB"] for quota in quotas}

    def updates(self) -> list[Quotas]:
        """The quotas of each update that was asked for."""
        asked = [given["OpenZFSConfiguration"] for operation, given in self.fsx.requests if operation == "UpdateVolume"]
        return [
            {(one["Type"], one["Id"]): one["StorageCapacityQuotaGiB"] for one in given.get("UserAndGroupQuotas", ())}
            for given in asked
        ]


@pytest.fixture
def volume() -> Iterator[Volume]:
    with moto_cloud() as cloud:
        yield Volume(cloud)


def test_waits_until_the_update_is_complete(volume: Volume) -> None:
    started = volume.start(volume.event("Create", {ALICE: 10, TEAM: 100}))
    assert started["PhysicalResourceId"] == f"openzfs-quotas|{volume.name}"
    assert volume.updates() == []
    assert [volume.look(started)["IsComplete"] for _ in "ab"] == [False, False]
    volume.clock.tick()
    assert volume.look(started)["IsComplete"] is True
    assert volume.shown == {ALICE: 10, TEAM: 100}
    assert volume.updates() == [{ALICE: 10, TEAM: 100}]


def test_an_event_that_comes_again_asks_for_nothing(volume: Volume) -> None:
    for kind in ("Create", "Create", "Update"):
        volume.settle(volume.event(kind, {ALICE: 10}))
    assert volume.updates() == [{ALICE: 10}]


def test_an_update_takes_away_what_left_the_list_and_keeps_quotas_of_others(volume: Volume) -> None:
    volume.set({STRANGER: 7})
    volume.settle(volume.event("Create", {ALICE: 10, TEAM: 100}))
    volume.settle(volume.event("Update", {ALICE: 20}, old={ALICE: 10, TEAM: 100}))
    assert volume.shown == {ALICE: 20, STRANGER: 7}
    # Both what stays and a zero for what goes are sent: right whether the service replaces its list or merges.
    assert volume.updates()[-1] == {ALICE: 20, STRANGER: 7, TEAM: 0}


def test_waits_for_an_update_of_somebody_else(volume: Volume) -> None:
    volume.fsx.update_volume(VolumeId=volume.name, OpenZFSConfiguration={"DataCompressionType": "ZSTD"})
    volume.settle(volume.event("Create", {ALICE: 10}))
    assert volume.updates() == [{}, {ALICE: 10}]


def test_a_deletion_takes_its_own_quotas_away(volume: Volume) -> None:
    volume.set({STRANGER: 7})
    volume.settle(volume.event("Create", {ALICE: 10, TEAM: 100}))
    volume.set({STRANGER: 7, ALICE: 10, TEAM: 50})
    volume.settle(volume.event("Delete", {ALICE: 10, TEAM: 100}))
    assert volume.shown == {STRANGER: 7, TEAM: 50}


def test_a_deletion_during_the_creation_awaits_its_update_and_undoes_it(volume: Volume) -> None:
    volume.look(volume.start(volume.event("Create", {ALICE: 10})))
    volume.settle(volume.event("Delete", {ALICE: 10}))
    assert volume.shown == {}


@pytest.mark.parametrize("more", [{"PhysicalResourceId": "made-up"}, {"ResourceProperties": {}}])
def test_a_deletion_of_what_is_unknown_does_nothing(volume: Volume, more: Event) -> None:
    volume.set({ALICE: 10})
    volume.settle({**volume.event("Delete", {ALICE: 10}), **more})
    assert volume.shown == {ALICE: 10}


def test_a_deletion_after_the_file_system_succeeds(volume: Volume) -> None:
    volume.settle(volume.event("Create", {ALICE: 10}))
    volume.fsx.delete_file_system(FileSystemId=volume.home["FileSystemId"])
    volume.clock.tick(10)
    volume.settle(volume.event("Delete", {ALICE: 10}))


@pytest.mark.parametrize("quota", [{("OTHER", 1): 1}, {("USER", 1): 0}, {("USER", -1): 1}])
def test_fails_on_what_is_no_quota(volume: Volume, quota: Quotas) -> None:
    with pytest.raises(OperationError, match=r"property Quotas has .* allowed: USER or GROUP, an id of 0 or more, and 1 GiB"):
        volume.start(volume.event("Create", quota))


class Scripted:
    """An FSx with written answers."""

    def __init__(self, *volumes: Event) -> None:
        self._answers = [{"Volumes": [found]} for found in volumes]

    def describe_volumes(self, **_: Any) -> Event:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def update_volume(self, **_: Any) -> Event:
        raise ClientError({"Error": {"Code": "BadRequest", "Message": "an update is in progress"}}, "UpdateVolume")


def scripted(volume: Volume, *volumes: Event) -> Volume:
    common = {"VolumeId": volume.name, "Lifecycle": "AVAILABLE", "OpenZFSConfiguration": {"ReadOnly": False}}
    service = Scripted(*({**common, **found} for found in volumes))
    volume.handler = OpenZfsQuotas(lambda _: service, volume.clock, volume.clock.tick)
    return volume


def action(volume: Volume, status: str, **more: Any) -> Event:
    quota = {"Type": "USER", "Id": 1001, "StorageCapacityQuotaGiB": 10}
    return {
        "AdministrativeActionType": "VOLUME_UPDATE",
        "Status": status,
        "RequestTime": datetime.fromtimestamp(volume.clock.now, UTC),
        "TargetVolumeValues": {"OpenZFSConfiguration": {"UserAndGroupQuotas": [quota]}},
        **more,
    }


def test_fails_with_the_reason_of_a_failed_update(volume: Volume) -> None:
    failed = action(volume, "FAILED", FailureDetails={"Message": "no servers"})
    scripted(volume, {"AdministrativeActions": [failed]})
    with pytest.raises(OperationError, match=f"UpdateVolume: quotas of {volume.name} failed: no servers"):
        volume.look(volume.start(volume.event("Create", {ALICE: 10})))


@pytest.mark.parametrize("lifecycle", ["DELETING", "FAILED", "MISCONFIGURED"])
def test_fails_for_a_lost_volume_at_once(volume: Volume, lifecycle: str) -> None:
    scripted(volume, {"Lifecycle": lifecycle, "LifecycleTransitionReason": {"Message": "gone"}})
    with pytest.raises(OperationError, match=f"DescribeVolumes: {volume.name} is {lifecycle}: gone"):
        volume.look(volume.start(volume.event("Create", {ALICE: 10})))


def test_a_refusal_beside_an_update_that_has_just_begun_is_no_failure(volume: Volume) -> None:
    scripted(volume, {}, {"AdministrativeActions": [action(volume, "IN_PROGRESS")]})
    assert volume.look(volume.start(volume.event("Create", {ALICE: 10}))) == {"IsComplete": False}


def test_fails_with_a_refusal_beside_no_update(volume: Volume) -> None:
    scripted(volume, {})
    with pytest.raises(OperationError, match="UpdateVolume: BadRequest: an update is in progress"):
        volume.look(volume.start(volume.event("Create", {ALICE: 10})))


@pytest.mark.parametrize("shown", [{}, {"UserAndGroupQuotas": [{"Type": "USER", "StorageCapacityQuotaGiB": 7}]}])
def test_asks_for_nothing_while_quotas_of_others_cannot_be_read(volume: Volume, shown: Event) -> None:
    scripted(volume, {"OpenZFSConfiguration": shown})
    for kind in ("Create", "Delete"):
        assert volume.look(volume.start(volume.event(kind, {ALICE: 10}))) == {"IsComplete": False}


@pytest.mark.parametrize("kind", ["Create", "Delete"])
def test_fails_at_the_deadline_with_what_it_saw(volume: Volume, kind: str) -> None:
    started = scripted(volume, {"AdministrativeActions": [action(volume, "PENDING")]}).start(volume.event(kind, {ALICE: 10}))
    assert volume.look(started) == {"IsComplete": False}
    volume.clock.tick(3500)
    with pytest.raises(OperationError, match=f"DescribeVolumes: {volume.name} "):
        volume.look(started)
