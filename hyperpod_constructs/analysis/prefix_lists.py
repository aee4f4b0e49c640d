"""Prefix lists of the model: what a rule or a route with one stands for.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/managed-prefix-lists.html (as of 2026-11-30)
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.templates.model import resource_of
from hyperpod_constructs.templates.values import Value, as_items, as_str, at

LIST = "AWS::EC2::PrefixList"


def blocks_in(value: Value) -> tuple[str, ...] | None:
    """The blocks of a prefix list of the model; `None` for another one, and where a block is not known."""
    found = resource_of(value, LIST)
    entries = None if found is None or not found.exists else as_items(found.get("Entries"))
    blocks = [as_str(at(one, "Cidr")) if isinstance(one, Mapping) else None for one in entries or ()]
    return None if entries is None or None in blocks else tuple(one for one in blocks if one is not None)
