"""Arguments that a function does not take: too few or many, an index, a key or a block that is not there."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator, Mapping

from hyperpod_constructs.analysis.references.anatomy import named_in
from hyperpod_constructs.analysis.references.arguments import doubled, wrong_shape
from hyperpod_constructs.analysis.references.choices import allowed_values, is_empty_where
from hyperpod_constructs.analysis.references.list_arguments import of_other_kind
from hyperpod_constructs.analysis.references.places import Call, Misreference, calls, once
from hyperpod_constructs.analysis.references.splits import of_a_pair, of_an_address, of_an_arn, pair_of
from hyperpod_constructs.analysis.schema.violation import listed, meant, quoted
from hyperpod_constructs.facts.template_parts import EXTENSIONS, FUNCTIONS, LOOP, OF_EXTENSIONS
from hyperpod_constructs.facts.zones import MOST_ZONES
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.parameters import compared
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.transforms import macros
from hyperpod_constructs.templates.values import ABSENT, Value, alternatives_of, as_int, as_str

_MOST_BLOCKS = 256
_COUNTS: Mapping[str, tuple[int, ...]] = {
    "Fn::And": tuple(range(2, 11)),
    "Fn::Cidr": (2, 3),
    "Fn::Equals": (2,),
    "Fn::FindInMap": (3, 4),
    "Fn::Join": (2,),
    "Fn::Not": (1,),
    "Fn::Or": tuple(range(2, 11)),
    "Fn::Select": (2,),
    "Fn::Split": (2,),
    "Fn::If": (3,),
}
"""The lengths that the list of a function's arguments can have."""


def wrong_calls(model: Model) -> tuple[Misreference, ...]:
    """Calls that surely fail, each mistake of a template once."""
    return tuple(once([*(one for call in calls(model) for one in _judged(call)), *loops(model), *doubled(model)]))


def _judged(call: Call) -> Iterator[Misreference]:
    if call.name.startswith("Fn::") and call.name not in FUNCTIONS:
        yield call.mistake(f"there is no function {call.name}{meant(call.name, FUNCTIONS)}", call.name, listed(FUNCTIONS))
    yield from (*_extended(call), *_empty(call))
    yield from wrong_shape(call)
    counts = _COUNTS.get(call.name)
    if call.name == "Fn::ImportValue":
        yield from _late_import(call)
    if counts is None:
        return
    if not isinstance(call.argument, list):
        if not isinstance(call.argument, dict):
            yield call.mistake(f"{call.name} takes a list of arguments", as_str(_plain(call.argument)) or "", "a list")
        return
    if len(call.argument) not in counts:
        number = listed(counts) if len(counts) < 4 else f"{counts[0]} to {counts[-1]}"
        message = f"{call.name} takes {number} arguments, not {len(call.argument)}"
        yield call.mistake(message, len(call.argument), f"{number} arguments")
    elif call.name == "Fn::Join" and isinstance(call.argument[0], dict):
        given = next(iter(call.argument[0]), "")
        yield call.mistake(f"the delimiter of Fn::Join is {given}, a function", given, "a text, such as a comma")
    elif call.name in _JUDGES:
        resolve = call.template.resolver.resolve
        said = _JUDGES[call.name]([resolve(one) for one in call.argument]) if call.name != "Fn::FindInMap" else _keys(call)
        if call.name == "Fn::Select":
            judges = (_of_few_blocks, _of_few_zones, _undivided, of_a_pair, of_an_arn, of_an_address)
            said = said or next((found for judge in judges if (found := judge(call, call.argument)) is not None), None)
        if said is not None and (call.sure or call.name == "Fn::Cidr"):
            yield call.mistake(said[0], said[1], said[2])
        elif said is None:
            yield from of_other_kind(call, call.argument)
    elif call.name == "Fn::Split":
        yield from of_other_kind(call, call.argument)


def _extended(call: Call) -> Iterator[Misreference]:
    """What only a transform makes a function, in a template without any."""
    with_default = call.name == "Fn::FindInMap" and isinstance(call.argument, list) and len(call.argument) == 4
    if (call.name in OF_EXTENSIONS or with_default) and not macros(call.template.raw):
        what = "a default of Fn::FindInMap" if with_default else call.name
        yield call.mistake(f"{what} is there, without the transform {EXTENSIONS}", call.name, f"Transform: {EXTENSIONS}")


