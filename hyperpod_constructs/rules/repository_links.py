"""Links between directories of a file system and prefixes in S3: which overlap, and the words for it. Starts no jsii.

https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html
"""

from __future__ import annotations

from hyperpod_constructs.rules.mistakes import Mistake

MOST_LINKS = 8
"""Associations of a file system."""

TOO_MANY = Mistake(
    f"a file system takes at most {MOST_LINKS} associations", "link a common parent directory or use a second file system"
)
EMPTIES_BUCKET = "one rm -rf on the file system would empty it for good"
"""What the export of deletions does to a bucket without versions."""


def directories_overlap(one: str, two: str) -> bool:
    """Whether two directories are one, or one is in the other."""
    first, second = (path.rstrip("/") + "/" for path in (one, two))
    return first.startswith(second) or second.startswith(first)


def prefixes_overlap(one: str, two: str) -> bool:
    """Whether an object can be under both prefixes."""
    return one.startswith(two) or two.startswith(one)


def overlapping_directories(name: str, one: str, two: str, owner: str) -> Mistake:
    """Two links to directories that overlap."""
    return Mistake(f"{name} {one!r} overlaps {two!r} of {owner}", "choose a directory outside it")


def overlapping_prefixes(one: str, two: str, owner: str) -> Mistake:
    """Two links to prefixes that overlap."""
    return Mistake(f"{one} overlaps {two} of {owner}", "choose a prefix outside it")


def relative_directory(name: str, path: str) -> Mistake:
    """A directory that does not begin at the root of the file system."""
    return Mistake(f"{name} {path!r} does not start with /", f"write {'/' + path!r}")
