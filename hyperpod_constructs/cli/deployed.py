"""The templates of deployed stacks, beside the new ones of the same stacks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.target import Target
from hyperpod_constructs.rules.template.documents import NESTED_STACK, Document, resources_of
from hyperpod_constructs.rules.template.environment import Environment
from hyperpod_constructs.rules.template.loading import documents_of
from hyperpod_constructs.rules.template.model import Model
from hyperpod_constructs.rules.template.raw import Raw, raw_template


def deployed_models(target: Target, stacks: Sequence[str], new: Path) -> tuple[Model, Model]:
    """What is deployed under these names, and what `new` makes of it: a template, or an assembly with those stacks.

    Both with the values that the stacks' parameters have now, and in the target's account and region.

    Raises CliError for a stack that does not exist or that the assembly does not have, TemplateError for a template that cannot
    be read.
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
    """The template of a stack by the stack's name, or by its id in the app, that of this place first; the only one there is."""
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
    client = target.client("cloudformation")
    try:
        description: Mapping[str, Any] = client.describe_stacks(StackName=name)["Stacks"][0]
        return description, _template_of(target, name)
    except client.exceptions.ClientError as error:
        if "does not exist" not in error.response["Error"]["Message"]:
            raise
        raise CliError(f"there is no stack {name!r} in account {target.account}, region {target.region}") from None


def _template_of(target: Target, stack: str) -> Mapping[str, Raw]:
    body = target.client("cloudformation").get_template(StackName=stack, TemplateStage="Original")["TemplateBody"]
    return raw_template(_parsed(body) if isinstance(body, str) else body)


def _nested(target: Target, stack: str, name: str, body: Mapping[str, Raw]) -> dict[str, Document]:
    """The templates of the nested stacks that a stack has now, and of those in them, by logical id."""
    found = {}
    for logical_id, resource in resources_of(body).items():
        inner = _nested_stack(target, stack, logical_id) if resource["Type"] == NESTED_STACK else None
        if inner is None:
            continue
        part, template = f"{name}/{logical_id}", _template_of(target, inner)
        environment = Environment(region=target.region, account=target.account)
        found[logical_id] = Document(
            name=part, body=template, environment=environment, nested=_nested(target, inner, part, template)
        )
    return found


def _nested_stack(target: Target, stack: str, logical_id: str) -> str | None:
    """The id of a nested stack; None if its condition did not hold when the stack was deployed."""
    client = target.client("cloudformation")
    try:
        detail = client.describe_stack_resource(StackName=stack, LogicalResourceId=logical_id)["StackResourceDetail"]
    except client.exceptions.ClientError as error:
        if "does not exist" not in error.response["Error"]["Message"]:
            raise
        return None
    found: str | None = detail.get("PhysicalResourceId")
    return found


def _parsed(body: str) -> object:
    try:
        return json.loads(body)
    except json.JSONDecodeError:
        from hyperpod_constructs.rules.template.yaml_reading import parsed

        return parsed(body)


def _parameter_values(description: Mapping[str, Any]) -> dict[str, str]:
    """The values of a stack's parameters, as far as CloudFormation shows them."""
    values = {
        parameter["ParameterKey"]: parameter.get("ResolvedValue", parameter.get("ParameterValue"))
        for parameter in description.get("Parameters", ())
    }
    return {key: value for key, value in values.items() if isinstance(value, str) and set(value) != {"*"}}


def _with_values(body: Mapping[str, Raw], values: Mapping[str, str]) -> dict[str, Raw]:
    """A template whose parameters have these values as their defaults: an update keeps them unless it is told others."""
    parameters = body.get("Parameters")
    if not isinstance(parameters, dict):
        return dict(body)
    given: dict[str, Raw] = {
        name: {**declaration, "Default": values[name]} if isinstance(declaration, dict) and name in values else declaration
        for name, declaration in parameters.items()
    }
    return {**body, "Parameters": given}
