"""The page of properties in the docs, from the samples and the table: `python -m tests.leaves.page`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.docs.pages import ROOT
from tests.leaves.rendered import COVERED, leaves_of, rendered
from tests.leaves.unset import UNSET

PAGE = ROOT / "docs" / "properties.md"
_HEAD = """\
# Properties

<!-- Written by `python -m tests.leaves.page`; a test compares it with what constructs render. -->

The constructs set these properties of CloudFormation's resources, counted by the leaves of the schema:

| resource | set by constructs | of all |
|---|---|---|
"""
_TABLE = """
What they leave out, each with its reason. `cluster.resource` and `lustre.resource` are the L1s: `add_property_override` sets
there what you need. A path stands for itself and all below it.

| resource | property | reason |
|---|---|---|
"""


def counts() -> list[tuple[str, int, int]]:
    """By type: the leaves that constructs set, and all."""
    return [(kind, len(rendered()[kind]), len(leaves_of(kind))) for kind in COVERED]


def render() -> str:
    """The page."""
    counted = "".join(f"| `{kind}`{_remark(kind)} | {done} | {all_} |\n" for kind, done, all_ in counts())
    reasons = "".join(f"| `{kind}` | `{path}` | {why} |\n" for kind in COVERED for path, why in UNSET[kind].items())
    return f"{_HEAD}{counted}{_TABLE}{reasons}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="write the page of properties")
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 if the page is stale")
    text = render()
    if not parser.parse_args(arguments).check:
        PAGE.write_text(text, "utf-8")
        return 0
    stale = not PAGE.exists() or PAGE.read_text("utf-8") != text
    if stale:
        sys.stderr.write(f"{PAGE.name} is stale: run python -m tests.leaves.page\n")
    return int(stale)


def _remark(kind: str) -> str:
    return " (Lustre and OpenZFS)" if kind == "AWS::FSx::FileSystem" else ""


if __name__ == "__main__":
    sys.exit(main())