def _empty(call: Call) -> Iterator[Misreference]:
    """A parameter where the condition of `Fn::If` says that it is empty; the other branch is probably meant."""
    condition, *branches = call.argument if call.name == "Fn::If" and isinstance(call.argument, list) and call.argument else [None]
    for answer, branch in zip((True, False), branches, strict=False):
        name = compared(_divided(branch))
        if isinstance(condition, str) and name is not None and is_empty_where(call.template, condition, name, answer=answer):
            is_ = "holds" if answer else "does not hold"
            yield call.mistake(f"Fn::If gives {name} where {condition} {is_}, and there it is empty", name, "the other branch")


def _divided(raw: Raw) -> Raw:
    """What `Fn::Split` divides; another value as it is."""
    split = raw.get("Fn::Split") if isinstance(raw, dict) else None
    return split[1] if isinstance(split, list) and len(split) == 2 else raw


def loops(model: Model) -> Iterator[Misreference]:
    """The first loop of a template without a transform."""
    for template in model.templates:
        places = ((template.raw.get(kind), kind) for kind in ("Resources", "Conditions", "Outputs")) if template.resources else ()
        written = [key for section, _ in places if isinstance(section, dict) for key in section if key.startswith(f"{LOOP}::")]
        if written and not macros(template.raw):
            message = f"{written[0]} is there, without the transform {EXTENSIONS}"
            yield Misreference(template.resources[0], (), message, written[0], f"Transform: {EXTENSIONS}")


def _late_import(call: Call) -> Iterator[Misreference]:
    """An import whose name comes from a resource, which is not there when imports are resolved."""
    resources = call.template.written
    named = next((name for name in named_in(call.argument) if name in resources), None)
    if named is not None:
        message = f"the name of an import comes from {named}, a resource"
        yield call.mistake(message, named, "a text, with parameters and pseudo parameters")


_Said = tuple[str, Value, str] | None


def _plain(raw: Raw) -> Value:
    return raw if isinstance(raw, str | int | float | bool) else None


def _index(values: list[Value]) -> _Said:
    index, items = as_int(values[0]), values[1]
    if index is not None and index < 0:
        return f"Fn::Select takes item {index}", index, "0 or more"
    if index is None or not isinstance(items, tuple) or any(ABSENT in alternatives_of(item) for item in items):
        return None
    if index < len(items):
        return None
    return f"Fn::Select takes item {index} of a list of {len(items)}", index, f"0 to {len(items) - 1}" if items else "no item"


def _blocks(values: list[Value]) -> _Said:
    text, count = as_str(values[0]), as_int(values[1])
    bits = as_int(values[2]) if len(values) == 3 else 8
    if text is None or count is None or bits is None:
        return None
    try:
        block = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return f"Fn::Cidr divides {quoted(text)}, which is no block", text, "a block such as 10.0.0.0/16"
    size = block.max_prefixlen - bits
    room = 2 ** (size - block.prefixlen) if block.prefixlen <= size <= block.max_prefixlen else 0
    if 1 <= count <= min(room, _MOST_BLOCKS):
        return None
    return (
        f"Fn::Cidr divides {block} into {count} blocks of /{size}; it has {room}",
        count,
        f"1 to {min(room, _MOST_BLOCKS)} blocks",
    )


def _of_few_blocks(call: Call, argument: list[Raw]) -> _Said:
    """An index beyond the number of blocks that `Fn::Cidr` makes, also of a block that only the deployment knows."""
    made = argument[1].get("Fn::Cidr") if isinstance(argument[1], dict) else None
    resolve = call.template.resolver.resolve
    count = as_int(resolve(made[1])) if isinstance(made, list) and len(made) > 1 else None
    index = as_int(resolve(argument[0]))
    if count is None or index is None or index < count:
        return None
    return f"Fn::Select takes block {index} of {count}", index, f"0 to {count - 1}"


def _of_few_zones(call: Call, argument: list[Raw]) -> _Said:
    """An index beyond the zones of any region."""
    index = as_int(call.template.resolver.resolve(argument[0]))
    if index is None or index < MOST_ZONES or not isinstance(argument[1], dict) or "Fn::GetAZs" not in argument[1]:
        return None
    return f"Fn::Select takes zone {index}, and no region has more than {MOST_ZONES}", index, f"0 to {MOST_ZONES - 1}"


