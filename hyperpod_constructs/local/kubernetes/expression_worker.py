"""A program that evaluates CEL expressions, apart from the control plane: they are a stranger's, and may never end.

It reads requests and writes answers in turn. The kernel ends it when a request's processor time is over; its memory has a limit
too. It is run as a file, alone, and imports nothing of the library.
"""

from __future__ import annotations

import itertools
import json
import pickle
import re
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, BinaryIO

import cel
import regex  # type: ignore[import-untyped]

MOST_MEMORY = 2 << 30
LONGEST_ANSWER = 5_000


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Answer requests until there are no more: `(seconds, expressions, variables, is there a value before)`.

    An expression is its text and whether `oldSelf` is optional in it. Without variables it is read only. An answer is a line
    for each: `value`, `error` or `unreadable` with what was found; then one with the processor time.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while len(head := source.read(4)) == 4:
        # Its sender is the control plane alone.
        seconds, expressions, variables, present = pickle.loads(source.read(*struct.unpack(">I", head)))
        start = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, seconds)
        for text, optional in expressions:
            _write(target, _answer(text, variables, optional=optional, present=present))
        signal.setitimer(signal.ITIMER_PROF, 0)
        _write(target, ("done", time.process_time() - start))


def _write(target: BinaryIO, answer: tuple[str, Any]) -> None:
    target.write(json.dumps(answer).encode() + b"\n")
    target.flush()


def _answer(text: str, variables: Mapping[str, Any] | None, *, optional: bool, present: bool) -> tuple[str, Any]:
    try:
        program = _program(text)
    except ValueError as error:
        return "unreadable", str(error).splitlines()[0][:LONGEST_ANSWER]
    if variables is None:
        return "value", None
    given = dict(variables)
    if optional:
        given["oldSelf"] = cel.OptionalValue.of(given["oldSelf"]) if present else cel.OptionalValue.none()
    try:
        found = program.execute(cel.Context(variables=given, functions=dict(_FUNCTIONS)))
    except Exception as error:  # The library raises what the functions of the rule raise.
        detail = str(error)[:LONGEST_ANSWER].strip("'")
        return "error", f"no such key: {detail}" if isinstance(error, KeyError) else detail
    if isinstance(found, str):
        return "value", found[:LONGEST_ANSWER]
    return "value", found if found is True or found is False else None


@lru_cache(maxsize=1000)
def _program(text: str) -> cel.Program:
    return cel.compile(text)


_SUFFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_SUFFIXES |= {f"{letter}i": 1024.0 ** (power + 1) for power, letter in enumerate("KMGTPE")}
_QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([numkMGTPE]|[KMGTPE]i)?")


def _quantity(value: str) -> float:
    found = _QUANTITY.fullmatch(value)
    if found is None:
        raise ValueError(f"{value!r} is no quantity")
    return float(found[1]) * _SUFFIXES[found[2] or ""]


def _find(value: str, pattern: str) -> str:
    found = regex.search(pattern, value, timeout=0.5)
    return found[0] if found else ""


def _find_all(value: str, pattern: str, limit: int = -1) -> list[str]:
    found = [match[0] for match in regex.finditer(pattern, value, timeout=0.5)]
    return found if limit < 0 else found[:limit]


def _url(value: str) -> bool:
    from urllib.parse import urlsplit

    parts = urlsplit(value)
    return bool(parts.scheme and (parts.netloc or parts.path.startswith("/")))


def _address(value: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _cidr(value: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        return False
    return "/" in value


def _is_quantity(value: str) -> bool:
    return _QUANTITY.fullmatch(value) is not None


def _is_sorted(values: Sequence[Any]) -> bool:
    return all(first <= second for first, second in itertools.pairwise(values))


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "split": lambda value, separator, limit=-1: value.split(separator, -1 if limit < 0 else limit - 1) if limit else [],
    "join": lambda values, separator="": separator.join(values),
    "replace": lambda value, old, new, limit=-1: value.replace(old, new, limit),
    "substring": lambda value, start, end=None: value[start:end],
    "charAt": lambda value, index: value[index : index + 1],
    "indexOf": lambda value, one, start=0: value.find(one, start) if isinstance(value, str) else _position(value, one),
    "lastIndexOf": lambda value, one: value.rfind(one),
    "lowerAscii": lambda value: value.lower(),
    "upperAscii": lambda value: value.upper(),
    "trim": lambda value: value.strip(),
    "find": _find,
    "findAll": _find_all,
    "isSorted": _is_sorted,
    "sum": lambda values: sum(values),
    "isURL": _url,
    "isIP": _address,
    "isCIDR": _cidr,
    "quantity": _quantity,
    "isQuantity": _is_quantity,
    "isGreaterThan": lambda one, other: one > other,
    "isLessThan": lambda one, other: one < other,
    "compareTo": lambda one, other: (one > other) - (one < other),
    "asInteger": lambda one: int(one),
    "asApproximateFloat": lambda one: float(one),
    "sign": lambda one: (one > 0) - (one < 0),
}


def _position(values: list[Any], one: Any) -> int:
    return values.index(one) if one in values else -1


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
