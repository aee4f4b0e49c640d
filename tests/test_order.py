"""Files that take minutes run first, when files are shared out to several processes."""

from __future__ import annotations

import pytest

from tests.conftest import pytest_collection_modifyitems
from tests.order import SLOW, TESTS

ROOT = TESTS.parent


def test_the_tests_of_this_run_are_in_that_order(request: pytest.FixtureRequest) -> None:
    turns = [item.path.relative_to(TESTS).parts[0] for item in request.session.items]
    slow = [folder for folder in turns if folder in SLOW]
    assert turns[: len(slow)] == slow
    assert slow == sorted(slow, key=SLOW.index)


def test_slow_files_come_first_and_the_others_keep_their_order() -> None:
    class Item:
        def __init__(self, name: str) -> None:
            self.path = TESTS / name

    names = ["attacks/test_a.py", "examples/test_b.py", "lint/test_c.py", "nodes/test_d.py", "nodes/test_e.py", "test_f.py"]
    items = [Item(name) for name in names]
    pytest_collection_modifyitems(items)  # type: ignore[arg-type]
    assert [str(item.path.relative_to(TESTS)) for item in items] == [names[index] for index in (3, 4, 1, 0, 2, 5)]


def test_slow_folders_exist() -> None:
    assert [folder for folder in SLOW if not (TESTS / folder).is_dir()] == []


def test_make_test_keeps_that_order() -> None:
    """By itself the scheduler begins with the files of the most tests, and the slowest have few."""
    recipe = (ROOT / "Makefile").read_text().partition("\ntest:")[2].partition("\n\n")[0]
    assert "--dist loadfile --no-loadscope-reorder" in recipe
