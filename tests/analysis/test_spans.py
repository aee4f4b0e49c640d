"""Spans of time that have ended, or end before they begin."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.spans import WHOLES
from tests.templates.models import by_id, model_of


@pytest.mark.parametrize(
    ("kind", "properties", "wrong"),
    [
        ("Scheduler::Schedule", "EndDate: '2024-01-01T00:00:00Z'", ["EndDate is 2024-01-01T00:00:00, which is over"]),
        ("Scheduler::Schedule", "EndDate: '2044-01-01T00:00:00Z'", []),
        ("Scheduler::Schedule", "StartDate: '2024-01-01T00:00:00Z'", []),
        ("Scheduler::Schedule", "EndDate: !Ref Unknown", []),
        ("Scheduler::Schedule", "EndDate: '01/01/2024'", []),
        ("SSM::MaintenanceWindow", "EndDate: '2023-05-01'", ["EndDate is 2023-05-01, which is over"]),
        ("EC2::CapacityReservation", "EndDate: '2025-05-01T00:00:00Z'", ["EndDate is 2025-05-01T00:00:00, which is over"]),
        (
            "AutoScaling::ScheduledAction",
            "StartTime: '2041-02-01T00:00:00Z', EndTime: '2041-01-01T00:00:00Z'",
            ["EndTime is 2041-01-01T00:00:00, and StartTime 2041-02-01T00:00:00"],
        ),
        ("AutoScaling::ScheduledAction", "StartTime: '2041-01-01T00:00:00Z', EndTime: '2041-02-01T00:00:00Z'", []),
        (
            "ApplicationAutoScaling::ScalableTarget",
            "ScheduledActions: [{EndTime: '2041-02-01'}, {EndTime: '2021-02-01'}]",
            ["EndTime is 2021-02-01, which is over"],
        ),
    ],
)
def test_spans(kind: str, properties: str, wrong: list[str]) -> None:
    model = model_of(
        f"{{Parameters: {{Unknown: {{Type: String}}}}, Resources: {{A: {{Type: 'AWS::{kind}', Properties: {{{properties}}}}}}}}}"
    )
    assert [one.message for one in WHOLES[f"AWS::{kind}"](by_id(model, "A"))] == wrong
