"""The routes of the nodes' subnets, and the endpoints of a closed network."""

from __future__ import annotations

import pytest

from hyperpod_constructs.facts.addons import addon_facts, known_addons
from hyperpod_constructs.facts.connections import SERVICES
from hyperpod_constructs.facts.creation import OPENING
from hyperpod_constructs.rules.finding import Level
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import Template, eks, findings, properties, rules_of, slurm


def in_public(template: Template) -> Template:
    """The nodes' subnet has the public one's routes, and no endpoint of its own."""
    properties(template, "NodeDefaultRoute").pop("NatGatewayId")
    properties(template, "NodeDefaultRoute")["GatewayId"] = {"Ref": "Gateway"}
    return template


WAY_OUT = ("NodeDefaultRoute", "Nat", "NatAddress")


def closed(template: Template, *services: str, s3: bool = True) -> Template:
    """Without the NAT gateway and the way to it, with endpoints for some services."""
    for name in WAY_OUT:
        del template["Resources"][name]
    if not s3:
        del template["Resources"]["S3Endpoint"]
    for index, service in enumerate(services):
        template["Resources"][f"Endpoint{index}"] = {
            "Type": "AWS::EC2::VPCEndpoint",
            "Properties": {
                "VpcId": {"Ref": "Vpc"},
                "VpcEndpointType": "Interface",
                "ServiceName": {"Fn::Sub": f"com.amazonaws.${{AWS::Region}}.{service}"},
                "SubnetIds": [{"Ref": "NodeSubnet"}],
                "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
                "PrivateDnsEnabled": True,
            },
        }
    return template


OPERATION = ("logs", "ssm", "ssmmessages")
EKS = ("ec2", "ecr.api", "ecr.dkr")


def test_a_public_subnet_without_endpoint_cuts_nodes_off() -> None:
    template = in_public(slurm())
    del template["Resources"]["S3Endpoint"]

    (finding,) = findings(template)

    assert (finding.rule, finding.level) == ("HP-REACH-001", Level.ERROR)
    assert finding.resource == "NodeSubnet"
    assert "controller, login, workers" in finding.message


def test_nodes_without_scripts_can_come_up_in_public() -> None:
    """Slurm from the image alone needs neither scripts nor the internet."""
    template = in_public(slurm())
    del template["Resources"]["S3Endpoint"]
    for group in properties(template, "Cluster")["InstanceGroups"]:
        del group["LifeCycleConfig"]

    assert rules_of(template) == ["HP-REACH-002"]


def test_a_public_subnet_is_refused_on_eks() -> None:
    assert rules_of(in_public(eks())) == ["HP-REACH-001"]


def test_a_public_subnet_with_endpoint_is_a_warning() -> None:
    (finding,) = findings(in_public(slurm()))

    assert (finding.rule, finding.level) == ("HP-REACH-002", Level.WARNING)


def test_a_route_that_is_not_known_is_believed() -> None:
    template = slurm()
    properties(template, "NodeDefaultRoute").pop("NatGatewayId")
    properties(template, "NodeDefaultRoute")["TransitGatewayId"] = "tgw-0123456789abcdef0"

    assert rules_of(template) == []


def test_scripts_need_a_way_to_s3() -> None:
    (finding,) = findings(closed(slurm(), *OPERATION, s3=False))

    assert (finding.rule, finding.level, finding.resource) == ("HP-REACH-001", Level.ERROR, "NodeSubnet")


@pytest.mark.parametrize("services", [(*OPERATION, "s3"), OPERATION])
def test_any_endpoint_for_s3_is_enough(services: tuple[str, ...]) -> None:
    assert rules_of(closed(slurm(), *services, s3="s3" not in services)) == []


