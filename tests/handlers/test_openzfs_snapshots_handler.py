"""Snapshots by a schedule, against the embedded FSx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.openzfs_snapshots import take
from hyperpod_constructs.custom_resources.handlers.properties import PropertyError
from hyperpod_constructs.local.fsx.service import Fsx
from tests.local.file_systems import openzfs
from tests.local.in_process import InProcessClient
from tests.local.moto_cloud import Cloud, moto_cloud

Event = dict[str, Any]


class Homes:
    """A file system, and the function that takes its snapshots."""

    def __init__(self, cloud: Cloud) -> None:
        self.clock = cloud.clock
        self.fsx: Any = InProcessClient(Fsx(cloud.faults, cloud.client, cloud.clock))
        self.volume = str(self.fsx.create_file_system(**openzfs(cloud))["FileSystem"]["OpenZFSConfiguration"]["RootVolumeId"])
        self.clock.tick()

    def run(self, day: int, keep: int = 2, prefix: str = "daily", service: Any = None) -> Event:
        event = {"VolumeId": self.volume, "Prefix": prefix, "Keep": keep, "Time": f"2026-11-{day:02}T02:00:00Z"}
        answer = take(event, lambda _: self.fsx if service is None else service, self.clock, self.clock.tick)
        self.clock.tick()
        return answer

    @property
    def names(self) -> list[str]:
        return [snapshot["Name"] for snapshot in self.fsx.describe_snapshots()["Snapshots"]]


@pytest.fixture
def homes() -> Iterator[Homes]:
    with moto_cloud() as cloud:
        yield Homes(cloud)


def test_keeps_the_newest_of_its_own_and_all_others(homes: Homes) -> None:
    homes.fsx.create_snapshot(VolumeId=homes.volume, Name="before-the-move")
    homes.fsx.create_snapshot(VolumeId=homes.volume, Name="daily-by-hand")
    homes.run(1, prefix="hourly")
    answers = [homes.run(day) for day in (1, 2, 3, 4)]
    assert answers[-1] == {"Snapshot": "daily.2026-11-04T02:00:00Z", "Deleted": ["daily.2026-11-02T02:00:00Z"]}
    kept = ["daily.2026-11-03T02:00:00Z", "daily.2026-11-04T02:00:00Z"]
    assert homes.names == ["before-the-move", "daily-by-hand", "hourly.2026-11-01T02:00:00Z", *kept]


def test_an_event_that_comes_twice_takes_one_snapshot(homes: Homes) -> None:
    assert [homes.run(1) for _ in "ab"] == [{"Snapshot": "daily.2026-11-01T02:00:00Z", "Deleted": []}] * 2
    assert homes.names == ["daily.2026-11-01T02:00:00Z"]


def test_a_lower_number_deletes_more_at_once(homes: Homes) -> None:
    for day in range(1, 31):
        homes.run(day, keep=100)
    assert len(homes.run(31, keep=1)["Deleted"]) == 30
    assert homes.names == ["daily.2026-11-31T02:00:00Z"]


class Failing:
    """An FSx whose operations fail, or that does not end its list."""

    def __init__(self, fsx: Any, **fails: str) -> None:
        self._fsx, self._fails = fsx, fails

    def __getattr__(self, operation: str) -> Any:
        if operation not in self._fails:
            return getattr(self._fsx, operation)

        def fail(**_: Any) -> Any:
            if self._fails[operation] == "loop":
                return {"Snapshots": [], "NextToken": "again"}
            raise ClientError({"Error": {"Code": self._fails[operation], "Message": "no"}}, operation)

        return fail


def test_a_snapshot_that_has_gone_is_deleted(homes: Homes) -> None:
    homes.run(1, keep=1)
    answer = homes.run(2, keep=1, service=Failing(homes.fsx, delete_snapshot="SnapshotNotFound"))
    assert answer["Deleted"] == ["daily.2026-11-01T02:00:00Z"]


@pytest.mark.parametrize(
    ("fails", "kind", "message"),
    [
        ({"create_snapshot": "ServiceLimitExceeded"}, ClientError, "ServiceLimitExceeded"),
        ({"describe_snapshots": "loop"}, OperationError, "DescribeSnapshots: the list of fsvol-.* does not end"),
        ({"delete_snapshot": "AccessDeniedException"}, ClientError, "AccessDeniedException"),
    ],
)
def test_fails_without_deleting_more(homes: Homes, fails: dict[str, str], kind: type[Exception], message: str) -> None:
    homes.run(1, keep=1)
    with pytest.raises(kind, match=message):
        homes.run(2, keep=1, service=Failing(homes.fsx, **fails))
    assert "daily.2026-11-01T02:00:00Z" in homes.names


def test_fails_on_an_event_of_another_kind() -> None:
    with pytest.raises(PropertyError, match="property VolumeId is missing; found: detail"):
        take({"detail": {}})
