"""The pictures are current, and can be drawn."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools import draw_pictures
from tools.draw_pictures import PICTURES, main

_TEXT = "{http://www.w3.org/2000/svg}text"


def test_the_pictures_are_current() -> None:
    assert main(["--check"]) == 0


def test_a_picture_that_is_not_current_is_named_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw_pictures, "DOCS", tmp_path)
    assert main(["--check"]) == 1
    assert main([]) == 0
    assert main(["--check"]) == 0


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_small_and_its_texts_lie_within_it(name: str) -> None:
    drawn = PICTURES[name]()
    root = ElementTree.fromstring(drawn)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    places = [(float(text.attrib["x"]), float(text.attrib["y"])) for text in root.iter(_TEXT)]
    assert len(drawn) < 10_000
    assert all(0 < x < width and 0 < y < height for x, y in places)
