from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import (
    ClusterNetwork,
    CompressionType,
    LustreLogConfiguration,
    LustreLogLevel,
    LustreReadCacheConfiguration,
    LustreReadCacheSizingMode,
    LustreStorage,
    LustreStorageType,
    RepositoryEvent,
)
from hyperpod_constructs.facts.limits import property_limit
from tests.conftest import ZONE, only, resources

FILE_SYSTEM = "AWS::FSx::FileSystem"
ASSOCIATION = "AWS::FSx::DataRepositoryAssociation"
INGRESS = "AWS::EC2::SecurityGroupIngress"
EGRESS = "AWS::EC2::SecurityGroupEgress"
USER = LustreReadCacheSizingMode.USER_PROVISIONED


def test_the_defaults_are_a_persistent_compressed_file_system(stack: Stack, lustre: LustreStorage) -> None:
    properties = only(stack, FILE_SYSTEM)["Properties"]
    assert properties["FileSystemTypeVersion"] == "2.15"
    assert properties["StorageCapacity"] == 1200
    assert properties["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 250,
        "DataCompressionType": "LZ4",
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
    }


def test_it_lies_in_the_node_subnet_with_a_group_of_its_own(stack: Stack, network: ClusterNetwork, lustre: LustreStorage) -> None:
    properties = only(stack, FILE_SYSTEM)["Properties"]
    assert properties["SubnetIds"] == [stack.resolve(network.node_subnet.subnet_id)]
    assert properties["SecurityGroupIds"] == [stack.resolve(lustre.security_group.security_group_id)]
    assert properties["SecurityGroupIds"] != [stack.resolve(network.security_group.security_group_id)]


def rules(stack: Stack, lustre: LustreStorage) -> dict[str, set[tuple[str, str, object, object]]]:
    """Rules of the file system by direction: group, peer, first and last port."""
    found: dict[str, set[tuple[str, str, object, object]]] = {}
    for kind, peer in ((INGRESS, "SourceSecurityGroupId"), (EGRESS, "DestinationSecurityGroupId")):
        found[kind] = {
            (
                rule["Properties"]["GroupId"]["Fn::GetAtt"][0],
                rule["Properties"][peer]["Fn::GetAtt"][0],
                rule["Properties"].get("FromPort"),
                rule["Properties"].get("ToPort"),
            )
            for id, rule in resources(stack, kind).items()
            if id.startswith("Lustre")
        }
    return found


def test_the_lustre_ports_are_open_in_both_directions(stack: Stack, network: ClusterNetwork, lustre: LustreStorage) -> None:
    own = stack.resolve(lustre.security_group.security_group_id)["Fn::GetAtt"][0]
    nodes = stack.resolve(network.security_group.security_group_id)["Fn::GetAtt"][0]
    expected = {
        (group, peer, *ports) for group, peer in ((own, own), (own, nodes), (nodes, own)) for ports in ((988, 988), (1018, 1023))
    }
    assert rules(stack, lustre) == {INGRESS: expected, EGRESS: expected}


def test_the_file_system_awaits_every_rule(stack: Stack, network: ClusterNetwork, lustre: LustreStorage) -> None:
    lustre.allow_clients("Studio", ec2.SecurityGroup(stack, "Studio", vpc=network.vpc))
    own = {id for kind in (INGRESS, EGRESS) for id in resources(stack, kind) if id.startswith("Lustre")}
    assert len(own) == 20
    assert set(only(stack, FILE_SYSTEM)["DependsOn"]) >= own


def test_efa_opens_all_traffic_between_the_groups(stack: Stack, network: ClusterNetwork) -> None:
    lustre = LustreStorage(stack, "Lustre", network=network, efa_enabled=True, storage_capacity_gib=19200)
    assert only(stack, FILE_SYSTEM)["Properties"]["LustreConfiguration"]["EfaEnabled"] is True
    found = rules(stack, lustre)
    assert len(found[INGRESS]) == len(found[EGRESS]) == 3
    assert {rule[2:] for rule in found[INGRESS] | found[EGRESS]} == {(None, None)}


