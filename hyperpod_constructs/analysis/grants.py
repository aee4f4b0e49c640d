"""Grants: what the policies of a role allow by name on resources of the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.database import SECRET, secret_of
from hyperpod_constructs.analysis.iam import RoleFacts
from hyperpod_constructs.analysis.node_places import BUCKET
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.analysis.resource_policies import KEY, key_of
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Text, Value, as_str, joined, parts_of

_OF_BUCKET, _OF_OBJECTS = "s3:ListBucket", ("s3:GetObject", "s3:PutObject")
_ACTIONS = {
    BUCKET: (_OF_BUCKET, *_OF_OBJECTS),
    SECRET: ("secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue"),
    KEY: ("kms:Decrypt", "kms:GenerateDataKey"),
    "AWS::APS::Workspace": ("aps:QueryMetrics", "aps:RemoteWrite"),
    "AWS::DynamoDB::Table": ("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"),
    "AWS::ECR::Repository": ("ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
    "AWS::Kinesis::Stream": ("kinesis:GetRecords", "kinesis:PutRecord"),
    "AWS::SNS::Topic": ("sns:Publish",),
    "AWS::SQS::Queue": ("sqs:ReceiveMessage", "sqs:SendMessage"),
    "AWS::StepFunctions::StateMachine": ("states:StartExecution",),
}
"""The actions that are judged: those that a policy names, without wildcards, and that its writer relies on."""


class Grant(NamedTuple):
    """An action that a statement allows on a resource of the model."""

    target: Resource
    action: str
    arn: Value

    @property
    def key(self) -> Resource | None:
        """The key of the model with which the resource is encrypted."""
        return key_of(self.target) if self.target.type != KEY else None


def grants_of(facts: RoleFacts) -> Iterator[Grant]:
    """The grants of a role's own policies."""
    seen = set()
    for statement in facts.statements:
        for target, arn in _named(statement) if _is_plain(statement) else ():
            for action in _ACTIONS[target.type]:
                key = (target, action)
                if key not in seen and _names(statement, action) and _fits(action, arn):
                    seen.add(key)
                    yield Grant(target, action, arn)


def _is_plain(statement: Statement) -> bool:
    excluding = statement.excludes_actions or statement.excludes_resources
    return statement.effect == "Allow" and not excluding and not statement.conditional


def _named(statement: Statement) -> Iterator[tuple[Resource, Value]]:
    """The resources that a statement names, each with an ARN that it covers."""
    for pattern in statement.resources:
        references = pattern.references if isinstance(pattern, Text) else (pattern,) if isinstance(pattern, Reference) else ()
        found = resource_of(references[0], *_ACTIONS) or secret_of(references[0]) if len(references) == 1 else None
        if found is not None:
            *parts, last = parts_of(pattern)
            ends = isinstance(last, str) and last.endswith("*")
            yield found, joined([*parts, last[:-1], UNKNOWN]) if isinstance(last, str) and ends else pattern


def _names(statement: Statement, action: str) -> bool:
    return any((as_str(one) or "").lower() == action.lower() for one in statement.actions)


def _fits(action: str, arn: Value) -> bool:
    """Whether an ARN is of the kind of resource on which an action works: objects have a slash."""
    slash = any("/" in part for part in parts_of(arn)[1:] if isinstance(part, str))
    return action not in (_OF_BUCKET, *_OF_OBJECTS) or slash is (action in _OF_OBJECTS)
