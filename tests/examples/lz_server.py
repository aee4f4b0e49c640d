"""Answers questions to the LZ penalty, one line of JSON each, in the environment of the jobs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import torch
from lz_penalty.generate import decode
from lz_penalty.penalty import LZPenalty, lz_penalty, shortest_match


def penalties(tokens: list[list[int]], vocabulary: int, **options: int) -> Any:
    """Of the whole vocabulary."""
    rows = torch.tensor(tokens, dtype=torch.long).view(len(tokens), -1)
    found, values = lz_penalty(rows, vocabulary, **options)
    assert found.shape == values.shape == (len(tokens), max(0, min(rows.shape[1], options["window"]) - options["buffer"]))
    return torch.zeros(len(tokens), vocabulary).scatter_add_(1, found, values).tolist()


def processed(tokens: list[list[int]], scores: list[list[float]], **options: Any) -> Any:
    return LZPenalty(**options)(torch.tensor(tokens), torch.tensor(scores)).tolist()


def decoded(table: list[list[float]], start: list[list[int]], steps: int, strength: float, **options: int) -> Any:
    """By a model whose scores follow from the last token alone."""
    scores = torch.tensor(table)
    rows = torch.tensor(start)
    return decode(lambda tokens: scores[tokens[:, -1]], rows, steps, LZPenalty(strength, prompt=rows.shape[1], **options)).tolist()


def answer(question: dict[str, Any]) -> Any:
    functions: dict[str, Callable[..., Any]] = {
        "penalties": penalties,
        "processed": processed,
        "decoded": decoded,
        "shortest": shortest_match,
    }
    try:
        return {"answer": functions[question.pop("ask")](**question)}
    except ValueError as error:
        return {"error": str(error)}


torch.set_num_threads(1)
for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)  # noqa: T201
