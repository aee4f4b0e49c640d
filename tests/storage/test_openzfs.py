from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms

from hyperpod_constructs import (
    ClusterNetwork,
    OpenZfsClientConfiguration,
    OpenZfsCompressionType,
    OpenZfsDeploymentType,
    OpenZfsStorage,
)
from hyperpod_constructs.facts import openzfs
from hyperpod_constructs.facts.limits import property_limit
from tests.conftest import ZONE, only, resources

FILE_SYSTEM = "AWS::FSx::FileSystem"
INGRESS = "AWS::EC2::SecurityGroupIngress"
EGRESS = "AWS::EC2::SecurityGroupEgress"


@pytest.fixture
def homes(stack: Stack, network: ClusterNetwork) -> OpenZfsStorage:
    return OpenZfsStorage(stack, "Homes", network=network)


def configuration(stack: Stack) -> Any:
    return only(stack, FILE_SYSTEM)["Properties"]["OpenZFSConfiguration"]


def test_the_defaults_are_two_servers_with_backups(stack: Stack, homes: OpenZfsStorage) -> None:
    properties = only(stack, FILE_SYSTEM)["Properties"]
    assert (properties["FileSystemType"], properties["StorageType"], properties["StorageCapacity"]) == ("OPENZFS", "SSD", 64)
    assert configuration(stack) == {
        "DeploymentType": "SINGLE_AZ_HA_2",
        "ThroughputCapacity": 160,
        "DiskIopsConfiguration": {"Mode": "AUTOMATIC"},
        "AutomaticBackupRetentionDays": 30,
        "RootVolumeConfiguration": {
            "DataCompressionType": "LZ4",
            "NfsExports": [{"ClientConfigurations": [{"Clients": "*", "Options": ["rw", "crossmnt", "no_root_squash"]}]}],
        },
    }


def test_it_lies_in_the_node_subnet_with_a_group_of_its_own(stack: Stack, network: ClusterNetwork, homes: OpenZfsStorage) -> None:
    properties = only(stack, FILE_SYSTEM)["Properties"]
    assert properties["SubnetIds"] == [stack.resolve(network.node_subnet.subnet_id)]
    assert properties["SecurityGroupIds"] == [stack.resolve(homes.security_group.security_group_id)]
    assert properties["SecurityGroupIds"] != [stack.resolve(network.security_group.security_group_id)]


def rules(stack: Stack, kind: str, peer: str) -> list[tuple[object, object, str, int, int]]:
    """Rules of the file system: group, peer, protocol, first and last port."""
    found = [rule["Properties"] for id, rule in resources(stack, kind).items() if id.startswith("Homes")]
    return [(rule["GroupId"], rule[peer], rule["IpProtocol"], rule["FromPort"], rule["ToPort"]) for rule in found]


def test_nodes_alone_reach_it_by_nfs_alone(stack: Stack, network: ClusterNetwork, homes: OpenZfsStorage) -> None:
    own, nodes = (stack.resolve(each.security_group.security_group_id) for each in (homes, network))
    assert rules(stack, INGRESS, "SourceSecurityGroupId") == [(own, nodes, "tcp", 2049, 2049)]
    assert rules(stack, EGRESS, "DestinationSecurityGroupId") == [(nodes, own, "tcp", 2049, 2049)]


def test_the_file_system_awaits_every_rule(stack: Stack, network: ClusterNetwork, homes: OpenZfsStorage) -> None:
    homes.allow_clients("Studio", ec2.SecurityGroup(stack, "Studio", vpc=network.vpc))
    own = {id for kind in (INGRESS, EGRESS) for id in resources(stack, kind) if id.startswith("Homes")}
    assert len(own) == 4
    assert set(only(stack, FILE_SYSTEM)["DependsOn"]) >= own


def test_clients_of_a_stack_that_depends_on_the_file_system() -> None:
    app = App()
    foundation, other = Stack(app, "Foundation"), Stack(app, "Studio")
    network = ClusterNetwork(foundation, "Network", availability_zone_id=ZONE)
    homes = OpenZfsStorage(foundation, "Homes", network=network)
    homes.allow_clients("Studio", ec2.SecurityGroup(other, "Studio", vpc=network.vpc), scope=other)
    assert len(resources(other, INGRESS)) == len(resources(other, EGRESS)) == 1


