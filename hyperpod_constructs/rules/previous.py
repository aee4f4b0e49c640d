"""What is deployed, from a path: its templates under the names of the stacks that they are to be compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from hyperpod_constructs.rules.template.errors import TemplateError
from hyperpod_constructs.rules.template.files import is_file
from hyperpod_constructs.rules.template.loading import documents_of
from hyperpod_constructs.rules.template.model import Model


def previous_model(path: Path, new: Model) -> Model:
    """The model of what is deployed. A single template belongs to the stack that its file is named like, or to the only one.

    :raises TemplateError: if the path cannot be read, or has no stack of the new model: nothing could be compared then.
    """
    documents = documents_of([path])
    if is_file(path) and len(new.roots) > 1:
        names = _names_of(path, new)
        documents = [replace(document, name=name) for document in documents for name in names] or documents
    alone = len(documents) == 1 and len(new.roots) == 1
    if documents and new.roots and not alone and not any(document.name in new.roots for document in documents):
        raise TemplateError(
            f"is of none of the new stacks ({_listed(new.roots)}): give an assembly with one of them, or a template whose file is "
            "named like its stack",
            file=path,
        )
    return Model(documents)


def _names_of(path: Path, new: Model) -> Sequence[str]:
    """The stack whose template a file holds, by the file's name: that of the assembly's file, or the stack's id or name."""
    stem = path.name.partition(".")[0]
    return [
        root.name
        for root in new.roots.values()
        if stem in (root.name, root.environment.stack_name) or (root.file is not None and root.file.name == path.name)
    ][:1]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
