"""Parts of an ARN, an address or a pair that `Fn::Split` and `Fn::Select` take: an index beyond the last one, and a part that
names nothing.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.references.forms import node_at
from hyperpod_constructs.analysis.references.places import Call
from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.facts.template_parts import ADDRESSES, PAIRS
from hyperpod_constructs.templates.globs import Digits, Segment
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Value, as_int, as_str

_OPEN = "\ufffc"
"""Stands for a field that only the deployment knows; it has no slash and no colon."""
_ADDRESSES = ("Url", "URL", "Uri", "URI", "IssuerUrl", "Endpoint")
"""The ends of attributes that may be addresses with a scheme."""
_FIXED = ("the beginning of each ARN", "the partition", "the service")
"""The first fields of an ARN, which name no resource."""


def of_an_arn(call: Call, argument: Sequence[Raw]) -> tuple[str, Value, str] | None:
    """What is wrong with an item of a divided ARN, what was found, and what is allowed."""
    index, delimiter, source = _split(call, argument)
    written = _written(source) if delimiter in ("/", ":") else None
    if index is None or written is None:
        return None
    items = _items(written, delimiter)
    if items is None or index < 0:
        return None
    if index >= len(items):
        message = f"Fn::Select takes item {index} of {quoted(source)}, which {delimiter!r} divides into {len(items)}"
        return message, index, f"0 to {len(items) - 1}"
    said = _said(items, index, delimiter, _wanted(call)) if _is_whole(call, argument) else None
    return None if said is None else (f"item {index} of {quoted(source)} is {said}", index, "the item with the name or the id")


def of_an_address(call: Call, argument: Sequence[Raw]) -> tuple[str, Value, str] | None:
    """The scheme of an address, where what is behind it is meant, or an item beyond its parts where its form is known."""
    index, delimiter, source = _split(call, argument)
    if not isinstance(source, Reference) or index is None or not delimiter:
        return None
    if index == 0 and delimiter in ("//", "://") and (source.attribute or "").endswith(_ADDRESSES):
        return f"item 0 of {quoted(source)} is the scheme, https", 0, "1: what is behind the scheme"
    is_address = delimiter in ("//", "://") and (source.attribute or "").endswith(_ADDRESSES[:-1])
    if index == 1 and is_address and _wanted(call).endswith(_ADDRESSES[:2]) and _is_whole(call, argument):
        return f"item 1 of {quoted(source)} is what is behind https://, and {_wanted(call)} begins with it", 1, "the whole address"
    form = ADDRESSES.get((source.resource.type, source.attribute))
    count = index + 1 if form is None or delimiter.removeprefix("https").strip("/:") else len(form.split(delimiter))
    message = f"Fn::Select takes item {index} of {quoted(source)}, {form}, which {delimiter!r} divides into {count}"
    return (message, index, f"0 to {count - 1}") if index >= count else None


def of_a_pair(call: Call, argument: Sequence[Raw]) -> tuple[str, Value, str] | None:
    """The half of an item that a property does not take, such as the zone where the endpoint of a firewall belongs."""
    divided = argument[1].get("Fn::Split") if isinstance(argument[1], dict) else None
    item = (
        divided[1].get("Fn::Select") if isinstance(divided, list) and len(divided) == 2 and isinstance(divided[1], dict) else None
    )
    form = pair_of(call, item[1]) if isinstance(item, list) and len(item) == 2 else None
    halves, index = (form or "").replace("_", "").split(":"), as_int(call.template.resolver.resolve(argument[0]))
    if len(halves) != 2 or index not in (0, 1) or not _is_whole(call, argument):
        return None
    wanted = _wanted(call).upper()
    if halves[index] in wanted or halves[1 - index] not in wanted:
        return None
    return f"item {index} of {form} is the {halves[index].lower()}", index, f"item {1 - index}, the {halves[1 - index].lower()}"


def pair_of(call: Call, items: Raw) -> str | None:
    """The form of the items of an attribute that are two things with a colon between them."""
    named = items.get("Fn::GetAtt") if isinstance(items, dict) else None
    parts = named.split(".", 1) if isinstance(named, str) else named
    resource = call.template.by_id.get(str(parts[0])) if isinstance(parts, list) and len(parts) == 2 else None
    return None if resource is None or not isinstance(parts, list) else PAIRS.get((resource.type, str(parts[1])))


def _split(call: Call, argument: Sequence[Raw]) -> tuple[int | None, str, Value]:
    """The item that is taken, the delimiter and the divided text; without a division nothing is known."""
    divided = argument[1].get("Fn::Split") if isinstance(argument[1], dict) else None
    if not isinstance(divided, list) or len(divided) != 2:
        return None, "", UNKNOWN
    resolve = call.template.resolver.resolve
    return as_int(resolve(argument[0])), as_str(resolve(divided[0])) or "", resolve(divided[1])


def _written(source: Value) -> str | None:
    """An ARN as text; `None` for another text, and where an unknown part may have delimiters."""
    parts = Arn(source).spelled
    closed = (str, Digits, Segment)
    if not all(isinstance(part, closed) for part in parts):
        return None
    written = "".join(part if isinstance(part, str) else _OPEN for part in parts)
    return written if written.startswith("arn:") and written.count(":") >= 5 else None


def _items(written: str, delimiter: str) -> list[str] | None:
    """The items of an ARN; `None` where its unknown end may have a colon, as that of a version of a function."""
    return None if delimiter == ":" and written.endswith(_OPEN) else written.split(delimiter)


def _is_whole(call: Call, argument: Sequence[Raw]) -> bool:
    """Whether the item is the whole value of a known property, and no part of a text or of free data."""
    return call.written() is argument and node_at(call.owner.type, call.path) is not None


def _wanted(call: Call) -> str:
    """The name of the property, or of the dimension whose value it is; empty for the value of anything else, such as a tag."""
    name = next((str(one) for one in reversed(call.path) if isinstance(one, str)), "")
    value: Raw = call.owner.raw.get("Properties")
    for key in call.path[:-1]:
        if isinstance(value, dict) and isinstance(key, str):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
    if name != "Value":
        return name
    beside = value.get("Name") if isinstance(value, Mapping) else None
    return beside if isinstance(beside, str) else ""


def _said(items: Sequence[str], index: int, delimiter: str, wanted: str) -> str | None:
    """What an item is instead of a name or an id, in words."""
    if not wanted:
        return None
    if delimiter == "/":
        return "the ARN without its end" if index == 0 and len(items) > 1 and not wanted.endswith(("Arn", "ARN")) else None
    if index < len(_FIXED):
        return _FIXED[index] if not wanted.endswith(("Partition", "Service", "Namespace", "Tag")) else None
    if index in (3, 4) and wanted.endswith(("Id", "Name")) and not _is_place(wanted):
        return "the region" if index == 3 else "the account"
    kind = items[index].partition("/")[0]
    named = index == 5 and "/" in items[index] and wanted.endswith(("ClusterId", "Name"))
    return f"{kind}/ with the name behind it" if named and not kind.startswith(("/", _OPEN)) else None


def _is_place(wanted: str) -> bool:
    return wanted.startswith(("Account", "Region", "Owner")) or wanted.endswith(("AccountId", "RegionName", "OwnerId", "CatalogId"))
