"""Templates from files: JSON, YAML, or a directory that ``cdk synth`` wrote."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn
from urllib.parse import urlsplit

from hyperpod_constructs._printable import encodable
from hyperpod_constructs.rules.template.documents import NESTED_STACK, Document, resources_of
from hyperpod_constructs.rules.template.environment import Environment
from hyperpod_constructs.rules.template.errors import TemplateError
from hyperpod_constructs.rules.template.files import inside, is_directory, is_file, read_text
from hyperpod_constructs.rules.template.raw import Raw, raw_template, walk

_DEEPEST_STACKS = 10
_MOST_STACKS = 200
_MOST_RESOURCES = 50_000
_HALF_A_PAIR = re.compile(r"\\u[dD][89abAB]")


def documents_of(paths: Sequence[Path]) -> list[Document]:
    """The templates at these paths, each once; a nested stack's template is in the document that uses it.

    A nested stack's template is found in the assembly, beside the template that names it, or among the paths by its file name.

    :raises TemplateError: if a path is not there, is no template, or is no assembly.
    """
    files: list[Document] = []
    assemblies: list[tuple[Path, list[Document]]] = []
    for path in dict.fromkeys(paths):
        if is_directory(path):
            from hyperpod_constructs.rules.template.assembly import assembly_documents

            assemblies.append((path, assembly_documents(path)))
        else:
            files.append(Document(name=encodable(str(path)), body=read_template(path), file=path))
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


def parsed_json(text: str) -> Any:
    """JSON data; stricter than the standard library's.

    :raises TemplateError: if it is no JSON, repeats a key, nests too deeply, or holds NaN, an infinity or half of a character.
    """
    try:
        found = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_number)
        if _HALF_A_PAIR.search(text):
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except UnicodeEncodeError as error:
        raise TemplateError(f"holds half of a surrogate pair, which is no character: {error.object[error.start]!a}") from error
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
        times = Counter(key for key, _ in pairs)
        twice = next(key for key, count in times.items() if count > 1)
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
    read = cache(read_template)

    def find(user: Document, resource: Mapping[str, Raw]) -> Document | None:
        name = template_file_name(resource)
        if name is None or user.file is None:
            return None
        candidates = by_name.get(PurePosixPath(name).name, [])
        if len(candidates) == 1:
            found: Document | None = candidates[0]
        else:
            found = None if _is_url(name) else beside(user.file, name)
        if found is not None:
            used.add(found.file)
        return found

    def beside(user: Path, name: str) -> Document | None:
        local = user.parent / name
        if not is_file(local):
            return None
        root = next((folder for folder in folders if user.is_relative_to(folder)), user.parent)
        return Document(name=encodable(str(local)), body=read(inside(root, local, user)), file=local)

    folders = sorted({document.file.parent for document in files if document.file is not None})
    nested = [with_nested(document, find) for document in files]
    return [document for document in nested if document.file not in used] or nested


Find = Callable[[Document, Mapping[str, Raw]], Document | None]
"""The template of a nested stack, by the template that has it and its resource; ``None`` if it is not known."""


def with_nested(document: Document, find: Find) -> Document:
    """A document with the templates of its nested stacks, and of theirs, as far as `find` knows them.

    :raises TemplateError: if there are too many of them, as when a stack nests itself.
    """
    stacks, resources = itertools.count(1), 0

    def nest(outer: Document, depth: int) -> Document:
        nonlocal resources
        nested: dict[str, Document] = {}
        own = resources_of(outer.body)
        resources += len(own)
        if resources > _MOST_RESOURCES:
            raise TemplateError(f"has more than {_MOST_RESOURCES:,} resources with its nested stacks", file=document.file)
        for logical_id, resource in own.items():
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
        return (_path_of(url).rpartition("/")[2] if "://" in url else url) or None
    pieces: Iterable[Raw] = walk(url)
    names = [piece.rpartition("/")[2] for piece in pieces if isinstance(piece, str)]
    return next((name for name in reversed(names) if name.endswith((".yaml", ".yml", ".json", ".template"))), None)


def _is_url(text: str) -> bool:
    return "://" in text or text.partition(":")[0] in ("file", "s3", "http", "https")


def _path_of(url: str) -> str:
    """The path of a URL; nothing of one that is malformed."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""