@pytest.mark.parametrize(("policy", "rendered"), [(None, "RetainExceptOnCreate"), (RemovalPolicy.DESTROY, "Delete")])
def test_data_is_kept_unless_destroy_is_written(
    stack: Stack, network: ClusterNetwork, policy: RemovalPolicy | None, rendered: str
) -> None:
    default = LustreStorage(stack, "Lustre", network=network) if policy is None else None
    lustre = default or LustreStorage(stack, "Lustre", network=network, removal_policy=policy or RemovalPolicy.RETAIN)
    lustre.add_data_repository("Data", bucket=s3.Bucket(stack, "Bucket"), file_system_path="/data")
    kept = [only(stack, FILE_SYSTEM), only(stack, ASSOCIATION)]
    kept += [group for id, group in resources(stack, "AWS::EC2::SecurityGroup").items() if id.startswith("Lustre")]
    kept += [rule for kind in (INGRESS, EGRESS) for id, rule in resources(stack, kind).items() if id.startswith("LustreSelf")]
    assert len(kept) == 7
    assert {resource.get("DeletionPolicy") for resource in kept} == {rendered}


def test_takes_tokens(stack: Stack, network: ClusterNetwork) -> None:
    numbers = {
        name: CfnParameter(stack, name, type="Number").value_as_number for name in ("Capacity", "Throughput", "Iops", "Days")
    }
    path = CfnParameter(stack, "Path").value_as_string
    prefix = CfnParameter(stack, "Prefix").value_as_string
    lustre = LustreStorage(
        stack,
        "Lustre",
        network=network,
        storage_capacity_gib=numbers["Capacity"],  # type: ignore[arg-type]
        per_unit_storage_throughput=numbers["Throughput"],  # type: ignore[arg-type]
        metadata_iops=numbers["Iops"],  # type: ignore[arg-type]
    )
    lustre.add_data_repository("Data", bucket=s3.Bucket(stack, "Bucket"), file_system_path=path, prefix=prefix)
    properties = only(stack, FILE_SYSTEM)["Properties"]
    assert properties["StorageCapacity"] == {"Ref": "Capacity"}
    assert properties["LustreConfiguration"]["MetadataConfiguration"] == {"Mode": "USER_PROVISIONED", "Iops": {"Ref": "Iops"}}
    assert only(stack, ASSOCIATION)["Properties"]["FileSystemPath"] == {"Ref": "Path"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"storage_capacity_gib": 3000}, "storage_capacity_gib 3000 is not 1200 or a multiple of 2400; the nearest is 2400"),
        ({"storage_capacity_gib": 1300}, "the nearest is 1200"),
        ({"storage_capacity_gib": 0}, "storage_capacity_gib 0 is not 1200 or a multiple of 2400"),
        ({"per_unit_storage_throughput": 200}, "200 is not a tier of PERSISTENT_2 (125, 250, 500, 1000); the nearest is 250"),
        ({"efa_enabled": True}, "1200 is not a multiple of 19200 with EFA at 250 MB/s/TiB; the nearest is 19200"),
        ({"metadata_iops": 18000}, "metadata_iops 18000 is not 1500, 3000, 6000 or a multiple of 12000 up to 192000"),
        ({"metadata_iops": 204000}, "metadata_iops 204000 is not"),
    ],
)
def test_fails_on_figures_that_the_service_does_not_have(
    stack: Stack, network: ClusterNetwork, parameters: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Lustre: ") as caught:
        LustreStorage(stack, "Lustre", network=network, **parameters)  # type: ignore[arg-type]
    assert message in str(caught.value)


@pytest.mark.parametrize(("capacity", "throughput", "efa"), [(2400, 125, False), (38400, 125, True), (4800, 1000, True)])
def test_capacities_of_the_service_pass(stack: Stack, network: ClusterNetwork, capacity: int, throughput: int, efa: bool) -> None:
    LustreStorage(
        stack,
        "Lustre",
        network=network,
        storage_capacity_gib=capacity,
        per_unit_storage_throughput=throughput,
        efa_enabled=efa,
    )
    assert only(stack, FILE_SYSTEM)["Properties"]["StorageCapacity"] == capacity


def test_an_association_imports_all_and_exports_no_deletion(stack: Stack, lustre: LustreStorage) -> None:
    lustre.add_data_repository("Data", bucket=s3.Bucket(stack, "Bucket"), file_system_path="/data", prefix="sets/")
    properties = only(stack, ASSOCIATION)["Properties"]
    assert properties["S3"] == {
        "AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]},
        "AutoExportPolicy": {"Events": ["NEW", "CHANGED"]},
    }
    assert "BatchImportMetaDataOnCreate" not in properties
    assert properties["DataRepositoryPath"]["Fn::Join"][1][-1] == "/sets/"


def test_an_association_may_preload_and_be_one_way(stack: Stack, lustre: LustreStorage) -> None:
    lustre.add_data_repository(
        "Data",
        bucket=s3.Bucket(stack, "Bucket"),
        file_system_path="/data",
        auto_export_events=(),
        preload_metadata=True,
    )
    properties = only(stack, ASSOCIATION)["Properties"]
    assert properties["BatchImportMetaDataOnCreate"] is True
    assert list(properties["S3"]) == ["AutoImportPolicy"]


def test_deletions_are_exported_to_a_versioned_bucket(stack: Stack, lustre: LustreStorage) -> None:
    lustre.add_data_repository(
        "Data",
        bucket=s3.Bucket(stack, "Bucket", versioned=True),
        file_system_path="/data",
        auto_export_events=(RepositoryEvent.DELETED,),
    )
    assert only(stack, ASSOCIATION)["Properties"]["S3"]["AutoExportPolicy"] == {"Events": ["DELETED"]}


@pytest.mark.parametrize("imported", [False, True])
def test_fails_to_export_deletions_to_a_bucket_without_versions(stack: Stack, lustre: LustreStorage, imported: bool) -> None:
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "data") if imported else s3.Bucket(stack, "Bucket")
    with pytest.raises(ValueError, match=r"Stack/Lustre/Data: .*one rm -rf on the file system would empty it"):
        lustre.add_data_repository("Data", bucket=bucket, file_system_path="/data", auto_export_events=(RepositoryEvent.DELETED,))
    assert resources(stack, ASSOCIATION) == {}


