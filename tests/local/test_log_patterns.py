"""Patterns of log filters: what matches, and which values a metric takes from it."""

from __future__ import annotations

import json

import pytest

from hyperpod_constructs.local.monitoring.patterns import PatternError, compiled

AGENT = json.dumps({"level": "info", "details: ": {"reason": "Xid"}, "seconds": 12, "ok": False, "list": [{"a": 1}, {"a": 7}]})
ACCESS = '10.0.0.1 - alice [24/Nov/2026 15:00] "GET /a b" 404 17'


@pytest.mark.parametrize(
    ("pattern", "message", "matches"),
    [
        ("", "anything", True),
        ("ERROR", "an ERROR here", True),
        ("ERROR", "an error here", False),
        ("ERROR disk", "disk: ERROR", True),
        ('"on fire"', "the disk is on fire", True),
        ('"on fire"', "fire on the disk", False),
        ('?"on fire" ?smoke', "smoke", True),
        ("?fire ?smoke", "rain", False),
        ("ERROR -expected", "ERROR: expected", False),
        ("ERROR ?other", "ERROR", True),
        (r'"say \"no\""', 'they say "no"', True),
        ("%ERR(OR)?$%", "an ERR", True),
        ("%ERR$%", "an ERROR", False),
        ('{ $.level = "in*" }', AGENT, True),
        ('{ $.level != "info" }', AGENT, False),
        ('{ $.level = "in?o" }', AGENT, False),
        ("{ $.seconds > 11 && ($.seconds < 5 || $.ok IS FALSE) }", AGENT, True),
        ("{ $.seconds >= 13 }", AGENT, False),
        ("{ $.level > 3 }", AGENT, False),
        ("{ $['details: '].reason = Xid }", AGENT, True),
        ("{ $.list[1].a = 7 }", AGENT, True),
        ("{ $.list[*].a = 7 }", AGENT, True),
        ("{ $.list[0].a = 7 }", AGENT, False),
        ("{ $.missing NOT EXISTS }", AGENT, True),
        ("{ $.missing != 1 }", AGENT, False),
        ("{ $.level = %^in% }", AGENT, True),
        ('{ $.level = "info" }', "no json", False),
        ("[ip, id, user, when, request, status = 4*, size]", ACCESS, True),
        ("[ip, id, user, when, request, status = 5*, size]", ACCESS, False),
        ("[ip = 10.*, ..., size > 16]", ACCESS, True),
        ("[..., size > 17]", ACCESS, False),
        ("[one]", ACCESS, False),
    ],
)
def test_what_matches(pattern: str, message: str, matches: bool) -> None:
    assert (compiled(pattern)(message) is not None) is matches


@pytest.mark.parametrize(
    "pattern",
    [
        '{ $.a = "b"',
        "{ a = 1 }",
        "{ $.a IS MAYBE }",
        "{ $.a = 1 } more",
        "{ ($.a = 1 }",
        "[a b]",
        "[a",
        "[a, , b]",
        '"open',
        "{ $.a }",
    ],
)
def test_fails_to_read(pattern: str) -> None:
    with pytest.raises(PatternError):
        compiled(pattern)


@pytest.mark.parametrize(
    ("pattern", "message", "reference", "value"),
    [
        ("{ $.seconds = * }", AGENT, "$.seconds", "12"),
        ("{ $.seconds = * }", AGENT, "$.list", None),
        ("{ $.seconds = * }", AGENT, "$.none", None),
        ("[..., size]", ACCESS, "$size", "17"),
        ("GET", ACCESS, "1", "1"),
    ],
)
def test_values_of_a_match(pattern: str, message: str, reference: str, value: str | None) -> None:
    match = compiled(pattern)(message)
    assert match is not None
    assert match.value(reference) == value
