"""What calls a function by the clock or by events, and whether it is switched off or the function lets no call through.

Sources: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-disable-rule.html,
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html and
https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.alone import is_handed_on, types_of_users, users_of
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.policy_document import layer_of
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import raw_at, references
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_int, as_items, as_str

SWITCHED = ("AWS::Events::Rule", "AWS::Scheduler::Schedule")
"""What calls functions, and has a switch."""
MAPPING, _QUEUE = "AWS::Lambda::EventSourceMapping", "AWS::SQS::Queue"
_FILLERS = frozenset((*SWITCHED, "AWS::SNS::Subscription", "AWS::S3::Bucket"))
"""What sends messages to a queue by itself."""
_NO_TAKERS = frozenset(("AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", _QUEUE, "AWS::SQS::QueuePolicy"))
"""What names a queue and takes no message from it."""
_NO_CALLERS = {
    *("AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::Lambda::EventInvokeConfig"),
    *("AWS::Lambda::Permission", "AWS::Logs::LogGroup"),
}
"""What names a function and calls none."""
_CLOCKS = ("events.amazonaws.com", "scheduler.amazonaws.com")
_POLICIES = ("AWS::IAM::Policy", "AWS::IAM::RolePolicy")
"""Policies that name the roles which they are for."""


def callers_of(target: Resource) -> list[Resource] | None:
    """The rules and schedules that call a target; `None` if something else may call it too."""
    if _others(target) - {*SWITCHED}:
        return None
    return [one for one in target.template.model.resources(*SWITCHED) if target in references(one.get())]


def _others(target: Resource) -> set[str]:
    """The types of what may call a target, or let something call it: not the roles of rules and schedules."""
    return {one.type for one in users_of(target) if one.type not in _NO_CALLERS and not _is_of_clock(one)}


def _is_of_clock(user: Resource) -> bool:
    """Whether something is a role of rules and schedules alone, or a policy in such roles alone."""
    roles = [user] if user.type == ROLE else [one for one in references(user.get()) if one.type == ROLE]
    return user.type in (ROLE, *_POLICIES) and bool(roles) and all(map(_serves_clock, roles))


def _serves_clock(role: Resource) -> bool:
    """Whether only the rules and schedules of the model take a role."""
    trust = layer_of(role.get("AssumeRolePolicyDocument"))
    found = [one.principals(kind) for one in trust.statements for kind in ("AWS", "Federated", "Service")]
    names = [as_str(name) for principals in found for name in ((None,) if principals is None else principals)]
    own = any(one.type in SWITCHED for one in users_of(role)) and not is_handed_on(role)
    return own and trust.complete and bool(names) and all(one in _CLOCKS for one in names)


def rare_callers(function: Resource) -> list[Resource]:
    """The rules for events of AWS that call a function; none if something else may call it."""
    callers = callers_of(function) or []
    return callers if all(map(_hears_aws, callers)) and not is_handed_on(function) else []


def _hears_aws(rule: Resource) -> bool:
    """Whether a rule is for events of AWS alone, which come when something happens."""
    sources = as_items(rule.get("EventPattern", "source")) or ()
    return _hears(rule) and bool(sources) and all((as_str(one) or "").startswith("aws.") for one in sources)


def is_off(caller: Resource) -> bool:
    """Whether the template itself keeps a rule or a schedule from running, whatever its parameters are."""
    return raw_at(caller, ("State",)) == "DISABLED"


def timers_off(function: Resource) -> list[Resource]:
    """The rules and schedules that would call a function by the clock, if all are off; none if something unknown may call it."""
    if _others(function) - {*SWITCHED, MAPPING}:
        return []
    every = function.template.model.resources
    callers = [one for one in every(*SWITCHED) if function in references(one.get())]
    mappings = [one for one in every(MAPPING) if resource_of(one.get("FunctionName")) is function]
    if not all(_takes_events(one, function) for one in mappings):
        return []
    timers = [one for one in callers if one.get("ScheduleExpression") is not ABSENT]
    return timers if all(map(is_off, timers)) else []


def idle(mapped: Resource) -> Slips:
    """A source of events that is off, while something fills its queue and nothing else takes from there."""
    queue, function = resource_of(mapped.get("EventSourceArn"), _QUEUE), resource_of(mapped.get("FunctionName"))
    if queue is None or function is None or raw_at(mapped, ("Enabled",)) not in (False, "false") or is_handed_on(queue):
        return
    users = [one for one in users_of(queue) if one is not mapped and not _is_of_readers(one, function)]
    fillers = [one for one in users if one.type in _FILLERS]
    if fillers and all(one.type in _FILLERS or one.type in _NO_TAKERS for one in users):
        message = f"{fillers[0].logical_id} fills {queue.logical_id}, and nothing takes its messages: the source of events is off"
        yield Slip(message, "Enabled: true", ("Enabled",), False, dead=True)


def _takes_events(mapped: Resource, function: Resource) -> bool:
    """Whether only rules for events fill the queue of a source of events."""
    queue = resource_of(mapped.get("EventSourceArn"), _QUEUE)
    users = [one for one in users_of(queue) if one is not mapped and not _is_of_readers(one, function)] if queue is not None else []
    return any(map(_hears, users)) and all(_hears(one) or one.type in _NO_TAKERS for one in users)


def _hears(rule: Resource) -> bool:
    return rule.type == SWITCHED[0] and rule.get("ScheduleExpression") is ABSENT


def _is_of_readers(user: Resource, function: Resource) -> bool:
    """Whether something is the role of a function, or a policy of that role alone."""
    role = resource_of(function.get("Role"))
    return role is not None and (user is role or [one for one in references(user.get()) if one.type == role.type] == [role])


def throttled(function: Resource) -> Slips:
    """A function without any concurrency that something calls; of a source of events it is a demand."""
    place = "ReservedConcurrentExecutions"
    callers = sorted(types_of_users(function) - _NO_CALLERS)
    if as_int(function.get(place)) == 0 and callers and MAPPING not in callers:
        message = f"{place} is 0, so {function.logical_id} refuses all calls, and {callers[0]} calls it"
        yield Slip(message, "1 or more, or nothing for what the account has left", (place,), dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::Lambda::Function": throttled, MAPPING: idle}
