"""Keys of secrets that builds and containers take by name.

Sources: https://docs.aws.amazon.com/codebuild/latest/APIReference/API_EnvironmentVariable.html and
https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_Secret.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hyperpod_constructs.analysis.database import ATTACHMENT, SECRET, keys_of, secret_of
from hyperpod_constructs.analysis.references.places import Misreference
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Reference, Text, Value, as_items, as_str, at

_BUILD, _TASK = "AWS::CodeBuild::Project", "AWS::ECS::TaskDefinition"
_KEY = re.compile(r":([^:]+)(?::[^:]*){0,2}")
"""The key behind a secret, with a stage and a version."""


def missing_keys(model: Model) -> Iterator[Misreference]:
    """Keys that secrets of the model do not have, where the templates say all that they have."""
    for resource in model.resources(_BUILD, _TASK):
        for path, value in _taken(resource):
            secret, key = _parts(value)
            has = sorted(keys_of(secret) or ()) if secret is not None and not secret.template.model.resources(ATTACHMENT) else []
            if secret is not None and key is not None and has and key not in has:
                message = f"takes {key!r} of {secret.logical_id}{meant(key, has)}"
                doubts = tuple((secret, (one,)) for one in ("GenerateSecretString", "SecretString") if secret.get(one))
                yield Misreference(resource, path, message, value, listed(has), doubts=doubts)


def _taken(resource: Resource) -> Iterator[tuple[tuple[str | int, ...], Value]]:
    if resource.type == _BUILD:
        variables = ("Environment", "EnvironmentVariables")
        for index, one in enumerate(as_items(resource.get(*variables)) or ()):
            if as_str(at(one, "Type")) == "SECRETS_MANAGER":
                yield (*variables, index, "Value"), at(one, "Value")
        return
    for number, container in enumerate(as_items(resource.get("ContainerDefinitions")) or ()):
        for index, one in enumerate(as_items(at(container, "Secrets")) or ()):
            yield ("ContainerDefinitions", number, "Secrets", index, "ValueFrom"), at(one, "ValueFrom")


def _parts(value: Value) -> tuple[Resource | None, str | None]:
    """The secret and the key of a value such as `${Secret}:key`; `None` for what it does not say."""
    parts = value.parts if isinstance(value, Text) else ()
    if len(parts) != 2 or not isinstance(parts[0], Reference) or not isinstance(parts[1], str):
        return None, None
    secret, match = secret_of(parts[0]), _KEY.fullmatch(parts[1])
    return (secret if secret is not None and secret.type == SECRET else None), None if match is None else match[1]
