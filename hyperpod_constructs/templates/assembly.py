"""The templates of a cloud assembly (`cdk.out`): every stack, in stages too, with nested stacks and construct paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hyperpod_constructs._support.printable import encodable
from hyperpod_constructs.templates.documents import Document, resources_of
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.files import inside, is_file, read_text
from hyperpod_constructs.templates.nesting import template_file_name, with_nested
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.reading import parsed_json, read_template

_DEEPEST_STAGES = 20


def assembly_documents(directory: Path) -> list[Document]:
    """The stacks of an assembly and of its stages, in the order of the manifest.

    :raises TemplateError: if the directory is not an assembly or has no stacks, if one of its files is missing, is not a template
        or lies outside the assembly, or if it contains a stage twice.
    """
    found = _Assembly(directory).documents()
    if not found:
        raise TemplateError("has no stack: add one to the app, and synthesize it again", file=directory)
    return found


class _Assembly:
    """One assembly directory; its manifests may only name files inside it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._seen: set[Path] = set()
        self._read = cache(lambda file: read_template(file, of_assembly=True))

    def documents(self) -> list[Document]:
        """The stacks of the assembly and of its stages."""
        return list(self._documents(self._root, 0))

    def _documents(self, directory: Path, depth: int) -> Iterator[Document]:
        manifest_file = directory / "manifest.json"
        if not is_file(manifest_file):
            raise TemplateError(
                "is a directory without manifest.json: give a template's file, or the cdk.out of a synthesis", file=directory
            )
        self._enter(directory, depth)
        artifacts = _mapping(_json(inside(self._root, manifest_file, directory)).get("artifacts"))
        stacks = {name: _mapping(artifact) for name, artifact in artifacts.items() if _type(artifact) == "aws:cloudformation:stack"}
        names = {name: _name(name, artifact) for name, artifact in stacks.items()}
        for name, artifact in stacks.items():
            dependencies = artifact.get("dependencies")
            listed = dependencies if isinstance(dependencies, list) else []
            known = [names[item] for item in listed if isinstance(item, str) and item in names]
            yield self._stack(directory, names[name], artifact, frozenset(known))
        for artifact in artifacts.values():
            inner = _mapping(_mapping(artifact).get("properties")).get("directoryName")
            if _type(artifact) == "cdk:cloud-assembly" and isinstance(inner, str):
                yield from self._documents(inside(self._root, directory / inner, manifest_file), depth + 1)

    def _enter(self, directory: Path, depth: int) -> None:
        if depth > _DEEPEST_STAGES or directory.resolve() in self._seen:
            raise TemplateError(
                f"is a stage of itself, appears twice in the assembly, or nests more than {_DEEPEST_STAGES} deep", file=directory
            )
        self._seen.add(directory.resolve())

    def _stack(self, directory: Path, name: str, artifact: Mapping[str, Any], awaits: frozenset[str]) -> Document:
        properties = _mapping(artifact.get("properties"))
        template = properties.get("templateFile")
        if not isinstance(template, str):
            raise TemplateError(f"stack {name!r} has no templateFile", file=directory / "manifest.json")
        file = inside(self._root, directory / template, directory / "manifest.json")
        stack_name = properties.get("stackName")
        environment = _environment(artifact.get("environment"), stack_name if isinstance(stack_name, str) else name)
        document = Document(name=name, body=self._read(file), file=file, environment=environment, awaits=awaits)
        assets = _template_assets(directory, file)

        def find(user: Document, resource: Mapping[str, Raw]) -> Document | None:
            asset = _mapping(resource.get("Metadata")).get("aws:asset:path")
            source = asset if isinstance(asset, str) else assets.get((template_file_name(resource) or "").partition(".")[0])
            if source is None or not is_file(directory / source):
                return None
            found = inside(self._root, directory / source, file)
            return Document(name=encodable(str(found)), body=self._read(found), file=found)

        return _ConstructPaths.of(directory, artifact).added(with_nested(document, find))


def _template_assets(directory: Path, template: Path) -> Mapping[str, str]:
    """The templates among a stack's assets, from hash to file; the list of assets lies beside the stack's template."""
    file = directory / template.name.replace(".template.json", ".assets.json")
    if file == template or not is_file(file):
        return {}
    found = {}
    for key, asset in _mapping(_json(inside(directory, file, directory)).get("files")).items():
        path = _mapping(_mapping(asset).get("source")).get("path")
        if isinstance(path, str) and path.endswith(".template.json"):
            found[key] = path
    return found


def _environment(text: object, stack_name: str) -> Environment:
    place = text.removeprefix("aws://") if isinstance(text, str) else ""
    account, _, region = place.strip("/").partition("/")
    return Environment(
        account=None if account in ("", "unknown-account") else account,
        region=None if region in ("", "unknown-region") else region,
        stack_name=stack_name,
    )


class _ConstructPaths(NamedTuple):
    """Construct paths by logical id. The metadata of a stack covers its nested stacks too, so an id can have several paths."""

    paths: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, directory: Path, artifact: Mapping[str, Any]) -> _ConstructPaths:
        metadata = artifact.get("metadata")
        file = artifact.get("additionalMetadataFile")
        entries = dict(_mapping(metadata))
        if isinstance(file, str) and is_file(directory / file):
            entries |= _json(inside(directory, directory / file, directory / "manifest.json"))
        found: dict[str, tuple[str, ...]] = {}
        for path, items in entries.items():
            for item in items if isinstance(items, list) else ():
                data = item.get("data") if isinstance(item, dict) and item.get("type") == "aws:cdk:logicalId" else None
                if isinstance(data, str):
                    found[data] = (*found.get(data, ()), path.removeprefix("/"))
        return cls(found)

    def added(self, document: Document, within: str = "") -> Document:
        """A document with construct paths for its resources, nested stacks included."""
        scopes = {name: self._scope_of(name, within) for name in document.nested}
        others = [scope for scope in scopes.values() if scope]
        paths: dict[str, str] = {}
        for logical_id in resources_of(document.body):
            candidates = [path for path in self.paths.get(logical_id, ()) if path.startswith(within)]
            own = [path for path in candidates if not path.startswith(tuple(others))]
            if own:
                paths[logical_id] = own[0]
        nested = {name: self.added(child, scopes[name]) for name, child in document.nested.items()}
        return replace(document, construct_paths=paths, nested=nested)

    def _scope_of(self, nested_stack: str, within: str) -> str:
        """The prefix of paths inside a nested stack; its resource is at `<scope>.NestedStack/<id>`."""
        for path in self.paths.get(nested_stack, ()):
            if path.startswith(within) and ".NestedStack/" in path:
                return path.rpartition(".NestedStack/")[0] + "/"
        return ""


def _json(file: Path) -> Mapping[str, Any]:
    try:
        content = parsed_json(read_text(file))
    except TemplateError as error:
        raise error.at(file) from error
    if not isinstance(content, dict):
        raise TemplateError("is not a JSON object", file=file)
    return content


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _type(artifact: object) -> object:
    return _mapping(artifact).get("type")


def _name(name: str, artifact: Mapping[str, Any]) -> str:
    shown = artifact.get("displayName")
    return shown.partition(" ")[0] if isinstance(shown, str) and shown else name
