"""The embedded Session Manager, with a service that knows one running node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from hyperpod_constructs.facts.session_manager import DOCUMENTS, SHELL, session_target
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.session_manager import SessionManager
from tests.local.hyperpod_requests import model
from tests.local.moto_cloud import CALLER

ID, NODE = "abcdefghijkl", "i-0123456789abcdef0"
TARGET = session_target(ID, "p5-a", NODE)


class OneNode:
    """A double of SageMaker that knows one node, and says what it was asked about."""

    name = "sagemaker"

    def __init__(self, status: str = "Running", code: str | None = None) -> None:
        self._status = status
        self._code = code

    def call(self, operation: str, parameters: Mapping[str, Any], caller: Caller) -> dict[str, Any]:
        assert operation == "DescribeClusterNode"
        assert parameters["ClusterName"].startswith("arn:aws:sagemaker:us-west-2:123456789012:cluster/")
        if self._code is not None:
            raise AwsError(self._code, "no")
        if not (parameters["ClusterName"].endswith(f"/{ID}") and parameters["NodeId"] == NODE):
            raise AwsError("ResourceNotFound", "not found")
        return {"NodeDetails": {"InstanceGroupName": "p5-a", "InstanceStatus": {"Status": self._status}}}

    def reset(self) -> None: ...


def start(target: str = TARGET, service: OneNode | None = None, caller: Caller = CALLER, **more: Any) -> dict[str, Any]:
    return SessionManager(service or OneNode()).call("StartSession", {"Target": target, **more}, caller)


@pytest.mark.parametrize("document", [None, SHELL, *DOCUMENTS])
def test_a_running_node_takes_each_known_document(document: str | None) -> None:
    more: dict[str, Any] = {} if document is None else {"DocumentName": document}
    answer = start(**more)
    assert answer.keys() == model("ssm").operation_model("StartSession").output_shape.members.keys()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "target",
    [
        session_target(ID, "p5-a", "i-0123456789abcdef1"),
        session_target(ID, "p5", NODE),
        session_target("abcdefghijkm", "p5-a", NODE),
        NODE,
        f"{TARGET}/x",
    ],
)
def test_another_target_is_not_connected(target: str) -> None:
    with pytest.raises(AwsError, match=r"^TargetNotConnected: .* is not connected"):
        start(target)


@pytest.mark.parametrize("status", ["Pending", "ShuttingDown", "Failure"])
def test_a_node_that_does_not_run_is_not_connected(status: str) -> None:
    with pytest.raises(AwsError, match=r"^TargetNotConnected"):
        start(service=OneNode(status))


def test_what_the_service_cannot_say_is_no_answer() -> None:
    with pytest.raises(AwsError, match=r"^ThrottlingException"):
        start(service=OneNode(code="ThrottlingException"))


def test_a_document_that_is_not_known_is_refused() -> None:
    with pytest.raises(AwsError, match=r"^InvalidDocument: Document with name AWS-Shell does not exist"):
        start(DocumentName="AWS-Shell")


def test_an_id_begins_with_its_owner_and_is_never_too_long() -> None:
    assert start(caller=replace(CALLER, principal="AROA:me"))["SessionId"].startswith("AROA:me-")
    assert len(start(caller=replace(CALLER, principal="x" * 200))["SessionId"]) == 96


def test_the_channel_leads_nowhere_but_to_the_embedded_aws() -> None:
    assert start(caller=replace(CALLER, endpoint="http://127.0.0.1:1"))["StreamUrl"].startswith("ws://127.0.0.1:1/")


def test_an_ended_session_may_be_ended_again() -> None:
    for _ in range(2):
        assert SessionManager(OneNode()).call("TerminateSession", {"SessionId": "me-1"}, CALLER) == {"SessionId": "me-1"}
