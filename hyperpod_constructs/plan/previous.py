"""Reads the previous deployment from a path, under the names of the new stacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.files import is_file
from hyperpod_constructs.templates.loading import documents_of
from hyperpod_constructs.templates.model import Model


def previous_model(path: Path, new: Model) -> Model:
    """The model of the previous deployment. A single template belongs to the stack with its file's name, or to the only one.

    :raises TemplateError: if the path cannot be read or has no stack in common with the new model.
    """
    documents = documents_of([path])
    if is_file(path) and len(new.roots) > 1:
        names = _names_of(path, new)
        documents = [replace(document, name=name) for document in documents for name in names] or documents
    alone = len(documents) == 1 and len(new.roots) == 1
    if documents and new.roots and not alone and not any(document.name in new.roots for document in documents):
        raise TemplateError(
            f"has none of the new stacks ({', '.join(new.roots)}): give an assembly with one of them, or a template file named "
            "after its stack",
            file=path,
        )
    return Model(documents)


def _names_of(path: Path, new: Model) -> Sequence[str]:
    """The stack with the name, the id or the template file that the path names."""
    stem = path.name.partition(".")[0]
    return [
        root.name
        for root in new.roots.values()
        if stem in (root.name, root.environment.stack_name) or (root.file is not None and root.file.name == path.name)
    ][:1]
