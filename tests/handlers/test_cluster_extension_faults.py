"""The extension's handler before services that fail, answer late, or not as the model says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from hyperpod_constructs.custom_resources.handlers import extension_settings
from hyperpod_constructs.custom_resources.handlers.aws import SETTLE_SECONDS
from hyperpod_constructs.custom_resources.handlers.cluster_extension import OWNER, ClusterExtension
from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.resource import is_complete, on_event

from .conftest import ARN, START, Clock
from .fake_aws import FakeAws, refused

NAME = "sagemaker-observability"
OTHER_CLUSTER = "arn:aws:sagemaker:us-west-2:123456789012:cluster/zyxwvutsrqpo"
OWN = "Training/Extension"
GONE = refused("DescribeClusterExtension", "ResourceNotFound")


def extension(name: str = NAME, number: int = 1) -> str:
    return f"arn:aws:sagemaker:us-west-2:123456789012:extension/abcdefabcdef/{name}/{number:012d}"


class Service:
    """A service with extensions, by ARN: their states, of which each look takes one and the last stays."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.states: dict[str, list[str]] = {extension(): ["Active"]}
        self.owners: dict[str, str] = {}
        self.made: dict[str, float] = {}
        self.details: dict[str, Any] = {"ExtensionVersion": "1.2.0"}
        self.issues: list[dict[str, Any]] = []
        self.aws = FakeAws(
            {
                "CreateClusterExtension": {"ExtensionArn": extension()},
                "DescribeClusterExtension": self._describe,
                "ListClusterExtensions": lambda **_: {"Extensions": list(self._listed())},
                "ListTags": lambda **asked: {"Tags": [{"Key": OWNER, "Value": self.owners.get(asked["ResourceArn"], "Others/X")}]},
                "UpdateClusterExtension": {},
                "DeleteClusterExtension": {},
                "AddTags": {},
            }
        )

    def _describe(self, **asked: Any) -> Mapping[str, Any]:
        states = self.states.get(asked["ExtensionArn"], [])
        if not states:
            raise GONE
        status = states.pop(0) if len(states) > 1 else states[0]
        if not status:
            raise GONE
        details = {"ExtensionName": NAME, "ExtensionArn": asked["ExtensionArn"], "Status": status, **self.details}
        return {"ExtensionDetails": details, "NodeSummary": {"ActiveCount": 2, "TotalCount": 3}, "Health": {"Issues": self.issues}}

    def _listed(self) -> Iterable[dict[str, Any]]:
        for arn in self.states:
            made = datetime.fromtimestamp(self.made.get(arn, START), UTC)
            yield {"ExtensionArn": arn, "ExtensionName": arn.split("/")[-2], "CreationTime": made}

    def event(self, kind: str, *, old: Mapping[str, Any] | None = None, **properties: Any) -> dict[str, Any]:
        wanted = {"ClusterArn": ARN, "Name": NAME, "TimeoutSeconds": "3600", **properties}
        return {
            "RequestType": kind,
            "RequestId": "request-1",
            "StackId": "arn:aws:cloudformation:us-west-2:123456789012:stack/Training/1",
            "LogicalResourceId": "Extension",
            "PhysicalResourceId": f"{ARN}|{extension()}",
            "ResourceProperties": wanted,
            **({} if old is None else {"OldResourceProperties": {**wanted, **old}}),
        }

    @property
    def handler(self) -> ClusterExtension:
        return ClusterExtension(self.aws, self.clock, self.clock.sleep)

    def start(self, event: dict[str, Any]) -> dict[str, Any]:
        return {**event, **on_event(self.handler, event, self.clock)}

    def look(self, event: dict[str, Any]) -> dict[str, Any]:
        return is_complete(self.handler, event)

    def asked(self, operation: str) -> list[dict[str, Any]]:
        return [request for name, request in self.aws.requests if name == operation]

    def deleted(self) -> list[str]:
        return [request["ExtensionArn"] for request in self.asked("DeleteClusterExtension")]


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (ReadTimeoutError(endpoint_url="https://x"), "ReadTimeoutError"),
        (refused("CreateClusterExtension", "InternalFailure", status=500), "CreateClusterExtension: InternalFailure"),
        ({}, "CreateClusterExtension: the answer has no ExtensionArn"),
    ],
)
def test_a_creation_without_an_answer_removes_its_own_extension_only(service: Service, answer: Any, message: str) -> None:
    theirs, older, namesake = extension(number=2), extension(number=3), extension("another")
    service.aws.answers["CreateClusterExtension"] = answer
    service.states = {extension(): ["Creating", "Deleting", ""], theirs: ["Active"], older: ["Active"], namesake: ["Active"]}
    service.owners = {extension(): OWN, older: OWN, namesake: OWN}
    service.made = {older: START - 100}
    with pytest.raises(OperationError, match=message) as failure:
        service.start(service.event("Create"))
    assert service.deleted() == [extension()]
    assert "not removed" not in str(failure.value)


