"""Policies of resources that let everybody in: principals of any account, under no condition that says whose they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.documents import Written, written
from hyperpod_constructs.analysis.policy_document import Call, Statement
from hyperpod_constructs.facts.policies import CLOSED, OPEN_KEYS, OPEN_TAGS
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_str, at

PERMISSION, BUS_POLICY = "AWS::Lambda::Permission", "AWS::Events::EventBusPolicy"
_NARROWED = {
    PERMISSION: ("EventSourceToken", "FunctionUrlAuthType", "PrincipalOrgID", "SourceAccount", "SourceArn"),
    BUS_POLICY: ("Condition", "Statement"),
}
"""The properties that say whose principals they are, or that the whole policy is another property."""

_OF_SERVICES = (".amazonaws.com", ".amazonaws.com.cn")
"""The ends of services, which act for any account that names a function, unless the permission says for which source.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-permission.html
"""
_CHANGE = "s3:PutBucketPolicy"
_NETWORK = ("aws:sourceip", "aws:sourcevpc", "aws:sourcevpce", "aws:vpcsourceip")
_OUTSIDE = ("notipaddress", "stringnotequals", "stringnotlike")


def open_statements(model: Model) -> Iterator[Written]:
    """Statements that let everybody in."""
    return (one for one in written(model) if one.resource.type in CLOSED and is_open(one.statement))


def is_open(statement: Statement) -> bool:
    """Whether a statement surely allows its actions to everybody."""
    everybody = statement.effect == "Allow" and "*" in (statement.principals("AWS") or ())
    return everybody and not _says_whose(at(statement.raw, "Condition"))


def open_permissions(model: Model) -> Iterator[Resource]:
    """Permissions of functions and buses that let everybody in."""
    for type_, keys in _NARROWED.items():
        for one in model.resources(type_):
            if as_str(one.get("Principal")) == "*" and all(one.get(key) is ABSENT for key in keys):
                yield one
    for one in model.resources(PERMISSION):
        principal = as_str(one.get("Principal")) or ""
        if principal.endswith(_OF_SERVICES) and all(one.get(key) is ABSENT for key in _NARROWED[PERMISSION]):
            yield one


def _says_whose(condition: object) -> bool:
    """Whether a condition may say whose the principals are; to say whose they are not leaves everybody else."""
    if condition in (ABSENT, {}):
        return False
    if not isinstance(condition, Mapping):
        return True
    telling = [each for operator, each in condition.items() if "Not" not in operator]
    keys = [key.lower() for each in telling for key in (each if isinstance(each, Mapping) else ("?",))]
    return any(key not in OPEN_KEYS and not key.startswith(OPEN_TAGS) for key in keys)


def locks_out(statement: Statement, bucket: Value) -> bool:
    """Whether a statement denies everybody outside a network to change a bucket's policy, CloudFormation too."""
    everybody = statement.effect == "Deny" and "*" in (statement.principals("AWS") or ())
    conditions = at(statement.raw, "Condition")
    if not everybody or not isinstance(conditions, Mapping) or statement.applies(Call(_CHANGE, bucket)) is False:
        return False
    found = [(operator.lower(), key.lower()) for operator, keys in conditions.items() for key in _names(keys)]
    return bool(found) and all(operator.startswith(_OUTSIDE) and key in _NETWORK for operator, key in found)


def denies_everything(statement: Statement) -> bool:
    """Whether a statement denies everybody all actions of a service, or of all, under no condition."""
    everybody = (
        statement.effect == "Deny" and "*" in (statement.principals("AWS") or ()) and at(statement.raw, "Principal") is not ABSENT
    )
    whole = not statement.excludes_actions and any(map(_is_whole, statement.actions))
    return everybody and whole and at(statement.raw, "Condition") in (ABSENT, {})


def _is_whole(action: Value) -> bool:
    """Whether a pattern is for all actions, such as `*` and `s3:*`."""
    return (as_str(action) or "").rpartition(":")[2] == "*"


def _names(keys: object) -> list[str]:
    return list(keys) if isinstance(keys, Mapping) else [""]
