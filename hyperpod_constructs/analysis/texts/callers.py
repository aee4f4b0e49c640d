"""What calls a function by the clock or by events, and whether it is switched off.

Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-disable-rule.html
"""

from __future__ import annotations

from hyperpod_constructs.analysis.alone import types_of_users
from hyperpod_constructs.templates.dependencies import raw_at, references
from hyperpod_constructs.templates.model import Resource

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
