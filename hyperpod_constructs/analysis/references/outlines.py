"""The forms of what stands in a template beside properties: objects, texts, and mappings of two levels without functions.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/template-anatomy.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from hyperpod_constructs.analysis.references.places import ENTRIES, Misreference, calls, entry, head, section
from hyperpod_constructs.templates.model import Resource, Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import ABSENT


def unformed(template: Template) -> Iterator[Misreference]:
    """Entries, and keys of resources, of another form than they have; keys without a value are said elsewhere."""
    first = head(template)
    for kind, judge in _FORMS.items():
        for name, written in section(template, kind).items():
            said = None if written is None else judge(written)
            if said is None:
                continue
            place = entry(template, kind, name) if kind in ENTRIES else _reader(template, name, written) or first
            if place is not None:
                yield Misreference(place, (), f"{kind}/{name}{said[0]}", ABSENT, said[1])
    description = template.raw.get("Description")
    if first is not None and isinstance(description, list | dict):
        yield Misreference(first, (), f"the description of the template is {_kind(description)}", ABSENT, "a text")

    for resource in template.resources:
        yield from _of_another_kind(resource)


def _reader(template: Template, name: str, mapping: Raw) -> Resource | None:
    """The first resource that looks up a wrong value of a mapping, or else any of its values."""
    lookups = [one for one in calls(template.model) if one.template is template and one.name == "Fn::FindInMap"]
    readers = [one for one in lookups if isinstance(one.argument, list) and one.argument[:1] == [name]]
    wrong = [one for one in readers if _of_mapping(_looked_up(mapping, one.argument)) is not None]
    return next((one.owner for one in (*wrong, *readers) if one.owner.type not in ENTRIES.values()), None)


def _looked_up(mapping: Raw, argument: Raw) -> Raw:
    """The part of a mapping that a lookup may give: keys that are functions stand for any."""
    first, second = argument[1:3] if isinstance(argument, list) and len(argument) > 2 else (None, None)
    rows = mapping.items() if isinstance(mapping, dict) else ()
    chosen = {key: row for key, row in rows if not isinstance(first, str) or key == first}
    return {key: _only(row, second) for key, row in chosen.items()}


def _only(row: Raw, key: Raw) -> Raw:
    return {key: row[key]} if isinstance(row, dict) and isinstance(key, str) and key in row else row


def _of_another_kind(resource: Resource) -> Iterator[Misreference]:
    """Keys of a resource with a list or a text where they have an object, or a number where they have names."""
    for name, allowed in _KEYS.items():
        written = resource.written.get(name)
        awaited = written if name == "DependsOn" and isinstance(written, list) else [written]
        kinds = (str, dict) if name == "DependsOn" else (dict,)
        if written is not None and not all(isinstance(one, kinds) for one in awaited):
            yield Misreference(resource, (), f"{name} of {resource.logical_id} is {_kind(written)}", ABSENT, allowed)


_KEYS = {
    "CreationPolicy": "an object",
    "DependsOn": "the name of a resource, or a list of such names",
    "Metadata": "an object",
    "Properties": "an object of properties",
    "UpdatePolicy": "an object",
}

_Said = tuple[str, str] | None


def _of_entry(written: Raw) -> _Said:
    return None if isinstance(written, dict) else (f" is {_kind(written)}", "an object")


def _of_parameter(written: Raw) -> _Said:
    if not isinstance(written, dict):
        return _of_entry(written)
    allowed = written.get("AllowedValues")
    for key, value in (("Default", written.get("Default")), *(("AllowedValues", one) for one in _items(allowed))):
        if isinstance(value, dict) or (key == "AllowedValues" and isinstance(value, list)):
            return f"/{key} has {_kind(value)}", "texts and numbers; a parameter takes no functions"
    return None


def _of_output(written: Raw) -> _Said:
    if not isinstance(written, dict):
        return _of_entry(written)
    for key in ("Condition", "Description"):
        if isinstance(written.get(key), list | dict):
            return f"/{key} is {_kind(written[key])}", "a text"
    export = written.get("Export")
    if export is not None and (not isinstance(export, dict) or [*export] != ["Name"]):
        return f"/Export is {_kind(export)} without a Name alone", "an object with Name"
    return None


def _of_mapping(written: Raw) -> _Said:
    """A mapping has two levels of keys, and texts, numbers or lists of them below."""
    if not isinstance(written, dict):
        return _of_entry(written)
    for key, row in written.items():
        if not isinstance(row, dict):
            return f"/{key} is {_kind(row)}", "an object: a mapping has two levels of keys"
        for name, value in row.items():
            if any(isinstance(one, dict) for one in (value, *_items(value))):
                return f"/{key}/{name} has an object", "a text, a number or a list of them; a mapping takes no functions"
    return None


_FORMS: Mapping[str, Callable[[Raw], _Said]] = {
    "Mappings": _of_mapping,
    "Outputs": _of_output,
    "Parameters": _of_parameter,
    "Resources": _of_entry,
    "Rules": _of_entry,
}


def _items(raw: Raw) -> list[Raw]:
    return raw if isinstance(raw, list) else []


def _kind(raw: Raw) -> str:
    return "a list" if isinstance(raw, list) else "an object" if isinstance(raw, dict) else f"{raw!r}"[:60]