def test_nodes_without_scripts_need_no_s3() -> None:
    template = closed(slurm(), *OPERATION, s3=False)
    for group in properties(template, "Cluster")["InstanceGroups"]:
        del group["LifeCycleConfig"]
    assert rules_of(template) == ["HP-REACH-002"], "the role reads a bucket of the template"

    (policy,) = properties(template, "Role")["Policies"]
    policy["PolicyDocument"]["Statement"] = [
        one for one in policy["PolicyDocument"]["Statement"] if "s3:GetObject" not in one["Action"]
    ]
    # The managed policy lets nodes read buckets whose names begin with sagemaker-.
    properties(template, "Scripts")["BucketName"] = "artifacts"
    assert rules_of(template) == []


def test_a_closed_network_needs_the_private_endpoint_of_the_control_plane() -> None:
    template = closed(eks(), *EKS, *OPERATION, "sts")
    del properties(template, "Control")["ResourcesVpcConfig"]["EndpointPrivateAccess"]

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-REACH-001", Level.ERROR, "Control")
    assert finding.path == "Properties/ResourcesVpcConfig/EndpointPrivateAccess"


def test_the_public_endpoint_is_enough_with_a_nat_gateway() -> None:
    template = eks()
    properties(template, "Control")["ResourcesVpcConfig"]["EndpointPrivateAccess"] = False

    assert rules_of(template) == []


@pytest.mark.parametrize("absent", EKS)
def test_a_closed_network_of_eks_needs_endpoints(absent: str) -> None:
    (finding,) = findings(closed(eks(), *(name for name in (*EKS, *OPERATION, "sts") if name != absent)))

    place = "Endpoint1" if absent.startswith("ecr.") else "NodeSubnet"  # the other endpoint of the registry is alone
    assert (finding.rule, finding.level, finding.resource) == ("HP-REACH-001", Level.ERROR, place)
    assert f"cannot reach {absent}: the way {place} ends" in finding.message


def test_a_closed_network_with_all_endpoints_is_fine() -> None:
    assert rules_of(closed(eks(), *EKS, *OPERATION, "sts")) == []


def test_pod_identities_need_their_endpoint() -> None:
    template = closed(eks(), *EKS, *OPERATION)
    template["Resources"]["Identity"] = {
        "Type": "AWS::EKS::PodIdentityAssociation",
        "Properties": {
            "ClusterName": {"Ref": "Control"},
            "Namespace": "kube-system",
            "ServiceAccount": "driver",
            "RoleArn": {"Fn::GetAtt": ["ControlRole", "Arn"]},
        },
    }

    (finding,) = findings(template, rules="HP-REACH")

    assert finding.rule == "HP-REACH-002"
    assert "cannot reach sts and eks-auth:" in finding.message


def test_the_secret_of_the_database_needs_an_endpoint() -> None:
    template = closed(slurm(), *OPERATION)
    database = {
        "Endpoint": "database.example.com",
        "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:x",
        "Port": 443,
    }
    properties(template, "Cluster")["Orchestrator"] = {"Slurm": {"AccountingDatabase": database}}

    (finding,) = findings(template, rules="HP-REACH")

    assert finding.rule == "HP-REACH-002"
    assert "secretsmanager" in finding.message


def test_a_closed_network_of_slurm_can_be_operated() -> None:
    (finding,) = findings(closed(slurm(), "ssm"))

    assert (finding.rule, finding.level) == ("HP-REACH-002", Level.WARNING)
    assert "cannot reach logs and ssmmessages:" in finding.message


def test_endpoints_must_admit_nodes() -> None:
    template = closed(slurm(), *OPERATION)
    template["Resources"]["Endpoints"] = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "endpoints", "VpcId": {"Ref": "Vpc"}},
    }
    properties(template, "Endpoint0")["SecurityGroupIds"] = [{"Fn::GetAtt": ["Endpoints", "GroupId"]}]

    (finding,) = findings(template)

    assert (finding.rule, finding.level, finding.resource) == ("HP-REACH-002", Level.WARNING, "Endpoints")
    assert "cannot reach logs: the way Endpoint0 > NodeGroup > Endpoints ends" in finding.message


