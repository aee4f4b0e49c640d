"""Logical ids are a contract: another id is another resource, and the one before is deleted."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    ExecutionRole,
    HyperPodCluster,
    InstanceGroup,
    LustreMount,
    LustreStorage,
    OpenZfsQuota,
    OpenZfsQuotas,
    OpenZfsSnapshots,
    OpenZfsStorage,
    SlurmCluster,
    SlurmNodeType,
)
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.plan import plan
from hyperpod_constructs.templates.model import Model
from tests.conftest import resources
from tests.presets import PRESETS, STACKS, build, on_eks, templates

TRN1 = ClusterInstanceType.TRN1_32XLARGE

#: Types whose properties list the groups; everything else is the same with one group more.
_LISTING_GROUPS = {"AWS::SageMaker::Cluster", "Custom::HyperPodScriptsUpload", "Custom::HyperPodReadinessGate"}

_CONTENT = re.compile(r"(?<=[0-9A-F]{8})[0-9a-f]{8}$")
"""The digest behind the CDK's own hash in a logical id."""


class Parts:
    """A stack with a network, a file system and whatever a test adds."""

    def __init__(self, *, before: Callable[[Stack], object] = lambda stack: None) -> None:
        self.stack = Stack(App(), "Stack")
        before(self.stack)
        self.network = ClusterNetwork(self.stack, "Network", availability_zone_id="usw2-az4")
        self.lustre = LustreStorage(self.stack, "Lustre", network=self.network)

    def add_cluster(self, id: str, names: Sequence[str] = ("controller", "workers")) -> HyperPodCluster:
        return HyperPodCluster(self.stack, id, network=self.network, instance_groups=[self.group(name) for name in names])

    def add_slurm(self, id: str) -> SlurmCluster:
        return SlurmCluster(self.stack, id, network=self.network, file_system=self.lustre, worker_type=TRN1, worker_count=4)

    def group(self, name: str) -> InstanceGroup:
        return InstanceGroup(
            name=name,
            node_type=SlurmNodeType.CONTROLLER if name == "controller" else SlurmNodeType.COMPUTE,
            instance_type=TRN1,
            count=1,
            file_systems=(LustreMount(file_system=self.lustre),),
        )

    def resources(self) -> dict[str, Any]:
        return resources(self.stack)


def types(found: dict[str, Any]) -> dict[str, str]:
    return {id: resource["Type"] for id, resource in found.items()}


def named(found: dict[str, Any]) -> dict[str, str]:
    """As `types`, without the digest in the id of a policy that is named by its content: another content is another policy."""
    return {_CONTENT.sub("", id) if kind == "AWS::IAM::Policy" else id: kind for id, kind in types(found).items()}


def clusters_of(*names: str) -> dict[str, Any]:
    parts = Parts()
    parts.add_cluster("Cluster", names)
    return parts.resources()


def test_reordering_groups_renames_nothing() -> None:
    one, other = clusters_of("controller", "workers", "more"), clusters_of("more", "workers", "controller")
    assert types(one) == types(other)
    assert outside_groups(one) == outside_groups(other)


def test_a_plan_sees_no_difference_in_the_order_of_groups() -> None:
    orders = ("controller", "workers", "more"), ("more", "workers", "controller")
    one, other = (Model.of({"Stack": {"Resources": clusters_of(*names)}}) for names in orders)
    cluster = [row for row in plan(one, other).rows if row.type == "AWS::SageMaker::Cluster"]
    assert cluster == []


@pytest.mark.parametrize("names", [("first", "controller", "workers"), ("controller", "workers", "last")])
def test_a_plan_sees_only_the_group_that_is_added(names: tuple[str, ...]) -> None:
    one, other = (Model.of({"Stack": {"Resources": clusters_of(*given)}}) for given in (("controller", "workers"), names))
    (new,) = set(names) - {"controller", "workers"}
    found = [row for row in plan(one, other).rows if row.type == "AWS::SageMaker::Cluster"]
    assert [row.property for row in found if not row.property.endswith("LifeCycleConfig")] == [f"InstanceGroups/{new}"]
    assert {row.effect for row in found} == {Effect.NO_INTERRUPTION}


