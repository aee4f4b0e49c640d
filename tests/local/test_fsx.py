"""File systems and their associations: their lives, their network, their tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.fsx.service import Fsx
from tests.local.file_systems import lustre, lustre_group, openzfs
from tests.local.hyperpod_requests import checked
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with moto_cloud() as account:
        yield account


@pytest.fixture
def call(cloud: Cloud) -> Call:
    return checked(Fsx(cloud.faults, cloud.client, cloud.clock))


def created(cloud: Cloud, call: Call, **members: Any) -> dict[str, Any]:
    answer = call("CreateFileSystem", **lustre(cloud, lustre_group(cloud), **members))["FileSystem"]
    cloud.clock.tick()
    found: dict[str, Any] = call("DescribeFileSystems", FileSystemIds=[answer["FileSystemId"]])["FileSystems"][0]
    return found


def linked(call: Call, file_system: str, path: str = "/data", bucket: str = "s3://sagemaker-scripts/data", **more: Any) -> str:
    answer = call(
        "CreateDataRepositoryAssociation", FileSystemId=file_system, FileSystemPath=path, DataRepositoryPath=bucket, **more
    )
    return str(answer["Association"]["AssociationId"])


def link(call: Call, identifier: str) -> dict[str, Any]:
    found: dict[str, Any] = call("DescribeDataRepositoryAssociations", AssociationIds=[identifier])["Associations"][0]
    return found


def test_a_file_system_becomes_available(cloud: Cloud, call: Call) -> None:
    request = lustre(cloud, lustre_group(cloud))
    first = call("CreateFileSystem", **request)["FileSystem"]
    assert first["Lifecycle"] == "CREATING"
    cloud.clock.tick()
    found = call("DescribeFileSystems")["FileSystems"][0]
    identifier = found["FileSystemId"]
    assert found["Lifecycle"] == "AVAILABLE"
    assert found["DNSName"] == f"{identifier}.fsx.us-west-2.amazonaws.com"
    assert found["ResourceARN"] == f"arn:aws:fsx:us-west-2:123456789012:file-system/{identifier}"
    assert re.fullmatch("[a-z0-9]{8}", found["LustreConfiguration"]["MountName"])
    assert found["LustreConfiguration"] == first["LustreConfiguration"]
    assert (found["VpcId"], found["NetworkInterfaceIds"]) == (cloud.vpc, [cloud.interfaces()[0]["NetworkInterfaceId"]])


def test_its_interface_lives_as_long_as_the_file_system(cloud: Cloud, call: Call) -> None:
    identifier = created(cloud, call)["FileSystemId"]
    assert len(cloud.interfaces()) == 1
    assert call("DeleteFileSystem", FileSystemId=identifier)["Lifecycle"] == "DELETING"
    assert call("DescribeFileSystems")["FileSystems"][0]["Lifecycle"] == "DELETING"
    assert cloud.interfaces() == []
    cloud.clock.tick()
    assert call("DescribeFileSystems") == {"FileSystems": []}
    with pytest.raises(AwsError, match="FileSystemNotFound"):
        call("DeleteFileSystem", FileSystemId=identifier)


def test_creation_is_idempotent_by_token(cloud: Cloud, call: Call) -> None:
    request = lustre(cloud, lustre_group(cloud), ClientRequestToken="once")
    assert call("CreateFileSystem", **request) == call("CreateFileSystem", **request)
    assert len(call("DescribeFileSystems")["FileSystems"]) == 1


def test_fails_before_the_rule_for_the_port_exists(cloud: Cloud, call: Call) -> None:
    group = cloud.new_security_group("bare")
    with pytest.raises(AwsError, match=r"InvalidNetworkSettings: .* Lustre LNET network traffic on port 988") as refused:
        call("CreateFileSystem", **lustre(cloud, group))
    assert "no inbound rule" in refused.value.message
    rule = {"IpProtocol": "tcp", "FromPort": 900, "ToPort": 1023, "IpRanges": [{"CidrIp": "10.1.0.0/16"}]}
    cloud.client("ec2").authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    call("CreateFileSystem", **lustre(cloud, group))


def test_fails_without_a_way_out(cloud: Cloud, call: Call) -> None:
    group = lustre_group(cloud)
    everything = {"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}
    cloud.client("ec2").revoke_security_group_egress(GroupId=group, IpPermissions=[everything])
    with pytest.raises(AwsError, match="no outbound rule"):
        call("CreateFileSystem", **lustre(cloud, group))


def test_efa_needs_rules_by_group(cloud: Cloud, call: Call) -> None:
    group = lustre_group(cloud)
    request = lustre(cloud, group, StorageCapacity=19200)
    request["LustreConfiguration"]["EfaEnabled"] = True
    rule = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    ec2 = cloud.client("ec2")
    with pytest.raises(AwsError, match="EfaEnabled needs an inbound rule for all traffic"):
        call("CreateFileSystem", **request)
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    with pytest.raises(AwsError, match="EfaEnabled needs an outbound rule for all traffic"):
        call("CreateFileSystem", **request)
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=[rule])
    call("CreateFileSystem", **request)


def test_the_default_group_of_the_vpc_serves_when_none_is_given(cloud: Cloud, call: Call) -> None:
    ec2 = cloud.client("ec2")
    filters = [{"Name": "vpc-id", "Values": [cloud.vpc]}, {"Name": "group-name", "Values": ["default"]}]
    group = ec2.describe_security_groups(Filters=filters)["SecurityGroups"][0]["GroupId"]
    # moto leaves out the rule with which AWS makes a default group.
    rule = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    request = lustre(cloud, "")
    del request["SecurityGroupIds"]
    call("CreateFileSystem", **request)
    assert [item["GroupName"] for item in cloud.interfaces()[0]["Groups"]] == ["default"]


def test_fails_with_a_subnet_or_group_from_elsewhere(cloud: Cloud, call: Call) -> None:
    group = lustre_group(cloud)
    with pytest.raises(AwsError, match=r"InvalidNetworkSettings: .*subnet-00000000000000000"):
        call("CreateFileSystem", **lustre(cloud, group, SubnetIds=["subnet-00000000000000000"]))
    other = cloud.client("ec2").create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    with pytest.raises(AwsError, match=r"InvalidNetworkSettings: .* are not in vpc-"):
        call("CreateFileSystem", **lustre(cloud, cloud.new_security_group("other", other)))


def test_an_update_grows_the_file_system(cloud: Cloud, call: Call) -> None:
    identifier = created(cloud, call)["FileSystemId"]
    answer = call(
        "UpdateFileSystem", FileSystemId=identifier, StorageCapacity=2400, LustreConfiguration={"DataCompressionType": "NONE"}
    )
    assert answer["FileSystem"]["Lifecycle"] == "UPDATING"
    with pytest.raises(AwsError, match="is UPDATING; it must be AVAILABLE"):
        call("UpdateFileSystem", FileSystemId=identifier, StorageCapacity=4800)
    cloud.clock.tick()
    found = call("DescribeFileSystems")["FileSystems"][0]
    assert (found["Lifecycle"], found["StorageCapacity"]) == ("AVAILABLE", 2400)
    lustre_now = found["LustreConfiguration"]
    assert (lustre_now["DataCompressionType"], lustre_now["PerUnitStorageThroughput"]) == ("NONE", 250)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"StorageCapacity": 1200}, "can only grow: it is 1200, found 1200"),
        ({"StorageCapacity": 3000}, "allowed are 1200 and multiples of 2400"),
        ({"FileSystemTypeVersion": "2.12"}, "can only rise: it is 2.15, found 2.12"),
        ({"LustreConfiguration": {"PerUnitStorageThroughput": 200}}, "InvalidPerUnitStorageThroughput"),
    ],
)
def test_fails_to_update(cloud: Cloud, call: Call, change: dict[str, Any], message: str) -> None:
    identifier = created(cloud, call)["FileSystemId"]
    with pytest.raises(AwsError, match=message):
        call("UpdateFileSystem", FileSystemId=identifier, **change)


def test_openzfs(cloud: Cloud, call: Call) -> None:
    call("CreateFileSystem", **openzfs(cloud))
    cloud.clock.tick()
    found = call("DescribeFileSystems")["FileSystems"][0]
    assert re.fullmatch("fsvol-[0-9a-f]{17}", found["OpenZFSConfiguration"]["RootVolumeId"])
    with pytest.raises(AwsError, match=r"UnsupportedOperation: .* only LUSTRE"):
        linked(call, found["FileSystemId"])


@pytest.mark.parametrize(
    ("capacity", "message"), [(70, "grows by 10 percent or more: it is 64"), (64, "can only grow"), (71, None)]
)
def test_openzfs_grows_by_a_tenth_or_more(cloud: Cloud, call: Call, capacity: int, message: str | None) -> None:
    home = call("CreateFileSystem", **openzfs(cloud))["FileSystem"]["FileSystemId"]
    cloud.clock.tick()
    if message is None:
        call("UpdateFileSystem", FileSystemId=home, StorageCapacity=capacity)
        return
    with pytest.raises(AwsError, match=message):
        call("UpdateFileSystem", FileSystemId=home, StorageCapacity=capacity)


def test_an_association_becomes_available_and_goes_with_its_file_system(cloud: Cloud, call: Call) -> None:
    identifier = created(cloud, call)["FileSystemId"]
    association = linked(call, identifier, S3={"AutoImportPolicy": {"Events": ["NEW"]}})
    assert link(call, association)["Lifecycle"] == "CREATING"
    cloud.clock.tick()
    found = link(call, association)
    assert (found["Lifecycle"], found["ImportedFileChunkSize"], found["BatchImportMetaDataOnCreate"]) == ("AVAILABLE", 1024, False)
    assert found["ResourceARN"].endswith(f":association/{identifier}/{association}")
    call("DeleteFileSystem", FileSystemId=identifier)
    assert link(call, association)["Lifecycle"] == "DELETING"
    cloud.clock.tick()
    with pytest.raises(AwsError, match="DataRepositoryAssociationNotFound"):
        link(call, association)


def test_an_association_is_updated_and_deleted_alone(cloud: Cloud, call: Call) -> None:
    identifier = created(cloud, call)["FileSystemId"]
    association = linked(call, identifier)
    cloud.clock.tick()
    policy = {"AutoExportPolicy": {"Events": ["NEW", "CHANGED"]}}
    assert call("UpdateDataRepositoryAssociation", AssociationId=association, S3=policy)["Association"]["Lifecycle"] == "UPDATING"
    cloud.clock.tick()
    assert (link(call, association)["S3"], link(call, association)["Lifecycle"]) == (policy, "AVAILABLE")
    call("DeleteDataRepositoryAssociation", AssociationId=association)
    cloud.clock.tick()
    assert call("DescribeDataRepositoryAssociations") == {"Associations": []}
    assert call("DescribeFileSystems")["FileSystems"][0]["Lifecycle"] == "AVAILABLE"


def test_associations_by_file_system(cloud: Cloud, call: Call) -> None:
    identifier = created(cloud, call)["FileSystemId"]
    linked(call, identifier)

    def found(name: str, value: str) -> int:
        answer = call("DescribeDataRepositoryAssociations", Filters=[{"Name": name, "Values": [value]}])
        return len(answer["Associations"])

    assert (found("file-system-id", identifier), found("file-system-id", "fs-00000000000000000")) == (1, 0)
    assert (found("data-repository-type", "S3"), found("data-repository-type", "NFS")) == (1, 0)
    with pytest.raises(AwsError, match="the filter backup-type"):
        found("backup-type", "x")


@pytest.mark.parametrize(
    ("path", "repository", "message"),
    [
        ("/data/a", "s3://sagemaker-scripts/other", "FileSystemPath /data/a overlaps with /data/ of dra-"),
        ("/other", "s3://sagemaker-scripts/data/a/", "DataRepositoryPath s3://sagemaker-scripts/data/a/ overlaps with"),
        ("/other", "s3://sagemaker-scripts", "DataRepositoryPath s3://sagemaker-scripts overlaps with"),
        ("/", "s3://sagemaker-scripts/other", "FileSystemPath / can only be that of the first association"),
        ("other", "s3://sagemaker-scripts/other", "must begin with a slash"),
        ("/other", "nfs://sagemaker-scripts/other", "must begin with s3://"),
        ("/other", "s3://nobodys-bucket/other", "the bucket nobodys-bucket of DataRepositoryPath cannot be reached"),
    ],
)
def test_fails_to_link(cloud: Cloud, call: Call, path: str, repository: str, message: str) -> None:
    identifier = created(cloud, call)["FileSystemId"]
    linked(call, identifier, "/data/")
    with pytest.raises(AwsError, match=message):
        linked(call, identifier, path, repository)


def test_names_that_begin_alike_do_not_overlap(cloud: Cloud, call: Call) -> None:
    identifier = created(cloud, call)["FileSystemId"]
    made = [linked(call, identifier, "/data"), linked(call, identifier, "/data2", "s3://sagemaker-scripts/data2")]
    assert [link(call, one)["FileSystemPath"] for one in made] == ["/data", "/data2"]


def test_fails_to_link_a_ninth_time(cloud: Cloud, call: Call) -> None:
    identifier = created(cloud, call)["FileSystemId"]
    for number in range(8):
        linked(call, identifier, f"/{number}", f"s3://sagemaker-scripts/{number}")
    with pytest.raises(AwsError, match=r"ServiceLimitExceeded: .* at most 8"):
        linked(call, identifier, "/9", "s3://sagemaker-scripts/9")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"LustreConfiguration": {}, "FileSystemTypeVersion": "2.15"}, "SCRATCH_1 and Lustre 2.10 do not support"),
        ({"LustreConfiguration": {"DeploymentType": "SCRATCH_2"}, "FileSystemTypeVersion": "2.10"}, "Lustre 2.10 do not support"),
        (
            {"LustreConfiguration": {"DeploymentType": "SCRATCH_2", "ImportPath": "s3://sagemaker-scripts"}},
            "has an ImportPath, which excludes data repository associations",
        ),
        (
            {
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_2",
                    "PerUnitStorageThroughput": 125,
                    "AutomaticBackupRetentionDays": 1,
                }
            },
            "has automatic backups",
        ),
        (
            {
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_2",
                    "PerUnitStorageThroughput": 125,
                    "CopyTagsToBackups": True,
                }
            },
            "has CopyTagsToBackups, which a file system with data repository associations does not take",
        ),
    ],
)
def test_fails_to_link_a_file_system_that_cannot_be(cloud: Cloud, call: Call, members: dict[str, Any], message: str) -> None:
    identifier = created(cloud, call, **members)["FileSystemId"]
    with pytest.raises(AwsError, match=message):
        linked(call, identifier)


def test_fails_to_link_before_the_file_system_is_available(cloud: Cloud, call: Call) -> None:
    identifier = call("CreateFileSystem", **lustre(cloud, lustre_group(cloud)))["FileSystem"]["FileSystemId"]
    with pytest.raises(AwsError, match="is CREATING; it must be AVAILABLE"):
        linked(call, identifier)


def test_fails_to_switch_backups_on_beside_an_association(cloud: Cloud, call: Call) -> None:
    identifier = created(cloud, call)["FileSystemId"]
    linked(call, identifier)
    with pytest.raises(AwsError, match="exclude automatic backups"):
        call("UpdateFileSystem", FileSystemId=identifier, LustreConfiguration={"AutomaticBackupRetentionDays": 7})


def test_tags(cloud: Cloud, call: Call) -> None:
    arn = created(cloud, call, Tags=[{"Key": "team", "Value": "a"}])["ResourceARN"]
    call("TagResource", ResourceARN=arn, Tags=[{"Key": "cost", "Value": "1"}])
    call("UntagResource", ResourceARN=arn, TagKeys=["team"])
    assert call("ListTagsForResource", ResourceARN=arn) == {"Tags": [{"Key": "cost", "Value": "1"}]}
    with pytest.raises(AwsError, match="ResourceNotFound"):
        call("ListTagsForResource", ResourceARN=f"{arn}0")


def test_accounts_throttling_and_reset(cloud: Cloud) -> None:
    service = Fsx(cloud.faults, cloud.client, cloud.clock)
    service.call("CreateFileSystem", lustre(cloud, lustre_group(cloud)), CALLER)
    assert service.call("DescribeFileSystems", {}, Caller("999999999999", "us-west-2", "")) == {"FileSystems": []}
    cloud.faults.throttle = {"DescribeFileSystems": 1}
    with pytest.raises(AwsError, match="ThrottlingException"):
        service.call("DescribeFileSystems", {}, CALLER)
    service.reset()
    assert service.call("DescribeFileSystems", {}, CALLER) == {"FileSystems": []}
    with pytest.raises(AwsError, match="does not serve fsx CreateBackup"):
        service.call("CreateBackup", {}, CALLER)
