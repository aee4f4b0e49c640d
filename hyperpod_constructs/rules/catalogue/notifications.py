"""Notifications: topics and queues take what alarms, rules and budgets send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.answers import all_of, any_of
from hyperpod_constructs.analysis.contexts import OF_SERVICE
from hyperpod_constructs.analysis.policy_document import Call, Layer, layer_of
from hyperpod_constructs.analysis.resource_policies import KEY
from hyperpod_constructs.facts.policies import NOTIFIERS_MAY
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.hits import hit
from hyperpod_constructs.rules.rule import error
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, as_str, at

_TOPIC, _QUEUE = "AWS::SNS::Topic", "AWS::SQS::Queue"
_KEYS = {_TOPIC: "KmsMasterKeyId", _QUEUE: "KmsMasterKeyId"}
_POLICIES: Mapping[str, tuple[str, str, str]] = {
    _TOPIC: ("AWS::SNS::TopicPolicy", "Topics", "sns:Publish"),
    _QUEUE: ("AWS::SQS::QueuePolicy", "Queues", "sqs:SendMessage"),
}
_ALARMS = ("AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm")
_ACTIONS = ("AlarmActions", "OKActions", "InsufficientDataActions")
_MANAGED = ("alias/aws/sns", "alias/aws/sqs")
_CLOUDWATCH, _EVENTS = "cloudwatch.amazonaws.com", "events.amazonaws.com"


@error(
    "HP-NTF-001",
    title="the key of a topic or queue lets alarms and rules in",
    why="KMS refuses the key to the service, so the message is lost without a sign to the user",
    fix="encrypt with a key of your own, and allow the service kms:Decrypt and kms:GenerateDataKey there (alarms_topic does)",
    allowed="a key whose policy allows the service both; the key that AWS manages for SNS or SQS cannot",
    source="https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html",
)
def keys_let_notifications_in(model: Model) -> Iterator[Hit]:
    for receiver, service in dict.fromkeys(_sent(model)):
        value = receiver.get(_KEYS[receiver.type])
        if (name := as_str(value)) is not None and name.endswith(_MANAGED):
            yield hit(receiver, f"{service} may not use the key that AWS manages, {name}", _KEYS[receiver.type])
            continue
        key = resource_of(value, KEY)
        if key is None:
            continue
        layer = layer_of(key.get("KeyPolicy"))
        lacking = [action for action in NOTIFIERS_MAY if _refused(layer, service, action)]
        if lacking and (layer.complete or key.get("KeyPolicy") is ABSENT):
            text = f"the policy of {key.logical_id} does not let {service} use {', '.join(lacking)}"
            yield hit(receiver, text, _KEYS[receiver.type])


@error(
    "HP-NTF-002",
    title="the policy of a topic or queue lets alarms and rules send",
    why="the service is refused, so the message is lost without a sign to the user",
    fix="allow the service sns:Publish or sqs:SendMessage in the policy, with a condition on aws:SourceArn",
    allowed="a statement of the policy for the service; a topic without a policy of its own lets alarms of its account in",
    source="https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-use-resource-based.html",
)
def policies_let_notifications_in(model: Model) -> Iterator[Hit]:
    for receiver, service in dict.fromkeys(_sent(model)):
        kind, places, action = _POLICIES[receiver.type]
        policies = [one for one in model.resources(kind) if _speaks_of(one.get(places), receiver)]
        if not policies and (service == _CLOUDWATCH or _may_be_elsewhere(model, kind, places)):
            continue
        layers = [layer_of(one.get("PolicyDocument")) for one in policies]
        if all(layer.complete and _refused(layer, service, action) for layer in layers):
            place = policies[0] if policies else receiver
            text = f"{service} may not send to {receiver.logical_id}: nothing allows it {action}"
            yield hit(place, text, *(("PolicyDocument",) if policies else ()))


def _sent(model: Model) -> Iterator[tuple[Resource, str]]:
    """Topics and queues of the model, and the services that send to them."""
    for kind in _ALARMS:
        for alarm in model.resources(kind):
            for name in _ACTIONS:
                yield from ((one, _CLOUDWATCH) for one in _receivers(as_items(alarm.get(name)) or ()))
    for rule in model.resources("AWS::Events::Rule"):
        own = [at(target, "Arn") for target in as_items(rule.get("Targets")) or () if at(target, "RoleArn") is ABSENT]
        yield from ((one, _EVENTS) for one in _receivers(own))


def _receivers(values: list[Value] | tuple[Value, ...]) -> Iterator[Resource]:
    for value in values:
        for kind in _KEYS:
            if (found := resource_of(value, kind)) is not None:
                yield found


def _refused(layer: Layer, service: str, action: str) -> bool:
    """Whether surely no statement of a policy allows a service an action."""
    context = {one: value for one, value in OF_SERVICE.items() if one != "sts:externalid"}
    allowing = (
        all_of((one.names_service(service), one.applies(Call(action, None, context))))
        for one in layer.statements
        if one.effect != "Deny"
    )
    return any_of(allowing) is False


def _speaks_of(value: Value, receiver: Resource) -> bool:
    return any(resource_of(one, receiver.type) is receiver for one in as_items(value) or ())


def _may_be_elsewhere(model: Model, kind: str, places: str) -> bool:
    """Whether a policy names receivers that are not known here."""
    return any(
        resource_of(one, _TOPIC) is None and resource_of(one, _QUEUE) is None
        for policy in model.resources(kind)
        for one in as_items(policy.get(places)) or (None,)
    )
