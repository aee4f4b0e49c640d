"""What calls a function by the clock or by events, and whether it is switched off or the function lets no call through.

Sources: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-disable-rule.html and
https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.alone import types_of_users
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import raw_at, references
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import as_int

SWITCHED = ("AWS::Events::Rule", "AWS::Scheduler::Schedule")
"""What calls functions, and has a switch."""
_NO_CALLERS = {
    *("AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::Lambda::EventInvokeConfig"),
    *("AWS::Lambda::Permission", "AWS::Logs::LogGroup"),
}
"""What names a function and calls none."""


def callers_of(target: Resource) -> list[Resource] | None:
    """The rules and schedules that call a target; `None` if something else may call it too."""
    if types_of_users(target) - {*SWITCHED} - _NO_CALLERS:
        return None
    return [one for one in target.template.model.resources(*SWITCHED) if target in references(one.get())]


def is_off(caller: Resource) -> bool:
    """Whether the template itself keeps a rule or a schedule from running, whatever its parameters are."""
    return raw_at(caller, ("State",)) == "DISABLED"


def throttled(function: Resource) -> Slips:
    """A function without any concurrency that something calls; of a source of events it is a demand."""
    place = "ReservedConcurrentExecutions"
    callers = sorted(types_of_users(function) - _NO_CALLERS)
    if as_int(function.get(place)) == 0 and callers and "AWS::Lambda::EventSourceMapping" not in callers:
        message = f"{place} is 0, so {function.logical_id} refuses all calls, and {callers[0]} calls it"
        yield Slip(message, "1 or more, or nothing for what the account has left", (place,), dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::Lambda::Function": throttled}
