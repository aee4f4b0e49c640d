"""Writes lifecycle scripts and their configuration under a prefix in S3."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from botocore.exceptions import ClientError

from . import aws, resource
from .errors import OperationError

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

    def __init__(
        self,
        client: Callable[[str], Any] = aws.client,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client, self._clock, self._sleep = client, clock, sleep

    def create(self, request: resource.Request[Properties], undo: resource.Undo) -> str:
        """Write all objects; a failure removes those that were written."""
        properties, s3 = request.properties, self._client("s3")
        source = {"Bucket": properties.source_bucket, "Key": properties.source_key}
        archive = self._try(lambda: s3.get_object(**source)["Body"].read(), request.deadline)
        for name, content in _objects(properties, archive):
            target = {"Bucket": properties.bucket, "Key": f"{properties.prefix}/{name}"}
            undo.push(partial(s3.delete_object, **target))
            self._try(partial(s3.put_object, **target, Body=content), request.deadline)
        return f"s3://{properties.bucket}/{properties.root}"

    def update(self, physical_id: str, request: resource.Request[Properties]) -> str:
        """The same, beside what is there already."""
        return self.create(request, resource.Undo())

    def delete(self, physical_id: str) -> None:
        """Remove everything below the root. Nothing there is a success, and so is an id that is none of ours: CloudFormation
        makes one for a resource whose creation was never answered."""
        scheme, _, place = physical_id.partition("://")
        bucket, _, root = place.partition("/")
        if scheme != "s3" or not root.strip("/"):
            return
        s3, until = self._client("s3"), self._clock() + _DELETE_SECONDS
        while page := self._list(s3, bucket, f"{root}/", until):
            keys = {"Objects": page, "Quiet": True}
            answer = self._try(partial(s3.delete_objects, Bucket=bucket, Delete=keys), until)
            for error in answer.get("Errors", []):
                raise OperationError(f"DeleteObjects: {error.get('Code')}: {error.get('Message')} ({error.get('Key')})")

    def _list(self, s3: Any, bucket: str, prefix: str, until: float) -> list[dict[str, str]]:
        try:
            answer = self._try(partial(s3.list_objects_v2, Bucket=bucket, Prefix=prefix), until)
        except ClientError as error:
            if error.response["Error"]["Code"] == "NoSuchBucket":
                return []
            raise
        return [{"Key": item["Key"]} for item in answer.get("Contents", [])]

    def _try(self, call: Callable[[], Any], until: float) -> Any:
        """Again while S3 throttles, or answers before IAM knows the policy that came with this change."""
        return aws.patiently(
            call,
            until=until,
            again=lambda error: aws.transient(error) or aws.unsettled(error),
            clock=self._clock,
            sleep=self._sleep,
        )

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
