"""The pages for a reader. Of the changelog, which tells of the past, and of rules.md, which is generated, only links are tested."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.docs.markdown import Block, blocks

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
LINKED = [README, *sorted((ROOT / "docs").glob("*.md")), ROOT / "examples" / "README.md", ROOT / "CHANGELOG.md"]
PAGES = [page for page in LINKED if page.name not in ("CHANGELOG.md", "rules.md")]


class Place(NamedTuple):
    """A fenced block of a page."""

    page: Path
    block: Block

    @property
    def id(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.block.line}-{self.block.language}"


def fenced(*languages: str) -> list[Place]:
    """The blocks of all pages in these languages; all blocks without one."""
    found = [Place(page, block) for page in PAGES for block in blocks(page.read_text("utf-8"))]
    return [place for place in found if not languages or place.block.language in languages]