def _undivided(call: Call, argument: list[Raw]) -> _Said:
    """An item that is two things with a colon between them, where a property takes one of them."""
    form = pair_of(call, argument[1])
    if form is None or call.owner.type == "Output" or call.written() is not argument:
        return None
    named: Raw = argument[1]["Fn::GetAtt"] if isinstance(argument[1], dict) else None
    owner, _, attribute = (".".join(map(str, named)) if isinstance(named, list) else str(named)).partition(".")
    return f"an item of {attribute} of {owner} is {form}", form, "one half: Fn::Select of Fn::Split by the colon"


def _texts(values: list[Value]) -> _Said:
    """A text where `Fn::Join` takes a list of texts."""
    return (f"Fn::Join joins {quoted(values[1])}", values[1], "a list of texts") if isinstance(values[1], str) else None


def _keys(call: Call) -> _Said:
    """The key that a mapping does not have; a default makes up for it."""
    argument = call.argument
    if not isinstance(argument, list) or len(argument) != 3 or not isinstance(argument[0], str):
        return None
    named = next((name for raw in argument[1:] for name in named_in(raw) if name in call.template.written), None)
    if named is not None:
        return f"a key of mapping {argument[0]} comes from {named}, a resource", named, "a parameter, a pseudo parameter or a text"
    found: Value = call.template.mapping(argument[0])
    for raw in argument[1:]:
        keys = [as_str(one) for one in alternatives_of(call.template.resolver.resolve(raw))]
        if isinstance(found, str | int):
            return f"mapping {argument[0]} has {found!r}, where keys with values are", found, "two levels of keys"
        if not isinstance(found, Mapping):
            return None
        if None in keys:
            return _key_of_another_value(call, argument) if raw is argument[1] else None
        known = [key for key in keys if key is not None and key in found]
        if not known:
            message = f"mapping {argument[0]} has no key {quoted(keys[0] or '')}{meant(keys[0] or '', found)}"
            return message, keys[0] or "", listed(sorted(found)) or "no key"
        if len(keys) != 1:
            return _key_of_another_value(call, argument) if raw is argument[1] else None
        found = found[known[0]]
    return _key_of_another_value(call, argument)


def _key_of_another_value(call: Call, argument: list[Raw]) -> _Said:
    """The key that a mapping lacks for another value which a parameter can have; a condition may rule that value out."""
    key, mapping = argument[1], call.template.mapping(str(argument[0]))
    parameter = key.get("Ref") if isinstance(key, dict) else None
    values = allowed_values(call.template, parameter) if isinstance(parameter, str) and not call.needs else None
    lacking = [value for value in values or () if isinstance(mapping, Mapping) and value not in mapping]
    if not lacking:
        return _second_key_of_another_value(mapping, argument, values or [])
    message = f"mapping {argument[0]} has no key {quoted(lacking[0])}, which {parameter} can be"
    return message, lacking[0], "a key for each value of the parameter"


def _second_key_of_another_value(mapping: Value, argument: list[Raw], values: list[str]) -> _Said:
    """The second key of a mapping, where a value of the first one does not have it."""
    key = argument[2]
    for value in values if isinstance(mapping, Mapping) and isinstance(key, str) else ():
        found = mapping.get(value) if isinstance(mapping, Mapping) else None
        if isinstance(found, Mapping) and key not in found:
            return f"{value} of mapping {argument[0]} has no key {quoted(str(key))}", str(key), listed(sorted(found)) or "no key"
    return _second_key_of_none(mapping, argument)


def _second_key_of_none(mapping: Value, argument: list[Raw]) -> _Said:
    """The second key of a mapping that has it under no first key, whatever that is."""
    rows = [*mapping.values()] if isinstance(mapping, Mapping) else []
    known = [[*row] for row in rows if isinstance(row, Mapping)]
    key = argument[2]
    if not isinstance(key, str) or not rows or len(known) < len(rows) or any(key in keys for keys in known):
        return None
    near = sorted({one for keys in known for one in keys})
    return f"mapping {argument[0]} has {quoted(key)} under no key{meant(key, near)}", key, listed(near) or "no key"


_JUDGES: Mapping[str, Callable[[list[Value]], _Said]] = {
    "Fn::Cidr": _blocks,
    "Fn::FindInMap": lambda _: None,
    "Fn::Join": _texts,
    "Fn::Select": _index,
}
