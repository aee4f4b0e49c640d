"""The gate's handler against stubbed services and a clock that stands still."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_constructs.custom_resources.handlers.errors import MESSAGE_LIMIT, OperationError
from hyperpod_constructs.custom_resources.handlers.resource import RESERVE_SECONDS, is_complete, on_event

from .conftest import ARN, START, Aws, Clock

Event = Callable[..., dict[str, Any]]
INSTANCE = "i-00000000000000000"


def started(aws: Aws, event: dict[str, Any]) -> dict[str, Any]:
    """The waiter's event, merged from the two like in the Provider framework."""
    return {**event, **on_event(aws.gate, event, aws.clock)}


def finish(aws: Aws, waiting: dict[str, Any]) -> dict[str, Any]:
    return is_complete(aws.gate, waiting)


def test_is_complete_when_controller_runs(aws: Aws, event: Event) -> None:
    aws.cluster()
    aws.nodes("controller", "Running")
    answer = finish(aws, started(aws, event()))
    assert answer["IsComplete"] is True
    assert answer["Data"]["Ready"] == "true"
    assert "workers: 2 of 4 present, not waited for" in answer["Data"]["Message"]


def test_physical_id_is_the_cluster_and_the_same_when_sent_again(aws: Aws, event: Event) -> None:
    first, again = on_event(aws.gate, event(), aws.clock), on_event(aws.gate, event(), aws.clock)
    assert first["PhysicalResourceId"] == again["PhysicalResourceId"] == f"readiness|{ARN}"


def test_waits_without_data_until_workers_run(aws: Aws, event: Event) -> None:
    waiting = started(aws, event(workers="3"))
    aws.cluster()
    aws.nodes("controller", "Running")
    aws.nodes("workers", "Running", "Pending", "Pending")
    assert finish(aws, waiting) == {"IsComplete": False}
    aws.cluster()
    aws.nodes("controller", "Running")
    aws.nodes("workers", "Running", "Running", "Running")
    assert finish(aws, waiting)["IsComplete"] is True


def test_counts_over_pages_and_stops_when_enough_run(aws: Aws, event: Event) -> None:
    aws.cluster()
    aws.nodes("controller", "Running")
    aws.nodes("workers", "Running", "Pending", token="2")
    aws.nodes("workers", "Running", "Running", token="3", after="2")
    assert finish(aws, started(aws, event(workers="3")))["IsComplete"] is True


def test_does_not_count_nodes_of_a_group_with_a_longer_name(aws: Aws, event: Event) -> None:
    aws.cluster()
    aws.nodes("controller", "Running", listed="controller-2")
    assert finish(aws, started(aws, event()))["IsComplete"] is False


def test_fails_at_the_deadline_with_the_cause_of_the_service(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event())
    clock.now = START + 3600 - RESERVE_SECONDS
    aws.cluster()
    aws.nodes("controller", "Failure", message="lifecycle scripts failed")
    aws.events(60)
    aws.events(60, 90)
    aws.event("Lifecycle script exited with 7", index=0)
    aws.event("Lifecycle script exited with 7", index=1)
    aws.log(f"LifecycleConfig/controller/{INSTANCE}", "step mount", "password=hunter2", "\x1b[31mno route to fs-1\x1b[0m")
    with pytest.raises(OperationError) as failure:
        finish(aws, waiting)
    text = str(failure.value)
    assert "controller: 0 of 1 Running, 1 Failure" in text
    assert "after 57 min" in text
    assert text.count("Lifecycle script exited with 7") == 1
    assert f"node {INSTANCE} of controller: lifecycle scripts failed" in text
    assert text.endswith("no route to fs-1")
    assert "hunter2" not in text


def test_fails_with_capacity_as_cause_when_no_node_exists(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event(workers="4"))
    clock.now = START + 3600
    aws.cluster()
    aws.nodes("controller", "Running")
    aws.nodes("workers")
    aws.events(60)
    aws.event("insufficient capacity for ml.trn1.32xlarge", part="InstanceGroupScaling")
    with pytest.raises(OperationError, match=r"workers: 0 of 4 Running.*\n.*insufficient capacity for ml"):
        finish(aws, waiting)