def test_endpoints_of_one_group_are_one_mistake() -> None:
    template = closed(slurm(), *OPERATION)
    template["Resources"]["Endpoints"] = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "endpoints", "VpcId": {"Ref": "Vpc"}},
    }
    for index in range(2):
        properties(template, f"Endpoint{index}")["SecurityGroupIds"] = [{"Fn::GetAtt": ["Endpoints", "GroupId"]}]

    (finding,) = findings(template)

    assert (finding.rule, finding.resource) == ("HP-REACH-002", "Endpoints")
    assert "cannot reach logs and ssm:" in finding.message


@pytest.mark.parametrize("block", ["10.0.0.0/16", {"Fn::GetAtt": ["Vpc", "CidrBlock"]}])
def test_endpoints_may_admit_the_block_of_the_vpc(block: object) -> None:
    template = closed(slurm(), *OPERATION)
    https = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": block}
    template["Resources"]["Endpoints"] = {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"GroupDescription": "endpoints", "VpcId": {"Ref": "Vpc"}, "SecurityGroupIngress": [https]},
    }
    properties(template, "Endpoint0")["SecurityGroupIds"] = [{"Fn::GetAtt": ["Endpoints", "GroupId"]}]

    assert rules_of(template) == []


NAMED = closed(eks(), *EKS, *OPERATION, "sts")
STS = f"Endpoint{len(EKS) + len(OPERATION)}"
ZONE = {"Type": "AWS::Route53::HostedZone", "Properties": {"Name": "sts.us-west-2.amazonaws.com"}}
SECOND = NAMED["Resources"][STS]
OWN_ZONE = {"Type": "AWS::Route53::HostedZone", "Properties": {"Name": "hpc.example.com"}}
CASES = [
    Case("HP-REACH-002", NAMED, {f"{STS}/PrivateDnsEnabled": False}, {f"{STS}/PrivateDnsEnabled": False, "Zone": ZONE}),
    Case("HP-REACH-002", NAMED, {f"{STS}/PrivateDnsEnabled": False, "Zone": OWN_ZONE}, {"Zone": OWN_ZONE}),
    Case("HP-REACH-001", NAMED, {"Endpoint0/PrivateDnsEnabled": False}, {"Second": SECOND, f"{STS}/PrivateDnsEnabled": False}),
    Case("HP-END-002", eks(), {"Vpc/EnableDnsHostnames": REMOVED}, {"Vpc/EnableDnsSupport": REMOVED}),
    Case("HP-REACH-001", NAMED, {"Vpc/EnableDnsSupport": "false"}, {"Vpc/EnableDnsHostnames": {"Ref": "AWS::StackName"}}),
]


ROLE = "arn:aws:iam::123456789012:role/kubectl"
INSIDE = {"VpcConfig": {"SubnetIds": [{"Ref": "ControlSubnet1"}], "SecurityGroupIds": ["sg-0123456789abcdef0"]}}


def function(**given: object) -> Template:
    code = {"S3Bucket": "assets", "S3Key": "handler.zip"}
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {"Code": code, "Runtime": "python3.13", "Handler": "h.h", "Role": ROLE, **given},
    }