@pytest.mark.parametrize("names", [("first", "controller", "workers"), ("controller", "workers", "last")])
def test_adding_a_group_changes_only_what_lists_the_groups(names: tuple[str, ...]) -> None:
    before, after = clusters_of("controller", "workers"), clusters_of(*names)
    assert types(before) == types(after)
    assert outside_groups(before) == outside_groups(after)


def test_adding_a_group_with_a_role_of_its_own_renames_nothing() -> None:
    before = clusters_of("controller", "workers")
    parts = Parts()
    cluster = parts.add_cluster("Cluster", ["controller"])
    role = ExecutionRole(parts.stack, "Role")
    cluster.add_instance_group(InstanceGroup(name="more", instance_type=TRN1, count=1, execution_role=role))
    cluster.add_instance_group(parts.group("workers"))
    assert types(before).items() <= types(parts.resources()).items()


@pytest.mark.parametrize("first", [True, False])
def test_a_second_cluster_changes_nothing_of_the_first(first: bool) -> None:
    alone = Parts()
    alone.add_slurm("One")
    both = Parts()
    for id in ("Another", "One") if first else ("One", "Another"):
        both.add_slurm(id)
    assert alone.resources().items() <= both.resources().items()


def test_homes_rename_nothing_and_have_ids_of_their_own() -> None:
    parts = Parts()
    before = types(parts.resources())
    homes = OpenZfsStorage(parts.stack, "Homes", network=parts.network)
    OpenZfsQuotas(parts.stack, "Quotas", file_system=homes, quotas=[OpenZfsQuota(id=10001, storage_capacity_quota_gib=1)])
    OpenZfsSnapshots(parts.stack, "Snapshots", file_system=homes)
    after = named(parts.resources())
    assert before.items() <= after.items()
    stateful = {id: kind for id, kind in after.items() if id.startswith("Homes")}
    assert stateful == {
        "Homes77C01188": "AWS::FSx::FileSystem",
        "HomesNodesEgressE78419EF": "AWS::EC2::SecurityGroupEgress",
        "HomesNodesIngress57CCADF3": "AWS::EC2::SecurityGroupIngress",
        "HomesSecurityGroupBB563C4D": "AWS::EC2::SecurityGroup",
    }
    assert after["QuotasA8996B4F"] == "Custom::HyperPodOpenZfsQuotas"


def test_a_construct_elsewhere_changes_nothing() -> None:
    alone = Parts()
    alone.add_slurm("One")
    more = Parts(before=lambda stack: s3.Bucket(stack, "Elsewhere"))
    LustreStorage(more.stack, "Scratch", network=more.network)
    more.add_slurm("One")
    assert alone.resources().items() <= more.resources().items()


def test_renaming_an_unrelated_construct_renames_nothing_else() -> None:
    def beside(id: str) -> dict[str, Any]:
        parts = Parts(before=lambda stack: s3.Bucket(stack, id))
        parts.add_slurm("One")
        return parts.resources()

    one, other = beside("Elsewhere"), beside("Renamed")
    assert {id for id in one.keys() ^ other.keys() if not id.startswith(("Elsewhere", "Renamed"))} == set()
    assert all(one[id] == other[id] for id in one.keys() & other.keys())


def test_a_second_association_changes_nothing_of_the_first() -> None:
    def linked(*ids: str) -> dict[str, Any]:
        parts = Parts()
        for id in ids:
            parts.lustre.add_data_repository(id, bucket=s3.Bucket(parts.stack, f"{id}Bucket"), file_system_path=f"/{id}")
        return parts.resources()

    assert linked("Data").items() <= linked("More", "Data").items()


