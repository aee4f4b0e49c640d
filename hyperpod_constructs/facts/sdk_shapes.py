"""Parameters of operations, and the form of their answers: `sdk_shapes.tsv` has them as botocore's models do.

A shape is the members of an object, the shape of the items of a list, or the words of a text; `None` is a value of any form.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows


class Form(NamedTuple):
    """The form of a value.

    :param members: the names of the members of an object, with the names of their shapes.
    :param item: the shape of the items of a list.
    :param words: the words of a text.
    """

    members: Mapping[str, str]
    item: str = ""
    words: tuple[str, ...] = ()


def parameters_of(client: str, operation: str) -> tuple[str, ...] | None:
    """All parameters of an operation; `None` if it is not known."""
    row = _rows(client).get(operation)
    return None if row is None else tuple(filter(None, row[0].split(",")))


def answer_of(client: str, operation: str) -> Form | None:
    """The form of the answer of an operation; `None` if it is not known."""
    row = _rows(client).get(operation)
    return None if row is None or not row[1] else shape(client, row[1]) or Form({})


def shape(client: str, name: str) -> Form | None:
    """A shape by its name; `None` if it may have any form."""
    row = _rows(client).get(f":{name}") if name else None
    if row is None:
        return None
    text = row[0]
    if text.startswith("*"):
        return Form({}, item=text[1:])
    if text.startswith("{"):
        return Form({key: inner for key, _, inner in (one.partition("=") for one in text[1:].split(",")) if key})
    return Form({}, words=tuple(text.split("|")))


@cache
def _rows(client: str) -> Mapping[str, tuple[str, str]]:
    return {row[1]: (row[2], row[3] if len(row) > 3 else "") for row in rows("sdk_shapes.tsv") if row[0] == client}
