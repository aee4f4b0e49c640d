"""What is said of a single value that a schema refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.analysis.schema.formats import format_words
from hyperpod_constructs.analysis.schema.patterns import form_words, matches, other_words
from hyperpod_constructs.analysis.schema.violation import Path, label, listed, meant, quoted
from hyperpod_constructs.analysis.schema.words import repeated
from hyperpod_constructs.templates.values import Reference, Value, as_str


def said(word: str, node: Mapping[str, Any], value: Value, path: Path) -> tuple[str, str]:
    """A violation of a single value in words: its message, and the allowed values."""
    name, wanted = label(path), node[word]
    if word in ("enum", "enumCaseInsensitive", "const"):
        choices = [str(one) for one in (wanted if isinstance(wanted, list) else [wanted])]
        return f"{name} is {quoted(value)}{meant(as_str(value) or '', choices)}", listed(choices)
    if word == "beginsWith":
        return f"{name} is {quoted(value)}", f"a text that begins with {' or '.join(wanted)}"
    if word == "endsWith":
        return f"{name} is {quoted(value)}", f"a text that ends with {' or '.join(wanted)}"
    if word == "classes":
        families = wanted["families"].items()
        choices = [f"{wanted['before']}{one}.{size}{wanted['behind']}" for one, sizes in families for size in sizes]
        return f"{name} is {quoted(value)}{meant(as_str(value) or '', choices)}", f"a class such as {choices[-1]}"
    if word == "pattern" and isinstance(value, Reference):
        given = "the Ref" if value.attribute is None else value.attribute
        other, allowed = other_words(wanted, value)
        return f"{name} is {given} of {value.resource.logical_id}, {other}", allowed
    if word == "format":
        what = f"a reference to {value.resource.type}, {value}" if isinstance(value, Reference) else quoted(value)
        return f"{name} is {what}", format_words(wanted)
    form = node.get("pattern", "")
    in_words = form_words(form)
    if word == "pattern" or (in_words and matches(form, value) is False):
        return f"{name} is {quoted(value)}", in_words or f"a text of the form {form}"
    if word == "uniqueItems":
        twice = repeated(value) if isinstance(value, tuple) else value
        return f"{name} has {quoted(twice)} twice", "each item once"
    if word == "without":
        return f"{name} is {quoted(value)}", f"a text without {listed(wanted)}"
    if word == "multipleOf":
        return f"{name} is {quoted(value)}", f"a multiple of {wanted}"
    if word in ("minimum", "maximum"):
        return f"{name} is {quoted(value)}; the nearest is {wanted}", _between(node.get("minimum"), node.get("maximum"))
    what = word.removeprefix("min").removeprefix("max")
    unit = {"Length": "characters", "Items": "items", "Properties": "names"}[what]
    count = len(value) if isinstance(value, tuple | Mapping) else len(as_str(value) or str(value))
    return f"{name} has {count} {unit}", f"{_between(node.get(f'min{what}', 0), node.get(f'max{what}'))} {unit}"


def _between(least: float | None, most: float | None) -> str:
    if least is None:
        return f"at most {most}"
    return f"{least} or more" if most is None else f"{least} to {most}"