def test_the_settings_of_the_app_rename_nothing(tmp_path: Path) -> None:
    """Also not the exports, which the other stack imports by name."""
    before = templates(build(PRESETS[0], tmp_path / "before"))
    given = {"login_instance_type": "ml.m5.xlarge", "worker_count": "9", "min_running_workers": "2", "cluster_name": "other"}
    after = templates(build(PRESETS[0], tmp_path / "after", **given))
    for stack in STACKS:
        assert named(before[stack]["Resources"]) == named(after[stack]["Resources"])
        assert before[stack].get("Outputs", {}).keys() == after[stack].get("Outputs", {}).keys()
    assert before["Foundation"] == after["Foundation"]


PRODUCTION = "production"


def test_the_presets_name_everything_alike(tmp_path: Path) -> None:
    """The preset `production` has more and lacks the way to the internet; what it shares has the same names."""
    one, *others = (
        templates(build(preset, tmp_path / preset)) for preset in PRESETS if not on_eks(preset) and preset != PRODUCTION
    )
    production = templates(build(PRODUCTION, tmp_path / PRODUCTION))
    for stack in STACKS:
        names = named(one[stack]["Resources"])
        assert all(named(other[stack]["Resources"]) == names for other in others)
        found = named(production[stack]["Resources"])
        missing = {id: type_ for id, type_ in names.items() if found.get(id) != type_}
        assert not missing or all(type_.startswith("AWS::EC2::") and id.startswith("Network") for id, type_ in missing.items())


def test_the_foundation_is_named_alike_for_each_orchestrator(tmp_path: Path) -> None:
    """Who goes from Slurm to Kubernetes keeps the data."""
    slurm, eks = (templates(build(preset, tmp_path / preset))["Foundation"]["Resources"] for preset in ("llm", "kubernetes"))
    assert {id: slurm[id]["Type"] for id in slurm} == {id: eks[id]["Type"] for id in eks if "ControlPlane" not in id}


def test_what_holds_data_or_nodes_keeps_the_ids_of_the_first_release(tmp_path: Path) -> None:
    """Snapshots can be updated by the way; these must not be: another id is a new, empty resource for everyone who has one."""
    found = {
        id: resource["Type"]
        for template in templates(build(PRESETS[0], tmp_path)).values()
        for id, resource in template["Resources"].items()
        if resource.get("DeletionPolicy") == "RetainExceptOnCreate" or resource["Type"] == "AWS::SageMaker::Cluster"
    }
    assert found == {
        "Data666C94C7": "AWS::S3::Bucket",
        "DataPolicyB80589C3": "AWS::S3::BucketPolicy",
        "LustreDataRepository5444C278": "AWS::FSx::DataRepositoryAssociation",
        "LustreF8935BA0": "AWS::FSx::FileSystem",
        "LustreSecurityGroupA46A9855": "AWS::EC2::SecurityGroup",
        "LustreSelf1018EgressCA06E574": "AWS::EC2::SecurityGroupEgress",
        "LustreSelf1018Ingress816C55E6": "AWS::EC2::SecurityGroupIngress",
        "LustreSelf988Egress79E39E5C": "AWS::EC2::SecurityGroupEgress",
        "LustreSelf988Ingress20767BDD": "AWS::EC2::SecurityGroupIngress",
        "Network1C6012B5": "AWS::EC2::VPC",
        "NetworkNodeBlock557D5F7A": "AWS::EC2::VPCCidrBlock",
        "NetworkNodeSubnetC16332AA": "AWS::EC2::Subnet",
        "NetworkRejectedTrafficA7BA3A24": "AWS::Logs::LogGroup",
        "SlurmClusterCC1CD851": "AWS::SageMaker::Cluster",
    }


def outside_groups(found: dict[str, Any]) -> dict[str, Any]:
    return {id: resource for id, resource in found.items() if resource["Type"] not in _LISTING_GROUPS}
