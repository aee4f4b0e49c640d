"""Runtimes of Lambda: each that the API takes is supported, deprecated or blocked."""

from __future__ import annotations

from hyperpod_constructs.facts.lambda_runtimes import BLOCKED_RUNTIMES, DEPRECATED_RUNTIMES, RUNTIME_FAMILIES, RUNTIMES
from tests.local.hyperpod_requests import model


def test_the_runtimes_of_the_api_are_known() -> None:
    found = {name for name in model("lambda").shape_for("Runtime").metadata["enum"] if name.startswith(RUNTIME_FAMILIES)}
    assert found - {*RUNTIMES, *DEPRECATED_RUNTIMES, *BLOCKED_RUNTIMES} == set()


def test_a_runtime_is_one_thing() -> None:
    assert not {*RUNTIMES} & {*DEPRECATED_RUNTIMES, *BLOCKED_RUNTIMES}
    assert all(name.startswith(RUNTIME_FAMILIES) for name in RUNTIMES)
