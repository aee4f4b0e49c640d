"""What templates cost by the hour: before a deployment is confirmed, and for what a destruction leaves behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_constructs.cli.console import say


def say_hourly_cost(label: str, templates: Iterable[Mapping[str, Any]]) -> None:
    """Print the cost of these templates together, whose prices these are, and what has no known price."""
    from hyperpod_constructs.cost import hourly_cost
    from hyperpod_constructs.prices import HOURS_PER_MONTH, LABEL

    estimates = [hourly_cost(template) for template in templates]
    total = sum(estimate.usd_per_hour for estimate in estimates)
    month = total * HOURS_PER_MONTH
    say(f"{label}  about {total:,.2f} USD an hour ({month:,.0f} USD a month), without traffic, requests and taxes")
    say(f"{' ' * len(label)}  prices: {LABEL}")
    unpriced = sorted({name for estimate in estimates for name in estimate.unpriced})
    if unpriced:
        say(f"{' ' * len(label)}  price not known, so not in the sum: {', '.join(unpriced)}")