def test_an_imported_bucket_may_be_said_to_be_versioned(stack: Stack, lustre: LustreStorage) -> None:
    lustre.add_data_repository(
        "Data",
        bucket=s3.Bucket.from_bucket_name(stack, "Bucket", "data"),
        file_system_path="/data",
        auto_export_events=(RepositoryEvent.DELETED,),
        bucket_is_versioned=True,
    )
    assert len(resources(stack, ASSOCIATION)) == 1


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (("/data", "a"), ("/data/sets", "b"), "'/data/sets' overlaps '/data' of Stack/Lustre/First"),
        (("/", "a"), ("/data", "b"), "'/data' overlaps '/' of Stack/Lustre/First"),
        (("/a", "sets"), ("/b", "sets/train"), "overlaps s3://"),
        (("/a", ""), ("/b", "sets"), "overlaps s3://"),
    ],
)
def test_fails_on_overlaps(
    stack: Stack, lustre: LustreStorage, first: tuple[str, str], second: tuple[str, str], message: str
) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    lustre.add_data_repository("First", bucket=bucket, file_system_path=first[0], prefix=first[1])
    with pytest.raises(ValueError, match=r"^Stack/Lustre/Second: ") as caught:
        lustre.add_data_repository("Second", bucket=bucket, file_system_path=second[0], prefix=second[1])
    assert message in str(caught.value)


