"""Values of a plan as its table shows them."""

from __future__ import annotations

import pytest

from hyperpod_constructs.cli.tables import differing


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, ({"b": 2}, {"b": 3})),
        ({"Spot": {}}, {"OnDemand": {}}, ({"Spot": {}}, {"OnDemand": {}})),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, ({"a": {}}, {"a": {"c": 2}})),
        ({"a": None}, {"a": 1}, ({"a": None}, {"a": 1})),
        ([1, {"a": 1}], [1, {"a": 2}], ([{"a": 1}], [{"a": 2}])),
    ],
)
def test_only_what_is_there_and_differs_is_shown(old: object, new: object, shown: tuple[object, object]) -> None:
    assert differing(old, new) == shown
