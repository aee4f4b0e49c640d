"""Rules and what sends their events: names of resources in patterns, buckets that send, and what targets take.

Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-event-notifications-eventbridge.html and
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.data_forms import Lost, paths_in, read
from hyperpod_constructs.analysis.schema.violation import listed, meant, quoted
from hyperpod_constructs.analysis.texts.event_patterns import literals
from hyperpod_constructs.analysis.texts.inputs import event_of
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts import events
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, alternatives_of, as_bool, as_items, at, leaves

_CLUSTERS = ("AWS::SageMaker::Cluster",)
_RULE, _BUCKET = "AWS::Events::Rule", "AWS::S3::Bucket"


def rule(resource: Resource) -> Slips:
    """The names in the pattern of a rule, and what its targets take of them."""
    yield from names(resource)
    yield from arns(resource)
    yield from inputs(resource)
    yield from operations(resource)
    yield from stacks(resource)


def operations(rule: Resource) -> Slips:
    """A rule only for the operations of clusters, of which none in the app provisions continuously."""
    found, asked = clusters(rule.template.model), literals(rule.get("EventPattern", "detail-type"))
    if asked == [events.CLUSTER_EVENT] and found and all(one.continuous is False for one in found):
        message = f"only continuous provisioning has events of operations, and {found[0].resource.logical_id} has it not"
        yield Slip(message, "NodeProvisioningMode: Continuous", ("EventPattern", "detail-type"), dead=True)


def stacks(rule: Resource) -> Slips:
    """The Ref of a nested stack, which is its own ARN, where events have another thing's."""
    pattern = rule.get("EventPattern")
    for key in ("detail", "resources") if literals(at(pattern, "source")) not in ([], ["aws.cloudformation"]) else ():
        asked = [one for one in leaves(at(pattern, key)) if isinstance(one, Reference) and one.attribute is None]
        stack = next((target_of(one) for one in asked if target_of(one).type == NESTED_STACK), None)
        if stack is not None:
            message = f"these events have no ARN of a stack, such as {stack.logical_id}"
            yield Slip(message, f"an output of {stack.logical_id}", ("EventPattern", key), dead=True)


