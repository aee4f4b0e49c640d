"""What only others use: a finding where none does, and none beside an error, which may be the reason."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.templates import UNUSED, Template, findings, slurm

ROLE: dict[str, Any] = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}


def ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def att(name: str, attribute: str = "Arn") -> dict[str, Any]:
    return {"Fn::GetAtt": [name, attribute]}


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def template(**more: dict[str, Any]) -> Template:
    vpc = resource("EC2::VPC", CidrBlock="10.64.0.0/16", EnableDnsHostnames=True, EnableDnsSupport=True)
    subnet = resource("EC2::Subnet", VpcId=ref("Around"), CidrBlock="10.64.0.0/24")
    made = slurm()
    made["Resources"] |= {"Around": vpc, "Place": subnet, **more}
    return made


def unused_in(made: Template) -> list[str]:
    return [one.resource for one in findings(made, rules=UNUSED)]


GROUP = resource("EC2::SecurityGroup", GroupDescription="x", VpcId=ref("Around"), SecurityGroupEgress=[])
ENTRY = resource("EC2::SecurityGroupIngress", GroupId=ref("MyGroup"), IpProtocol="-1", SourceSecurityGroupId=ref("MyGroup"))
ON_CARD = resource("EC2::NetworkInterface", SubnetId=ref("Place"), GroupSet=[ref("MyGroup")])
TAKEN = resource("IAM::Role", AssumeRolePolicyDocument=ROLE)
ALLOWED = resource(
    "IAM::RolePolicy",
    RoleName=ref("MyRole"),
    PolicyName="x",
    PolicyDocument={
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "sns:Publish", "Resource": "arn:aws:sns:us-west-2:123456789012:x"}],
    },
)
TABLE = resource("EC2::RouteTable", VpcId=ref("Around"))
ASSOCIATION = resource("EC2::SubnetRouteTableAssociation", RouteTableId=ref("MyTable"), SubnetId=ref("Place"))
GATEWAY = resource("EC2::NatGateway", SubnetId=ref("Place"), ConnectivityType="private")
WAY = resource("EC2::Route", RouteTableId=ref("MyTable"), DestinationCidrBlock="10.1.0.0/16", NatGatewayId=ref("MyGateway"))
MAIL = resource("SNS::Subscription", TopicArn=ref("MyTopic"), Protocol="email", Endpoint="x@example.com")
CHARTED = resource("CloudWatch::Alarm", MetricName="x", Namespace="Own", ComparisonOperator="GreaterThanThreshold", Threshold=1)
RUNG = {**CHARTED, "Properties": {**CHARTED["Properties"], "EvaluationPeriods": 1, "Period": 60, "Statistic": "Sum"}}


@pytest.mark.parametrize(
    ("unused", "made", "used"),
    [
        ("MyGroup", {"MyGroup": GROUP, "Entry": ENTRY}, {"Card": ON_CARD}),
        (
            "MyRole",
            {"MyRole": TAKEN, "Allowed": ALLOWED},
            {"Owner": resource("EC2::FlowLog", DeliverLogsPermissionArn=att("MyRole"))},
        ),
        ("MyTable", {"MyTable": TABLE}, {"Association": ASSOCIATION}),
        ("MyGateway", {"MyGateway": GATEWAY, "MyTable": TABLE, "Association": ASSOCIATION}, {"Way": WAY}),
        (
            "MyTopic",
            {"MyTopic": resource("SNS::Topic"), "Mail": MAIL},
            {"Alarm": {**RUNG, "Properties": {**RUNG["Properties"], "AlarmActions": [ref("MyTopic")]}}},
        ),
    ],
)
def test_a_resource_that_nothing_uses_is_named(unused: str, made: dict[str, Any], used: dict[str, Any]) -> None:
    assert unused_in(template(**made)) == [unused]
    assert unused_in(template(**made, **used)) == []


def test_an_output_of_its_id_may_be_used_elsewhere() -> None:
    handed = {**template(MyGroup=GROUP), "Outputs": {"Group": {"Value": att("MyGroup", "GroupId")}}}

    assert unused_in(handed) == []


def test_a_role_that_people_assume_and_a_group_that_is_found_by_its_tag_are_used() -> None:
    people = {**ROLE, "Statement": [{**ROLE["Statement"][0], "Principal": {"AWS": "arn:aws:iam::123456789012:role/people"}}]}
    tagged = {**GROUP, "Properties": {**GROUP["Properties"], "Tags": [{"Key": "karpenter.sh/discovery", "Value": "x"}]}}

    assert unused_in(template(MyRole=resource("IAM::Role", AssumeRolePolicyDocument=people))) == []
    assert unused_in(template(MyGroup=tagged)) == []


def test_beside_an_error_nothing_is_said() -> None:
    wrong = {**GROUP, "Properties": {**GROUP["Properties"], "VpcId": ref("Nowhere")}}

    assert unused_in(template(MyGroup=GROUP, Other=wrong)) == []


def test_a_template_without_a_cluster_may_be_a_part_of_a_deployment() -> None:
    made = template(MyGroup=GROUP)
    del made["Resources"]["Cluster"]

    assert unused_in(made) == []