def test_neighbours_and_other_buckets_do_not_overlap(stack: Stack, lustre: LustreStorage) -> None:
    one, two = s3.Bucket(stack, "One"), s3.Bucket(stack, "Two")
    lustre.add_data_repository("A", bucket=one, file_system_path="/data", prefix="train")
    lustre.add_data_repository("B", bucket=one, file_system_path="/data2", prefix="train2")
    lustre.add_data_repository("C", bucket=two, file_system_path="/more", prefix="train")
    assert len(resources(stack, ASSOCIATION)) == 3


def test_fails_on_a_ninth_association(stack: Stack, lustre: LustreStorage) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    for number in range(8):
        lustre.add_data_repository(f"Data{number}", bucket=bucket, file_system_path=f"/{number}", prefix=f"{number}")
    with pytest.raises(ValueError, match="at most 8 associations"):
        lustre.add_data_repository("Ninth", bucket=bucket, file_system_path="/9", prefix="9")


def test_fails_on_a_relative_path(stack: Stack, lustre: LustreStorage) -> None:
    with pytest.raises(ValueError, match="file_system_path 'data' does not start with /; write the directory from the root"):
        lustre.add_data_repository("Data", bucket=s3.Bucket(stack, "Bucket"), file_system_path="data")


def test_fails_to_link_a_file_system_that_is_backed_up(stack: Stack, network: ClusterNetwork) -> None:
    lustre = LustreStorage(stack, "Lustre", network=network, automatic_backup_retention_days=7)
    with pytest.raises(
        ValueError, match="automatic_backup_retention_days is 7, and FSx cannot back up a file system with associations"
    ):
        lustre.add_data_repository("Data", bucket=s3.Bucket(stack, "Bucket"), file_system_path="/data")


def test_fsx_is_admitted_to_the_key_of_a_linked_bucket(stack: Stack, lustre: LustreStorage) -> None:
    bucket = s3.Bucket(stack, "Bucket", encryption_key=kms.Key(stack, "Key"))
    lustre.add_data_repository("Data", bucket=bucket, file_system_path="/data")
    statement = only(stack, "AWS::KMS::Key")["Properties"]["KeyPolicy"]["Statement"][-1]
    assert "kms:GenerateDataKey*" in statement["Action"]
    assert statement["Condition"]["StringEquals"] == {"kms:CallerAccount": {"Ref": "AWS::AccountId"}}
    assert "AWSServiceRoleForFSxS3Access_*" in str(statement["Condition"]["ArnLike"])


def test_an_existing_file_system_has_the_name_of_the_region(stack: Stack) -> None:
    existing = LustreStorage.from_attributes(file_system_id="fs-01234567", mount_name="abc")
    assert stack.resolve(existing.dns_name) == {
        "Fn::Join": ["", ["fs-01234567.fsx.", {"Ref": "AWS::Region"}, ".", {"Ref": "AWS::URLSuffix"}]]
    }
    assert (
        LustreStorage.from_attributes(file_system_id="fs-01234567", mount_name="abc", dns_name="fs-01234567.fsx.example").dns_name
        == "fs-01234567.fsx.example"
    )


def test_only_network_and_key_are_create_only() -> None:
    def create_only(**changes: object) -> list[object]:
        other = Stack(App(), "Stack")
        network = ClusterNetwork(other, "Network", availability_zone_id=ZONE)
        LustreStorage(other, "Lustre", network=network, **changes)  # type: ignore[arg-type]
        properties = only(other, FILE_SYSTEM)["Properties"]
        create_only = ("SubnetIds", "SecurityGroupIds", "KmsKeyId", "FileSystemType", "FileSystemTypeVersion")
        nested = ("DeploymentType", "CopyTagsToBackups", "EfaEnabled", "PerUnitStorageThroughput")
        return [properties.get(name) for name in create_only] + [properties["LustreConfiguration"].get(name) for name in nested]

    unchanged = create_only()
    assert create_only(storage_capacity_gib=4800) == unchanged
    assert create_only(metadata_iops=6000, automatic_backup_retention_days=7) == unchanged
    assert create_only(per_unit_storage_throughput=500) != unchanged


