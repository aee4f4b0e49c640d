from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import (
    App,
    CfnOutput,
    CfnParameter,
    Duration,
    Environment,
    Stack,
    Token,
)
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Annotations, Match, Template

from hyperpod_constructs.custom_resources.readiness_gate import ReadinessGate

from .conftest import Group, MakeCluster

GATE = "Custom::HyperPodReadinessGate"


def gates(template: Template) -> list[dict[str, Any]]:
    return [resource["Properties"] for resource in template.find_resources(GATE).values()]


def errors(stack: Stack) -> list[str]:
    return [str(found.entry.data) for found in Annotations.from_stack(stack).find_error("*", Match.any_value())]


def test_waits_for_all_controller_and_login_nodes(stack: Stack, make_cluster: MakeCluster) -> None:
    ReadinessGate(stack, "Gate", cluster=make_cluster(stack))
    Template.from_stack(stack).has_resource_properties(
        GATE,
        {
            "ClusterArn": {"Fn::GetAtt": ["Cluster", "ClusterArn"]},
            "ServiceTimeout": "3600",
            "TimeoutSeconds": 3600,
            "Groups": [
                {"Name": "controller", "Minimum": 1, "Count": 1},
                {"Name": "login", "Minimum": 2, "Count": 2},
                {"Name": "workers", "Minimum": 0, "Count": 4},
            ],
        },
    )


def test_min_running_wins_and_sees_groups_that_come_later(stack: Stack, make_cluster: MakeCluster) -> None:
    cluster = make_cluster(stack)
    ReadinessGate(stack, "Gate", cluster=cluster, min_running={"late": 3, "login": 1})
    cluster.instance_groups.insert(0, Group("late", None, 8))
    [gate] = gates(Template.from_stack(stack))
    assert [(group["Name"], group["Minimum"]) for group in gate["Groups"]] == [
        ("controller", 1),
        ("late", 3),
        ("login", 1),
        ("workers", 0),
    ]
    assert errors(stack) == []


def test_tokens_pass_through(stack: Stack, make_cluster: MakeCluster) -> None:
    count = CfnParameter(stack, "Count", type="Number").value_as_number
    name = CfnParameter(stack, "Name").value_as_string
    seconds = CfnParameter(stack, "Seconds", type="Number").value_as_number
    cluster = make_cluster(stack, name=name)
    cluster.instance_groups = [Group(name, "Compute", count)]  # type: ignore[arg-type]  # an encoded token is a float
    ReadinessGate(stack, "Gate", cluster=cluster, min_running={name: count}, timeout=Duration.seconds(seconds))  # type: ignore[dict-item]
    [gate] = gates(Template.from_stack(stack))
    assert gate["Groups"] == [{"Name": {"Ref": "Name"}, "Minimum": {"Ref": "Count"}, "Count": {"Ref": "Count"}}]
    assert gate["TimeoutSeconds"] == {"Ref": "Seconds"}
    assert errors(stack) == []


def test_token_counts_are_not_compared(stack: Stack, make_cluster: MakeCluster) -> None:
    count: Any = Token.as_number({"Ref": "Count"})
    ReadinessGate(stack, "Gate", cluster=make_cluster(stack, workers=count), min_running={"workers": 5})
    ReadinessGate(stack, "Other", cluster=make_cluster(stack, "B"), min_running={"workers": count})
    Template.from_stack(stack)
    assert errors(stack) == []


def test_permissions_name_one_cluster_and_its_log(stack: Stack, make_cluster: MakeCluster) -> None:
    ReadinessGate(stack, "Gate", cluster=make_cluster(stack))
    [policy] = [
        resource["Properties"]["PolicyDocument"]["Statement"]
        for name, resource in Template.from_stack(stack).find_resources("AWS::IAM::Policy").items()
        if name.startswith("GatePolicy")
    ]
    assert policy[0]["Resource"] == {"Fn::GetAtt": ["Cluster", "ClusterArn"]}
    assert policy[0]["Action"] == [
        "sagemaker:DescribeCluster",
        "sagemaker:DescribeClusterEvent",
        "sagemaker:ListClusterEvents",
        "sagemaker:ListClusterNodes",
    ]
    assert policy[1]["Action"] == "logs:GetLogEvents"
    assert policy[1]["Resource"]["Fn::Join"][1][2:] == [
        ":logs:us-west-2:123456789012:log-group:/aws/sagemaker/Clusters/demo/",
        {"Fn::Select": [1, {"Fn::Split": ["/", {"Fn::GetAtt": ["Cluster", "ClusterArn"]}]}]},
        ":log-stream:LifecycleConfig/*",
    ]
    assert len(policy) == 2


