"""In which order files of tests run: those that take minutes first, or one is left over while the other cores stand idle."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
SLOW = ("nodes", "deploy", "examples")


def turn(path: Path) -> int:
    """Files of lower turns come first, in one turn they keep their order."""
    folder = path.relative_to(TESTS).parts[0]
    return SLOW.index(folder) if folder in SLOW else len(SLOW)
