"""The life of a custom resource: the parts that all of them share."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.resource import (
    Done,
    Request,
    Resource,
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

    def __init__(self, *, broken: bool = False, stubborn: bool = False) -> None:
        self.broken, self.stubborn = broken, stubborn
        self.parts: list[str] = []

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

    def update(self, physical_id: str, request: Request[Properties]) -> str:
        if self.broken:
            raise RuntimeError("no change possible")
        return physical_id

    def delete(self, physical_id: str) -> None:
        self.parts.clear()

    def created(self, physical_id: str, request: Request[Properties]) -> Waiting | Done:
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
