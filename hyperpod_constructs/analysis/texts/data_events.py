"""Data services and those who watch them: rules for objects, alarms on replication and on bytes.

Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventBridge.html,
https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-event-notifications-eventbridge.html and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import listed, quoted
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.texts.typo import typo_of
from hyperpod_constructs.facts.data_events import FEWEST_BYTES, IN_BYTES, REPLICATION_METRICS, SOURCE, TYPES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, as_bool, as_float, at

_BUCKET = "AWS::S3::Bucket"
_PATTERN, _TYPE = "EventPattern", "detail-type"


def rule(resource: Resource) -> Slips:
    """A rule for objects waits for events that there are, by the name of a bucket that sends them."""
    sources = [known(one) for _, one in entries(resource.get(_PATTERN, "source"))]
    if sources != [SOURCE]:
        return
    types = [known(one) for _, one in entries(resource.get(_PATTERN, _TYPE))]
    for index, name in enumerate(types):
        meant = typo_of(name or "", TYPES)
        if meant is not None:
            yield Slip(f"S3 has no event {name!r}; did you mean {meant}?", listed(TYPES), (_PATTERN, _TYPE, index), name, dead=True)
    for index, one in entries(resource.get(_PATTERN, "detail", "bucket", "name")):
        bucket = resource_of(one, _BUCKET)
        path = (_PATTERN, "detail", "bucket", "name", index)
        if isinstance(one, Reference) and target_of(one).type == _BUCKET and one.attribute == "Arn":
            yield Slip(
                f"{quoted(one)} is an ARN, and events have the name of the bucket", "the Ref of the bucket", path, one, dead=True
            )
        elif bucket is not None and bucket.exists and set(types) & {*TYPES} and _is_silent(bucket):
            message = f"{bucket.logical_id} sends no events to EventBridge"
            yield Slip(message, "EventBridgeConfiguration in its NotificationConfiguration", path, one, dead=True)


def _is_silent(bucket: Resource) -> bool:
    """Whether a bucket surely sends nothing to EventBridge; a custom resource may switch it on."""
    given = bucket.get("NotificationConfiguration")
    switch = at(given, "EventBridgeConfiguration") if given is not ABSENT else ABSENT
    others = (one for one in bucket.template.model.resources() if one.type.startswith(("Custom::", "AWS::CloudFormation::Custom")))
    off = switch is ABSENT or as_bool(at(switch, "EventBridgeEnabled")) is False
    return off and not any(bucket in references(one.get()) for one in others)


def alarm(resource: Resource) -> Slips:
    """An alarm on replication is on a rule that the bucket has, and one on bytes counts in bytes."""
    yield from _bytes(resource)
    if known(resource.get("MetricName")) not in REPLICATION_METRICS:
        return
    places = {known(at(one, "Name")): (index, at(one, "Value")) for index, one in entries(resource.get("Dimensions"))}
    index, value = places.get("RuleId", (0, ABSENT))
    bucket = resource_of(places.get("SourceBucket", (0, ABSENT))[1], _BUCKET)
    ids = [*_rules(bucket)] if bucket is not None else []
    name = known(value)
    if name is not None and ids and None not in ids and name not in ids:
        message = f"{quoted(name)} is no rule of the replication of {bucket.logical_id if bucket else ''}"
        yield Slip(message, listed(map(str, ids)), ("Dimensions", index, "Value"), value, dead=True)


def _bytes(resource: Resource) -> Slips:
    """A threshold in bytes that is that of a larger unit."""
    name, value = known(resource.get("MetricName")), resource.get("Threshold")
    limit, statistic = as_float(value), known(resource.get("Statistic"))
    in_bytes = name in IN_BYTES.get(known(resource.get("Namespace")) or "", ())
    if in_bytes and limit is not None and 1 < limit < FEWEST_BYTES and statistic != "SampleCount":
        message = f"{name} is in bytes, and the threshold {limit:g} of them"
        yield Slip(message, "bytes, such as 1099511627776 for a TiB", ("Threshold",), value, dead=True)


def _rules(bucket: Resource) -> Iterator[str | None]:
    for _, one in entries(bucket.get("ReplicationConfiguration", "Rules")):
        yield known(mapping(one).get("Id", ABSENT))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::CloudWatch::Alarm": alarm, "AWS::Events::Rule": rule}
