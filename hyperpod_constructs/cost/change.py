"""The cost before and after an update: for each resource, and in total."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hyperpod_constructs.cost.estimate import resource_cost
from hyperpod_constructs.cost.prices import HOURS_PER_MONTH, Prices
from hyperpod_constructs.plan.pairs import Pairs
from hyperpod_constructs.plan.plan import Plan
from hyperpod_constructs.templates.model import Model, Resource

ResourceKey = tuple[str, str]
"""The template's name and the logical id, as in the rows of a plan."""


@dataclass(frozen=True, slots=True)
class ResourceCost:
    """The change of a resource's cost.

    :param usd_per_hour: US dollars by the hour; negative if the resource gets cheaper. A part without a known price does not count.
    :param complete: whether every changed part has a known price.
    """

    usd_per_hour: float
    complete: bool

    def __str__(self) -> str:
        known = f"{self.usd_per_hour:+,.3f}" if self.usd_per_hour else ""
        return known if self.complete else f"{known}?"


@dataclass(frozen=True, kw_only=True, slots=True)
class CostChange:
    """The cost of all resources before and after, in US dollars by the hour.

    :param old: the sum before the update.
    :param new: the sum after it, including `kept`.
    :param kept: the resources that leave the stack and stay in the account.
    :param by_resource: the resources whose cost changes.
    :param unpriced: parts of the new templates without a known price.
    :param label: the origin of the prices.
    """

    old: float
    new: float
    kept: float
    by_resource: Mapping[ResourceKey, ResourceCost]
    unpriced: tuple[str, ...]
    label: str
    hours_per_month: int = HOURS_PER_MONTH

    @property
    def incomplete(self) -> bool:
        """Whether a changed part has no known price."""
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
    """The sum of a resource's known prices, and the names of its parts without one."""

    known: float = 0.0
    unknown: tuple[str, ...] = ()


_PriceList = Mapping[ResourceKey, _Price]


def cost_change(old: Model, new: Model, found: Plan, prices: Prices) -> CostChange:
    """The cost before and after an update. A stack outside the update counts in neither."""
    pairs = Pairs(old, new)
    before = {_key(pair.new): _price(pair.old, prices) for pair in pairs.common}
    before |= {_key(resource): _price(resource, prices) for resource in pairs.removed}
    after = {_key(resource): _price(resource, prices) for resource in new.resources()}
    kept_keys = {(row.template, row.resource) for row in found.rows if row.kept} & set(before)
    kept = sum(before[key].known for key in kept_keys)
    return CostChange(
        old=sum(price.known for price in before.values()),
        new=sum(price.known for price in after.values()) + kept,
        kept=kept,
        by_resource=_changes(before, after, kept_keys),
        unpriced=tuple(name for price in after.values() for name in price.unknown),
        label=prices.label,
    )


def _changes(before: _PriceList, after: _PriceList, kept: set[ResourceKey]) -> dict[ResourceKey, ResourceCost]:
    found = {}
    for key in {**before, **after}:
        old, new = before.get(key, _Price()), after.get(key, _Price())
        stays = key in kept
        change = round(new.known - (0.0 if stays else old.known), 6)
        complete = not new.unknown if stays else old.unknown == new.unknown
        if change or not complete:
            found[key] = ResourceCost(change, complete)
    return found


def _key(resource: Resource) -> ResourceKey:
    return resource.template.name, resource.logical_id


def _price(resource: Resource, prices: Prices) -> _Price:
    rows = tuple(resource_cost([resource], prices))
    known = sum(row.usd_per_hour for row in rows if row.usd_per_hour is not None)
    return _Price(known, tuple(row.what for row in rows if row.usd_per_hour is None))
