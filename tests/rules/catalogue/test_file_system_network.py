"""The traffic between nodes and file systems, and the rules that a creation awaits."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.rules.checking import check, load_catalogue
from hyperpod_constructs.rules.finding import Level
from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.templates import KEPT, Template, eks, findings, preset, properties, rules_of, slurm, workers
from tests.rules.catalogue.test_file_systems import openzfs

NODES = {"Fn::GetAtt": ["NodeGroup", "GroupId"]}
FILES = {"Fn::GetAtt": ["FileGroup", "GroupId"]}
LUSTRE = ((988, 988), (1018, 1023))
DUMMY = {"IpProtocol": "icmp", "FromPort": 252, "ToPort": 86, "CidrIp": "255.255.255.255/32"}


def rule(direction: str, group: Any, peer: Any, first: int | None = None, last: int | None = None) -> Template:
    """A separate rule of a group."""
    ports = {"IpProtocol": "-1"} if first is None else {"IpProtocol": "tcp", "FromPort": first, "ToPort": last or first}
    other = "SourceSecurityGroupId" if direction == "Ingress" else "DestinationSecurityGroupId"
    return {"Type": f"AWS::EC2::SecurityGroup{direction}", **KEPT, "Properties": {"GroupId": group, other: peer, **ports}}


def apart(template: Template | None = None, ports: tuple[tuple[int | None, int | None], ...] = LUSTRE) -> Template:
    """The file system has a group of its own, with rules to itself and to the nodes."""
    template = slurm() if template is None else template
    template["Resources"]["FileGroup"] = {
        "Type": "AWS::EC2::SecurityGroup",
        **KEPT,
        "Properties": {"GroupDescription": "files", "VpcId": {"Ref": "Vpc"}, "SecurityGroupEgress": [DUMMY]},
    }
    rules = {}
    for first, last in ports:
        for direction in ("Ingress", "Egress"):
            rules[f"Self{direction}{first}"] = rule(direction, FILES, FILES, first, last)
            rules[f"Files{direction}{first}"] = rule(direction, FILES, NODES, first, last)
            rules[f"Nodes{direction}{first}"] = rule(direction, NODES, FILES, first, last)
    template["Resources"].update(rules)
    properties(template, "FileSystem")["SecurityGroupIds"] = [FILES]
    template["Resources"]["FileSystem"]["DependsOn"] = list(rules)
    return template


def without(template: Template, *names: str) -> Template:
    """A template without some rules."""
    for name in names:
        del template["Resources"][name]
        depends = template["Resources"]["FileSystem"]["DependsOn"]
        template["Resources"]["FileSystem"]["DependsOn"] = [one for one in depends if one != name]
    return template


def test_groups_apart_with_all_rules_are_fine() -> None:
    assert rules_of(apart()) == []


@pytest.mark.parametrize(
    ("absent", "expected", "message"),
    [
        ("SelfIngress988", "HP-FSN-001", "does not let TCP 988 into the file system"),
        ("SelfEgress988", "HP-FSN-001", "does not let TCP 988 out of the file system"),
        ("SelfIngress1018", "HP-FSN-002", "TCP 1018-1023 into the file system"),
    ],
)
def test_lustre_needs_its_ports_both_ways(absent: str, expected: str, message: str) -> None:
    (finding,) = findings(without(apart(), absent))

    assert finding.rule == expected
    assert finding.level is (Level.ERROR if expected == "HP-FSN-001" else Level.WARNING)
    assert (finding.resource, finding.path) == ("FileSystem", "Properties/SecurityGroupIds")
    assert message in finding.message


@pytest.mark.parametrize(
    ("absent", "place", "message"),
    [
        ("NodesIngress988", "NodeGroup", "NodeGroup lets no TCP 988 in from FileSystem"),
        ("NodesEgress988", "NodeGroup", "NodeGroup lets no TCP 988 out to FileSystem"),
        ("FilesIngress988", "FileGroup", "FileGroup lets no TCP 988 in from the nodes"),
        ("FilesEgress1018", "FileGroup", "FileGroup lets no TCP 1018-1023 out to the nodes"),
    ],
)
def test_nodes_and_lustre_call_each_other(absent: str, place: str, message: str) -> None:
    (finding,) = findings(without(apart(), absent))

    assert (finding.rule, finding.level, finding.resource) == ("HP-REACH-002", Level.WARNING, place)
    assert finding.message.endswith(message)


def test_no_self_rule_is_one_mistake() -> None:
    names = [f"Self{direction}{port}" for direction in ("Ingress", "Egress") for port in (988, 1018)]

    assert rules_of(without(apart(), *names)) == ["HP-FSN-001"]


@pytest.mark.parametrize("block", ["10.0.0.0/16", {"Fn::GetAtt": ["Vpc", "CidrBlock"]}])
def test_rules_for_the_block_of_the_vpc_are_fine(block: object) -> None:
    template = without(apart(), *(name for name in apart()["Resources"] if name.startswith(("Self", "Files"))))
    ports = [{"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "CidrIp": block} for first, last in LUSTRE]
    properties(template, "FileGroup").update(SecurityGroupIngress=ports, SecurityGroupEgress=ports)

    assert rules_of(template) == []


@pytest.mark.parametrize(
    ("block", "expected"),
    [({"Fn::GetAtt": ["NodeSubnet", "CidrBlock"]}, []), ("10.0.64.0/20", ["HP-FSN-001"]), ({"Ref": "AWS::StackName"}, [])],
)
def test_a_block_counts_that_is_around_the_whole_subnet(block: object, expected: list[str]) -> None:
    template = without(apart(), "SelfIngress988", "SelfIngress1018")
    ports = [{"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "CidrIp": block} for first, last in LUSTRE]
    properties(template, "FileGroup").update(SecurityGroupIngress=ports)

    assert rules_of(template) == expected


def test_a_block_elsewhere_is_not() -> None:
    template = without(apart(), *(name for name in apart()["Resources"] if name.startswith(("Self", "Files"))))
    ports = [{"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "CidrIp": "172.16.0.0/16"} for first, last in LUSTRE]
    properties(template, "FileGroup").update(SecurityGroupIngress=ports, SecurityGroupEgress=ports)

    assert rules_of(template) == ["HP-FSN-001"]


@pytest.mark.parametrize("absent", [["SelfIngress988"], ["SelfIngress988", "SelfEgress988"]])
def test_the_file_system_awaits_its_rules(absent: list[str]) -> None:
    template = apart()
    depends = template["Resources"]["FileSystem"]["DependsOn"]
    template["Resources"]["FileSystem"]["DependsOn"] = [name for name in depends if name not in absent]

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-FSN-004", Level.WARNING, "FileSystem")
    assert all(name in finding.message for name in absent)


def test_rules_of_the_nodes_need_not_be_awaited() -> None:
    template = apart()
    template["Resources"]["FileSystem"]["DependsOn"] = ["SelfIngress988", "SelfEgress988"]

    assert rules_of(template) == []


def test_the_order_counts_in_one_group_too() -> None:
    template = slurm()
    del template["Resources"]["FileSystem"]["DependsOn"]

    assert rules_of(template) == ["HP-FSN-004"]


def test_the_construct_of_the_cdk_awaits_nothing() -> None:
    """aws_fsx.LustreFileSystem makes the rule to itself as a resource of its own."""
    from aws_cdk import App, Stack
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_fsx as fsx

    app = App()
    stack = Stack(app, "Stack")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    configuration = fsx.LustreConfiguration(deployment_type=fsx.LustreDeploymentType.SCRATCH_2)
    fsx.LustreFileSystem(
        stack,
        "Files",
        vpc=vpc,
        vpc_subnet=vpc.private_subnets[0],
        storage_capacity_gib=1200,
        lustre_configuration=configuration,
    )

    assert "HP-FSN-004" in rules_of(app.synth().get_stack_by_name("Stack").template, rules="HP-FSN")


def with_efa() -> Template:
    """The file system has EFA, and rules for all traffic."""
    template = apart(ports=((None, None),))
    properties(template, "FileSystem")["StorageCapacity"] = 19200
    properties(template, "FileSystem")["LustreConfiguration"]["EfaEnabled"] = True
    return template


def test_efa_needs_all_traffic() -> None:
    assert rules_of(with_efa()) == []


@pytest.mark.parametrize(
    ("absent", "expected"),
    [("SelfIngressNone", "HP-FSN-003"), ("SelfEgressNone", "HP-FSN-003"), ("NodesIngressNone", "HP-REACH-002")],
)
def test_efa_lacks_a_rule(absent: str, expected: str) -> None:
    (finding,) = findings(without(with_efa(), absent))

    assert (finding.rule, finding.level) == (expected, Level.ERROR if expected == "HP-FSN-003" else Level.WARNING)
    assert "all traffic" in finding.message


def test_efa_that_no_node_has() -> None:
    template = with_efa()
    workers(template)["InstanceType"] = "ml.g5.2xlarge"

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-FSN-007", Level.WARNING, "FileSystem")


def mounting_openzfs() -> Template:
    """The nodes mount an OpenZFS file system, which has the group of the nodes."""
    template = openzfs()
    for group in properties(template, "Cluster")["InstanceGroups"]:
        mount = {"DnsName": {"Fn::Sub": "${Home}.fsx.${AWS::Region}.amazonaws.com"}, "MountPath": "/home"}
        group["InstanceStorageConfigs"].append({"FsxOpenZfsConfig": mount})
    return template


def test_openzfs_in_the_group_of_the_nodes_is_fine() -> None:
    assert rules_of(mounting_openzfs()) == []


def test_openzfs_needs_nfs() -> None:
    template = mounting_openzfs()
    template["Resources"]["HomeGroup"] = {
        "Type": "AWS::EC2::SecurityGroup",
        **KEPT,
        "Properties": {"GroupDescription": "home", "VpcId": {"Ref": "Vpc"}},
    }
    home = {"Fn::GetAtt": ["HomeGroup", "GroupId"]}
    properties(template, "Home")["SecurityGroupIds"] = [home]

    (finding,) = findings(template)
    assert (finding.rule, finding.resource) == ("HP-REACH-002", "Home")
    assert finding.message.endswith("Home has HomeGroup: neither that nor NodeGroup of the nodes lets TCP 2049 through")

    template["Resources"]["In"] = rule("Ingress", home, NODES, 2049)
    template["Resources"]["Out"] = rule("Egress", NODES, home, 2049)
    assert rules_of(template) == []


def test_a_file_system_that_scripts_mount() -> None:
    template = without(apart(), "FilesIngress988")
    for group in properties(template, "Cluster")["InstanceGroups"]:
        group["InstanceStorageConfigs"] = group["InstanceStorageConfigs"][:1]

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-REACH-002", Level.WARNING, "FileGroup")


def test_a_preset_without_a_rule() -> None:
    templates = preset("llm")
    resources = templates["Foundation"]["Resources"]
    (absent,) = [name for name in resources if name.startswith("LustreSelf988Ingress")]
    del resources[absent]
    for resource in resources.values():
        if absent in resource.get("DependsOn", ()):
            resource["DependsOn"].remove(absent)

    assert rules_of(*templates.values()) == ["HP-FSN-001"]


def in_another_vpc() -> Template:
    template = without(apart(), "NodesIngress988")
    template["Resources"]["Other"] = {"Type": "AWS::EC2::VPC", **KEPT, "Properties": {"CidrBlock": "10.8.0.0/16"}}
    subnet = {"VpcId": {"Ref": "Other"}, "CidrBlock": "10.8.0.0/24", "AvailabilityZone": "us-west-2a"}
    template["Resources"]["There"] = {"Type": "AWS::EC2::Subnet", **KEPT, "Properties": subnet}
    properties(template, "FileSystem")["SubnetIds"] = [{"Ref": "There"}]
    return template


def test_a_file_system_in_another_vpc_is_called_so() -> None:
    found = [finding.message for finding in findings(in_another_vpc()) if finding.rule == "HP-REACH-002"]
    assert ["FileSystem is in another VPC (Other) than the nodes (Vpc)" in message for message in found] == [True]


def test_the_order_of_the_rules_decides_nothing() -> None:
    """A way that ends in another VPC and a subnet of another VPC follow from each other."""
    model, rules = Model.of({"t": in_another_vpc()}), list(load_catalogue().values())
    assert check(model, rules=rules) == check(model, rules=reversed(rules)) == check(model)


def for_pods(zone: str = "us-west-2b", *, efa: bool = False) -> Template:
    """A cluster of EKS whose pods mount a file system that lies in a subnet of its own."""
    template, lustre = eks(), properties(slurm(), "FileSystem")
    subnet = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.9.0/24", "AvailabilityZone": zone}
    template["Resources"]["FileSubnet"] = {"Type": "AWS::EC2::Subnet", **KEPT, "Properties": subnet}
    template["Resources"]["FileSystem"] = {"Type": "AWS::FSx::FileSystem", **KEPT, "Properties": lustre, "DependsOn": []}
    lustre["SubnetIds"] = [{"Ref": "FileSubnet"}]
    if efa:
        lustre["StorageCapacity"] = 19200
        lustre["LustreConfiguration"]["EfaEnabled"] = True
    return apart(template, ((None, None),) if efa else LUSTRE)


@pytest.mark.parametrize("efa", [False, True])
def test_pods_reach_a_file_system_apart(efa: bool) -> None:
    assert rules_of(for_pods(efa=efa), rules="HP-REACH") == rules_of(for_pods(efa=efa), rules="HP-SUB") == []


@pytest.mark.parametrize(
    ("efa", "absent", "said"),
    [
        (False, "NodesEgress988", "lets no TCP 988 out to FileSystem"),
        (False, "FilesIngress1018", "lets no TCP 1018-1023 in from the nodes"),
        (True, "FilesIngressNone", "lets no all traffic in from the nodes"),
        (True, "NodesEgressNone", "lets no all traffic out to FileSystem"),
    ],
)
def test_a_rule_for_the_nodes_says_that_their_pods_mount_it(efa: bool, absent: str, said: str) -> None:
    (finding,) = findings(without(for_pods(efa=efa), absent), rules="HP-REACH")
    assert finding.rule == "HP-REACH-002"
    assert said in finding.message


def test_a_file_system_without_a_rule_for_the_nodes_is_not_theirs() -> None:
    names = [f"{side}{way}{first}" for side in ("Files", "Nodes") for way in ("Ingress", "Egress") for first, _ in LUSTRE]
    assert rules_of(without(for_pods(), *names), rules="HP-REACH") == []


@pytest.mark.parametrize("efa", [False, True])
def test_all_nodes_of_the_pods_are_in_another_zone(efa: bool) -> None:
    (finding,) = findings(for_pods("us-west-2a", efa=efa), rules="HP-SUB")
    assert (finding.rule, finding.resource) == ("HP-SUB-010", "FileSystem")
    assert ("system" in finding.message) is not efa
