"""A changed figure of the facts changes the rule, the constructor, the plan and the embedded AWS: none has a copy."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_s3 as s3

import hyperpod_constructs as hp
from hyperpod_constructs.custom_resources.handlers import causes
from hyperpod_constructs.facts import addresses, clusters, lustre, node_permissions, openzfs, repository_links, updates
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.fsx import checks, links, network
from hyperpod_constructs.local.fsx.state import Association, FileSystem
from hyperpod_constructs.local.hyperpod import rules as hyperpod_rules
from hyperpod_constructs.local.hyperpod.addresses import addresses_of
from hyperpod_constructs.local.hyperpod.state import LiveGroup
from hyperpod_constructs.local.provider import updated
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.rules import catalogue
from hyperpod_constructs.rules.finding import Level
from tests.conftest import resources
from tests.local.moto_cloud import CALLER
from tests.plan.templates import cluster, group, row
from tests.plan.templates import lustre as lustre_template
from tests.rules.catalogue.templates import Template, findings, properties, slurm


def found(template: Template) -> set[str]:
    return {finding.rule for finding in findings(template) if finding.level is Level.ERROR}


@pytest.fixture
def net() -> hp.ClusterNetwork:
    stack = Stack(App(context={"hyperpod:rules": "false"}), "Stack")
    return hp.ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")


def refused(wanted: dict[str, Any]) -> bool:
    """Whether the embedded FSx refuses the file system."""
    try:
        checks.check_create(wanted)
    except AwsError:
        return True
    return False


def with_efa(capacity: int) -> dict[str, Any]:
    configuration = {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 1000,
        "EfaEnabled": True,
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
    }
    return {
        "FileSystemType": "LUSTRE",
        "StorageCapacity": capacity,
        "SubnetIds": ["subnet-1"],
        "FileSystemTypeVersion": "2.15",
        "LustreConfiguration": configuration,
    }


def test_the_step_of_a_capacity(net: hp.ClusterNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    template = slurm()
    given = properties(template, "FileSystem")
    given |= {"StorageCapacity": 4800}
    given["LustreConfiguration"] |= {"EfaEnabled": True, "PerUnitStorageThroughput": 1000}
    assert "HP-FSX-002" not in found(template)
    assert not refused(with_efa(4800))
    monkeypatch.setattr(lustre, "STEP_WITH_EFA", {**lustre.STEP_WITH_EFA, 1000: 5000})
    assert "HP-FSX-002" in found(template)
    assert refused(with_efa(4800))
    with pytest.raises(ValueError, match="5000"):
        hp.LustreStorage(net, "Files", network=net, storage_capacity_gib=4800, per_unit_storage_throughput=1000, efa_enabled=True)


def test_the_number_of_groups(net: hp.ClusterNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    specs = [{"InstanceGroupName": "a"}, {"InstanceGroupName": "b"}]
    monkeypatch.setattr(clusters, "MOST_GROUPS", 1)
    with pytest.raises(AwsError, match="at most 1"):
        hyperpod_rules.check_groups(specs, {}, "demo")
    groups = [
        hp.InstanceGroup(
            name=name, node_type=kind, instance_type=hp.ClusterInstanceType.TRN1_32XLARGE, count=1, partition=partition
        )
        for name, kind, partition in (
            ("controller", hp.SlurmNodeType.CONTROLLER, None),
            ("workers", hp.SlurmNodeType.COMPUTE, "all"),
        )
    ]
    with pytest.raises(ValueError, match="the service takes 1"):
        hp.HyperPodCluster(net, "Cluster", network=net, instance_groups=groups)


def test_the_number_of_links(net: hp.ClusterNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository_links, "MOST_LINKS", 0)
    files = hp.LustreStorage(net, "Files", network=net)
    with pytest.raises(ValueError, match="at most 0 associations"):
        files.add_data_repository("Link", bucket=s3.Bucket(net, "Data", versioned=True), file_system_path="/data")
    record = FileSystem("fs-1", "arn", CALLER, 0, 0, {}, lifecycle="AVAILABLE", request=with_efa(4800))
    with pytest.raises(AwsError, match="at most 0"):
        links.check_association(record, list[Association](), {"FileSystemPath": "/a", "DataRepositoryPath": "s3://a"}, None)
    template = slurm()
    link = {"FileSystemId": {"Ref": "FileSystem"}, "FileSystemPath": "/a", "DataRepositoryPath": "s3://sagemaker-a/a"}
    template["Resources"]["Link"] = {"Type": "AWS::FSx::DataRepositoryAssociation", "Properties": link}
    assert "HP-DRA-001" in found(template)


def test_the_addresses_of_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = {"InstanceType": "ml.p5.48xlarge"}
    assert addresses_of(spec, eks=True) == 50 + 31
    monkeypatch.setattr(addresses, "_POD_ADDRESSES", 60)
    assert addresses_of(spec, eks=True) == 60 + 31


def test_small_types_have_fewer_addresses_in_the_embedded_aws_too() -> None:
    assert addresses_of({"InstanceType": "ml.m5.large"}, eks=True) == 10


def test_the_addresses_that_aws_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    template = slurm()
    properties(template, "NodeSubnet")["CidrBlock"] = "10.0.64.0/27"
    properties(template, "Cluster")["InstanceGroups"][-1]["InstanceCount"] = 0
    assert "HP-SUB-001" not in found(template)
    monkeypatch.setattr(addresses, "RESERVED_ADDRESSES", 31)
    assert "HP-SUB-001" in found(template)


def test_the_throughput_of_openzfs(monkeypatch: pytest.MonkeyPatch) -> None:
    request = {"FileSystemType": "OPENZFS", "StorageCapacity": 64, "SubnetIds": ["subnet-1"]}
    wanted = {**request, "OpenZFSConfiguration": {"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64}}
    template = {"Resources": {"Files": {"Type": "AWS::FSx::FileSystem", "Properties": wanted}}}
    assert not refused(wanted)
    assert "HP-FSX-012" not in found(template)
    monkeypatch.setattr(openzfs, "THROUGHPUTS", {"SINGLE_AZ_1": (100,)})
    assert refused(wanted)
    assert "HP-FSX-012" in found(template)


def test_the_port_of_lustre(net: hp.ClusterNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [{"GroupId": "sg-1"}]
    rules = [{"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988, "UserIdGroupPairs": pairs}]
    own = [{"GroupId": "sg-1", "IpPermissions": rules, "IpPermissionsEgress": rules}]
    network._check_lustre("10.0.0.0/24", own, efa=False)
    monkeypatch.setattr(lustre, "LNET_PORTS", range(4000, 4001))
    with pytest.raises(AwsError, match="port 4000"):
        network._check_lustre("10.0.0.0/24", own, efa=False)
    hp.LustreStorage(net, "Files", network=net)
    opened = resources(Stack.of(net), "AWS::EC2::SecurityGroupIngress").values()
    assert {4000, 1018} <= {rule["Properties"].get("FromPort") for rule in opened}


class Recorder:
    """A provider that records its calls."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def create(self, *given: Any) -> Any:
        return "created"

    def update(self, *given: Any) -> Any:
        return "updated"

    def delete(self, *given: Any) -> None: ...


