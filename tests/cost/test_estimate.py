"""The hourly estimate of a template."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.cost.errors import PriceFileError
from hyperpod_constructs.cost.estimate import CostEstimate, CostRow, hourly_cost
from hyperpod_constructs.cost.prices import Prices
from hyperpod_constructs.facts import prices


def estimate(resource_type: str, **properties: Any) -> CostEstimate:
    return hourly_cost({"Resources": {"Thing": {"Type": resource_type, "Properties": properties}}})


def cluster(*groups: dict[str, Any], **properties: Any) -> CostEstimate:
    return estimate("AWS::SageMaker::Cluster", InstanceGroups=list(groups), **properties)


def lustre(capacity: Any = 1200, throughput: Any = 125, **properties: Any) -> CostEstimate:
    configuration = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": throughput}
    configuration |= properties.pop("lustre", {})
    return estimate(
        "AWS::FSx::FileSystem",
        FileSystemType="LUSTRE",
        StorageCapacity=capacity,
        LustreConfiguration=configuration,
        **properties,
    )


def test_the_groups_of_a_cluster() -> None:
    found = cluster(
        {"InstanceGroupName": "controller", "InstanceType": "ml.m5.xlarge", "InstanceCount": 1},
        {"InstanceGroupName": "workers", "InstanceType": "ml.trn1.32xlarge", "InstanceCount": 4},
    )
    assert found.rows == (
        CostRow(
            logical_id="Thing", resource_type="AWS::SageMaker::Cluster", what="controller: 1 x ml.m5.xlarge", usd_per_hour=0.192
        ),
        CostRow(
            logical_id="Thing", resource_type="AWS::SageMaker::Cluster", what="workers: 4 x ml.trn1.32xlarge", usd_per_hour=86.0
        ),
    )
    assert found.usd_per_hour == pytest.approx(86.192)
    assert not found.unpriced
    assert found.label == "EC2 on-demand us-east-1, not the SageMaker price"


def test_restricted_groups_count_too() -> None:
    group = {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2}
    assert cluster(RestrictedInstanceGroups=[group]).usd_per_hour == pytest.approx(110.08)


@pytest.mark.parametrize(
    ("group", "what"),
    [
        ({"InstanceType": "ml.p5e.48xlarge", "InstanceCount": 2}, "2 x ml.p5e.48xlarge"),
        ({"InstanceType": {"Ref": "Type"}, "InstanceCount": 2}, "2 x an unknown type"),
        ({"InstanceType": "ml.m5.xlarge", "InstanceCount": {"Ref": "Count"}}, "an unknown number of x ml.m5.xlarge"),
        (
            {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1, "TrainingPlanArn": "arn"},
            "1 x ml.m5.xlarge of a training plan, paid up front",
        ),
        (
            {"InstanceType": "ml.m5.xlarge", "InstanceCount": 1, "CapacityRequirements": {"Spot": {}}},
            "1 x ml.m5.xlarge",
        ),
        (
            {"InstanceRequirements": {"InstanceTypes": ["ml.m5.xlarge", "ml.m5.large"]}, "InstanceCount": 3},
            "3 x ml.m5.xlarge or ml.m5.large",
        ),
    ],
)
def test_a_group_without_a_known_price(group: dict[str, Any], what: str) -> None:
    found = cluster(group)
    assert found.unpriced == (what,)
    assert found.usd_per_hour == 0


def test_a_single_flexible_type_has_its_price() -> None:
    group = {"InstanceRequirements": {"InstanceTypes": ["ml.m5.xlarge"]}, "InstanceCount": 2}
    assert cluster(group).usd_per_hour == pytest.approx(0.384)


def test_groups_that_the_template_computes_are_unknown() -> None:
    found = estimate("AWS::SageMaker::Cluster", InstanceGroups={"Ref": "Groups"})
    assert found.unpriced == ("InstanceGroups of a cluster, unknown in this template",)


def test_volumes_of_a_group_are_named_without_price() -> None:
    volume = {"EbsVolumeConfig": {"VolumeSizeInGB": 500}}
    storage = [volume, {"FsxLustreConfig": {"DnsName": "fs", "MountName": "m"}}]
    found = cluster({"InstanceType": "ml.m5.xlarge", "InstanceCount": 2, "InstanceStorageConfigs": storage})
    assert found.unpriced == ("2 x EBS volume of 500 GB",)


def test_a_lustre_file_system_by_capacity() -> None:
    found = lustre(2400)
    assert found.usd_per_hour == pytest.approx(2400 * 0.145 / 730)
    assert found.rows[0].what == "LUSTRE file system of 2400 GiB, 125 MB/s per TiB"


@pytest.mark.parametrize(
    "found",
    [
        lustre(throughput=250),
        lustre(throughput={"Ref": "Throughput"}),
        lustre(capacity={"Ref": "Capacity"}),
        lustre(lustre={"DeploymentType": "SCRATCH_2"}),
        lustre(StorageType="HDD"),
    ],
)
def test_a_file_system_without_a_known_price(found: CostEstimate) -> None:
    assert [row.usd_per_hour for row in found.rows] == [None]


def database(prices: Prices | None = None, **properties: Any) -> CostEstimate:
    given = {"DBInstanceClass": "db.t4g.medium", "StorageType": "gp3", "AllocatedStorage": "20", **properties}
    return hourly_cost({"Resources": {"Database": {"Type": "AWS::RDS::DBInstance", "Properties": given}}}, prices)


def test_a_database_is_named_in_parts_and_costs_twice_with_a_standby() -> None:
    alone = database(BackupRetentionPeriod=0)
    assert {row.what: row.usd_per_hour for row in alone.rows} == {
        "database db.t4g.medium": None,
        "20 GB of storage of the database": pytest.approx(20 * 0.115 / 730),
    }
    prices = Prices(database_class_hour={"db.t4g.medium": 0.5}, database_gb_month={"gp3": 0.73}, secret_month=7.3)
    found = database(prices, MultiAZ=True, ManageMasterUserPassword=True)
    backups = "backups of the database beyond its size"
    assert {row.what: row.usd_per_hour for row in found.rows} == {
        "database db.t4g.medium in two zones": pytest.approx(1.0),
        "20 GB of storage of the database in two zones": pytest.approx(0.04),
        "secret of the database": pytest.approx(0.01),
        backups: None,
    }
    assert found.unpriced == (backups,)
    assert [row.what for row in database(DBClusterIdentifier="aurora").rows] == ["database db.t4g.medium"]


def openzfs(prices: Prices | None = None, **configuration: Any) -> CostEstimate:
    given = {"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 160, **configuration}
    properties = {"FileSystemType": "OPENZFS", "StorageCapacity": 64, "OpenZFSConfiguration": given}
    return hourly_cost({"Resources": {"Homes": {"Type": "AWS::FSx::FileSystem", "Properties": properties}}}, prices)


def test_an_openzfs_file_system_is_named_in_parts_and_priced_by_a_user() -> None:
    disks = {"Mode": "USER_PROVISIONED", "Iops": 300}
    parts = ("OPENZFS file system of 64 GiB", "160 MB/s of the OPENZFS file system", "disk IOPS of the OPENZFS file system")
    backups = "backups of the OPENZFS file system, by their size"
    assert openzfs(DiskIopsConfiguration=disks).unpriced == (*parts, backups)
    assert openzfs(AutomaticBackupRetentionDays=0, DiskIopsConfiguration={"Mode": "AUTOMATIC"}).unpriced == parts[:2]
    kind = "SINGLE_AZ_HA_2"
    prices = Prices(openzfs_gb_month={kind: 0.73}, openzfs_mbps_month={kind: 7.3}, disk_iops_month=0.0073)
    found = openzfs(prices, DiskIopsConfiguration=disks)
    assert {row.what: row.usd_per_hour for row in found.rows} == {
        parts[0]: pytest.approx(0.064),
        parts[1]: pytest.approx(1.6),
        parts[2]: pytest.approx((300 - 3 * 64) * 1e-5),
        backups: None,
    }
    assert found.unpriced == (backups,)


def test_metadata_iops_are_named_without_price() -> None:
    found = lustre(lustre={"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12000}})
    assert found.unpriced == ("metadata IOPS of the LUSTRE file system",)


def test_intelligent_tiering_and_backups_are_named_and_priced_by_a_user() -> None:
    configuration = {
        "ThroughputCapacity": 4000,
        "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 730},
        "AutomaticBackupRetentionDays": 7,
    }
    tiered = {"FileSystemType": "LUSTRE", "StorageType": "INTELLIGENT_TIERING", "LustreConfiguration": configuration}
    template = {"Resources": {"Files": {"Type": "AWS::FSx::FileSystem", "Properties": tiered}}}
    assert hourly_cost(template).unpriced == (
        "files of the LUSTRE file system in Intelligent-Tiering, by their size and use",
        "4000 MB/s of the LUSTRE file system",
        "read cache of 730 GiB",
        "backups of the LUSTRE file system, by their size",
    )
    own = Prices(lustre_tiering_mbps_month=0.73, lustre_read_cache_gb_month=0.1)
    assert [row.usd_per_hour for row in hourly_cost(template, own).rows] == [None, pytest.approx(4.0), pytest.approx(0.1), None]
    configuration["DataReadCacheConfiguration"] = {"SizingMode": "NO_CACHE"}
    configuration["AutomaticBackupRetentionDays"] = 0
    assert len(hourly_cost(template).rows) == 2


@pytest.mark.parametrize(
    ("resource_type", "properties", "price"),
    [
        ("AWS::EC2::NatGateway", {}, 0.045),
        ("AWS::EC2::EIP", {}, 0.005),
        ("AWS::EC2::VPCEndpoint", {}, 0.0),
        ("AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Interface"}, None),
        ("AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Interface", "SubnetIds": ["a", "b"]}, 0.02),
        ("AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Interface", "SubnetIds": {"Ref": "Subnets"}}, None),
        ("AWS::EC2::VPCEndpoint", {"VpcEndpointType": {"Ref": "Kind"}}, None),
        ("AWS::EKS::Cluster", {}, 0.10),
        ("Custom::AWSCDK-EKS-Cluster", {}, 0.10),
        ("AWS::KMS::Key", {}, 1 / 730),
        ("AWS::SecretsManager::Secret", {}, None),
        ("AWS::S3::Bucket", {}, None),
        ("AWS::Logs::LogGroup", {}, None),
        ("AWS::RDS::DBCluster", {}, None),
    ],
)
def test_other_resources(resource_type: str, properties: dict[str, Any], price: float | None) -> None:
    assert [row.usd_per_hour for row in estimate(resource_type, **properties).rows] == [price]


def test_defaults_of_parameters_and_conditions_count() -> None:
    found = hourly_cost(
        {
            "Parameters": {"Count": {"Type": "Number", "Default": 2}},
            "Conditions": {"Never": {"Fn::Equals": ["a", "b"]}},
            "Resources": {
                "Cluster": {
                    "Type": "AWS::SageMaker::Cluster",
                    "Properties": {"InstanceGroups": [{"InstanceType": "ml.m5.xlarge", "InstanceCount": {"Ref": "Count"}}]},
                },
                "Nat": {"Type": "AWS::EC2::NatGateway", "Condition": "Never"},
            },
        }
    )
    assert [(row.what, row.usd_per_hour) for row in found.rows] == [("2 x ml.m5.xlarge", 0.384)]
    assert found.usd_per_month == pytest.approx(0.384 * 730)


def test_fewer_than_no_nodes_cost_nobody_less() -> None:
    assert cluster({"InstanceType": "ml.m5.xlarge", "InstanceCount": -3}).unpriced == ("an unknown number of x ml.m5.xlarge",)


def test_root_volumes_come_with_the_instance() -> None:
    storage = [{"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": "key"}}]
    assert cluster({"InstanceType": "ml.m5.xlarge", "InstanceCount": 2, "InstanceStorageConfigs": storage}).unpriced == ()


def test_prices_of_a_user(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"instance_hour": {"ml.p5e.48xlarge": 60}, "ebs_gb_month": 0.73, "metadata_iops_month": 0.073}))
    own = Prices.read(path)
    volume = {"EbsVolumeConfig": {"VolumeSizeInGB": 100}}
    group = {"InstanceType": "ml.p5e.48xlarge", "InstanceCount": 2, "InstanceStorageConfigs": [volume]}
    metadata = {"MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000}}
    resources = {
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": [group]}},
        "Files": {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE", "LustreConfiguration": metadata}},
        "Nat": {"Type": "AWS::EC2::NatGateway"},
    }
    found = hourly_cost({"Resources": resources}, own)
    assert [row.usd_per_hour for row in found.rows] == [120, pytest.approx(0.2), None, pytest.approx(0.6), 0.045]
    assert found.label == "prices.json; other prices: EC2 on-demand us-east-1, not the SageMaker price"


def test_an_unknown_type_is_named() -> None:
    assert estimate("AWS::RDS::DBCluster").unpriced == ("AWS::RDS::DBCluster",)


@pytest.mark.parametrize("resource_type", ["AWS::IAM::Role", "AWS::EC2::Subnet", "Custom::Gate", "AWS::CDK::Metadata"])
def test_free_types_have_no_row(resource_type: str) -> None:
    assert estimate(resource_type).rows == ()


def test_a_resource_without_properties_and_a_template_without_resources() -> None:
    assert hourly_cost({"Resources": {"Nat": {"Type": "AWS::EC2::NatGateway"}}}).usd_per_hour == 0.045
    assert hourly_cost({}).rows == ()


def test_every_price_is_of_a_known_instance_type() -> None:
    assert set(prices.INSTANCE_HOUR) <= set(ClusterInstanceType.names())


def test_prices_within_a_family_without_accelerators_follow_the_cores() -> None:
    """A typo in the table stands out: on demand, twice the vCPUs cost twice as much, except for burstable families."""
    by_family: dict[str, set[float]] = {}
    for name, price in prices.INSTANCE_HOUR.items():
        kind = ClusterInstanceType.of(name)
        family = name.split(".")[1]
        if kind.accelerator is None and kind.vcpus is not None and family != "t3":
            by_family.setdefault(family, set()).add(price / kind.vcpus)
    for family, ratios in by_family.items():
        assert max(ratios) / min(ratios) < 1.002, family


def test_types_that_the_source_lacks_are_unknown() -> None:
    missing = set(ClusterInstanceType.names()) - set(prices.INSTANCE_HOUR)
    families = {name.split(".")[1] for name in missing}
    assert families == {"p5e", "p6-b300", "p6e-gb200", "trn2", "g7"}


def test_the_import_loads_neither_cdk_nor_boto3() -> None:
    command = [sys.executable, "-c", "import sys, hyperpod_constructs.cost.estimate; print(*sys.modules)"]
    loaded = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()  # noqa: S603
    assert not {"aws_cdk", "jsii", "boto3", "botocore"} & set(loaded)


@pytest.mark.parametrize(
    ("version", "day", "usd", "words"),
    [
        ("1.33", date(2026, 7, 28), 0.10, "EKS control plane in standard support"),
        ("1.33", date(2026, 7, 29), 0.60, "EKS control plane in extended support of Kubernetes 1.33 (since 2026-07-29)"),
        ("1.33", date(2029, 1, 1), 0.60, "EKS control plane in extended support of Kubernetes 1.33 (since 2026-07-29)"),
        ("1.99", date(2029, 1, 1), 0.10, "EKS control plane in standard support"),
        ({"Ref": "AWS::StackName"}, date(2029, 1, 1), 0.10, "EKS control plane in standard support"),
    ],
)
def test_the_price_of_a_control_plane_depends_on_the_day(version: Any, day: date, usd: float, words: str) -> None:
    found = of_day(day, "AWS::EKS::Cluster", Version=version)
    assert [(row.what, row.usd_per_hour) for row in found.rows] == [(words, usd)]


def of_day(day: date, kind: str, **properties: Any) -> CostEstimate:
    return hourly_cost({"Resources": {"Thing": {"Type": kind, "Properties": properties}}}, Prices(day=day))


def test_a_cluster_that_eks_upgrades_never_costs_extended_support() -> None:
    found = of_day(date(2027, 1, 1), "AWS::EKS::Cluster", Version="1.33", UpgradePolicy={"SupportType": "STANDARD"})
    assert found.usd_per_hour == 0.10


def test_the_older_construct_library_has_its_version_elsewhere() -> None:
    assert of_day(date(2027, 1, 1), "Custom::AWSCDK-EKS-Cluster", Config={"version": "1.33"}).usd_per_hour == 0.60


def test_a_provisioned_tier_and_auto_mode_have_no_known_price() -> None:
    found = estimate("AWS::EKS::Cluster", ControlPlaneScalingConfig={"Tier": "tier-xl"}, ComputeConfig={"Enabled": True})
    assert found.unpriced == ("tier-xl of the EKS control plane", "nodes of EKS Auto Mode, by their use")


@pytest.mark.parametrize(
    ("given", "usd"),
    [
        ({"InstanceTypes": ["m5.large"], "ScalingConfig": {"DesiredSize": 3, "MinSize": 1}}, 0.288),
        ({"InstanceTypes": ["m5.large"], "ScalingConfig": {"MinSize": 0}}, 0.0),
        ({"InstanceTypes": ["m5.large"]}, 0.192),
        ({"InstanceTypes": ["m5.large"], "ScalingConfig": {"DesiredSize": -3}}, None),
        ({"InstanceTypes": ["m5.large"], "CapacityType": "SPOT"}, None),
        ({"InstanceTypes": ["m5.large", "m5.xlarge"]}, None),
        ({"LaunchTemplate": {"Id": "lt-1"}}, None),
        ({"InstanceTypes": ["x9.large"]}, None),
    ],
)
def test_nodes_that_eks_manages(given: dict[str, Any], usd: float | None) -> None:
    nodes, volumes = estimate("AWS::EKS::Nodegroup", **given).rows
    assert nodes.usd_per_hour == (usd if usd is None else pytest.approx(usd))
    assert ("20 GB" in volumes.what) is ("LaunchTemplate" not in given)


def test_an_add_on_costs_by_its_use_or_nothing() -> None:
    metered = estimate("AWS::EKS::Addon", AddonName="aws-guardduty-agent")
    assert metered.unpriced == ("GuardDuty's look at the nodes, by their processors",)
    assert estimate("AWS::EKS::Addon", AddonName="vpc-cni").rows == ()
    assert estimate("AWS::APS::Workspace").unpriced == ("storage and queries of metrics in Prometheus, by their amount",)


def test_a_file_of_prices_has_no_day(tmp_path: Path) -> None:
    (path := tmp_path / "prices.json").write_text('{"day": "2026-01-01"}')
    with pytest.raises(PriceFileError, match="'day' is not a price"):
        Prices.read(path)


def observed(*counts: Any, interval: Any = None, **given: Any) -> CostEstimate:
    """The samples of a cluster on EKS with observability."""
    eks: dict[str, Any] = {"ClusterArn": {"Fn::GetAtt": ["Control", "Arn"]}}
    groups = [{"InstanceGroupName": f"g{index}", "InstanceCount": count} for index, count in enumerate(counts)]
    metrics = {} if interval is None else {"nodeMetrics": {"scrapeInterval": interval}, "networkMetrics": {"scrapeInterval": 60}}
    addon = {
        "AddonName": "amazon-sagemaker-hyperpod-observability",
        "ClusterName": {"Ref": "Control"},
        "ConfigurationValues": json.dumps({"metricsProvider": metrics}),
    }
    resources = {
        "Control": {"Type": "AWS::EKS::Cluster"},
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"Orchestrator": {"Eks": eks}, "InstanceGroups": groups}},
        "Addon": {"Type": "AWS::EKS::Addon", "Properties": addon},
    }
    found = hourly_cost({"Resources": resources}, Prices(**given))
    return replace(found, rows=tuple(row for row in found.rows if row.logical_id == "Addon"))


def test_samples_cost_by_their_number() -> None:
    """8 nodes with 2,000 series, every 30 s, are 1,401,600,000 samples a month: 0.90 dollars for each 10 million."""
    (row,) = observed(6, 2, series_per_node=2000).rows
    assert row.what == "samples in Prometheus: 8 x 2000 series, every 30 s"
    assert row.usd_per_hour == pytest.approx(140.16 * 0.9 / 730)


def test_the_price_of_samples_falls_with_their_number() -> None:
    """525.6 billion samples a month: the first 2 billion, the next 250 billion, and the rest."""
    assert observed(100, interval=15, series_per_node=30_000).usd_per_month == pytest.approx(180 + 8750 + 4377.6)
    assert observed(100, series_per_node=30_000, prometheus_10_million_samples=1).usd_per_month == pytest.approx(26_280)


def test_samples_without_a_number_have_no_price() -> None:
    assert observed(8).unpriced == (
        "samples that the add-on sends to Prometheus: their price needs the number of series of a node",
    )
    (unknown,) = observed(8, {"Ref": "Count"}, series_per_node=2000).unpriced
    assert unknown == "samples in Prometheus: an unknown number of x 2000 series, every 30 s"


SETS = ["gpu", "memory", "neuron", "efa", "disk"]


def figures(counts: Mapping[str, Any], **metrics: Any) -> CostEstimate:
    """What the figures of nodes cost, by the number of nodes of each type."""
    groups = [
        {"InstanceGroupName": f"g{at}", "InstanceType": kind, "InstanceCount": counts[kind]} for at, kind in enumerate(counts)
    ]
    software = {"metrics": {"interval_seconds": 60, "sets": SETS, **metrics}} if metrics else {}
    resources = {
        "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": {"InstanceGroups": groups}},
        "Upload": {"Type": "Custom::HyperPodScriptsUpload", "Properties": {"Configuration": json.dumps({"software": software})}},
    }
    found = hourly_cost({"Resources": resources})
    return replace(found, rows=tuple(row for row in found.rows if row.logical_id == "Upload"))


def test_figures_in_cloudwatch_cost_by_the_devices_of_the_nodes() -> None:
    """A controller has 2 figures, a node with GPUs and EFA 10, one with Neuron devices and EFA 8."""
    nodes = {"ml.m5.xlarge": 1, "ml.p5.48xlarge": 4, "ml.trn1.32xlarge": 2}
    each = figures(nodes, cloudwatch={"per_node": True})
    assert [row.what for row in each.rows] == ["figures of each node in CloudWatch: 58 metrics"]
    assert each.usd_per_month == pytest.approx(58 * 0.3)
    assert figures(nodes, cloudwatch={"per_node": False}).usd_per_month == pytest.approx((2 + 10 + 8) * 0.3)
    assert figures(nodes, cloudwatch={}, sets=["memory"]).usd_per_month == pytest.approx(7 * 0.3)


def test_figures_in_prometheus_cost_by_the_samples() -> None:
    """8 GPUs with 10 series, 32 cards of EFA with 13, 7 of the memory, 12 of the disks, and one for each set."""
    (row,) = figures({"ml.p5.48xlarge": 2}, remote_write={"url": "https://x"}).rows
    assert row.what == f"samples of nodes in Prometheus: {2 * (80 + 32 * 13 + 7 + 12 + 5)} series at most, every 60 s"
    assert row.usd_per_hour == pytest.approx(1040 * 60 * 0.9 / 1e7)


def test_figures_of_unknown_nodes_have_no_price() -> None:
    assert figures({"ml.m5.xlarge": {"Ref": "Count"}}, cloudwatch={}, remote_write={}).unpriced == (
        "figures of an unknown number of nodes in CloudWatch",
        "samples of an unknown number of nodes in Prometheus",
    )


def test_nodes_that_tell_nothing_cost_nothing() -> None:
    assert figures({"ml.m5.xlarge": 1}).rows == ()
    assert hourly_cost({"Resources": {"Upload": {"Type": "Custom::HyperPodScriptsUpload"}}}).rows == ()


@pytest.mark.parametrize("interval", [0, -5, "often"])
def test_an_interval_that_is_none_counts_as_the_usual_one(interval: Any) -> None:
    (row,) = observed(1, interval=interval, series_per_node=1).rows
    assert "every 60 s" in row.what
