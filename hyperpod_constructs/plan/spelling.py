"""One spelling for texts that functions of CloudFormation join.

>>> joined({"Fn::Sub": "${Name}-a"}) == joined({"Fn::Join": ["", [{"Ref": "Name"}, "-a"]]})
True

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference-sub.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.templates.raw import Raw

_PIECE = re.compile(r"(\$\{[^${}]*\})")


def joined(raw: Raw) -> Raw:
    """A spelling in which each text is a join of its parts, and each attribute a list of a resource and a name."""
    if isinstance(raw, list):
        return [joined(item) for item in raw]
    if not isinstance(raw, dict):
        return raw
    name, argument = next(iter(raw.items())) if len(raw) == 1 else ("", None)
    if name == "Fn::GetAtt" and isinstance(argument, str):
        return {name: [*argument.split(".", 1)]}
    parts = _parts(name, argument)
    return {key: joined(item) for key, item in raw.items()} if parts is None else _join(parts)


def _parts(name: str, argument: Raw) -> list[Raw] | None:
    """The parts of a text that a function joins; `None` if it is none, or is not written out."""
    items = argument if isinstance(argument, list) else []
    if name == "Fn::Sub" and isinstance(argument, str):
        return list(_of_sub(argument, {}))
    if name == "Fn::Sub" and len(items) == 2 and isinstance(items[0], str) and isinstance(items[1], dict):
        return list(_of_sub(items[0], items[1]))
    if name == "Fn::Join" and len(items) == 2 and isinstance(items[0], str) and isinstance(items[1], list):
        between: list[Raw] = [items[0]]
        return [part for index, item in enumerate(items[1]) for part in (between * (index > 0) + [item])]
    return None


def _of_sub(text: str, variables: Mapping[str, Raw]) -> Iterator[Raw]:
    for piece in _PIECE.split(text):
        name = piece[2:-1].strip() if _PIECE.fullmatch(piece) else None
        if name is None:
            yield piece
        elif name.startswith("!"):
            yield f"${{{name[1:]}}}"
        else:
            yield variables.get(name, {"Fn::GetAtt": name} if "." in name else {"Ref": name})


def _join(parts: list[Raw]) -> Raw:
    flat: list[Raw] = []
    for part in map(joined, parts):
        inner = part.get("Fn::Join") if isinstance(part, dict) else None
        own = inner[1] if isinstance(inner, list) and isinstance(inner[1], list) and inner[0] == "" else [part]
        for one in own:
            if isinstance(one, str) and flat and isinstance(flat[-1], str):
                flat[-1] += one
            elif one != "":
                flat.append(one)
    return flat[0] if len(flat) == 1 else {"Fn::Join": ["", flat]}
