"""Shells that are allowed by the default document of the account alone, beside an own document for shells that nobody may use.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-sessiondocumentaccesscheck.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.documents import Written, written
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.node_places import arn_at
from hyperpod_constructs.analysis.policy_document import Call, Statement
from hyperpod_constructs.facts.policies import Kind
from hyperpod_constructs.facts.session_manager import SHELL
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import Reference, Text, Value, as_str, at, joined

_START, _DOCUMENT = "ssm:StartSession", ":document/"


def by_default(one: Written) -> Iterator[str]:
    """That a statement names the default document, and nobody may start sessions by the only one that a model has for shells."""
    documents, nodes = (list(filter(is_one, one.statement.resources)) for is_one in (_may_be_document, _is_cluster))
    if one.kind is Kind.IDENTITY and _starts(one.statement) and nodes and documents and all(map(_is_default, documents)):
        model = one.resource.template.model
        for document in model.cached(by_default, lambda: tuple(_unused(model))):
            yield f"{SHELL} is the default document of the account: nobody may start sessions of {document.logical_id}"


def _may_be_document(pattern: Value) -> bool:
    return not isinstance(pattern, Reference) and (_DOCUMENT in _end(pattern) or not isinstance(pattern, str | Text))


def _is_cluster(pattern: Value) -> bool:
    target = resource_of(pattern)
    return ":cluster/" in _end(pattern) or (target is not None and target.type == "AWS::SageMaker::Cluster")


def _is_default(pattern: Value) -> bool:
    return _end(pattern).endswith(_DOCUMENT + SHELL)


def _end(pattern: Value) -> str:
    return pattern if isinstance(pattern, str) else pattern.suffix if isinstance(pattern, Text) else ""


def _unused(model: Model) -> Iterator[Resource]:
    """The one document for shells, if no statement of the model may allow sessions of it."""
    documents = [one for one in model.resources("AWS::SSM::Document") if as_str(one.get("DocumentType")) == "Session"]
    if len(documents) != 1 or not model.complete or as_str(documents[0].get("Name")) == SHELL:
        return
    (document,) = documents
    call = Call(_START, arn_at(document, "ssm", joined(["document/", Reference(document)])))
    is_shell = as_str(at(values_in(document.get("Content")), "sessionType")) == "Standard_Stream"
    starting = (one.statement for one in written(model) if one.kind is Kind.IDENTITY and one.statement.effect != "Deny")
    if is_shell and all(one.applies(call) is False for one in starting):
        yield document


def _starts(statement: Statement) -> bool:
    named = statement.effect == "Allow" and not statement.excludes_resources and not statement.excludes_actions
    return named and statement.speaks_of(_START) is True