def test_reads_the_log_of_a_node_that_only_an_event_names(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event())
    clock.now = START + 3600
    aws.cluster()
    aws.nodes("controller", "Pending")
    aws.events(60, instance="i-0123456789abcdef0")
    aws.event("script failed")
    aws.log("LifecycleConfig/controller/i-0123456789abcdef0", "the last line")
    with pytest.raises(OperationError, match="the last line"):
        finish(aws, waiting)


def test_says_what_it_could_not_read(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event())
    clock.now = START + 3600
    aws.cluster()
    aws.nodes("controller", "Failure")
    aws.refuse("list_cluster_events", "ValidationException")
    aws.refuse("list_cluster_events", "ValidationException")
    aws.refuse("get_log_events", "ResourceNotFoundException", service="logs")
    with pytest.raises(OperationError) as failure:
        finish(aws, waiting)
    assert "the events of controller cannot be read: ListClusterEvents: ValidationException" in str(failure.value)
    assert "cannot be read: GetLogEvents: ResourceNotFoundException" in str(failure.value)


def test_one_failed_node_is_no_reason_to_fail_early(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event())
    clock.now = START + 1200
    aws.cluster()
    aws.nodes("controller", "Failure")
    aws.events(899)
    assert finish(aws, waiting)["IsComplete"] is False


def test_nodes_that_wait_for_capacity_are_seen_and_waited_for(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event(workers="3"))
    clock.now += 3000
    aws.cluster()
    aws.nodes("controller", "Running")
    aws.nodes("workers", "Running", "Failure", "Pending", launched=1)
    assert finish(aws, waiting) == {"IsComplete": False}


def test_a_cluster_that_is_not_continuous_is_asked_for_its_instances_only(aws: Aws, event: Event) -> None:
    aws.continuous = False
    aws.cluster()
    aws.nodes("controller", "Running")
    assert finish(aws, started(aws, event()))["IsComplete"] is True


def test_failed_node_is_waited_for_while_another_is_on_its_way(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event())
    clock.now = START + 1200
    aws.cluster()
    aws.nodes("controller", "Failure", "Pending")
    assert finish(aws, waiting)["IsComplete"] is False


def test_fails_early_when_a_failed_group_has_had_no_event_for_long(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event())
    clock.now = START + 1200
    aws.cluster()
    aws.nodes("controller", "Failure")
    aws.events(901)
    aws.events(901)
    aws.event("script failed")
    aws.log(f"LifecycleConfig/controller/{INSTANCE}")
    with pytest.raises(OperationError, match="script failed"):
        finish(aws, waiting)


def test_fails_at_once_when_the_cluster_has_failed(aws: Aws, event: Event) -> None:
    aws.cluster("Failed", FailureMessage="the subnet is full")
    aws.nodes("controller")
    with pytest.raises(OperationError, match="the subnet is full"):
        finish(aws, started(aws, event()))


def test_reason_fits_into_the_answer_to_cloudformation(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event())
    clock.now = START + 3600
    aws.cluster()
    aws.nodes("controller", "Failure", message="ä" * 4000)
    aws.events(60)
    aws.events(60)
    aws.event('"' * 4000)
    aws.log(f"LifecycleConfig/controller/{INSTANCE}", *["x" * 400] * 15, "the very last line")
    with pytest.raises(OperationError) as failure:
        finish(aws, waiting)
    assert len(str(failure.value).encode()) <= MESSAGE_LIMIT
    assert str(failure.value).startswith("cluster demo")
    assert str(failure.value).endswith("the very last line")


def test_update_that_misses_its_target_succeeds_and_says_so(
    aws: Aws, clock: Clock, event: Event, caplog: pytest.LogCaptureFixture
) -> None:
    waiting = started(aws, event("Update", workers="4"))
    clock.now = START + 3600 - RESERVE_SECONDS
    aws.cluster()
    aws.nodes("controller", "Running")
    aws.nodes("workers", "Running", "Running")
    aws.events(60)
    aws.event("insufficient capacity")
    answer = finish(aws, waiting)
    assert answer["IsComplete"] is True
    assert answer["Data"]["Ready"] == "false"
    assert "workers: 2 of 4 Running" in answer["Data"]["Message"]
    assert "insufficient capacity" in answer["Data"]["Message"]
    assert any(record.levelno == logging.WARNING and "insufficient capacity" in record.message for record in caplog.records)


