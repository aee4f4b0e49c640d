"""Alarms on the replication of S3: each is on a rule that the bucket has.

Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/metrics-dimensions.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import listed, quoted
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.metric_ranges import OF_REPLICATION
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, at

_BUCKET = "AWS::S3::Bucket"


def alarm(resource: Resource) -> Slips:
    """An alarm on replication is on a rule that the bucket has."""
    if known(resource.get("MetricName")) not in OF_REPLICATION:
        return
    places = {known(at(one, "Name")): (index, at(one, "Value")) for index, one in entries(resource.get("Dimensions"))}
    index, value = places.get("RuleId", (0, ABSENT))
    bucket = resource_of(places.get("SourceBucket", (0, ABSENT))[1], _BUCKET)
    ids = [*_rules(bucket)] if bucket is not None else []
    name = known(value)
    if name is not None and ids and None not in ids and name not in ids:
        message = f"{quoted(name)} is no rule of the replication of {bucket.logical_id if bucket else ''}"
        yield Slip(message, listed(map(str, ids)), ("Dimensions", index, "Value"), value, dead=True)


def _rules(bucket: Resource) -> Iterator[str | None]:
    for _, one in entries(bucket.get("ReplicationConfiguration", "Rules")):
        yield known(mapping(one).get("Id", ABSENT))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::CloudWatch::Alarm": alarm}
