"""Schedules: their times by the examples of the guide, and expressions that are refused."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hyperpod_constructs.facts.software_updates import schedule_mistake
from hyperpod_constructs.local.hyperpod import cron

START = datetime(2027, 1, 15, 8, 0, tzinfo=UTC).timestamp()  # a Friday


def times(expression: str, count: int = 2) -> list[str]:
    schedule, second, found = cron.schedule(expression), START, []
    for _ in range(count):
        following = schedule.after(second)
        if following is None:
            break
        found.append(datetime.fromtimestamp(following, UTC).isoformat(" ", "minutes")[:16])
        second = following
    return found


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("cron(30 14 15 12 ? 2027)", ["2027-12-15 14:30"]),
        ("cron(30 14 ? 2 MON 2027)", ["2027-02-01 14:30", "2027-02-08 14:30"]),
        ("cron(00 12 ? * 1 *)", ["2027-01-18 12:00", "2027-01-25 12:00"]),
        ("cron(30 12 15 * ? *)", ["2027-01-15 12:30", "2027-02-15 12:30"]),
        ("cron(0 8 15 * ? *)", ["2027-02-15 08:00", "2027-03-15 08:00"]),
        ("cron(30 12 15 */3 ? *)", ["2027-01-15 12:30", "2027-04-15 12:30"]),
        ("cron(30 12 ? * 1#2 *)", ["2027-02-08 12:30", "2027-03-08 12:30"]),
        ("cron(30 12 ? * 5L *)", ["2027-01-29 12:30", "2027-02-26 12:30"]),
        ("cron(30 12 ? * 5#5 *)", ["2027-01-29 12:30", "2027-04-30 12:30"]),
        ("cron(30 12 ? * L *)", ["2027-01-17 12:30", "2027-01-24 12:30"]),
        ("cron(0 0 29 2 ? *)", ["2028-02-29 00:00", "2032-02-29 00:00"]),
        ("cron(0 0 31 2 ? *)", []),
        ("cron(0 0 1 1 ? 2026)", []),
    ],
)
def test_the_times_of_a_schedule(expression: str, found: list[str]) -> None:
    assert schedule_mistake(expression) is None
    assert times(expression) == found


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("cron(0 12 * * ? *)", "allowed: cron"),
        ("cron(60 12 ? * SUN *)", "allowed: cron"),
        ("cron(0 12 ? * SUN 2019)", "allowed: cron"),
        ("rate(1 day)", "allowed: cron"),
        ("x cron(0 12 ? * SUN *)", "allowed: cron"),
        ("cron(0 12 ? * SUN *) ", "allowed: cron"),
        ("cron(0 12 1 * SUN *)", "needs either a day of the month"),
        ("cron(0 12 ? * ? *)", "needs either a day of the month"),
        ("cron( 12 ? * SUN *)", "needs either a day of the month"),
        ("", "allowed: cron"),
    ],
)
def test_fails_with_another_expression(expression: str, why: str) -> None:
    assert why in str(schedule_mistake(expression))
