"""Variables of functions, builds and containers that name a table, a queue or the like, and the roles that may use it.

Who is told a name uses what it names. A role that may do nothing at all with it has the wrong policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.ends import ends
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.analysis.role_calls import named_in
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Value, as_str, joined

_USERS = (
    ("AWS::Lambda::Function", "Role", "Environment/Variables"),
    ("AWS::CodeBuild::Project", "ServiceRole", "Environment/EnvironmentVariables/[Type=PLAINTEXT]/Value"),
    ("AWS::Batch::JobDefinition", "ContainerProperties/JobRoleArn", "ContainerProperties/Environment/*/Value"),
    ("AWS::ECS::TaskDefinition", "TaskRoleArn", "ContainerDefinitions/*/Environment/*/Value"),
)
"""Types with variables: the way to the role, and the ways to the variables; those of functions are one mapping."""
_USED = (
    "AWS::DynamoDB::GlobalTable",
    "AWS::DynamoDB::Table",
    "AWS::ECR::Repository",
    "AWS::Kinesis::Stream",
    "AWS::KinesisFirehose::DeliveryStream",
    "AWS::S3::Bucket",
    "AWS::SNS::Topic",
    "AWS::SQS::Queue",
    "AWS::SSM::Parameter",
    "AWS::SecretsManager::Secret",
    "AWS::StepFunctions::StateMachine",
)
_POLICIES = (
    "AWS::ECR::Repository",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
    "AWS::SecretsManager::ResourcePolicy",
)


class Idle(NamedTuple):
    """A variable that names something with which the role may do nothing."""

    user: Resource
    role: Resource
    path: tuple[str | int, ...]
    named: Resource


def idle_variables(model: Model) -> Iterator[Idle]:
    """The variables of a model whose roles surely may do nothing with what they name."""
    for type_, to_role, to_variables in _USERS:
        for user in model.resources(type_):
            for end in ends(user, to_role):
                role = resource_of(end.value, ROLE)
                if role is not None and role_facts(role).identity.complete:
                    yield from _of_user(user, role, to_variables)


def _of_user(user: Resource, role: Resource, way: str) -> Iterator[Idle]:
    said: set[Resource] = set()
    for path, value in _variables(user, way):
        named = named_in(value)
        if named is not None and named.type in _USED and named not in said and not _may_use(role, named):
            said.add(named)
            yield Idle(user, role, path, named)


def _variables(user: Resource, way: str) -> Iterator[tuple[tuple[str | int, ...], Value]]:
    for end in ends(user, way):
        if isinstance(end.value, Mapping):
            yield from (((*end.path, key), value) for key, value in end.value.items())
        else:
            yield end.path, end.value


def _may_use(role: Resource, named: Resource) -> bool:
    """Whether a role may do something with a resource, or it is not known that it may not."""
    form = FORMS[named.type]
    arn = Reference(named, None if None in form.arns else sorted(one or "" for one in form.arns)[0])
    patterns = [Arn(arn), Arn(joined([arn, "/", UNKNOWN]))]
    allowing = (one for one in role_facts(role).statements if one.effect != "Deny" and _speaks_of(one, form.service))
    return any(one.covers(pattern) is not False for one in allowing for pattern in patterns) or _is_named(role, named)


def _speaks_of(statement: Statement, service: str) -> bool:
    """Whether some action of a service may be among those of a statement."""
    prefixes = [(as_str(action) or "*").partition(":")[0] for action in statement.actions]
    return statement.excludes_actions or any("*" in prefix or prefix.lower() == service for prefix in prefixes)


def _is_named(role: Resource, named: Resource) -> bool:
    """Whether a policy names the role, and a resource policy may be that of the resource."""
    return any(role in references(policy.get()) for policy in named.template.model.resources(*_POLICIES))
