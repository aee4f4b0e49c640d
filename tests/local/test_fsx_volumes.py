"""Root volumes of OpenZFS file systems and their snapshots: quotas, lives, pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.fsx.service import Fsx
from tests.local.file_systems import openzfs
from tests.local.hyperpod_requests import checked
from tests.local.moto_cloud import Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]
ALICE = {"Type": "USER", "Id": 1001, "StorageCapacityQuotaGiB": 10}
NONE = {**ALICE, "StorageCapacityQuotaGiB": 0}


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return checked(Fsx(cloud.faults, cloud.client, cloud.clock))


@pytest.fixture
def volume(cloud: Cloud, call: Call) -> str:
    made = call("CreateFileSystem", **openzfs(cloud))["FileSystem"]
    cloud.clock.tick()
    return str(made["OpenZFSConfiguration"]["RootVolumeId"])


def quotas(call: Call, volume: str) -> Any:
    (found,) = call("DescribeVolumes", VolumeIds=[volume])["Volumes"]
    return found["OpenZFSConfiguration"]["UserAndGroupQuotas"]


def test_a_root_volume_has_what_its_file_system_was_made_with(call: Call, volume: str) -> None:
    (found,) = call("DescribeVolumes")["Volumes"]
    identifier = found["FileSystemId"]
    assert (found["VolumeId"], found["Name"], found["Lifecycle"], found["VolumeType"]) == (volume, "fsx", "AVAILABLE", "OPENZFS")
    assert found["ResourceARN"] == f"arn:aws:fsx:us-west-2:123456789012:volume/{identifier}/{volume}"
    configuration = found["OpenZFSConfiguration"]
    assert (configuration["DataCompressionType"], configuration["RecordSizeKiB"], configuration["VolumePath"]) == (
        "LZ4",
        128,
        "/fsx",
    )
    assert call("DescribeVolumes", Filters=[{"Name": "file-system-id", "Values": ["fs-00000000"]}])["Volumes"] == []


def test_quotas_hold_when_their_update_ends_and_zero_is_none(cloud: Cloud, call: Call, volume: str) -> None:
    call("UpdateVolume", VolumeId=volume, OpenZFSConfiguration={"UserAndGroupQuotas": [ALICE]})
    (found,) = call("DescribeVolumes")["Volumes"]
    assert (quotas(call, volume), found["AdministrativeActions"][0]["Status"]) == ([], "IN_PROGRESS")
    with pytest.raises(AwsError, match="has an update in progress"):
        call("UpdateVolume", VolumeId=volume, OpenZFSConfiguration={"UserAndGroupQuotas": []})
    cloud.clock.tick()
    (found,) = call("DescribeVolumes")["Volumes"]
    assert (quotas(call, volume), found["AdministrativeActions"][0]["Status"]) == ([ALICE], "COMPLETED")
    call("UpdateVolume", VolumeId=volume, OpenZFSConfiguration={"UserAndGroupQuotas": [NONE]})
    cloud.clock.tick()
    assert quotas(call, volume) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"OpenZFSConfiguration": {"UserAndGroupQuotas": [ALICE, NONE]}}, "two quotas of USER 1001"),
        ({"OpenZFSConfiguration": {"RecordSizeKiB": 5}}, "RecordSizeKiB 5: allowed are 4, 8"),
        ({"Name": "home"}, "Name of a root volume cannot be changed"),
    ],
)
def test_fails_on_updates_that_break_a_rule(call: Call, volume: str, change: dict[str, Any], message: str) -> None:
    with pytest.raises(AwsError, match=message):
        call("UpdateVolume", VolumeId=volume, **change)


def test_a_snapshot_lives_until_it_is_deleted(cloud: Cloud, call: Call, volume: str) -> None:
    made = call("CreateSnapshot", Name="before", VolumeId=volume, ClientRequestToken="a", Tags=[{"Key": "by", "Value": "me"}])
    assert made["Snapshot"]["Lifecycle"] == "CREATING"
    again = call("CreateSnapshot", Name="before", VolumeId=volume, ClientRequestToken="a")["Snapshot"]
    assert again["SnapshotId"] == made["Snapshot"]["SnapshotId"]
    with pytest.raises(AwsError, match="has a snapshot before already"):
        call("CreateSnapshot", Name="before", VolumeId=volume)
    cloud.clock.tick()
    (found,) = call("DescribeSnapshots", Filters=[{"Name": "volume-id", "Values": [volume]}])["Snapshots"]
    assert (found["Name"], found["Lifecycle"], found["Tags"]) == ("before", "AVAILABLE", [{"Key": "by", "Value": "me"}])
    assert found["ResourceARN"].endswith(f":snapshot/{volume}/{found['SnapshotId']}")
    assert call("ListTagsForResource", ResourceARN=found["ResourceARN"])["Tags"] == found["Tags"]
    call("DeleteSnapshot", SnapshotId=found["SnapshotId"])
    assert call("DescribeSnapshots")["Snapshots"][0]["Lifecycle"] == "DELETING"
    cloud.clock.tick()
    assert call("DescribeSnapshots")["Snapshots"] == []
    with pytest.raises(AwsError, match="SnapshotNotFound"):
        call("DeleteSnapshot", SnapshotId=found["SnapshotId"])


def test_a_file_system_takes_its_volume_and_snapshots_along(cloud: Cloud, call: Call, volume: str) -> None:
    call("CreateSnapshot", Name="before", VolumeId=volume)
    (home,) = call("DescribeFileSystems")["FileSystems"]
    call("DeleteFileSystem", FileSystemId=home["FileSystemId"])
    cloud.clock.tick()
    assert (call("DescribeVolumes")["Volumes"], call("DescribeSnapshots")["Snapshots"]) == ([], [])
    with pytest.raises(AwsError, match="VolumeNotFound"):
        call("DescribeVolumes", VolumeIds=[volume])


def test_long_lists_come_in_pages(call: Call, volume: str) -> None:
    for number in range(3):
        call("CreateSnapshot", Name=f"s{number}", VolumeId=volume)
    first = call("DescribeSnapshots", MaxResults=2)
    second = call("DescribeSnapshots", MaxResults=2, NextToken=first["NextToken"])
    assert [one["Name"] for answer in (first, second) for one in answer["Snapshots"]] == ["s0", "s1", "s2"]
    with pytest.raises(AwsError, match="the filter owner is not served here"):
        call("DescribeSnapshots", Filters=[{"Name": "owner", "Values": ["me"]}])
