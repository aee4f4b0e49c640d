"""Deliveries: a service sends to a topic, a queue, a function or a bucket as itself, so the receiver's policy must let it in.

    >>> [(one.delivery.sender.logical_id, one.delivery.receiver.logical_id) for one in refused(model)]
    [('Results', 'Jobs')]

Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.arns import Arn, bucket_arn
from hyperpod_constructs.analysis.conditions import Context
from hyperpod_constructs.analysis.contexts import OF_SERVICE
from hyperpod_constructs.analysis.ends import End, ends
from hyperpod_constructs.analysis.node_places import arn_at
from hyperpod_constructs.analysis.own_arns import own_arns
from hyperpod_constructs.analysis.policy_document import Call, Layer, Statement, layer_of, listed
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.facts.property_schemas import attributes
from hyperpod_constructs.facts.senders import LOGGING, LOGGING_ACL, NEVER_ACCOUNTS, OWNED, RECEIVERS, Receiver, Sender, senders
from hyperpod_constructs.templates.dependencies import awaits
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Part, Reference, Text, Unknown, Value, as_str, joined, parts_of

_PERMISSION = "AWS::Lambda::Permission"
_SINGLE = re.compile(":(role|user)/")
_PIECE = re.compile(r"(\{[^{}]+\}|\*)")
_NAMES = ("BucketName", "FunctionName", "QueueName", "TopicName")
_ARNS: Mapping[str, tuple[str | None, ...]] = {
    "lambda": ("Arn",),
    "acl": ("Arn", None),
    "logs": ("Arn", None),
    "s3": ("Arn", None),
    "sns": (None, "TopicArn"),
    "sqs": ("Arn",),
}
"""The references that name a receiver; a bucket is named by its name too."""

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Admission:
    """A policy that may be a receiver's."""

    resource: Resource
    sure: bool | None
    """Whether it surely is there and the receiver's."""
    layer: Layer
    path: tuple[str, ...]
    """The place of its document."""

    def lets(self, caller: Caller, call: Call) -> bool | None:
        """Whether it lets a service make a call."""
        answer = any_of(all_of((_speaks_to(one, caller), one.applies(call))) for one in self.layer.statements if _may_allow(one))
        if not self.layer.complete and not answer:
            return None
        return all_of((self.sure, answer)) if answer is not False else False

    def denies(self, caller: Caller, call: Call) -> bool:
        """Whether it surely denies a service a call."""
        denials = (one for one in self.layer.statements if one.effect == "Deny")
        return self.sure is True and any(_speaks_to(one, caller) and one.applies(call) for one in denials)

    def speaks_to(self, caller: Caller) -> bool:
        """Whether a statement of it is for a service."""
        return any(_speaks_to(one, caller) for one in self.layer.statements if _may_allow(one))


class Caller(NamedTuple):
    """A service that calls as itself, and the region in which it does, if that is known."""

    service: str
    region: str | None


