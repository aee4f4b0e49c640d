"""The templates of deployed stacks, beside the new ones of the same stacks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.target import Target
from hyperpod_constructs.rules.template.documents import Document
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
    for name in stacks:
        document = _document(documents, name, new)
        environment = Environment(region=target.region, account=target.account, stack_name=name)
        description, body = _read(target, name)
        values = _parameter_values(description)
        old.append(replace(document, body=_with_values(body, values), environment=environment, file=None, nested={}))
        after.append(replace(document, body=_with_values(document.body, values), environment=environment))
    return Model(old), Model(after)


def _document(documents: Sequence[Document], name: str, path: Path) -> Document:
    """The template of a stack by the stack's name, or by its id in the app; the only one there is."""
    for document in documents:
        if name in (document.environment.stack_name, document.name):
            return document
    if len(documents) == 1 and path.is_file():
        return documents[0]
    known = ", ".join(document.environment.stack_name or document.name for document in documents) or "no stack"
    raise CliError(f"{path} has no stack {name!r}; it has {known}")


def _read(target: Target, name: str) -> tuple[Mapping[str, Any], Mapping[str, Raw]]:
    client = target.client("cloudformation")
    try:
        description: Mapping[str, Any] = client.describe_stacks(StackName=name)["Stacks"][0]
        body = client.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    except client.exceptions.ClientError as error:
        if "does not exist" not in error.response["Error"]["Message"]:
            raise
        raise CliError(f"there is no stack {name!r} in account {target.account}, region {target.region}") from None
    return description, raw_template(_parsed(body) if isinstance(body, str) else body)


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
