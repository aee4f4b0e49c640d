"""Settings that go together: within a resource, and with those of the resources that it names.

Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/lifecycle-transition-general-considerations.html,
https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-how-to-filtering.html,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CloudWatch_Logs_Log_Classes.html,
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-secretsmanager-secrettargetattachment.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise

from hyperpod_constructs.analysis.by_name import named_resource
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.log_groups import MADE_BY_SERVICES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, as_bool, as_int, at

_BUCKET, _ATTACHMENT = "AWS::S3::Bucket", "AWS::SecretsManager::SecretTargetAttachment"
_LOGS, _MAPPING = "AWS::Logs::LogGroup", "AWS::Lambda::EventSourceMapping"
_INVOCATIONS, _URL = "AWS::Lambda::EventInvokeConfig", "AWS::Lambda::Url"
_COLDER = ("STANDARD_IA", "INTELLIGENT_TIERING", "ONEZONE_IA", "GLACIER_IR", "GLACIER", "DEEP_ARCHIVE")
"""Classes of storage from warm to cold; objects move only to a colder one."""
_INFREQUENT, _LEAST_DAYS = ("STANDARD_IA", "ONEZONE_IA"), 30
"""Classes in which objects stay for some days."""
_LIVES = (
    ("Transitions", ("ExpirationInDays",), "objects"),
    ("NoncurrentVersionTransitions", ("NoncurrentVersionExpiration", "NoncurrentDays"), "old versions"),
)
"""The moves and the end of objects, and of their old versions."""
_PREFIXES = (
    *("AnalyticsConfigurations/*/Prefix", "IntelligentTieringConfigurations/*/Prefix", "InventoryConfigurations/*/Prefix"),
    *("LifecycleConfiguration/Rules/*/Prefix", "MetricsConfigurations/*/Prefix", "ReplicationConfiguration/Rules/*/Prefix"),
    *("ReplicationConfiguration/Rules/*/Filter/Prefix", "ReplicationConfiguration/Rules/*/Filter/And/Prefix"),
    *(f"NotificationConfiguration/{kind}Configurations/*/Filter/S3Key/Rules/*/Value" for kind in ("Lambda", "Queue", "Topic")),
)
"""The beginnings of keys, and for notifications also their ends.

Sources: https://docs.aws.amazon.com/AmazonS3/latest/API/API_LifecycleRule.html and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-how-to-filtering.html
"""
_KINDS = {"QueueConfigurations": "Event", "TopicConfigurations": "Event", "LambdaConfigurations": "Event"}


def bucket(resource: Resource) -> Slips:
    """The rules of a life cycle, and notifications that overlap."""
    for index, rule in entries(resource.get("LifecycleConfiguration", "Rules")):
        for life in _LIVES:
            for slip in _life(mapping(rule), *life):
                yield slip.below("LifecycleConfiguration", "Rules", index)
    yield from _overlaps(resource)
    yield from _stars(resource)


def _stars(resource: Resource) -> Slips:
    """A prefix is the beginning of keys; a star at its end or a slash before it is a part of it, and few keys have one."""
    for way in _PREFIXES:
        for place, value in place_in(resource.get(), way):
            prefix = known(value) or ""
            if prefix.endswith("*"):
                message = f"{prefix} is for keys with a star: a prefix has no wildcards"
                yield Slip(message, prefix.rstrip("*") or "no prefix", place, prefix, dead=True)
            elif prefix.startswith("/") and place[0] != "NotificationConfiguration":
                message = f"{prefix} is for keys that begin with a slash: the first folder has none before it"
                yield Slip(message, prefix.lstrip("/") or "no prefix", place, prefix, dead=True)


def _life(rule: Mapping[str, Value], key: str, end: tuple[str, ...], what: str) -> Slips:
    """Objects move to colder classes later, and expire after they have moved.

    :param key: the list of their moves.
    :param end: the place of their last day.
    """
    moves = []
    for index, one in entries(rule.get(key, ABSENT)):
        name, days = known(mapping(one).get("StorageClass", ABSENT)), as_int(mapping(one).get("TransitionInDays", ABSENT))
        if name in _COLDER and days is not None:
            moves.append((_COLDER.index(name), days, name, index))
    for (_, before, warm, _), (_, days, cold, index) in pairwise(sorted(moves)):
        least = _LEAST_DAYS if warm in _INFREQUENT else 1
        if days < before + least:
            message = f"{what} move to {cold} after {days} days, and to {warm} after {before}"
            yield Slip(message, f"{before + least} days or more", (key, index, "TransitionInDays"), days)
            return
    expires, last = as_int(at(rule, *end)), max(moves, key=lambda one: one[1], default=None)
    if expires is not None and last is not None and expires <= last[1]:
        message = f"{what} expire after {expires} days, and move to {last[2]} after {last[1]}"
        yield Slip(message, f"more than {last[1]} days", end, expires)


def _overlaps(resource: Resource) -> Slips:
    """Two notifications for one event, of which one has the other's objects too."""
    found = list(_notifications(resource))
    for (path, event, before, behind), (other_path, other, other_before, other_behind) in combinations(found, 2):
        same = event == other or _covers(event, other) or _covers(other, event)
        meet = before.startswith(other_before) or other_before.startswith(before)
        if same and meet and (behind.endswith(other_behind) or other_behind.endswith(behind)):
            message = f"two notifications are for {listed(dict.fromkeys((event, other)))} of the same objects"
            allowed = "events or filters that do not overlap"
            yield Slip(message, allowed, (*other_path, "Event"), other, doubts=(path, other_path))
            return


