"""Forms of parameters that are objects and lists, in `sdk_inputs.tsv`, which `tools/generate_sdk_facts.py` writes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hyperpod_constructs.facts.data import rows


class Input(NamedTuple):
    """The form of a parameter, or of a part of it.

    :param members: the kinds of the members of an object.
    :param required: the names of those that must be there.
    :param each: the kind of the items of a list, or of the values of an object with any names.
    :param is_list: whether it is a list.
    """

    members: Mapping[str, str]
    required: tuple[str, ...] = ()
    each: str | None = None
    is_list: bool = False


def inputs_of(client: str, operation: str) -> Mapping[str, str]:
    """The shapes of the parameters of an operation that have a form, by their names."""
    return {name: kind for name, _, kind in (cell.partition("=") for cell in _rows(client).get(operation, ()))}


def input_form(client: str, kind: str) -> Input | None:
    """The form of a kind; `None` for a plain value, or one of any form."""
    text = next(iter(_rows(client).get(kind, ())), "") if kind.startswith(":") else ""
    if text.startswith("{"):
        cells = [cell.partition("=") for cell in text[1:].split(",") if cell]
        members = {name.rstrip("!"): inner for name, _, inner in cells}
        return Input(members, tuple(name.rstrip("!") for name, _, _ in cells if name.endswith("!")))
    return Input({}, each=text[1:], is_list=text[0] == "*") if text else None


@cache
def _rows(client: str) -> Mapping[str, tuple[str, ...]]:
    return {row[1]: tuple(row[2:]) for row in rows("sdk_inputs.tsv") if row[0] == client}
