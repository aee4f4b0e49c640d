"""Templates from files: JSON, YAML, or a directory that ``cdk synth`` wrote."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn
from urllib.parse import urlsplit

from hyperpod_constructs.rules.template.documents import NESTED_STACK, Document, resources_of
from hyperpod_constructs.rules.template.environment import Environment
from hyperpod_constructs.rules.template.errors import TemplateError
from hyperpod_constructs.rules.template.raw import Raw, raw_template, walk

_LARGEST_FILE = 20_000_000
_DEEPEST_STACKS = 10
_MOST_STACKS = 200


def documents_of(paths: Sequence[Path]) -> list[Document]:
    """The templates at these paths, each once; a nested stack's template is in the document that uses it.

    A nested stack's template is found in the assembly, beside the template that names it, or among the paths by its file name.

    :raises TemplateError: if a path is not there, is no template, or is no assembly.
    """
    files: list[Document] = []
    assemblies: list[tuple[Path, list[Document]]] = []
    for path in dict.fromkeys(paths):
        if path.is_dir():
            from hyperpod_constructs.rules.template.assembly import assembly_documents

            assemblies.append((path, assembly_documents(path)))
        else:
            files.append(Document(name=str(path), body=read_template(path), file=path))
    return [*_named_apart(assemblies), *_with_local_nesting(files)]


def _named_apart(assemblies: Sequence[tuple[Path, Sequence[Document]]]) -> Iterator[Document]:
    """The stacks of several assemblies; those whose name is in two of them with their assembly before it."""
    times = Counter(document.name for _, documents in assemblies for document in documents)
    for path, documents in assemblies:
        names = {name: f"{path}/{name}" if times[name] > 1 else name for name in (document.name for document in documents)}
        for document in documents:
            awaits = frozenset(names.get(name, name) for name in document.awaits)
            yield _renamed(replace(document, awaits=awaits), names[document.name])


def _renamed(document: Document, name: str) -> Document:
    nested = {inner: _renamed(child, f"{name}/{inner}") for inner, child in document.nested.items()}
    return replace(document, name=name, nested=nested)


def read_template(path: Path, *, of_assembly: bool = False) -> dict[str, Raw]:
    """The template in a file; in an assembly it can be that of a stack that is still empty.

    :raises TemplateError: if there is none.
    """
    text = read_text(path)
    try:
        parsed = _parsed(text, json_only=path.suffix == ".json")
        return raw_template({"Resources": {}, **parsed} if of_assembly and isinstance(parsed, dict) else parsed)
    except TemplateError as error:
        raise error.at(path) from error


def read_text(path: Path) -> str:
    """The text of a file.

    :raises TemplateError: if it cannot be read, is too large to be a template, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TemplateError(f"cannot be read: {reason}", file=path) from error
    if len(content) > _LARGEST_FILE:
        raise TemplateError(
            f"is larger than {_LARGEST_FILE // 1_000_000} MB; CloudFormation takes templates of up to 1 MB", file=path
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TemplateError("is not UTF-8", file=path, line=line) from error


def parsed_json(text: str) -> Any:
    """JSON data; stricter than the standard library's.

    :raises TemplateError: if it is no JSON, repeats a key, nests too deeply, or holds NaN or an infinity.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_number)
    except json.JSONDecodeError as error:
        raise TemplateError(f"is no JSON: {error.msg}", line=error.lineno) from error
    except ValueError as error:
        raise TemplateError(f"is no JSON: {error}") from error
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
        from hyperpod_constructs.rules.template.yaml_reading import parsed
    except ModuleNotFoundError as error:
        raise TemplateError(
            "is no JSON, and to read YAML takes pyyaml: install it (pip install 'hyperpod-constructs[cli]'), or give JSON"
        ) from error
    return parsed(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise TemplateError(f"key {twice!r} is in one object twice; one of the two would be lost")
    return found


def _number(text: str) -> float:
    """A number that JSON can hold again: Python reads 1e999 as an infinity."""
    number = float(text)
    return number if math.isfinite(number) else _constant(text)


def _constant(name: str) -> NoReturn:
    raise TemplateError(f"is no JSON: {name} is no number")


def _with_local_nesting(files: Sequence[Document]) -> list[Document]:
    """These templates, those that others use as nested stacks inside them and no longer beside them."""
    by_name: dict[str, list[Document]] = {}
    for document in files:
        if document.file is not None:
            by_name.setdefault(document.file.name, []).append(document)
    used: set[Path | None] = set()

    def find(user: Document, resource: Mapping[str, Raw]) -> Document | None:
        name = template_file_name(resource)
        if name is None or user.file is None:
            return None
        candidates = by_name.get(PurePosixPath(name).name, [])
        if len(candidates) == 1:
            found: Document | None = candidates[0]
        else:
            local = user.file.parent / name
            found = (
                None
                if urlsplit(name).scheme or not local.is_file()
                else Document(name=str(local), body=read_template(local), file=local)
            )
        if found is not None:
            used.add(found.file)
        return found

    nested = [with_nested(document, find) for document in files]
    return [document for document in nested if document.file not in used] or nested


Find = Callable[[Document, Mapping[str, Raw]], Document | None]
"""The template of a nested stack, by the template that has it and its resource; ``None`` if it is not known."""


def with_nested(document: Document, find: Find) -> Document:
    """A document with the templates of its nested stacks, and of theirs, as far as `find` knows them.

    :raises TemplateError: if there are too many of them, as when a stack nests itself.
    """
    stacks = itertools.count(1)

    def nest(outer: Document, depth: int) -> Document:
        nested: dict[str, Document] = {}
        for logical_id, resource in resources_of(outer.body).items():
            child = find(outer, resource) if resource["Type"] == NESTED_STACK else None
            if child is None:
                continue
            if depth >= _DEEPEST_STACKS or next(stacks) > _MOST_STACKS:
                raise TemplateError(
                    f"has more than {_MOST_STACKS} nested stacks or {_DEEPEST_STACKS} levels of them, or one nests itself",
                    file=document.file,
                )
            environment = Environment(region=outer.environment.region, account=outer.environment.account)
            nested[logical_id] = nest(replace(child, name=f"{outer.name}/{logical_id}", environment=environment), depth + 1)
        return replace(outer, nested=nested) if nested else outer

    return nest(document, 0)


def template_file_name(resource: Mapping[str, Raw]) -> str | None:
    """The last piece of a nested stack's ``TemplateURL`` that looks like a template's file, or a local path as it is."""
    properties = resource.get("Properties")
    url = properties.get("TemplateURL") if isinstance(properties, dict) else None
    if isinstance(url, str) and "${" not in url:
        path = urlsplit(url).path if "://" in url else url
        return (path.rpartition("/")[2] if "://" in url else path) or None
    pieces: Iterable[Raw] = walk(url)
    names = [piece.rpartition("/")[2] for piece in pieces if isinstance(piece, str)]
    return next((name for name in reversed(names) if name.endswith((".yaml", ".yml", ".json", ".template"))), None)
