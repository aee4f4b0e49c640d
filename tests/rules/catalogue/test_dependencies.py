"""The order of creation, where a template does not say it by references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.rules.catalogue.dependencies import no_resource_awaits_itself
from hyperpod_constructs.templates.model import load
from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import WAYS, Template, eks, findings, slurm

VPC = {"Ref": "Vpc"}
GATEWAY: Template = {
    "Gateway": {"Type": "AWS::EC2::InternetGateway"},
    "Attachment": {
        "Type": "AWS::EC2::VPCGatewayAttachment",
        "Properties": {"VpcId": VPC, "InternetGatewayId": {"Ref": "Gateway"}},
    },
    "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": VPC}},
}


def route(**more: Any) -> Template:
    properties = {"RouteTableId": {"Ref": "Table"}, "DestinationCidrBlock": "0.0.0.0/0", "GatewayId": {"Ref": "Gateway"}}
    return {"Type": "AWS::EC2::Route", "Properties": properties, **more}


@pytest.mark.parametrize(
    ("resources", "late"),
    [
        ({"Route": route()}, ["Route"]),
        ({"Route": route(DependsOn="Attachment")}, []),
        ({"Route": route(DependsOn="More"), "More": route(DependsOn="Attachment"), "More/DestinationCidrBlock": "::/0"}, []),
        ({"Route": {**route(), "Condition": "Perhaps"}, "Attachment/.Condition": "Perhaps"}, []),
    ],
)
def test_gateways_are_attached_first(resources: Template, late: list[str]) -> None:
    perhaps = {"Perhaps": {"Fn::Equals": [{"Ref": "AWS::StackName"}, "x"]}}
    template = {**edited(slurm(), {**GATEWAY, **resources}), "Conditions": perhaps}
    assert [one.resource for one in findings(template, rules="HP-DEP-002")] == late


@pytest.mark.parametrize(("late", "resource"), [({}, ["Address"]), ({"DependsOn": "Attachment"}, [])])
def test_addresses_of_nat_gateways_await_the_internet_gateway(late: Template, resource: list[str]) -> None:
    nat = {"SubnetId": {"Ref": "NodeSubnet"}, "AllocationId": {"Fn::GetAtt": ["Address", "AllocationId"]}}
    resources = {
        "Address": {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}, **late},
        "Another": {"Type": "AWS::EC2::NatGateway", "Properties": nat},
    }
    template = edited(slurm(), resources)
    assert [one.resource for one in findings(template, rules="HP-DEP-002")] == resource


TRANSIT: Template = {
    "Transit": {"Type": "AWS::EC2::TransitGateway", "Properties": {}},
    "Joined": {
        "Type": "AWS::EC2::TransitGatewayAttachment",
        "Properties": {"VpcId": VPC, "TransitGatewayId": {"Ref": "Transit"}, "SubnetIds": [{"Ref": "NodeSubnet"}]},
    },
    "Campus": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": VPC}},
}


@pytest.mark.parametrize(("more", "late"), [({}, ["ToCampus"]), ({"DependsOn": "Joined"}, [])])
def test_transit_gateways_are_attached_first(more: Template, late: list[str]) -> None:
    properties = {
        "RouteTableId": {"Ref": "Campus"},
        "DestinationCidrBlock": "192.168.0.0/16",
        "TransitGatewayId": {"Ref": "Transit"},
    }
    to_campus = {"Type": "AWS::EC2::Route", "Properties": properties, **more}
    template = edited(slurm(), {**TRANSIT, "ToCampus": to_campus})
    assert [one.resource for one in findings(template)] == late


def unsettled(template: Template) -> list[tuple[str, str, str]]:
    return [(one.rule, one.resource, one.message) for one in findings(template, settle=False)]


@pytest.mark.parametrize(
    ("late", "unreached"),
    [
        ("NodeDefaultRoute", "logs, ssm, ssmmessages"),
        ("NodeAssociation", "S3, logs, ssm, ssmmessages"),
    ],
)
def test_nodes_start_on_open_ways(late: str, unreached: str) -> None:
    template = edited(slurm(), {"Cluster/.DependsOn": [one for one in WAYS if one != late]})
    text = f"it does not await {late}, without which controller, login, workers cannot reach {unreached}"
    assert unsettled(template) == [("HP-DEP-004", "Cluster", text)]


@pytest.mark.parametrize("late", ["NodeSelfEgress", "NodeSelfIngress"])
def test_nodes_with_efa_start_in_an_open_group(late: str) -> None:
    template = edited(eks(), {"Cluster/.DependsOn": ["Chart", "Cni", "Proxy", *(one for one in WAYS if one != late)]})
    ((rule, resource, text),) = unsettled(template)
    assert (rule, resource) == ("HP-DEP-004", "Cluster")
    assert text.startswith(f"it does not await {late}, without which ")
    assert text.endswith("each other over EFA")


def test_an_endpoint_is_awaited_where_nothing_else_leads_out() -> None:
    awaited = {"Cluster/.DependsOn": [one for one in WAYS if one != "S3Endpoint"]}
    assert unsettled(edited(slurm(), awaited)) == []
    closed = edited(slurm(), {**awaited, "NodeDefaultRoute": REMOVED})
    assert [one for one in unsettled(closed) if one[0] == "HP-DEP-004"] == [
        ("HP-DEP-004", "Cluster", "it does not await S3Endpoint, without which controller, login, workers cannot reach S3")
    ]


def test_a_way_that_is_shut_for_all_is_no_matter_of_order() -> None:
    """Some endpoints are awaited and others not, as there is a gateway too, and the group of the nodes lets nothing out."""
    doors = {
        name: {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcId": VPC,
                "VpcEndpointType": "Interface",
                "ServiceName": {"Fn::Sub": f"com.amazonaws.${{AWS::Region}}.{name.lower()}"},
                "PrivateDnsEnabled": True,
                "SubnetIds": [{"Ref": "NodeSubnet"}],
                "SecurityGroupIds": [{"Ref": "Doors"}],
            },
        }
        for name in ("Logs", "Ssm")
    }
    inside = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "10.0.0.0/16"}
    group = {"GroupDescription": "doors", "VpcId": VPC, "SecurityGroupIngress": [inside]}
    resources = {**doors, "Doors": {"Type": "AWS::EC2::SecurityGroup", "Properties": group}}
    awaited = {"Cluster/.DependsOn": [*WAYS, "Ssm"]}
    outwards = slurm()["Resources"]["NodeGroup"]["Properties"]["SecurityGroupEgress"]
    base = edited(slurm(), {**resources, **awaited, "NodeGroup/SecurityGroupEgress": [*outwards, inside]})
    assert [rule for rule, _, _ in unsettled(base)] == []
    shut = edited(base, {"NodeGroup/SecurityGroupEgress": [inside]})
    assert [(rule, place) for rule, place, _ in unsettled(shut)] == [("HP-REACH-001", "NodeGroup")]
    closed = edited(base, {"NodeDefaultRoute": REMOVED})
    assert ("HP-DEP-004", "Cluster") in [(rule, place) for rule, place, _ in unsettled(closed)]


def test_the_order_of_a_way_is_its_own_mistake_only() -> None:
    """The service EKS is out of reach, not the control plane: no order would open that way."""
    template = edited(eks(), {"NodeDefaultRoute/DestinationCidrBlock": "192.168.0.0/16"})
    (control,) = (one for one in template["Resources"].values() if one["Type"] == "AWS::EKS::Cluster")
    for index, subnet in enumerate(control["Properties"]["ResourcesVpcConfig"]["SubnetIds"]):
        association = {"SubnetId": subnet, "RouteTableId": {"Ref": "NodeRoutes"}}
        template["Resources"][f"Late{index}"] = {"Type": "AWS::EC2::SubnetRouteTableAssociation", "Properties": association}
    assert [rule for rule, _, _ in unsettled(template)] == ["HP-REACH-001"]


def test_entries_of_network_acls_are_awaited() -> None:
    acl = {"NetworkAclId": {"Ref": "Acl"}, "RuleNumber": 100, "Protocol": -1, "RuleAction": "allow", "CidrBlock": "0.0.0.0/0"}
    resources = {
        "Acl": {"Type": "AWS::EC2::NetworkAcl", "Properties": {"VpcId": VPC}},
        "In": {"Type": "AWS::EC2::NetworkAclEntry", "Properties": {**acl, "Egress": False}},
        "Out": {"Type": "AWS::EC2::NetworkAclEntry", "Properties": {**acl, "Egress": True}},
        "InAcl": {
            "Type": "AWS::EC2::SubnetNetworkAclAssociation",
            "Properties": {"SubnetId": {"Ref": "NodeSubnet"}, "NetworkAclId": {"Ref": "Acl"}},
        },
    }
    wrong = edited(slurm(), {**resources, "Cluster/.DependsOn": [*WAYS, "InAcl", "In"]})
    assert [(one[0], one[2].partition(",")[0]) for one in unsettled(wrong)] == [("HP-DEP-004", "it does not await Out")]
    assert unsettled(edited(slurm(), {**resources, "Cluster/.DependsOn": [*WAYS, "InAcl", "In", "Out"]})) == []


def test_file_systems_of_pods_are_not_needed_by_nodes() -> None:
    rule = {
        "GroupId": {"Fn::GetAtt": ["NodeGroup", "GroupId"]},
        "SourceSecurityGroupId": {"Fn::GetAtt": ["FileGroup", "GroupId"]},
        "IpProtocol": "tcp",
        "FromPort": 988,
        "ToPort": 1023,
    }
    files = {
        **slurm()["Resources"]["FileSystem"],
        "DependsOn": [],
    }
    files["Properties"]["SecurityGroupIds"] = [{"Fn::GetAtt": ["FileGroup", "GroupId"]}]
    inwards = [{"IpProtocol": "tcp", "FromPort": 988, "ToPort": 1023, "CidrIp": "10.0.0.0/16"}]
    group = {"GroupDescription": "files", "VpcId": VPC, "SecurityGroupIngress": inwards}
    outwards = [{"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}]
    template = edited(
        eks(),
        {
            "FileGroup": {
                "Type": "AWS::EC2::SecurityGroup",
                "DeletionPolicy": "Retain",
                "UpdateReplacePolicy": "Retain",
                "Properties": group,
            },
            "FileSystem": files,
            "FromFiles": {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": rule},
            "NodeGroup/SecurityGroupEgress": outwards,
        },
    )
    assert unsettled(template) == []


LINES = {
    "Lines": {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 14}},
    "StepsRole": {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Principal": {"Service": "states.amazonaws.com"}, "Action": "sts:AssumeRole"}],
            },
        },
    },
    "StepsPolicy": {
        "Type": "AWS::IAM::Policy",
        "Properties": {
            "PolicyName": "lines",
            "Roles": [{"Ref": "StepsRole"}],
            "PolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Action": [
                            "logs:CreateLogDelivery",
                            "logs:DeleteLogDelivery",
                            "logs:DescribeLogGroups",
                            "logs:DescribeResourcePolicies",
                            "logs:GetLogDelivery",
                            "logs:ListLogDeliveries",
                            "logs:PutResourcePolicy",
                            "logs:UpdateLogDelivery",
                        ],
                        "Resource": "*",
                    }
                ],
            },
        },
    },
    "Steps": {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": {
            "RoleArn": {"Fn::GetAtt": ["StepsRole", "Arn"]},
            "Definition": {"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}},
            "LoggingConfiguration": {
                "Level": "ALL",
                "Destinations": [{"CloudWatchLogsLogGroup": {"LogGroupArn": {"Fn::GetAtt": ["Lines", "Arn"]}}}],
            },
        },
    },
}


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        ({}, ["HP-DEP-003"]),
        ({"Steps/.DependsOn": "StepsPolicy"}, []),
        ({"Steps/LoggingConfiguration": REMOVED}, []),
        (
            {"Steps/.DependsOn": "StepsPolicy", "StepsPolicy/PolicyDocument/Statement/0/Action": "logs:CreateLogDelivery"},
            ["HP-PERM-001"],
        ),
    ],
)
def test_a_state_machine_with_logs_awaits_the_policies_of_its_role(edit: dict[str, Any], rules: list[str]) -> None:
    assert [one.rule for one in findings(edited({"Resources": LINES}, edit))] == rules


def test_a_circle_of_stacks_covers_what_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(json.dumps({"Resources": {"Inside": {"Type": "AWS::SNS::Topic"}}}))
    stack = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": "./inner.yaml"}}
    resources = {"One": {**stack, "DependsOn": "Other"}, "Other": {**stack, "DependsOn": "One"}}
    (tmp_path / "main.yaml").write_text(json.dumps({"Resources": resources}))
    (found,) = no_resource_awaits_itself(load([tmp_path / "main.yaml"]))
    assert "Inside" in [one.logical_id for one in found.covers]