def _covers(pattern: str, event: str) -> bool:
    return pattern.endswith("*") and event.startswith(pattern[:-1])


def _notifications(resource: Resource) -> Iterator[tuple[tuple[str | int, ...], str, str, str]]:
    """The known notifications: place, event, prefix and suffix of the objects."""
    for kind, key in _KINDS.items():
        for index, one in entries(resource.get("NotificationConfiguration", kind)):
            event, filters = known(mapping(one).get(key, ABSENT)), mapping(one).get("Filter", ABSENT)
            rules = mapping(mapping(filters).get("S3Key")).get("Rules", ()) if filters is not ABSENT else ()
            ends = {
                (known(mapping(rule).get("Name")) or "?").lower(): known(mapping(rule).get("Value")) for _, rule in entries(rules)
            }
            if event and isinstance(rules, tuple) and None not in ends.values() and "?" not in ends:
                place = ("NotificationConfiguration", kind, index)
                yield place, event, ends.get("prefix") or "", ends.get("suffix") or ""


def attachment(resource: Resource) -> Slips:
    """A secret is attached to a target of the type that is said."""
    kind, target = known(resource.get("TargetType")), resource_of(resource.get("TargetId"))
    if kind and target is not None and target.type.startswith("AWS::RDS::DB") and target.type != kind:
        yield Slip(f"{target.logical_id} is an {target.type}, and not an {kind}", target.type, ("TargetType",), kind)


def trail(resource: Resource) -> Slips:
    """A trail that is on."""
    if as_bool(resource.get("IsLogging")) is False:
        yield Slip("the trail is off, and writes nothing down", "IsLogging: true", ("IsLogging",), False, dead=True)


def alias(resource: Resource) -> Slips:
    """A qualifier is a version, or an alias that the function has."""
    key = "TargetFunctionArn" if resource.type == _URL else "FunctionName"
    function, name = resource_of(resource.get(key), "AWS::Lambda::Function"), known(resource.get("Qualifier"))
    yield from _alias(function, name, "Qualifier")


def qualified(resource: Resource) -> Slips:
    """The alias behind the name or the ARN of a function."""
    given = resource.get("FunctionName")
    parts = given.parts if isinstance(given, Text) else ()
    if len(parts) == 2 and isinstance(parts[0], Reference) and isinstance(parts[1], str) and parts[1].startswith(":"):
        yield from _alias(resource_of(parts[0], "AWS::Lambda::Function"), parts[1][1:], "FunctionName")


def _alias(function: Resource | None, name: str | None, key: str) -> Slips:
    """An alias that a function has."""
    if function is None or name is None or name == "$LATEST" or name.isdecimal():
        return
    names = [known(one.get("Name")) for one in function.template.model.resources("AWS::Lambda::Alias")]
    if None not in names and name not in names:
        said = [one for one in names if one is not None]
        message = f"{function.logical_id} has no alias {name!r}{meant(name, said)}"
        yield Slip(message, listed(said) if said else "$LATEST, or an alias of the function", (key,), name)


def _name_of_service(group: Resource) -> Slips:
    """The name of a group that a service writes to is that of a resource, where it looks as if it should be."""
    name = known(group.get("LogGroupName")) or ""
    for type_, form in MADE_BY_SERVICES.items():
        before, _, behind = form.partition("{}")
        if not (name.startswith(before) and name.endswith(behind)):
            continue
        own = name[len(before) : len(name) - len(behind)]
        key = "FunctionName" if type_ == "AWS::Lambda::Function" else "Name"
        made = [one.get(key) for one in group.template.model.resources(type_)]
        near = typo_of(own, [one for one in made if isinstance(one, str)])
        if near is not None and all(isinstance(one, str) or one is ABSENT for one in made):
            message = f"nothing writes to {name}: no {type_} is named {own!r}; the nearest is {near}"
            yield Slip(message, form.format(near), ("LogGroupName",), name, dead=True)


def log_group(resource: Resource) -> Slips:
    """A class of log groups without filters has none, and a service writes to the group of its name."""
    yield from _name_of_service(resource)
    kind = known(resource.get("LogGroupClass"))
    filters = resource.template.model.resources("AWS::Logs::MetricFilter", "AWS::Logs::SubscriptionFilter")
    users = [one.logical_id for one in filters if named_resource(one, one.get("LogGroupName"), _LOGS) is resource]
    if kind in ("INFREQUENT_ACCESS", "DELIVERY") and users:
        message = f"{resource.logical_id} is of the class {kind}, which has no filters such as {listed(users)}"
        yield Slip(message, "STANDARD", ("LogGroupClass",), kind)


def event_source(resource: Resource) -> Slips:
    """A queue calls a function that is there, and not more often at once than the function may run."""
    yield from qualified(resource)
    most, function = as_int(resource.get("ScalingConfig", "MaximumConcurrency")), resource_of(resource.get("FunctionName"))
    reserved = None if function is None else as_int(function.get("ReservedConcurrentExecutions"))
    if function is not None and most is not None and reserved is not None and reserved < most:
        message = f"the queue calls {function.logical_id} {most} times at once, and {reserved} are reserved for it"
        yield Slip(message, f"{reserved} or less", ("ScalingConfig", "MaximumConcurrency"), most, dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::CloudTrail::Trail": trail,
    _INVOCATIONS: alias,
    _URL: alias,
    _MAPPING: event_source,
    "AWS::Lambda::Permission": qualified,
    _BUCKET: bucket,
    _LOGS: log_group,
    _ATTACHMENT: attachment,
}
