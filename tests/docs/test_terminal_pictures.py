"""The pictures of terminals show what the commands print. After a change: python -m tests.docs.refresh."""

from __future__ import annotations

import re

import pytest

from tests.docs.terminal_pictures import DOCS, PICTURES, picture, texts


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_the_printed_output(name: str) -> None:
    assert texts((DOCS / name).read_text("utf-8")) == texts(picture(PICTURES[name]))


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_fetches_nothing_and_is_shown_by_a_page(name: str) -> None:
    svg = (DOCS / name).read_text("utf-8")

    assert re.findall(r"https?://[^\s\"']+", svg) == ["http://www.w3.org/2000/svg"]
    assert "@font-face" not in svg
    assert "<script" not in svg
    assert f"]({name})" in (DOCS / "operate.md").read_text("utf-8")