def _place(rule: Resource) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Where the pattern has the name of a resource, the types of those, and their property with the name."""
    place, types, key = _named(rule)
    return ("EventPattern", "detail", *place.split("/")) if place else (), types, key


def _named(rule: Resource) -> tuple[str, tuple[str, ...], str]:
    """The field of events with the name of a resource, the types of those, and their property with it: by the only type of event,
    else by the only source."""
    kinds, sources = (literals(rule.get("EventPattern", one)) for one in ("detail-type", "source"))
    found = events.NAMES_BY_TYPE.get(kinds[0]) if len(kinds) == 1 else None
    return found or events.NAMES_IN_EVENTS.get(sources[0] if len(sources) == 1 else "", ("", (), ""))


def arns(rule: Resource) -> Slips:
    """ARNs where events have names."""
    path, types, _ = _place(rule)
    for index, one in enumerate(as_items(rule.get(*path)) or () if path else ()):
        form = FORMS.get(target_of(one).type) if isinstance(one, Reference) else None
        is_arn = form is not None and isinstance(one, Reference) and one.attribute in form.arns and one.attribute not in form.names
        if is_arn or (known(one) or "").startswith("arn:"):
            yield Slip(f"events have the name of an {types[0]}, and not {quoted(one)}", "the name", (*path, index), one, dead=True)


def bucket(resource: Resource) -> Slips:
    """A bucket whose events a rule awaits sends them to EventBridge."""
    found = resource.template.model.resources(_RULE) if _is_silent(resource) else ()
    rule = next((one for one in found if _awaits(one, resource)), None)
    if rule is not None:
        message = f"{rule.logical_id} awaits events of {resource.logical_id}, which sends none to EventBridge"
        yield Slip(message, "EventBridgeConfiguration", ("NotificationConfiguration",), dead=True)


def _awaits(rule: Resource, bucket: Resource) -> bool:
    """Whether a rule is surely for events that a bucket sends itself."""
    path, _, _ = _place(rule)
    types = literals(rule.get("EventPattern", "detail-type"))
    if literals(rule.get("EventPattern", "source")) != ["aws.s3"] or not {*types} & {*events.OTHER_EVENTS["aws.s3"]}:
        return False
    name = known(bucket.get("BucketName"))
    given = as_items(rule.get(*path)) or ()
    return any(resource_of(one, _BUCKET) is bucket or (name is not None and known(one) == name) for one in given)


def _is_silent(bucket: Resource) -> bool:
    """Whether a bucket surely sends nothing to EventBridge: a custom resource may switch it on."""
    given = bucket.get("NotificationConfiguration")
    bridge = ABSENT if given is ABSENT else at(given, "EventBridgeConfiguration") if isinstance(given, Mapping) else {}
    off = bridge is ABSENT or as_bool(at(bridge, "EventBridgeEnabled")) is False
    return off and not any(bucket in references(one.get()) for one in bucket.template.model.resources() if _is_custom(one))


def _is_custom(resource: Resource) -> bool:
    return resource.type.startswith(("Custom::", "AWS::CloudFormation::Custom"))


def names(rule: Resource) -> Slips:
    """The names in a pattern are of resources of the app, if they look as if they should be."""
    place, types, key = _named(rule)
    path = ("detail", *place.split("/"))
    given = literals(rule.get("EventPattern", *path)) if place else []
    resources = list(rule.template.model.resources(*types)) if given else []
    made = [value for one in resources for value in alternatives_of(one.get(key))]
    if not all(isinstance(one, str | Text) for one in made) or any(_may_be(one, name) for one in made for name in given):
        return
    for index, name in enumerate(given):
        longer = next((one.get(key) for one in resources if _is_begin(name, one.raw, key)), None)
        meant = typo_of(name, [one for one in made if isinstance(one, str)]) if longer is None else longer
        if meant is not None:
            message = f"no {types[0]} is named {name!r}; the nearest is {meant}"
            yield Slip(message, f"{meant}", ("EventPattern", *path, index), name, dead=True)
            return
        if nobodys(rule.template.model, name, made):
            message = f"no {types[0]} of the templates is named {name!r}"
            yield Slip(message, listed([str(one) for one in made]), ("EventPattern", *path, index), name, dead=True)
            return
    if given and types == _CLUSTERS and any(one.template is rule.template for one in resources):
        message = f"the cluster of the template is named {quoted(resources[0].get(key))}, and the rule is for {listed(given)}"
        yield Slip(message, f"{resources[0].get(key)!s}", ("EventPattern", *path), rule.get("EventPattern", *path), dead=True)


def inputs(rule: Resource) -> Slips:
    """What targets take of an event is in it."""
    event = event_of(rule) if rule.get("Targets") is not ABSENT and rule.get("EventPattern") is not ABSENT else None
    for index, target in enumerate(as_items(rule.get("Targets")) or () if event is not None else ()):
        paths = at(target, "InputTransformer", "InputPathsMap")
        places = [
            ("InputPath",),
            *(("InputTransformer", "InputPathsMap", name) for name in (paths if isinstance(paths, Mapping) else ())),
        ]
        for place in places:
            for path, steps in paths_in(known(at(target, *place)) or ""):
                found = read(event, steps)
                if isinstance(found, Lost):
                    message = f"a target takes {path}, and the event has no {found.name}{meant(found.name, found.names)}"
                    yield Slip(message, listed(found.names), ("Targets", index, *place), path, dead=True)


def _may_be(made: Value, name: str) -> bool:
    return made.matches(name) is not False if isinstance(made, Text) else made == name


def _is_begin(name: str, raw: Mapping[str, Any], key: str) -> bool:
    """Whether a name is that of a resource without the reference at its end, such as a stage behind a dash."""
    written = raw.get("Properties", {}).get(key)
    text = written.get("Fn::Sub") if isinstance(written, Mapping) else None
    return isinstance(text, str) and text.startswith(tuple(f"{name}{one}${{" for one in "-_./"))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_RULE: rule, _BUCKET: bucket}
