"""JSON of texts is read as deep as those who walk it can go, whatever Python would follow."""

import json
import sys

import pytest

from hyperpod_constructs.analysis.bounded_json import DEEPEST, read_json


@pytest.mark.parametrize("limit", [1_000, 10_000])
@pytest.mark.parametrize("depth", [DEEPEST + 1, 600, 2_000, 50_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a": ', "}")])
def test_a_deep_text_is_not_read(opening: str, closing: str, depth: int, limit: int) -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        with pytest.raises(ValueError, match="nests more than 100 levels"):
            read_json(opening * depth + "1" + closing * depth)
    finally:
        sys.setrecursionlimit(before)


@pytest.mark.parametrize("text", ["[" * DEEPEST + "]" * DEEPEST, "[" + "[], " * 500 + "1]", json.dumps("[" * 500), "1"])
def test_other_texts_are_read(text: str) -> None:
    assert read_json(text) == json.loads(text)
