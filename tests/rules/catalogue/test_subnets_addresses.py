"""Whether the nodes' addresses fit their subnets."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.file_systems import addresses_of
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.facts.addresses import node_addresses
from hyperpod_constructs.rules.finding import Level
from tests.rules.catalogue.templates import Template, eks, findings, preset, properties, rules_of, slurm, workers
from tests.templates.models import by_id, model_of


def sized(template: Template, block: str, nodes: int) -> Template:
    """The nodes' subnet of a size, with some nodes of 32 cards."""
    properties(template, "NodeSubnet")["CidrBlock"] = block
    workers(template)["InstanceCount"] = nodes
    return template


def test_a_small_subnet_holds_few_nodes_of_many_cards() -> None:
    # A /24 has 251 addresses: 2 for controller and login, 3 for the file system, 32 for each node.
    (finding,) = findings(sized(slurm(), "10.0.64.0/24", 8))

    assert (finding.rule, finding.level, finding.resource) == ("HP-SUB-001", Level.ERROR, "NodeSubnet")
    assert finding.path == "Properties/CidrBlock"
    assert finding.message.startswith("NodeSubnet has 251 addresses, and 261 are needed: controller 1, login 1, workers 256")
    assert "FileSystem 3" in finding.message


def test_seven_of_them_fit() -> None:
    assert rules_of(sized(slurm(), "10.0.64.0/24", 7)) == []


def test_the_file_system_counts() -> None:
    # 192 + 32 = 224 for 7 workers, 2 for the others: 25 are left, and 26 servers come.
    template = sized(slurm(), "10.0.64.0/24", 7)
    properties(template, "FileSystem")["StorageCapacity"] = 24 * 2400
    assert rules_of(template) == []

    properties(template, "FileSystem")["StorageCapacity"] = 25 * 2400
    assert rules_of(template) == ["HP-SUB-001"]


def test_pods_count_on_eks() -> None:
    # 15 for each of two system nodes, 50 + 31 for each node of 32 cards.
    assert rules_of(sized(eks(), "10.0.64.0/24", 2)) == []
    assert rules_of(sized(eks(), "10.0.64.0/24", 3)) == ["HP-SUB-001"]


def test_an_unknown_count_is_zero() -> None:
    template = sized(slurm(), "10.0.64.0/28", 0)
    workers(template)["InstanceCount"] = {"Ref": "AWS::StackName"}

    assert rules_of(template) == []


def test_a_block_that_is_not_known_is_large_enough() -> None:
    template = sized(slurm(), "10.0.64.0/24", 100)
    template["Parameters"] = {"Block": {"Type": "String"}}
    properties(template, "NodeSubnet")["CidrBlock"] = {"Ref": "Block"}

    assert rules_of(template) == []


def test_groups_of_several_subnets_use_all_of_them() -> None:
    template = sized(slurm(), "10.0.64.0/24", 8)
    template["Resources"]["Second"] = {**template["Resources"]["NodeSubnet"], "Properties": {**properties(template, "NodeSubnet")}}
    properties(template, "Second")["CidrBlock"] = "10.0.65.0/24"
    template["Resources"]["SecondAssociation"] = {
        "Type": "AWS::EC2::SubnetRouteTableAssociation",
        "Properties": {"SubnetId": {"Ref": "Second"}, "RouteTableId": {"Ref": "NodeRoutes"}},
    }
    network = properties(template, "Cluster")["VpcConfig"]
    workers(template)["OverrideVpcConfig"] = {**network, "Subnets": [{"Ref": "NodeSubnet"}, {"Ref": "Second"}]}
    assert rules_of(template) == []

    workers(template)["InstanceCount"] = 16
    (finding,) = findings(template)
    assert finding.rule == "HP-SUB-001"
    assert finding.message.startswith("NodeSubnet and Second have 502 addresses")


def test_endpoints_count() -> None:
    template = sized(slurm(), "10.0.64.0/28", 0)
    workers(template)["InstanceType"] = "ml.m5.xlarge"
    workers(template)["InstanceCount"] = 5
    assert rules_of(template) == []

    endpoint = {
        "VpcId": {"Ref": "Vpc"},
        "VpcEndpointType": "Interface",
        "ServiceName": "com.amazonaws.us-west-2.logs",
        "SubnetIds": [{"Ref": "NodeSubnet"}],
        "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
    }
    for name in ("One", "Two"):
        template["Resources"][name] = {"Type": "AWS::EC2::VPCEndpoint", "Properties": endpoint}
    assert rules_of(template) == ["HP-SUB-001"]


def test_a_preset_with_a_small_subnet() -> None:
    templates = preset("llm")
    (subnet,) = [
        resource
        for resource in templates["Foundation"]["Resources"].values()
        if resource["Type"] == "AWS::EC2::Subnet" and resource["Properties"]["CidrBlock"] == "10.1.0.0/16"
    ]
    subnet["Properties"]["CidrBlock"] = "10.1.0.0/28"

    assert "HP-SUB-001" in rules_of(*templates.values())


@pytest.mark.parametrize(
    ("name", "slurm_addresses", "eks_addresses"),
    [("ml.p5.48xlarge", 32, 81), ("ml.p4d.24xlarge", 4, 53), ("ml.g5.xlarge", 1, 15), ("ml.p6e-gb200.36xlarge", 1, 50)],
)
def test_addresses_of_a_node(name: str, slurm_addresses: int, eks_addresses: int) -> None:
    kind = ClusterInstanceType.of(name)

    assert node_addresses(kind, on_eks=False) == slurm_addresses
    assert node_addresses(kind, on_eks=True) == eks_addresses


def test_interfaces_that_carry_efa_alone_take_no_address() -> None:
    kind = ClusterInstanceType.P5_48XLARGE
    assert (node_addresses(kind, False, "efa-only"), node_addresses(kind, True, "efa-only")) == (1, 50)
    assert node_addresses(kind, False, "efa") == 32
    template = sized(slurm(), "10.0.64.0/26", 0)
    workers(template)["InstanceCount"] = 4
    assert rules_of(template) == ["HP-SUB-001"]
    workers(template)["NetworkInterface"] = {"InterfaceType": "efa-only"}
    assert rules_of(template) == []


@pytest.mark.parametrize(
    ("properties_", "expected"),
    [
        ("{FileSystemType: OPENZFS}", 1),
        ("{FileSystemType: LUSTRE, StorageCapacity: 24000, LustreConfiguration: {DeploymentType: SCRATCH_2}}", 2),
        ("{FileSystemType: LUSTRE, StorageCapacity: 1200, LustreConfiguration: {DeploymentType: PERSISTENT_2}}", 2),
        (
            "{FileSystemType: LUSTRE, StorageCapacity: 38400, LustreConfiguration: {DeploymentType: PERSISTENT_2, "
            "PerUnitStorageThroughput: 250, EfaEnabled: true, MetadataConfiguration: {Mode: USER_PROVISIONED, Iops: 24000}}}",
            4,
        ),
        ("{FileSystemType: LUSTRE, LustreConfiguration: {DeploymentType: PERSISTENT_2, ThroughputCapacity: 8000}}", 3),
    ],
)
def test_addresses_of_a_file_system(properties_: str, expected: int) -> None:
    model = model_of(f"Resources:\n  A: {{Type: 'AWS::FSx::FileSystem', Properties: {properties_}}}")

    assert addresses_of(by_id(model, "A")) == expected
