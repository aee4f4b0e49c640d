"""Writes lifecycle scripts and their configuration under a prefix in S3."""

from __future__ import annotations

import io
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from botocore.exceptions import ClientError, IncompleteReadError

from . import aws, resource
from .errors import OperationError

_DELETE_SECONDS = 90.0

#: Keys that one call may remove.
_AT_ONCE = 1000


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
        """Write all objects; a failure removes those that were not there before.

        The same request may come twice, and what the first has written belongs to a cluster by then. Which objects are new is
        seen before the first is written, because the answer to a write that was sent again does not tell.
        """
        properties, s3 = request.properties, self._client("s3")
        until = min(request.deadline, undo.until - aws.CALL_SECONDS)
        archive = self._read(s3, properties, until)
        there = {item["Key"] for item in self._listed(s3, properties.bucket, f"{properties.prefix}/", until)}
        made: list[str] = []
        undo.push(
            f"objects below s3://{properties.bucket}/{properties.prefix}/",
            partial(self._remove_keys, s3, properties.bucket, made, undo.until),
        )
        for name, content in _objects(properties, archive):
            key = f"{properties.prefix}/{name}"
            if key not in there:
                made.append(key)
            self._try(partial(s3.put_object, Bucket=properties.bucket, Key=key, Body=content), until)
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
        try:
            before: list[str] = []
            while keys := [item["Key"] for item in self._page(s3, bucket, f"{root}/", until).get("Contents") or []]:
                if keys == before or self._clock() > until:
                    raise OperationError(f"s3://{bucket}/{root}/ cannot be emptied: {keys[0]} is still there")
                self._remove(s3, bucket, keys, until)
                before = keys
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchBucket":
                raise

    def _read(self, s3: Any, properties: Properties, until: float) -> zipfile.ZipFile:
        """The archive, whole: its checksums are checked before anything is written. CDK names it after the files that it was
        made of, so its own digest is not known."""
        source = {"Bucket": properties.source_bucket, "Key": properties.source_key}
        content = self._try(lambda: _body(s3.get_object(**source)), until)
        try:
            archive = zipfile.ZipFile(io.BytesIO(content))
            damaged = archive.testzip()
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise _damaged(source, str(error)) from error
        if damaged is not None:
            raise _damaged(source, damaged)
        return archive

    def _remove_keys(self, s3: Any, bucket: str, keys: list[str], until: float) -> None:
        for start in range(0, len(keys), _AT_ONCE):
            self._remove(s3, bucket, keys[start : start + _AT_ONCE], until)

    def _remove(self, s3: Any, bucket: str, keys: list[str], until: float) -> None:
        """Remove up to 1,000 objects; keys that S3 is too busy for are asked again.

        Raises OperationError with the first that cannot be removed.
        """
        self._try(partial(_delete, s3, bucket, keys), until)

    def _listed(self, s3: Any, bucket: str, prefix: str, until: float) -> Iterator[dict[str, str]]:
        more: dict[str, str] = {}
        while True:
            page = self._page(s3, bucket, prefix, until, **more)
            yield from page.get("Contents") or []
            following = page.get("NextContinuationToken")
            if not following or following == more.get("ContinuationToken"):
                return
            more = {"ContinuationToken": following}

    def _page(self, s3: Any, bucket: str, prefix: str, until: float, **more: str) -> dict[str, Any]:
        answer: dict[str, Any] = self._try(partial(s3.list_objects_v2, Bucket=bucket, Prefix=prefix, **more), until)
        return answer

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


def _objects(properties: Properties, archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    for name in archive.namelist():
        if not name.endswith("/"):
            yield name, archive.read(name)
    yield properties.configuration_file, properties.configuration.encode()


def _body(answer: Mapping[str, Any]) -> bytes:
    """All that was announced. Raises IncompleteReadError, after which the object is asked for again."""
    content: bytes = answer["Body"].read()
    announced = answer.get("ContentLength", len(content))
    if len(content) != announced:
        raise IncompleteReadError(actual_bytes=len(content), expected_bytes=announced)
    return content


def _delete(s3: Any, bucket: str, keys: list[str]) -> None:
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True})
    for error in answer.get("Errors") or []:
        message = f"{error.get('Message')} ({error.get('Key')})"
        raise ClientError({"Error": {"Code": str(error.get("Code")), "Message": message}}, "DeleteObjects")


def _damaged(source: Mapping[str, str], what: str) -> OperationError:
    place = f"s3://{source['Bucket']}/{source['Key']}"
    return OperationError(
        f"{place}: the archive of the scripts is damaged ({what}); remove this object and deploy again, CDK writes it anew"
    )


def on_event(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Entry point of the Lambda function."""
    return resource.on_event(ScriptsUpload(), event, context=context)