def applying(*services: str) -> Template:
    """The chart is installed by a function in a subnet of the control plane, which is closed; the nodes have their NAT gateway."""
    template = closed(eks(), *services)
    template["Resources"] |= {
        **{name: eks()["Resources"][name] for name in WAY_OUT},
        "Kubectl": function(**INSIDE),
        "Framework": function(
            **INSIDE, Environment={"Variables": {"USER_ON_EVENT_FUNCTION_ARN": {"Fn::GetAtt": ["Kubectl", "Arn"]}}}
        ),
    }
    properties(template, "Chart")["ServiceToken"] = {"Fn::GetAtt": ["Framework", "Arn"]}
    gateway = properties(template, "S3Endpoint")["RouteTableIds"]
    gateway.append({"Ref": "PlaneRoutes"})
    template["Resources"]["PlaneRoutes"] = {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}}
    association = {"SubnetId": {"Ref": "ControlSubnet1"}, "RouteTableId": {"Ref": "PlaneRoutes"}}
    template["Resources"]["Associated"] = {"Type": "AWS::EC2::SubnetRouteTableAssociation", "Properties": association}
    template["Resources"]["Chart"]["DependsOn"] = [name for name, one in template["Resources"].items() if one["Type"] in OPENING]
    return template


APPLYING = applying("eks", "lambda")
ELSEWHERE = {
    "VpcId": "vpc-0123456789abcdef0",
    "SubnetIds": ["subnet-0123456789abcdef0"],
    "SecurityGroupIds": ["sg-0123456789abcdef0"],
}

OF_KMS = {"ServiceName": "com.amazonaws.us-west-2.kms"}
BARE = {"VpcEndpointType": "Gateway", "SubnetIds": [], "SecurityGroupIds": [], "PrivateDnsEnabled": False}


def second(**changes: object) -> Template:
    """A second endpoint of STS."""
    return {**SECOND, "Properties": {**SECOND["Properties"], **changes}}


