"""The security groups of nodes: EFA's rules to itself, and what is open to the world."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.rules.finding import Level
from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import Template, eks, findings, properties, rules_of, slurm, workers

ITSELF = {"Fn::GetAtt": ["NodeGroup", "GroupId"]}
WORLD = "0.0.0.0/0"


@pytest.mark.parametrize("correct", [slurm, eks])
def test_self_rules_by_group_are_enough(correct: Any) -> None:
    assert rules_of(correct()) == []


@pytest.mark.parametrize(
    ("absent", "rule", "fix"),
    [
        (("NodeSelfIngress",), "HP-REACH-003", "SourceSecurityGroupId"),
        (("NodeSelfEgress",), "HP-REACH-003", "DestinationSecurityGroupId"),
        (("NodeSelfIngress", "NodeSelfEgress"), "HP-REACH-003", "SourceSecurityGroupId"),
    ],
)
def test_efa_needs_a_self_rule_in_each_direction(absent: tuple[str, ...], rule: str, fix: str) -> None:
    template = eks()
    for name in absent:
        del template["Resources"][name]

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == (rule, Level.ERROR, "NodeGroup")
    assert fix in finding.fix
    assert "accelerated" in finding.message


@pytest.mark.parametrize(
    ("absent", "rule"),
    [
        (("NodeSelfIngress",), "HP-REACH-003"),
        (("NodeSelfEgress",), "HP-REACH-003"),
        (("NodeSelfIngress", "NodeSelfEgress"), "HP-REACH-003"),
    ],
)
def test_a_file_system_in_the_same_group_is_the_same_mistake(absent: tuple[str, ...], rule: str) -> None:
    template = slurm()
    for name in absent:
        del template["Resources"][name]
        template["Resources"]["FileSystem"]["DependsOn"].remove(name)

    assert rules_of(template) == [rule]


@pytest.mark.parametrize(
    ("name", "kind", "peer", "rule"),
    [
        ("NodeSelfIngress", "AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId", "HP-REACH-003"),
        ("NodeSelfEgress", "AWS::EC2::SecurityGroupEgress", "DestinationSecurityGroupId", "HP-REACH-003"),
    ],
)
def test_a_block_is_no_self_rule(name: str, kind: str, peer: str, rule: str) -> None:
    template = eks()
    assert template["Resources"][name]["Type"] == kind
    del properties(template, name)[peer]
    properties(template, name)["CidrIp"] = "10.0.0.0/16"

    (finding,) = findings(template)

    assert finding.rule == rule
    assert "does not count" in finding.message


def test_the_default_egress_rule_is_no_self_rule() -> None:
    template = eks()
    del template["Resources"]["NodeSelfEgress"], properties(template, "NodeGroup")["SecurityGroupEgress"]

    assert rules_of(template) == ["HP-REACH-003"]


def test_nodes_without_efa_need_no_self_rules() -> None:
    template = eks()
    del template["Resources"]["NodeSelfEgress"]
    workers(template)["InstanceType"] = "ml.g5.2xlarge"

    assert rules_of(template) == []


def test_a_second_group_can_have_the_self_rules() -> None:
    template = eks()
    del template["Resources"]["NodeSelfEgress"], template["Resources"]["NodeSelfIngress"]
    template["Resources"]["Second"] = {**template["Resources"]["NodeGroup"]}
    second = {"Fn::GetAtt": ["Second", "GroupId"]}
    for direction, peer in (("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId")):
        template["Resources"][f"Self{direction}"] = {
            "Type": f"AWS::EC2::SecurityGroup{direction}",
            "Properties": {"GroupId": second, peer: second, "IpProtocol": "-1"},
        }
    properties(template, "Cluster")["VpcConfig"]["SecurityGroupIds"].append(second)
    properties(template, "Control")["ResourcesVpcConfig"]["SecurityGroupIds"] = [second]

    assert rules_of(template) == []


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({}, ["HP-REACH-003"]),
        ({"NodeSelfEgress": REMOVED}, ["HP-REACH-002", "HP-REACH-003"]),
        ({"Board/SecurityGroupIds": [{"Ref": "Boards"}, ITSELF]}, ["HP-REACH-002", "HP-REACH-003"]),
    ],
)
def test_what_another_group_would_let_through_is_one_mistake_with_efa(changes: dict[str, Any], rules: list[str]) -> None:
    """The nodes have the group of something else, and an output gives the right one to others."""
    ports = [{"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988}, {"IpProtocol": "tcp", "FromPort": 1018, "ToPort": 1023}]
    properties = {"GroupDescription": "x", "VpcId": {"Ref": "Vpc"}}
    storage = {**properties, "SecurityGroupIngress": [{**one, "SourceSecurityGroupId": ITSELF} for one in ports]}
    own = {"GroupId": {"Ref": "Storage"}, "SourceSecurityGroupId": {"Ref": "Storage"}, "IpProtocol": "-1"}
    template = edited(
        slurm(),
        {
            "FileSystem/.DependsOn": "StorageSelf",
            "StorageSelf": {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": own},
            "Boards": {"Type": "AWS::EC2::SecurityGroup", "Properties": properties},
            "Storage": {"Type": "AWS::EC2::SecurityGroup", "Properties": storage},
            "Board": {"Type": "AWS::EC2::Instance", "Properties": {"SecurityGroupIds": [{"Ref": "Boards"}]}},
            "FileSystem/SecurityGroupIds": [{"Ref": "Storage"}],
            "Cluster/VpcConfig/SecurityGroupIds": [{"Ref": "Boards"}],
            **changes,
        },
    )
    outputs = {"NodeGroup": {"Value": ITSELF, "Export": {"Name": "nodes"}}}
    assert sorted(rules_of({**template, "Outputs": outputs}, rules="HP-REACH-00")) == rules


def test_groups_that_are_not_known_are_believed() -> None:
    template = eks()
    del template["Resources"]["NodeSelfEgress"]
    properties(template, "Cluster")["VpcConfig"]["SecurityGroupIds"].append("sg-0123456789abcdef0")

    assert rules_of(template) == []


def test_groups_that_name_each_other_are_believed() -> None:
    template = eks()
    template["Resources"]["Second"] = {**template["Resources"]["NodeGroup"]}
    second = {"Fn::GetAtt": ["Second", "GroupId"]}
    properties(template, "NodeSelfIngress")["SourceSecurityGroupId"] = second
    properties(template, "Cluster")["VpcConfig"]["SecurityGroupIds"].append(second)

    assert rules_of(template) == []


def _open(template: Template, **rule: object) -> Template:
    properties(template, "NodeGroup")["SecurityGroupIngress"] = [rule]
    return template


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"IpProtocol": "-1", "CidrIp": WORLD}, "HP-NET-004"),
        ({"IpProtocol": "tcp", "FromPort": 0, "ToPort": 65535, "CidrIp": WORLD}, "HP-NET-004"),
        ({"IpProtocol": "udp", "FromPort": 22, "ToPort": 22, "CidrIp": WORLD}, "HP-NET-004"),
        ({"IpProtocol": "tcp", "FromPort": 8888, "ToPort": 8888, "CidrIp": WORLD}, "HP-NET-004"),
        ({"IpProtocol": "tcp", "FromPort": 3389, "ToPort": 3389, "CidrIp": WORLD}, "HP-NET-005"),
        ({"IpProtocol": "tcp", "FromPort": "22", "ToPort": "22", "CidrIp": WORLD}, "HP-NET-005"),
        ({"IpProtocol": "tcp", "FromPort": 20, "ToPort": 80, "CidrIpv6": "::/0"}, "HP-NET-005"),
    ],
)
def test_nothing_is_open_to_the_world(rule: dict[str, object], expected: str) -> None:
    (finding,) = findings(_open(slurm(), **rule))

    assert (finding.rule, finding.level, finding.resource) == (expected, Level.WARNING, "NodeGroup")
    assert finding.path == "Properties/SecurityGroupIngress/0"
    assert finding.found in (WORLD, "::/0")


@pytest.mark.parametrize(
    "rule",
    [
        {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": "10.0.0.0/8"},
        {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": {"Ref": "AWS::StackName"}},
        {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": WORLD},
        {"IpProtocol": "icmp", "FromPort": 3, "ToPort": 4, "CidrIp": WORLD},
    ],
)
def test_a_block_of_ones_own_is_fine(rule: dict[str, object]) -> None:
    assert rules_of(_open(slurm(), **rule)) == []


@pytest.mark.parametrize(
    ("user", "port", "rules"),
    [
        ({"Type": "AWS::EFS::MountTarget", "Key": "SecurityGroups"}, 2049, ["HP-NET-004"]),
        ({"Type": "AWS::ElastiCache::ReplicationGroup", "Key": "SecurityGroupIds"}, 6379, ["HP-NET-004"]),
        ({"Type": "AWS::ElastiCache::ReplicationGroup", "Key": "SecurityGroupIds"}, 443, []),
        ({"Type": "AWS::OpenSearchService::Domain", "Key": "VPCOptions"}, 443, ["HP-NET-004"]),
        ({"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer", "Key": "SecurityGroups"}, 8443, []),
    ],
)
def test_private_services_are_not_open_to_the_world(user: dict[str, str], port: int, rules: list[str]) -> None:
    template = _used(slurm(), user, port)

    assert [rule for rule in rules_of(template) if rule.startswith("HP-NET")] == rules


def _used(template: Template, user: dict[str, str], port: int) -> Template:
    """A group that is open to the world on a port, and its user."""
    opened = {"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": WORLD}
    group = {"GroupDescription": "service", "VpcId": {"Ref": "Vpc"}, "SecurityGroupIngress": [opened]}
    ids = [{"Fn::GetAtt": ["Service", "GroupId"]}]
    given = {"SecurityGroupIds": ids} if user["Key"] == "VPCOptions" else ids
    template["Resources"]["Service"] = {"Type": "AWS::EC2::SecurityGroup", "Properties": group}
    template["Resources"]["User"] = {"Type": user["Type"], "Properties": {user["Key"]: given}}
    return template


def test_rules_of_a_group_of_another_stack_are_judged() -> None:
    template = slurm()
    rule = {"GroupId": "sg-0123456789abcdef0", "IpProtocol": "tcp", "FromPort": 5432, "ToPort": 5432, "CidrIp": WORLD}
    template["Resources"]["Opened"] = {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": rule}

    assert rules_of(template) == ["HP-NET-004"]


@pytest.mark.parametrize(
    ("ports", "rules"),
    [((22, 22), ["HP-NET-007"]), ((3389, 3390), ["HP-NET-007"]), ((1, 61000), []), ((1024, 65535), []), ((443, 443), [])],
)
def test_acls_do_not_let_the_world_administer(ports: tuple[int, int], rules: list[str]) -> None:
    template = slurm()
    entry = {
        "NetworkAclId": "acl-0123456789abcdef0",
        "RuleNumber": 300,
        "Protocol": 6,
        "RuleAction": "allow",
        "CidrBlock": WORLD,
        "PortRange": {"From": ports[0], "To": ports[1]},
    }
    template["Resources"]["Entry"] = {"Type": "AWS::EC2::NetworkAclEntry", "Properties": entry}

    assert rules_of(template) == rules


@pytest.mark.parametrize(
    ("network", "rules"),
    [
        ({"PublicAccessCidrs": ["203.0.113.0/24", WORLD]}, ["HP-NET-008"]),
        ({"PublicAccessCidrs": ["203.0.113.0/24"]}, []),
        ({"PublicAccessCidrs": [WORLD], "EndpointPublicAccess": False}, []),
    ],
)
def test_control_planes_are_not_open_to_the_world_by_their_blocks(network: dict[str, object], rules: list[str]) -> None:
    template = eks()
    network = {"EndpointPublicAccess": True, "EndpointPrivateAccess": True, **network}
    properties(template, "Control")["ResourcesVpcConfig"] |= network

    assert [rule for rule in rules_of(template) if rule.startswith("HP-NET")] == rules


def test_groups_that_nothing_has_are_not_judged() -> None:
    template = slurm()
    bastion = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "CidrIp": WORLD}
    template["Resources"]["Bastion"] = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "bastion", "VpcId": {"Ref": "Vpc"}, "SecurityGroupIngress": [bastion]},
    }

    assert rules_of(template) == []


NOWHERE = {"IpProtocol": "icmp", "FromPort": 252, "ToPort": 86, "CidrIp": "255.255.255.255/32"}


def test_nodes_must_get_out() -> None:
    template = slurm()
    properties(template, "NodeGroup")["SecurityGroupEgress"] = [NOWHERE]

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-REACH-001", Level.ERROR, "NodeGroup")


def test_nodes_that_need_nothing_come_up_without_a_way_out() -> None:
    """Slurm from the image alone needs neither scripts nor the internet; its logs and sessions do."""
    template = slurm()
    properties(template, "NodeGroup")["SecurityGroupEgress"] = [NOWHERE]
    for group in properties(template, "Cluster")["InstanceGroups"]:
        del group["LifeCycleConfig"]

    assert rules_of(template) == ["HP-REACH-002"]


@pytest.mark.parametrize(
    "rule",
    [
        {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "DestinationPrefixListId": "pl-0123456789abcdef0"},
        {"IpProtocol": {"Ref": "AWS::StackName"}, "CidrIp": WORLD},
    ],
)
def test_any_way_out_may_be_enough(rule: dict[str, object]) -> None:
    template = slurm()
    properties(template, "NodeGroup")["SecurityGroupEgress"] = [rule]

    assert rules_of(template) == []


def test_a_way_out_to_the_vpc_alone_leads_to_no_service() -> None:
    template = slurm()
    properties(template, "NodeGroup")["SecurityGroupEgress"] = [{"IpProtocol": "-1", "CidrIp": "10.0.0.0/16"}]

    assert rules_of(template) == ["HP-REACH-001"]
