"""The cost of the LZ penalty, as the benchmark prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import penalty
from bench.children import ChildError
from tests.examples.jobs import find_python


def test_a_step_with_the_penalty_is_measured_beside_those_without() -> None:
    found = penalty.measure(turns=3, python=find_python())
    assert {len(seconds) for seconds in found.values()} == {3}
    assert min(second for seconds in found.values() for second in seconds) > 0
    text = "\n".join(penalty.table(found))
    for words in ("lz / sampling", "lz / repetition", "lz / frequency", "lz alone"):
        assert words in text


def test_fails_without_the_environment_of_the_jobs(tmp_path: Path) -> None:
    with pytest.raises(ChildError, match=r"setup_nodes\.sh"):
        penalty.measure(python=tmp_path / "none")
