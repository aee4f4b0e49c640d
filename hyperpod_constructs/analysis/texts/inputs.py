"""The form of what comes to a function or a state machine: from the rules, schedules, queues, topics, rotations and custom
resources that call it.

Sources: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-events-structure.html,
https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html, https://docs.aws.amazon.com/lambda/latest/dg/with-sns.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-requests.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce

from hyperpod_constructs.analysis.custom_resources import ON_EVENT, made_behind, made_by
from hyperpod_constructs.analysis.data_forms import ANY_OBJECT, Data, Known, Lost, either, of_value, read, steps_of
from hyperpod_constructs.analysis.texts.reading import from_json, known
from hyperpod_constructs.facts.events import (
    EVENT_FIELDS,
    FIELDS_OF,
    HYPERPOD_EVENTS,
    QUEUE_RECORD,
    REQUEST_EVENT,
    REQUEST_TYPES,
    ROTATION_EVENT,
    ROTATION_STEPS,
    TOPIC_MESSAGE,
    TOPIC_RECORD,
)
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, as_str, at

_RULE, _SCHEDULE = "AWS::Events::Rule", "AWS::Scheduler::Schedule"
_MAPPING, _SUBSCRIPTION = "AWS::Lambda::EventSourceMapping", "AWS::SNS::Subscription"
_PERMISSION, _QUEUE = "AWS::Lambda::Permission", "AWS::SQS::Queue"
_ROTATION = "AWS::SecretsManager::RotationSchedule"
_SEEN = ("events.amazonaws.com", "secretsmanager.amazonaws.com", "sns.amazonaws.com")
"""Services whose calls are seen in the template."""


def input_of(resource: Resource) -> Known:
    """What a function or a machine gets from those of the app that call it; `None` if that is not known of all of them."""
    found = list(_inputs(resource))
    return reduce(either, found) if found else None


def event_of(rule: Resource) -> Known:
    """An event of a rule; what is in it is known of HyperPod's own."""
    types = [as_str(one) or "" for one in as_items(rule.get("EventPattern", "detail-type")) or ()]
    details = [_detail(HYPERPOD_EVENTS[one]) if one in HYPERPOD_EVENTS else ANY_OBJECT for one in types]
    return Data({**dict.fromkeys(EVENT_FIELDS), "detail": reduce(either, details) if details else None})


def _inputs(resource: Resource) -> Iterator[Known]:
    model = resource.template.model
    for rule in model.resources(_RULE):
        for target in as_items(rule.get("Targets")) or ():
            if resource_of(at(target, "Arn")) is resource:
                yield _of_target(rule, target)
    for schedule in model.resources(_SCHEDULE):
        if resource_of(schedule.get("Target", "Arn")) is resource:
            yield _written(schedule.get("Target", "Input"))
    if resource.type == "AWS::Lambda::Function":
        yield from _of_senders(resource)


def _of_senders(function: Resource) -> Iterator[Known]:
    """What a function gets from queues and topics; others that may call it send anything."""
    model = function.template.model
    for source in model.resources(_MAPPING):
        if resource_of(source.get("FunctionName")) is function:
            is_queue = resource_of(source.get("EventSourceArn"), _QUEUE) is not None
            yield _records(QUEUE_RECORD) if is_queue else None
    for one in model.resources(_SUBSCRIPTION):
        if resource_of(one.get("Endpoint")) is function:
            yield _records(TOPIC_RECORD, Sns=Data(dict.fromkeys(TOPIC_MESSAGE)))
    for one in model.resources(_ROTATION):
        if resource_of(one.get("RotationLambdaARN")) is function:
            yield Data({**dict.fromkeys(ROTATION_EVENT), "Step": Data(words=ROTATION_STEPS)})
    for _ in (*made_by(function), *made_behind(function, ON_EVENT)):
        properties = dict.fromkeys(("ResourceProperties", "OldResourceProperties"), ANY_OBJECT)
        yield Data({**dict.fromkeys(REQUEST_EVENT), **properties, "RequestType": Data(words=REQUEST_TYPES)})
    for one in model.resources(_PERMISSION):
        if resource_of(one.get("FunctionName")) is function and as_str(one.get("Principal")) not in _SEEN:
            yield None


def _of_target(rule: Resource, target: Value) -> Known:
    if at(target, "InputTransformer") is not ABSENT:
        return None
    if at(target, "Input") is not ABSENT:
        return _written(at(target, "Input"))
    steps = steps_of(known(at(target, "InputPath")) or "") if at(target, "InputPath") is not ABSENT else ()
    found = None if steps is None else read(event_of(rule), steps)
    return None if isinstance(found, Lost) else found


def _written(value: Value) -> Known:
    found = from_json(value)
    return of_value(found) if isinstance(found, Mapping) else None


def _records(names: tuple[str, ...], **inner: Known) -> Data:
    return Data({"Records": Data(items=(Data({**dict.fromkeys(names), **inner}),))})


def _detail(fields: tuple[str, ...]) -> Known:
    return Data({name: Data(dict.fromkeys(FIELDS_OF[name])) if name in FIELDS_OF else None for name in fields})
