"""Waiters and pages of clients of boto3, in `sdk_helpers.tsv`, which `tools/generate_sdk_facts.py` writes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows


class Waiter(NamedTuple):
    """How a waiter waits, if a program does not say it.

    :param delay: the seconds between two looks.
    :param attempts: how often it looks.
    """

    delay: int
    attempts: int


class Helpers(NamedTuple):
    """The waiters of a client by their names, and the operations that have pages, as methods are spelled without dashes."""

    waiters: Mapping[str, Waiter]
    pages: frozenset[str]


@cache
def helpers_of(client: str) -> Helpers | None:
    """The helpers of a client; `None` if it is not known."""
    row = next((one for one in rows("sdk_helpers.tsv") if one[0] == client), None)
    if row is None:
        return None
    waiters, pages = (cell.split() for cell in (*row[1:], "", "")[:2])
    named = (one.partition("=") for one in waiters)
    return Helpers({name: Waiter(*map(int, text.split("*"))) for name, _, text in named}, frozenset(one.lower() for one in pages))
