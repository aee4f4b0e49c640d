"""Prompts and results, as lines of JSON. Each attempt of a task has a file of its own, so one that was thought lost harms none."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from common.sample_log import records


def read_prompts(path: Path, vocabulary: int) -> dict[str, list[int]]:
    """The tokens of each prompt by its id."""
    if not path.is_file():
        raise SystemExit(f"--prompts {path}: no such file")
    texts = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    if texts == [""]:
        raise SystemExit(f'--prompts {path}: no prompt; write lines such as {{"id": "a", "tokens": [17, 4]}}')
    lines = [read_line(path, number, text, vocabulary) for number, text in enumerate(texts, start=1)]
    twice = [name for name, times in Counter(line["id"] for line in lines).items() if times > 1]
    if twice:
        raise SystemExit(f"--prompts {path}: more than one prompt has the id {twice[0]}, give each an id of its own")
    return {line["id"]: line["tokens"] for line in lines}


def read_line(path: Path, number: int, text: str, vocabulary: int) -> dict[str, Any]:
    try:
        line = json.loads(text)
        assert isinstance(line["id"], str)
        assert line["tokens"]
        assert all(type(token) is int and 0 <= token < vocabulary for token in line["tokens"])
    except (ValueError, TypeError, KeyError, AssertionError):
        raise SystemExit(
            f"--prompts {path}, line {number}: found {text.strip()[:80]}; write an id, and tokens from 0 to {vocabulary - 1}, "
            'as in {"id": "a", "tokens": [17, 4]}'
        ) from None
    return dict(line)


def read_results(directory: Path) -> dict[str, dict[str, Any]]:
    """The result of each prompt that is done. Of two the earlier counts: an attempt that was thought lost may still write."""
    found = (record for path in sorted(directory.glob("*.jsonl")) for record in records(path))
    return {record["id"]: record for record in sorted(found, key=lambda record: float(record["time"]), reverse=True)}


def share_of(ids: Iterable[str], share: int, shares: int) -> list[str]:
    return list(ids)[share::shares]
