"""Amounts of Kubernetes resources: whole numbers in the unit of each, as quotas mean them and as objects write them.

Processors are in thousandths, memory is in MiB, everything else in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_constructs.facts import governance as facts
from hyperpod_constructs.facts import kubernetes_nodes, quota_amounts
from hyperpod_constructs.local.governance.state import allocation_of, facts_of

Resources = dict[str, int]
"""Amounts by the name of the resource."""

CPU, MEMORY = "cpu", "memory"
_EFA = kubernetes_nodes.EFA
_UNITS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_QUANTITY = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)(m|[kMGT]|[KMGT]i)?")


def entry_resources(entry: Mapping[str, Any]) -> Resources:
    """What an entry of a quota guarantees. Parts of GPUs count as resources of their own, and not as GPUs."""
    wanted, kind = allocation_of(entry), facts_of(entry["InstanceType"])
    amounts = quota_amounts.guaranteed(wanted, kind)
    found: dict[str, float | None] = {
        CPU: None if amounts.vcpus is None else amounts.vcpus * 1000,
        MEMORY: None if amounts.memory_gib is None else amounts.memory_gib * 1024,
    }
    if wanted.partition is not None:
        found[facts.PARTITION_RESOURCE.format(partition=wanted.partition)] = wanted.partitions
    if kind.accelerator is not None and amounts.accelerators is not None:
        if wanted.partition is None:
            found[facts.QUOTA_ACCELERATORS[kind.accelerator.kind]] = amounts.accelerators
        found[_EFA] = (kind.efa_interfaces or 0) * amounts.accelerators / kind.accelerator.count
    return {name: int(amount) for name, amount in found.items() if amount is not None}


def total(parts: Iterable[Resources]) -> Resources:
    """The sum."""
    found: Resources = {}
    for part in parts:
        for name, amount in part.items():
            found[name] = found.get(name, 0) + amount
    return found


def by_type(entries: Iterable[Mapping[str, Any]]) -> dict[str, Resources]:
    """What entries of a quota guarantee, by instance type."""
    found: dict[str, Resources] = {}
    for entry in entries:
        name = entry["InstanceType"]
        found[name] = total((found.get(name, {}), entry_resources(entry)))
    return found


def written(name: str, amount: int) -> str:
    """An amount as Kubernetes writes it."""
    if name == CPU:
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if name == MEMORY:
        return f"{amount}Mi" if amount % 1024 else f"{amount // 1024}Gi"
    return str(amount)


def read(name: str, quantity: object) -> int:
    """A quantity of Kubernetes as an amount; 0 for what is none, because people write quantities too."""
    found = _QUANTITY.fullmatch(str(quantity))
    if found is None:
        return 0
    number = float(found[1]) / 1000 if found[2] == "m" else float(found[1]) * _UNITS[found[2] or ""]
    return int(number * 1000) if name == CPU else int(number / 2**20) if name == MEMORY else int(number)
