from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnOutput, CfnParameter, Environment, Stack
from aws_cdk.assertions import Template

from hyperpod_constructs import NodeInventory, ReadinessGate
from hyperpod_constructs.custom_resources.handlers.inventory import Inventory
from tests.custom_resources.l1_cluster import L1Cluster, Listed, l1_cluster, l1_group

TYPE = "Custom::HyperPodNodeInventory"
ATTRIBUTES = (
    "cluster_name",
    "log_group",
    "node_count",
    "running_count",
    "controller_id",
    "controller_address",
    "controller_target",
    "login_targets",
    "login_addresses",
    "message",
)


def cluster(stack: Stack, name: str | None = "demo", count: Any = 4) -> L1Cluster:
    made = l1_cluster(stack, l1_group("workers", count), name=name)
    made.instance_groups = [Listed("workers", "Compute", count), Listed("controller", "Controller", 1), Listed("plain", None, 1)]
    return made


def properties(stack: Stack) -> dict[str, Any]:
    [found] = Template.from_stack(stack).find_resources(TYPE).values()
    return dict(found["Properties"])


def test_the_prefix_holds_the_name_and_the_permissions_end_there(stack: Stack) -> None:
    inventory = NodeInventory(stack, "Inventory", cluster=cluster(stack))
    found = properties(stack)
    assert inventory.prefix == found["Prefix"] == "/hyperpod/demo"
    assert found["Groups"] == [
        {"Name": "controller", "Count": 1, "NodeType": "Controller"},
        {"Name": "plain", "Count": 1},
        {"Name": "workers", "Count": 4, "NodeType": "Compute"},
    ]
    policies = Template.from_stack(stack).find_resources("AWS::IAM::Policy")
    [policy] = [policy for name, policy in policies.items() if name.startswith("InventoryPolicy")]
    clusters, parameters, own = policy["Properties"]["PolicyDocument"]["Statement"]
    assert clusters["Resource"] == {"Fn::GetAtt": ["Cluster", "ClusterArn"]}
    assert own == {"Action": "cloudformation:DescribeStacks", "Effect": "Allow", "Resource": {"Ref": "AWS::StackId"}}
    assert clusters["Action"] == ["sagemaker:DescribeCluster", "sagemaker:DescribeClusterNode", "sagemaker:ListClusterNodes"]
    assert parameters["Action"] == ["ssm:DeleteParameters", "ssm:GetParametersByPath", "ssm:PutParameter"]
    tails = [resource["Fn::Join"][1][-1] for resource in parameters["Resource"]]
    assert tails == [":ssm:us-west-2:123456789012:parameter/hyperpod/demo", ":ssm:us-west-2:123456789012:parameter/hyperpod/demo/*"]


def test_without_a_known_name_the_prefix_holds_the_id(stack: Stack) -> None:
    NodeInventory(stack, "Inventory", cluster=cluster(stack, name=None))
    assert properties(stack)["Prefix"] == {
        "Fn::Join": ["", ["/hyperpod/", {"Fn::Select": [1, {"Fn::Split": ["/", {"Fn::GetAtt": ["Cluster", "ClusterArn"]}]}]}]]
    }


def test_every_change_of_the_cluster_refreshes_the_inventory() -> None:
    digests = []
    for count in (4, 4, 5):
        alone = Stack(App(), "Alone")
        NodeInventory(alone, "Inventory", cluster=cluster(alone, count=count))
        digests.append(properties(alone)["Follows"])
    assert digests[0] == digests[1] != digests[2]


def test_it_follows_a_value_that_comes_in_the_deployment(app: App, stack: Stack) -> None:
    count = CfnParameter(stack, "Count", type="Number").value_as_number
    planned = cluster(stack, count=count)
    elsewhere = Stack(app, "Elsewhere", env=Environment(account="123456789012", region="us-west-2"))
    for scope in (stack, elsewhere):
        NodeInventory(scope, "Inventory", cluster=planned, prefix="/nodes")
    assert {"Ref": "Count"} in properties(stack)["Follows"]
    assert len(properties(elsewhere)["Follows"]) == 1


def test_tokens_pass_through(stack: Stack) -> None:
    count = CfnParameter(stack, "Count", type="Number").value_as_number
    prefix = CfnParameter(stack, "Prefix").value_as_string
    NodeInventory(stack, "Inventory", cluster=cluster(stack, count=count), prefix=prefix)
    found = properties(stack)
    assert found["Prefix"] == {"Ref": "Prefix"}
    assert found["Groups"][2]["Count"] == {"Ref": "Count"}


def test_the_inventory_awaits_the_gate(stack: Stack) -> None:
    made = cluster(stack)
    gate = ReadinessGate(stack, "Gate", cluster=made)
    NodeInventory(stack, "Inventory", cluster=made, awaits=[gate])
    template = Template.from_stack(stack)
    [inventory] = template.find_resources(TYPE).values()
    [name] = template.find_resources("Custom::HyperPodReadinessGate")
    assert name in inventory["DependsOn"]


def test_every_attribute_can_be_an_output(stack: Stack) -> None:
    inventory = NodeInventory(stack, "Inventory", cluster=cluster(stack))
    for name in ATTRIBUTES:
        CfnOutput(stack, name, value=getattr(inventory, name))
    outputs = Template.from_stack(stack).to_json()["Outputs"].values()
    found = {output["Value"]["Fn::GetAtt"][1] for output in outputs}
    assert len(found) == len(ATTRIBUTES)
    assert found <= set(Inventory().attributes(message="", logins=1))


@pytest.mark.parametrize("prefix", ["hyperpod", "/", "/a/", "/a b", "/aws/x", "/ssm-x", "/a" * 13, "/" + "a" * 400, ""])
def test_fails_for_a_prefix_that_is_no_path(stack: Stack, prefix: str) -> None:
    with pytest.raises(ValueError, match=r"Stack/Inventory: prefix is '.*'; allowed: one to twelve parts"):
        NodeInventory(stack, "Inventory", cluster=cluster(stack), prefix=prefix)
