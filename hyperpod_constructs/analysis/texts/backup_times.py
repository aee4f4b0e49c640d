"""Backups of AWS Backup that start when their resource makes its own: they fail.

Source: https://docs.aws.amazon.com/aws-backup/latest/devguide/plan-options-and-configuration.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.backups import OWN_BACKUPS, SHORTEST_WINDOW, OwnBackups
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_int

_PLAN, _SELECTION = "AWS::Backup::BackupPlan", "AWS::Backup::BackupSelection"
_RULES = ("BackupPlan", "BackupPlanRule")
_DAILY = re.compile(r"cron\((\d{1,2}) (\d{1,2}) (?:\*|\?) \* (?:\*|\?) \*\)")
"""A schedule for one time of each day."""
_WINDOW = re.compile(r"(\d\d):(\d\d)(?:-(\d\d):(\d\d))?")
_UTC = ("Etc/UTC", "UTC")
_DAY = 24 * 60


def plan(resource: Resource) -> Slips:
    """The resources that a plan is for are not backed up while they make backups of their own."""
    every = resource.template.model.resources(_SELECTION)
    lists = [one.get("BackupSelection", "Resources") for one in every if resource_of(one.get("BackupPlanId")) is resource]
    chosen = [resource_of(one, *OWN_BACKUPS) for each in lists for _, one in entries(each)]
    for index, start in _starts(resource):
        for one in filter(None, chosen):
            for own in OWN_BACKUPS[one.type]:
                text = known(one.get(*own.window)) or ""
                if _makes(one, own) and _meets(start, text, own.before):
                    message = f"a backup starts at {start // 60:02}:{start % 60:02}, and {one.logical_id} makes its own at {text}"
                    allowed = "a time outside of the window" + (f" and of {own.before} minutes before it" if own.before else "")
                    place = (*_RULES, index, "ScheduleExpression")
                    yield Slip(message, allowed, place, resource.get(*place), dead=True, beside=((one, own.window),))


def _starts(plan: Resource) -> Iterator[tuple[int, int]]:
    """The minutes of the day at which the rules of a plan start snapshots each day, as far as they do so by UTC."""
    for index, one in entries(plan.get(*_RULES)):
        rule: Mapping[str, Value] = mapping(one)
        zone, continuous = rule.get("ScheduleExpressionTimezone", ABSENT), rule.get("EnableContinuousBackup", ABSENT)
        match = _DAILY.fullmatch(known(rule.get("ScheduleExpression", ABSENT)) or "")
        if match and (zone is ABSENT or known(zone) in _UTC) and (continuous is ABSENT or as_bool(continuous) is False):
            yield index, int(match[2]) * 60 + int(match[1])


def _makes(resource: Resource, own: OwnBackups) -> bool:
    return (as_int(resource.get(*own.kept)) or 0) > 0


def _meets(start: int, text: str, before: int) -> bool:
    """Whether a time lies in a window, or so many minutes before it."""
    window = _WINDOW.fullmatch(text)
    if window is None:
        return False
    first = int(window[1]) * 60 + int(window[2])
    length = (int(window[3]) * 60 + int(window[4]) - first) % _DAY if window[3] else SHORTEST_WINDOW
    return (start - first + before) % _DAY < length + before


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_PLAN: plan}