PRIVATE = "Control/ResourcesVpcConfig/EndpointPublicAccess"
OTHER_TABLE = {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}}
GATEWAY = NAMED["Resources"]["S3Endpoint"]
SAME_ZONE = {**NAMED["Resources"]["NodeSubnet"]["Properties"], "CidrBlock": "10.0.200.0/24"}
TWO_SUBNETS = [{"Ref": "NodeSubnet"}, {"Ref": "Beside"}]
CASES += [
    # Endpoints as EC2 takes them
    Case("HP-END-005", NAMED, {"Second": SECOND}, {"Second": second(PrivateDnsEnabled=False)}),
    Case("HP-END-005", NAMED, {"Second": SECOND}, {"Second": second(**ELSEWHERE)}),
    Case(
        "HP-END-005",
        slurm(),
        {"Second": GATEWAY},
        {"Second": {**GATEWAY, "Properties": {**GATEWAY["Properties"], "RouteTableIds": [{"Ref": "Table"}]}}, "Table": OTHER_TABLE},
    ),
    Case("HP-END-006", slurm(), {"Second": second(**OF_KMS, **BARE)}, {"Second": second(**OF_KMS)}),
    Case("HP-SCH-007", slurm(), {"S3Endpoint/SubnetIds": [{"Ref": "NodeSubnet"}]}, {}),
    Case("HP-SCH-007", slurm(), {"S3Endpoint/PrivateDnsEnabled": True}, {"S3Endpoint/PrivateDnsEnabled": False}),
    Case("HP-SCH-007", NAMED, {f"{STS}/RouteTableIds": [{"Ref": "NodeRoutes"}]}, {}),
    Case(
        "HP-SUB-015",
        NAMED,
        {"Beside": {"Type": "AWS::EC2::Subnet", "Properties": SAME_ZONE}, f"{STS}/SubnetIds": TWO_SUBNETS},
        {
            "Beside": {"Type": "AWS::EC2::Subnet", "Properties": {**SAME_ZONE, "AvailabilityZone": "us-west-2c"}},
            f"{STS}/SubnetIds": TWO_SUBNETS,
        },
    ),
]
CASES += [
    Case("HP-END-003", APPLYING, {PRIVATE: False, "Kubectl": function()}, {"Kubectl": function()}),
    Case("HP-REACH-006", applying("lambda"), {}, {"Kubectl": function(), "Framework/VpcConfig": REMOVED}),
    Case("HP-REACH-006", APPLYING, {"S3Endpoint/RouteTableIds/1": REMOVED}, {PRIVATE: False}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("addon", "service"),
    [("amazon-sagemaker-hyperpod-observability", "aps-workspaces"), ("aws-ebs-csi-driver", "sagemaker.api")],
)
def test_add_ons_need_the_endpoints_of_what_they_call(addon: str, service: str) -> None:
    facts = addon_facts(addon)
    assert facts is not None
    identity = {"RoleArn": "arn:aws:iam::123456789012:role/pods", "ServiceAccount": facts.identities[0].service_account}
    properties = {"AddonName": addon, "ClusterName": {"Ref": "Control"}, "PodIdentityAssociations": [identity]}
    called = {"Type": "AWS::EKS::Addon", "DependsOn": ["Cluster", "PodIdentity"], "Properties": properties}
    lacking, complete = (closed(eks(), *EKS, *OPERATION, "sts", *more) for more in ((), ("eks-auth", service)))
    for template in (lacking, complete):
        template["Resources"]["Called"] = called

    (finding,) = findings(lacking)

    assert (finding.rule, finding.resource) == ("HP-REACH-002", "NodeSubnet")
    assert "cannot reach eks-auth and " + service in finding.message
    assert rules_of(complete) == []


def test_the_services_of_add_ons_are_known_connections() -> None:
    called = {service for name in known_addons() if (addon := addon_facts(name)) for service in addon.endpoints}

    assert called == {service.name for service in SERVICES if service.action is None}


def test_an_endpoint_without_private_dns_is_the_end() -> None:
    (finding,) = findings(edited(NAMED, {f"{STS}/PrivateDnsEnabled": False}))

    assert (finding.resource, finding.path) == (STS, "Properties/PrivateDnsEnabled")


@pytest.mark.parametrize(("endpoint", "place"), [("aps", "Endpoint"), (None, "NodeSubnet"), ("aps-workspaces", None)])
def test_an_endpoint_of_the_service_beside_the_wanted_one_is_the_mistake(endpoint: str | None, place: str | None) -> None:
    names = [*EKS, *OPERATION, "sts", "eks-auth", *([] if endpoint is None else [endpoint])]
    template = closed(eks(), *names)
    template["Resources"]["Metrics"] = {
        "Type": "AWS::EKS::Addon",
        "Properties": {"AddonName": "amazon-sagemaker-hyperpod-observability", "ClusterName": {"Ref": "Control"}},
    }
    found = [one.resource for one in findings(template, rules="HP-REACH") if "aps-workspaces" in one.message]
    assert [one.rstrip("0123456789") for one in found] == ([] if place is None else [place])


def test_a_policy_of_an_endpoint_that_stops_nodes_too_is_said_once() -> None:
    """It lets nobody list a bucket: neither the nodes nor a build that copies its tools from one."""
    statement = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"}
    copies = "version: 0.2\nphases: {build: {commands: [aws s3 cp --recursive s3://tools/a /tmp/tools]}}\n"
    build = {
        "ServiceRole": "arn:aws:iam::123456789012:role/build",
        "Artifacts": {"Type": "NO_ARTIFACTS"},
        "Environment": {
            "Type": "LINUX_CONTAINER",
            "ComputeType": "BUILD_GENERAL1_SMALL",
            "Image": "aws/codebuild/amazonlinux-x86_64-standard:5.0",
        },
        "Source": {"Type": "NO_SOURCE", "BuildSpec": copies},
        "VpcConfig": {"VpcId": {"Ref": "Vpc"}, "Subnets": [{"Ref": "NodeSubnet"}], "SecurityGroupIds": [{"Ref": "NodeGroup"}]},
    }
    changes = {
        "S3Endpoint/PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "Build": {"Type": "AWS::CodeBuild::Project", "Properties": build},
    }
    found = [one for one in findings(edited(APPLYING, changes)) if one.resource == "S3Endpoint"]
    assert [one.rule for one in found] == ["HP-PERM-001"]
