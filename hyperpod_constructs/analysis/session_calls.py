"""What nodes do with the sessions that the template's documents of Session Manager write down or encrypt, and who starts them.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-create-iam-instance-profile.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from hyperpod_constructs.analysis.contexts import OF_PEOPLE
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.node_places import arn_at
from hyperpod_constructs.analysis.node_roles import role_uses
from hyperpod_constructs.analysis.resource_policies import key_named
from hyperpod_constructs.facts.permissions import OF_SESSIONS, STARTING, Place, Task
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Reference, Value, as_str, at, joined, parts_of

_START = "ssm:StartSession"


class SessionCall(NamedTuple):
    """A task of a role for a session, and the ARN on which it works."""

    user: str
    """Who has the role, in words."""
    role: Resource
    task: Task
    arn: Value


def session_calls(model: Model) -> Iterator[SessionCall]:
    """The tasks of the roles of nodes and of people for the sessions of all documents."""
    for document in model.resources("AWS::SSM::Document"):
        if as_str(document.get("DocumentType")) != "Session":
            continue
        inputs = at(values_in(document.get("Content")), "inputs")
        user = f"the role of nodes with sessions of {document.logical_id}"
        for setting, tasks in OF_SESSIONS.items():
            arns = [(task, arn) for task in tasks if (arn := _on(document, task, setting, at(inputs, setting))) is not None]
            for role in dict.fromkeys(use.role for use in role_uses(model)) if arns else ():
                yield from (SessionCall(user, role, task, arn) for task, arn in arns)
        key = _key_of(document)
        starting = replace(STARTING, context=dict.fromkeys(OF_PEOPLE, UNKNOWN))
        for role in model.resources(ROLE) if key is not None else ():
            if key is not None and _starts(role, document):
                yield SessionCall(f"the role {role.logical_id}", role, starting, Reference(key, "Arn"))


def session_keys(model: Model) -> Iterator[tuple[Resource, Resource]]:
    """The documents of sessions that are encrypted, each with its key."""
    for document in model.resources("AWS::SSM::Document"):
        key = _key_of(document) if as_str(document.get("DocumentType")) == "Session" else None
        if key is not None:
            yield document, key


def _key_of(document: Resource) -> Resource | None:
    return key_named(at(values_in(document.get("Content")), "inputs", "kmsKeyId"))


def _starts(role: Resource, document: Resource) -> bool:
    """Whether a role is allowed to start sessions with a document, which it names."""
    allowed = (one for one in role_facts(role).statements if one.effect == "Allow" and not one.excludes_resources)
    return any(one.speaks_of(_START) is True and document in references(one.resources) for one in allowed)


def _on(document: Resource, task: Task, setting: str, value: Value) -> Value | None:
    """What the task of a setting works on; `None` if the setting is not there or not known, or is no name."""
    if value in (ABSENT, "", UNKNOWN):
        return None
    if setting == "kmsKeyId":
        key = key_named(value)
        return None if key is None else Reference(key, "Arn")
    if isinstance(value, Reference) and value.attribute is not None:
        return None
    if task.on is Place.LOG_GROUP:
        return arn_at(document, "logs", joined(["log-group:", *parts_of(value), ":log-stream:session"]))
    return joined(["arn:aws:s3:::", *parts_of(value), "/", UNKNOWN]) if setting == "s3BucketName" else UNKNOWN
