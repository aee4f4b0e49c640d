"""Times of one step of sampling with each penalty, in turns, in the environment of the jobs. Prints JSON: names to seconds."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import torch
from lz_penalty.penalty import LZPenalty
from torch import Tensor

BATCH, VOCABULARY, LENGTH = 8, 128_256, 1_024
STRENGTH = 1.1


def sample(scores: Tensor) -> Tensor:
    return torch.multinomial(torch.softmax(scores, dim=1), 1)


def repetition(tokens: Tensor, scores: Tensor) -> Tensor:
    """Scores of tokens that occurred are divided, or multiplied where they are negative."""
    found = scores.gather(1, tokens)
    return scores.scatter_(1, tokens, torch.where(found < 0, found * STRENGTH, found / STRENGTH))


def frequency(tokens: Tensor, scores: Tensor) -> Tensor:
    """Each time that a token occurred takes the same from its score."""
    return scores.scatter_add_(1, tokens, torch.full(tokens.shape, -STRENGTH))


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokens = torch.randint(VOCABULARY, (BATCH, LENGTH))
    scores = torch.randn(BATCH, VOCABULARY)
    lz = LZPenalty()
    steps: dict[str, Callable[[Tensor], Tensor]] = {
        "sampling": sample,
        "lz": lambda given: sample(lz(tokens, given)),
        "repetition": lambda given: sample(repetition(tokens, given)),
        "frequency": lambda given: sample(frequency(tokens, given)),
        "lz alone": lambda given: lz(tokens, given),
        "repetition alone": lambda given: repetition(tokens, given),
        "frequency alone": lambda given: frequency(tokens, given),
    }
    found: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(int(sys.argv[1]) + 1):
        for name, step in steps.items():
            given = scores.clone()
            started = time.thread_time()
            step(given)
            if turn > 0:
                found[name].append(time.thread_time() - started)
    print(json.dumps(found))  # noqa: T201


main()
