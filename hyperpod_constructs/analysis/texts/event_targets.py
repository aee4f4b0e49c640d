"""The targets of rules of events and of schedules: their ids, ARNs, roles and inputs.

Source: https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutTargets.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.alone import is_handed_on, types_of_users
from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.texts.arns import arn_of, service_of, without_streams
from hyperpod_constructs.analysis.texts.callers import callers_of, is_off
from hyperpod_constructs.analysis.texts.delivery import FUNCTION, QUEUE, SAME, is_fifo, places_of_kind
from hyperpod_constructs.analysis.texts.event_patterns import literals
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts import receivers
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Value

_LISTENERS = ("AWS::EventSchemas::Discoverer", "AWS::Events::Archive")
"""Types that only take the events of a bus."""
_BUS, _RULE, _MACHINE = "AWS::Events::EventBus", "AWS::Events::Rule", "AWS::StepFunctions::StateMachine"
_WITH_ROLE = ("states", "ecs", "kinesis", "firehose", "batch", "codepipeline", "codebuild", "sagemaker")
_INPUTS = ("Input", "InputPath", "InputTransformer")


def rule_targets(rule: Resource) -> Slips:
    """The targets of a rule of events: their ids, ARNs, roles and inputs."""
    ids: set[str] = set()
    if rule.get("Targets") in (ABSENT, ()) and not is_off(rule):
        yield Slip(f"{rule.logical_id} has no target, so nothing gets its events", "a target in Targets", ("Targets",), dead=True)
    for index, one in entries(rule.get("Targets")):
        target = mapping(one)
        id = known(target.get("Id", ABSENT))
        if id and id in ids:
            yield Slip(f"two targets have the id {id!r}", "different ids", ("Targets", index, "Id"), id)
        ids.add(id or "")
        for slip in _target(target):
            yield slip.below("Targets", index)
    yield from _switched_off(rule)
    yield from _unheard(rule)
    schedule = rule.get("ScheduleExpression")
    own = resource_of(rule.get("EventBusName"), _BUS)
    bus = known(rule.get("EventBusName")) if own is None else own.logical_id
    if bus and bus != "default" and not bus.endswith("/default") and known(schedule):
        message = f"the schedule is on the bus {bus}, and only the default bus has schedules"
        yield Slip(message, "no EventBusName", ("ScheduleExpression",), schedule)


def _switched_off(rule: Resource) -> Slips:
    """A rule or a schedule that is off, where nothing else calls its targets."""
    called = [one for one in references((rule.get("Targets"), rule.get("Target", "Arn"))) if one.type in (FUNCTION, _MACHINE)]
    callers = [callers_of(one) for one in called]
    if is_off(rule) and all(found is not None and all(map(is_off, found)) for found in callers):
        yield Slip(f"{rule.logical_id} is off, and never calls its targets", "ENABLED", ("State",), "DISABLED", dead=True)


def _unheard(rule: Resource) -> Slips:
    """A rule for events of AWS on a bus to which nothing of the app forwards them: they come to the default bus."""
    given, sources = rule.get("EventBusName"), literals(rule.get("EventPattern", "source"))
    bus, name, model = resource_of(given, _BUS), known(given), rule.template.model
    if not sources or not all(one.startswith("aws.") for one in sources):
        return
    if bus is not None:
        users = types_of_users(bus) - {_RULE, *_LISTENERS}
        other = (
            not users and not is_handed_on(bus) and all(bus not in references(one.get("Targets")) for one in model.resources(_RULE))
        )
    else:
        own = any(True for _ in references(rule.get("EventPattern", "resources")))
        other = bool(name) and name != "default" and not str(name).endswith("/default") and own and not any(model.resources(_BUS))
    if other:
        message = f"events of {listed(sources)} come to the default bus, and the rule is on another"
        yield Slip(message, "no EventBusName", ("EventBusName",), given, dead=True)


def _target(target: Mapping[str, Value]) -> Slips:
    arn = target.get("Arn", ABSENT)
    found = list(arn_of(arn, receivers.EVENT_TARGETS))
    yield from (slip.below("Arn") for slip in found)
    yield from (slip.below("Arn") for slip in without_streams(arn))
    letters = mapping(target.get("DeadLetterConfig")).get("Arn", ABSENT)
    yield from (slip.below("DeadLetterConfig", "Arn") for slip in arn_of(letters, ("sqs",)))
    if (queue := resource_of(letters)) is not None and resource_of(arn) is queue:
        yield Slip(SAME.format(queue.logical_id), "another queue", ("DeadLetterConfig", "Arn"), letters, dead=True)
    service = None if found else service_of(arn)
    if (service in _WITH_ROLE or _is_destination(arn)) and target.get("RoleArn", ABSENT) is ABSENT:
        yield Slip(f"a target of {service} has no RoleArn", "the ARN of a role that events.amazonaws.com assumes", ("RoleArn",))
    other = resource_of(arn, QUEUE)
    group = mapping(target.get("SqsParameters")).get("MessageGroupId", ABSENT)
    if other is not None and is_fifo(other, "FifoQueue") and group is ABSENT and target.get("SqsParameters") is not UNKNOWN:
        message = f"{other.logical_id} is a FIFO queue, and the target has no MessageGroupId"
        yield Slip(message, "SqsParameters with a MessageGroupId", ("SqsParameters",), dead=True, beside=places_of_kind(other))
    given = [name for name in _INPUTS if target.get(name, ABSENT) is not ABSENT and target[name] is not UNKNOWN]
    if len(given) > 1:
        yield Slip(f"{' and '.join(given)} exclude each other", f"one of {listed(_INPUTS)}", (given[-1],))
    data = from_json(target.get("Input", ABSENT))
    if isinstance(data, Slip):
        yield data.below("Input")
    yield from _transformer(target.get("InputTransformer", ABSENT))


def _is_destination(arn: Value) -> bool:
    """Whether an ARN is that of a destination of HTTP."""
    return resource_of(arn, "AWS::Events::ApiDestination") is not None or ":api-destination/" in (spelled(arn) or "")


def _transformer(transformer: Value) -> Slips:
    template, paths = (mapping(transformer).get(name, ABSENT) for name in ("InputTemplate", "InputPathsMap"))
    if not isinstance(paths, Mapping) and paths is not ABSENT:
        return
    known_paths = mapping(paths)
    for name, path in known_paths.items():
        text = known(path)
        if text and not text.startswith("$"):
            message = f"the path of {name} is {text!r}"
            yield Slip(message, "a path such as $.detail.ClusterName", ("InputTransformer", "InputPathsMap", name), text)
    text = spelled(template)
    if text is None or HOLE in text:
        return
    for name in dict.fromkeys(re.findall(r"<([\w.-]{1,256})>", text)):
        if name not in known_paths and not name.startswith("aws.events."):
            near = nearest(name, known_paths)
            message = f"the template has <{name}>, and InputPathsMap no {name}{f'; the nearest is {near}' if near else ''}"
            yield Slip(message, f"names of InputPathsMap: {listed(known_paths)}", ("InputTransformer", "InputTemplate"), template)
            return
    filled = re.sub(r"<[\w.-]{1,256}>", "0", re.sub(r"([{,]\s*)<[\w.-]{1,256}>\s*:", r'\1"key":', text))
    lines = [line for line in filled.splitlines() if line.strip()]
    if isinstance(from_json(filled), Slip) and any(isinstance(from_json(line), Slip) for line in lines):
        message = "with values in the place of its variables, the template is no JSON"
        allowed = 'JSON such as {"state": <state>}, or lines of text in quotes'
        yield Slip(message, allowed, ("InputTransformer", "InputTemplate"), template)


def scheduled_target(schedule: Resource) -> Slips:
    """The target of a schedule: a thing, or a call of the AWS SDK."""
    yield from _switched_off(schedule)
    arn = schedule.get("Target", "Arn")
    text = known(arn) or ""
    match = re.fullmatch(r"arn:[\w-]+:scheduler:::aws-sdk:([\w-]+):(\w+)", text)
    if match and not (match[1].islower() and match[2][0].islower()):
        meant = f"{match[1].lower()}:{match[2][0].lower()}{match[2][1:]}"
        yield Slip(
            f"the call is {match[1]}:{match[2]}; write {meant}",
            "a service in small letters, and a call that begins with one",
            ("Target", "Arn"),
            text,
        )
    elif not match:
        for slip in arn_of(arn, (*receivers.EVENT_TARGETS, "scheduler")):
            yield slip.below("Target", "Arn")
    data = from_json(schedule.get("Target", "Input")) if match else None
    if isinstance(data, Slip):
        yield data.below("Target", "Input")


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::Events::Rule": rule_targets, "AWS::Scheduler::Schedule": scheduled_target}
