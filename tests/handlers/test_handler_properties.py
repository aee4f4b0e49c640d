from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from hyperpod_constructs.custom_resources.handlers.properties import PropertyError, parse


@dataclass(frozen=True)
class Part:
    count: int


@dataclass(frozen=True)
class Whole:
    cluster_name: str
    enabled: bool
    parts: tuple[Part, ...]
    part: Part
    limit: int = 5


GOOD: dict[str, Any] = {
    "ClusterName": "demo",
    "Enabled": "true",
    "Parts": [{"Count": "3"}, {"Count": 4}],
    "Part": {"Count": "0"},
    "ServiceToken": "ignored",
}


def test_strings_become_typed_values() -> None:
    assert parse(Whole, GOOD) == Whole("demo", True, (Part(3), Part(4)), Part(0))
    assert parse(Whole, {**GOOD, "Enabled": "False", "Limit": "7"}).limit == 7


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("ClusterName", "", "property ClusterName is ''; allowed: a text, not empty"),
        ("ClusterName", 3, "property ClusterName is 3; allowed: a text"),
        ("Enabled", "yes", 'property Enabled is \'yes\'; allowed: "true" or "false"'),
        ("Parts", "none", "property Parts is 'none'; allowed: a list"),
        ("Parts", [{"Count": "1"}, {"Count": "x"}], r"property Parts\[1\].Count is 'x'; allowed: a whole number"),
        ("Parts", [{}], r"property Parts\[0\].Count is missing; found: none"),
        ("Part", "x", "property Part is 'x'; allowed: an object"),
        ("Limit", "1.5", "property Limit is '1.5'"),
    ],
)
def test_fails_with_the_path_the_value_and_the_allowed_values(key: str, value: Any, message: str) -> None:
    with pytest.raises(PropertyError, match=message):
        parse(Whole, {**GOOD, key: value})


def test_fails_for_a_missing_property() -> None:
    with pytest.raises(PropertyError, match="property ClusterName is missing; found: Enabled"):
        parse(Whole, {"Enabled": "true"})
