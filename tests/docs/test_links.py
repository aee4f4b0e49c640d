"""Every link to the project leads to a file, and to a heading in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.markdown import anchors, local_links
from tests.docs.pages import LINKED, ROOT


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target, anchor in local_links(page.read_text("utf-8")):
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file.read_text("utf-8")), f"{target}#{anchor}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [LINKED[0]]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            targets = [(page.parent / target).resolve() for target, _ in local_links(page.read_text("utf-8")) if target]
            waiting += [target for target in targets if target.suffix == ".md"]
    assert reached >= {page for page in LINKED if page != ROOT / "docs" / "README.md"}
