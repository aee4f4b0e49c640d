"""Attaches the templates of nested stacks to the documents of their parents."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from hyperpod_constructs.templates.documents import NESTED_STACK, Document, resources_of
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.raw import Raw, walk

_DEEPEST_STACKS = 10
_MOST_STACKS = 200
_MOST_RESOURCES = 50_000

_BEHIND_FOLDERS = re.compile(r"[/}]")
"""A variable right before the name is a folder with its slash, as in `${Prefix}network.yaml`."""
TEMPLATE_ENDINGS = (".yaml", ".yml", ".json", ".template")
"""The ends of the names of templates."""

Find = Callable[[Document, Mapping[str, Raw]], Document | None]
"""Finds the template of a nested stack from its parent's document and its resource; `None` if it is unknown."""


def with_nested(document: Document, find: Find) -> Document:
    """A document with the templates of its nested stacks at every level, as far as `find` knows them.

    :raises TemplateError: if there are too many nested stacks, such as when a stack nests itself.
    """
    stacks, resources = itertools.count(1), 0

    def nest(outer: Document, depth: int) -> Document:
        nonlocal resources
        nested: dict[str, Document] = {}
        own = resources_of(outer.body)
        resources += len(own)
        if resources > _MOST_RESOURCES:
            raise TemplateError(f"has more than {_MOST_RESOURCES:,} resources, nested stacks included", file=document.file)
        for logical_id, resource in own.items():
            child = find(outer, resource) if resource["Type"] == NESTED_STACK else None
            if child is None:
                continue
            if depth >= _DEEPEST_STACKS or next(stacks) > _MOST_STACKS:
                raise TemplateError(
                    f"has more than {_MOST_STACKS} nested stacks, or more than {_DEEPEST_STACKS} levels, or a stack nests itself",
                    file=document.file,
                )
            environment = Environment(region=outer.environment.region, account=outer.environment.account)
            nested[logical_id] = nest(replace(child, name=f"{outer.name}/{logical_id}", environment=environment), depth + 1)
        return replace(outer, nested=nested) if nested else outer

    return nest(document, 0)


def template_file_name(resource: Mapping[str, Raw]) -> str | None:
    """The file name in a nested stack's `TemplateURL`, or the whole of a local path; `None` if there is none."""
    properties = resource.get("Properties")
    url = properties.get("TemplateURL") if isinstance(properties, dict) else None
    if isinstance(url, str) and "${" not in url:
        return (_path_of(url).rpartition("/")[2] if "://" in url else url) or None
    pieces: Iterable[Raw] = walk(url)
    names = [_BEHIND_FOLDERS.split(piece)[-1] for piece in pieces if isinstance(piece, str)]
    return next((name for name in reversed(names) if name.endswith(TEMPLATE_ENDINGS)), None)


def is_url(text: str) -> bool:
    """Whether a text is the address of a template, and not a local path."""
    return "://" in text or text.partition(":")[0] in ("file", "s3", "http", "https")


def _path_of(url: str) -> str:
    """The path of a URL; empty for a malformed one."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""
