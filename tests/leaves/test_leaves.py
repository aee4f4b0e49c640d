"""Every writable property of the covered types is rendered by a construct, or listed once with the reason why not."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.plan.table import OURS
from tests.leaves.page import counts, main
from tests.leaves.rendered import COVERED, leaves_in, leaves_of, rendered
from tests.leaves.unset import UNSET, covers, reason


def tally() -> str:
    return ", ".join(f"{kind} {done} of {all_}" for kind, done, all_ in counts())


@pytest.mark.parametrize("kind", COVERED)
def test_each_property_is_set_by_a_construct_or_listed_with_a_reason(kind: str) -> None:
    missing = sorted(leaf for leaf in leaves_of(kind) - rendered()[kind] if reason(kind, leaf) is None)
    assert missing == [], f"{tally()}: set them in a construct and in tests/leaves/samples, or list them in tests/leaves/unset.py"


@pytest.mark.parametrize("kind", COVERED)
def test_what_is_listed_is_not_set_after_all(kind: str) -> None:
    done = sorted(leaf for leaf in rendered()[kind] if reason(kind, leaf) is not None)
    assert done == [], f"{tally()}: take them out of tests/leaves/unset.py"


@pytest.mark.parametrize("kind", COVERED)
def test_the_list_names_properties_of_the_schema_once(kind: str) -> None:
    paths = list(UNSET[kind])
    assert [path for path in paths if not any(covers(path, leaf) for leaf in leaves_of(kind))] == []
    assert [path for path in paths if any(covers(other, path) for other in paths if other != path)] == []


@pytest.mark.parametrize("kind", COVERED)
def test_each_property_that_a_construct_sets_has_its_row_in_the_plan(kind: str) -> None:
    rows = [row.path for row in OURS[kind]]
    assert [leaf for leaf in sorted(rendered()[kind]) if not any(covers(path, leaf) for path in rows)] == [], tally()


def test_the_page_is_current() -> None:
    assert main(["--check"]) == 0, tally()


LEAVES = frozenset({"Name", "Groups/*/Size", "Groups/*/Options"})


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"Name": {"Ref": "Parameter"}}, {"Name"}),
        ({"Groups": [{"Size": 1}, {"Options": {}}]}, {"Groups/*/Size", "Groups/*/Options"}),
        ({"Groups": []}, set()),
    ],
)
def test_leaves_of_properties(properties: dict[str, Any], expected: set[str]) -> None:
    assert set(leaves_in(properties, "", LEAVES)) == expected


@pytest.mark.parametrize("properties", [{"Other": 1}, {"Groups": {"Fn::Split": [",", "a"]}}, {"Groups": [{"Ref": "A"}]}])
def test_fails_on_what_is_no_leaf_or_hides_some(properties: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="is no leaf of the schema"):
        set(leaves_in(properties, "", LEAVES))
