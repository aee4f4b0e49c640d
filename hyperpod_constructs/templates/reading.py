"""Parses one template file: strict JSON, or YAML."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.files import read_text
from hyperpod_constructs.templates.raw import Raw, raw_template

_HALF_A_PAIR = re.compile(r"\\u[dD][89abAB]")


def read_template(path: Path, *, of_assembly: bool = False) -> dict[str, Raw]:
    """The template in a file.

    :param of_assembly: whether the file belongs to an assembly, where a stack may have no resources; false by default.
    :raises TemplateError: if the file is not a readable template.
    """
    text = read_text(path)
    try:
        parsed = _parsed(text, json_only=path.suffix == ".json")
        return raw_template({"Resources": {}, **parsed} if of_assembly and isinstance(parsed, dict) else parsed)
    except TemplateError as error:
        raise error.at(path) from error


def parsed_json(text: str) -> Any:
    """JSON data, read more strictly than the standard library does.

    :raises TemplateError: if the text is not JSON, repeats a key, nests too deeply, or contains NaN, an infinity or half of a
        surrogate pair.
    """
    try:
        found = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_number)
        if _HALF_A_PAIR.search(text):
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except UnicodeEncodeError as error:
        raise TemplateError(
            f"contains half of a surrogate pair, which is not a character: {error.object[error.start]!a}"
        ) from error
    except json.JSONDecodeError as error:
        raise TemplateError(f"is not JSON: {error.msg}", line=error.lineno) from error
    except ValueError as error:
        raise TemplateError(f"is not JSON: {error}") from error
    except RecursionError as error:
        raise TemplateError("nests too deeply") from error


def _parsed(text: str, *, json_only: bool) -> object:
    if json_only or text.lstrip()[:1] == "{":
        try:
            return parsed_json(text)
        except TemplateError:
            if json_only:
                raise
    try:
        from hyperpod_constructs.templates.yaml_reading import parsed
    except ModuleNotFoundError as error:
        raise TemplateError(
            "is not JSON, and YAML needs pyyaml: install it (pip install 'hyperpod-constructs[cli]'), or give JSON"
        ) from error
    return parsed(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key, count in times.items() if count > 1)
        raise TemplateError(f"key {twice!r} appears twice in one object; one of the two would be lost")
    return found


def _number(text: str) -> float:
    """A finite number: Python reads 1e999 as an infinity, which JSON cannot write."""
    number = float(text)
    return number if math.isfinite(number) else _constant(text)


def _constant(name: str) -> NoReturn:
    raise TemplateError(f"is not JSON: {name} is not a number")
