"""The life of a custom resource: the parts that all of them share."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.custom_resources.handlers.aws import SETTLE_SECONDS
from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.resource import (
    Done,
    Replace,
    Request,
    Resource,
    Started,
    Undo,
    Waiting,
    is_complete,
    on_event,
)

from .conftest import ARN

Event = Callable[..., dict[str, Any]]


@dataclass(frozen=True)
class Properties:
    cluster_arn: str


class Thing(Resource[Properties]):
    """A resource of two parts; if `broken`, the second cannot be made."""

    properties = Properties

    def __init__(self, *, broken: bool = False, stubborn: bool = False, other: bool = False) -> None:
        super().__init__(clock=lambda: self.time)
        self.time = 0.0
        self.busy: Exception | None = None
        self.broken, self.stubborn, self.other = broken, stubborn, other
        self.parts: list[str] = []
        self.last: Request[Properties] | None = None

    def create(self, request: Request[Properties], undo: Undo) -> str:
        for part in ("first", "second"):
            self.parts.append(part)
            undo.push(part, lambda part=part: self._remove(part))  # type: ignore[misc]  # mypy cannot infer a lambda's default
        if self.broken:
            raise RuntimeError("third part refused") from KeyError("the leaf")
        return f"thing|{request.request_id}"

    def _remove(self, part: str) -> None:
        if self.stubborn and part == "second":
            raise RuntimeError("second part stays")
        self.parts.remove(part)

    def update(self, physical_id: str, request: Request[Properties]) -> str | Started:
        if self.other:
            raise Replace
        if self.broken:
            raise RuntimeError("no change possible")
        before = "nothing" if request.previous is None else request.previous.cluster_arn
        return Started(physical_id, {"Before": before})

    def delete(self, physical_id: str) -> None:
        self.parts.clear()

    def end(self, physical_id: str, request: Request[Properties] | None) -> None:
        self.last = request
        super().end(physical_id, request)

    def updated(self, physical_id: str, request: Request[Properties]) -> Waiting | Done:
        self._answer()
        return Done({"Updated": physical_id})

    def deleted(self, physical_id: str) -> bool:
        self._answer()
        return True

    def _answer(self) -> None:
        if self.busy is not None:
            raise self.busy

    def created(self, physical_id: str, request: Request[Properties]) -> Waiting | Done:
        self._answer()
        return Done({"Arn": request.properties.cluster_arn})


def test_creation_keeps_its_parts_and_returns_attributes(event: Event) -> None:
    thing = Thing()
    answer = on_event(thing, event())
    assert answer["PhysicalResourceId"] == "thing|request-1"
    assert thing.parts == ["first", "second"]
    assert is_complete(thing, {**event(), **answer}) == {"IsComplete": True, "Data": {"Arn": ARN}}


def test_failed_creation_removes_its_parts_and_raises_the_leaf_cause(event: Event) -> None:
    thing = Thing(broken=True)
    with pytest.raises(OperationError, match="the leaf"):
        on_event(thing, event())
    assert thing.parts == []


def test_failed_clean_up_is_logged_and_hides_neither_the_cause_nor_the_other_parts(
    event: Event, caplog: pytest.LogCaptureFixture
) -> None:
    thing = Thing(broken=True, stubborn=True)
    with pytest.raises(OperationError, match=r"the leaf.*; not removed: second: RuntimeError: second part stays"):
        on_event(thing, event())
    assert thing.parts == ["second"]
    assert "second part stays" in caplog.text


def test_fails_update_of_a_resource_that_has_no_report(event: Event) -> None:
    with pytest.raises(OperationError, match="no change possible"):
        on_event(Thing(broken=True), event("Update"))


def test_reason_names_the_log_group(event: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_LAMBDA_LOG_GROUP_NAME", "the-group")
    with pytest.raises(OperationError, match=r"\(log group the-group\)"):
        on_event(Thing(broken=True), event())


def test_log_of_a_failure_shows_where_but_no_values(event: Event, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with pytest.raises(OperationError):
        on_event(Thing(broken=True), event())
    assert "in create" in caplog.text
    assert "presigned" not in caplog.text


def test_an_update_knows_the_properties_before_it_and_adds_attributes_of_its_start(event: Event) -> None:
    thing, update = Thing(), event("Update", OldResourceProperties={"ClusterArn": "before"})
    started = {**update, **on_event(thing, update)}
    assert is_complete(thing, started)["Data"] == {"Before": "before", "Updated": "old"}


@pytest.mark.parametrize("old", [{}, {"ClusterArn": ["a", "list"]}, None])
def test_old_properties_of_another_shape_stop_no_update(event: Event, old: object) -> None:
    update = event("Update", **({} if old is None else {"OldResourceProperties": old}))
    assert on_event(Thing(), update)["Attributes"] == {"Before": "nothing"}


def test_an_update_to_another_resource_is_a_creation(event: Event) -> None:
    thing = Thing(other=True)
    started = {**event("Update"), **on_event(thing, event("Update"))}
    assert started["PhysicalResourceId"] == "thing|request-1"
    assert is_complete(thing, started)["Data"] == {"Arn": ARN}


def test_a_failed_creation_of_another_resource_in_an_update_removes_its_parts(event: Event) -> None:
    thing = Thing(other=True, broken=True)
    with pytest.raises(OperationError, match="the leaf"):
        on_event(thing, event("Update"))
    assert thing.parts == []


THROTTLED = ClientError({"Error": {"Code": "ThrottlingException"}}, "DescribeThing")
UNSETTLED = ClientError({"Error": {"Code": "AccessDeniedException"}}, "DescribeThing")


@pytest.mark.parametrize("kind", ["Create", "Update", "Delete"])
@pytest.mark.parametrize("error", [THROTTLED, UNSETTLED])
def test_a_look_that_meets_an_error_that_passes_is_repeated(event: Event, kind: str, error: Exception) -> None:
    thing = Thing()
    started = {**event(kind), "PhysicalResourceId": "thing", "Started": 0.0, "Deadline": 1000.0}
    thing.busy = error
    assert is_complete(thing, started) == {"IsComplete": False}
    thing.busy = None
    assert is_complete(thing, started)["IsComplete"]


@pytest.mark.parametrize("kind", ["Create", "Update", "Delete"])
@pytest.mark.parametrize(
    ("error", "time"), [(THROTTLED, 5000.0), (UNSETTLED, SETTLE_SECONDS), (ValueError("wrong"), 0.0), (OperationError("lost"), 0.0)]
)
def test_a_look_fails_at_the_deadline_and_for_an_error_that_stays(event: Event, kind: str, error: Exception, time: float) -> None:
    thing = Thing()
    thing.busy, thing.time = error, time
    with pytest.raises(OperationError):
        is_complete(thing, {**event(kind), "PhysicalResourceId": "thing", "Started": 0.0, "Deadline": 1000.0})


def test_a_provider_that_does_not_wait_shows_the_error_that_would_pass(event: Event) -> None:
    thing = Thing()
    thing.at_once, thing.busy = True, THROTTLED
    with pytest.raises(OperationError, match="ThrottlingException"):
        on_event(thing, event())


def test_a_deletion_knows_the_last_properties(event: Event) -> None:
    thing = Thing()
    assert is_complete(thing, {**event("Delete"), **on_event(thing, event("Delete"))}) == {"IsComplete": True}
    assert thing.last is not None
    assert thing.last.properties.cluster_arn == ARN


def test_a_deletion_works_without_readable_properties(event: Event) -> None:
    thing = Thing()
    delete = event("Delete", ResourceProperties={"ClusterArn": ["odd"]})
    assert is_complete(thing, {**delete, **on_event(thing, delete)}) == {"IsComplete": True}
    assert thing.last is None


def test_a_provider_that_does_not_wait_gets_the_attributes_at_once(event: Event) -> None:
    thing = Thing()
    thing.at_once = True
    assert on_event(thing, event()) == {"PhysicalResourceId": "thing|request-1", "Data": {"Arn": ARN}}
    assert on_event(thing, event("Delete"))["PhysicalResourceId"] == "old"


def test_fails_when_the_operation_is_not_complete_at_once(event: Event) -> None:
    thing = Thing()
    thing.at_once = True
    thing.created = lambda physical_id, request: Waiting("for a while")  # type: ignore[method-assign]
    with pytest.raises(OperationError, match="the operation is not complete, and its provider does not wait"):
        on_event(thing, event())
