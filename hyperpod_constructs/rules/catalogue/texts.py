"""Texts in a language of their own: schedules, patterns, alarms, filters, code, documents, scripts, names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs.analysis.schema.named import unmet_demands
from hyperpod_constructs.analysis.texts.places import Found, texts_with_mistakes
from hyperpod_constructs.analysis.texts.subjects import PAGES, Topic
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.rule import Check, error, warning
from hyperpod_constructs.templates.model import Model

_text_error = partial(error, why="the service refuses the request, and the stack rolls back")


def _said_of(topic: Topic) -> Check:
    return lambda model: (_hit(one) for one in texts_with_mistakes(model).get(topic, ()) if not one.slip.dead)


def _hit(one: Found) -> Hit:
    slip = one.slip
    doubts = (*((one.resource, path) for path in slip.doubts), *slip.beside)
    return Hit(one.resource, slip.path, slip.message, slip.found, slip.allowed, doubts=doubts, source=one.source)


_text_error(
    "HP-TXT-001",
    title="schedules, time zones and windows are such",
    fix="write the schedule in the form of its service: six fields in cron, one of the days as '?'",
    allowed="cron, rate and at, in the form of the service",
    source=PAGES[Topic.SCHEDULE],
)(_said_of(Topic.SCHEDULE))

_text_error(
    "HP-TXT-002",
    title="patterns of events have lists and known operators at their leaves",
    fix="write each value in a list, and each operator as an object in that list",
    allowed="lists of values and operators",
    source=PAGES[Topic.PATTERN],
)(_said_of(Topic.PATTERN))

_text_error(
    "HP-TXT-003",
    title="alarms and dashboards have the statistics, periods, expressions and widgets of CloudWatch",
    fix="write an allowed value, and metrics and alarms that are there",
    allowed="the values of PutMetricAlarm, PutCompositeAlarm and PutDashboard",
    source=PAGES[Topic.ALARM],
)(_said_of(Topic.ALARM))

_text_error(
    "HP-TXT-004",
    title="filters of logs have a pattern, and values and destinations that go with it; flow logs have known fields",
    fix="write the pattern as terms, [fields] or { JSON }, and quote terms with other characters; of flow logs, the fields of AWS",
    allowed="terms, fields between brackets, or a condition between braces",
    source=PAGES[Topic.LOGS],
)(_said_of(Topic.LOGS))

_text_error(
    "HP-TXT-005",
    title="code in a template has a runtime that takes it",
    fix="write a supported runtime of Python or Node.js, or take the code from S3 or an image",
    allowed="a supported runtime",
    source=PAGES[Topic.CODE],
)(_said_of(Topic.CODE))

_text_error(
    "HP-TXT-006",
    title="queues, topics, subscriptions and targets go together",
    fix="give both sides the same kind, the receiver's ARN, and what its service needs",
    allowed="a receiver that the sender takes",
    source=PAGES[Topic.DELIVERY],
)(_said_of(Topic.DELIVERY))

_text_error(
    "HP-TXT-007",
    title="policies, documents of Systems Manager, state machines, templates of secrets and rules for images are whole",
    fix="write the text in the form of its service",
    allowed="a document of the service",
    source=PAGES[Topic.DOCUMENT],
)(_said_of(Topic.DOCUMENT))

_text_error(
    "HP-TXT-008",
    title="rules and alerts of Prometheus are in YAML of the form that the service takes",
    fix="write the groups, rules, routes and receivers as the service takes them",
    allowed="groups of rules; alertmanager_config with route and receivers",
    source=PAGES[Topic.PROMETHEUS],
)(_said_of(Topic.PROMETHEUS))

_text_error(
    "HP-TXT-009",
    title="user data and scripts are in base64 and within their limit",
    fix="write the text in Fn::Base64, and keep longer scripts in S3",
    allowed="a text in base64, within the limit of EC2 before it is encoded",
    source=PAGES[Topic.SCRIPT],
)(_said_of(Topic.SCRIPT))

_text_error(
    "HP-TXT-010",
    title="ARNs are of the thing that is wanted, and names of services and records are such",
    fix="write the ARN of the thing that the property wants: by Fn::GetAtt for most types, by Ref for a topic",
    allowed="an ARN of the wanted service; a name in its form",
    source=PAGES[Topic.NAME],
)(_said_of(Topic.NAME))


@_text_error(
    "HP-TXT-012",
    title="settings of a resource go together, and with those of the resources that it names",
    fix="write the setting that goes with the others",
    allowed="settings that the service takes together",
    aliases=("HP-FSX-014",),
    source=PAGES[Topic.COMPANION],
)
def settings_go_together(model: Model) -> Iterator[Hit]:
    yield from _said_of(Topic.COMPANION)(model)
    for one in unmet_demands(model):
        found, named = one.violation, one.named
        text = f"{one.demand.words}: in {named.logical_id}, {found.message}"
        yield Hit(one.resource, one.path, text, found.found, found.allowed, doubts=((named, found.path),), source=one.demand.source)


@warning(
    "HP-TXT-011",
    title="texts that deploy also have an effect",
    why="it deploys, and then never fires, never runs, fails at its first run, or gets no security updates",
    fix="write the name that the service or the code has, or add what lacks",
    allowed="names that are there",
    source="https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html",
)
def texts_have_an_effect(model: Model) -> Iterator[Hit]:
    return (_hit(one) for found in texts_with_mistakes(model).values() for one in found if one.slip.dead)