def test_clients_of_a_stack_that_depends_on_the_file_system() -> None:
    app = App()
    foundation, other = Stack(app, "Foundation"), Stack(app, "Studio")
    network = ClusterNetwork(foundation, "Network", availability_zone_id=ZONE)
    lustre = LustreStorage(foundation, "Lustre", network=network)
    lustre.allow_clients("Studio", ec2.SecurityGroup(other, "Group", vpc=network.vpc), scope=other)
    assert len(resources(other, INGRESS)) == len(resources(other, EGRESS)) == 4


def test_an_imported_file_system_has_associations_too(stack: Stack) -> None:
    existing = LustreStorage.from_attributes(file_system_id="fs-01234567", mount_name="abc")
    bucket = s3.Bucket(stack, "Bucket")
    existing.add_data_repository(stack, "Data", bucket=bucket, file_system_path="/data", prefix="sets")
    association = only(stack, "AWS::FSx::DataRepositoryAssociation")
    assert association["Properties"]["FileSystemId"] == "fs-01234567"
    assert association["Properties"]["FileSystemPath"] == "/data"
    assert association["Properties"]["S3"] == {
        "AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]},
        "AutoExportPolicy": {"Events": ["NEW", "CHANGED"]},
    }
    assert association["DeletionPolicy"] == "RetainExceptOnCreate"


def test_fails_on_overlaps_of_an_imported_file_system(stack: Stack) -> None:
    existing = LustreStorage.from_attributes(file_system_id="fs-01234567", mount_name="abc")
    bucket = s3.Bucket(stack, "Bucket")
    existing.add_data_repository(stack, "Data", bucket=bucket, file_system_path="/data", prefix="a")
    with pytest.raises(ValueError, match=r"^Stack/Sets: .*'/data/sets' overlaps '/data' of Stack/Data"):
        existing.add_data_repository(stack, "Sets", bucket=bucket, file_system_path="/data/sets", prefix="b")


def test_an_imported_file_system_is_still_a_value(stack: Stack) -> None:
    one, two = (
        LustreStorage.from_attributes(file_system_id="fs-01234567", mount_name="abc", dns_name="fs-01234567.fsx.example")
        for _ in "ab"
    )
    one.add_data_repository(stack, "Data", bucket=s3.Bucket(stack, "Bucket"), file_system_path="/data")
    assert one == two
    assert hash(one) == hash(two)
    assert "associations" not in repr(one)


def test_an_association_may_say_the_size_of_chunks(stack: Stack, lustre: LustreStorage) -> None:
    lustre.add_data_repository("Data", bucket=s3.Bucket(stack, "Bucket"), file_system_path="/data", imported_file_chunk_size=4096)
    assert only(stack, ASSOCIATION)["Properties"]["ImportedFileChunkSize"] == 4096
    with pytest.raises(ValueError, match=r"imported_file_chunk_size is 0; allowed: 1 to 512000"):
        lustre.add_data_repository("More", bucket=s3.Bucket(stack, "B"), file_system_path="/more", imported_file_chunk_size=0)
    assert [link.node.id for link in lustre.associations] == ["Data"]


