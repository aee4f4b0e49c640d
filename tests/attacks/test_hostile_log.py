"""Hostile text: nodes, their logs and a service's answers reach the reason of a stack and the log of a function."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from hyperpod_constructs.custom_resources.handlers.answers import PAGES
from hyperpod_constructs.custom_resources.handlers.aws import LOOK_SECONDS
from hyperpod_constructs.custom_resources.handlers.errors import MESSAGE_LIMIT, OperationError, describe, fit
from hyperpod_constructs.custom_resources.handlers.readiness_gate import ReadinessGate
from hyperpod_constructs.custom_resources.handlers.redaction import redact
from hyperpod_constructs.custom_resources.handlers.resource import is_complete, on_event

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefabcdef"
NOW = 1_800_000_000.0
INSTANCE = "i-0123456789abcdef0"

CLUSTER = {"ClusterArn": ARN, "ClusterName": "demo", "ClusterStatus": "InService", "InstanceGroups": []}
NODE = {"InstanceGroupName": "controller", "InstanceId": INSTANCE, "InstanceStatus": {"Status": "Failure", "Message": "broken"}}
EVENT = {"EventId": "1", "EventLevel": "Error", "EventTime": datetime.fromtimestamp(NOW, UTC), "Description": "it failed"}


class Service:
    """A service with arbitrary answers, without botocore's own check of them."""

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = {
            "describe_cluster": CLUSTER,
            "list_cluster_nodes": {"ClusterNodeSummaries": [NODE]},
            "list_cluster_events": {"Events": [EVENT]},
            "describe_cluster_event": {
                "EventDetails": {"EventDetails": {"EventMetadata": {"Instance": {"FailureMessage": "script exited with 7"}}}}
            },
            "get_log_events": {"events": [{"message": "the last line"}]},
            **answers,
        }
        self.calls: list[str] = []
        self.now = NOW

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            self.calls.append(operation)
            answer = self.answers[operation]
            if isinstance(answer, Exception):
                raise answer
            return answer(**arguments) if callable(answer) else answer

        return call

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def look(service: Service, *, over: bool = True) -> dict[str, Any]:
    """One look of a gate, after its deadline or long before it."""
    gate = ReadinessGate(lambda _: service, lambda: service.now, service.sleep)
    event = {
        "RequestType": "Create",
        "RequestId": "1",
        "PhysicalResourceId": f"readiness|{ARN}",
        "LogicalResourceId": "TemplateCheck",
        "Started": NOW - 3600,
        "Deadline": NOW if over else NOW + 3600,
        "ResourceProperties": {
            "ClusterArn": ARN,
            "TimeoutSeconds": "3600",
            "Groups": [
                {"Name": "controller", "Minimum": "1", "Count": "2"},
                {"Name": "workers", "Minimum": "0", "Count": "4"},
            ],
        },
    }
    return is_complete(gate, event)


def reason(service: Service) -> str:
    with pytest.raises(OperationError) as failure:
        look(service)
    text = str(failure.value)
    assert len(json.dumps(text, ensure_ascii=False).encode()) <= MESSAGE_LIMIT
    return text


