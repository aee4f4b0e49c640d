"""The statistics of the benchmark."""

from __future__ import annotations

import pytest

from bench.figures import Cost, Pairs, estimate, interleave


def costs(*seconds: float) -> tuple[Cost, ...]:
    return tuple(Cost(wall, wall) for wall in seconds)


def test_the_estimate_is_the_median_inside_its_interval() -> None:
    found = estimate([3.0, 1.0, 2.0, 10.0, 2.5])
    assert (found.runs, found.median) == (5, 2.5)
    assert 1.0 <= found.low <= 2.5 <= found.high <= 10.0


def test_the_interval_of_equal_measurements_is_a_point() -> None:
    found = estimate([2.0] * 7)
    assert (found.low, found.median, found.high) == (2.0, 2.0, 2.0)


def test_more_measurements_of_the_same_spread_narrow_the_interval() -> None:
    few, many = estimate([1.0, 2.0, 3.0, 4.0, 5.0]), estimate([1.0, 2.0, 3.0, 4.0, 5.0] * 40)
    assert many.high - many.low < few.high - few.low


def test_the_same_measurements_give_the_same_interval() -> None:
    values = [1.2, 3.4, 2.2, 5.1, 0.9, 2.8]
    assert estimate(values) == estimate(values)


def test_fails_without_measurements() -> None:
    with pytest.raises(ValueError, match="measure at least once"):
        estimate([])


def test_a_slow_pair_does_not_move_the_ratio() -> None:
    pairs = Pairs(subject=costs(2.0, 20.0, 2.0), base=costs(1.0, 10.0, 1.0))
    assert (pairs.ratio.median, pairs.processor_ratio.median) == (2.0, 2.0)


def test_fails_on_halves_of_different_length() -> None:
    with pytest.raises(ValueError, match="shorter"):
        _ = Pairs(subject=costs(1.0, 2.0), base=costs(1.0)).ratio


def test_the_first_of_a_pair_alternates() -> None:
    order: list[str] = []

    def measure(name: str, seconds: float) -> Cost:
        order.append(name)
        return Cost(seconds, seconds)

    pairs = interleave(lambda: measure("subject", 2.0), lambda: measure("base", 1.0), 3)
    assert order == ["subject", "base", "base", "subject", "subject", "base"]
    assert pairs == Pairs(subject=costs(2.0, 2.0, 2.0), base=costs(1.0, 1.0, 1.0))
