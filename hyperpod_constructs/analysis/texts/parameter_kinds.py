"""Whether the values of parameters are of the kinds that an operation takes: lists, objects, numbers, words.

Source: https://docs.aws.amazon.com/boto3/latest/guide/error-handling.html (ParamValidationError)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import listed, meant, quoted
from hyperpod_constructs.analysis.texts.reading import HOLE
from hyperpod_constructs.facts.sdk_calls import Operation
from hyperpod_constructs.facts.sdk_values import IN_WORDS, LIST, MAP, NUMBER, TRUE, kinds_of
from hyperpod_constructs.templates.values import Value

_TEXT = "text"
_CONVERTED = ((_TEXT, NUMBER), (_TEXT, TRUE), (NUMBER, TRUE))
"""What services that read JSON take for what it means."""
_SHOWN = {_TEXT: "a text", **IN_WORDS}


def misfits(given: Mapping[str, Value], operation: Operation) -> Iterator[tuple[str, str, str]]:
    """The parameters in JSON that are of another kind, in words, each with its name and what is allowed."""
    kinds = {name.lower(): kind for name, kind in kinds_of(operation.client, operation.name).items()}
    for name, value in given.items():
        own, wanted = _kind_of(value), kinds.get(name.lower(), _TEXT)
        if own is None or (own, wanted) in _CONVERTED:
            continue
        found = misfit(own, value if own == _TEXT else None, wanted)
        if found is not None and not (own == NUMBER and wanted not in IN_WORDS) and not (own in (MAP, TRUE) and wanted == _TEXT):
            yield name, *found


def misfit(own: str, text: Value, wanted: str) -> tuple[str, str] | None:
    """What is wrong with a value of a kind, and what is allowed.

    :param text: the text, if it is one that is known.
    :param wanted: a kind, or the words of a text.
    """
    if wanted in (LIST, MAP, NUMBER, TRUE, _TEXT):
        return None if own == wanted else (f"is {_SHOWN[own]}", _SHOWN[wanted])
    words = wanted.split("|")
    if own != _TEXT:
        return f"is {_SHOWN[own]}", listed(words)
    return None if text is None or text in words else (f"is {quoted(text)}{meant(str(text), words)}", listed(words))


def _kind_of(value: Value) -> str | None:
    """The kind of a value in JSON; `None` if it is not known, or computed."""
    if isinstance(value, str):
        return None if HOLE in value or value.startswith("{%") or "${" in value or value.startswith("$") else _TEXT
    if isinstance(value, bool):
        return TRUE
    if isinstance(value, int | float):
        return NUMBER
    return LIST if isinstance(value, tuple) else MAP if isinstance(value, Mapping) else None
