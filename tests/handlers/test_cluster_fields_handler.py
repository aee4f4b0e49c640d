"""The handler of a cluster's fields against the embedded HyperPod in this process, and a clock that only sleeps move."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from hyperpod_constructs.custom_resources.handlers.cluster_fields import ClusterFields
from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.group_specs import KINDS, OTHER_NAMES, as_request, with_fields, without_fields
from hyperpod_constructs.custom_resources.handlers.resource import is_complete, on_event
from hyperpod_constructs.custom_resources.handlers.wire.models import Shape, model
from tests.custom_resources.world import InProcessWorld, in_process_world
from tests.local.hyperpod_requests import group

MULTI = "MultiNodeTrainingValidation"
Change = Callable[[dict[str, Any]], None]


class Stack:
    """A stack with fields of the group `workers`; `answers` may change what DescribeCluster says."""

    def __init__(self, world: InProcessWorld, **members: Any) -> None:
        self.world = world
        self.spec = group(world, "workers", "Compute", 2, AutoPatchConfig={"PatchingStrategy": "WhenIdle"}, **members)
        self.groups = [group(world, "controller", "Controller"), self.spec]
        self.arn = world.cluster("demo", InstanceGroups=self.groups)
        self.physical_id, self.count = "", 0
        self.properties: dict[str, Any] = {}
        self.change: Change = lambda answer: None
        self.sent: list[dict[str, Any]] = []

    def client(self, service: str) -> Any:
        return self

    def describe_cluster(self, **members: Any) -> dict[str, Any]:
        answer: dict[str, Any] = copy.deepcopy(self.world.client("sagemaker").describe_cluster(**members))
        self.change(answer)
        return answer

    def update_cluster(self, **members: Any) -> Any:
        answer = self.world.client("sagemaker").update_cluster(**members)
        self.sent.append(members)
        return answer

    def run(self, kind: str, fields: Mapping[str, Any] | None = None, name: str = "workers", **members: Any) -> dict[str, str]:
        self.count += 1
        groups = [] if fields is None else [{"Name": name, "Kind": "InstanceGroups", "Fields": fields}]
        wanted = {"ClusterArn": self.arn, "Groups": groups, "TimeoutSeconds": "3600", **members}
        if kind == "Delete":
            wanted = self.properties
        event: dict[str, Any] = {
            "RequestType": kind,
            "RequestId": f"request-{self.count}",
            "PhysicalResourceId": self.physical_id,
            "OldResourceProperties": self.properties,
            "ResourceProperties": wanted,
        }
        handler = ClusterFields(self.client, self.world.clock, self.world.clock.tick)
        event |= on_event(handler, event, self.world.clock)
        self.physical_id = event["PhysicalResourceId"]
        while not (answer := is_complete(handler, event))["IsComplete"]:
            self.world.clock.tick(10)
        self.properties = wanted
        return dict(answer.get("Data", {}))

    def workers(self) -> dict[str, Any]:
        found = self.world.client("sagemaker").describe_cluster(ClusterName="demo")["InstanceGroups"]
        return next(dict(each) for each in found if each["InstanceGroupName"] == "workers")

    def by_cloudformation(self, **members: Any) -> None:
        """An update that knows nothing of the fields."""
        groups = [self.groups[0], {**self.spec, **members}]
        self.world.client("sagemaker").update_cluster(ClusterName="demo", InstanceGroups=groups)
        self.world.clock.tick(30)


@pytest.fixture
def world() -> Iterator[InProcessWorld]:
    with in_process_world() as made:
        yield made


@pytest.fixture
def stack(world: InProcessWorld) -> Stack:
    return Stack(world, OnStartDeepHealthChecks=["InstanceStress"])


FIELDS = {"AutoPatchConfig": {"IdleWaitWindowInSeconds": "7200"}, "OnStartDeepHealthChecks": [MULTI]}


def test_sets_its_fields_and_nothing_else(stack: Stack) -> None:
    before = stack.workers()
    assert stack.run("Create", FIELDS) == {"Groups": "1", "LeftOut": "", "Drift": ""}
    after = stack.workers()
    assert after.pop("AutoPatchConfig")["IdleWaitWindowInSeconds"] == 7200
    assert after.pop("OnStartDeepHealthChecks") == ["InstanceStress", MULTI]
    assert after.items() <= before.items()
    [update] = stack.sent
    assert [each["InstanceGroupName"] for each in update["InstanceGroups"]] == ["controller", "workers"]
    assert update["InstanceGroups"][0] == stack.groups[0]


def test_asks_for_nothing_that_is_already_so(stack: Stack) -> None:
    stack.run("Create", FIELDS)
    stack.run("Update", FIELDS)
    assert len(stack.sent) == 1


def test_sets_the_fields_again_after_cloudformation_and_tells_what_was_gone(stack: Stack) -> None:
    stack.run("Create", FIELDS)
    stack.by_cloudformation(InstanceCount=1)
    data = stack.run("Update", FIELDS, Follows=["another"])
    assert "workers: AutoPatchConfig.IdleWaitWindowInSeconds was 7200 and is not set" in data["Drift"]
    assert stack.workers()["TargetCount"] == 1
    assert stack.workers()["AutoPatchConfig"]["IdleWaitWindowInSeconds"] == 7200


def test_fields_that_are_gone_go_back_only_where_they_are_ours(stack: Stack) -> None:
    stack.run("Create", FIELDS)
    stack.run("Update", {"OnStartDeepHealthChecks": [MULTI]})
    assert stack.workers()["AutoPatchConfig"]["IdleWaitWindowInSeconds"] == 86400
    stack.by_cloudformation(AutoPatchConfig={"PatchingStrategy": "WhenIdle", "IdleWaitWindowInSeconds": 3600})
    stack.run("Update", FIELDS)
    stack.by_cloudformation(AutoPatchConfig={"PatchingStrategy": "WhenIdle", "IdleWaitWindowInSeconds": 5000})
    stack.run("Delete")
    assert stack.workers()["AutoPatchConfig"]["IdleWaitWindowInSeconds"] == 5000
    assert stack.workers()["OnStartDeepHealthChecks"] == ["InstanceStress"]


def test_a_deletion_takes_a_list_away_that_only_we_filled(world: InProcessWorld) -> None:
    stack = Stack(world)
    stack.run("Create", FIELDS)
    stack.run("Delete")
    assert "OnStartDeepHealthChecks" not in stack.workers()
    assert stack.workers()["AutoPatchConfig"]["IdleWaitWindowInSeconds"] == 86400


def test_a_group_that_is_gone_is_left_out(stack: Stack, caplog: pytest.LogCaptureFixture) -> None:
    assert stack.run("Create", FIELDS, name="absent")["LeftOut"] == "absent"
    assert stack.sent == []
    assert "left out, because the cluster has no such group: absent" in caplog.text


def test_a_group_that_the_service_deletes_is_not_sent(stack: Stack) -> None:
    stack.change = lambda answer: answer["InstanceGroups"][1].update(Status="Deleting")
    assert stack.run("Create", FIELDS)["LeftOut"] == "workers"


@pytest.mark.parametrize("status", ["Updating", "SystemUpdating"])
def test_waits_for_a_cluster_at_work(stack: Stack, status: str) -> None:
    free = stack.world.clock() + 300

    def busy(answer: dict[str, Any]) -> None:
        if stack.world.clock() < free:
            answer["ClusterStatus"] = status

    stack.change = busy
    stack.run("Create", FIELDS)
    assert stack.world.clock() >= free
    assert stack.workers()["AutoPatchConfig"]["IdleWaitWindowInSeconds"] == 7200


def test_fails_at_the_deadline_and_for_a_cluster_that_failed(stack: Stack) -> None:
    stack.change = lambda answer: answer.update(ClusterStatus="SystemUpdating")
    with pytest.raises(OperationError, match=r"demo is SystemUpdating; the fields wait until it is InService \(after 57 min\)"):
        stack.run("Create", FIELDS)
    stack.change = lambda answer: answer.update(ClusterStatus="Failed", FailureMessage="no capacity")
    with pytest.raises(OperationError, match="demo is Failed, so its fields cannot be set: no capacity"):
        stack.run("Create", FIELDS)
    stack.run("Delete")


def test_does_not_ask_without_end_if_the_service_never_shows_a_field(stack: Stack) -> None:
    stack.change = lambda answer: answer["InstanceGroups"][1].update(AutoPatchConfig={"PatchingStrategy": "WhenIdle"})
    with pytest.raises(OperationError, match="does not show the fields yet: workers: AutoPatchConfig"):
        stack.run("Create", FIELDS)
    assert len(stack.sent) < 100


@pytest.mark.parametrize("member", ["TargetCount", "InstanceGroupName", "ExecutionRole"])
def test_an_answer_without_a_needed_member_changes_nothing(stack: Stack, member: str) -> None:
    stack.change = lambda answer: answer["InstanceGroups"][0].pop(member)
    with pytest.raises(OperationError, match=r"has no .* in the answer; nothing was changed"):
        stack.run("Create", FIELDS)
    assert stack.sent == []


def test_an_answer_without_what_the_template_states_changes_nothing(stack: Stack) -> None:
    stack.change = lambda answer: answer["InstanceGroups"][1].pop("LifeCycleConfig")
    with pytest.raises(OperationError, match="group workers has no LifeCycleConfig in the answer; nothing was changed"):
        stack.run("Create", FIELDS, Stated=["workers/LifeCycleConfig"])
    assert stack.sent == []


@pytest.mark.parametrize(("stated", "sent"), [([], None), (["workers/ImageId"], "ami-0123456789abcdef0")])
def test_an_image_is_sent_back_only_if_the_template_states_it(stack: Stack, stated: list[str], sent: str | None) -> None:
    stack.change = lambda answer: answer["InstanceGroups"][1].update(DesiredImageId="ami-0123456789abcdef0")
    stack.run("Create", FIELDS, Stated=stated)
    assert stack.sent[0]["InstanceGroups"][1].get("ImageId") == sent


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"Nope": "x"}, "property workers has Nope; allowed: AutoPatchConfig"),
        (
            {"AutoPatchConfig": {"IdleWaitWindowInSeconds": "soon"}},
            "IdleWaitWindowInSeconds is 'soon'; allowed: a value of the type",
        ),
        ({"AutoPatchConfig": {"PatchSchedule": {"NextPatchDate": "never"}}}, "NextPatchDate is 'never'"),
    ],
)
def test_fails_for_fields_that_the_service_does_not_have(stack: Stack, fields: Any, message: str) -> None:
    with pytest.raises(OperationError, match=message):
        stack.run("Create", fields)
    assert stack.sent == []


def test_a_date_that_has_passed_is_not_asked_for(stack: Stack) -> None:
    stack.run("Create", {"AutoPatchConfig": {"PatchSchedule": {"NextPatchDate": "2001-01-01T00:00:00Z"}}})
    assert stack.sent == []


def test_a_policy_for_draining_goes_with_the_strategy() -> None:
    ours = {"AutoPatchConfig": {"PatchingStrategy": "DrainFirst", "DrainPolicy": {"OnDrainTimeout": "Force"}}}
    spec = with_fields({"InstanceGroupName": "a"}, ours, 0.0)
    assert spec == {"InstanceGroupName": "a", **ours}
    assert without_fields(spec, ours, {}, {("AutoPatchConfig",): None}) == {"InstanceGroupName": "a"}


def test_every_member_of_a_request_has_a_source_in_the_answer() -> None:
    """But for the request's own spelling, nothing is lost: a member of a newer model without a source fails here."""
    asked, told = (model("sagemaker").operations[name] for name in ("UpdateCluster", "DescribeCluster"))
    assert told.output_shape is not None
    for kind in KINDS:
        lost = list(unsourced(asked.input_shape.members[kind], told.output_shape.members[kind], kind))
        assert lost == [], kind


def unsourced(request: Shape, answer: Shape, where: str) -> Iterator[str]:
    if request.type_name == answer.type_name == "list":
        yield from unsourced(request.member, answer.member, where)
    elif request.type_name == answer.type_name == "structure":
        for name, member in request.members.items():
            sources = [each for each in (name, f"Desired{name}", OTHER_NAMES.get(name, "")) if each in answer.members]
            if not sources:
                yield f"{where}.{name}"
            for source in sources[:1]:
                yield from unsourced(member, answer.members[source], f"{where}.{name}")


def test_an_empty_list_that_a_request_cannot_have_is_left_out() -> None:
    groups = model("sagemaker").operations["UpdateCluster"].input_shape.members["InstanceGroups"]
    answer = {"InstanceGroupName": "a", "TargetCount": 1, "ExecutionRole": "r", "OnStartDeepHealthChecks": [], "CurrentCount": 1}
    assert as_request(groups.member, answer, "") == {"InstanceGroupName": "a", "InstanceCount": 1, "ExecutionRole": "r"}
