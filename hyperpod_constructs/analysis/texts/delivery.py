"""Queues, topics, subscriptions and notifications: who delivers what to whom.

Sources: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html,
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html and
https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.alone import is_handed_on, types_of_users
from hyperpod_constructs.analysis.schema.violation import Path, listed, nearest, quoted
from hyperpod_constructs.analysis.texts.arns import arn_of, service_of
from hyperpod_constructs.analysis.texts.endpoint_parameters import of_another_protocol
from hyperpod_constructs.analysis.texts.event_patterns import message_filter
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, known, shown_text, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts import receivers
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Text, Value, as_bool, as_int, at

QUEUE, TOPIC, FUNCTION = "AWS::SQS::Queue", "AWS::SNS::Topic", "AWS::Lambda::Function"


def queue(resource: Resource) -> Slips:
    """A queue and the queue of its dead letters: both are FIFO or none is."""
    yield from _fifo_name(resource, "QueueName", "FifoQueue")
    policy = resource.get("RedrivePolicy")
    data = from_json(policy) if isinstance(policy, str | Text) else policy
    if isinstance(data, Slip):
        yield data.below("RedrivePolicy")
    elif isinstance(data, Mapping):
        for slip in _redrive(resource, data):
            yield slip.below("RedrivePolicy")
    yield from _forgotten(resource)


_FOUR_DAYS = 345_600
SAME = "what cannot be delivered to {0} goes to {0}"


def _forgotten(letters: Resource) -> Slips:
    """Dead letters are kept from their first sending, so for longer than the queue keeps them from which they come."""
    kept = _kept(letters)
    for one in letters.template.model.resources(QUEUE) if kept is not None and letters.get("FifoQueue") is ABSENT else ():
        policy, own = one.get("RedrivePolicy"), _kept(one)
        comes = isinstance(policy, Mapping) and resource_of(policy.get("deadLetterTargetArn", ABSENT)) is letters
        if comes and own is not None and kept is not None and kept < own:
            message = f"dead letters of {one.logical_id} are kept {kept:,} seconds from their first sending, and there {own:,}"
            yield Slip(message, f"more than {own:,} seconds", ("MessageRetentionPeriod",), kept, dead=True)
            return


def _kept(queue: Resource) -> int | None:
    """The seconds for which a queue keeps messages; `None` if they are not known."""
    given = queue.get("MessageRetentionPeriod")
    return _FOUR_DAYS if given is ABSENT else as_int(given)


def _redrive(resource: Resource, policy: Mapping[str, Value]) -> Slips:
    names = ("deadLetterTargetArn", "maxReceiveCount")
    for name in policy:
        if name not in names:
            near = nearest(name, names)
            yield Slip(f"a redrive policy has no {name}{f'; the nearest is {near}' if near else ''}", listed(names), (name,))
            return
    for name in names:
        if policy.get(name, ABSENT) is ABSENT:
            yield Slip(f"the redrive policy has no {name}", listed(names))
            return
    count = as_int(policy["maxReceiveCount"])
    if count is not None and not 1 <= count <= 1000:
        yield Slip(f"maxReceiveCount is {count}", "1 to 1000", ("maxReceiveCount",), count)
    target = policy["deadLetterTargetArn"]
    for slip in arn_of(target, ("sqs",)):
        yield slip.below("deadLetterTargetArn")
    other = resource_of(target, QUEUE)
    if other is not None and other is not resource:
        own, its = (is_fifo(one, "FifoQueue") for one in (resource, other))
        if None not in (own, its) and own is not its:
            kinds = {True: "a FIFO queue", False: "a standard queue"}
            message = f"{other.logical_id} is {kinds[bool(its)]}, and {resource.logical_id} {kinds[bool(own)]}"
            yield Slip(
                message, "a queue of the same kind", ("deadLetterTargetArn",), target, beside=places_of_kind(resource, other)
            )


def places_of_kind(*queues: Resource) -> tuple[tuple[Resource, Path], ...]:
    """The places of the kinds of queues, which may be the mistake instead of what is between them."""
    return tuple((one, ("FifoQueue",)) for one in queues)


def is_fifo(resource: Resource, key: str) -> bool | None:
    """Whether a queue or a topic is FIFO, by the property that says so; `None` if that is not known."""
    value = resource.get(key)
    return False if value is ABSENT else as_bool(value)


def _fifo_name(resource: Resource, name_key: str, fifo_key: str) -> Slips:
    name = spelled(resource.get(name_key))
    fifo = is_fifo(resource, fifo_key)
    if name and fifo is False and name.endswith(".fifo"):
        yield Slip(
            f"the name {shown_text(name)} is that of FIFO, and {fifo_key} is not true",
            f"{fifo_key}: true, or another name",
            (name_key,),
            name,
            doubts=((fifo_key,),),
        )
    elif name and fifo and not name.endswith((".fifo", HOLE)):
        message, allowed = f"the name {shown_text(name)} does not end with .fifo", f"{name}.fifo".replace(HOLE, "${?}")
        yield Slip(message, allowed, (name_key,), name, doubts=((fifo_key,),))


def event_source(mapping_: Resource) -> Slips:
    """A function that reads a queue: messages stay hidden at least as long as the function runs."""
    source, function = resource_of(mapping_.get("EventSourceArn"), QUEUE), resource_of(mapping_.get("FunctionName"), FUNCTION)
    if source is None:
        return
    if function is not None:
        hidden = _number(source.get("VisibilityTimeout"), 30)
        runs = _number(function.get("Timeout"), 3)
        if hidden is not None and runs is not None and hidden < runs:
            message = f"{source.logical_id} hides messages for {hidden} seconds, and {function.logical_id} runs for up to {runs}"
            yield Slip(message, f"a VisibilityTimeout of at least {runs}, better {min(6 * runs, 43_200)}", ("EventSourceArn",))
    size = as_int(mapping_.get("BatchSize"))
    window = _number(mapping_.get("MaximumBatchingWindowInSeconds"), 0)
    fifo = is_fifo(source, "FifoQueue")
    if size is not None and size > 10 and fifo:
        yield Slip(
            f"a batch of a FIFO queue has {size} messages", "at most 10", ("BatchSize",), size, beside=places_of_kind(source)
        )
    elif size is not None and size > 10 and window == 0:
        message = f"a batch of {size} messages has no MaximumBatchingWindowInSeconds"
        yield Slip(message, "at least 1 second for more than 10 messages", ("BatchSize",), size)
    if fifo and window:
        place = ("MaximumBatchingWindowInSeconds",)
        yield Slip("a FIFO queue has no batching window", "no window", place, window, beside=places_of_kind(source))
    if mapping_.get("StartingPosition") not in (ABSENT, UNKNOWN):
        yield Slip(
            "a queue has no StartingPosition", "no StartingPosition", ("StartingPosition",), mapping_.get("StartingPosition")
        )


def _number(value: Value, otherwise: int) -> int | None:
    return otherwise if value is ABSENT else as_int(value)


def topic(resource: Resource) -> Slips:
    """A topic: its name, and the subscriptions that stand in it."""
    yield from _fifo_name(resource, "TopicName", "FifoTopic")
    for index, one in entries(resource.get("Subscription")):
        for slip in _endpoint(mapping(one), resource):
            yield slip.below("Subscription", index)
        yield from of_another_protocol(resource, "Subscription", index)


def subscription(resource: Resource) -> Slips:
    """A subscription: endpoint and protocol go together, and so do queue and topic."""
    owner = resource_of(resource.get("TopicArn"), TOPIC)
    wrong = [*_endpoint(resource.properties, owner), *of_another_protocol(resource)]
    yield from wrong
    if wrong:
        return
    protocol = known(resource.get("Protocol"))
    role = resource.get("SubscriptionRoleArn")
    if protocol == "firehose" and role is ABSENT:
        yield Slip("a subscription of firehose has no SubscriptionRoleArn", "the ARN of a role", ("SubscriptionRoleArn",))
    if protocol and protocol not in ("sqs", "http", "https", "firehose") and as_bool(resource.get("RawMessageDelivery")):
        yield Slip(
            f"{protocol} has no raw messages",
            "sqs, http, https and firehose with RawMessageDelivery",
            ("RawMessageDelivery",),
            True,
        )
    letters = at(resource.get("RedrivePolicy"), "deadLetterTargetArn")
    if (queue := resource_of(letters)) is not None and resource_of(resource.get("Endpoint")) is queue:
        path = ("RedrivePolicy", "deadLetterTargetArn")
        yield Slip(SAME.format(queue.logical_id), "another queue", path, letters, dead=True)
    scope = known(resource.get("FilterPolicyScope"))
    if scope and scope not in ("MessageAttributes", "MessageBody"):
        yield Slip(f"the scope of the filter is {scope!r}", "MessageAttributes, MessageBody", ("FilterPolicyScope",), scope)
    for slip in message_filter(resource.get("FilterPolicy")):
        yield slip.below("FilterPolicy")
    policy = mapping(resource.get("FilterPolicy"))
    if (
        scope in (None, "MessageAttributes")
        and policy
        and owner is not None
        and _has_no_attributes(owner)
        and "exists" not in str(policy)
    ):
        message = f"only services publish to {owner.logical_id}, and their messages have no attributes: the filter drops all"
        yield Slip(message, "FilterPolicyScope: MessageBody", ("FilterPolicy",), dead=True)
    elif scope in (None, "MessageAttributes"):
        for name, value in mapping(resource.get("FilterPolicy")).items():
            if isinstance(value, Mapping):
                message = f"the filter has the fields of {name}, and attributes of messages have none"
                yield Slip(message, "FilterPolicyScope: MessageBody", ("FilterPolicy", name), dead=False)


def _has_no_attributes(topic: Resource) -> bool:
    """Whether surely nothing but alarms, rules and budgets publishes to a topic."""
    users = types_of_users(topic)
    return bool(users & _WITHOUT_ATTRIBUTES) and users <= _WITHOUT_ATTRIBUTES | _BESIDE and not is_handed_on(topic)


def _endpoint(properties: Mapping[str, Value], owner: Resource | None) -> Slips:
    protocol, endpoint = known(properties.get("Protocol", ABSENT)), properties.get("Endpoint", ABSENT)
    if not protocol:
        return
    if protocol not in receivers.PROTOCOLS:
        near = nearest(protocol, receivers.PROTOCOLS)
        meant = f"; the nearest is {near}" if near else ""
        yield Slip(f"no protocol is named {protocol}{meant}", listed(receivers.PROTOCOLS), ("Protocol",), protocol)
        return
    service, pattern, words = receivers.PROTOCOLS[protocol]
    if endpoint is ABSENT:
        yield Slip(f"a subscription of {protocol} has no Endpoint", words, ("Endpoint",))
    elif service:
        for slip in arn_of(endpoint, (service,)):
            yield slip.below("Endpoint")
    else:
        text = spelled(endpoint)
        if text and HOLE not in text and len(text) < 2048 and not re.fullmatch(pattern, text):
            yield Slip(f"the endpoint of {protocol} is {quoted(text)}", words, ("Endpoint",), text)
        elif text and HOLE in text and protocol.startswith("http") and not text.startswith((f"{protocol}://", HOLE)):
            yield Slip(f"the endpoint of {protocol} is {shown_text(text)}", words, ("Endpoint",), text)
        elif service_of(endpoint):
            yield Slip(f"the endpoint of {protocol} is {quoted(endpoint)}", words, ("Endpoint",), endpoint)
    other = resource_of(endpoint, QUEUE)
    if owner is not None and is_fifo(owner, "FifoTopic") and protocol not in ("sqs",):
        message = f"{owner.logical_id} is a FIFO topic, which has no subscriptions of {protocol}"
        yield Slip(message, "a queue", ("Protocol",), protocol)
    elif owner is not None and other is not None and is_fifo(owner, "FifoTopic") is False and is_fifo(other, "FifoQueue"):
        message = f"{other.logical_id} is a FIFO queue, and {owner.logical_id} a standard topic"
        beside = (*places_of_kind(other), (owner, ("FifoTopic",)))
        yield Slip(message, "a standard queue, or a FIFO topic", ("Endpoint",), endpoint, beside=beside)


_WITHOUT_ATTRIBUTES = {"AWS::Budgets::Budget", "AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm", "AWS::Events::Rule"}
"""What publishes messages without attributes.

Source: https://docs.aws.amazon.com/sns/latest/dg/sns-message-filtering-scope.html
"""
_BESIDE = {"AWS::SNS::Subscription", "AWS::SNS::TopicPolicy", "AWS::SQS::QueuePolicy"}


def notifications(bucket: Resource) -> Slips:
    """The notifications of a bucket: each kind to its own kind of receiver."""
    for kind, key, service in _NOTIFICATIONS:
        for index, one in entries(bucket.get("NotificationConfiguration", kind)):
            for slip in arn_of(mapping(one).get(key, ABSENT), (service,)):
                yield slip.below("NotificationConfiguration", kind, index, key)


_NOTIFICATIONS = (
    ("QueueConfigurations", "Queue", "sqs"),
    ("TopicConfigurations", "Topic", "sns"),
    ("LambdaConfigurations", "Function", "lambda"),
)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::Lambda::EventSourceMapping": event_source,
    "AWS::S3::Bucket": notifications,
    "AWS::SNS::Subscription": subscription,
    "AWS::SNS::Topic": topic,
    "AWS::SQS::Queue": queue,
}
