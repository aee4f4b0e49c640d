"""The tally of attacks counts each test once, by its boundary, and nothing outside its folder."""

from __future__ import annotations

from tests.attacks.tally import tally


def test_counts_tried_and_withstood_by_boundary() -> None:
    passed = ["tests/attacks/test_web_page.py::a", "tests/attacks/test_web_page.py::b[1]", "tests/test_cluster.py::c"]
    failed = ["tests/attacks/test_web_page.py::d", "tests/attacks/test_web_page.py::d", "tests/attacks/test_user_home.py::e"]
    assert tally(passed, failed) == [
        "user home  tried    1  withstood    0",
        "web page   tried    3  withstood    2",
        "all        tried    4  withstood    2",
    ]


def test_says_nothing_where_no_attack_was_tried() -> None:
    assert tally(["tests/test_cluster.py::c"], []) == []
