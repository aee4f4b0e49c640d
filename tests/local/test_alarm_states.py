"""States of metric alarms: periods, M of N, and missing data."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.local.monitoring.alarms import ALARM, OK, UNKNOWN, Points, evaluated

NOW = 10_000.0


def alarm(**members: Any) -> dict[str, Any]:
    plain = {
        "Period": 60,
        "EvaluationPeriods": 3,
        "Threshold": 5.0,
        "ComparisonOperator": "GreaterThanThreshold",
        "TreatMissingData": "missing",
    }
    return {**plain, **members}


def points(*values: float | None) -> list[dict[str, Any]]:
    """One point in each period, the newest first; `None` leaves a period without one."""
    return [
        {"Timestamp": NOW - 60 * age - 30, "Value": value, "Unit": "Count"} for age, value in enumerate(values) if value is not None
    ]


def highest(period: Points) -> float | None:
    return max((point["Value"] for point in period), default=None)


def state(given: dict[str, Any], found: Points) -> str | None:
    new = evaluated(given, found, NOW, highest)
    return None if new is None else new.value


@pytest.mark.parametrize(
    ("comparison", "value", "expected"),
    [
        ("GreaterThanThreshold", 5, OK),
        ("GreaterThanOrEqualToThreshold", 5, ALARM),
        ("LessThanThreshold", 5, OK),
        ("LessThanOrEqualToThreshold", 5, ALARM),
        ("LessThanLowerThreshold", 1, None),
    ],
)
def test_comparisons(comparison: str, value: float, expected: str | None) -> None:
    assert state(alarm(ComparisonOperator=comparison, EvaluationPeriods=1), points(value)) == expected


@pytest.mark.parametrize(
    ("values", "needed", "expected"),
    [((9, 9, 9), 3, ALARM), ((9, 9, 1), 3, OK), ((9, 1, 9), 2, ALARM), ((1, 1, 1, 9, 9, 9), 1, OK)],
)
def test_so_many_of_so_many_periods(values: tuple[float, ...], needed: int, expected: str) -> None:
    assert state(alarm(DatapointsToAlarm=needed), points(*values)) == expected


@pytest.mark.parametrize(
    ("treatment", "values", "expected"),
    [
        ("missing", (), UNKNOWN),
        ("missing", (None, 9, None), ALARM),
        ("missing", (None, 1, None), OK),
        ("notBreaching", (), OK),
        ("notBreaching", (9, None, 9), OK),
        ("breaching", (), ALARM),
        ("breaching", (None, 9, None), ALARM),
        ("breaching", (None, 1, None), OK),
        ("ignore", (), None),
        ("ignore", (None, 1, 1), None),
        ("ignore", (9, 9, 9), ALARM),
    ],
)
def test_missing_data(treatment: str, values: tuple[float | None, ...], expected: str | None) -> None:
    assert state(alarm(TreatMissingData=treatment), points(*values)) == expected


def test_points_of_another_unit_do_not_count() -> None:
    assert state(alarm(Unit="Percent", TreatMissingData="notBreaching"), points(9, 9, 9)) == OK


def test_the_reason_names_the_values() -> None:
    new = evaluated(alarm(TreatMissingData="notBreaching"), points(9, None, 7), NOW, highest)
    assert new is not None
    assert new.reason == "Threshold Crossed: 2 of [9, 7], 1 missing: GreaterThanThreshold 5"