@dataclass(frozen=True)
class Delivery:
    """What a resource has a service send to another."""

    sender: Resource
    end: End
    """The place of the receiver in it."""
    facts: Sender
    receiver: Resource

    @property
    def path(self) -> Path:
        """The place of the receiver in the sender."""
        return self.end.path

    @property
    def kind(self) -> Receiver:
        """The kind of its receiver."""
        return RECEIVERS[self.facts.to]

    @cached_property
    def caller(self) -> Caller:
        """The service that sends."""
        return Caller(self.facts.service, region_of(self.sender))

    @cached_property
    def call(self) -> Call:
        """The call of the service, as the policies see it."""
        known = {one: value for one, value in OF_SERVICE.items() if one != "sts:externalid"}
        context: Context = {
            **known,
            "aws:securetransport": "true",
            "aws:sourcearn": self._source,
            "aws:sourceaccount": self.sender.template.owner,
            **({"s3:x-amz-acl": "bucket-owner-full-control"} if self.facts.service in OWNED else {}),
        }
        return Call(self.kind.action, self._target, context)

    @cached_property
    def admissions(self) -> tuple[Admission, ...]:
        """The policies of the receiver, sure and possible."""
        return tuple(admissions(self.receiver, self.facts.to))

    @cached_property
    def admitting(self) -> tuple[Admission, ...]:
        """The policies that let it in, or may."""
        return tuple(one for one in self.admissions if one.lets(self.caller, self.call) is not False)

    @property
    def is_refused(self) -> bool:
        """Whether no policy lets it in, or one surely shuts it out."""
        if any(one.denies(self.caller, self.call) for one in self.admissions):
            return True
        if (self.facts.auto or self.facts.meant) and not any(one.speaks_to(self.caller) for one in self.admissions):
            return False
        if self.facts.to == "logs" and isinstance(self.receiver.get("LogGroupName"), Unknown):
            return False  # policies speak of log groups by their names
        by_default = not self.admissions and (self.facts.by_default or self._may_be_let_in or _has_acl(self.receiver))
        by_default = by_default or (self.facts.service == LOGGING and self.receiver.get("AccessControl") == LOGGING_ACL)
        elsewhere = not any(one.sure for one in self.admissions) and _is_known_outside(self.receiver, self.sender)
        return self.receiver.template.model.complete and not self.admitting and not by_default and not elsewhere

    @property
    def others(self) -> tuple[Admission, ...]:
        """The policies for other log groups that let the service in there."""
        found = self.receiver.template.model.resources(*self.kind.policies) if self.facts.to == "logs" else ()
        meant = [Admission(one, True, layer_of(one.get("PolicyDocument")), ("PolicyDocument",)) for one in found]
        return tuple(one for one in meant if one.speaks_to(self.caller))

    @property
    def _may_be_let_in(self) -> bool:
        """Whether a policy that is not in the input may let it into a log group."""
        return self.facts.to == "logs" and not self.others

    @property
    def comes_early(self) -> Resource | None:
        """The policy that lets it in, where AWS tries the receiver before that policy is made."""
        certain = [one for one in self.admitting if one.resource.template.root is self.sender.template.root]
        if not self.facts.tested or not certain or len(certain) < len(self.admitting):
            return None
        early = not any(awaits(self.sender, one.resource) for one in certain)
        return certain[0].resource if early and self.sender.exists is not None else None

    @property
    def _target(self) -> Value:
        if self.facts.to == "logs":
            return arn_at(self.receiver, "logs", joined(["log-group:", Reference(self.receiver), ":log-stream:", UNKNOWN]))
        if self.facts.to != "s3":
            return Reference(self.receiver, "TopicArn" if self.facts.to == "sns" else "Arn")
        return joined([*parts_of(bucket_arn(Reference(self.receiver))), "/", *self._key])

    @property
    def _key(self) -> Iterator[Part]:
        """The keys in a bucket."""
        for piece in _PIECE.split(self.facts.key):
            if piece == "{/}":
                yield from _behind(self.end.value)
            elif piece == "{account}":
                yield from parts_of(self.sender.template.owner)
            elif piece.startswith("{"):
                way = piece.strip("{}").removesuffix("/")
                found = (one for one in ends(self.sender, way) if "[" in way or one.goes_with(self.end))
                given = next((one.value for one in found), ABSENT)
                yield from () if given in (ABSENT, "") else (*parts_of(given), "/" if piece.endswith("/}") else "")
            else:
                yield UNKNOWN if piece == "*" else piece

    @property
    def _source(self) -> Value:
        if not self.facts.source:
            own = sorted(one for one in attributes(self.sender.type) or () if one in _OWN_ARNS)
            return Reference(self.sender, own[0]) if own else UNKNOWN
        value = self.sender.get(self.facts.source)
        if self.facts.source == "BucketName":
            return bucket_arn(value)
        if self.facts.source == "LogGroupName":
            return joined(["arn:", UNKNOWN, ":logs:", UNKNOWN, ":", UNKNOWN, ":log-group:", *parts_of(value), UNKNOWN])
        return value