def test_two_gates_share_the_functions_and_nothing_else(stack: Stack, make_cluster: MakeCluster) -> None:
    a, b = make_cluster(stack, "A", "a"), make_cluster(stack, "B", "b")
    ReadinessGate(stack, "GateA", cluster=a)
    ReadinessGate(stack, "GateB", cluster=b)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::Lambda::Function", 5)
    template.resource_count_is("AWS::StepFunctions::StateMachine", 1)
    for gate in template.find_resources(GATE).values():
        own = gate["Properties"]["ClusterArn"]["Fn::GetAtt"][0]
        [policy] = gate["DependsOn"]
        assert policy.startswith(f"Gate{own}Policy")
        statements = template.find_resources("AWS::IAM::Policy")[policy]["Properties"]["PolicyDocument"]["Statement"]
        assert statements[0]["Resource"] == {"Fn::GetAtt": [own, "ClusterArn"]}


def test_cluster_may_wait_for_the_gate_of_another(stack: Stack, make_cluster: MakeCluster) -> None:
    a, b = make_cluster(stack, "A", "a"), make_cluster(stack, "B", "b")
    b.resource.node.add_dependency(ReadinessGate(stack, "GateA", cluster=a))
    ReadinessGate(stack, "GateB", cluster=b)
    template = Template.from_stack(stack)  # refuses cycles
    gates = template.find_resources(GATE)
    assert {id for id in gates if id.startswith("GateA")} & {*template.find_resources("AWS::SageMaker::Cluster")["B"]["DependsOn"]}


def test_logical_ids_do_not_depend_on_which_gate_is_first(make_cluster: MakeCluster) -> None:
    ids = []
    for order in ("AB", "BA"):
        stack = Stack(App(), "Stack")
        for letter in order:
            ReadinessGate(stack, f"Gate{letter}", cluster=make_cluster(stack, letter, letter))
        ids.append(set(Template.from_stack(stack).to_json()["Resources"]))
    assert ids[0] == ids[1]
    assert "GateAA163D4B6" in ids[0]
    assert "HyperPodReadinessGateProviderFrameworkframeworkonEvent5665B935" in ids[0]


def test_attributes_can_be_outputs(stack: Stack, make_cluster: MakeCluster) -> None:
    gate = ReadinessGate(stack, "Gate", cluster=make_cluster(stack))
    CfnOutput(stack, "Ready", value=gate.ready)
    CfnOutput(stack, "Message", value=gate.message)
    outputs = Template.from_stack(stack).to_json()["Outputs"]
    assert [output["Value"]["Fn::GetAtt"][1] for output in outputs.values()] == ["Ready", "Message"]


@pytest.mark.parametrize("region", ["cn-north-1", "us-gov-west-1"])
def test_other_partitions(app: App, make_cluster: MakeCluster, region: str) -> None:
    stack = Stack(app, "Stack", env=Environment(account="123456789012", region=region))
    ReadinessGate(stack, "Gate", cluster=make_cluster(stack))
    text = json.dumps(Template.from_stack(stack).to_json())
    assert "arn:aws:" not in text
    assert '"python3.14"' in text


def test_permissions_boundary_reaches_every_role(stack: Stack, make_cluster: MakeCluster) -> None:
    boundary = iam.ManagedPolicy.from_managed_policy_name(stack, "Boundary", "boundary")
    iam.PermissionsBoundary.of(stack).apply(boundary)
    ReadinessGate(stack, "Gate", cluster=make_cluster(stack))
    roles = Template.from_stack(stack).find_resources("AWS::IAM::Role").values()
    assert len(roles) == 4
    assert all("PermissionsBoundary" in role["Properties"] for role in roles)


@pytest.mark.parametrize(
    ("min_running", "message"),
    [
        (
            {"wokers": 1},
            "min_running names the group 'wokers'; the cluster has 'controller', 'login', 'workers'; write",
        ),
        (
            {"workers": 5},
            "min_running of 'workers' is 5; allowed: 0 to 4, the count of the group; write {'workers': 4}",
        ),
    ],
)
def test_fails_synthesis_for_what_the_groups_do_not_have(
    stack: Stack, make_cluster: MakeCluster, min_running: dict[str, int], message: str
) -> None:
    ReadinessGate(stack, "Gate", cluster=make_cluster(stack), min_running=min_running)
    [error] = Annotations.from_stack(stack).find_error("*", Match.any_value())
    assert error.id == "/Stack/Gate"
    assert message in str(error.entry.data)


