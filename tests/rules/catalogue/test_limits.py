from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import raw_template
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import Template, eks, findings, findings_by_name, preset, slurm

ID = "i-0123456789abcdef0"
CLUSTER_ID = {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": "Cluster"}]}]}


def many(template: Template, count: int) -> list[Any]:
    """That many groups: the last of the template, under other names."""
    groups = template["Resources"]["Cluster"]["Properties"]["InstanceGroups"]
    more = [{**groups[-1], "InstanceGroupName": f"more-{index}", "InstanceCount": 0} for index in range(count - len(groups))]
    return [*groups, *more]


def target(node: Any) -> Template:
    return {"Fn::Join": ["", ["aws ssm start-session --target sagemaker-cluster:", CLUSTER_ID, "_controller-", node]]}


def named(name: str) -> Template:
    """The cluster of the template under another name."""
    cluster: Template = edited(slurm(), {"Cluster/ClusterName": name})["Resources"]["Cluster"]
    return cluster


def child(kind: str, **properties: Any) -> Template:
    return {"Type": f"AWS::EKS::{kind}", "Properties": {"ClusterName": {"Ref": "Control"}, **properties}}


PEOPLE = "arn:aws:iam::123456789012:role/people"
IN_A_CLUSTER = [
    (child("AccessEntry", PrincipalArn=PEOPLE), child("AccessEntry", PrincipalArn=f"{PEOPLE}-2")),
    (
        child("PodIdentityAssociation", Namespace="a", ServiceAccount="runner", RoleArn=PEOPLE),
        child("PodIdentityAssociation", Namespace="b", ServiceAccount="runner", RoleArn=PEOPLE),
    ),
    (
        child("Nodegroup", NodegroupName="system", NodeRole=PEOPLE, Subnets=[{"Ref": "NodeSubnet"}]),
        child("Nodegroup", NodeRole=PEOPLE, Subnets=[{"Ref": "NodeSubnet"}]),
    ),
]


def document(command: Template) -> Template:
    """A document of Systems Manager with one command."""
    step = {"action": "aws:runShellScript", "name": "connect", "inputs": {"runCommand": [command]}}
    content = {"schemaVersion": "2.2", "parameters": {"node": {"type": "String"}}, "mainSteps": [step]}
    return {"Type": "AWS::SSM::Document", "Properties": {"Content": content}}


CASES = [
    Case("HP-SCH-004", slurm(), {"Cluster/InstanceGroups": many(slurm(), 101)}, {"Cluster/InstanceGroups": many(slurm(), 100)}),
    Case("HP-SCH-004", eks(), {"Cluster/InstanceGroups": many(eks(), 101)}, {}),
    Case("HP-LIM-002", eks(), {"Cluster/InstanceGroups": many(eks(), 21)}, {"Cluster/InstanceGroups": many(eks(), 20)}),
    Case("HP-LIM-004", slurm(), {"Second": slurm()["Resources"]["Cluster"]}, {"Second": named("other")}),
    *(Case("HP-LIM-004", eks(), {"First": one, "Second": one}, {"First": one, "Second": other}) for one, other in IN_A_CLUSTER),
    Case(
        "HP-LIM-004",
        {
            **edited(eks(), {"Again": {**eks()["Resources"]["Cni"], "Condition": "One"}}),
            "Conditions": {"One": {"Fn::Equals": [{"Ref": "AWS::StackName"}, "one"]}},
        },
        {"Again/.Condition": REMOVED},
        {},
    ),
    Case(
        "HP-LIM-003",
        slurm(),
        {"Document": document(target(ID))},
        {"Document": document(target("{{ node }}"))},
    ),
    Case(
        "HP-LIM-003",
        slurm(),
        {"Parameter": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": target(ID)}}},
        {"Parameter": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": target("$NODE")}}},
    ),
]


REGISTRY: Template = {"Type": "AWS::ECR::RegistryScanningConfiguration", "Properties": {"ScanType": "BASIC", "Rules": []}}


@pytest.mark.parametrize(
    ("first", "second", "rules"),
    [
        (REGISTRY, REGISTRY, ["HP-LIM-004"]),
        (REGISTRY, {**REGISTRY, "Properties": {"ScanType": "ENHANCED", "Rules": []}}, ["HP-LIM-004"]),
        (REGISTRY, {"Type": "AWS::ECR::RegistryPolicy", "Properties": {"PolicyText": {}}}, []),
    ],
)
def test_a_registry_has_its_settings_once(first: Template, second: Template, rules: list[str]) -> None:
    found = findings(edited(slurm(), {"First": first, "Second": second}), rules="HP-LIM")
    assert [one.rule for one in found] == rules


WEB = "arn:aws:elasticloadbalancing:us-west-2:123456789012:loadbalancer/app/web"
RULES = "arn:aws:wafv2:us-west-2:123456789012:regional/webacl/rules"


def of_subnet(kind: str, name: str, **more: Any) -> Template:
    return {"Type": f"AWS::EC2::Subnet{kind}Association", "Properties": {"SubnetId": {"Ref": name}, **more}}


def of_secret(secret: str, days: int) -> Template:
    rules = {"AutomaticallyAfterDays": days}
    return {"Type": "AWS::SecretsManager::RotationSchedule", "Properties": {"SecretId": secret, "RotationRules": rules}}


def of_service(resource: str, rules: str) -> Template:
    return {"Type": "AWS::WAFv2::WebACLAssociation", "Properties": {"ResourceArn": resource, "WebACLArn": rules}}


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        (
            of_subnet("NetworkAcl", "NodeSubnet", NetworkAclId="acl-1"),
            of_subnet("NetworkAcl", "NodeSubnet", NetworkAclId="acl-2"),
            of_subnet("NetworkAcl", "PublicSubnet", NetworkAclId="acl-1"),
        ),
        (of_secret("one", 30), of_secret("one", 60), of_secret("two", 30)),
        (of_service(f"{WEB}/a", f"{RULES}/a"), of_service(f"{WEB}/a", f"{RULES}/b"), of_service(f"{WEB}/b", f"{RULES}/a")),
    ],
)
def test_a_resource_has_one_association_of_a_kind(first: Template, second: Template, third: Template) -> None:
    assert [one.rule for one in findings(edited(slurm(), {"First": first, "Second": second}), rules="HP-LIM")] == ["HP-LIM-004"]
    assert findings(edited(slurm(), {"First": first, "Second": third}), rules="HP-LIM") == []


STAGES = [
    ((None, None), (None, None), ["HP-LIM-005"]),
    (("us-west-2", "123456789012"), ("us-west-2", "123456789012"), ["HP-LIM-004"]),
    (("us-west-2", "123456789012"), ("us-east-2", "123456789012"), []),
    (("us-west-2", "123456789012"), ("us-west-2", "210987654321"), []),
    (("us-west-2", None), ("us-west-2", "123456789012"), ["HP-LIM-005"]),
]


@pytest.mark.parametrize(("one", "other", "rules"), STAGES)
def test_two_stages_have_one_name(
    one: tuple[str | None, str | None], other: tuple[str | None, str | None], rules: list[str]
) -> None:
    stage = {"Resources": {"Cluster": slurm()["Resources"]["Cluster"]}}
    places = [Environment(region=region, account=account) for region, account in (one, other)]
    documents = [Document(name=f"t{index}", body=raw_template(stage), environment=place) for index, place in enumerate(places)]
    assert [found.rule for found in check(Model(documents)) if found.rule.startswith("HP-LIM")] == rules


def test_two_stacks_of_one_name_are_in_different_places() -> None:
    body = raw_template({"Resources": {"Cluster": slurm()["Resources"]["Cluster"]}})
    documents = [Document(name=f"t{index}", body=body, environment=Environment(stack_name="Train")) for index in range(2)]
    assert [found.rule for found in check(Model(documents)) if found.rule.startswith("HP-LIM")] == []


@pytest.mark.parametrize(
    ("first", "second", "rules"),
    [
        ("sagemaker-a-${AWS::AccountId}", "sagemaker-a-${AWS::AccountId}", ["HP-LIM-004"]),
        ("sagemaker-a-${AWS::AccountId}", "sagemaker-b-${AWS::AccountId}", []),
    ],
)
def test_names_that_are_partly_unknown_are_as_they_are_spelled(first: str, second: str, rules: list[str]) -> None:
    buckets = {
        name: {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Fn::Sub": text}}}
        for name, text in (("A", first), ("B", second))
    }
    assert [found.rule for found in findings(edited(slurm(), buckets))] == rules


def test_a_route_table_has_one_route_to_a_destination() -> None:
    again = {"Again": slurm()["Resources"]["NodeDefaultRoute"]}
    assert [found.rule for found in findings(edited(slurm(), again), rules="HP-LIM")] == ["HP-LIM-004"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("node", "rules"),
    [
        (ID, ["HP-LIM-003"]),
        ({"Fn::GetAtt": ["Finder", "InstanceId"]}, ["HP-LIM-003"]),
        ("$(aws sagemaker list-cluster-nodes --cluster-name research --output text)", []),
        ("INSTANCE_ID", []),
        ("<instance-id>", []),
    ],
)
def test_an_output_that_names_a_node_by_its_id(node: Any, rules: list[str]) -> None:
    finder = {"Type": "Custom::Finder", "Properties": {"ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:find"}}
    template = {**edited(slurm(), {"Finder": finder}), "Outputs": {"Connect": {"Value": target(node)}}}
    assert [finding.rule for finding in findings(template)] == rules


def test_the_command_that_this_library_prints_names_no_node() -> None:
    templates = preset("announcement")
    assert any("sagemaker-cluster:" in str(output) for output in templates["Cluster"]["Outputs"].values())
    assert findings_by_name(templates) == []


def test_an_output_of_another_stack_than_the_cluster_s() -> None:
    other = {
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {"Connect": {"Value": f"sagemaker-cluster:abc_login-{ID}"}},
    }
    (found,) = findings(slurm(), other, rules="HP-LIM")
    assert (found.rule, found.template, found.resource) == ("HP-LIM-003", "t0", "Cluster")
    assert "output Connect" in found.message
