"""What a resource awaits beside what it refers to."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.first_calls import early_calls
from hyperpod_constructs.analysis.order import unawaited
from hyperpod_constructs.facts.creation import completions
from hyperpod_constructs.templates.model import Model

Properties = dict[str, Any]

VPC, FILES, BUCKET = {"Ref": "Vpc"}, {"Ref": "Files"}, {"Ref": "Bucket"}
THINGS: Properties = {
    "Bucket": {"Type": "AWS::S3::Bucket"},
    "Files": {"Type": "AWS::EFS::FileSystem"},
    "Gateway": {"Type": "AWS::EC2::InternetGateway"},
    "Lines": {"Type": "AWS::Logs::LogGroup"},
    "Point": {"Type": "AWS::EFS::AccessPoint", "Properties": {"FileSystemId": FILES}},
    "Subnet": {"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": VPC}},
    "Subnets": {"Type": "AWS::RDS::DBSubnetGroup", "Properties": {"SubnetIds": [{"Ref": "Subnet"}]}},
    "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": VPC}},
    "Variants": {"Type": "AWS::SageMaker::EndpointConfig", "Properties": {"ProductionVariants": [{"VariantName": "all"}]}},
    "Vpc": {"Type": "AWS::EC2::VPC"},
    "World": {"Type": "AWS::RDS::DBCluster"},
}
ROUTE = {"RouteTableId": {"Ref": "Table"}}
ENDPOINT = {"Orchestrator": {"Slurm": {"AccountingDatabase": {"Endpoint": {"Fn::GetAtt": ["World", "Endpoint.Address"]}}}}}
INTERNET = {"VpcId": VPC, "InternetGatewayId": {"Ref": "Gateway"}}
JOBS = {"EnableCloudwatchLogsExports": ["audit", "error"]}
USERS: dict[tuple[str, str], tuple[Properties, Properties]] = {
    ("AWS::ApiGateway::Deployment", "AWS::ApiGateway::Method"): ({"RestApiId": "api"}, {"RestApiId": "api"}),
    ("AWS::ApplicationAutoScaling::ScalingPolicy", "AWS::ApplicationAutoScaling::ScalableTarget"): (
        {"ResourceId": "table/jobs", "ScalableDimension": "dynamodb:table:WriteCapacityUnits"},
        {"ResourceId": "table/jobs", "ScalableDimension": "dynamodb:table:WriteCapacityUnits"},
    ),
    ("AWS::ApplicationAutoScaling::ScalableTarget", "AWS::SageMaker::Endpoint"): (
        {"ResourceId": "endpoint/chat/variant/all"},
        {"EndpointName": "chat", "EndpointConfigName": {"Fn::GetAtt": ["Variants", "EndpointConfigName"]}},
    ),
    ("AWS::ApplicationAutoScaling::ScalableTarget", "AWS::SageMaker::InferenceComponent"): (
        {"ResourceId": "inference-component/chat-a"},
        {"InferenceComponentName": "chat-a"},
    ),
    ("AWS::Config::ConfigRule", "AWS::Config::ConfigurationRecorder"): ({}, {}),
    ("AWS::DataSync::LocationEFS", "AWS::EFS::MountTarget"): (
        {"EfsFilesystemArn": {"Fn::GetAtt": ["Files", "Arn"]}},
        {"FileSystemId": FILES},
    ),
    ("AWS::EC2::ClientVpnRoute", "AWS::EC2::ClientVpnTargetNetworkAssociation"): (
        {"ClientVpnEndpointId": "cvpn-endpoint-1"},
        {"ClientVpnEndpointId": "cvpn-endpoint-1"},
    ),
    ("AWS::EC2::FlowLog", "AWS::S3::BucketPolicy"): ({"LogDestination": {"Fn::Sub": "${Bucket.Arn}/flows"}}, {"Bucket": BUCKET}),
    ("AWS::EC2::NatGateway", "AWS::EC2::VPCGatewayAttachment"): ({"SubnetId": {"Ref": "Subnet"}, "AllocationId": "a"}, INTERNET),
    ("AWS::EC2::Route", "AWS::EC2::VPCGatewayAttachment"): ({**ROUTE, "GatewayId": {"Ref": "Gateway"}}, INTERNET),
    ("AWS::EC2::Route", "AWS::EC2::TransitGatewayAttachment"): (
        {**ROUTE, "TransitGatewayId": {"Ref": "Transit"}},
        {"VpcId": VPC, "TransitGatewayId": {"Ref": "Transit"}},
    ),
    ("AWS::EC2::Route", "AWS::EC2::TransitGatewayVpcAttachment"): (
        {**ROUTE, "TransitGatewayId": "tgw-0123456789abcdef0"},
        {"VpcId": VPC, "TransitGatewayId": "tgw-0123456789abcdef0"},
    ),
    ("AWS::EC2::VPNGatewayRoutePropagation", "AWS::EC2::VPCGatewayAttachment"): (
        {"VpnGatewayId": "vgw-0123456789abcdef0"},
        {"VpnGatewayId": "vgw-0123456789abcdef0"},
    ),
    ("AWS::EKS::Cluster", "AWS::Logs::LogGroup"): (
        {"Name": "research", "Logging": {}},
        {"LogGroupName": "/aws/eks/research/cluster"},
    ),
    ("AWS::ElasticLoadBalancingV2::LoadBalancer", "AWS::EC2::VPCGatewayAttachment"): (
        {"Scheme": "internet-facing", "Subnets": [{"Ref": "Subnet"}]},
        INTERNET,
    ),
    ("AWS::Lambda::Function", "AWS::EFS::MountTarget"): (
        {"FileSystemConfigs": [{"Arn": {"Fn::GetAtt": ["Point", "Arn"]}}]},
        {"FileSystemId": FILES},
    ),
    ("AWS::RDS::DBCluster", "AWS::Logs::LogGroup"): (
        {"DBClusterIdentifier": "jobs", **JOBS},
        {"LogGroupName": "/aws/rds/cluster/jobs/error"},
    ),
    ("AWS::RDS::DBInstance", "AWS::Logs::LogGroup"): (
        {"DBInstanceIdentifier": "jobs", **JOBS},
        {"LogGroupName": "/aws/rds/instance/jobs/audit"},
    ),
    ("AWS::RDS::DBInstance", "AWS::EC2::VPCGatewayAttachment"): (
        {"PubliclyAccessible": True, "DBSubnetGroupName": {"Ref": "Subnets"}},
        INTERNET,
    ),
    ("AWS::Route53::HostedZone", "AWS::Logs::ResourcePolicy"): (
        {"QueryLoggingConfig": {"CloudWatchLogsLogGroupArn": {"Fn::GetAtt": ["Lines", "Arn"]}}},
        {"PolicyDocument": {"Fn::Sub": '{"Statement": {"Resource": "${Lines.Arn}"}}'}},
    ),
    ("AWS::Route53Resolver::ResolverQueryLoggingConfig", "AWS::S3::BucketPolicy"): (
        {"DestinationArn": {"Fn::GetAtt": ["Bucket", "Arn"]}},
        {"Bucket": BUCKET},
    ),
    ("AWS::SageMaker::Cluster", "AWS::RDS::DBInstance"): (ENDPOINT, {"DBClusterIdentifier": {"Ref": "World"}}),
    ("AWS::SageMaker::App", "AWS::SageMaker::UserProfile"): (
        {"DomainId": "d-1", "UserProfileName": "ada"},
        {"DomainId": "d-1", "UserProfileName": "ada"},
    ),
    ("AWS::SageMaker::ImageVersion", "AWS::SageMaker::Image"): ({"ImageName": "lab"}, {"ImageName": "lab"}),
    ("AWS::SageMaker::ModelPackage", "AWS::SageMaker::ModelPackageGroup"): (
        {"ModelPackageGroupName": "rankers"},
        {"ModelPackageGroupName": "rankers"},
    ),
    ("AWS::SageMaker::Space", "AWS::SageMaker::UserProfile"): (
        {"DomainId": "d-1", "OwnershipSettings": {"OwnerUserProfileName": "ada"}},
        {"DomainId": "d-1", "UserProfileName": "ada"},
    ),
    ("AWS::SecretsManager::RotationSchedule", "AWS::SecretsManager::SecretTargetAttachment"): (
        {"SecretId": "jobs/password"},
        {"SecretId": "jobs/password"},
    ),
}


def late(resources: Properties) -> list[tuple[str, str]]:
    parameters = {name: {"Type": "String"} for name in ("Transit", "ChartProvider", "ChartProviderRole", "AdminRole")}
    template = {"Parameters": parameters, "Resources": {**THINGS, **resources}}
    model = Model.of({"t": template})
    return [(one.resource.logical_id, one.late.logical_id) for one in (*unawaited(model), *early_calls(model))]


def resource(type_: str, properties: Properties, **more: Any) -> Properties:
    return {"Type": type_, "Properties": properties, **more}


def test_a_space_without_an_owner_awaits_no_profile() -> None:
    profile = resource("AWS::SageMaker::UserProfile", {"DomainId": "d-1", "UserProfileName": "ada"})
    assert late({"User": resource("AWS::SageMaker::Space", {"DomainId": "d-1"}), "Part": profile}) == []


def test_each_completion_has_a_case() -> None:
    assert {(one.user, one.part) for one in completions()} == {*USERS}


@pytest.mark.parametrize(("user", "part"), USERS)
def test_a_user_awaits_what_completes_what_it_uses(user: str, part: str) -> None:
    used, named = USERS[user, part]
    made = {"User": resource(user, used), "Part": resource(part, named)}
    assert late(made) == [("User", "Part")]
    assert late({**made, "User": resource(user, used, DependsOn="Part")}) == []
    assert late({**made, "Part": resource(part, named, DependsOn="User")}) == []


@pytest.mark.parametrize(
    ("user", "part", "other"),
    [
        ("AWS::Lambda::Function", "AWS::EFS::MountTarget", {"FileSystemId": "fs-0123456789abcdef0"}),
        (
            "AWS::EC2::Route",
            "AWS::EC2::TransitGatewayAttachment",
            {"VpcId": {"Ref": "Second"}, "TransitGatewayId": {"Ref": "Transit"}},
        ),
        ("AWS::EKS::Cluster", "AWS::Logs::LogGroup", {"LogGroupName": "/aws/eks/another/cluster"}),
    ],
)
def test_what_completes_another_thing_is_not_awaited(user: str, part: str, other: Properties) -> None:
    second = {"Second": {"Type": "AWS::EC2::VPC"}}
    assert late({**second, "User": resource(user, USERS[user, part][0]), "Part": resource(part, other)}) == []


NAMED = {"Type": "AWS::EKS::Cluster", "Properties": {"Name": "research"}}
ROLE = {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "nodes"}}


@pytest.mark.parametrize(
    ("other", "type_", "properties", "expected"),
    [
        (NAMED, "AWS::EKS::Addon", {"ClusterName": "research"}, [("User", "Other")]),
        (NAMED, "AWS::EKS::Addon", {"ClusterName": "another"}, []),
        (NAMED, "AWS::EKS::Addon", {"ClusterName": "research", "AddonName": {"Ref": "Other"}}, []),
        (NAMED, "AWS::EKS::Nodegroup", {"NodegroupName": "research"}, []),
        (ROLE, "AWS::EKS::Nodegroup", {"NodeRole": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/nodes"}}, [("User", "Other")]),
        (ROLE, "AWS::EKS::Nodegroup", {"NodeRole": "arn:aws:iam::123456789012:role/nodes"}, [("User", "Other")]),
        (ROLE, "AWS::EKS::Nodegroup", {"NodeRole": "arn:aws:iam::123456789012:role/others"}, []),
        (ROLE, "AWS::EKS::Nodegroup", {"Labels": {"role": "nodes"}}, []),
        (
            {"Type": "AWS::Logs::DeliverySource", "Properties": {"Name": "events"}},
            "AWS::Logs::Delivery",
            {"DeliverySourceName": "events"},
            [("User", "Other")],
        ),
    ],
)
def test_what_is_named_by_its_text_is_awaited(
    other: Properties, type_: str, properties: Properties, expected: list[tuple[str, str]]
) -> None:
    assert late({"Other": other, "User": resource(type_, properties)}) == expected
    assert late({"Other": other, "User": resource(type_, properties, DependsOn="Other")}) == []


def test_two_stacks_are_deployed_by_themselves() -> None:
    addon = resource("AWS::EKS::Addon", {"ClusterName": "research"})
    model = Model.of({"a": {"Resources": {"Other": NAMED}}, "b": {"Resources": {"User": addon}}})
    assert list(unawaited(model)) == []


def program(role: str, **variables: Any) -> Properties:
    properties = {"Role": {"Fn::GetAtt": [role, "Arn"]}, "Environment": {"Variables": variables}}
    return resource("AWS::Lambda::Function", properties)


def policy(role: str) -> Properties:
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    return resource("AWS::IAM::Policy", {"Roles": [{"Ref": role}], "PolicyDocument": {"Statement": [statement]}})


def of(function: str) -> Properties:
    return {"ServiceToken": {"Fn::GetAtt": [function, "Arn"]}}


OUTER: Properties = {
    "OuterRole": {"Type": "AWS::IAM::Role"},
    "InnerRole": {"Type": "AWS::IAM::Role"},
    "Outer": program("OuterRole", NEXT={"Fn::GetAtt": ["Inner", "Arn"]}),
    "Inner": program("InnerRole"),
    "OuterPolicy": policy("OuterRole"),
    "InnerPolicy": policy("InnerRole"),
}


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        ({"Call": resource("Custom::Call", of("Outer"), DependsOn=["OuterPolicy", "InnerPolicy"])}, []),
        ({"Call": resource("Custom::Call", of("Outer"), DependsOn="InnerPolicy")}, [("Call", "OuterPolicy")]),
        ({"Call": resource("Custom::Call", of("Outer"), DependsOn="OuterPolicy")}, [("Inner", "InnerPolicy")]),
        (
            {"Call": resource("AWS::SecretsManager::RotationSchedule", {"RotationLambdaARN": {"Fn::GetAtt": ["Inner", "Arn"]}})},
            [("Call", "InnerPolicy")],
        ),
        ({"Call": resource("AWS::SNS::Subscription", {"Endpoint": {"Fn::GetAtt": ["Inner", "Arn"]}})}, []),
        (
            {
                "Call": resource("Custom::Call", of("Inner")),
                "Again": resource("Custom::Call", of("Inner")),
            },
            [("Inner", "InnerPolicy")],
        ),
        (
            {
                "Call": resource("Custom::Call", of("Inner"), DependsOn="InnerPolicy"),
                "Again": resource("Custom::Call", of("Inner"), DependsOn="More"),
                "More": policy("InnerRole"),
            },
            [],
        ),
    ],
)
def test_a_function_has_its_permissions_before_it_is_called(edit: Properties, expected: list[tuple[str, str]]) -> None:
    assert late({**OUTER, **edit}) == expected


CONTROL = {"Type": "AWS::EKS::Cluster", "Properties": {}}


def entry(principal: Any) -> Properties:
    return resource("AWS::EKS::AccessEntry", {"ClusterName": {"Ref": "Control"}, "PrincipalArn": principal})


@pytest.mark.parametrize(
    ("token", "principal", "expected"),
    [
        ({"Fn::GetAtt": ["Inner", "Arn"]}, {"Fn::GetAtt": ["InnerRole", "Arn"]}, [("Chart", "Entry")]),
        ({"Fn::GetAtt": ["Inner", "Arn"]}, {"Fn::GetAtt": ["OuterRole", "Arn"]}, []),
        ({"Ref": "ChartProvider"}, {"Ref": "ChartProviderRole"}, [("Chart", "Entry")]),
        ({"Ref": "ChartProvider"}, {"Ref": "AdminRole"}, []),
        (
            "arn:aws:lambda:us-west-2:123456789012:function:helm-provider",
            "arn:aws:iam::123456789012:role/helm-provider",
            [("Chart", "Entry")],
        ),
    ],
)
def test_a_function_has_its_access_before_it_is_called(token: Any, principal: Any, expected: list[tuple[str, str]]) -> None:
    chart = {"ServiceToken": token, "ClusterName": {"Ref": "Control"}}
    made = {**OUTER, "Control": CONTROL, "Entry": entry(principal)}
    awaited = ["InnerPolicy"]
    assert late({**made, "Chart": resource("Custom::Chart", chart, DependsOn=awaited)}) == expected
    assert late({**made, "Chart": resource("Custom::Chart", chart, DependsOn=[*awaited, "Entry"])}) == []


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({"Ref": "Control"}, [("Chart", "Entry")]),
        ({"Fn::GetAtt": ["Control", "Arn"]}, [("Chart", "Entry")]),
        ("elsewhere", []),
    ],
)
def test_a_cluster_is_named_by_any_property_of_a_custom_resource(named: Any, expected: list[tuple[str, str]]) -> None:
    chart = {"ServiceToken": {"Ref": "ChartProvider"}, "Target": named}
    made = {"Control": CONTROL, "Entry": entry({"Ref": "ChartProviderRole"})}
    assert late({**made, "Chart": resource("Custom::Chart", chart)}) == expected
