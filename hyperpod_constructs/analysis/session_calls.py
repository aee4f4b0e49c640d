"""What nodes do with the sessions that the template's documents of Session Manager write down or encrypt.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-create-iam-instance-profile.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.node_roles import role_uses
from hyperpod_constructs.analysis.resource_policies import key_named
from hyperpod_constructs.facts.permissions import OF_SESSIONS, Task
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_str, at, joined, parts_of


class SessionCall(NamedTuple):
    """A task of a node's role for a session, and the ARN on which it works."""

    document: Resource
    role: Resource
    task: Task
    arn: Value


def session_calls(model: Model) -> Iterator[SessionCall]:
    """The tasks of the roles of nodes for the sessions of all documents."""
    for document in model.resources("AWS::SSM::Document"):
        if as_str(document.get("DocumentType")) != "Session":
            continue
        inputs = at(values_in(document.get("Content")), "inputs")
        for setting, task in OF_SESSIONS.items():
            arn = _on(setting, at(inputs, setting))
            for role in dict.fromkeys(use.role for use in role_uses(model)) if arn is not None else ():
                if arn is not None:
                    yield SessionCall(document, role, task, arn)


def _on(setting: str, value: Value) -> Value | None:
    """What the task of a setting works on; `None` if the setting is not there or not known, or is no name."""
    if value in (ABSENT, "", UNKNOWN):
        return None
    if setting == "kmsKeyId":
        key = key_named(value)
        return None if key is None else Reference(key, "Arn")
    if isinstance(value, Reference) and value.attribute is not None:
        return None
    return joined(["arn:aws:s3:::", *parts_of(value), "/", UNKNOWN]) if setting == "s3BucketName" else UNKNOWN