@pytest.mark.parametrize(
    ("policy", "rendered", "options"),
    [(None, "RetainExceptOnCreate", None), (RemovalPolicy.DESTROY, "Delete", ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"])],
)
def test_data_is_kept_unless_destroy_is_written(
    stack: Stack, network: ClusterNetwork, policy: RemovalPolicy | None, rendered: str, options: list[str] | None
) -> None:
    given: dict[str, Any] = {} if policy is None else {"removal_policy": policy}
    OpenZfsStorage(stack, "Homes", network=network, **given)
    group = next(group for id, group in resources(stack, "AWS::EC2::SecurityGroup").items() if id.startswith("Homes"))
    assert {only(stack, FILE_SYSTEM)["DeletionPolicy"], group["DeletionPolicy"]} == {rendered}
    assert configuration(stack).get("Options") == options


def test_the_reason_for_a_loss_stands_in_the_metadata(stack: Stack, network: ClusterNetwork) -> None:
    OpenZfsStorage(stack, "Homes", network=network, allow_data_loss="a trial")
    assert "a trial" in only(stack, FILE_SYSTEM)["Metadata"].values()


def test_a_key_encrypts_it(stack: Stack, network: ClusterNetwork) -> None:
    key = kms.Key(stack, "Key")
    OpenZfsStorage(stack, "Homes", network=network, kms_key=key)
    assert only(stack, FILE_SYSTEM)["Properties"]["KmsKeyId"] == stack.resolve(key.key_arn)


def test_takes_tokens(stack: Stack, network: ClusterNetwork) -> None:
    names = ("Capacity", "Throughput", "Iops", "Days", "Record")
    capacity, throughput, iops, days, record = (CfnParameter(stack, name, type="Number").value_as_number for name in names)
    clients, option = (CfnParameter(stack, name).value_as_string for name in ("Clients", "Option"))
    OpenZfsStorage(
        stack,
        "Homes",
        network=network,
        storage_capacity_gib=capacity,  # type: ignore[arg-type]
        throughput_capacity=throughput,  # type: ignore[arg-type]
        disk_iops=iops,  # type: ignore[arg-type]
        automatic_backup_retention_days=days,  # type: ignore[arg-type]
        record_size_kib=record,  # type: ignore[arg-type]
        client_configurations=[OpenZfsClientConfiguration(clients=clients, options=[option])],
    )
    assert only(stack, FILE_SYSTEM)["Properties"]["StorageCapacity"] == {"Ref": "Capacity"}
    found = configuration(stack)
    assert found["DiskIopsConfiguration"] == {"Mode": "USER_PROVISIONED", "Iops": {"Ref": "Iops"}}
    assert found["RootVolumeConfiguration"]["NfsExports"] == [
        {"ClientConfigurations": [{"Clients": {"Ref": "Clients"}, "Options": [{"Ref": "Option"}]}]}
    ]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"throughput_capacity": 128}, "throughput_capacity 128 is not a tier of SINGLE_AZ_HA_2 (160, 320,"),
        (
            {"deployment_type": OpenZfsDeploymentType.SINGLE_AZ_1},
            "throughput_capacity 160 is not a tier of SINGLE_AZ_1 (64, 128, 256, 512, 1024, 2048, 3072, 4096); the nearest is 128",
        ),
        ({"storage_capacity_gib": 63}, "storage_capacity_gib is 63; allowed: 64 to 524288; write storage_capacity_gib=64"),
        ({"disk_iops": 191}, "disk_iops 191 is less than the 192 that come with 64 GiB; write a supported figure, or leave it out"),
        ({"record_size_kib": 100}, "record_size_kib 100 is not one of 4, 8, 16, 32, 64, 128, 256, 512, 1024; the nearest is 128"),
        ({"client_configurations": []}, "client_configurations is empty, so no client could mount the file system; leave it out"),
        (
            {"client_configurations": [OpenZfsClientConfiguration()] * 26},
            "client_configurations has 26 items; allowed: 0 to 25",
        ),
        (
            {"automatic_backup_retention_days": 0, "daily_automatic_backup_start_time": "03:00"},
            "daily_automatic_backup_start_time is '03:00' without automatic backups; write automatic_backup_retention_days=30",
        ),
    ],
)
def test_fails_on_what_the_service_does_not_have(
    stack: Stack, network: ClusterNetwork, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Homes: ") as caught:
        OpenZfsStorage(stack, "Homes", network=network, **parameters)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"options": []}, "options has 0 items; allowed: 1 to 20"),
        ({"clients": ""}, "clients is ''; allowed: an address, a block such as 10.1.0.0/16, or '*', 1 to 128 characters"),
        ({"options": ["rw\n"]}, r"options is 'rw\n'; allowed: an option of exports(5)"),
    ],
)
def test_fails_on_exports_that_fsx_refuses(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^OpenZfsClientConfiguration: ") as caught:
        OpenZfsClientConfiguration(**parameters)
    assert message in str(caught.value)


def test_only_what_fixes_the_volume_and_its_place_is_create_only() -> None:
    def create_only(**changes: Any) -> list[object]:
        other = Stack(App(), "Stack")
        OpenZfsStorage(other, "Homes", network=ClusterNetwork(other, "Network", availability_zone_id=ZONE), **changes)
        properties = only(other, FILE_SYSTEM)["Properties"]
        outer = ("SubnetIds", "SecurityGroupIds", "KmsKeyId", "FileSystemType", "StorageType")
        nested = ("DeploymentType", "RootVolumeConfiguration")
        return [properties.get(name) for name in outer] + [properties["OpenZFSConfiguration"].get(name) for name in nested]

    unchanged = create_only()
    assert create_only(storage_capacity_gib=128, throughput_capacity=320, disk_iops=1000) == unchanged
    assert create_only(automatic_backup_retention_days=7, copy_tags_to_backups=True, copy_tags_to_volumes=True) == unchanged
    assert create_only(data_compression_type=OpenZfsCompressionType.ZSTD) != unchanged


def test_an_existing_file_system_has_the_name_of_the_region(stack: Stack) -> None:
    existing = OpenZfsStorage.from_attributes(file_system_id="fs-01234567")
    assert stack.resolve(existing.dns_name) == {
        "Fn::Join": ["", ["fs-01234567.fsx.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]]
    }
    named = OpenZfsStorage.from_attributes(file_system_id="fs-01234567", dns_name="fs-01234567.fsx.example")
    assert named.dns_name == "fs-01234567.fsx.example"


def test_words_are_those_of_the_service() -> None:
    member = "fsx:CreateFileSystem/OpenZFSConfiguration"
    of_one_zone = {kind for kind in property_limit(f"{member}/DeploymentType").choices if openzfs.subnets(kind) == 1}
    assert {kind.value for kind in OpenZfsDeploymentType} == of_one_zone == set(openzfs.THROUGHPUTS) - {"MULTI_AZ_1"}
    compression = property_limit(f"{member}/RootVolumeConfiguration/DataCompressionType")
    assert {kind.value for kind in OpenZfsCompressionType} == set(compression.choices)
