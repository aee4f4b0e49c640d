"""Calls of services as the roles of resources, on what the resources name: queues, functions, log groups, places in S3, images."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.arns import kind_of, s3_uri_arns
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.analysis.ends import End, ends
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.node_places import arn_at
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.resource_policies import key_named
from hyperpod_constructs.analysis.schema.judge import fits
from hyperpod_constructs.analysis.trust import given_to
from hyperpod_constructs.facts.managed_keys import OF_AWS
from hyperpod_constructs.facts.permissions import Place, Task
from hyperpod_constructs.facts.role_calls import AUTHORIZE, AUTHORIZED, PASS_ROLE, PASSED_TO, RoleCall, role_calls
from hyperpod_constructs.templates.model import Model, Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Part, Reference, Text, Value, as_str, joined, parts_of

_FUNCTION, _QUEUE, _REPOSITORY = "AWS::Lambda::Function", "AWS::SQS::Queue", "AWS::ECR::Repository"
_PARAMETER, _WORKSPACE, _LOG_GROUP = "AWS::SSM::Parameter", "AWS::APS::Workspace", "AWS::Logs::LogGroup"
_ADDRESS = re.compile(r"https://sqs\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/(\d{12})/([\w.-]+)")
_FORMED = re.compile(r"(\{\w*\}|\*)")
_IMAGE = re.compile(r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/([^:@]+)(?:[:@].*)?")
_HERE = "here"
"""Stands for a region that only the deployment knows."""


class Called(NamedTuple):
    """A task of a resource's role, and the ARN on which it works.

    :param named: the resource of the model on which it works.
    :param user: who has the role, where that is not the resource.
    :param inside: whether the resource itself calls, from its place in the network.
    :param groups: the groups of nodes that call.
    """

    resource: Resource
    role: Resource
    task: Task
    arn: Value
    named: Resource | None = None
    user: str = ""
    inside: bool = False
    groups: tuple[Group, ...] = ()

    @property
    def tested(self) -> bool:
        """Whether AWS tries it when the resource is made."""
        return self.task.fatal


def called(model: Model) -> tuple[Called, ...]:
    """The calls of a model whose roles it has; computed once."""
    return model.cached(called, lambda: tuple(_called(model)))


def _called(model: Model) -> Iterator[Called]:
    for type_, facts in role_calls().items():
        for resource in model.resources(type_):
            for one in facts:
                yield from _of_resource(resource, one)


def _of_resource(resource: Resource, facts: RoleCall) -> Iterator[Called]:
    roles = [(end, role) for end in ends(resource, facts.role) if (role := resource_of(end.value, ROLE)) is not None]
    if not roles or not _is_made(resource, facts):
        return
    for target in ends(resource, facts.target):
        arn = arn_on(target, facts.on)
        for end, role in roles if arn is not None else ():
            if arn is not None and end.goes_with(target):
                yield Called(resource, role, _task(facts, role, arn, end, target), arn, named_in(target.value))


def _is_made(resource: Resource, facts: RoleCall) -> bool:
    """Whether the properties are surely such that the call is made."""
    when, found = facts.when, list(ends(resource, facts.place))
    return when is None or any(fits(when, one.value) for one in found)


def _task(facts: RoleCall, role: Resource, arn: Value, place: End, target: End) -> Task:
    """A task of a role.

    :param place: of the role in its user.
    """
    actions = tuple(_chosen(action.split("|"), role, arn) for action in facts.actions)
    return Task(
        words=facts.words,
        actions=actions,
        on=Place.ANYWHERE,
        source=facts.source,
        fatal=facts.tested,
        chosen=facts.chosen,
        by_service=True,
        context=_context(actions, place, target),
        hint=facts.hint,
    )


def _context(actions: tuple[str, ...], place: End, target: End) -> Context:
    """The service that gets a role, or an interface."""
    key, given = (PASSED_TO, target) if actions == (PASS_ROLE,) else (AUTHORIZED, place)
    service = given_to(given) if actions in ((PASS_ROLE,), (AUTHORIZE,)) else None
    return {} if service is None else {key: service}


def _chosen(names: list[str], role: Resource, arn: Value) -> str:
    """The first of some names of an action that a role may use; the first of all if there is none."""
    return next((name for name in names[1:] if role_facts(role).may(name, arn) is not False), names[0])


def named_in(value: Value) -> Resource | None:
    """The first resource that a value names."""
    references = value.references if isinstance(value, Text) else (value,) if isinstance(value, Reference) else ()
    return target_of(references[0]) if references else None


def arn_on(target: End, on: str, beside: Mapping[str, Value] | None = None) -> Value | None:
    """The resource of an action, in the words of `role_calls.tsv`; `None` if the target is of another kind.

    :param beside: what is beside the target, by names in small letters, unless it is a property.
    """
    value, (word, _, form) = target.value, on.partition(" ")
    if any(isinstance(part, str) and "${" in part for part in parts_of(value)):
        return None
    if on in _WORDS:
        return _WORDS[on](target)
    if word == "image":
        return _image(target) if not form or _image(target) is None else "*"
    if word == "kms":
        written = parts_of(value)[-1]
        if isinstance(written, str) and written.rpartition(":")[2].startswith(OF_AWS):
            return None
        key = key_named(value)
        value = Reference(key, "Arn") if key is not None else value
    elif word == "secretsmanager":
        value = _whole(value)
    elif word == "logs":
        value = _group(target)
    kind = kind_of(value)
    if word.startswith("arn:"):
        return None if kind or (as_str(value) or "").startswith(("arn:", "s3:")) else _filled(target, value, on, beside)
    return _filled(target, value, form or "{}") if kind == word or kind.startswith((f"{word}:", f"{word}/")) else None


def _filled(target: End, value: Value, form: str, beside: Mapping[str, Value] | None = None) -> Value:
    """A form with the target in it."""
    account = target.resource.template.owner
    places: dict[str, tuple[Part, ...]] = {
        "{}": parts_of(value),
        "{place}": (region_of(target.resource) or UNKNOWN, ":", *parts_of(account)),
        "*": (UNKNOWN,),
    }
    return joined(part for piece in _FORMED.split(form) for part in places.get(piece) or _beside(target, piece, beside))


def _beside(target: End, piece: str, beside: Mapping[str, Value] | None) -> tuple[Part, ...]:
    """A piece of a form; in braces it is what has this name beside the target."""
    if not piece.startswith("{"):
        return (piece,)
    name = piece[1:-1]
    found = target.resource.get(*target.path[:-1], name) if beside is None else beside.get(name.lower(), ABSENT)
    return (UNKNOWN,) if found is ABSENT else parts_of(found)


def _uri(target: End) -> Value | None:
    arns = s3_uri_arns(target.value)
    return None if arns is None else arns[0]


def _objects(target: End) -> Value | None:
    arns = s3_uri_arns(target.value)
    return None if arns is None else arns[1]


def _object(target: End) -> Value | None:
    """The one object at a place in S3."""
    if s3_uri_arns(target.value) is None:
        return None
    scheme, *others = parts_of(target.value)
    return joined(["arn:aws:s3:::", str(scheme).removeprefix("s3://"), *others])


def _queue(target: End) -> Value | None:
    """The queue of an address."""
    queue, found = resource_of(target.value, _QUEUE), _ADDRESS.fullmatch(as_str(target.value) or "")
    if queue is not None:
        return Reference(queue, "Arn")
    return None if found is None else f"arn:aws:sqs:{found[1]}:{found[2]}:{found[3]}"


def _function(target: End) -> Value | None:
    """A function by its name, with or without a version, or by its ARN."""
    kind, function, name = kind_of(target.value), named_in(target.value), as_str(target.value)
    if kind:
        return target.value if kind.startswith("lambda:") else None
    if isinstance(target.value, Reference) and function is not None:
        return Reference(function, "Arn") if function.type == _FUNCTION else None
    return None if name is None or "$" in name else arn_at(target.resource, "lambda", f"function:{name}")


def _image(target: End) -> Value | None:
    """The repository of an image."""
    first = parts_of(target.value)[0]
    repository = resource_of(first, _REPOSITORY) if isinstance(first, Reference) else None
    if repository is not None:
        return Reference(repository, "Arn")
    text = as_str(target.value) or _with_region(target.value)
    found = _IMAGE.fullmatch(text or "")
    if found is None:
        return None
    return joined(["arn:aws:ecr:", UNKNOWN if found[2] == _HERE else found[2], f":{found[1]}:repository/{found[3]}"])


def _with_region(value: Value) -> str | None:
    """The name of an image whose one unknown part is its region."""
    parts = parts_of(value)
    one = sum(not isinstance(part, str) for part in parts) == 1 and isinstance(parts[0], str) and parts[0].endswith(".dkr.ecr.")
    return "".join(part if isinstance(part, str) else _HERE for part in parts) if one else None


def _whole(value: Value) -> Value:
    """The ARN of a secret without the key of its text that may follow."""
    if isinstance(value, Text):
        return value.parts[0] if isinstance(value.parts[0], Reference) else UNKNOWN
    return ":".join(value.split(":")[:7]) if isinstance(value, str) else value


def _group(target: End) -> Value:
    """The ARN of a log group without the end that stands for its streams."""
    value, group = target.value, resource_of(target.value, _LOG_GROUP)
    if group is not None and isinstance(value, Reference) and value.attribute == "Arn":
        return arn_at(target.resource, "logs", joined(["log-group:", Reference(group)]))
    *parts, last = parts_of(value)
    return joined([*parts, last.removesuffix(":*") if isinstance(last, str) else last])


def _secret(target: End) -> Value | None:
    """A secret by its ARN, or by its name; a key of its text may follow."""
    kind, name = kind_of(target.value), as_str(target.value)
    if kind or name is None:
        return _whole(target.value) if kind.startswith("secretsmanager:") else None
    return arn_at(target.resource, "secretsmanager", joined([f"secret:{name.split(':')[0]}-", UNKNOWN]))


def _parameter(target: End) -> Value | None:
    """A parameter by its ARN, or by its name."""
    kind, parameter, name = kind_of(target.value), named_in(target.value), as_str(target.value)
    if kind or name is None:
        if kind or parameter is None or parameter.type != _PARAMETER:
            return target.value if kind.startswith("ssm:") else None
        return Reference(parameter, "Arn")
    return arn_at(target.resource, "ssm", f"parameter{'' if name.startswith('/') else '/'}{name}")


def _workspace(target: End) -> Value:
    """The workspace of Prometheus, if the model has only one."""
    spaces = target.resource.template.model.resources(_WORKSPACE)
    return Reference(spaces[0], "Arn") if len(spaces) == 1 else UNKNOWN


_WORDS: Mapping[str, Callable[[End], Value | None]] = {
    "any": lambda target: UNKNOWN,
    "everything": lambda target: "*",
    "function": _function,
    "queue": _queue,
    "uri": _uri,
    "uri/*": _objects,
    "object": _object,
    "secret": _secret,
    "parameter": _parameter,
    "workspace": _workspace,
}