def test_replacing_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = lustre_template(keep=True), lustre_template(keep=True, lustre={"EfaEnabled": True})

    def done() -> Any:
        provider: Any = Recorder("AWS::FSx::FileSystem")
        before, after = old["Properties"], new["Properties"]
        return updated(provider, "fs-1", before, after, logical_id="Files", stack="Stack", caller=CALLER)

    assert (row(old, new).effect, done()) == (Effect.REPLACE, "created")
    monkeypatch.setattr(updates, "BEYOND_SCHEMA", {})
    assert (row(old, new).effect, done()) == (Effect.NO_INTERRUPTION, "updated")


def test_fixed_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = group(NetworkInterface={"InterfaceType": "efa"}), group(NetworkInterface={"InterfaceType": "efa-only"})

    def done() -> str:
        try:
            hyperpod_rules._check_fixed(LiveGroup(old), new, "InstanceGroups")
        except AwsError:
            return "refused"
        return "updated"

    assert (row(cluster(old), cluster(new)).effect, done()) == (Effect.NO_INTERRUPTION, "updated")
    monkeypatch.setattr(updates, "FIXED", {"AWS::SageMaker::Cluster": frozenset({"InstanceGroups/*/NetworkInterface"})})
    assert (row(cluster(old), cluster(new)).effect, done()) == (Effect.REFUSED, "refused")


def test_growing_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = lustre_template(keep=True, StorageCapacity=4800), lustre_template(keep=True, StorageCapacity=2400)
    current = {**old["Properties"], "FileSystemTypeVersion": "2.15"}

    def done() -> str:
        try:
            checks.check_update("LUSTRE", current, {"StorageCapacity": 2400})
        except AwsError:
            return "refused"
        return "updated"

    assert (row(old, new).effect, done()) == (Effect.REFUSED, "refused")
    monkeypatch.setattr(updates, "GROWING", {})
    assert (row(old, new).effect, done()) == (Effect.NO_INTERRUPTION, "updated")


def test_the_function_reads_the_log_groups_of_the_facts() -> None:
    assert causes.LOG_GROUPS == node_permissions.LOG_GROUPS


FIGURES = {
    *("2.10", "2.12", "2.15", str(clusters.MOST_GROUPS_ON_EKS), str(lustre.TIERING_STEP)),
    *(str(port) for ports in (lustre.LNET_PORTS, lustre.CLIENT_PORTS, openzfs.NFS_PORTS) for port in ports),
    *(str(figure) for figures in (*openzfs.THROUGHPUTS.values(), lustre.metadata_figures(tiering=False)) for figure in figures),
    *(str(figure) for kind in ("PERSISTENT_1", "PERSISTENT_2") for figure in lustre.tiers(kind)),
    *("1200", "2400", str(clusters.LEAST_TIERED_PERCENTAGE)),
}


def spelled_out(module: Path) -> Iterator[str]:
    """The texts of a module's rules that hold a figure of the facts."""
    for call in ast.walk(ast.parse(module.read_text("utf-8"))):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg in ("title", "why", "fix", "allowed"):
                texts = [part.value for part in ast.walk(keyword.value) if isinstance(part, ast.Constant)]
                yield from (str(text) for text in texts if FIGURES & set(re.findall(r"(?<![A-Za-z])\d+(?:\.\d+)?", str(text))))


@pytest.mark.parametrize("module", sorted(Path(catalogue.__path__[0]).glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_no_rule_spells_out_a_figure_of_the_facts(module: Path) -> None:
    assert list(spelled_out(module)) == []
