"""Deployed stacks as models, beside the new templates of the same stacks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperpod_constructs.cli.cloudformation import physical_id, stack_description, template_body
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.target import Target
from hyperpod_constructs.templates.documents import NESTED_STACK, Document, resources_of
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.loading import documents_of
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.raw import Raw, raw_template


def deployed_models(target: Target, stacks: Sequence[str], new: Path) -> tuple[Model, Model]:
    """The deployed stacks of these names, and the same stacks in `new`. Both have the deployed values of the parameters.

    :param target: account and region of the stacks.
    :param stacks: names of stacks, or their ids in the app.
    :param new: a template, or an assembly with those stacks.
    :raises CliError: if a stack does not exist, or is missing in the assembly.
    :raises TemplateError: if a template cannot be read.
    """
    documents = documents_of([new])
    old, after = [], []
    for name in dict.fromkeys(stacks):
        document = _document(documents, name, new, Environment(region=target.region, account=target.account))
        stack = document.environment.stack_name or name
        environment = Environment(region=target.region, account=target.account, stack_name=stack)
        description, body = _read(target, stack)
        values = _parameter_values(description)
        if len(documents) < len(stacks):
            document = replace(document, name=stack)
        nested = _nested(target, stack, document.name, body)
        old.append(replace(document, body=_with_values(body, values), environment=environment, file=None, nested=nested))
        after.append(replace(document, body=_with_values(document.body, values), environment=environment))
    return Model(old), Model(after)


def _document(documents: Sequence[Document], name: str, path: Path, place: Environment) -> Document:
    """The new template of a stack, by the stack's name or by its id in the app; templates for this place come first.

    A file with a single template belongs to any name.
    """
    candidates = sorted(documents, key=lambda document: not document.environment.is_beside(place))
    for names in ("stack_name", "id"):
        for document in candidates:
            if name == (document.environment.stack_name if names == "stack_name" else document.name):
                return document
    if len(documents) == 1 and path.is_file():
        return documents[0]
    known = ", ".join(document.environment.stack_name or document.name for document in documents) or "no stack"
    raise CliError(f"{path} has no stack {name!r}; it has {known}")


def _read(target: Target, name: str) -> tuple[Mapping[str, Any], Mapping[str, Raw]]:
    description = stack_description(target, name)
    if description is None:
        raise CliError(f"there is no stack {name!r} in account {target.account}, region {target.region}")
    return description, raw_template(template_body(target, name))


def _nested(target: Target, stack: str, name: str, body: Mapping[str, Raw]) -> dict[str, Document]:
    """The templates of a stack's nested stacks, and of the stacks nested in them, by logical id."""
    found = {}
    for logical_id, resource in resources_of(body).items():
        inner = physical_id(target, stack, logical_id) if resource["Type"] == NESTED_STACK else None
        if inner is None:
            continue
        part, template = f"{name}/{logical_id}", raw_template(template_body(target, inner))
        environment = Environment(region=target.region, account=target.account)
        nested = _nested(target, inner, part, template)
        found[logical_id] = Document(name=part, body=template, environment=environment, nested=nested)
    return found


def _parameter_values(description: Mapping[str, Any]) -> dict[str, str]:
    """The values of a stack's parameters, without those that CloudFormation hides."""
    values = {
        parameter["ParameterKey"]: parameter.get("ResolvedValue", parameter.get("ParameterValue"))
        for parameter in description.get("Parameters", ())
    }
    return {key: value for key, value in values.items() if isinstance(value, str) and set(value) != {"*"}}


def _with_values(body: Mapping[str, Raw], values: Mapping[str, str]) -> dict[str, Raw]:
    """A template with these values as defaults of its parameters, because an update keeps the deployed values."""
    parameters = body.get("Parameters")
    if not isinstance(parameters, dict):
        return dict(body)
    given: dict[str, Raw] = {
        name: {**declaration, "Default": values[name]} if isinstance(declaration, dict) and name in values else declaration
        for name, declaration in parameters.items()
    }
    return {**body, "Parameters": given}
