"""Paths and intrinsic functions of Amazon's language of states: their form, their arguments, and what the context has.

Sources: https://states-language.net/spec.html#paths, https://docs.aws.amazon.com/step-functions/latest/dg/intrinsic-functions.html
and https://docs.aws.amazon.com/step-functions/latest/dg/input-output-contextobject.html
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from hyperpod_constructs.analysis.schema.violation import listed, meant, quoted
from hyperpod_constructs.analysis.texts.slip import Slip
from hyperpod_constructs.facts.state_language import ARGUMENTS, CONTEXT, HASHES

_CALL = re.compile(r"(States\.\w+)\(")
_TEXT = re.compile(r"'(?:[^'\\]|\\.)*'")
_PLAIN = re.compile(r"-?\d+(?:\.\d+)?|true|false|null")
_START = re.compile(r"\$(\$|[A-Za-z_]\w*)?")
_PIECE = re.compile(r"[^\s.\[\](),'\"\\]|\\.")
_BLANK = re.compile(r"\s*")
_PLACES = re.compile(r"(?<!\\)\{\}")
_DEEPEST = 20


class _FormError(Exception):
    """A text that is no path and no function."""


def mistakes_in_paths(text: str, variables: Collection[str] | None) -> Iterator[Slip]:
    """The mistakes of a path, or of a function and the paths in it.

    :param variables: the variables that the machine assigns; `None` if they are not known.
    """
    found: list[Slip] = []
    try:
        end = _expression(text, 0, variables, found, 0)
        if text[end:].strip():
            raise _FormError(f"goes on with {quoted(text[end:].strip())}")
    except _FormError as error:
        yield Slip(
            f"has the path {quoted(text)}, which {error}", "a path such as $.name, or a function such as States.Array($.name)"
        )
    else:
        yield from found[:1]


def _expression(text: str, start: int, variables: Collection[str] | None, found: list[Slip], depth: int) -> int:
    """Reads an expression; its end."""
    call = _CALL.match(text, start)
    if call is None:
        return _path(text, start, variables, found)
    if depth > _DEEPEST:
        raise _FormError("is nested too deep")
    arguments: list[str] = []
    end = _blank(text, call.end())
    while not text.startswith(")", end):
        if arguments and not text.startswith(",", end):
            raise _FormError(f"lacks a comma or a parenthesis at {quoted(text[end:] or 'its end')}")
        begin = _blank(text, end + 1 if arguments else end)
        end = _argument(text, begin, variables, found, depth)
        arguments.append(text[begin:end])
        end = _blank(text, end)
    found += _call_mistakes(call[1], arguments)
    return end + 1


def _blank(text: str, start: int) -> int:
    match = _BLANK.match(text, start)
    return match.end() if match else start


def _argument(text: str, start: int, variables: Collection[str] | None, found: list[Slip], depth: int) -> int:
    plain = _TEXT.match(text, start) or _PLAIN.match(text, start)
    if plain is not None:
        return plain.end()
    if text.startswith(('"', "'"), start):
        raise _FormError("has a text that is not in single quotes")
    return _expression(text, start, variables, found, depth + 1)


def _path(text: str, start: int, variables: Collection[str] | None, found: list[Slip]) -> int:
    """Reads a path such as `$.a[0]['b'].c`; its end."""
    match = _START.match(text, start)
    if match is None:
        raise _FormError(f"has {quoted(text[start:] or 'nothing')} where a path or a value is wanted")
    end, steps = match.end(), []
    while end < len(text) and text[end] in ".[":
        begin, end = end, _bracket(text, end) if text[end] == "[" else _name(text, end)
        steps.append(text[begin:end].lstrip("."))
    if match[1] == "$":
        found += _context_mistakes(text[start:end], steps)
    elif match[1] and variables is not None and match[1] not in variables:
        message = f"reads the variable {match[0]}, which nothing assigns{meant(match[1], variables)}"
        found.append(Slip(message, listed(sorted(variables)) or "a variable of Assign", dead=True))
    return end


def _name(text: str, start: int) -> int:
    """Reads a name behind one dot or two, and the parentheses of a function."""
    end = start + (2 if text.startswith("..", start) else 1)
    if text.startswith("[", end):
        return end
    first = end
    while piece := _PIECE.match(text, end):
        end = piece.end()
    if end == first:
        raise _FormError("has a dot without a name behind it")
    return end + 2 if text.startswith("()", end) else end


def _bracket(text: str, start: int) -> int:
    """Reads a bracket with what is in it."""
    open_, end = 0, start
    while end < len(text):
        quote = text[end] if text[end] in "'\"" else ""
        if quote:
            end = text.find(quote, end + 1)
            if end < 0:
                raise _FormError("has a quote without its end")
        open_ += {"[": 1, "]": -1}.get(text[end], 0)
        end += 1
        if open_ == 0:
            return end
    raise _FormError("has a bracket without its end")


def _call_mistakes(name: str, arguments: list[str]) -> Iterator[Slip]:
    """Too few or too many arguments of a function, or one that it does not take."""
    if name not in ARGUMENTS:
        yield Slip(f"has the function {name}{meant(name, ARGUMENTS)}", "an intrinsic function")
        return
    least, most = ARGUMENTS[name]
    if len(arguments) < least or (most is not None and len(arguments) > most):
        wanted = f"{least}" if most == least else f"{least} or more" if most is None else f"{least} to {most}"
        yield Slip(f"calls {name} with {len(arguments)} arguments", f"{wanted} arguments", dead=True)
    elif name == "States.Format" and arguments[0].startswith("'"):
        places = len(_PLACES.findall(arguments[0]))
        if places != len(arguments) - 1:
            message = f"calls {name} with {places} places {{}} and {len(arguments) - 1} values for them"
            yield Slip(message, "a value for each place", dead=True)
    elif name == "States.Hash" and arguments[1].startswith("'") and arguments[1][1:-1] not in HASHES:
        yield Slip(f"calls {name} with {arguments[1]}{meant(arguments[1][1:-1], HASHES)}", listed(HASHES), dead=True)
    elif name == "States.JsonMerge" and arguments[2] == "true":
        yield Slip(f"calls {name} for a deep merge, which it does not have", "false as the last argument", dead=True)


def _context_mistakes(path: str, steps: list[str]) -> Iterator[Slip]:
    """A path into the context that leads nowhere."""
    names, place = CONTEXT.get("", ()), ""
    for step in steps:
        if names and step not in names:
            message = f"reads {path}, and the context has no {step}{meant(step, names)}"
            yield Slip(message, listed(names), dead=True)
            return
        place = f"{place}.{step}".lstrip(".")
        names = CONTEXT.get(place, ())
        if not names:
            return
