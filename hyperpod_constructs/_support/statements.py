"""Statements of policies as data: a document of them is one call into jsii, where each `iam.PolicyStatement` is another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_iam as iam

Conditions = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """What a policy allows.

    :param conditions: none unless given.
    """

    actions: Sequence[str]
    resources: Sequence[str]
    conditions: Conditions | None = None

    def render(self) -> dict[str, Any]:
        """The statement in the language of policies."""
        allowed = {"Effect": "Allow", "Action": [*self.actions], "Resource": [*self.resources]}
        return allowed if self.conditions is None else {**allowed, "Condition": self.conditions}

    def made(self) -> iam.PolicyStatement:
        """The statement for a policy that is there already."""
        return iam.PolicyStatement(actions=[*self.actions], resources=[*self.resources], conditions=self.conditions)


def document(statements: Iterable[Statement]) -> iam.PolicyDocument:
    """A policy of these statements."""
    return iam.PolicyDocument.from_json({"Version": "2012-10-17", "Statement": [statement.render() for statement in statements]})
