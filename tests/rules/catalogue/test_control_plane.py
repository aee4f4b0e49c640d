from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import eks, findings, rules_of

SERVICES = "Control/KubernetesNetworkConfig/ServiceIpv4Cidr"
NETWORK = "Control/ResourcesVpcConfig"
EC2 = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}]}
BLOCK = {"Type": "AWS::EC2::VPCCidrBlock", "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.4.0.0/16"}}
ELSEWHERE = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": True}}


def key(**given: Any) -> dict[str, Any]:
    return {"Type": "AWS::KMS::Key", "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain", "Properties": given}


def encrypted(*resources: str, by: Any = None) -> dict[str, Any]:
    provider = {"KeyArn": {"Fn::GetAtt": ["Key", "Arn"]} if by is None else by}
    return {"Control/EncryptionConfig": [{"Provider": provider, "Resources": list(resources)}]}


def automatic(compute: Any, balancing: Any, storage: Any) -> dict[str, Any]:
    return {
        "Control/ComputeConfig": {"Enabled": compute},
        "Control/KubernetesNetworkConfig": {"ElasticLoadBalancing": {"Enabled": balancing}},
        "Control/StorageConfig": {"BlockStorage": {"Enabled": storage}},
    }


def group(*ingress: Any) -> dict[str, Any]:
    properties = {"GroupDescription": "control plane", "VpcId": {"Ref": "Vpc"}, "SecurityGroupIngress": list(ingress)}
    return {"Type": "AWS::EC2::SecurityGroup", "Properties": properties}


FROM_NODES = {"IpProtocol": "-1", "SourceSecurityGroupId": {"Fn::GetAtt": ["NodeGroup", "GroupId"]}}
SEPARATE = edited(
    eks(),
    {"ControlGroup": group(FROM_NODES), f"{NETWORK}/SecurityGroupIds": [{"Fn::GetAtt": ["ControlGroup", "GroupId"]}]},
)


def into_nodes(source: Any, port: int = 10250) -> dict[str, Any]:
    properties = {"GroupId": {"Fn::GetAtt": ["NodeGroup", "GroupId"]}, "IpProtocol": "tcp", "FromPort": port, "ToPort": port}
    return {"FromControl": {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": {**properties, **source}}}


OF_GROUP = {"SourceSecurityGroupId": {"Fn::GetAtt": ["ControlGroup", "GroupId"]}}
OF_CLUSTER = {"SourceSecurityGroupId": {"Fn::GetAtt": ["Control", "ClusterSecurityGroupId"]}}
CASES = [
    Case(
        "HP-ROL-001", eks(), {"ControlRole/AssumeRolePolicyDocument": EC2}, {"Control/RoleArn": "arn:aws:iam::123456789012:role/x"}
    ),
    Case("HP-CTL-002", eks(), {SERVICES: "10.0.0.0/16"}, {SERVICES: "172.20.0.0/16"}),
    Case("HP-CTL-002", eks(), {"Block": BLOCK, SERVICES: "10.4.0.0/20"}, {"Block": BLOCK, SERVICES: "10.8.0.0/16"}),
    Case("HP-CTL-002", eks(), {SERVICES: "10.100.0.0/28"}, {SERVICES: {"Ref": "AWS::StackName"}}),
    Case("HP-CTL-003", eks(), {"Key": key(), **encrypted("configmaps")}, {"Key": key(), **encrypted("secrets")}),
    Case("HP-KEY-003", eks(), {"Key": key(Enabled=False), **encrypted("secrets")}, {}),
    Case("HP-CTL-003", eks(), {"Key": key(KeySpec="RSA_2048", KeyUsage="ENCRYPT_DECRYPT"), **encrypted("secrets")}, {}),
    Case("HP-CTL-003", eks(), encrypted("secrets", by="arn:aws:kms:us-west-2:123456789012:alias/key"), {}),
    Case("HP-CTL-004", eks(), automatic(True, False, False), automatic(True, True, True)),
    Case("HP-CTL-004", eks(), {"Control/ComputeConfig": {"Enabled": True}}, automatic(False, False, False)),
    Case(
        "HP-CTL-005",
        edited(eks(), {f"{NETWORK}/SecurityGroupIds": ["sg-0123456789abcdef0"]}),
        {f"{NETWORK}/EndpointPrivateAccess": False, f"{NETWORK}/EndpointPublicAccess": False},
        {f"{NETWORK}/EndpointPrivateAccess": REMOVED, f"{NETWORK}/EndpointPublicAccess": REMOVED},
    ),
    Case("HP-CTL-006", SEPARATE, {}, into_nodes(OF_GROUP)),
    Case("HP-CTL-006", SEPARATE, into_nodes(OF_GROUP, port=443), into_nodes(OF_CLUSTER)),
    Case("HP-CTL-006", SEPARATE, into_nodes({"CidrIp": "10.0.64.0/18"}), into_nodes({"CidrIp": "10.0.0.0/16"})),
    Case("HP-CTL-007", eks(), {"Elsewhere": ELSEWHERE, "ControlSubnet2/VpcId": {"Ref": "Elsewhere"}}, {}),
    Case(
        "HP-CTL-007",
        edited(SEPARATE, {"ControlGroup": group({"IpProtocol": "-1", "CidrIp": "10.0.0.0/16"})}),
        {"Elsewhere": ELSEWHERE, "ControlGroup/VpcId": {"Ref": "Elsewhere"}, **into_nodes(OF_CLUSTER)},
        into_nodes(OF_CLUSTER),
    ),
]
CASES += [
    Case("HP-REF-012", eks(), {"Control/RoleArn": {"Ref": "ControlRole"}}, {"Control/RoleArn": {"Ref": "AWS::StackName"}}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_groups_from_elsewhere_are_not_judged() -> None:
    assert rules_of(edited(eks(), {f"{NETWORK}/SecurityGroupIds": ["sg-0123456789abcdef0"]})) == []


def test_a_control_plane_without_the_group_that_its_nodes_let_in_is_the_mistake() -> None:
    other = {**into_nodes(OF_GROUP), "Other": group(FROM_NODES), f"{NETWORK}/SecurityGroupIds/0": {"Ref": "Other"}}
    (finding,) = [one for one in findings(edited(SEPARATE, other)) if one.rule == "HP-CTL-006"]
    assert (finding.resource, finding.path.rpartition("/")[2]) == ("Control", "SecurityGroupIds")
    assert "has Other; ControlGroup, which nothing has, would let TCP 10250 through" in finding.message