def _behind(value: Value) -> Iterator[Part]:
    """What follows a bucket in its ARN, with a slash at its end."""
    beyond = parts_of(value)[1:]
    if beyond and isinstance(beyond[0], str):
        yield from (beyond[0].removeprefix("/"), *beyond[1:])
        yield "" if isinstance(beyond[-1], str) and beyond[-1].endswith("/") else "/"


_OWN_ARNS = ("Arn", "BackupVaultArn", "TopicArn")


class Refused(NamedTuple):
    """A delivery that surely is refused, and the policy at which it ends; the sender if the receiver has none for it."""

    delivery: Delivery
    place: Resource
    path: Path


def deliveries(model: Model) -> tuple[Delivery, ...]:
    """The deliveries of a model whose receivers it has; computed once."""
    return model.cached(deliveries, lambda: tuple(_deliveries(model)))


def _deliveries(model: Model) -> Iterator[Delivery]:
    for type_, facts in senders().items():
        for resource in model.resources(type_):
            for one in facts:
                yield from _of_sender(resource, one)


def _of_sender(resource: Resource, facts: Sender) -> Iterator[Delivery]:
    kind = RECEIVERS[facts.to]
    for end in ends(resource, facts.path):
        if end.path[-1] == "Endpoint" and resource.get(*end.path[:-1], "Protocol") not in (ABSENT, facts.to):
            continue
        role = resource.get(*filled(facts.role, end.path)) if facts.role else ABSENT
        for found in dict.fromkeys(_receivers(resource, end.value, facts.to)) if role is ABSENT else ():
            if found.type == kind.type:
                yield Delivery(resource, end, facts, found)


def _receivers(resource: Resource, value: Value, to: str) -> Iterator[Resource]:
    """What a value names: by a reference, or by an ARN in full."""
    yield from (target_of(one) for one in _references(value) if one.attribute in _ARNS[to])
    yield from (found for one in own_arns(resource, value) if one.service == to for found in one.receivers(resource))


def _references(value: Value) -> tuple[Reference, ...]:
    return value.references if isinstance(value, Text) else (value,) if isinstance(value, Reference) else ()


def filled(path: str, place: Path) -> Path:
    """A path such as `Targets/*/RoleArn` with the indices of a place."""
    indices = iter([one for one in place if isinstance(one, int)])
    return tuple(next(indices, 0) if key == "*" else key for key in path.split("/")) if path else ("",)


def refused(model: Model) -> tuple[Refused, ...]:
    """The deliveries that are surely refused; computed once."""
    return model.cached(refused, lambda: tuple(_refused(deliveries(model))))


def _refused(found: Iterable[Delivery]) -> Iterator[Refused]:
    """Each refused delivery; a bucket that takes no objects of a sender is not asked for its ACL too."""
    said = set()
    for one in sorted((one for one in found if one.is_refused), key=lambda one: one.facts.to == "acl"):
        key = (one.sender, one.receiver, one.facts.service)
        if one.facts.to != "acl" or key not in said:
            yield _at(one)
        said.add(key)


def _at(delivery: Delivery) -> Refused:
    """A refused delivery at the policy that is meant for it: of its source, of its service, or the only one."""
    sure = [one for one in delivery.admissions if one.sure]
    caller, call = delivery.caller, delivery.call
    shut = [one for one in sure if one.denies(caller, call)]
    of_service = [one for one in sure if one.speaks_to(caller)]
    of_source = [one for one in sure if any(_speaks_of(each, call) for each in one.layer.statements if _may_allow(each))]
    only = sure if delivery.facts.to != "lambda" else []
    for found in (shut, of_source, of_service, only, delivery.others):
        if found:
            return Refused(delivery, found[0].resource, found[0].path)
    return Refused(delivery, delivery.sender, delivery.path)


def _speaks_of(statement: Statement, call: Call) -> bool:
    """Whether a statement has a condition, and it is on the source of a call."""
    return statement.conditional and statement.applies(call) is True


