"""The grammar of policy documents where no schema has it: their elements, and those that exclude or need each other.

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.policy_document import Statement, listed
from hyperpod_constructs.analysis.schema.violation import nearest
from hyperpod_constructs.facts.policies import (
    DEMANDING_RESOURCE,
    DOCUMENT_ELEMENTS,
    STATEMENT_ELEMENTS,
    VERSIONS,
    WITHOUT_RESOURCE,
    Kind,
)
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Value, as_str, at, shown

_Place = tuple[str | int, ...]
_WITH_GRAMMAR = frozenset(
    ("AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::IAM::Role", "AWS::KMS::Key", "AWS::S3::BucketPolicy"),
)
"""Types whose schemas have the grammar of statements."""
_PAIRS = ("Action", "Principal", "Resource")


def mistaken_document(resource: Resource, document: Value) -> Iterator[tuple[str, _Place]]:
    """The mistakes of a document around its statements: in words, with the place in it. Other rules read those in texts."""
    if not isinstance(document, Mapping):
        return
    statements = at(document, "Statement")
    if statements == ():
        yield "the document has no statements", ("Statement",)
    if resource.type in _WITH_GRAMMAR:
        return
    for name in document:
        if name not in DOCUMENT_ELEMENTS:
            yield f"a document has no {_with_nearest(name, DOCUMENT_ELEMENTS)}", (name,)
    version = as_str(at(document, "Version"))
    if version is not None and version not in VERSIONS:
        yield f"the Version is {version!r}, and IAM has {' and '.join(VERSIONS)}", ("Version",)
    if statements is ABSENT:
        yield "the document has no Statement", ()


def mistaken_elements(resource: Resource, kind: Kind, statement: Statement) -> Iterator[tuple[str, _Place]]:
    """The mistakes in the elements of a statement: in words, with the place in it."""
    raw = statement.raw
    for word in ("Action", "NotAction", "Resource", "NotResource"):
        if word in raw and at(raw, word) is not UNKNOWN and not listed(at(raw, word)):
            yield f"the {word} is an empty list", (word,)
    asked = {"Resource", "NotResource"} & raw.keys()
    if kind is Kind.RESOURCE and resource.type in DEMANDING_RESOURCE and not asked:
        yield "the statement has no Resource", ()
    if resource.type in _WITH_GRAMMAR:
        return
    effect = at(raw, "Effect")
    if effect is ABSENT or as_str(effect) not in ("Allow", "Deny", None):
        yield f"the Effect is {shown(effect)!r}, and not Allow or Deny", ("Effect",)
    for word in ("Action", "Principal" if kind is Kind.RESOURCE else "Resource"):
        if not {word, f"Not{word}"} & raw.keys():
            yield f"the statement has no {word}", ()
    for word in asked if resource.type in WITHOUT_RESOURCE else ():
        yield f"a statement of {resource.type} has no {word}: it is for the resource itself", (word,)
    yield from _strange(raw, kind)


def _strange(raw: Mapping[str, Value], kind: Kind) -> Iterator[tuple[str, _Place]]:
    """Elements that a statement does not have, or not beside each other."""
    for name, value in raw.items():
        if name not in STATEMENT_ELEMENTS:
            yield f"a statement has no {_with_nearest(name, STATEMENT_ELEMENTS)}", (name,)
        elif kind is Kind.IDENTITY and name in ("Principal", "NotPrincipal"):
            yield f"the policy of an identity has no {name}: it is for whoever has the policy", (name,)
        elif name == "Sid" and isinstance(value, Mapping | tuple):
            yield "the Sid is no text", (name,)
        elif name == "Condition" and value is not UNKNOWN and not isinstance(value, Mapping):
            yield "the Condition is no object with operators", (name,)
    for word in _PAIRS:
        if {word, f"Not{word}"} <= raw.keys():
            yield f"{word} and Not{word} exclude each other", (f"Not{word}",)


def _with_nearest(name: str, known: tuple[str, ...]) -> str:
    near = nearest(name, known)
    return f"{name}; did you mean {near}?" if near else name
