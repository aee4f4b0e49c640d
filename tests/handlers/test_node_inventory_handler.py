"""The inventory against an account that a test describes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.inventory import PAGE_BYTES
from hyperpod_constructs.custom_resources.handlers.node_inventory import MOST_DESCRIBED, NodeInventory
from hyperpod_constructs.custom_resources.handlers.resource import is_complete, on_event

from .conftest import START, Clock
from .fake_aws import FakeAws, refused

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefabcdef"
PREFIX = "/hyperpod/demo"
PHYSICAL_ID = f"{PREFIX}#1/Inventory"
TIME = datetime.fromtimestamp(START, UTC)
NODE_TYPES = {"controller": "Controller", "login": "Login", "workers": "Compute"}


def instance(group: str, index: int) -> str:
    return f"i-{list(NODE_TYPES).index(group):02x}{index:015x}"


class Account:
    """A cluster with nodes, and the parameters of Systems Manager."""

    def __init__(self, **counts: int) -> None:
        self.clock = Clock()
        self.named_by_address = True
        self.nodes = [
            (group, instance(group, index), f"10.{number}.{index // 250}.{index % 250}")
            for number, (group, count) in enumerate(counts.items())
            for index in range(count)
        ]
        self.statuses: dict[str, str] = {}
        self.parameters: dict[str, str] = {}
        self.aws = FakeAws(
            {
                "DescribeCluster": {
                    "ClusterArn": ARN,
                    "ClusterName": "demo",
                    "ClusterStatus": "InService",
                    "InstanceGroups": [],
                },
                "ListClusterNodes": self._list,
                "DescribeClusterNode": self._describe,
                "GetParametersByPath": self._stored,
                "PutParameter": self._put,
                "DeleteParameters": self._delete,
            }
        )

    def event(self, kind: str = "Create", prefix: str = PREFIX, **more: Any) -> dict[str, Any]:
        groups = [{"Name": name, "NodeType": node_type, "Count": "1"} for name, node_type in NODE_TYPES.items()]
        return {
            "RequestType": kind,
            "RequestId": "request-1",
            "StackId": "arn:aws:cloudformation:us-west-2:123456789012:stack/demo/1",
            "LogicalResourceId": "Inventory",
            "ResourceProperties": {"TimeoutSeconds": "3600", "ClusterArn": ARN, "Prefix": prefix, "Groups": groups},
            **more,
        }

    def run(self, event: dict[str, Any]) -> tuple[str, dict[str, str]]:
        """The physical id and the attributes, once the operation is complete."""
        started = on_event(self.inventory, event, self.clock)
        for _ in range(50):
            answer = is_complete(self.inventory, {**event, **started})
            if answer["IsComplete"]:
                return started["PhysicalResourceId"], answer.get("Data", {})
            self.clock.sleep(10.0)
        raise AssertionError("the operation does not end")

    @property
    def inventory(self) -> NodeInventory:
        return NodeInventory(self.aws, self.clock, self.clock.sleep)

    def value(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.parameters[f"{PREFIX}/{name}"])
        return found

    def _list(self, **asked: Any) -> dict[str, Any]:
        start = int(asked.get("NextToken", 0))
        end = start + asked["MaxResults"]
        more = {"NextToken": str(end)} if end < len(self.nodes) else {}
        return {"ClusterNodeSummaries": [self._summary(*node) for node in self.nodes[start:end]], **more}

    def _summary(self, group: str, id: str, address: str) -> dict[str, Any]:
        return {
            "InstanceGroupName": group,
            "InstanceId": id,
            "InstanceType": "ml.m5.xlarge",
            "LaunchTime": TIME,
            "InstanceStatus": {"Status": self.statuses.get(id, "Running")},
            "PrivateDnsHostname": f"ip-{address.replace('.', '-')}.ec2.internal" if self.named_by_address else f"{id}.ec2.internal",
        }

    def _describe(self, **asked: Any) -> dict[str, Any]:
        return {"NodeDetails": {"PrivatePrimaryIp": next(address for _, id, address in self.nodes if id == asked["NodeId"])}}

    def _stored(self, **asked: Any) -> dict[str, Any]:
        names = sorted(name for name in self.parameters if name.startswith(f"{asked['Path']}/"))
        start = int(asked.get("NextToken", 0))
        end = start + asked["MaxResults"]
        more = {"NextToken": str(end)} if end < len(names) else {}
        return {"Parameters": [{"Name": name, "Value": self.parameters[name]} for name in names[start:end]], **more}

    def _put(self, **asked: Any) -> dict[str, Any]:
        assert len(asked["Value"]) <= 4096
        assert asked["Overwrite"] == (asked["Name"] in self.parameters)
        assert asked["Tier"] == "Standard"
        self.parameters[asked["Name"]] = asked["Value"]
        return {"Version": 1}

    def _delete(self, **asked: Any) -> dict[str, Any]:
        for name in asked["Names"]:
            del self.parameters[name]
        return {}


@pytest.fixture
def account() -> Iterator[Account]:
    account = Account(controller=1, login=2, workers=3)
    yield account
    assert account.aws.violations == []


def test_attributes_name_controller_and_login_nodes(account: Account) -> None:
    _, attributes = account.run(account.event())
    target = "sagemaker-cluster:abcdefabcdef"
    assert attributes == {
        "ClusterName": "demo",
        "LogGroup": "/aws/sagemaker/Clusters/demo/abcdefabcdef",
        "NodeCount": "6",
        "RunningCount": "6",
        "ControllerId": instance("controller", 0),
        "ControllerAddress": "10.0.0.0",
        "ControllerTarget": f"{target}_controller-{instance('controller', 0)}",
        "LoginIds": f"{instance('login', 0)},{instance('login', 1)}",
        "LoginAddresses": "10.1.0.0,10.1.0.1",
        "LoginTargets": f"{target}_login-{instance('login', 0)},{target}_login-{instance('login', 1)}",
        "Message": "",
    }


def test_parameters_hold_every_node_by_group(account: Account) -> None:
    account.statuses[instance("workers", 1)] = "Pending"
    account.run(account.event())
    assert sorted(account.parameters) == [
        f"{PREFIX}/cluster",
        f"{PREFIX}/nodes/controller/0000",
        f"{PREFIX}/nodes/login/0000",
        f"{PREFIX}/nodes/workers/0000",
    ]
    assert account.value("nodes/workers/0000") == {
        "inventory": "1/Inventory",
        "group": "workers",
        "target": "sagemaker-cluster:abcdefabcdef_workers-{id}",
        "nodes": {instance("workers", index): f"10.2.0.{index}" for index in range(3)},
    }
    assert account.value("cluster")["groups"]["workers"] == {"nodes": 3, "running": 2, "pages": 1}
    assert account.value("cluster")["log_group"] == "/aws/sagemaker/Clusters/demo/abcdefabcdef"


def test_the_running_controller_comes_first(account: Account) -> None:
    account.nodes.append(("controller", instance("controller", 7), "10.0.0.7"))
    account.statuses[instance("controller", 0)] = "Failure"
    _, attributes = account.run(account.event())
    assert attributes["ControllerId"] == instance("controller", 7)


def test_addresses_that_are_in_no_host_name_are_asked_for_once(account: Account) -> None:
    account.named_by_address = False
    physical_id, attributes = account.run(account.event())
    assert attributes["ControllerAddress"] == "10.0.0.0"
    assert account.aws.calls["DescribeClusterNode"] == 6
    account.run(account.event("Update", PhysicalResourceId=physical_id))
    assert account.aws.calls["DescribeClusterNode"] == 6
    assert account.value("nodes/workers/0000")["nodes"][instance("workers", 2)] == "10.2.0.2"


def test_a_node_that_went_meanwhile_has_no_address(account: Account) -> None:
    account.named_by_address = False
    account.aws.answers["DescribeClusterNode"] = refused("DescribeClusterNode", "ResourceNotFound")
    _, attributes = account.run(account.event())
    assert (attributes["ControllerId"], attributes["ControllerAddress"]) == (instance("controller", 0), "")


def test_calls_for_ten_thousand_nodes() -> None:
    account = Account(controller=1, login=4, workers=9995)
    account.named_by_address = False
    physical_id, attributes = account.run(account.event())
    assert attributes["NodeCount"] == "10000"
    calls = dict(account.aws.calls)
    assert calls.pop("PutParameter") == len(account.parameters) <= 130
    assert calls == {
        "DescribeCluster": 1,
        "ListClusterNodes": 100,
        "DescribeClusterNode": MOST_DESCRIBED,
        "GetParametersByPath": 2,
    }
    assert all(account.value(f"nodes/login/{page:04d}")["nodes"][instance("login", 3)] for page in (0,))
    listed = [json.loads(value).get("nodes", {}) for value in account.parameters.values()]
    assert sum(map(len, listed)) == 10000
    assert max(map(len, account.parameters.values())) <= PAGE_BYTES
    account.run(account.event("Update", PhysicalResourceId=physical_id))
    assert account.aws.violations == []


def test_an_update_writes_only_what_differs(account: Account) -> None:
    physical_id, _ = account.run(account.event())
    account.aws.calls.clear()
    account.nodes = [node for node in account.nodes if node[0] != "login"]
    account.run(account.event("Update", PhysicalResourceId=physical_id))
    written = [request["Name"] for operation, request in account.aws.requests if operation == "PutParameter"][4:]
    assert written == [f"{PREFIX}/cluster"]
    assert f"{PREFIX}/nodes/login/0000" not in account.parameters


def test_parameters_of_others_are_neither_overwritten_nor_deleted(account: Account) -> None:
    account.parameters[f"{PREFIX}/nodes/workers/0000"] = "of others"
    with pytest.raises(OperationError, match="the parameter /hyperpod/demo/nodes/workers/0000 exists and was not written by this"):
        account.run(account.event())
    assert account.parameters == {f"{PREFIX}/nodes/workers/0000": "of others"}


def test_a_deletion_takes_its_own_parameters_only(account: Account) -> None:
    account.parameters[f"{PREFIX}/mine"] = '{"inventory": "another"}'
    account.parameters["/hyperpod/demo-2/cluster"] = "{}"
    physical_id, _ = account.run(account.event())
    account.run(account.event("Delete", PhysicalResourceId=physical_id))
    assert sorted(account.parameters) == ["/hyperpod/demo-2/cluster", f"{PREFIX}/mine"]


@pytest.mark.parametrize("answer", [{}, {"Parameters": [{"Name": "/hyperpod/demo/cluster"}]}])
def test_a_deletion_fails_rather_than_leaves_what_it_cannot_read(account: Account, answer: dict[str, Any]) -> None:
    account.aws.answers["GetParametersByPath"] = answer
    with pytest.raises(OperationError, match="GetParametersByPath: "):
        account.run(account.event("Delete", PhysicalResourceId=PHYSICAL_ID))


def test_a_deletion_of_an_unknown_id_does_nothing(account: Account) -> None:
    account.run(account.event("Delete", PhysicalResourceId="demo-Inventory-1A2B3C"))
    assert not account.aws.calls


def test_another_prefix_is_another_inventory(account: Account) -> None:
    physical_id, _ = account.run(account.event())
    other, _ = account.run(account.event("Update", prefix="/new/place", PhysicalResourceId=physical_id, RequestId="request-2"))
    assert other == "/new/place#1/Inventory"
    account.run(account.event("Delete", PhysicalResourceId=physical_id))
    assert {name.rpartition("/nodes/")[0] or "/new/place" for name in account.parameters} == {"/new/place"}


def test_a_creation_that_is_sent_twice_makes_one_inventory(account: Account) -> None:
    assert account.run(account.event()) == account.run(account.event())
    assert account.aws.calls["PutParameter"] == 4


def stack_in(status: str) -> dict[str, Any]:
    return {"Stacks": [{"StackName": "demo", "CreationTime": TIME, "StackStatus": status}]}


def test_a_rollback_that_cannot_look_succeeds_and_says_so(account: Account) -> None:
    account.aws.answers |= {
        "ListClusterNodes": refused("ListClusterNodes"),
        "DescribeStacks": stack_in("UPDATE_ROLLBACK_IN_PROGRESS"),
    }
    _, attributes = account.run(account.event("Update", PhysicalResourceId=PHYSICAL_ID))
    assert "ListClusterNodes: AccessDenied" in attributes["Message"]
    assert attributes["ControllerTarget"] == ""


@pytest.mark.parametrize("state", [stack_in("UPDATE_IN_PROGRESS"), refused("DescribeStacks")])
def test_an_update_that_cannot_look_fails_with_the_cause(account: Account, state: Any) -> None:
    account.aws.answers |= {"ListClusterNodes": refused("ListClusterNodes"), "DescribeStacks": state}
    with pytest.raises(OperationError, match="ListClusterNodes: AccessDenied"):
        account.run(account.event("Update", PhysicalResourceId=PHYSICAL_ID))


def test_a_rollback_to_the_earlier_prefix_finds_its_parameters(account: Account) -> None:
    physical_id, _ = account.run(account.event())
    other, _ = account.run(account.event("Update", prefix="/new/place", PhysicalResourceId=physical_id))
    back, _ = account.run(account.event("Update", PhysicalResourceId=other))
    assert back == physical_id


@pytest.mark.parametrize("member", ["InstanceGroupName", "InstanceId", "InstanceStatus"])
def test_fails_for_a_node_that_is_only_half_described(account: Account, member: str) -> None:
    summary = {name: value for name, value in account._summary(*account.nodes[0]).items() if name != member}
    account.aws.answers["ListClusterNodes"] = lambda **_: {"ClusterNodeSummaries": [summary]}
    with pytest.raises(OperationError, match="ListClusterNodes: a node lacks its group, its id or its status"):
        account.run(account.event())
    assert account.parameters == {}
    account.aws.violations.clear()


def test_a_creation_that_cannot_look_fails_with_the_cause(account: Account) -> None:
    account.aws.answers["ListClusterNodes"] = refused("ListClusterNodes")
    with pytest.raises(OperationError, match="ListClusterNodes: AccessDenied"):
        account.run(account.event())


def test_writing_goes_on_in_the_next_look_when_the_service_is_slow(account: Account) -> None:
    put = account.aws.answers["PutParameter"]
    assert callable(put)

    def slow(**asked: Any) -> Any:
        account.clock.sleep(150.0)
        return put(**asked)

    account.aws.answers["PutParameter"] = slow
    account.run(account.event())
    assert len(account.parameters) == 4
    assert account.aws.calls["PutParameter"] == 4
    assert account.aws.calls["DescribeCluster"] > 1