def test_backups_have_days_a_time_and_tags(stack: Stack, network: ClusterNetwork) -> None:
    LustreStorage(
        stack,
        "Lustre",
        network=network,
        automatic_backup_retention_days=7,
        daily_automatic_backup_start_time="03:30",
        copy_tags_to_backups=True,
        weekly_maintenance_start_time="7:05:00",
    )
    rendered = only(stack, FILE_SYSTEM)["Properties"]["LustreConfiguration"]
    assert (
        rendered.items()
        >= {
            "AutomaticBackupRetentionDays": 7,
            "DailyAutomaticBackupStartTime": "03:30",
            "CopyTagsToBackups": True,
            "WeeklyMaintenanceStartTime": "7:05:00",
        }.items()
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"daily_automatic_backup_start_time": "24:00"}, "daily_automatic_backup_start_time is '24:00'; allowed: a time of day"),
        ({"daily_automatic_backup_start_time": "0500"}, 'write daily_automatic_backup_start_time="05:00"'),
        ({"weekly_maintenance_start_time": "8:05:00"}, 'write weekly_maintenance_start_time="7:05:00"'),
        ({"weekly_maintenance_start_time": "٣:05:00"}, "allowed: a day of the week from 1 (Monday) to 7 (Sunday)"),
        ({"automatic_backup_retention_days": 91}, "automatic_backup_retention_days is 91; allowed: 0 to 90"),
        ({"daily_automatic_backup_start_time": "05:00"}, "is '05:00' without automatic backups; write automatic_backup_retention"),
        (
            {"throughput_capacity": 4000},
            "throughput_capacity is given without INTELLIGENT_TIERING; leave it out, or write storage_",
        ),
    ],
)
def test_fails_on_times_and_figures_that_do_not_fit(
    stack: Stack, network: ClusterNetwork, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Lustre: ") as caught:
        LustreStorage(stack, "Lustre", network=network, **parameters)
    assert message in str(caught.value)


def tiered(stack: Stack, network: ClusterNetwork, **more: Any) -> LustreStorage:
    figures = {"storage_type": LustreStorageType.INTELLIGENT_TIERING, "throughput_capacity": 8000, **more}
    return LustreStorage(stack, "Lustre", network=network, **figures)


def test_intelligent_tiering_has_its_own_figures(stack: Stack, network: ClusterNetwork) -> None:
    tiered(stack, network, data_read_cache_configuration=LustreReadCacheConfiguration(sizing_mode=USER, size_gib=64))
    properties = only(stack, FILE_SYSTEM)["Properties"]
    assert properties["StorageType"] == "INTELLIGENT_TIERING"
    assert "StorageCapacity" not in properties
    assert properties["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2",
        "DataCompressionType": "LZ4",
        "ThroughputCapacity": 8000,
        "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 64},
        "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
    }


def test_its_cache_follows_the_throughput_unless_given(stack: Stack, network: ClusterNetwork) -> None:
    tiered(stack, network, metadata_iops=12000)
    rendered = only(stack, FILE_SYSTEM)["Properties"]["LustreConfiguration"]
    assert rendered["DataReadCacheConfiguration"] == {"SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"}
    assert rendered["MetadataConfiguration"]["Iops"] == 12000


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"throughput_capacity": None},
            "throughput_capacity is missing; INTELLIGENT_TIERING needs it: write throughput_capacity=4000",
        ),
        (
            {"throughput_capacity": 6000},
            "throughput_capacity 6000 is not a multiple of 4000 MB/s from 4000 to 2000000; the nearest is",
        ),
        ({"throughput_capacity": 0}, "the nearest is 4000"),
        ({"throughput_capacity": 2_004_000}, "the nearest is 2000000"),
        ({"storage_capacity_gib": 1200}, "storage_capacity_gib is 1200 with INTELLIGENT_TIERING; leave it out"),
        ({"per_unit_storage_throughput": 250}, "per_unit_storage_throughput is 250 with INTELLIGENT_TIERING"),
        ({"metadata_iops": 3000}, "metadata_iops 3000 is not 6000 or 12000"),
        ({"cache": 63}, "size_gib 63 is not 64 to 262144 GiB at 8000 MB/s"),
    ],
)
def test_fails_on_figures_that_intelligent_tiering_does_not_have(
    stack: Stack, network: ClusterNetwork, parameters: dict[str, Any], message: str
) -> None:
    size = parameters.pop("cache", None)
    if size is not None:
        parameters["data_read_cache_configuration"] = LustreReadCacheConfiguration(sizing_mode=USER, size_gib=size)
    with pytest.raises(ValueError, match=r"^Stack/Lustre: ") as caught:
        tiered(stack, network, **parameters)
    assert message in str(caught.value)