def test_what_a_failed_creation_could_not_remove_is_named(service: Service) -> None:
    service.aws.answers["CreateClusterExtension"] = {}
    service.states, service.owners = {extension(): ["Deleting"]}, {extension(): OWN}
    with pytest.raises(OperationError, match=f"not removed: extension {NAME}: .* is Deleting; 2 of 3 nodes run it"):
        service.start(service.event("Create"))
    assert service.deleted() == []


@pytest.mark.parametrize("changed", [{"ClusterArn": OTHER_CLUSTER}, {"Name": "another"}])
def test_another_cluster_or_name_is_another_extension(service: Service, changed: dict[str, Any]) -> None:
    event = service.start(service.event("Update", **changed))
    assert event["Replaces"] is True
    assert service.aws.calls["CreateClusterExtension"] == 1
    assert service.aws.calls["UpdateClusterExtension"] == 0


def test_a_rollback_removes_what_a_stopped_renaming_has_made(service: Service) -> None:
    renamed = extension("another")
    service.states |= {renamed: ["Active", ""]}
    service.owners = {extension(): OWN, renamed: OWN}
    service.start(service.event("Update", old={"Name": "another"}))
    assert service.deleted() == [renamed]


def test_a_rollback_goes_on_without_the_permission_to_remove(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    service.aws.answers["ListClusterExtensions"] = refused("ListClusterExtensions")
    service.start(service.event("Update", old={"Name": "another"}))
    assert f"extension another may be left on {ARN}: ListClusterExtensions: AccessDenied" in caplog.text
    assert service.deleted() == []


def test_an_extension_that_is_not_shown_is_waited_for_and_then_gone(service: Service) -> None:
    event = service.start(service.event("Create"))
    service.states = {}
    assert service.look(event) == {"IsComplete": False}
    service.clock.now = START + SETTLE_SECONDS
    with pytest.raises(OperationError, match=f"extension {NAME} is gone: somebody has deleted it"):
        service.look(event)


def test_an_extension_that_does_not_become_active_fails_at_the_deadline(service: Service) -> None:
    event = service.start(service.event("Create"))
    service.states[extension()] = ["Creating"]
    assert service.look(event) == {"IsComplete": False}
    service.clock.now = event["Deadline"]
    with pytest.raises(OperationError, match=r"is Creating; 2 of 3 nodes run it; no problem is reported \(after 57 min\)"):
        service.look(event)


def test_an_error_of_the_description_is_the_cause(service: Service) -> None:
    event = service.start(service.event("Create"))
    service.aws.answers["DescribeClusterExtension"] = refused("DescribeClusterExtension", "ValidationException", "wrong")
    with pytest.raises(OperationError, match="DescribeClusterExtension: ValidationException: wrong"):
        service.look(event)


def test_a_deletion_that_was_refused_for_a_while_is_asked_for_again(service: Service) -> None:
    service.aws.answers["DeleteClusterExtension"] = refused("DeleteClusterExtension", "ConflictException")
    event = service.start(service.event("Delete"))
    service.states[extension()] = ["Updating", "Deleting", ""]
    assert service.look(event) == {"IsComplete": False}
    assert len(service.deleted()) == 2
    assert service.look(event) == {"IsComplete": False}
    assert len(service.deleted()) == 2
    assert service.look(event) == {"IsComplete": True}


def test_a_deletion_without_end_fails_at_the_deadline(service: Service) -> None:
    event = service.start(service.event("Delete"))
    service.states[extension()] = ["Deleting"]
    service.clock.now = START + 3600
    with pytest.raises(OperationError, match=f"extension {NAME} is Deleting"):
        service.look(event)


def test_a_refused_deletion_is_the_cause(service: Service) -> None:
    service.aws.answers["DeleteClusterExtension"] = refused("DeleteClusterExtension", "ValidationException", "no")
    with pytest.raises(OperationError, match="DeleteClusterExtension: ValidationException: no"):
        service.start(service.event("Delete"))


def test_an_answer_without_the_version_changes_nothing(service: Service) -> None:
    service.details = {}
    with pytest.raises(OperationError, match="the answer has no ExtensionVersion"):
        service.start(service.event("Update", Version="1.3.0", old={"Version": "1.2.0"}))
    assert service.asked("UpdateClusterExtension") == []


def test_a_lower_version_fails_if_nobody_can_say_whether_the_stack_rolls_back(service: Service) -> None:
    service.aws.answers["DescribeStacks"] = refused("DescribeStacks")
    with pytest.raises(OperationError, match=r"1\.1\.0 is lower.*; whether the stack rolls back cannot be read: DescribeStacks: A"):
        service.start(service.event("Update", Version="1.1.0", old={"Version": "1.2.0"}))
    assert service.asked("UpdateClusterExtension") == []


def test_an_update_waits_while_the_service_is_at_work(service: Service) -> None:
    busy = [refused("UpdateClusterExtension", "ConflictException"), refused("UpdateClusterExtension", "ResourceInUse")]

    def answer(**_: Any) -> Mapping[str, Any]:
        if busy:
            raise busy.pop()
        return {}

    service.aws.answers["UpdateClusterExtension"] = answer
    service.start(service.event("Update", Version="1.3.0", old={"Version": "1.2.0"}))
    asked = service.asked("UpdateClusterExtension")
    assert [request["ExtensionVersion"] for request in asked] == ["1.3.0"] * 3
    assert len({request["ClientToken"] for request in asked}) == 1


def test_an_update_gives_up_if_the_service_stays_at_work(service: Service) -> None:
    service.aws.answers["UpdateClusterExtension"] = refused("UpdateClusterExtension", "ConflictException", "at work")
    with pytest.raises(OperationError, match="UpdateClusterExtension: ConflictException: at work"):
        service.start(service.event("Update", Version="1.3.0", old={"Version": "1.2.0"}))
    assert 60 <= service.clock.now - START < 100


def test_many_problems_are_counted(service: Service) -> None:
    service.issues = [{"Code": f"Code{number}", "Message": "x", "NodeCount": number} for number in range(6)]
    service.issues.insert(0, {"Message": ""})
    event = service.start(service.event("Create"))
    issues = service.look(event)["Data"]["Issues"]
    assert issues.startswith("Other on some nodes: no message; Code0 on 0 nodes: x; Code1 on 1 node: x; ")
    assert issues.endswith("Code3 on 3 nodes: x; and 2 more")


def test_a_long_name_of_the_owner_fits_into_a_tag(service: Service) -> None:
    for name in ("A" * 300, "A" * 299 + "B"):
        service.start({**service.event("Create"), "LogicalResourceId": name})
    values = [request["Tags"][0]["Value"] for request in service.asked("CreateClusterExtension")]
    assert len(set(values)) == 2
    assert max(map(len, values)) <= 256


@pytest.mark.parametrize(("text", "message"), [("{", "Configuration is not JSON"), ("[]", "Configuration is no JSON object")])
def test_settings_that_are_no_object_are_refused(service: Service, text: str, message: str) -> None:
    with pytest.raises(OperationError, match=message):
        service.start(service.event("Create", Configuration=text))
    assert service.aws.calls["CreateClusterExtension"] == 0


def test_settings_that_are_gone_are_reset_where_nothing_takes_their_place() -> None:
    before = {"a": {"x": 1, "y": {"z": 2}}, "b": 1, "c": {"k": 1}, "d": {"same": 1}}
    after = {"a": {"y": {}}, "c": "text", "d": {"same": 2}}
    assert extension_settings.removed(before, after) == {"a": {"x": None, "y": {"z": None}}, "b": None}


def test_settings_are_merged_and_the_second_wins() -> None:
    under, over = {"a": {"x": 1, "y": 2}, "b": {"k": 1}, "c": 1}, {"a": {"y": 3}, "b": None}
    assert extension_settings.merged(under, over) == {"a": {"x": 1, "y": 3}, "b": None, "c": 1}
