"""The request of a shell to `hyperpod` at a press of the tab key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HYPERPOD = Path(sys.executable).with_name("hyperpod")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("hyperpod pl", ["plan"]),
        ("hyperpod up", ["update-software"]),
        ("hyperpod health-check --check s", ["stress"]),
        ("hyperpod check --fo", ["--format"]),
        ("hyperpod check --format s", ["sarif"]),
    ],
)
def test_a_shell_is_offered_what_can_follow(typed: str, offered: list[str]) -> None:
    words = typed.split()
    question = {"_HYPERPOD_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}

    result = subprocess.run(  # noqa: S603
        [HYPERPOD], env={**os.environ, **question}, capture_output=True, text=True, check=True
    )

    assert result.stdout.split() == offered
