"""The files that take longest run first, when files are shared out to several processes."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.conftest import pytest_collection_modifyitems
from tests.order import CHAINS, SECONDS, TESTS, turn, unit, workers

ROOT = TESTS.parent


def test_the_tests_of_this_run_are_in_that_order(request: pytest.FixtureRequest) -> None:
    turns = [turn(item.path) for item in request.session.items]
    assert turns == sorted(turns)


def test_slow_files_come_first_and_the_others_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    class Item:
        def __init__(self, name: str) -> None:
            self.path = TESTS / name

    monkeypatch.setitem(SECONDS, "nodes/test_d.py", 2)
    monkeypatch.setitem(SECONDS, "lint/test_c.py", 3)
    names = ["attacks/test_a.py", "examples/test_b.py", "lint/test_c.py", "nodes/test_d.py", "nodes/test_e.py"]
    items: list[Any] = [Item(name) for name in names]
    pytest_collection_modifyitems(items)
    assert [str(item.path.relative_to(TESTS)) for item in items] == [names[index] for index in (2, 3, 0, 1, 4)]


def test_slow_files_and_chains_exist() -> None:
    names = [*SECONDS, *(name for chain in CHAINS for name in chain)]
    assert [name for name in names if not (TESTS / name).is_file()] == []


def test_every_file_that_starts_jobs_is_in_a_chain() -> None:
    starts = re.compile(r"make_job\b|llama_meshes\.py|training\.submit\(|submit\(training")
    found = {str(path.relative_to(TESTS)) for path in TESTS.rglob("test_*.py") if starts.search(path.read_text("utf-8"))}
    assert found == {name for chain in CHAINS for name in chain} | {"test_order.py"}


def test_files_of_a_chain_are_one_unit_of_work_and_others_their_own() -> None:
    jobs = {unit(f"tests/{name}::test_a[x::y]") for name in CHAINS[0]}
    assert jobs == {CHAINS[0][0]}
    assert unit("tests/nodes/test_rig.py::test_a") == "nodes/test_rig.py"


def test_files_of_a_chain_stand_together_as_long_as_all_of_them() -> None:
    turns = {turn(TESTS / name) for name in CHAINS[0]}
    assert turns == {-sum(SECONDS[name] for name in CHAINS[0])}


def test_make_test_keeps_that_order() -> None:
    """By itself the scheduler begins with the files of the most tests, and the slowest have few."""
    recipe = (ROOT / "Makefile").read_text().partition("\ntest:")[2].partition("\n\n")[0]
    assert "--dist loadfile --no-loadscope-reorder" in recipe


@pytest.mark.parametrize(("cores", "all_tests", "fast"), [(1, 4, 1), (2, 6, 2), (4, 8, 4), (64, 8, 64)])
def test_whole_clusters_wait_so_more_processes_than_cores_run_all_tests(cores: int, all_tests: int, fast: int) -> None:
    assert (workers(cores, fast=False), workers(cores, fast=True)) == (all_tests, fast)