def _speaks_to(statement: Statement, caller: Caller) -> bool | None:
    """Whether a service is among the principals of a statement: by name, or with everybody. An account may stand for it."""
    people = statement.principals("AWS")
    if people is None:
        return None
    if "*" in people:
        return True
    stands = None if caller.service not in NEVER_ACCOUNTS and any(map(_may_be_an_account, people)) else False
    return any_of((statement.names_service(caller.service, caller.region), stands))


def _may_be_an_account(principal: Value) -> bool:
    """Whether a principal is no single role or user."""
    if isinstance(principal, Reference):
        return not principal.resource.type.startswith("AWS::IAM::")
    return not any(isinstance(part, str) and _SINGLE.search(part) for part in parts_of(principal))


def _may_allow(statement: Statement) -> bool:
    return statement.effect in ("Allow", "?")


def _is_known_outside(receiver: Resource, sender: Resource) -> bool:
    """Whether a stack that is not in the input can name a receiver, and so hold its policy: by its chosen name, or an export.

    What is made beside its sender has its policy there too, unless an export says that others use it.
    """
    template = receiver.template
    if template is not sender.template and any(receiver.get(name) is not ABSENT for name in _NAMES):
        return True
    return any(receiver in map(target_of, _references(template.output(name))) for _, name in template.exports())


def _has_acl(receiver: Resource) -> bool:
    return receiver.get("AccessControl") is not ABSENT


def admissions(receiver: Resource, to: str) -> Iterator[Admission]:
    """The policies, sure and possible, of a receiver.

    :param to: its kind, in the words of `facts.senders.RECEIVERS`.
    """
    for type_, key in RECEIVERS[to].policies.items():
        for policy in receiver.template.model.resources(type_):
            permission = type_ == _PERMISSION
            layer = layer_of(_document(policy, receiver) if permission else policy.get("PolicyDocument"))
            named = any_of(_names(one, receiver) for one in listed(policy.get(key))) if key else _covers(layer, receiver)
            if named is not False:
                sure = all_of((named, True if policy.exists else None))
                yield Admission(policy, sure, layer, ("Principal",) if permission else ("PolicyDocument",))


def _covers(layer: Layer, group: Resource) -> bool | None:
    """Whether a policy for log groups speaks of one."""
    lines = Arn(arn_at(group, "logs", joined(["log-group:", Reference(group), ":log-stream:", UNKNOWN])))
    return any_of([*(one.covers(lines) for one in layer.statements), False if layer.complete else None])


def _names(value: Value, receiver: Resource) -> bool | None:
    """Whether a policy names a receiver: by a reference, or by its chosen name."""
    if isinstance(value, Reference):
        return value.resource is receiver
    if isinstance(value, Text):
        return True if receiver in map(target_of, value.references) else None
    text, chosen = as_str(value), [receiver.get(key) for key in _NAMES if receiver.get(key) is not ABSENT]
    if text is None or any(as_str(one) is None for one in chosen):
        return None
    return any(text.endswith(as_str(one) or "") for one in chosen)


def _document(permission: Resource, receiver: Resource) -> Value:
    """A permission of a function as the policy that Lambda makes of it."""
    principal, source, account = (permission.get(key) for key in ("Principal", "SourceArn", "SourceAccount"))
    texts = [part for part in parts_of(principal) if isinstance(part, str)]
    kind = "Service" if any("amazonaws.com" in one for one in texts) else "AWS"
    conditions: dict[str, Value] = {}
    if source is not ABSENT:
        conditions["ArnLike"] = {"aws:SourceArn": source}
    if account is not ABSENT:
        conditions["StringEquals"] = {"aws:SourceAccount": account}
    statement: dict[str, Value] = {
        "Effect": "Allow",
        "Principal": UNKNOWN if principal is UNKNOWN else {kind: principal},
        "Action": permission.get("Action"),
        "Resource": Reference(receiver, "Arn"),
        **({"Condition": conditions} if conditions else {}),
    }
    return {"Statement": (statement,)}