HOSTILE = {
    "colours": "\x1b[31mred\x1b]0;title\x07\x9b2J\x08",
    "a command to the reader": "\n::error::all is lost\r\n::set-output name=x::y",
    "a line like one of ours": "\nnode i-1 of workers: fine\x85cluster demo is ready\u2028ready",
    "letters from right to left": "\u202egnp.exe\u2066\u200b\ufeff",
    "half a character": "\ud800 and \udfff",
    "formats": "%s %d %(message)s {0} {} $(reboot) `reboot` %",
    "ten megabytes": "x" * 10**7,
    "ten megabytes of words": "ab " * (10**7 // 3),
    "ten megabytes of digits": "1" * 10**7,
    "ten megabytes of line feeds": "\n" * 10**7,
    "ten megabytes of quotes": "password='" * 10**6,
    "nul": "\x00" * 1000,
}
SECRET = "MYSQL_PWD=hunter2 IDENTIFIED BY 'hunter2' mysql://root:hunter2@db/x"


def harmless(text: str) -> None:
    assert all(character == "\n" or character.isprintable() for character in text)
    assert not [line for line in text.split("\n") if line.lstrip().startswith(("::", "cluster demo is ready", "node i-1 "))]
    assert "hunter2" not in text
    text.encode()


def places(text: str) -> dict[str, dict[str, Any]]:
    """The entry points of untrusted text."""
    node = {**NODE, "InstanceStatus": {"Status": "Failure", "Message": text}}
    metadata = {"EventDetails": {"EventDetails": {"EventMetadata": {"Instance": {"FailureMessage": text}}}}}
    return {
        "message of a node": {"list_cluster_nodes": {"ClusterNodeSummaries": [node]}},
        "status of a node": {"list_cluster_nodes": {"ClusterNodeSummaries": [{**NODE, "InstanceStatus": {"Status": text}}]}},
        "id of a node": {"list_cluster_nodes": {"ClusterNodeSummaries": [{**NODE, "InstanceId": text}]}},
        "message of an event": {"describe_cluster_event": metadata},
        "description of an event": {"list_cluster_events": {"Events": [{**EVENT, "EventId": None, "Description": text}]}},
        "line of a log": {"get_log_events": {"events": [{"message": text}, {"message": "the last line"}]}},
        "reason of the cluster": {"describe_cluster": {**CLUSTER, "ClusterStatus": "Failed", "FailureMessage": text}},
        "name of the cluster": {"describe_cluster": {**CLUSTER, "ClusterName": text}},
        "status of the cluster": {"describe_cluster": {**CLUSTER, "ClusterStatus": text}},
        "error of a service": {"get_log_events": ClientError({"Error": {"Code": text, "Message": text}}, "GetLogEvents")},
    }


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("place", places(""))
def test_a_text_reaches_the_reason_of_the_stack_clean_short_and_without_secrets(place: str, hostile: str) -> None:
    text = reason(Service(**places(f"{SECRET} {hostile[: 10**5] if place != 'line of a log' else hostile}")[place]))
    harmless(text)
    assert text.startswith("cluster ")
    assert "controller: 0 of 1 Running" in text


@pytest.mark.parametrize(
    "hostile", [text for text in HOSTILE.values() if len(text) < 10**5], ids=[k for k in HOSTILE if "ten" not in k]
)
def test_a_text_reaches_the_log_of_the_function_clean(hostile: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    reason(Service(**places(f"{SECRET} {hostile}")["reason of the cluster"]))
    written = "".join(record.getMessage() for record in caplog.records if record.name == "custom_resource")
    assert "hunter2" not in written
    assert "\x1b" not in written


def test_a_secret_that_a_cut_of_the_line_opens_is_masked_first() -> None:
    line = "x" * 130 + " password='two words and hunter2 that go on for long' end"
    assert "hunter2" not in reason(Service(get_log_events={"events": [{"message": line}]}))


def test_a_private_key_over_many_lines_of_a_log_is_masked() -> None:
    body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
    lines = ["-----BEGIN RSA PRIVATE KEY-----", body, "c2hvcnQ=", "-----END RSA PRIVATE KEY-----", "the last line"]
    text = reason(Service(get_log_events={"events": [{"message": line} for line in lines]}))
    assert text.endswith("| the last line")
    assert "MIIE" not in text
    assert "c2hvcnQ" not in text


NODES_MISSING = [{"ClusterNodeSummaries": None}, {"ClusterNodeSummaries": [None, {}, 3, {"InstanceStatus": None}]}]
STRANGE: list[Any] = [{}, None, [], "text", 7, *NODES_MISSING]


@pytest.mark.parametrize("answer", STRANGE, ids=repr)
@pytest.mark.parametrize(
    "operation", ["describe_cluster", "list_cluster_nodes", "list_cluster_events", "describe_cluster_event", "get_log_events"]
)
def test_an_answer_without_its_members_never_hides_the_shortage(operation: str, answer: Any) -> None:
    text = reason(Service(**{operation: answer}))
    assert "controller: 0 of 1 Running" in text
    assert "workers: ? of 4 present" in text


@pytest.mark.parametrize("member", ["EventId", "EventLevel", "EventTime", "Description", "InstanceId"])
@pytest.mark.parametrize("value", [None, 7, "later", {}])
def test_an_event_without_a_member_is_shown_as_far_as_it_goes(member: str, value: Any) -> None:
    text = reason(Service(list_cluster_events={"Events": [{**EVENT, member: value}]}))
    assert ("it failed" if member == "EventId" and value != "later" else "script exited with 7") in text


@pytest.mark.parametrize("operation", ["list_cluster_events", "describe_cluster_event", "get_log_events"])
@pytest.mark.parametrize("error", [KeyError("Events"), ResponseParserError("<html>"), RecursionError("deep"), OSError("gone")])
def test_an_explanation_that_fails_is_told_beside_the_shortage(operation: str, error: Exception) -> None:
    text = reason(Service(**{operation: error}))
    assert "controller: 0 of 1 Running, 1 Failure" in text
    assert "can be read:" in text or "cannot be read:" in text


def test_a_status_that_nobody_knows_is_shown_and_waited_for() -> None:
    node = {**NODE, "InstanceStatus": {"Status": "Hibernating"}}
    service = Service(
        describe_cluster={**CLUSTER, "ClusterStatus": "Dreaming"}, list_cluster_nodes={"ClusterNodeSummaries": [node]}
    )
    assert look(service, over=False) == {"IsComplete": False}
    assert "cluster demo (Dreaming) is not ready: controller: 0 of 1 Running, 1 Hibernating" in reason(service)


def test_a_thousand_statuses_leave_room_for_the_rest() -> None:
    nodes = [{**NODE, "InstanceStatus": {"Status": f"State{n}"}} for n in range(1000)]
    text = reason(Service(list_cluster_nodes={"ClusterNodeSummaries": nodes}))
    assert "992 of other statuses" in text
    assert "script exited with 7" in text


def test_a_listing_whose_token_comes_again_ends() -> None:
    service = Service(list_cluster_nodes={"ClusterNodeSummaries": [NODE], "NextToken": "again"})
    assert "controller: 0 of 1 Running, 2 Failure, the service's list of nodes does not end" in reason(service)
    assert service.calls.count("list_cluster_nodes") == 2


def test_a_listing_with_ever_new_tokens_ends() -> None:
    tokens = iter(range(10**9))
    service = Service(list_cluster_nodes=lambda **_: {"ClusterNodeSummaries": [], "NextToken": str(next(tokens))})
    assert "the service's list of nodes does not end" in reason(service)
    assert service.calls.count("list_cluster_nodes") == PAGES


def test_a_listing_that_takes_all_the_time_is_left_to_the_next_look() -> None:
    service = Service()
    tokens = iter(range(10**9))

    def slow(**_: Any) -> dict[str, Any]:
        service.now += 10
        return {"ClusterNodeSummaries": [], "NextToken": str(next(tokens))}

    service.answers["list_cluster_nodes"] = slow
    assert look(service, over=False) == {"IsComplete": False}
    assert service.now - NOW <= LOOK_SECONDS + 10


def test_services_that_hang_leave_time_to_tell_the_shortage() -> None:
    """Lambda stops the function after five minutes; the cause would be lost."""
    service = Service()

    def hang(**_: Any) -> dict[str, Any]:
        service.now += 30
        raise TimeoutError("nothing came")

    service.answers.update(list_cluster_events=hang, get_log_events=hang)
    assert "controller: 0 of 1 Running" in reason(service)
    assert service.now - NOW < 170


def test_half_a_character_in_an_answer_does_not_break_the_cut() -> None:
    assert "\ud800" not in redact("\ud800" * 10)
    assert len(fit("\ud800" * 10_000)) < 10_000


def test_causes_in_a_circle_are_described() -> None:
    first, second = RuntimeError("first"), RuntimeError("second")
    first.__cause__, second.__cause__ = second, first
    assert describe(first) == "RuntimeError: second"


def test_the_url_that_answers_cloudformation_never_reaches_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    event = {
        "RequestType": "Create",
        "RequestId": "1",
        "ResponseURL": "https://x.example/?X-Amz-Signature=signed",
        "ResourceProperties": {},
    }
    with pytest.raises(OperationError):
        on_event(ReadinessGate(lambda _: Service()), event)
    assert "signed" not in caplog.text
