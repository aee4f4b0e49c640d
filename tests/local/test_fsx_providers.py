"""AWS::FSx::FileSystem and AWS::FSx::DataRepositoryAssociation: CloudFormation's calls of the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.audit import RecordingDict
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.fsx.providers import DataRepositoryAssociationProvider, FileSystemProvider
from hyperpod_constructs.local.provider import Provisioned, ResourceProvider
from tests.local.file_systems import lustre, lustre_group
from tests.local.in_process import InProcess
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def clients(cloud: Cloud) -> InProcess:
    return InProcess(cloud)


@pytest.fixture
def file_systems(clients: InProcess) -> ResourceProvider:
    return FileSystemProvider(clients, timeout=5)


@pytest.fixture
def associations(clients: InProcess) -> ResourceProvider:
    return DataRepositoryAssociationProvider(clients, timeout=5)


@pytest.fixture
def wanted(cloud: Cloud) -> dict[str, Any]:
    return lustre(cloud, lustre_group(cloud), Tags=[{"Key": "a", "Value": "1"}])


def create(provider: ResourceProvider, properties: dict[str, Any]) -> Provisioned:
    return provider.create(properties, "Data", "Foundation", CALLER)


def update(provider: ResourceProvider, identifier: str, old: dict[str, Any], new: dict[str, Any]) -> Provisioned:
    return provider.update(identifier, old, new, "Foundation", CALLER)


def association(file_system: str, **members: Any) -> dict[str, Any]:
    policy = {"AutoImportPolicy": {"Events": ["NEW"]}}
    request = {
        "FileSystemId": file_system,
        "FileSystemPath": "/data",
        "DataRepositoryPath": "s3://sagemaker-scripts/data",
        "S3": policy,
    }
    return request | members


def test_a_lustre_file_system(clients: InProcess, file_systems: ResourceProvider, wanted: dict[str, Any]) -> None:
    wanted["StorageCapacity"] = "1200"
    wanted["LustreConfiguration"]["EfaEnabled"] = "false"
    recorder = RecordingDict(wanted)
    made = create(file_systems, recorder)
    found = clients.fsx.describe_file_systems()["FileSystems"][0]
    assert made.physical_id == found["FileSystemId"] == made.attributes["Id"]
    assert made.attributes["DNSName"] == found["DNSName"]
    assert made.attributes["LustreMountName"] == found["LustreConfiguration"]["MountName"]
    assert set(made.attributes) == {"Id", "DNSName", "LustreMountName", "ResourceARN"}
    assert list(recorder.unread()) == []


def test_an_openzfs_file_system_has_a_root_volume(cloud: Cloud, file_systems: ResourceProvider) -> None:
    configuration = {
        "DeploymentType": "SINGLE_AZ_2",
        "ThroughputCapacity": 160,
        "Options": ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"],
    }
    request = {"FileSystemType": "OPENZFS", "StorageCapacity": 64, "SubnetIds": [cloud.subnet]}
    recorder = RecordingDict({**request, "OpenZFSConfiguration": configuration})
    assert create(file_systems, recorder).attributes["RootVolumeId"].startswith("fsvol-")
    assert list(recorder.unread()) == []


def test_a_backup_is_not_read(file_systems: ResourceProvider, wanted: dict[str, Any]) -> None:
    recorder = RecordingDict({**wanted, "BackupId": "backup-0123456789abcdef0"})
    create(file_systems, recorder)
    assert list(recorder.unread()) == ["BackupId"]


def test_an_update_sends_what_changed(clients: InProcess, file_systems: ResourceProvider, wanted: dict[str, Any]) -> None:
    identifier = create(file_systems, wanted).physical_id
    configuration = {**wanted["LustreConfiguration"], "DataCompressionType": "NONE"}
    new = {**wanted, "StorageCapacity": "2400", "LustreConfiguration": configuration, "Tags": [{"Key": "b", "Value": "2"}]}
    update(file_systems, identifier, wanted, new)
    sent = dict(clients.fsx.requests)["UpdateFileSystem"]
    assert sent == {"FileSystemId": identifier, "StorageCapacity": 2400, "LustreConfiguration": {"DataCompressionType": "NONE"}}
    found = clients.fsx.describe_file_systems()["FileSystems"][0]
    assert (found["StorageCapacity"], found["Tags"]) == (2400, [{"Key": "b", "Value": "2"}])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"DeploymentType": "SCRATCH_2"}, "LustreConfiguration.DeploymentType of fs-.* cannot be changed in place"),
        ({"EfaEnabled": True}, "LustreConfiguration.EfaEnabled of fs-.* cannot be changed in place"),
        ({"DataCompressionType": None}, "LustreConfiguration.DataCompressionType of fs-.* cannot be taken away in place"),
    ],
)
def test_fails_to_change_in_place(
    clients: InProcess, file_systems: ResourceProvider, wanted: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    identifier = create(file_systems, wanted).physical_id
    new = {**wanted, "LustreConfiguration": {**wanted["LustreConfiguration"], **change}}
    with pytest.raises(AwsError, match=message):
        update(file_systems, identifier, wanted, new)
    assert "UpdateFileSystem" not in dict(clients.fsx.requests)


def test_fails_as_the_service_does(file_systems: ResourceProvider, wanted: dict[str, Any]) -> None:
    with pytest.raises(ClientError, match="StorageCapacity 1000 GiB"):
        create(file_systems, {**wanted, "StorageCapacity": 1000})


def test_an_association(
    clients: InProcess, file_systems: ResourceProvider, associations: ResourceProvider, wanted: dict[str, Any]
) -> None:
    file_system = create(file_systems, wanted).physical_id
    recorder = RecordingDict(association(file_system, BatchImportMetaDataOnCreate="true", ImportedFileChunkSize="2048"))
    made = create(associations, recorder)
    assert list(recorder.unread()) == []
    found = clients.fsx.describe_data_repository_associations()["Associations"][0]
    assert made.attributes == {"AssociationId": made.physical_id, "ResourceARN": found["ResourceARN"]}
    assert (found["BatchImportMetaDataOnCreate"], found["ImportedFileChunkSize"]) == (True, 2048)


def test_an_association_changes_its_policies_and_tags(
    clients: InProcess, file_systems: ResourceProvider, associations: ResourceProvider, wanted: dict[str, Any]
) -> None:
    old = association(create(file_systems, wanted).physical_id)
    identifier = create(associations, old).physical_id
    policy = {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}
    update(associations, identifier, old, {**old, "S3": policy, "Tags": [{"Key": "a", "Value": "1"}]})
    found = clients.fsx.describe_data_repository_associations()["Associations"][0]
    assert (found["S3"], found["Tags"]) == (policy, [{"Key": "a", "Value": "1"}])
    update(associations, identifier, old, old)
    assert [name for name, _ in clients.fsx.requests].count("UpdateDataRepositoryAssociation") == 1


def test_deleting_twice_is_a_success(
    clients: InProcess, file_systems: ResourceProvider, associations: ResourceProvider, wanted: dict[str, Any]
) -> None:
    file_system = create(file_systems, wanted).physical_id
    link = create(associations, association(file_system)).physical_id
    for _ in range(2):
        associations.delete(link, {}, CALLER)
    assert clients.fsx.describe_data_repository_associations() == {"Associations": []}
    for _ in range(2):
        file_systems.delete(file_system, {}, CALLER)
    assert clients.fsx.describe_file_systems() == {"FileSystems": []}
