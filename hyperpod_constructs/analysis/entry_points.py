"""Scripts of nodes that are not where the nodes look for them.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.uploads import Upload, key_of, uploads_of
from hyperpod_constructs.templates.dependencies import depends_on
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import as_str, parts_of

_LIFE_CYCLE, _URI, _BUCKET = "LifeCycleConfig", "SourceS3Uri", "AWS::S3::Bucket"

_FILLERS = (
    *("Custom::", "AWS::CloudFormation::CustomResource", "AWS::CodeBuild::", "AWS::CodePipeline::", "AWS::DataSync::"),
    "AWS::Lambda::Function",
)
"""The beginnings of types that may put scripts into a bucket."""


class Lacking(NamedTuple):
    """A script that is not there: the place that names it, from the instance group, and the message."""

    path: tuple[str, ...]
    message: str


def lacking(group: Group) -> Iterator[Lacking]:
    """The scripts of a group that nobody uploads, where every file of the only upload is known, or the bucket is a new one."""
    uploads = _uploads(group)
    files = uploads[0].files() if len(uploads) == 1 else None
    for key in ("OnCreate", "OnInitComplete") if files else ():
        name = as_str(group.get(_LIFE_CYCLE, key))
        if files and name is not None and name not in files and PurePosixPath(name).name not in files:
            text = f"{key} of instance group {group.label!r} is {name!r}, which {uploads[0].resource.logical_id} does not upload"
            yield Lacking((_LIFE_CYCLE, key), text)
    yield from _without_key(group, uploads)
    other = _upload_of_others(group) if not uploads else None
    bucket = None if other is None else _own_bucket(group)
    if other is not None and bucket is not None and not _may_be_filled(bucket, other.resource):
        text = f"nobody uploads the scripts of instance group {group.label!r} to this place in {bucket.logical_id}"
        yield Lacking((_LIFE_CYCLE, _URI), f"{text}; {other.resource.logical_id} uploads those of others elsewhere")


def _without_key(group: Group, uploads: tuple[Upload, ...]) -> Iterator[Lacking]:
    """The scripts of a group whose key is none of those under which each upload writes one object."""
    keys = [one.key for one in uploads]
    prefix = key_of(group.get(_LIFE_CYCLE, _URI)).strip("/")
    for key in ("OnCreate", "OnInitComplete") if keys and None not in keys and prefix else ():
        name = as_str(group.get(_LIFE_CYCLE, key))
        if name is not None and f"{prefix}/{name}" not in keys and any(one and one.endswith(f"/{name}") for one in keys):
            text = f"{key} of instance group {group.label!r} is {name!r} below {prefix}, where nobody writes it"
            yield Lacking((_LIFE_CYCLE, key), text)


def _uploads(group: Group) -> tuple[Upload, ...]:
    return uploads_of(group.resource.template.model, group.get(_LIFE_CYCLE, _URI))


def _upload_of_others(group: Group) -> Upload | None:
    """The upload of the scripts of another group of the cluster."""
    return next((found[0] for one in group.cluster.groups if (found := _uploads(one))), None)


def _own_bucket(group: Group) -> Resource | None:
    """The bucket of the scripts, if it is made with the cluster, and so empty before the uploads."""
    parts = parts_of(group.get(_LIFE_CYCLE, _URI))
    bucket = resource_of(parts[1], _BUCKET) if len(parts) > 1 and parts[0] == "s3://" else None
    return bucket if bucket is not None and bucket.template is group.resource.template else None


def _may_be_filled(bucket: Resource, upload: Resource) -> bool:
    """Whether something else that may put scripts into the bucket names it."""
    others = (one for one in bucket.template.resources if one.type.startswith(_FILLERS) and one is not upload)
    return any(bucket in depends_on(one) for one in others)
