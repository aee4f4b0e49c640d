"""The tally of attacks counts each test once, by its boundary, and nothing outside its folder; that of faults adds them up."""

from __future__ import annotations

from tests.attacks.tally import tally
from tests.custom_resources.tally import FAULTS
from tests.custom_resources.tally import tally as faults_of


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


def test_adds_the_faults_of_all_tests() -> None:
    assert faults_of([(FAULTS, (48, 47)), ("seconds", 9), (FAULTS, [2, 2])]) == "custom resources: 50 faults, 49 survived"


def test_says_nothing_where_no_fault_was_tried() -> None:
    assert faults_of([("seconds", 9), (FAULTS, (0, 0))]) is None
