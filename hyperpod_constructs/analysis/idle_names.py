"""Statements that allow something with a name that nothing has: it is nearly that of a resource, or one resource of its type waits.

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from hyperpod_constructs.analysis.alone import is_handed_on, types_of_users
from hyperpod_constructs.analysis.arns import Arn
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.analysis.texts.near_arns import is_whole
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Value, as_str, joined, parts_of, shown

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
_WITH_PATHS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("secretsmanager", "secret:"): ("AWS::SecretsManager::Secret", "Name"),
    ("ssm", "parameter/"): ("AWS::SSM::Parameter", "Name"),
}
"""The same of what may have slashes in its name, and is often made elsewhere: only a misspelled one is a mistake."""
_ARN = {"AWS::SSM::Parameter": "Arn"}
"""The attribute with the ARN, where that is not what Ref gives."""
_SECRETS = "secretsmanager"
_ENDING = re.compile(r"-(\*|\?{6})$")
"""What stands for the characters that Secrets Manager adds to a name."""

_RULE, _IMPORTING = "AWS::ECR::PullThroughCacheRule", "ecr:batchimportupstreamimage"
"""The rules by which a registry keeps images of another one, and the action that imports these."""


def idle_names(resource: Resource, statement: Statement) -> Iterator[str]:
    """What a statement of a resource allows on nothing, in words, where one resource waits for it."""
    model = resource.template.model
    yield from _of_caches(model.resources(_RULE), statement) if model.complete else ()
    allows = statement.effect == "Allow" and not statement.excludes_resources
    yield from _misspelled(resource, statement) if allows else ()
    for kind, name in map(_named, statement.resources) if allows else ():
        others = model.resources(kind[0]) if kind is not None else ()
        if kind is None or not nobodys(model, name, (one.get(kind[1]) for one in others)):
            continue
        idle = [one for one in others if not types_of_users(one) and not is_handed_on(one)]
        if len(idle) == 1:
            yield f"no {kind[0]} of the templates is called {name}, and nothing names {idle[0].logical_id}"


def _misspelled(resource: Resource, statement: Statement) -> Iterator[str]:
    """Names in the account of a statement that are nearly those of resources on which it does not work."""
    model = resource.template.model
    for pattern in statement.resources if model.complete else ():
        kind, name = _named(pattern, _WITH_PATHS)
        every = _by_name(model, *kind) if kind is not None and resource.template.owner in parts_of(pattern) else {}
        place = resource.template.environment
        there = {own: one for own, one in every.items() if one.template.environment.is_beside(place)}
        near = typo_of(name, there)
        if kind is not None and near is not None and is_whole(name, near) and not _works_on(statement, there[near]):
            yield f"no {kind[0]} is called {name}; the nearest is {near}"


def _by_name(model: Model, type_: str, key: str) -> Mapping[str, Resource]:
    """The resources of a type by their known names, without the slash with which those of parameters begin; computed once."""
    named = ((known(one.get(key)), one) for one in model.resources(type_))
    return model.cached((_by_name, type_), lambda: {name.lstrip("/"): one for name, one in named if name})


def _works_on(statement: Statement, resource: Resource) -> bool:
    """Whether a statement is for a resource too, or may be."""
    arn = Arn(Reference(resource, _ARN.get(resource.type)))
    return any(Arn(pattern).covers(arn) is not False for pattern in statement.resources)


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
        filling = f"{rules[0].logical_id} fills those below {shown(rules[0].get('EcrRepositoryPrefix'))}"
        yield f"no rule fills the repositories of {shown(statement.resources[0])!r}; {filling}"


def _named(pattern: Value, kinds: Mapping[tuple[str, str], tuple[str, str]] = _KINDS) -> tuple[tuple[str, str] | None, str]:
    """The kind and the name in an ARN; `None` for another one, and for a name with parts that are not known."""
    fields = (spelled(pattern) or "").split(":", 5)
    open_ = {"*", "?", ":", HOLE, *("/" if kinds is _KINDS else "")}
    for (service, before), kind in kinds.items():
        name = fields[-1].removeprefix(before)
        whole = len(fields) == 6 and fields[2] == service and fields[5] == f"{before}{name}" and HOLE in fields[4]
        name = _ENDING.sub("", name) if service == _SECRETS else name
        if whole and name and not set(name) & open_:
            return kind, name
    return None, ""
