"""Every property of the library's templates has a row, and every row belongs to an existing property."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_rds as rds
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager

import hyperpod_constructs as hp
from hyperpod_constructs.facts.schema import schema_date, type_facts
from hyperpod_constructs.plan.change import NAMED_ITEMS
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.table import OURS, has_row
from hyperpod_constructs.templates.model import Model
from tests.conftest import resources
from tests.local.schemas import members, schema
from tests.presets import PRESETS, build, templates

ROOT = Path(__file__).parents[2]
_NESTED = {
    "AWS::SageMaker::Cluster": ("InstanceGroups", "Orchestrator"),
    "AWS::FSx::FileSystem": ("LustreConfiguration", "OpenZFSConfiguration"),
}


def everything() -> Stack:
    """Every construct with every option that renders a property of its own."""
    stack = Stack(App(context={"hyperpod:rules": "false"}), "Stack")
    network = hp.ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4", egress_ports=[ec2.Port.tcp(2049)])
    key = kms.Key(stack, "Key")
    files = hp.LustreStorage(
        stack, "Files", network=network, metadata_iops=6000, kms_key=key, allow_data_loss="scratch", per_unit_storage_throughput=500
    )
    bucket = s3.Bucket(stack, "Data", versioned=True, encryption_key=key)
    files.add_data_repository("Link", bucket=bucket, file_system_path="/data", preload_metadata=True, imported_file_chunk_size=512)
    hp.LustreStorage(
        stack,
        "Fast",
        network=network,
        efa_enabled=True,
        storage_capacity_gib=19200,
        automatic_backup_retention_days=7,
        daily_automatic_backup_start_time="05:00",
        copy_tags_to_backups=True,
        weekly_maintenance_start_time="7:05:00",
        log_configuration=hp.LustreLogConfiguration(),
    )
    homes = hp.OpenZfsStorage(
        stack,
        "Homes",
        network=network,
        disk_iops=1000,
        daily_automatic_backup_start_time="03:00",
        copy_tags_to_backups=True,
        copy_tags_to_volumes=True,
        weekly_maintenance_start_time="7:03:00",
        removal_policy=RemovalPolicy.DESTROY,
    )
    hp.LustreStorage(
        stack, "Tiered", network=network, storage_type=hp.LustreStorageType.INTELLIGENT_TIERING, throughput_capacity=4000
    )
    hp.OpenZfsQuotas(stack, "Quotas", file_system=homes, quotas=[hp.OpenZfsQuota(id=10001, storage_capacity_quota_gib=100)])
    squash = hp.LustreRootSquashConfiguration(root_squash="65534:65534", no_squash_nids=["10.0.1.6@tcp"])
    hp.FileSystemFields(stack, "Fields", file_system=files, root_squash=squash)
    release = hp.DataRepositoryTaskType.RELEASE_DATA_FROM_FILESYSTEM
    hp.DataRepositoryTask(
        stack,
        "Release",
        file_system=files,
        type=release,
        paths=["/data"],
        duration_since_last_access_days=9,
        report_path="s3://bucket/reports",
    )
    trn1 = hp.ClusterInstanceType.TRN1_32XLARGE
    secretsmanager.Secret(stack, "Secret")
    groups = [
        hp.InstanceGroup(name="controller", node_type=hp.SlurmNodeType.CONTROLLER, instance_type=trn1, count=1),
        hp.InstanceGroup(
            name="workers",
            instance_type=[trn1, hp.ClusterInstanceType.of("ml.trn1n.32xlarge")],
            count=4,
            min_count=2,
            partition="all",
            threads_per_core=1,
            ebs_volumes=(hp.EbsVolume(size_gb=100, kms_key=key), hp.EbsVolume(root=True, kms_key=key)),
            file_systems=(
                hp.LustreMount(file_system=files),
                hp.OpenZfsMount(dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"),
            ),
            training_plan_arn="arn:aws:sagemaker:us-west-2:123456789012:training-plan/x",
            deep_health_checks=(hp.DeepHealthCheck.INSTANCE_STRESS,),
        ),
    ]
    cluster = hp.HyperPodCluster(stack, "Cluster", network=network, cluster_name="named", instance_groups=groups)
    hp.ReadinessGate(stack, "Gate", cluster=cluster, min_running={"workers": 1})
    hp.TrainingPlan(
        stack,
        "Plan",
        plan="arn:aws:sagemaker:us-west-2:123456789012:training-plan/x",
        instance_type=trn1,
        instance_count=1,
        subnets=[network.node_subnet],
    )
    hp.ClusterExtension.observability(stack, "Extension", cluster=cluster, version="1.0.0")
    hp.ClusterFields(
        stack, "ClusterFields", cluster=cluster, groups={"workers": hp.GroupFields(multi_node_training_validation=True)}
    )
    strategy = hp.Orchestrator.slurm(config_strategy=hp.SlurmConfigStrategy.MERGE)
    standard = hp.InstanceGroup(name="controller", node_type=hp.SlurmNodeType.CONTROLLER, instance_type=trn1, count=1)
    hp.HyperPodCluster(
        stack, "Standard", orchestrator=strategy, node_provisioning_mode=None, instance_groups=[standard], network=network
    )
    rds.DatabaseInstance(stack, "Database", engine=rds.DatabaseInstanceEngine.MYSQL, vpc=ec2.Vpc(stack, "Vpc"))
    return stack


def emitted() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The properties of presets and constructs: type and path, to the depth at which groups and Lustre are configured."""
    found: list[dict[str, Any]] = [resources(everything())]
    found += [template["Resources"] for preset in PRESETS for template in templates(build(preset)).values()]
    for items in found:
        for resource in Model.of({"": {"Resources": items}}).resources():
            for name, value in resource.properties.items():
                yield resource.type, (name,)
                if name in _NESTED.get(resource.type, ()):
                    yield from ((resource.type, path) for path in inside((name,), value))


