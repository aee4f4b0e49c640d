"""The extension's handler against the embedded HyperPod in this process, and a clock that only sleeps move."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.custom_resources.handlers.cluster_extension import DEGRADED_SECONDS, OWNER, ClusterExtension
from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.resource import is_complete, on_event
from tests.custom_resources.world import InProcessWorld, in_process_world

NAME = "sagemaker-observability"
BASIC: dict[str, Any] = {"metricsProvider": {"nodeMetrics": {"level": "BASIC"}}}
BOTH: dict[str, Any] = {
    "metricsProvider": {"nodeMetrics": {"level": "BASIC"}, "jobMetrics": {"level": "ADVANCED"}},
    "more": {"a": 1},
}


class Stack:
    """A stack with the extension, which follows the events of CloudFormation; `status` is its own."""

    def __init__(self, world: InProcessWorld) -> None:
        self.world, self.status = world, "UPDATE_IN_PROGRESS"
        self.arn = world.cluster("demo")
        self.physical_id, self.count = "", 0
        self.properties: dict[str, Any] = {}

    def client(self, service: str) -> Any:
        return self if service == "cloudformation" else self.world.client(service)

    def describe_stacks(self, *, StackName: str) -> Mapping[str, Any]:  # noqa: N803  # the name of the API
        assert StackName == "arn:aws:cloudformation:us-west-2:123456789012:stack/Training/1"
        return {"Stacks": [{"StackStatus": self.status}]}

    def run(self, kind: str, configuration: Any = BASIC, **members: Any) -> dict[str, str]:
        self.count += 1
        wanted = {
            "ClusterArn": self.arn,
            "Name": NAME,
            "Configuration": json.dumps(configuration),
            "TimeoutSeconds": "3600",
            **members,
        }
        event: dict[str, Any] = {
            "RequestType": kind,
            "RequestId": f"request-{self.count}",
            "StackId": "arn:aws:cloudformation:us-west-2:123456789012:stack/Training/1",
            "LogicalResourceId": "Extension",
            "PhysicalResourceId": self.physical_id,
            "OldResourceProperties": self.properties,
            "ResourceProperties": wanted,
        }
        handler = ClusterExtension(self.client, self.world.clock, self.world.clock.tick)
        event |= on_event(handler, event, self.world.clock)
        self.physical_id = event["PhysicalResourceId"]
        while not (answer := is_complete(handler, event))["IsComplete"]:
            self.world.clock.tick(10)
        self.properties = wanted
        return dict(answer.get("Data", {}))

    def described(self) -> dict[str, Any]:
        cluster, arn = self.physical_id.split("|")
        found = self.world.client("sagemaker").describe_cluster_extension(ClusterArn=cluster, ExtensionArn=arn)["ExtensionDetails"]
        return dict(found) | {"Settings": json.loads(found["ConfigurationValues"])}

    def listed(self) -> list[str]:
        found = self.world.client("sagemaker").list_cluster_extensions(ClusterArn=self.arn)["Extensions"]
        return [item["ExtensionArn"] for item in found]

    def break_nodes(self, place: str = NAME, issue: str = "AccessDenied: the role lacks aps:RemoteWrite") -> None:
        self.world.faults(extension_issues={place: issue} if place else {})


@pytest.fixture
def stack() -> Iterator[Stack]:
    with in_process_world() as world:
        yield Stack(world)


def test_a_creation_waits_until_the_extension_is_active(stack: Stack) -> None:
    data = stack.run("Create", Tags={"team": "a"})
    assert data["ExtensionArn"] == stack.physical_id.split("|")[1]
    assert (data["Version"], data["Status"], data["Issues"]) == ("1.2.0", "Active", "")
    assert (data["ActiveNodes"], data["TotalNodes"]) == ("3", "3")
    tags = stack.world.client("sagemaker").list_tags(ResourceArn=data["ExtensionArn"])["Tags"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {"team": "a", OWNER: "Training/Extension"}


def test_a_creation_that_works_on_no_node_fails_with_the_problems_and_is_deleted(stack: Stack) -> None:
    stack.break_nodes()
    with pytest.raises(
        OperationError, match="CreateFailed; 0 of 3 nodes run it; AccessDenied on 3 nodes: the role lacks aps:Remote"
    ):
        stack.run("Create")
    stack.break_nodes("")
    stack.run("Delete")
    assert stack.listed() == []


def test_a_degraded_extension_counts_after_a_while_and_says_so(stack: Stack) -> None:
    stack.break_nodes(f"{NAME}/workers")
    begun = stack.world.clock()
    data = stack.run("Create")
    assert stack.world.clock() - begun >= DEGRADED_SECONDS
    assert data["Status"] == "Degraded"
    assert data["Issues"] == "AccessDenied on 2 nodes: the role lacks aps:RemoteWrite"


def test_an_update_resets_what_the_properties_no_longer_have_and_nothing_of_others(stack: Stack) -> None:
    stack.run("Create", BOTH)
    cluster, arn = stack.physical_id.split("|")
    theirs = json.dumps({"metricsProvider": {"theirs": {"level": "X"}}})
    stack.world.client("sagemaker").update_cluster_extension(ClusterArn=cluster, ExtensionArn=arn, ConfigurationValues=theirs)
    stack.world.clock.tick(5)
    stack.run("Update", BASIC)
    assert stack.described()["Settings"] == {"metricsProvider": {"nodeMetrics": {"level": "BASIC"}, "theirs": {"level": "X"}}}


def test_an_update_without_a_change_asks_for_nothing_unless_nodes_have_problems(stack: Stack) -> None:
    stack.run("Create")
    modified = stack.described()["LastModifiedTime"]
    stack.run("Update")
    assert stack.described()["LastModifiedTime"] == modified
    stack.break_nodes(f"{NAME}/workers")
    stack.run("Update")
    assert stack.described()["LastModifiedTime"] > modified


def test_tags_change_with_the_properties(stack: Stack) -> None:
    stack.run("Create", Tags={"team": "a", "cost": "1"})
    stack.run("Update", Tags={"team": "b"})
    tags = stack.world.client("sagemaker").list_tags(ResourceArn=stack.physical_id.split("|")[1])["Tags"]
    assert {tag["Key"]: tag["Value"] for tag in tags} == {"team": "b", OWNER: "Training/Extension"}


def test_fails_for_a_lower_version_and_in_a_rollback_keeps_the_higher(stack: Stack, caplog: pytest.LogCaptureFixture) -> None:
    stack.run("Create", Version="1.0.0")
    assert stack.run("Update", Version="1.1.0")["Version"] == "1.1.0"
    with pytest.raises(OperationError, match=r"has version 1.1.0, and 1.0.0 is lower: versions only rise; keep 1.1.0, or remove"):
        stack.run("Update", Version="1.0.0")
    stack.status = "UPDATE_ROLLBACK_IN_PROGRESS"
    assert stack.run("Update", BOTH, Version="1.0.0")["Version"] == "1.1.0"
    assert stack.described()["Settings"] == BOTH
    assert "the stack rolls back and the version stays" in caplog.text


def test_fails_if_others_have_made_the_extension_and_leaves_it(stack: Stack) -> None:
    client = stack.world.client("sagemaker")
    theirs = client.create_cluster_extension(ClusterArn=stack.arn, ExtensionName=NAME)["ExtensionArn"]
    stack.world.clock.tick(5)
    with pytest.raises(OperationError, match=r"ResourceInUse: .*an extension sagemaker-observability that this stack did not make"):
        stack.run("Create")
    assert stack.listed() == [theirs]


def test_a_creation_takes_over_what_its_own_earlier_one_has_left(stack: Stack) -> None:
    stack.run("Create", BOTH)
    left = stack.physical_id
    stack.run("Create", BASIC)
    assert stack.physical_id == left
    assert stack.described()["Settings"]["metricsProvider"]["nodeMetrics"] == {"level": "BASIC"}


def test_an_extension_that_somebody_deleted_is_made_again(stack: Stack) -> None:
    stack.run("Create")
    cluster, arn = stack.physical_id.split("|")
    stack.world.client("sagemaker").delete_cluster_extension(ClusterArn=cluster, ExtensionArn=arn)
    stack.world.clock.tick(5)
    stack.run("Update", BOTH)
    assert stack.described()["Settings"] == BOTH
    assert stack.physical_id != f"{cluster}|{arn}"


def test_settings_beyond_the_limit_are_refused_before_anything_is_made(stack: Stack) -> None:
    with pytest.raises(OperationError, match=r"the settings have 102.. characters as JSON; allowed: 10240"):
        stack.run("Create", {"a": "x" * 10240})
    assert stack.listed() == []


@pytest.mark.parametrize("physical_id", ["", "AWSCDK::made-up", "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl|x"])
def test_the_deletion_of_an_unknown_id_does_nothing(stack: Stack, physical_id: str) -> None:
    stack.physical_id = physical_id
    stack.run("Delete")


def test_a_deletion_that_fails_on_the_nodes_names_the_problems(stack: Stack) -> None:
    stack.run("Create")
    stack.break_nodes()
    with pytest.raises(OperationError, match="is DeleteFailed; 0 of 3 nodes run it; AccessDenied on 3 nodes"):
        stack.run("Delete")


def test_a_deletion_after_the_cluster_is_a_success(stack: Stack) -> None:
    stack.run("Create")
    client = stack.world.client("sagemaker")
    client.delete_cluster(ClusterName="demo")
    stack.world.clock.tick(30)
    with pytest.raises(ClientError, match="not found"):
        client.describe_cluster(ClusterName="demo")
    stack.run("Delete")
