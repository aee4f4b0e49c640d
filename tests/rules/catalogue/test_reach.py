"""The ways of nodes to what they need: the hop at which each ends, and what nobody can know."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.rules.finding import Level
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import Template, eks, findings, preset, rules_of, slurm
from tests.rules.catalogue.test_network import EKS, OPERATION, closed

VPC = {"Ref": "Vpc"}


def ref(name: str) -> Template:
    return {"Ref": name}


def resource(kind: str, **properties: Any) -> Template:
    return {"Type": f"AWS::EC2::{kind}", "Properties": properties}


def entry(number: int, action: str, *, egress: bool = False, block: Any = "0.0.0.0/0", **more: Any) -> Template:
    """An entry of the list `Acl`, for all traffic unless it says otherwise."""
    given = {"NetworkAclId": ref("Acl"), "RuleNumber": number, "RuleAction": action, "Egress": egress, "CidrBlock": block}
    return resource("NetworkAclEntry", **{**given, "Protocol": -1, **more})


def tcp(first: int, last: int) -> Template:
    return {"Protocol": 6, "PortRange": {"From": first, "To": last}}


ACL = {
    "Acl": resource("NetworkAcl", VpcId=VPC),
    "AclLink": resource("SubnetNetworkAclAssociation", SubnetId=ref("NodeSubnet"), NetworkAclId=ref("Acl")),
}
OPEN_ACL = {**ACL, "In": entry(100, "allow"), "Out": entry(100, "allow", egress=True)}
STRICT_ACL = {
    **ACL,
    "In": entry(100, "allow", **tcp(1024, 65535)),
    "Out": entry(100, "allow", egress=True, **tcp(443, 443)),
    "OutAnswers": entry(110, "allow", egress=True, **tcp(1024, 65535)),
    "InVpc": entry(120, "allow", block={"Fn::GetAtt": ["Vpc", "CidrBlock"]}),
    "OutVpc": entry(120, "allow", egress=True, block={"Fn::GetAtt": ["Vpc", "CidrBlock"]}),
}
PRIVATE = {
    "Endpoints": resource(
        "SecurityGroup",
        GroupDescription="endpoints",
        VpcId=VPC,
        SecurityGroupIngress=[
            {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": {"Fn::GetAtt": ["Vpc", "CidrBlock"]}}
        ],
    )
}
SLURM, CLOSED = slurm(), closed(slurm(), *OPERATION)
CLOSED_EKS = closed(eks(), *EKS, *OPERATION, "sts")
WITH_ACL, WITH_STRICT_ACL = edited(SLURM, OPEN_ACL), edited(SLURM, STRICT_ACL)
ALLOW = {"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}


OWN = [{"Fn::GetAtt": ["Scripts", "Arn"]}, {"Fn::Sub": "${Scripts.Arn}/*"}]


def policy(*statements: Template) -> Template:
    return {"Version": "2012-10-17", "Statement": list(statements)}


STRANGE = resource(
    "SecurityGroup",
    GroupDescription="of another VPC",
    VpcId="vpc-0123456789abcdef0",
    SecurityGroupIngress=[{"IpProtocol": "-1", "CidrIp": "10.0.0.0/8"}],
)
COME_UP, USE = "HP-REACH-001", "HP-REACH-002"
CONTROL = {"Fn::GetAtt": ["Control", "ClusterSecurityGroupId"]}
"""The group that EKS makes for the cluster."""
DEFAULT = {"Fn::GetAtt": ["Vpc", "DefaultSecurityGroup"]}


def ingress(group: Any, source: Any, **more: Any) -> Template:
    return resource("SecurityGroupIngress", **{"GroupId": group, "SourceSecurityGroupId": source, "IpProtocol": "-1", **more})


HTTPS = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
BY_RULES = edited(
    eks(),
    {
        "Control/ResourcesVpcConfig/SecurityGroupIds": REMOVED,
        "Door": ingress(CONTROL, ref("NodeGroup")),
        "Back": ingress(ref("NodeGroup"), CONTROL),
        "Boards": resource("SecurityGroup", GroupDescription="x", VpcId=VPC),
        "Out": resource("SecurityGroupEgress", GroupId=ref("NodeGroup"), IpProtocol="-1", DestinationSecurityGroupId=CONTROL),
    },
)
WITH_NODES = edited(
    BY_RULES,
    {
        "Dns": {"Type": "AWS::EKS::Addon", "Properties": {"AddonName": "coredns", "ClusterName": ref("Control")}},
        "Work": {
            "Type": "AWS::EKS::Nodegroup",
            "Properties": {
                "ClusterName": ref("Control"),
                "NodeRole": "arn:aws:iam::123456789012:role/work",
                "Subnets": ["subnet-0123456789abcdef0"],
            },
        },
        "Dns/.DependsOn": "Work",
    },
)
HOME = {
    "Type": "AWS::FSx::FileSystem",
    "DeletionPolicy": "Retain",
    "UpdateReplacePolicy": "Retain",
    "Properties": {
        "FileSystemType": "OPENZFS",
        "StorageCapacity": 256,
        "SubnetIds": [ref("NodeSubnet")],
        "SecurityGroupIds": [ref("NodeGroup")],
        "OpenZFSConfiguration": {"DeploymentType": "SINGLE_AZ_2", "ThroughputCapacity": 160},
    },
}
MOUNTED = edited(
    slurm(),
    {
        "Home": HOME,
        "Cluster/InstanceGroups/0/InstanceStorageConfigs/2": {
            "FsxOpenZfsConfig": {"DnsName": {"Fn::GetAtt": ["Home", "DNSName"]}, "MountPath": "/home"}
        },
    },
)


def exported(clients: str) -> dict[str, Any]:
    given = [{"ClientConfigurations": [{"Clients": clients, "Options": ["rw"]}]}]
    return {"Home/OpenZFSConfiguration/RootVolumeConfiguration/NfsExports": given}


@pytest.mark.parametrize(
    ("options", "place", "expected"),
    [
        ([["ro", "crossmnt"]], "/home", ["Home"]),
        ([["ro"]], REMOVED, ["Home"]),
        ([["rw", "crossmnt"]], "/home", []),
        ([["ro"], ["rw"]], "/home", []),
        ([["crossmnt"]], "/home", []),
        ([["ro"]], "/datasets", []),
    ],
)
def test_nodes_write_to_their_homes(options: list[list[str]], place: object, expected: list[str]) -> None:
    given = [{"ClientConfigurations": [{"Clients": "*", "Options": one} for one in options]}]
    changes = {
        "Home/OpenZFSConfiguration/RootVolumeConfiguration/NfsExports": given,
        "Cluster/InstanceGroups/0/InstanceStorageConfigs/2/FsxOpenZfsConfig/MountPath": place,
    }
    assert [one.resource for one in findings(edited(MOUNTED, changes), rules="HP-TXT")] == expected


def names(*domains: str) -> Template:
    return {"Type": "AWS::Route53Resolver::FirewallDomainList", "Properties": {"Domains": list(domains)}}


def zone(name: str, **more: Any) -> Template:
    return {"Type": "AWS::Route53::HostedZone", "Properties": {"Name": name, **more}}


def named_rule(number: int, action: str, domains: Any, **more: Any) -> Template:
    answer = {"BlockResponse": "NXDOMAIN"} if action == "BLOCK" else {}
    return {"Priority": number, "Action": action, "FirewallDomainListId": domains, **answer, **more}


KNOWN, ALL = {"Fn::GetAtt": ["Known", "Id"]}, {"Fn::GetAtt": ["All", "Id"]}
FIREWALL = edited(
    CLOSED,
    {
        "Known": names("*.example.org", "*.amazonaws.com"),
        "All": names("*"),
        "Wall": {
            "Type": "AWS::Route53Resolver::FirewallRuleGroup",
            "Properties": {"FirewallRules": [named_rule(10, "ALLOW", KNOWN), named_rule(20, "BLOCK", ALL)]},
        },
        "WallOfVpc": {
            "Type": "AWS::Route53Resolver::FirewallRuleGroupAssociation",
            "Properties": {"FirewallRuleGroupId": {"Fn::GetAtt": ["Wall", "Id"]}, "VpcId": VPC, "Priority": 200},
        },
    },
)


def asking(*servers: str) -> dict[str, Template]:
    """The VPC asks these servers for names."""
    return {
        "Options": resource("DHCPOptions", DomainNameServers=[*servers]),
        "OptionsOfVpc": resource("VPCDHCPOptionsAssociation", VpcId=VPC, DhcpOptionsId=ref("Options")),
    }


OUT = {"NodeGroup/SecurityGroupEgress": [{"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}]}
WALL_RULES = "Wall/FirewallRules"
CASES = [
    # Network ACLs
    Case(COME_UP, WITH_ACL, {"Out": REMOVED}, {}),
    Case(COME_UP, WITH_ACL, {"In": REMOVED}, {"In": entry(100, "allow", **tcp(1024, 65535))}),
    Case(COME_UP, WITH_ACL, {"In": entry(100, "allow", **tcp(443, 443))}, {"In": entry(100, "allow", **tcp(32768, 60999))}),
    Case(COME_UP, WITH_ACL, {"Early": entry(50, "deny")}, {"Late": entry(150, "deny")}),
    Case(COME_UP, WITH_ACL, {"E": entry(50, "deny", egress=True, **tcp(443, 443))}, {"E": entry(50, "deny", **tcp(22, 22))}),
    Case(COME_UP, WITH_STRICT_ACL, {"Out": REMOVED}, {}),
    Case(COME_UP, WITH_STRICT_ACL, {"In": entry(100, "allow", **tcp(1, 40000))}, {"In": entry(100, "allow", **tcp(1, 61000))}),
    Case(COME_UP, WITH_ACL, {"Out/CidrBlock": "10.0.0.0/16"}, {"Out/CidrBlock": {"Ref": "AWS::StackName"}}),
    # A NAT gateway and its own way
    Case(USE, SLURM, {"PublicDefaultRoute": REMOVED}, {}),
    Case(USE, SLURM, {"Nat/SubnetId": ref("NodeSubnet")}, {"Nat/SubnetId": "subnet-0123456789abcdef0"}),
    Case(USE, SLURM, {"Nat/ConnectivityType": "private", "Nat/AllocationId": REMOVED}, {"Nat/ConnectivityType": "public"}),
    Case(USE, SLURM, {"Attachment/InternetGatewayId": "igw-0123456789abcdef0"}, {}),
    Case(
        USE,
        edited(WITH_ACL, {"AclLink/SubnetId": ref("PublicSubnet")}),
        {"In": entry(100, "allow", **tcp(443, 443))},
        {"In": entry(100, "allow", **tcp(443, 65535))},
    ),
    Case(USE, SLURM, {"NodeDefaultRoute/DestinationCidrBlock": "10.0.0.0/8"}, {"NodeDefaultRoute/GatewayId": ref("AWS::NoValue")}),
    Case(COME_UP, edited(SLURM, {"S3Endpoint": REMOVED}), {"NodeAssociation": REMOVED}, {}),
    # Endpoints
    Case(USE, CLOSED, {"Endpoint0/PrivateDnsEnabled": False}, {"Endpoint0/PrivateDnsEnabled": ref("AWS::StackName")}),
    Case(USE, CLOSED, {"Endpoint0/PrivateDnsEnabled": REMOVED}, {"Endpoint0/PrivateDnsEnabled": "true"}),
    Case(COME_UP, CLOSED, {"Vpc/EnableDnsHostnames": False}, {"Vpc/EnableDnsHostnames": "true"}),
    Case(COME_UP, CLOSED, {"Vpc/EnableDnsHostnames": REMOVED}, {"Vpc/EnableDnsHostnames": ref("AWS::StackName")}),
    Case(COME_UP, CLOSED, {"Vpc/EnableDnsSupport": False}, {"Vpc/EnableDnsSupport": REMOVED}),
    Case(
        COME_UP,
        edited(SLURM, asking("AmazonProvidedDNS")),
        {"Vpc/EnableDnsSupport": False, "Vpc/EnableDnsHostnames": False},
        {"Vpc/EnableDnsSupport": False, "Vpc/EnableDnsHostnames": False, "Options/DomainNameServers": ["10.0.0.9"]},
    ),
    Case(COME_UP, edited(SLURM, asking("10.0.0.2")), {"Options/DomainNameServers": ["10.0.200.10"]}, {}),
    Case(
        COME_UP,
        edited(SLURM, asking("AmazonProvidedDNS")),
        {"Options/DomainNameServers": ["10.0.200.10", "10.0.201.10"]},
        {"Options/DomainNameServers": ["10.0.200.10", "10.9.0.10"]},
    ),
    Case(
        COME_UP,
        edited(SLURM, asking("AmazonProvidedDNS")),
        {"Options/DomainNameServers": ["10.9.0.10"]},
        {"Options/DomainNameServers": ["10.9.0.10", "10.0.0.2"]},
    ),
    # A firewall of names lets those of AWS through; servers of the internet need a way
    Case(COME_UP, FIREWALL, {f"{WALL_RULES}/1/Priority": 5}, {f"{WALL_RULES}/1/Priority": 5, f"{WALL_RULES}/1/Action": "ALERT"}),
    Case(COME_UP, FIREWALL, {"Known/Domains/1": "*.example.com"}, {"Known/Domains/1": "ssm.us-west-2.amazonaws.com"}),
    Case(COME_UP, FIREWALL, {"Known/Domains/1": "amazonaws.com"}, {"Known/Domains/1": "*.com"}),
    Case(COME_UP, FIREWALL, {f"{WALL_RULES}/0/Qtype": "TXT", f"{WALL_RULES}/1/Priority": 1}, {f"{WALL_RULES}/1/Qtype": "TXT"}),
    Case(
        COME_UP,
        FIREWALL,
        {f"{WALL_RULES}/0/FirewallDomainListId": ALL, f"{WALL_RULES}/0/Action": "BLOCK", f"{WALL_RULES}/0/BlockResponse": "NODATA"},
        {f"{WALL_RULES}/0/FirewallDomainListId": "rslvr-fdl-0123456789abcdef"},
    ),
    Case("HP-SCH-007", FIREWALL, {f"{WALL_RULES}/1/Priority": 10}, {f"{WALL_RULES}/1/Priority": 11}),
    Case("HP-SCH-007", FIREWALL, {f"{WALL_RULES}/1/BlockResponse": REMOVED}, {f"{WALL_RULES}/1/BlockResponse": "NODATA"}),
    Case("HP-SCH-007", FIREWALL, {f"{WALL_RULES}/1/BlockResponse": "OVERRIDE"}, {f"{WALL_RULES}/1/BlockResponse": "NODATA"}),
    Case(
        "HP-SCH-007",
        CLOSED,
        {"Zone": zone("a.internal.")},
        {"Zone": zone("a.internal.", VPCs=[{"VPCId": VPC, "VPCRegion": ref("AWS::Region")}])},
    ),
    Case("HP-SCH-007", CLOSED, {"Zone": zone("a.local")}, {"Zone": zone("local.example.org")}),
    Case("HP-SCH-007", FIREWALL, {"WallOfVpc/Priority": 50}, {"WallOfVpc/Priority": 101}),
    Case(COME_UP, CLOSED, asking("8.8.8.8", "1.1.1.1"), asking("AmazonProvidedDNS")),
    Case(COME_UP, CLOSED, asking("8.8.8.8"), asking("10.0.0.53", "8.8.8.8")),
    Case(COME_UP, SLURM, asking("8.8.8.8"), {**asking("8.8.8.8"), **OUT}),
    Case(USE, CLOSED, {"Endpoint1/SubnetIds": []}, {"Endpoint1/SubnetIds": ["subnet-0123456789abcdef0"]}),
    Case(USE, CLOSED, {"Endpoint2/SecurityGroupIds": REMOVED}, {"Endpoint2/SecurityGroupIds": ["sg-0123456789abcdef0"]}),
    Case(USE, CLOSED, {"Endpoint2/SecurityGroupIds": []}, {"Endpoint2/SecurityGroupIds": ["sg-0123456789abcdef0"]}),
    # The default group of a VPC admits only itself
    Case(USE, CLOSED, {"Endpoint2/SecurityGroupIds": [DEFAULT]}, {"Endpoint2/SecurityGroupIds": [DEFAULT, "sg-0123456789abcdef0"]}),
    Case(
        USE,
        edited(MOUNTED, {"NodeGroup/SecurityGroupEgress": [{"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}]}),
        {"Home/SecurityGroupIds": [DEFAULT]},
        {"Home/SecurityGroupIds": [DEFAULT], "Door": ingress(DEFAULT, ref("NodeGroup"))},
    ),
    Case(USE, MOUNTED, {"Home/SecurityGroupIds": [DEFAULT]}, {"Home/SecurityGroupIds": [DEFAULT, ref("NodeGroup")]}),
    Case(
        USE,
        edited(edited(CLOSED, PRIVATE), {"Endpoint0/SecurityGroupIds": [ref("Endpoints")]}),
        {"Endpoints/SecurityGroupIngress/0/CidrIp": "10.9.0.0/16"},
        {"Endpoints/SecurityGroupIngress/0/CidrIp": "10.0.64.0/18"},
    ),
    Case(
        USE,
        edited(edited(CLOSED, PRIVATE), {"Endpoint0/SecurityGroupIds": [ref("Endpoints")]}),
        {"Endpoints/SecurityGroupIngress/0/FromPort": 80, "Endpoints/SecurityGroupIngress/0/ToPort": 80},
        {"Endpoints/SecurityGroupIngress/0/FromPort": 0},
    ),
    # Policies of endpoints
    Case(
        COME_UP,
        SLURM,
        {"S3Endpoint/PolicyDocument": policy({**ALLOW, "Resource": "arn:aws:s3:::elsewhere/*"})},
        {"S3Endpoint/PolicyDocument": policy({**ALLOW, "Resource": OWN})},
    ),
    Case(
        COME_UP,
        SLURM,
        {"S3Endpoint/PolicyDocument": policy(ALLOW, {**ALLOW, "Effect": "Deny"})},
        {
            "S3Endpoint/PolicyDocument": policy(
                ALLOW, {**ALLOW, "Effect": "Deny", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}
            )
        },
    ),
    Case(
        COME_UP,
        eks(),
        {"S3Endpoint/PolicyDocument": policy({**ALLOW, "Resource": {"Fn::Sub": "${Scripts.Arn}/*"}})},
        {"S3Endpoint/PolicyDocument": policy({**ALLOW, "Principal": {"AWS": "*"}, "Resource": ["*"]})},
    ),
    Case(
        USE,
        CLOSED,
        {"Endpoint0/PolicyDocument": policy({**ALLOW, "Action": "logs:Describe*"})},
        {"Endpoint0/PolicyDocument": policy({**ALLOW, "Action": ["logs:Put*", "logs:Create*", "logs:Describe*"]})},
    ),
    # Resources of two VPCs
    Case("HP-REACH-004", SLURM, {"NodeGroup/VpcId": "vpc-0123456789abcdef0"}, {"NodeGroup/VpcId": ref("AWS::StackName")}),
    Case("HP-REACH-004", SLURM, {"NodeRoutes/VpcId": "vpc-0123456789abcdef0"}, {"NodeRoutes/VpcId": ref("AWS::StackName")}),
    Case("HP-REACH-004", CLOSED, {"Endpoint0/SecurityGroupIds": [ref("Strange")], "Strange": STRANGE}, {"Strange": STRANGE}),
    Case("HP-REACH-004", SLURM, {"NodeSubnet/VpcId": "vpc-0123456789abcdef0"}, {"NodeSubnet/VpcId": ref("AWS::StackName")}),
    Case("HP-REACH-004", SLURM, {"NodeGroup/VpcId": REMOVED}, {}),
    # The Kubernetes API
    Case(
        COME_UP,
        CLOSED_EKS,
        {"Control/ResourcesVpcConfig/EndpointPrivateAccess": REMOVED},
        {"Control/ResourcesVpcConfig/EndpointPublicAccess": REMOVED},
    ),
    Case(COME_UP, eks(), {"Control/ResourcesVpcConfig/SecurityGroupIds": REMOVED}, {}),
    Case(COME_UP, BY_RULES, {"Door": REMOVED}, {}),
    Case(COME_UP, BY_RULES, {"Door/SourceSecurityGroupId": ref("Boards")}, {"Door": ingress(CONTROL, ref("NodeGroup"), **HTTPS)}),
    # Names of Kubernetes, served on nodes of EKS
    Case(USE, WITH_NODES, {"Door": ingress(CONTROL, ref("NodeGroup"), **HTTPS)}, {}),
    # Exports of OpenZFS
    Case(USE, MOUNTED, exported("10.0.0.0/20"), exported("10.0.0.0/16")),
    Case(USE, MOUNTED, exported("10.9.9.9"), exported("*")),
]


@pytest.mark.parametrize("case", CASES)
def test_rule(case: Case) -> None:
    case.check()


def test_groups_that_end_at_one_hop_are_one_finding_with_the_way() -> None:
    (finding,) = findings(edited(WITH_ACL, {"In": REMOVED}))

    assert (finding.level, finding.resource) == (Level.ERROR, "Acl")
    assert finding.message == (
        "controller, login, workers cannot reach S3, logs, ssm and ssmmessages: the way S3Endpoint > NodeGroup > Acl ends, as "
        "Acl lets no TCP 32768-60999 in from the internet, on which answers come back"
    )


@pytest.mark.parametrize(("last", "ends"), [(1023, False), (1017, True)])
def test_lustre_calls_from_its_own_ports(last: int, ends: bool) -> None:
    between = {"block": "10.0.0.0/16", **tcp(988, last)}
    storage = {
        "Storage": {
            **resource("Subnet", VpcId=VPC, CidrBlock="10.0.240.0/24", AvailabilityZone="us-west-2b"),
            "DeletionPolicy": "Retain",
        },
        "FileSystem/SubnetIds": [ref("Storage")],
        "AclLink/SubnetId": ref("Storage"),
        "In": entry(100, "allow", **between),
        "Out": entry(100, "allow", egress=True, **between),
    }
    assert any("Acl lets no TCP" in one.message for one in findings(edited(SLURM, {**ACL, **storage}))) == ends


def test_the_rule_that_was_meant_is_the_place() -> None:
    (finding,) = findings(edited(BY_RULES, {"Door/SourceSecurityGroupId": ref("Boards")}))
    assert finding.resource == "Door"


def test_a_closed_subnet_beside_others_ends_at_the_subnet() -> None:
    """The VPC has one endpoint and a way out, so that it is not made for endpoints alone."""
    one = edited(
        SLURM, {"Logs": resource("VPCEndpoint", VpcId=VPC, VpcEndpointType="Interface", ServiceName="com.amazonaws.us-west-2.kms")}
    )
    assert {finding.resource for finding in findings(edited(one, {"NodeAssociation": REMOVED}))} == {"NodeSubnet"}


def elsewhere() -> Template:
    """The file system is in a VPC of its own."""
    subnet = {"VpcId": ref("Other"), "CidrBlock": "10.8.0.0/24", "AvailabilityZone": "us-west-2b"}
    return edited(
        SLURM,
        {
            "Other": resource("VPC", CidrBlock="10.8.0.0/16"),
            "There": {"Type": "AWS::EC2::Subnet", "Properties": subnet},
            "FileSystem/SubnetIds": [ref("There")],
        },
    )


@pytest.mark.parametrize(
    ("kind", "found"),
    [("VPCPeeringConnection", False), ("TransitGatewayAttachment", False), ("Instance", True)],
)
def test_vpcs_may_be_joined(kind: str, found: bool) -> None:
    changes = {"Joint": resource(kind, VpcId=VPC), "FileSystem/SecurityGroupIds": ["sg-0123456789abcdef0"]}
    assert (USE in rules_of(edited(elsewhere(), changes))) is found


def test_a_network_of_another_stack_is_followed() -> None:
    """The cluster takes its network by imports; the mistake is in the stack that exports it."""
    names = {"Cluster", "Role", "Scripts", "FileSystem", "Link", "Data"}
    network = {"Resources": {name: one for name, one in SLURM["Resources"].items() if name not in names}}
    network["Outputs"] = {name: {"Value": ref(name), "Export": {"Name": f"net-{name}"}} for name in ("NodeSubnet", "NodeGroup")}
    cluster = {"Resources": {name: SLURM["Resources"][name] for name in ("Cluster", "Role", "Scripts")}}
    imported = {
        "Subnets": [{"Fn::ImportValue": "net-NodeSubnet"}],
        "SecurityGroupIds": [{"Fn::ImportValue": "net-NodeGroup"}],
    }
    groups = [{**one, "InstanceStorageConfigs": []} for one in SLURM["Resources"]["Cluster"]["Properties"]["InstanceGroups"]]
    cluster = edited(cluster, {"Cluster/VpcConfig": imported, "Cluster/InstanceGroups": groups})
    assert rules_of(network, cluster) == []
    (finding,) = findings(edited(network, {"Nat/SubnetId": ref("NodeSubnet")}), cluster)
    assert (finding.rule, finding.resource) == (USE, "Nat")


def test_a_preset_with_a_closed_acl() -> None:
    templates = preset("llm")
    resources = templates["Foundation"]["Resources"]
    (vpc,) = [name for name, one in resources.items() if one["Type"] == "AWS::EC2::VPC"]
    deny = {"RuleNumber": 1, "RuleAction": "deny", "Protocol": -1, "CidrBlock": "0.0.0.0/0", "Egress": True}
    resources["Deny"] = resource("NetworkAclEntry", NetworkAclId={"Fn::GetAtt": [vpc, "DefaultNetworkAcl"]}, **deny)
    (finding,) = findings(*templates.values())
    assert (finding.rule, finding.resource) == (COME_UP, vpc)
    assert finding.message.endswith("by its default network ACL")


def test_nodes_in_a_subnet_for_gateways_are_the_mistake_of_the_cluster() -> None:
    chosen = edited(SLURM, {"Cluster/VpcConfig/Subnets": [{"Ref": "PublicSubnet"}]})
    assert {one.resource for one in findings(chosen) if one.rule.startswith("HP-REACH")} == {"Cluster"}
    routed = {"NodeDefaultRoute/NatGatewayId": REMOVED, "NodeDefaultRoute/GatewayId": {"Ref": "Gateway"}}
    assert {one.resource for one in findings(edited(SLURM, routed)) if one.rule.startswith("HP-REACH")} == {"NodeSubnet"}


def bare(**changes: Any) -> Template:
    """A closed network whose nodes have no scripts, with a role that reads a bucket of the template."""
    groups = CLOSED["Resources"]["Cluster"]["Properties"]["InstanceGroups"]
    plain = [{key: value for key, value in group.items() if key != "LifeCycleConfig"} for group in groups]
    return edited(CLOSED, {"Cluster/InstanceGroups": plain, **changes})


def reached(template: Template) -> set[tuple[str, str | None]]:
    return {(one.rule, one.resource) for one in findings(template) if one.rule.startswith("HP-REACH")}


def test_nodes_reach_the_buckets_that_their_role_reads() -> None:
    assert reached(bare()) == set()
    assert reached(bare(S3Endpoint=REMOVED)) == {(USE, "NodeSubnet")}


HERE = {"StringEquals": {"aws:ResourceAccount": ref("AWS::AccountId")}}
FAR_LAYERS = {**ALLOW, "Action": "s3:GetObject", "Resource": "arn:aws:s3:::prod-eu-west-1-starport-layer-bucket/*"}
OURS = {"StringEquals": {"aws:PrincipalAccount": ref("AWS::AccountId")}}
LAYERS = {**ALLOW, "Action": "s3:GetObject", "Resource": {"Fn::Sub": "arn:aws:s3:::prod-${AWS::Region}-starport-layer-bucket/*"}}


@pytest.mark.parametrize(
    ("endpoints", "policies", "found"),
    [
        ([], [{**ALLOW, "Condition": HERE}], set()),
        (["ecr.api", "ecr.dkr"], [{**ALLOW, "Condition": HERE}], {("HP-REACH-001", "S3Endpoint")}),
        (["ecr.api", "ecr.dkr"], [{**ALLOW, "Condition": OURS}], {("HP-REACH-001", "S3Endpoint")}),
        (["ecr.api", "ecr.dkr"], [{**ALLOW, "Condition": OURS}, FAR_LAYERS], {("HP-REACH-001", "S3Endpoint")}),
        (["ecr.api", "ecr.dkr"], [{**ALLOW, "Condition": OURS}, LAYERS], set()),
        (["ecr.api", "ecr.dkr"], [{**ALLOW, "Condition": HERE}, LAYERS], set()),
        (["ecr.api", "ecr.dkr"], [ALLOW], set()),
    ],
)
def test_who_pulls_images_in_a_closed_network_reads_their_layers_in_a_bucket_of_aws(
    endpoints: list[str], policies: list[Template], found: set[tuple[str, str]]
) -> None:
    pulling = closed(slurm(), *OPERATION, *endpoints)
    reader = {"Effect": "Allow", "Action": "ecr:BatchGetImage", "Resource": "*"}
    properties = {"RoleName": ref("Role"), "PolicyName": "pull", "PolicyDocument": policy(reader)}
    pull = {"Type": "AWS::IAM::RolePolicy", "Properties": properties}
    changes = {"S3Endpoint/PolicyDocument": policy(*policies), "Pull": pull}
    assert reached(edited(pulling, changes)) == found


@pytest.mark.parametrize(("policies", "found"), [([{**ALLOW, "Condition": HERE}], 1), ([{**ALLOW, "Condition": HERE}, LAYERS], 0)])
def test_layers_of_images_pass_the_endpoint_for_s3_where_their_registry_is_reached_over_the_internet(
    policies: list[Template], found: int
) -> None:
    properties = {"RoleName": ref("Role"), "PolicyName": "pull", "PolicyDocument": policy(PULL)}
    pull = {"Pull": {"Type": "AWS::IAM::RolePolicy", "Properties": properties}}
    shut = edited(SLURM, {**pull, "S3Endpoint/PolicyDocument": policy(*policies)})
    assert len(reached(shut)) == found
    assert reached(edited(shut, {"Pull": REMOVED})) == set()


PULL = {"Effect": "Allow", "Action": "ecr:BatchGetImage", "Resource": "arn:aws:ecr:us-west-2:123456789012:repository/train"}
LOOKS = {"Pull/PolicyDocument": policy({**PULL, "Action": "ecr:DescribeRepositories"})}


@pytest.mark.parametrize(
    ("endpoints", "changes", "found"),
    [
        (["ecr.api", "ecr.dkr"], {}, set()),
        (["ecr.api"], {}, {(USE, "Endpoint3")}),
        (["ecr.dkr"], {}, {(USE, "Endpoint3")}),
        ([], {}, set()),
        (["ecr.api", "ecr.dkr"], {**LOOKS, "Endpoint3/PrivateDnsEnabled": False}, set()),
        (["ecr.api", "ecr.dkr"], {"Endpoint3/PrivateDnsEnabled": False}, {(USE, "Endpoint3")}),
        (["ecr.api"], {"Cluster/.DependsOn": ["Registry"]}, set()),
    ],
)
def test_who_pulls_images_past_one_endpoint_of_the_registry_needs_both(
    endpoints: list[str], changes: Template, found: set[tuple[str, str]]
) -> None:
    properties = {"RoleName": ref("Role"), "PolicyName": "pull", "PolicyDocument": policy(PULL)}
    pull = {"Pull": {"Type": "AWS::IAM::RolePolicy", "Properties": properties}}
    assert reached(edited(closed(slurm(), *OPERATION, *endpoints), {**pull, **changes})) == found


SECRET: Template = {
    "Secret": {"Type": "AWS::SecretsManager::Secret", "Properties": {"Name": "accounting"}},
    "Attached": {"Type": "AWS::SecretsManager::SecretTargetAttachment", "Properties": {"SecretId": ref("Secret")}},
    "Topic": {"Type": "AWS::SNS::Topic", "Properties": {}},
}
ENTRIES = {"Fn::Select": [0, {"Fn::GetAtt": ["Endpoint3", "DnsEntries"]}]}
NAMES: Template = {"Told": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": ENTRIES}}}


def granted(action: str, on: object) -> Template:
    statement = {"Effect": "Allow", "Action": action, "Resource": on}
    properties = {"RoleName": ref("Role"), "PolicyName": "own", "PolicyDocument": policy(statement)}
    return {**SECRET, "Own": {"Type": "AWS::IAM::RolePolicy", "Properties": properties}}


READS = granted("secretsmanager:GetSecretValue", ref("Secret"))


@pytest.mark.parametrize(
    ("endpoints", "changes", "found"),
    [
        ([], READS, {(USE, "NodeSubnet")}),
        ([], granted("secretsmanager:GetSecretValue", ref("Attached")), {(USE, "NodeSubnet")}),
        ([], granted("sns:Publish", ref("Topic")), {(USE, "NodeSubnet")}),
        (["secretsmanager"], {**READS, "Endpoint3/PrivateDnsEnabled": False}, {(USE, "Endpoint3")}),
        (["secretsmanager"], {**READS, "Endpoint3/PrivateDnsEnabled": False, **NAMES}, set()),
        (["secretsmanager"], {**READS, "Endpoint3/PrivateDnsEnabled": ref("AWS::StackName")}, set()),
        (["secretsmanager"], READS, set()),
        (["sns"], granted("sns:Publish", ref("Topic")), set()),
        ([], granted("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-west-2:123456789012:secret:others-??????"), set()),
        ([], granted("secretsmanager:DescribeSecret", ref("Secret")), set()),
        (
            [],
            {**READS, "Rotates": {"Type": "AWS::Lambda::Function", "Properties": {"Role": {"Fn::GetAtt": ["Role", "Arn"]}}}},
            set(),
        ),
        ([], granted("secretsmanager:GetSecretValue", "*"), set()),
    ],
)
def test_nodes_reach_what_their_role_may_use_by_name(endpoints: list[str], changes: Template, found: set[tuple[str, str]]) -> None:
    assert reached(edited(closed(slurm(), *OPERATION, *endpoints), changes)) == found


@pytest.mark.parametrize(("prefix_list", "found"), [("pl-7ba54012", {(USE, "NodeGroup")}), ("pl-0123456789abcdef0", set())])
def test_lists_of_aws_have_no_addresses_of_a_vpc(prefix_list: str, found: set[tuple[str, str]]) -> None:
    rule = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "DestinationPrefixListId": prefix_list}
    apart = {**PRIVATE, "Endpoint0/SecurityGroupIds": [ref("Endpoints")]}
    assert reached(bare(**apart, **{"NodeGroup/SecurityGroupEgress": [rule]})) == found


def test_a_rule_with_another_port_is_not_taken_for_a_missing_one() -> None:
    lustre = {
        "LustreGroup": resource("SecurityGroup", GroupDescription="lustre", VpcId=VPC),
        "NodesIn": resource(
            "SecurityGroupIngress", GroupId=ref("LustreGroup"), IpProtocol="-1", SourceSecurityGroupId=ref("NodeGroup")
        ),
        "LustreOut": resource(
            "SecurityGroupEgress", GroupId=ref("LustreGroup"), IpProtocol="-1", DestinationSecurityGroupId=ref("LustreGroup")
        ),
        "LustreIn": resource(
            "SecurityGroupIngress", GroupId=ref("LustreGroup"), IpProtocol="-1", SourceSecurityGroupId=ref("LustreGroup")
        ),
        "ToLustre": resource(
            "SecurityGroupEgress",
            GroupId=ref("NodeGroup"),
            IpProtocol="tcp",
            FromPort=989,
            ToPort=1023,
            DestinationSecurityGroupId=ref("LustreGroup"),
        ),
        "FileSystem/SecurityGroupIds": [ref("LustreGroup")],
    }
    assert {place for _, place in reached(edited(SLURM, lustre))} <= {"NodeGroup", "ToLustre"}


def test_an_attachment_is_in_the_zone_of_the_nodes_that_use_it() -> None:
    gateway = "tgw-0123456789abcdef0"
    zone = slurm()["Resources"]["NodeSubnet"]["Properties"]["AvailabilityZone"]
    between = {"VpcId": ref("Vpc"), "CidrBlock": "10.0.250.0/28"}
    far, near = (resource("Subnet", **between, AvailabilityZone=one) for one in ("us-west-2d", zone))
    attached = resource("TransitGatewayAttachment", TransitGatewayId=gateway, VpcId=ref("Vpc"), SubnetIds=[ref("Between")])
    way = resource("Route", RouteTableId=ref("NodeRoutes"), DestinationCidrBlock="10.9.0.0/16", TransitGatewayId=gateway)
    joined = {"Attached": attached, "ToSite": {**way, "DependsOn": "Attached"}}
    Case("HP-REACH-008", slurm(), {**joined, "Between": far}, {**joined, "Between": near}).check()


def test_an_attachment_is_in_the_zone_of_the_functions_that_use_it() -> None:
    between = {"VpcId": ref("Vpc"), "AvailabilityZone": "us-west-2d"}
    asking = {
        "Far": resource("Subnet", **between, CidrBlock="10.0.251.0/28"),
        "FarTable": resource("SubnetRouteTableAssociation", SubnetId=ref("Far"), RouteTableId=ref("NodeRoutes")),
        "Names": {
            "Type": "AWS::Route53Resolver::ResolverEndpoint",
            "Properties": {
                "Direction": "OUTBOUND",
                "SecurityGroupIds": [ref("NodeGroup")],
                "IpAddresses": [{"SubnetId": ref("Far")}, {"SubnetId": ref("NodeSubnet")}],
            },
        },
    }
    gateway = "tgw-0123456789abcdef0"
    attached = resource("TransitGatewayAttachment", TransitGatewayId=gateway, VpcId=ref("Vpc"), SubnetIds=[ref("NodeSubnet")])
    way = resource("Route", RouteTableId=ref("NodeRoutes"), DestinationCidrBlock="10.9.0.0/16", TransitGatewayId=gateway)
    joined = {**asking, "Attached": attached, "ToSite": {**way, "DependsOn": "Attached"}}
    both = {**joined, "Attached/SubnetIds": [ref("NodeSubnet"), ref("Far")]}
    assert "HP-REACH-008" in {rule for rule, _ in reached(edited(slurm(), joined))}
    assert "HP-REACH-008" not in {rule for rule, _ in reached(edited(slurm(), both))}


def test_a_route_leads_to_a_gateway_that_is_attached_to_its_network() -> None:
    hub = resource("TransitGateway")
    attached = resource("TransitGatewayAttachment", TransitGatewayId=ref("Hub"), VpcId=ref("Vpc"), SubnetIds=[ref("NodeSubnet")])
    way = resource("Route", RouteTableId=ref("NodeRoutes"), DestinationCidrBlock="10.9.0.0/16", TransitGatewayId=ref("Hub"))
    joined = {"Hub": hub, "Attached": attached, "ToSite": {**way, "DependsOn": "Attached"}}
    assert ("HP-REACH-008", "ToSite") in reached(edited(slurm(), {"Hub": hub, "ToSite": way}))
    assert "HP-REACH-008" not in {rule for rule, _ in reached(edited(slurm(), joined))}


@pytest.mark.parametrize(("ports", "found"), [((3306, 3306), {("HP-REACH-007", "Acl")}), ((443, 443), set())])
def test_an_endpoint_is_in_a_subnet_whose_acl_lets_somebody_in(ports: tuple[int, int], found: set[tuple[str, str]]) -> None:
    entry = {"NetworkAclId": ref("Acl"), "RuleNumber": 100, "RuleAction": "allow", "CidrBlock": "10.0.0.0/16"}
    placed = {
        "Inner": resource("Subnet", VpcId=ref("Vpc"), CidrBlock="10.0.251.0/28"),
        "Acl": resource("NetworkAcl", VpcId=ref("Vpc")),
        "AclOfInner": resource("SubnetNetworkAclAssociation", SubnetId=ref("Inner"), NetworkAclId=ref("Acl")),
        "In": resource("NetworkAclEntry", **entry, Protocol=6, PortRange=dict(zip(("From", "To"), ports, strict=True))),
        "Out": resource("NetworkAclEntry", **entry, Protocol=-1, Egress=True),
        "Polly": resource(
            "VPCEndpoint",
            VpcId=ref("Vpc"),
            VpcEndpointType="Interface",
            PrivateDnsEnabled=True,
            ServiceName="com.amazonaws.us-west-2.polly",
            SubnetIds=[ref("Inner")],
            SecurityGroupIds=[ref("NodeGroup")],
        ),
    }
    assert reached(edited(SLURM, placed)) == found
    given = {"Outputs": {"Inner": {"Value": ref("Inner"), "Export": {"Name": "inner"}}}}
    assert reached({**edited(SLURM, placed), **given}) == set()


def test_an_endpoint_without_groups_lets_nobody_in() -> None:
    given = {"VpcId": ref("Vpc"), "VpcEndpointType": "Interface", "PrivateDnsEnabled": True, "SubnetIds": [ref("NodeSubnet")]}
    polly = resource("VPCEndpoint", ServiceName="com.amazonaws.us-west-2.polly", **given)
    by_hand = resource(
        "SecurityGroupIngress", GroupId={"Fn::GetAtt": ["Vpc", "DefaultSecurityGroup"]}, IpProtocol="-1", CidrIp="10.0.0.0/16"
    )
    assert reached(edited(SLURM, {"Polly": polly})) == {("HP-REACH-007", "Polly")}
    assert reached(edited(SLURM, {"Polly": polly, "Opened": by_hand})) == set()
    beside = resource("Instance", ImageId="ami-0123456789abcdef0", InstanceType="m7i.large", SubnetId=ref("NodeSubnet"))
    assert reached(edited(SLURM, {"Polly": polly, "Beside": beside})) == set()


def test_a_gateway_without_its_network_is_said_once() -> None:
    gateways = [name for name, one in SLURM["Resources"].items() if one["Type"] == "AWS::EC2::InternetGateway"]
    (attachment,) = [name for name, one in SLURM["Resources"].items() if one["Type"] == "AWS::EC2::VPCGatewayAttachment"]
    after = {
        f"{name}/.DependsOn": REMOVED for name, one in SLURM["Resources"].items() if attachment in str(one.get("DependsOn", ""))
    }
    said = [(one.rule, one.resource) for one in findings(edited(SLURM, {attachment: REMOVED, **after})) if one.resource in gateways]
    assert [rule for rule, _ in said] == ["HP-REACH-002"]
    other = {"Other": resource("VPC", CidrBlock="10.9.0.0/16"), f"{attachment}/VpcId": ref("Other")}
    assert ("HP-REACH-002", attachment) in reached(edited(SLURM, other))


@pytest.mark.parametrize(
    ("clients", "lonely"), [("10.1.0.0/16", True), ("10.0.0.0/24", False), ("*", False), ("node.example.com", False)]
)
def test_a_volume_is_exported_to_somebody_who_is_there(clients: str, lonely: bool) -> None:
    kept = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    place = {"SubnetIds": [ref("NodeSubnet")], "SecurityGroupIds": [ref("NodeGroup")]}
    zfs = {"DeploymentType": "SINGLE_AZ_2", "ThroughputCapacity": 160, "AutomaticBackupRetentionDays": 7}
    homes = {"FileSystemType": "OPENZFS", "StorageCapacity": 256, **place, "OpenZFSConfiguration": zfs}
    exports = [{"ClientConfigurations": [{"Clients": clients, "Options": ["rw"]}]}]
    papers = {"ParentVolumeId": {"Fn::GetAtt": ["Homes", "RootVolumeId"]}, "NfsExports": exports}
    shared = {
        "Homes": {"Type": "AWS::FSx::FileSystem", **kept, "Properties": homes},
        "Papers": {
            "Type": "AWS::FSx::Volume",
            **kept,
            "Properties": {"Name": "papers", "VolumeType": "OPENZFS", "OpenZFSConfiguration": papers},
        },
    }
    assert reached(edited(SLURM, shared)) == ({("HP-REACH-007", "Papers")} if lonely else set())


def of_two_gateways(table: str) -> Template:
    """Workers in a zone of their own, behind a second NAT gateway whose subnet has this table; no table leads to the internet."""
    vpc = {"VpcId": {"Ref": "Vpc"}}
    inside = {**vpc, "CidrBlock": "10.0.128.0/18", "AvailabilityZone": "us-west-2c"}
    outside = {**vpc, "CidrBlock": "10.0.1.0/24", "AvailabilityZone": "us-west-2c"}
    leading = {"RouteTableId": {"Ref": "FarRoutes"}, "DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": {"Ref": "FarNat"}}
    nat = {"SubnetId": {"Ref": "FarPublic"}, "AllocationId": "eipalloc-0123456789abcdef0"}
    more = {
        "FarSubnet": {"Type": "AWS::EC2::Subnet", "Properties": inside},
        "FarPublic": {"Type": "AWS::EC2::Subnet", "Properties": outside},
        "FarRoutes": {"Type": "AWS::EC2::RouteTable", "Properties": vpc},
        "OtherRoutes": {"Type": "AWS::EC2::RouteTable", "Properties": vpc},
        "FarDefaultRoute": {"Type": "AWS::EC2::Route", "Properties": leading},
        "FarNat": {"Type": "AWS::EC2::NatGateway", "Properties": nat},
        **{
            f"{subnet}Association": {
                "Type": "AWS::EC2::SubnetRouteTableAssociation",
                "Properties": {"SubnetId": {"Ref": subnet}, "RouteTableId": {"Ref": routes}},
            }
            for subnet, routes in (("FarSubnet", "FarRoutes"), ("FarPublic", table))
        },
    }
    group = {"Subnets": [{"Ref": "FarSubnet"}], "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}]}
    return edited(slurm(), {**more, "Cluster/InstanceGroups/2/OverrideVpcConfig": group, "PublicDefaultRoute": REMOVED})


@pytest.mark.parametrize(("table", "places"), [("PublicRoutes", {"Nat"}), ("OtherRoutes", {"Nat", "FarNat"})])
def test_gateways_whose_common_table_leads_nowhere_are_one_finding(table: str, places: set[str]) -> None:
    found = [one for one in findings(of_two_gateways(table)) if one.rule.startswith("HP-REACH-00")]
    assert {one.resource for one in found} == places
    assert len(found) == len(places)
    assert all(f"{name} is in " in " ".join(one.message for one in found) for name in ("Nat", "FarNat"))


@pytest.mark.parametrize("edit", ["NodeAssociation", "NodeDefaultRoute"])
def test_nodes_without_a_way_out_beside_endpoints_are_one_finding(edit: str) -> None:
    """Without its table a subnet also misses S3; neither order nor endpoints are said to be the mistake besides."""
    of_logs = {
        "VpcId": {"Ref": "Vpc"},
        "VpcEndpointType": "Interface",
        "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.logs"},
        "SubnetIds": [{"Ref": "NodeSubnet"}],
        "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
        "PrivateDnsEnabled": True,
    }
    template = edited(slurm(), {"Logs": {"Type": "AWS::EC2::VPCEndpoint", "Properties": of_logs}})
    assert findings(template) == []
    (finding,) = findings(edited(template, {edit: REMOVED}))
    assert finding.resource == "NodeSubnet"


def let(kind: str, group: str, other: str) -> Template:
    """A rule for all traffic between two groups."""
    peer = "SourceSecurityGroupId" if kind == "Ingress" else "DestinationSecurityGroupId"
    return resource(f"SecurityGroup{kind}", GroupId=ref(group), IpProtocol="-1", **{peer: ref(other)})


def with_groups_of_their_own() -> Template:
    """A file system and an endpoint with groups of their own, which let the nodes in."""
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "SourceSecurityGroupId": ref("NodeGroup")}
    rules = {
        "StoreFromNodes": let("Ingress", "Store", "NodeGroup"),
        "StoreFromStore": let("Ingress", "Store", "Store"),
        "NodesFromStore": let("Ingress", "NodeGroup", "Store"),
        "NodesToStore": let("Egress", "NodeGroup", "Store"),
    }
    more = {
        **rules,
        "Store": resource("SecurityGroup", GroupDescription="store", VpcId=VPC),
        "Doors": resource("SecurityGroup", GroupDescription="doors", VpcId=VPC, SecurityGroupIngress=[https]),
        "Logs": resource(
            "VPCEndpoint",
            VpcId=VPC,
            VpcEndpointType="Interface",
            ServiceName={"Fn::Sub": "com.amazonaws.${AWS::Region}.logs"},
            SubnetIds=[ref("NodeSubnet")],
            SecurityGroupIds=[ref("Doors")],
            PrivateDnsEnabled=True,
        ),
        "FileSystem/SecurityGroupIds/0": ref("Store"),
        "FileSystem/.DependsOn": [*rules],
    }
    template = edited(slurm(), more)
    template["Resources"]["Cluster"]["DependsOn"] += [*rules]
    return template


@pytest.mark.parametrize(("group", "places"), [("Doors", ["Doors"]), ("Own", ["Doors", "NodeGroup", "Store"])])
def test_nodes_in_the_group_of_something_else_are_one_finding(group: str, places: list[str]) -> None:
    """In a group of their own there are three things to open, as Slurm of other nodes is one of them."""
    own = {"Own": resource("SecurityGroup", GroupDescription="login", VpcId=VPC), "OwnSelf": let("Ingress", "Own", "Own")}
    template = edited(with_groups_of_their_own(), own if group == "Own" else {})
    assert group == "Own" or {one.rule for one in findings(template)} == {"HP-RET-003"}
    override = {"Subnets": [ref("NodeSubnet")], "SecurityGroupIds": [ref(group)]}
    found = findings(edited(template, {"Cluster/InstanceGroups/1/OverrideVpcConfig": override}))
    assert sorted(one.resource for one in found if one.rule.startswith("HP-REACH")) == places


@pytest.mark.parametrize(
    ("statement", "rules"),
    [
        (
            {**ALLOW, "Action": "secretsmanager:GetSecretValue", "Resource": "arn:aws:sqs:us-west-2:123456789012:jobs"},
            ["HP-POL-002"],
        ),
        ({**ALLOW, "Action": ["sqs:SendMessage", "sqs:ListQueues"], "Resource": "arn:aws:sqs:us-west-2:123456789012:jobs"}, []),
    ],
)
def test_statements_of_endpoints_do_something(statement: Template, rules: list[str]) -> None:
    name = {"Fn::Sub": "com.amazonaws.${AWS::Region}.sqs"}
    door = {"VpcId": ref("Vpc"), "VpcEndpointType": "Interface", "ServiceName": name, "SubnetIds": [ref("NodeSubnet")]}
    given = {"Type": "AWS::EC2::VPCEndpoint", "Properties": {**door, "PolicyDocument": policy(statement)}}
    assert [one.rule for one in findings(edited(SLURM, {"Door": given})) if one.rule.startswith("HP-POL")] == rules
