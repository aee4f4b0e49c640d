"""Links between directories of a file system and prefixes in S3: limits, and the words for mistakes (as of 2026-11-21).

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html
"""

from __future__ import annotations

from hyperpod_constructs.facts.mistake import Mistake, fixed_by

MOST_LINKS = 8
"""Most associations of a file system."""

EMPTIES_BUCKET = "one rm -rf on the file system would empty it for good"
"""The danger of exported deletions for a bucket without versions."""


def too_many() -> Mistake:
    """One association too many for a file system."""
    return Mistake(
        f"a file system takes at most {MOST_LINKS} associations", "link a common parent directory or use a second file system"
    )


def directories_overlap(one: str, two: str) -> bool:
    """Whether two directories are the same, or one is in the other."""
    first, second = (path.rstrip("/") + "/" for path in (one, two))
    return first.startswith(second) or second.startswith(first)


def prefixes_overlap(one: str, two: str) -> bool:
    """Whether an object can be under both prefixes."""
    return one.startswith(two) or two.startswith(one)


@fixed_by("link a directory outside all other linked ones; link / only alone")
def overlapping_directories(name: str, one: str, two: str, owner: str) -> str:
    """Two links to directories that overlap."""
    return f"{name} {one!r} overlaps {two!r} of {owner}"


@fixed_by("link a prefix outside all other linked ones")
def overlapping_prefixes(one: str, two: str, owner: str) -> str:
    """Two links to prefixes that overlap."""
    return f"{one} overlaps {two} of {owner}"


@fixed_by("write the directory from the root of the file system, such as /data")
def relative_directory(name: str, path: str) -> str:
    """A directory without `/` at its start."""
    return f"{name} {path!r} does not start with /"