ON_EKS = [Group("elastic", None, 0), Group("checked", None, 4, ["InstanceStress"]), Group("plain", None, 2), Group("more", None, 2)]


@pytest.mark.parametrize(
    ("min_running", "awaited"), [(None, {"plain": 1}), ({}, {}), ({"more": 2}, {"more": 2}), ({"elastic": 0}, {})]
)
def test_waits_for_one_node_where_there_is_no_controller(
    stack: Stack, make_cluster: MakeCluster, min_running: dict[str, int] | None, awaited: dict[str, int]
) -> None:
    cluster = make_cluster(stack)
    ReadinessGate(stack, "Gate", cluster=cluster, min_running=min_running)
    cluster.instance_groups = ON_EKS
    [gate] = gates(Template.from_stack(stack))
    assert {group["Name"]: group["Minimum"] for group in gate["Groups"] if group["Minimum"]} == awaited
    assert errors(stack) == []


@pytest.mark.parametrize(
    ("groups", "cause"),
    [
        (ON_EKS[:1], "no group has a node"),
        (ON_EKS[:2], "every group with nodes has deep_health_checks, which take about two hours"),
    ],
)
def test_fails_synthesis_if_no_node_comes_in_time(stack: Stack, make_cluster: MakeCluster, groups: list[Group], cause: str) -> None:
    cluster = make_cluster(stack)
    cluster.instance_groups = groups
    ReadinessGate(stack, "Gate", cluster=cluster)
    [error] = errors(stack)
    assert error.startswith(f"the gate waits for no node: {cause}; write min_running with the nodes to wait for")


@pytest.mark.parametrize(("min_running", "warned"), [({"checked": 2}, True), ({"checked": 0, "plain": 1}, False)])
def test_warns_of_nodes_that_come_too_late(
    stack: Stack, make_cluster: MakeCluster, min_running: dict[str, int], warned: bool
) -> None:
    cluster = make_cluster(stack)
    cluster.instance_groups = ON_EKS
    ReadinessGate(stack, "Gate", cluster=cluster, min_running=min_running)
    found = Annotations.from_stack(stack).find_warning("/Stack/Gate", Match.any_value())
    texts = [str(one.entry.data) for one in found]
    assert [text.startswith("min_running awaits checked, whose deep health checks take about two hours; ") for text in texts] == (
        [True] if warned else []
    )


def test_fails_for_a_negative_number_of_nodes(stack: Stack, make_cluster: MakeCluster) -> None:
    with pytest.raises(ValueError, match=r"Stack/Gate: min_running of 'workers' is -1; allowed: a whole number from 0"):
        ReadinessGate(stack, "Gate", cluster=make_cluster(stack), min_running={"workers": -1})


@pytest.mark.parametrize("minimum", [1.5, "2", True])
def test_fails_for_a_number_of_nodes_of_another_type(stack: Stack, make_cluster: MakeCluster, minimum: Any) -> None:
    with pytest.raises(TypeError, match=r"Stack/Gate: min_running is a dict with .*; allowed: Mapping of str, int or None"):
        ReadinessGate(stack, "Gate", cluster=make_cluster(stack), min_running={"workers": minimum})


@pytest.mark.parametrize("timeout", [Duration.minutes(4), Duration.seconds(3601)])
def test_fails_for_a_timeout_that_cloudformation_does_not_have(stack: Stack, make_cluster: MakeCluster, timeout: Duration) -> None:
    with pytest.raises(ValueError, match=r"Stack/Gate: timeout is .* seconds; allowed: 300 to 3600"):
        ReadinessGate(stack, "Gate", cluster=make_cluster(stack), timeout=timeout)


def test_a_cluster_without_a_known_name_is_watched_by_its_id(stack: Stack, make_cluster: MakeCluster) -> None:
    cluster = make_cluster(stack)
    cluster.cluster_name = None
    ReadinessGate(stack, "Gate", cluster=cluster)
    policies = str(Template.from_stack(stack).find_resources("AWS::IAM::Policy"))
    assert "log-group:/aws/sagemaker/Clusters/*/" in policies