def test_a_read_cache_has_a_size_with_one_mode_only() -> None:
    with pytest.raises(ValueError, match="size_gib is missing"):
        LustreReadCacheConfiguration(sizing_mode=USER)
    with pytest.raises(ValueError, match="size_gib is 64 beside sizing_mode NO_CACHE; leave it out, or write sizing_mode="):
        LustreReadCacheConfiguration(sizing_mode=LustreReadCacheSizingMode.NO_CACHE, size_gib=64)


@pytest.mark.parametrize("parameters", [{"copy_tags_to_backups": True}, {"tiered": True}])
def test_fails_to_link_a_file_system_that_takes_no_links(
    stack: Stack, network: ClusterNetwork, parameters: dict[str, bool]
) -> None:
    lustre = tiered(stack, network) if "tiered" in parameters else LustreStorage(stack, "Lustre", network=network, **parameters)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^Stack/Lustre: (copy_tags_to_backups is set|storage_type is Intelligent-Tiering)"):
        lustre.add_data_repository("Data", bucket=s3.Bucket(stack, "Bucket"), file_system_path="/data")


def test_logs_go_to_a_group_of_fsx(stack: Stack, network: ClusterNetwork) -> None:
    group = logs.LogGroup(stack, "Logs", log_group_name="/aws/fsx/lustre-data")
    log = LustreLogConfiguration(level=LustreLogLevel.ERROR_ONLY, destination=group)
    LustreStorage(stack, "Lustre", network=network, log_configuration=log)
    rendered = only(stack, FILE_SYSTEM)["Properties"]["LustreConfiguration"]["LogConfiguration"]
    assert rendered == {"Level": "ERROR_ONLY", "Destination": stack.resolve(group.log_group_arn)}


def test_fails_on_log_groups_that_fsx_does_not_take(stack: Stack) -> None:
    for group, shown in (
        (logs.LogGroup(stack, "Other", log_group_name="/my/logs"), "'/my/logs'"),
        (logs.LogGroup(stack, "Unnamed"), "'Stack/Unnamed without log_group_name'"),
        (logs.LogGroup.from_log_group_name(stack, "Imported", "/my/logs"), "'/my/logs'"),
    ):
        with pytest.raises(
            ValueError, match=f"destination is the log group {shown}, whose name does not begin with /aws/fsx; name"
        ):
            LustreLogConfiguration(destination=group)
    right = logs.LogGroup(stack, "Right", log_group_name="/aws/fsx/x")
    with pytest.raises(ValueError, match="destination is beside the level DISABLED, which takes none; leave the destination out"):
        LustreLogConfiguration(level=LustreLogLevel.DISABLED, destination=right)
    imported = logs.LogGroup.from_log_group_name(stack, "Token", CfnParameter(stack, "Name").value_as_string)
    assert LustreLogConfiguration(destination=imported).destination is imported


@pytest.mark.parametrize(
    ("kind", "member"),
    [
        (CompressionType, "DataCompressionType"),
        (LustreLogLevel, "LogConfiguration/Level"),
        (LustreReadCacheSizingMode, "DataReadCacheConfiguration/SizingMode"),
    ],
)
def test_words_are_those_of_the_service(kind: type[StrEnum], member: str) -> None:
    assert {word.value for word in kind} == set(property_limit(f"fsx:CreateFileSystem/LustreConfiguration/{member}").choices)
