"""Samples of a memory-mapped token file. The step alone chooses them, so a restart, a shrink or a spare changes no choice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy
import torch
from torch import Tensor

ROUNDS = 4


class TokenFile:
    """Sample n is the n-th run of `context` tokens and the token after it."""

    def __init__(self, path: Path, context: int, vocabulary: int) -> None:
        if not path.is_file():
            raise SystemExit(f"--data {path}: no such file; write one with common/make_data.py")
        self.path = path
        self.tokens = numpy.load(path, mmap_mode="r", allow_pickle=False)
        self.context = context
        self.vocabulary = vocabulary
        self.samples = (len(self.tokens) - 1) // context
        if self.samples < 1:
            raise SystemExit(f"--data {path}: {len(self.tokens)} tokens, but one sample of this model takes {context + 1}")

    def read(self, ids: Iterable[int]) -> Tensor:
        rows = [self.tokens[id * self.context : (id + 1) * self.context + 1] for id in ids]
        batch = numpy.stack(rows).astype(numpy.int64)
        if batch.max() >= self.vocabulary:
            raise SystemExit(f"--data {self.path}: token {batch.max()}, but the model knows {self.vocabulary} tokens")
        return torch.from_numpy(batch)


class Plan:
    """The samples of each step: every epoch is a new permutation of all samples, each exactly once."""

    def __init__(self, samples: int, global_batch: int, seed: int) -> None:
        self.samples = samples
        self.global_batch = global_batch
        self.seed = seed
        self.half_bits = max(1, ((samples - 1).bit_length() + 1) // 2)

    def batch(self, step: int) -> list[int]:
        first = step * self.global_batch
        return [self.sample(position) for position in range(first, first + self.global_batch)]

    def sample(self, position: int) -> int:
        """The sample at a position: a Feistel network permutes the next power of four; its cycle leads to an existing sample."""
        epoch, value = divmod(position, self.samples)
        while True:
            value = self.permute(value, epoch)
            if value < self.samples:
                return value

    def permute(self, value: int, epoch: int) -> int:
        mask = (1 << self.half_bits) - 1
        left, right = value >> self.half_bits, value & mask
        for turn in range(ROUNDS):
            left, right = right, left ^ (mix(right, self.seed, epoch, turn) & mask)
        return left << self.half_bits | right


def mix(*values: int) -> int:
    """A 64-bit hash, equal on every machine and in every run."""
    state = 0x9E3779B97F4A7C15
    for value in values:
        state = (state ^ value) * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 29
        state = state * 0x94D049BB133111EB & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 32
    return state


def share(ids: Sequence[int], rank: int, size: int) -> list[int]:
    """The samples of one participant. Every sample has exactly one participant, even if the batch is not evenly divisible."""
    if len(ids) < size:
        raise SystemExit(f"--global-batch {len(ids)}: smaller than the {size} ranks that share it, give at least {size}")
    return list(ids[rank::size])


def equal_share(global_batch: int, size: int, micro_batch: int) -> int:
    """Micro batches per rank, for sharded parameters: every rank must run the same number of forward passes."""
    if global_batch % (size * micro_batch):
        raise SystemExit(
            f"--global-batch {global_batch}: not a multiple of {size} ranks times --micro-batch {micro_batch}, "
            f"give a multiple of {size * micro_batch}"
        )
    return global_batch // (size * micro_batch)


def chunks(ids: Sequence[int], length: int) -> list[list[int]]:
    return [list(ids[start : start + length]) for start in range(0, len(ids), length)]
