"""References that give another kind of thing than their property takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.references.forms import (
    arns_of,
    gives_arn,
    is_of_another_type,
    node_at,
    takes_arn,
    takes_text_of_arn,
    type_named,
)
from hyperpod_constructs.analysis.references.names_for_ids import name_for_id
from hyperpod_constructs.analysis.references.places import Misreference, Path, calls, once
from hyperpod_constructs.analysis.references.pseudo_parameters import wrong_pseudo_parameters
from hyperpod_constructs.analysis.references.unfit_values import unfit_values
from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.facts.property_schemas import attributes, property_schema
from hyperpod_constructs.facts.reference_kinds import BY_NAME, ReferenceKind, gives_a_kind, kind_in_text, kind_of
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import Reference, Text, Value, placed_leaves

_CUSTOM = ("Custom::", "AWS::CloudFormation::CustomResource")
_TOKEN = ReferenceKind(
    "the ARN of a function or a topic",
    {
        "AWS::Lambda::Alias": frozenset({None, "AliasArn"}),
        "AWS::Lambda::Function": frozenset({"Arn"}),
        "AWS::Lambda::Version": frozenset({None, "FunctionArn"}),
        "AWS::SNS::Topic": frozenset({None, "TopicArn"}),
    },
)
"""What answers for a custom resource."""
_BUCKET, _STACK = "AWS::S3::Bucket", "stack"
_OF_BUCKETS = re.compile(r"s3://|arn:aws[a-z-]*:s3:::")
_BETWEEN = re.compile(r"\s*[,;|\s]\s*")
"""What divides the items of a list in a text."""
_IMAGES = ("Image", "ImageUri", "TrainingImage")
"""Properties whose address of an image may have a tag behind it."""
_ARN = "arn:"
_ADDRESSES = ("endpoint", "url", "hostname")
"""Ends of keys with an address in a text in JSON."""


def wrong_kinds(model: Model) -> tuple[Misreference, ...]:
    """References of another kind, in the types whose properties are known; computed once."""
    return model.cached(wrong_kinds, lambda: tuple(_wrong_kinds(model)))


def places_of_wrong_kinds(model: Model) -> set[tuple[Resource, Path]]:
    """The places of these references, with the lists of which they are all, and the objects that have nothing else: another key was
    meant there."""
    found = {place for one in wrong_kinds(model) for place in ((one.owner, one.path), *one.doubts)}
    return found | {(owner, path[:-1]) for owner, path in found if len(path) > 1 and _is_alone(owner.get(*path[:-1]))}


def _is_alone(value: Value) -> bool:
    return isinstance(value, Mapping) and len(value) == 1


def _wrong_kinds(model: Model) -> Iterator[Misreference]:
    texts: list[tuple[Resource, Path, Text]] = []
    for resource in model.resources():
        custom = resource.type.startswith(_CUSTOM)
        leaves = list(placed_leaves(resource.get())) if custom or property_schema(resource.type) is not None else []
        for path, reference in ((path, leaf) for path, leaf in leaves if isinstance(leaf, Reference)):
            name = next((str(one) for one in reversed(path) if isinstance(one, str)), "")
            said = _said(resource.type, path, name, reference) if not custom or path == ("ServiceToken",) else None
            if said is not None:
                yield Misreference(resource, path, f"{name} is {in_words(reference)}{said[0]}", reference, said[1])
        for path, leaf in () if custom or resource.type == NESTED_STACK else leaves:
            if isinstance(leaf, str | Text):
                yield from _of_arn(resource, path, leaf)
            if isinstance(leaf, str):
                yield from name_for_id(resource, path, leaf)
            if isinstance(leaf, Text) and leaf.references:
                yield from _of_text(resource, path, leaf)
                texts.append((resource, path, leaf))
    yield from _in_buckets(texts)
    yield from once(one for call in calls(model) for one in (*wrong_pseudo_parameters(call),) or unfit_values(call))


def _in_buckets(leaves: Iterable[tuple[Resource, Path, Text]]) -> Iterator[Misreference]:
    """ARNs and addresses where an address or an ARN of S3 has the name of its bucket; each once, with all its places."""
    places = ((part, (resource, path, text)) for resource, path, text in leaves for part in _buckets_of(text))
    for reference, ((resource, path, text), *others) in grouped(places).items():
        also = enumerated(dict.fromkeys(one.logical_id for one, _, _ in others if one is not resource))
        what = "an ARN" if gives_arn(reference) else "an address"
        message = f"the name of a bucket is {in_words(reference)}, which is {what}{f'; the same in {also}' if also else ''}"
        doubts = tuple((one, place) for one, place, _ in others)
        covers = tuple(dict.fromkeys(one for one, _, _ in others))
        yield Misreference(resource, path, message, text, "the name of the bucket, by Ref", covers=covers, doubts=doubts)


def _buckets_of(text: Text) -> Iterator[Reference]:
    """The ARN, or the address of a bucket, behind the begin of an address or an ARN of S3."""
    first, second = text.parts[0], text.parts[1] if len(text.parts) > 1 else None
    if isinstance(first, str) and _OF_BUCKETS.fullmatch(first) and isinstance(second, Reference):
        address = second.attribute is not None and target_of(second).type == _BUCKET
        yield from (second,) if address or gives_arn(second) else ()


def _of_text(resource: Resource, path: Path, text: Text) -> Iterator[Misreference]:
    """Several identifiers in a text where one is taken, and in a text in JSON a name for an ARN, or an ARN for an address."""
    name = next((str(one) for one in reversed(path) if isinstance(one, str)), "")
    joined = any(isinstance(one, str) and _BETWEEN.fullmatch(one) for one in text.parts[1:-1]) or _touch(text)
    wanted = kind_of(resource.type, name) if joined and node_at(resource.type, path) is not None else None
    first = text.parts[0]
    image = kind_of(resource.type, name) if name in _IMAGES and isinstance(first, Reference) else None
    if image is not None and isinstance(first, Reference) and is_other(first, image):
        yield Misreference(resource, path, f"{name} begins with {in_words(first)}", text, f"{image.words}: {_sources(image)}")
    if wanted is not None:
        message = f"{name} is a list of {len(text.references)} in one text"
        allowed = f"{wanted.words}; Fn::Split divides a list, and Fn::Select takes one"
        lists = ((resource, path[:-1]),) if isinstance(path[-1], int) else ()
        yield Misreference(resource, path, message, text, allowed, doubts=lists)
    data = values_in(text) if str(text.parts[0]).lstrip().startswith("{") else None
    inner = list(_inside(name, data)) if isinstance(data, Mapping) else []
    if inner:
        allowed = enumerated(dict.fromkeys(one.allowed for one in inner))
        yield Misreference(resource, path, "; ".join(one.message for one in inner), inner[0].reference, allowed)


def _of_arn(resource: Resource, path: Path, text: str | Text) -> Iterator[Misreference]:
    """A name where an ARN is taken, or an ARN where a name or an id is."""
    is_arn = _is_arn(text)
    takes = None if is_arn is None else takes_text_of_arn(resource.type, path)
    if takes is None or takes is is_arn:
        return
    name = next(str(one) for one in reversed(path) if isinstance(one, str))
    kind = kind_of(resource.type, name)
    said, allowed = ("no ARN", "an ARN") if takes else ("an ARN", "a name or an id, such as Ref gives")
    yield Misreference(resource, path, f"{name} is {quoted(text)}, which is {said}", text, allowed if kind is None else kind.words)


def _is_arn(text: str | Text) -> bool | None:
    """Whether a text is an ARN; `None` for an empty one, a variable, and one whose begin is not known."""
    begin = text if isinstance(text, str) else next(iter(text.parts), None)
    if not isinstance(begin, str) or not begin or "{{" in begin or (begin is not text and _ARN.startswith(begin)):
        return None
    return begin.startswith(_ARN)


def _touch(text: Text) -> bool:
    """Whether two references stand in a text with nothing between them."""
    return any(isinstance(one, Reference) and isinstance(other, Reference) for one, other in pairwise(text.parts))


class _Inside(NamedTuple):
    """A reference of another kind in a text in JSON."""

    reference: Reference
    message: str
    allowed: str


def _inside(name: str, data: Mapping[str, Value]) -> Iterator[_Inside]:
    for path, reference in _references(data):
        key = next((str(one) for one in reversed(path) if isinstance(one, str)), "")
        wanted = kind_in_text(".".join(one for one in path if isinstance(one, str)))
        if wanted is not None:
            if is_other(reference, wanted):
                allowed = f"{wanted.words}: {_sources(wanted)}"
                yield _Inside(reference, f"{key} in {name} is {in_words(reference)}", allowed)
        elif key.lower().endswith("arn") and gives_arn(reference) is False:
            message = f"{key} in {name} is {in_words(reference)}, which is no ARN"
            yield _Inside(reference, message, f"an ARN: {' or '.join(arns_of(target_of(reference).type))}")
        elif key.lower().endswith(_ADDRESSES) and gives_arn(reference):
            yield _Inside(reference, f"{key} in {name} is {in_words(reference)}, which is an ARN", "an address")


def in_words(reference: Reference) -> str:
    """What a reference gives, in words."""
    target = target_of(reference)
    return f"{'the Ref' if reference.attribute is None else reference.attribute} of {target.logical_id}, an {target.type}"


def _said(resource_type: str, path: Path, name: str, reference: Reference) -> tuple[str, str] | None:
    """What is wrong with a reference, and what is allowed: by the kind that the property takes, else by the schemas."""
    wanted, target = _TOKEN if name == "ServiceToken" else kind_of(resource_type, name), target_of(reference)
    is_stack = target.type == NESTED_STACK and reference.attribute is None
    if is_stack and resource_type == NESTED_STACK and path[:1] == ("Parameters",) and _STACK not in name.lower():
        return ", which is the ARN of the stack", "an output of the stack, such as Outputs.Name"
    if wanted is not None:
        return ("", ": ".join(filter(None, (wanted.words, _sources(wanted))))) if is_other(reference, wanted) else None
    if property_schema(target.type) is None:
        return None
    named = type_named(resource_type, name) if node_at(resource_type, path) is not None else None
    if named is not None and is_of_another_type(reference, named):
        return "", f"a reference to {named}"
    given, taken = gives_arn(reference), takes_arn(resource_type, path, reference)
    if given is False and taken:
        return ", which is no ARN", f"an ARN: {' or '.join(arns_of(target.type)) or 'that of the resource'}"
    return (", which is an ARN", "a name or an id, such as Ref gives") if given and taken is False else None


def _references(value: Value) -> Iterator[tuple[Path, Reference]]:
    """The references in a value, each with its path; none of those that a condition chooses."""
    return ((path, leaf) for path, leaf in placed_leaves(value) if isinstance(leaf, Reference))


def is_other(reference: Reference, wanted: ReferenceKind) -> bool:
    """Whether a reference surely gives something else; attributes of other types are known by their names only.

    An attribute that the type does not have is another mistake.
    """
    target, attribute = target_of(reference), reference.attribute
    known = attributes(target.type)
    if property_schema(target.type) is None or (attribute is not None and known is not None and attribute not in known):
        return False
    given = wanted.sources.get(target.type)
    if given is not None:
        return attribute not in given
    if attribute is not None and _is_anothers(attribute, target, wanted):
        return False
    other = None if attribute is None else BY_NAME.get(attribute)
    return (
        attribute is None
        or attribute.endswith("Arn")
        or _is_own(attribute, target)
        or (other is not None and other is not wanted)
        or gives_a_kind(target.type, attribute)
    )


def _is_anothers(attribute: str, target: Resource, wanted: ReferenceKind) -> bool:
    """Whether an attribute is the ARN of what is wanted, which the resource only names, such as `FunctionArn` of a URL."""
    kind = target.type.rpartition("::")[2].lower()
    words = (source.rpartition("::")[2].lower() for source in wanted.sources)
    return any(attribute.lower().endswith(f"{word}arn") and word not in kind for word in words)


def _is_own(attribute: str, target: Resource) -> bool:
    """Whether an attribute is the name or the id of its resource, such as `ModelName` of a model."""
    kind = target.type.rpartition("::")[2].lower()
    return attribute.lower() in (f"{kind}name", f"{kind}id", f"{kind}identifier")


def _sources(wanted: ReferenceKind) -> str:
    found = [
        f"{name}{'' if one is None else f'.{one}'}" for name, given in wanted.sources.items() for one in sorted(given, key=str)
    ]
    return ", ".join(found)
