"""Parameters of operations that are no plain texts, in `sdk_values.tsv`, which `tools/generate_sdk_facts.py` writes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from hyperpod_constructs.facts.data import rows

LIST, MAP, NUMBER, TRUE = "list", "map", "number", "true"
"""The kinds of values; any other one is the words of a text."""
IN_WORDS: Mapping[str, str] = {LIST: "a list", MAP: "an object", NUMBER: "a number", TRUE: "true or false"}

OBJECTS_TOO = frozenset(("CopyObject.CopySource", "UploadPartCopy.CopySource"))
"""Parameters that are texts, and for which boto3 takes an object too, by the names of their operations.

Source: https://docs.aws.amazon.com/boto3/latest/reference/services/s3/client/copy_object.html (as of 2026-11-30)
"""


def kinds_of(client: str, operation: str) -> Mapping[str, str]:
    """The kinds of the parameters of an operation that are no plain texts, by their names."""
    return {name: kind for name, _, kind in (cell.partition("=") for cell in _rows(client).get(operation, ()))}


@cache
def _rows(client: str) -> Mapping[str, tuple[str, ...]]:
    return {row[1]: tuple(row[2:]) for row in rows("sdk_values.tsv") if row[0] == client}
