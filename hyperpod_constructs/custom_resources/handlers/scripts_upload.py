"""Writes lifecycle scripts and their configuration under a prefix in S3, and never deletes one."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from . import aws, resource


@dataclass(frozen=True)
class Properties:
    """Where the archive of the scripts lies, where its members go, and what is written as `configuration_file`."""

    source_bucket: str
    source_key: str
    bucket: str
    prefix: str
    configuration_file: str
    configuration: str


class ScriptsUpload(resource.Resource[Properties]):
    """The objects under one prefix. The physical id is their URI, so that a changed prefix is a new resource; the old one
    stays, for the rollback and for the nodes that name it."""

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
            aws.patiently(partial(s3.put_object, **target, Body=content), until=request.deadline)
            undo.push(partial(s3.delete_object, **target))
        return f"s3://{properties.bucket}/{properties.prefix}"

    def update(self, physical_id: str, request: resource.Request[Properties]) -> str:
        """The same: what is there already is written again, what is not gets a prefix of its own."""
        return self.create(request, resource.Undo())

    def delete(self, physical_id: str) -> None:
        """Nothing: nodes that run, and a rollback, still name the prefix."""

    def created(self, physical_id: str, request: resource.Request[Properties]) -> resource.Waiting | resource.Done:
        """Complete: S3 shows an object to every reader once it is written."""
        return resource.Done({"SourceS3Uri": physical_id})


def _objects(properties: Properties, archive: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        for name in members.namelist():
            if not name.endswith("/"):
                yield name, members.read(name)
    yield properties.configuration_file, properties.configuration.encode()


def on_event(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Entry point of the Lambda function."""
    return resource.on_event(ScriptsUpload(), event)
