"""Medians, ratios of pairs, and their intervals."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

_RESAMPLES = 2000
_SEED = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A median with its 95 % interval, from `runs` measurements."""

    runs: int
    median: float
    low: float
    high: float


def estimate(values: Sequence[float]) -> Estimate:
    """The median of independent measurements, with its percentile bootstrap interval.

    The resampling is seeded, so that the same measurements give the same interval.

    :raises ValueError: without measurements.
    """
    if not values:
        raise ValueError("no measurements: found an empty sequence; measure at least once")
    source = random.Random(_SEED)
    medians = sorted(statistics.median(source.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    tail = round(_RESAMPLES * 0.025)
    return Estimate(runs=len(values), median=statistics.median(values), low=medians[tail], high=medians[_RESAMPLES - 1 - tail])


class Cost(NamedTuple):
    """Seconds of one run: on the clock, and of processors (all cores, with its awaited child processes)."""

    wall: float
    processor: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairs:
    """Costs of a subject and of its base, measured in turns."""

    subject: tuple[Cost, ...]
    base: tuple[Cost, ...]

    @property
    def ratio(self) -> Estimate:
        """Subject over base on the clock, pair by pair, so that a slow machine cancels out."""
        return estimate([subject.wall / base.wall for subject, base in zip(self.subject, self.base, strict=True)])

    @property
    def processor_ratio(self) -> Estimate:
        """Subject over base in processor time; other work on the machine disturbs it less."""
        return estimate([subject.processor / base.processor for subject, base in zip(self.subject, self.base, strict=True)])


def interleave(subject: Callable[[], Cost], base: Callable[[], Cost], pairs: int) -> Pairs:
    """Measure both `pairs` times in turns; the first of a pair alternates. Each callable returns its cost."""
    subjects, bases = [], []
    for number in range(pairs):
        if number % 2 == 0:
            subjects.append(subject())
            bases.append(base())
        else:
            bases.append(base())
            subjects.append(subject())
    return Pairs(subject=tuple(subjects), base=tuple(bases))