def test_update_waits_until_its_deadline(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event("Update", workers="4"))
    clock.now = START + 3600 - RESERVE_SECONDS - 1
    aws.cluster()
    aws.nodes("controller", "Running")
    aws.nodes("workers", "Running")
    assert finish(aws, waiting)["IsComplete"] is False


@pytest.mark.parametrize("broken", [{}, {"TimeoutSeconds": "soon"}, {"TimeoutSeconds": "3600", "Groups": "none"}])
def test_update_with_properties_of_another_version_succeeds(aws: Aws, event: Event, broken: dict[str, Any]) -> None:
    update = event("Update", ResourceProperties=broken)
    waiting = started(aws, update)
    assert waiting["PhysicalResourceId"] == "old"
    answer = finish(aws, waiting)
    assert answer["IsComplete"] is True
    assert answer["Data"]["Ready"] == "false"
    assert "property" in answer["Data"]["Message"]


def test_update_that_may_not_read_the_cluster_succeeds(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event("Update"))
    clock.now = START + 600
    aws.refuse("describe_cluster", "AccessDeniedException")
    answer = finish(aws, waiting)
    assert answer["Data"]["Ready"] == "false"
    assert "DescribeCluster: AccessDeniedException" in answer["Data"]["Message"]


def test_fails_creation_with_broken_properties(aws: Aws, event: Event) -> None:
    broken = event()
    broken["ResourceProperties"]["Groups"][0]["Minimum"] = "some"
    with pytest.raises(OperationError, match=r"property Groups\[0\].Minimum is 'some'; allowed: a whole number"):
        on_event(aws.gate, broken, aws.clock)


def test_new_permissions_get_time_to_settle(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event())
    aws.refuse("describe_cluster", "AccessDeniedException")
    assert finish(aws, waiting)["IsComplete"] is False
    clock.now = START + 181
    aws.refuse("describe_cluster", "AccessDeniedException")
    with pytest.raises(OperationError, match="DescribeCluster: AccessDeniedException: AccessDeniedException it is"):
        finish(aws, waiting)


def test_throttling_is_retried_within_one_look_and_then_waited_out(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event())
    for _ in range(3):
        aws.refuse("describe_cluster", "ThrottlingException")
    aws.cluster()
    aws.nodes("controller", "Running")
    assert finish(aws, waiting)["IsComplete"] is True
    assert clock.slept == [1.0, 2.0, 4.0]
    for _ in range(7):
        aws.refuse("describe_cluster", "ThrottlingException")
    assert finish(aws, waiting)["IsComplete"] is False


def test_fails_with_throttling_as_cause_when_it_never_ends(aws: Aws, clock: Clock, event: Event) -> None:
    waiting = started(aws, event())
    clock.now = START + 3600
    for _ in range(7):
        aws.refuse("describe_cluster", "ServiceUnavailable", 503)
    with pytest.raises(OperationError, match="ServiceUnavailable"):
        finish(aws, waiting)


@pytest.mark.parametrize("physical_id", ["old", f"readiness|{ARN}"])
def test_delete_does_nothing_and_needs_no_properties(aws: Aws, event: Event, physical_id: str) -> None:
    delete = event("Delete", PhysicalResourceId=physical_id, ResourceProperties={})
    answer = on_event(aws.gate, delete, aws.clock)
    assert answer == {"PhysicalResourceId": physical_id}
    assert is_complete(aws.gate, {**delete, **answer}) == {"IsComplete": True}


def test_log_has_neither_the_response_url_nor_secrets(aws: Aws, event: Event, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    waiting = started(aws, event())
    aws.cluster("Failed", FailureMessage="api_key=abc123 https://x.example/?a=1&X-Amz-Credential=q")
    aws.nodes("controller")
    with pytest.raises(OperationError):
        finish(aws, waiting)
    written = "\n".join(record.getMessage() for record in caplog.records if record.name == "custom_resource")
    assert "Create Gate" in written
    assert not [secret for secret in ("presigned", "abc123", "X-Amz", "AKID") if secret in written]


def test_answer_comes_before_cloudformation_stops_waiting(aws: Aws, event: Event) -> None:
    long = event()
    long["ResourceProperties"]["TimeoutSeconds"] = "7200"
    assert on_event(aws.gate, long, aws.clock)["Deadline"] == START + 3600 - RESERVE_SECONDS
