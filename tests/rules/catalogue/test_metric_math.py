"""Calls in metric math: functions that it has, each with as many arguments as it takes."""

from __future__ import annotations

import pytest

from tests.rules.catalogue.templates import findings
from tests.rules.catalogue.text_bases import resource


def _found(expression: str) -> list[str]:
    stat = {"Metric": {"Namespace": "Research", "MetricName": "Loss"}, "Period": 300, "Stat": "Average"}
    metrics = [{"Id": name, "MetricStat": stat, "ReturnData": False} for name in ("m1", "m2")]
    alarm = resource(
        "AWS::CloudWatch::Alarm",
        Metrics=[*metrics, {"Id": "e1", "Expression": expression, "ReturnData": True}],
        EvaluationPeriods=3,
        Threshold=1,
        ComparisonOperator="GreaterThanThreshold",
    )
    return [one.message for one in findings({"Resources": {"Alarm": alarm}}, rules="HP-TXT-003")]


@pytest.mark.parametrize(
    "expression",
    [
        *(
            "IF(m1 > 5 AND m2 < 3, 1, 0)",
            "FILL(m1, 0)",
            "FILL(m1, LINEAR)",
            "FILL(m1, AVG(m1))",
            "FILL(METRICS('m'), REPEAT) + m1",
            "SUM([m1, m2])",
            "MAX(METRICS())",
        ),
        *("(m1 + m2) / PERIOD(m1)", "RATE(m1) * 60", "IF((m1 > 1) OR (m2 > 1), 1, 0)", "ANOMALY_DETECTION_BAND(m1)"),
    ],
)
def test_functions_are_called_as_they_are(expression: str) -> None:
    assert _found(expression) == []


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("AVERAGE(m1)", "metric math has no function AVERAGE"),
        ("FIL(m1, 0)", "the nearest is FILL"),
        ("IF(m1 > 5)", "calls IF with 1 arguments"),
        ("FILL(m1)", "calls FILL with 1 arguments"),
        ("FILL(m1, ZERO)", "fills with ZERO"),
        ("100 * FILL(METRICS('m'), REPEATED) / m2", "fills with REPEATED"),
        ("PERIOD()", "calls PERIOD with 0 arguments"),
        ("SUM(RATE(m1, 60))", "calls RATE with 2 arguments"),
    ],
)
def test_fails_call_that_is_not_taken(expression: str, message: str) -> None:
    (found,) = _found(expression)
    assert message in found
