"""A network without internet: it has no way out, and the rules prove that every group reaches what it needs."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import ClusterNetwork
from hyperpod_constructs.analysis.reachability import connections
from hyperpod_constructs.cost.estimate import hourly_cost, model_cost
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.plan import plan
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment as Place
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import raw_template
from tests.conftest import ZONE, only, resources
from tests.presets import build, on_eks, templates

PRESETS = ("announcement", "kubernetes")
NEEDED = {
    "announcement": ("logs", "s3", "ssm", "ssmmessages"),
    "kubernetes": ("ec2", "ecr.api", "ecr.dkr", "eks-auth", "lambda", "logs", "s3", "sagemaker.api", "ssm", "ssmmessages", "sts"),
}
PLACE = Place(region="us-west-2", account="123456789012")
Templates = dict[str, dict[str, Any]]


def model_of(found: Templates) -> Model:
    """The model of both stacks in the account of the presets."""
    return Model([Document(name=name, body=raw_template(body), environment=PLACE) for name, body in found.items()])


def services(found: dict[str, Any]) -> dict[str, str]:
    """The endpoints of a template by the names of their services behind the region."""
    endpoints = {id: one for id, one in found.items() if one["Type"] == "AWS::EC2::VPCEndpoint"}
    return {one["Properties"]["ServiceName"].split(".", 3)[-1]: id for id, one in endpoints.items()}


@pytest.fixture(scope="module", params=PRESETS)
def preset(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def closed(preset: str) -> Templates:
    """Both stacks of a preset without internet."""
    return templates(build(preset, internet="false"))


def test_nothing_in_it_leads_out(closed: Templates) -> None:
    types = {one["Type"] for one in closed["Foundation"]["Resources"].values()}
    assert types.isdisjoint(
        {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::EIP", "AWS::EC2::Route", "AWS::EC2::VPCGatewayAttachment"}
    )


def test_every_group_reaches_all_that_it_needs_and_no_rule_objects(closed: Templates) -> None:
    model = model_of(closed)
    found = [one for one in connections(model) if one.target.wanted]

    assert {one.passes for one in found} == {True}
    (cluster,) = [one for one in closed["Cluster"]["Resources"].values() if one["Type"] == "AWS::SageMaker::Cluster"]
    assert {one.group.label for one in found} == {one["InstanceGroupName"] for one in cluster["Properties"]["InstanceGroups"]}
    assert check(model) == []


def test_an_endpoint_that_is_missing_is_a_finding(preset: str, closed: Templates) -> None:
    by_service = services(closed["Foundation"]["Resources"])
    for service in NEEDED[preset]:
        lacking = deepcopy(closed)
        del lacking["Foundation"]["Resources"][by_service[service]]

        messages = [one.message.lower() for one in check(model_of(lacking))]

        assert messages
        assert all(service in message for message in messages), messages


OWN = {"StringEquals": {"aws:ResourceAccount": "123456789012"}}


@pytest.mark.parametrize(
    ("condition", "reached"),
    [
        (OWN, True),
        ({"StringEquals": {"s3:resourceaccount": ["210987654321", "123456789012"], "aws:PrincipalAccount": "123456789012"}}, True),
        ({"StringEquals": {"aws:ResourceAccount": "210987654321"}}, False),
        ({"StringEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}}}, True),
        ({"StringEquals": {"aws:ResourceAccount": {"Fn::ImportValue": "elsewhere"}}}, None),
        ({"StringEquals": {"aws:SourceVpc": "vpc-0123456789abcdef0"}}, None),
        ({**OWN, "Bool": {"aws:SecureTransport": "true"}}, None),
        ({"StringLike": {"aws:ResourceAccount": "123*"}}, True),
    ],
)
def test_a_condition_on_accounts_is_known(closed: Templates, condition: dict[str, Any], reached: bool | None) -> None:
    changed = deepcopy(closed)
    (gateway,) = [one for one in resources_of(changed, "AWS::EC2::VPCEndpoint") if "PolicyDocument" in one["Properties"]]
    gateway["Properties"]["PolicyDocument"]["Statement"][0]["Condition"] = condition

    found = {one.passes for one in connections(model_of(changed)) if one.target.name == "s3"}

    assert found == {reached}


def test_endpoints_take_a_subnet_of_their_own_that_admits_the_whole_vpc(preset: str, closed: Templates) -> None:
    found = closed["Foundation"]["Resources"]
    blocks = {one["Properties"]["CidrBlock"]: id for id, one in found.items() if one["Type"] == "AWS::EC2::Subnet"}
    interfaces = [one["Properties"] for one in found.values() if one["Properties"].get("VpcEndpointType") == "Interface"]
    (group,) = [one["Properties"] for id, one in found.items() if one["Type"].endswith("SecurityGroup") and "Endpoint" in id]

    assert {one["SubnetIds"][0]["Fn::GetAtt"][0] for one in interfaces} == {blocks["10.0.255.192/26"]}
    assert all(one["PrivateDnsEnabled"] and len(one["SubnetIds"]) == 1 for one in interfaces)
    assert [(rule["CidrIp"], rule["FromPort"], rule["ToPort"]) for rule in group["SecurityGroupIngress"]] == [
        ("10.0.0.0/16", 443, 443),
        ("10.1.0.0/16", 443, 443),
    ]
    assert len(interfaces) == (14 if on_eks(preset) else 10)


def test_the_cost_of_each_endpoint_stands_in_the_estimate_and_in_the_plan(preset: str, closed: Templates) -> None:
    rows = [row for row in model_cost(model_of(closed)).rows if row.what == "Interface endpoint in 1 zone"]
    assert [row.usd_per_hour for row in rows] == [0.01] * (14 if on_eks(preset) else 10)


def test_opening_it_later_and_closing_it_replaces_nothing_that_stays(preset: str, closed: Templates) -> None:
    opened = templates(build(preset))
    for old, new in ((closed, opened), (opened, closed)):
        stays = {id for id in old["Foundation"]["Resources"] if id in new["Foundation"]["Resources"]}
        rows = [row for row in plan(model_of(old), model_of(new)).rows if row.effect.severity >= Effect.REPLACE.severity]
        assert not [row for row in rows if row.resource in stays or row.effect is not Effect.REPLACE]
    both = [one["Properties"]["CidrBlock"] for made in (closed, opened) for one in resources_of(made, "AWS::EC2::Subnet")]
    of_one = [block for block in both if both.count(block) == 1]
    assert sorted(of_one) == ["10.0.0.0/24", "10.0.255.192/26"], "while both exist they do not overlap"


def resources_of(found: Templates, kind: str) -> list[dict[str, Any]]:
    return [one for one in found["Foundation"]["Resources"].values() if one["Type"] == kind]


def policy(stack: Stack) -> list[dict[str, Any]]:
    found = [one["Properties"] for one in resources(stack, "AWS::EC2::VPCEndpoint").values()]
    (gateway,) = [one for one in found if one["VpcEndpointType"] == "Gateway"]
    statements: list[dict[str, Any]] = gateway["PolicyDocument"]["Statement"]
    return statements


def test_s3_admits_the_own_buckets_and_those_that_the_image_needs(stack: Stack) -> None:
    ClusterNetwork(stack, "Network", availability_zone_id=ZONE, internet=False)
    own, of_aws = policy(stack)

    assert own["Condition"] == {"StringEquals": {"aws:ResourceAccount": {"Ref": "AWS::AccountId"}}}
    assert of_aws["Action"] == "s3:GetObject"
    assert "starport-layer-bucket/*" in str(of_aws["Resource"])


def test_a_bucket_of_another_account_is_admitted_by_name(stack: Stack) -> None:
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE, internet=False)
    network.admit_bucket(s3.Bucket.from_bucket_name(stack, "Datasets", "their-datasets"))

    assert ":s3:::their-datasets/*" in str(policy(stack)[-1]["Resource"])


def test_functions_of_kubernetes_answer_cloudformation_in_any_region() -> None:
    for region, bucket in (("us-west-2", "response-uswest2/*"), (None, {"Fn::Split": ["-", {"Ref": "AWS::Region"}]})):
        stack = Stack(App(), "Stack", env=Environment(region=region))
        network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE, internet=False)
        network.serve_kubernetes()
        network.serve_kubernetes()
        (answers,) = [one for one in policy(stack) if one.get("Sid") == "AnswersToCloudFormation"]
        assert answers["Action"] == "s3:PutObject"
        assert str(bucket) in str(answers["Resource"])


def test_given_services_are_all_there_are(make_stack: Callable[..., Stack]) -> None:
    stack = make_stack("us-west-2")
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE, internet=False, endpoint_services=["logs", "ssm", "logs"])
    network.serve_kubernetes()
    network.add_service_endpoint("aps-workspaces")

    assert network.add_service_endpoint("ssm") is network.add_service_endpoint("ssm")
    assert set(services(resources(stack, "AWS::EC2::VPCEndpoint"))) == {"s3", "logs", "ssm", "aps-workspaces"}


def test_a_network_with_internet_may_have_endpoints_too(make_stack: Callable[..., Stack]) -> None:
    stack = make_stack("us-west-2")
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE, endpoint_services=["logs"])
    network.admit_bucket(s3.Bucket.from_bucket_name(stack, "Datasets", "their-datasets"))
    network.serve_kubernetes()

    found = resources(stack, "AWS::EC2::VPCEndpoint")
    assert set(services(found)) == {"s3", "logs"}
    assert not any("PolicyDocument" in one["Properties"] for one in found.values()), "every bucket is admitted"
    assert network.internet
    assert only(stack, "AWS::EC2::NatGateway")


def test_nodes_of_further_subnets_are_admitted_and_have_no_way_out(stack: Stack) -> None:
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE, internet=False)
    network.add_node_subnet("Second", cidr="10.2.0.0/16", availability_zone_id="usw2-az1")

    (group,) = [one for id, one in resources(stack, "AWS::EC2::SecurityGroup").items() if "Endpoint" in id]
    assert [rule["CidrIp"] for rule in group["Properties"]["SecurityGroupIngress"]] == ["10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16"]
    assert resources(stack, "AWS::EC2::Route") == {}


def test_takes_tokens(stack: Stack) -> None:
    cidr, node_cidr, service = (CfnParameter(stack, name).value_as_string for name in ("Cidr", "NodeCidr", "Service"))
    ClusterNetwork(
        stack,
        "Network",
        availability_zone_id=ZONE,
        cidr=cidr,
        node_cidr=node_cidr,
        internet=False,
        endpoint_services=["logs"],
    )
    blocks = [one["Properties"]["CidrBlock"] for one in resources(stack, "AWS::EC2::Subnet").values()]
    assert blocks == [{"Ref": "NodeCidr"}, {"Ref": "Cidr"}]
    with pytest.raises(ValueError, match="is not the name of a service"):
        ClusterNetwork(stack, "Other", availability_zone_id=ZONE, endpoint_services=[service])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"endpoint_services": ["com.amazonaws.us-west-2.ssm", "ECR"]},
            "'ECR' is not the name of a service behind the region; write \"ecr.dkr\" for com.amazonaws.us-west-2.ecr.dkr",
        ),
        ({"endpoint_services": ["s3"]}, "s3 needs no interface endpoint; a gateway endpoint is free, and s3 has one"),
        (
            {"cidr": "10.0.0.0/28", "endpoint_services": [f"service{number}" for number in range(12)]},
            "the endpoints' subnet 10.0.0.0/28 has 11 addresses, one for each endpoint, and service11 is one too many; give the "
            "network a larger cidr, such as 10.0.0.0/16",
        ),
    ],
)
def test_fails_on_services_that_have_no_endpoint(
    make_stack: Callable[..., Stack], parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Network: ") as caught:
        ClusterNetwork(make_stack("us-west-2"), "Network", availability_zone_id=ZONE, internet=False, **parameters)
    assert message in str(caught.value)


def test_fails_on_the_public_subnet_that_it_has_not(stack: Stack) -> None:
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE, internet=False)
    with pytest.raises(ValueError, match=r"^Stack/Network: a network with internet=False has no public subnet"):
        network.public_subnet_resource  # noqa: B018


def test_prices_are_by_zone() -> None:
    endpoint = {"Type": "AWS::EC2::VPCEndpoint", "Properties": {"VpcEndpointType": "Interface", "SubnetIds": ["a", "b", "c"]}}
    assert hourly_cost({"Resources": {"One": endpoint}}).usd_per_hour == pytest.approx(0.03)
