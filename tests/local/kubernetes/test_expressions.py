"""Rules of definitions are a stranger's programs: they have a limit of time and memory, and cannot end the control plane."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.local.kubernetes import expression_process, expressions

SLOW = "self.l.all(x, self.l.all(y, self.l.all(z, x + y + z >= 0)))"
SPENT = "validation failed due to running out of cost budget, no further validation rules will be run"


def _schema(*rules: str) -> dict[str, Any]:
    items = {"type": "array", "items": {"type": "integer"}}
    return {"type": "object", "properties": {"l": items}, expressions.RULES: [{"rule": rule} for rule in rules]}


def _messages(value: Any, *rules: str) -> list[str]:
    return [cause.message for cause in expressions.broken(_schema(*rules), value, path="spec")]


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little time, so that the tests take little."""
    monkeypatch.setattr(expression_process, "SECONDS", 0.3)


def test_a_rule_has_a_limit_of_time() -> None:
    """No rule after it is evaluated, and the next object is judged as ever."""
    start = time.process_time()
    assert _messages({"l": [*range(300)]}, SLOW, "self.l.size() < 0") == [f'Invalid value: "object": {SPENT}']
    assert time.process_time() - start < 1
    assert _messages({"l": [1]}, SLOW, "self.l.size() < 0") == ['Invalid value: "object": failed rule: self.l.size() < 0']


def test_many_rules_share_the_limit() -> None:
    """Each alone would hold."""
    schema = {"type": "array", "items": _schema("self.l.all(x, self.l.all(y, x + y >= 0))")}
    found = list(expressions.broken(schema, [{"l": [*range(300)]}] * 100, path="spec"))
    assert [cause.message for cause in found] == [f'Invalid value: "array": {SPENT}']


@pytest.mark.parametrize(
    "rule",
    [
        "(" * 40_000 + "1" + ")" * 40_000,
        "true" + " && true" * 12_000,
        "[1].map(a, " * 2_000 + "1" + ")" * 2_000 + " == 1",
        "'aaaaaaaaaa'" + ".replace('a', 'aaaaaaaaaa')" * 12 + " == ''",
        "x" * 100_001,
    ],
    ids=["deep", "wide", "nested", "large", "long"],
)
def test_no_rule_ends_the_control_plane(rule: str) -> None:
    """To read or to evaluate it may end the worker, and the next one works."""
    schema = _schema(rule)
    reasons = list(expressions.unreadable(schema))
    causes = list(expressions.broken(schema, {"l": [1]}))
    assert reasons or causes or rule.startswith("true")
    assert _messages({"l": [1]}, "self.l.size() == 1") == []


def test_a_rule_about_the_item_before_takes_time_by_the_length_of_its_list() -> None:
    """Not by its square."""
    item = {"type": "object", "properties": {"k": {"type": "string"}}}
    schema = {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]}
    value = [{"k": str(number)} for number in range(20_000)]
    start = time.process_time()
    assert list(expressions.broken(schema, value, value[::-1])) == []
    assert time.process_time() - start < 3


def test_the_worker_has_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No secret is there to be found."""
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setattr(expression_process, "_WORKER", expression_process._Worker())
    assert _messages({"l": [1]}, "self.l.size() == 1") == []
    process = expression_process._WORKER._process
    assert process is not None
    assert b"SECRET" not in Path(f"/proc/{process.pid}/environ").read_bytes()
    expression_process._WORKER._end()
