"""Writes lifecycle scripts and their configuration under a prefix in S3."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from . import aws, resource

_DELETE_SECONDS = 90.0


@dataclass(frozen=True)
class Properties:
    """Where the archive of the scripts lies, where its members go, and what is written as `configuration_file`.

    `prefix` starts with `root`, which belongs to this resource alone.
    """

    source_bucket: str
    source_key: str
    bucket: str
    root: str
    prefix: str
    configuration_file: str
    configuration: str


class ScriptsUpload(resource.Resource[Properties]):
    """The objects under a root. An update adds a prefix and keeps the others: a rollback still names them. Only the deletion
    of the resource, when the cluster is gone, removes them all."""

    properties = Properties

    def __init__(self, client: Callable[[str], Any] = aws.client) -> None:
        self._client = client

    def create(self, request: resource.Request[Properties], undo: resource.Undo) -> str:
        """Write all objects; a failure removes those that were written."""
        properties, s3 = request.properties, self._client("s3")
        source = {"Bucket": properties.source_bucket, "Key": properties.source_key}
        archive = aws.patiently(lambda: s3.get_object(**source)["Body"].read(), until=request.deadline)
        for name, content in _objects(properties, archive):
            target = {"Bucket": properties.bucket, "Key": f"{properties.prefix}/{name}"}
            undo.push(partial(s3.delete_object, **target))
            aws.patiently(partial(s3.put_object, **target, Body=content), until=request.deadline)
        return f"s3://{properties.bucket}/{properties.root}"

    def update(self, physical_id: str, request: resource.Request[Properties]) -> str:
        """The same, beside what is there already."""
        return self.create(request, resource.Undo())

    def delete(self, physical_id: str) -> None:
        """Remove everything below the root; nothing there is a success."""
        bucket, root = physical_id.removeprefix("s3://").split("/", 1)
        s3, until = self._client("s3"), time.time() + _DELETE_SECONDS
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{root}/"):
            for item in page.get("Contents", []):
                aws.patiently(partial(s3.delete_object, Bucket=bucket, Key=item["Key"]), until=until)

    def created(self, physical_id: str, request: resource.Request[Properties]) -> resource.Waiting | resource.Done:
        """Complete: S3 shows an object to every reader once it is written."""
        return resource.Done({})


def _objects(properties: Properties, archive: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        for name in members.namelist():
            if not name.endswith("/"):
                yield name, members.read(name)
    yield properties.configuration_file, properties.configuration.encode()


def on_event(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Entry point of the Lambda function."""
    return resource.on_event(ScriptsUpload(), event)
