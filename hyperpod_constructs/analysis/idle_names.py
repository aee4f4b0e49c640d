"""Statements that allow something with a name that nothing has, beside the one resource of its type that nothing names.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.alone import is_handed_on, types_of_users
from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.analysis.texts.reading import HOLE, spelled
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import UNKNOWN, Value, as_str, joined, parts_of, shown

_KINDS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("backup", "backup-vault:"): ("AWS::Backup::BackupVault", "BackupVaultName"),
    ("dynamodb", "table/"): ("AWS::DynamoDB::Table", "TableName"),
    ("lambda", "function:"): ("AWS::Lambda::Function", "FunctionName"),
    ("sns", ""): ("AWS::SNS::Topic", "TopicName"),
    ("sqs", ""): ("AWS::SQS::Queue", "QueueName"),
    ("ssm", "document/"): ("AWS::SSM::Document", "Name"),
    ("states", "stateMachine:"): ("AWS::StepFunctions::StateMachine", "StateMachineName"),
}
"""By service and the beginning of the last field of an ARN: the type, and the property with its name."""


_RULE, _IMPORTING = "AWS::ECR::PullThroughCacheRule", "ecr:batchimportupstreamimage"
"""The rules by which a registry keeps images of another one, and the action that imports these."""


def idle_names(resource: Resource, statement: Statement) -> Iterator[str]:
    """What a statement of a resource allows on nothing, in words, where one resource waits for it."""
    model = resource.template.model
    yield from _of_caches(model.resources(_RULE), statement) if model.complete else ()
    allows = statement.effect == "Allow" and not statement.excludes_resources
    for kind, name in map(_named, statement.resources) if allows else ():
        others = model.resources(kind[0]) if kind is not None else ()
        if kind is None or not nobodys(model, name, (one.get(kind[1]) for one in others)):
            continue
        idle = [one for one in others if not types_of_users(one) and not is_handed_on(one)]
        if len(idle) == 1:
            yield f"no {kind[0]} of the templates is called {name}, and nothing names {idle[0].logical_id}"


def _of_caches(rules: Sequence[Resource], statement: Statement) -> Iterator[str]:
    """That imported images are allowed in repositories which no rule of the templates fills.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache-iam.html
    """
    imports = statement.effect == "Allow" and not statement.excludes_resources and not statement.conditional
    if not rules or not imports or _IMPORTING not in [str(one).lower() for one in statement.actions]:
        return
    prefixes = [
        parts_of(one.get("EcrRepositoryPrefix")) if as_str(one.get("EcrRepositoryPrefix")) != "ROOT" else () for one in rules
    ]
    filled = [
        joined(["arn:aws:ecr:", UNKNOWN, ":", UNKNOWN, ":repository/", *one, *(("/",) if one else ()), UNKNOWN]) for one in prefixes
    ]
    if all(Arn(pattern).covers(Arn(arn)) is False for pattern in statement.resources for arn in filled):
        known = f"{rules[0].logical_id} fills those below {shown(rules[0].get('EcrRepositoryPrefix'))}"
        yield f"no rule fills the repositories of {shown(statement.resources[0])!r}; {known}"


def _named(pattern: Value) -> tuple[tuple[str, str] | None, str]:
    """The kind and the name in an ARN; `None` for another one, and for a name with parts that are not known."""
    fields = (spelled(pattern) or "").split(":", 5)
    for (service, before), kind in _KINDS.items():
        name = fields[-1].removeprefix(before)
        whole = len(fields) == 6 and fields[2] == service and fields[5] == f"{before}{name}" and HOLE in fields[4]
        if whole and name and not set(name) & {"*", "?", ":", "/", HOLE}:
            return kind, name
    return None, ""
