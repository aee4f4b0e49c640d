"""Loads documents from paths: template files (JSON or YAML) and cloud assemblies (`cdk.out` directories)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.printable import encodable
from hyperpod_constructs.templates.assembly import assembly_documents
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.files import inside, is_directory, is_file
from hyperpod_constructs.templates.nesting import is_url, template_file_name, with_nested
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.reading import read_template


def documents_of(paths: Sequence[Path]) -> list[Document]:
    """The templates at these paths, each once. The template of a nested stack becomes part of its parent's document.

    It comes from the assembly, from the folder of its parent, or from these paths by its file name.

    :raises TemplateError: if a path does not exist or is neither a template nor an assembly.
    """
    files: list[Document] = []
    assemblies: list[tuple[Path, list[Document]]] = []
    for path in dict.fromkeys(paths):
        if is_directory(path):
            assemblies.append((path, assembly_documents(path)))
        else:
            files.append(Document(name=encodable(str(path)), body=read_template(path), file=path))
    return [*_named_apart(assemblies), *_with_local_nesting(files)]


def _named_apart(assemblies: Sequence[tuple[Path, Sequence[Document]]]) -> Iterator[Document]:
    """The stacks of several assemblies; a name that two assemblies share gets its assembly as prefix."""
    times = Counter(document.name for _, documents in assemblies for document in documents)
    for path, documents in assemblies:
        names = {name: f"{path}/{name}" if times[name] > 1 else name for name in (document.name for document in documents)}
        for document in documents:
            awaits = frozenset(names.get(name, name) for name in document.awaits)
            yield _renamed(replace(document, awaits=awaits), names[document.name])


def _renamed(document: Document, name: str) -> Document:
    nested = {inner: _renamed(child, f"{name}/{inner}") for inner, child in document.nested.items()}
    return replace(document, name=name, nested=nested)


def _with_local_nesting(files: Sequence[Document]) -> list[Document]:
    """These templates, with nested stacks inside their parents instead of beside them."""
    by_name = grouped((document.file.name, document) for document in files if document.file is not None)
    by_path = {os.path.normpath(document.file): document for document in files if document.file is not None}
    used: set[Path | None] = set()
    read = cache(read_template)

    def find(user: Document, resource: Mapping[str, Raw]) -> Document | None:
        name = template_file_name(resource)
        if name is None or user.file is None:
            return None
        found = None if is_url(name) else given(user.file, name) or beside(user.file, name)
        candidates = by_name.get(PurePosixPath(name).name, [])
        if found is None and len(candidates) == 1:
            found = candidates[0]
        if found is not None:
            used.add(found.file)
        return found

    def given(user: Path, name: str) -> Document | None:
        return by_path.get(os.path.normpath(user.parent / name))

    def beside(user: Path, name: str) -> Document | None:
        local = user.parent / name
        if not is_file(local):
            return None
        root = next((folder for folder in folders if user.is_relative_to(folder)), user.parent)
        return Document(name=encodable(str(local)), body=read(inside(root, local, user)), file=local)

    folders = sorted({document.file.parent for document in files if document.file is not None})
    nested = [with_nested(document, find) for document in files]
    return [document for document in nested if document.file not in used] or nested
