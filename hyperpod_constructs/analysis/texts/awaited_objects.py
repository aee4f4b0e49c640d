"""Rules that start a build for a new object: it is the one that the build takes as its source.

Another object may be a sign that the source is there: it has another suffix.

Sources: https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-codebuild-project-source.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.build_commands import PROJECT
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.event_patterns import literals
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, as_items, as_str, parts_of

_RULE, _MACHINE, _BUCKET = "AWS::Events::Rule", "AWS::StepFunctions::StateMachine", "AWS::S3::Bucket"
_DETAIL = ("EventPattern", "detail")
_KEY = (*_DETAIL, "object", "key")


def rule(resource: Resource) -> Slips:
    """A rule for another object of the bucket than the one from which its builds take their source."""
    given = as_items(resource.get(*_KEY)) or ()
    keys, buckets = literals(resource.get(*_KEY)), as_items(resource.get(*_DETAIL, "bucket", "name")) or ()
    bucket = resource_of(buckets[0], _BUCKET) if len(buckets) == 1 else None
    if bucket is None or literals(resource.get("EventPattern", "source")) != ["aws.s3"] or len(keys) != len(given):
        return
    sources = {source[1]: project for project in _builds(resource) if (source := _source(project)) and source[0] is bucket}
    ends = {one.rpartition(".")[2] for one in sources}
    if sources and keys and sources.keys().isdisjoint(keys) and {one.rpartition(".")[2] for one in keys} <= ends:
        project = next(iter(sources.values()))
        says = f"the rule awaits {listed(keys)} in {bucket.logical_id}, and {project.logical_id} takes {listed(sources)} of it"
        yield Slip(says, listed(sources), _KEY, dead=True, beside=((project, ("Source", "Location")),))


def _builds(rule: Resource) -> Iterator[Resource]:
    """The projects that a rule starts, itself or by a state machine."""
    for _, target in entries(rule.get("Targets")):
        one = resource_of(mapping(target).get("Arn", ABSENT))
        if one is not None and one.type == PROJECT:
            yield one
        elif one is not None and one.type == _MACHINE:
            yield from (named for named in dict.fromkeys(references(one.get())) if named.type == PROJECT)


def _source(project: Resource) -> tuple[Resource, str] | None:
    """The bucket and the key of a project's source, if both are known."""
    bucket, *rest = parts_of(project.get("Source", "Location"))
    if as_str(project.get("Source", "Type")) != "S3" or not isinstance(bucket, Reference) or len(rest) != 1:
        return None
    owner, key = resource_of(bucket, _BUCKET), known(rest[0]) if isinstance(rest[0], str) else None
    return (owner, key.removeprefix("/")) if owner is not None and key else None


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_RULE: rule}
