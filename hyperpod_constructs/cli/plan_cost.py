"""What an update changes in the cost: of each resource, and of all, with what is kept out of the stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_constructs.cost import resource_cost
from hyperpod_constructs.prices import HOURS_PER_MONTH, Prices
from hyperpod_constructs.rules.effects.pairs import Pairs
from hyperpod_constructs.rules.plan import Plan
from hyperpod_constructs.rules.template.model import Model, Resource

Place = tuple[str, str]
"""The template's name and the logical id, as the rows of a plan have them."""


@dataclass(frozen=True, slots=True)
class ResourceCost:
    """What a resource costs more or less by the hour; `complete` unless something changes whose price is not known."""

    usd_per_hour: float
    complete: bool

    def __str__(self) -> str:
        known = f"{self.usd_per_hour:+,.3f}" if self.usd_per_hour else ""
        return known if self.complete else f"{known}?"


@dataclass(frozen=True, kw_only=True, slots=True)
class CostChange:
    """US dollars by the hour. `new` counts what the update leaves outside the stack too: that is `kept`.

    by_resource: the resources whose cost changes.
    unpriced: what the new templates hold without a known price.
    """

    old: float
    new: float
    kept: float
    by_resource: Mapping[Place, ResourceCost]
    unpriced: tuple[str, ...]
    label: str
    hours_per_month: int = HOURS_PER_MONTH

    @property
    def incomplete(self) -> bool:
        """Something changes whose price is not known."""
        return not all(change.complete for change in self.by_resource.values())

    def to_dict(self) -> dict[str, object]:
        """The totals as plain data."""
        change = self.new - self.old
        return {
            "label": self.label,
            "usd_per_hour_old": round(self.old, 6),
            "usd_per_hour_new": round(self.new, 6),
            "usd_per_hour_change": round(change, 6),
            "usd_per_month_change": round(change * self.hours_per_month, 2),
            "usd_per_hour_kept": round(self.kept, 6),
            "complete": not self.incomplete,
            "unpriced": sorted(set(self.unpriced)),
        }


@dataclass(frozen=True, slots=True)
class _Price:
    """The sum of what is known of a resource, and what has no known price."""

    known: float = 0.0
    unknown: tuple[str, ...] = ()


def cost_change(old: Model, new: Model, found: Plan, prices: Prices) -> CostChange:
    """The cost before and after. A stack that the update does not touch counts in neither."""
    pairs = Pairs(old, new)
    before = {_place(pair.new): _price(pair.old, prices) for pair in pairs.common}
    before |= {_place(resource): _price(resource, prices) for resource in pairs.removed}
    after = {_place(resource): _price(resource, prices) for resource in new.resources()}
    kept_places = {(row.template, row.resource) for row in found.rows if row.kept} & set(before)
    kept = sum(before[place].known for place in kept_places)
    return CostChange(
        old=sum(price.known for price in before.values()),
        new=sum(price.known for price in after.values()) + kept,
        kept=kept,
        by_resource=_changes(before, after, kept_places),
        unpriced=tuple(name for price in after.values() for name in price.unknown),
        label=prices.label,
    )


def _changes(before: Mapping[Place, _Price], after: Mapping[Place, _Price], kept: set[Place]) -> dict[Place, ResourceCost]:
    found = {}
    for place in {**before, **after}:
        old, new = before.get(place, _Price()), after.get(place, _Price())
        stays = place in kept
        change = round(new.known - (0.0 if stays else old.known), 6)
        complete = not new.unknown if stays else old.unknown == new.unknown
        if change or not complete:
            found[place] = ResourceCost(change, complete)
    return found


def _place(resource: Resource) -> Place:
    return resource.template.name, resource.logical_id


def _price(resource: Resource, prices: Prices) -> _Price:
    rows = tuple(resource_cost([resource], prices))
    known = sum(row.usd_per_hour for row in rows if row.usd_per_hour is not None)
    return _Price(known, tuple(row.what for row in rows if row.usd_per_hour is None))