def inside(path: tuple[str, ...], value: Any) -> Iterator[tuple[str, ...]]:
    for item in value if isinstance(value, tuple) else (value,):
        for key in item:
            yield (*path, "name", key) if isinstance(value, tuple) else (*path, key)


def test_every_emitted_property_has_a_row() -> None:
    missing = sorted({f"{kind} {'/'.join(path)}" for kind, path in emitted() if not _has_own_row(kind, path)})
    assert missing == []


def _has_own_row(kind: str, path: tuple[str, ...]) -> bool:
    if kind in _NESTED and path[0] in _NESTED[kind] and len(path) > 1:
        own = {row.path.split("/")[-1] for row in OURS[kind] if row.path.startswith(f"{path[0]}/")}
        inner = {part for row in OURS[kind] for part in row.path.split("/")}
        return path[-1] in own or path[-1] in inner
    return has_row(kind, path)


def test_a_property_without_a_row_is_found() -> None:
    assert not has_row("AWS::SageMaker::Cluster", ("Invented",))
    assert not has_row("Custom::HyperPodReadinessGate", ("Invented",))
    assert not has_row("AWS::No::Such", ("Anything",))
    assert not _has_own_row("AWS::SageMaker::Cluster", ("InstanceGroups", "name", "Invented"))


@pytest.mark.parametrize("kind", [kind for kind in OURS if kind.startswith("AWS::")])
def test_every_row_is_of_a_property_that_the_schema_has(kind: str) -> None:
    of = schema(kind)
    for row in OURS[kind]:
        node: dict[str, Any] = of
        for part in row.path.split("/"):
            if part == "*":
                continue
            properties = members(of, node)
            assert part in properties, f"{kind} {row.path}"
            node = properties[part]


def test_every_member_of_a_group_has_a_row() -> None:
    """Even members that this library does not render, because other tools do."""
    of = schema("AWS::SageMaker::Cluster")
    for groups in ("InstanceGroups", "RestrictedInstanceGroups"):
        found = set(members(of, of["properties"][groups])) - {"CurrentCount"}
        known = {row.path.split("/")[2] for row in OURS["AWS::SageMaker::Cluster"] if row.path.startswith(f"{groups}/*/")}
        assert found == known


@pytest.mark.parametrize("name", ["LustreConfiguration", "OpenZFSConfiguration"])
def test_every_member_of_a_configuration_has_a_row(name: str) -> None:
    of = schema("AWS::FSx::FileSystem")
    found = set(members(of, of["properties"][name]))
    known = {row.path.split("/")[1] for row in OURS["AWS::FSx::FileSystem"] if row.path.startswith(f"{name}/")}
    assert found == known


@pytest.mark.parametrize("kind", sorted(OURS))
def test_rows_that_stop_an_update_offer_an_alternative(kind: str) -> None:
    for row in OURS[kind]:
        if row.effect is Effect.REFUSED:
            assert row.avoid, f"{kind} {row.path}"


def test_named_lists_are_lists_of_the_schema() -> None:
    for (kind, name), key in NAMED_ITEMS.items():
        of = schema(kind)
        assert key in members(of, of["properties"][name])


def test_the_facts_are_those_of_the_schemas() -> None:
    command = [sys.executable, str(ROOT / "tools" / "generate_update_facts.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0  # noqa: S603
    assert schema_date().startswith("2026-")


def test_facts_of_types() -> None:
    facts = type_facts("AWS::SageMaker::Cluster")
    assert facts is not None
    assert facts.create_only == {"ClusterName", "VpcConfig", "Orchestrator/Eks"}
    assert facts.identity == ("ClusterName",)
    assert type_facts("AWS::No::Such") is None
