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

from . import answers, aws, resource
from .errors import OperationError

_DELETE_SECONDS = 90.0

# Most keys that one call removes.
_AT_ONCE = 1000


@dataclass(frozen=True)
class Properties:
    """The archive of the scripts, its destination and its configuration.

    :param root: the beginning of `prefix`; it belongs to this resource alone.
    :param configuration: the content of `configuration_file`.
    """

    source_bucket: str
    source_key: str
    bucket: str
    root: str
    prefix: str
    configuration_file: str
    configuration: str


class ScriptsUpload(resource.Resource[Properties]):
    """The objects under a root.

    An update adds a prefix and keeps the others, because a rollback still needs them. Only the deletion of the resource, after
    that of the cluster, removes them all.
    """

    properties = Properties

    def __init__(
        self,
        client: Callable[[str], Any] = aws.whole_client,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client, self._clock, self._sleep = client, clock, sleep

    def create(self, request: resource.Request[Properties], undo: resource.Undo) -> str:
        """Write all objects; after a failure, remove the new ones.

        The same request may come twice, and the first one's objects belong to a cluster by then. The list of existing objects is
        read before the first write, because the answer to a repeated write does not tell.
        """
        properties, s3 = request.properties, self._client("s3")
        until = min(request.deadline, undo.until - aws.CALL_SECONDS)
        archive = self._read(s3, properties, until)
        there = set(self._listed(s3, properties.bucket, f"{properties.prefix}/", until))
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
        return _id(properties)

    def update(self, physical_id: str, request: resource.Request[Properties]) -> str:
        """Write all objects of the new prefix, beside the existing ones.

        :raises Replace: for another root. Nobody learns its id if the upload fails, so nobody would delete its objects.
        """
        if physical_id != _id(request.properties):
            raise resource.Replace
        return self.create(request, resource.Undo())

    def delete(self, physical_id: str) -> None:
        """Remove all objects below the root.

        An empty root is a success. So is an unknown id: CloudFormation makes one for a creation without an answer.
        """
        scheme, _, place = physical_id.partition("://")
        bucket, _, root = place.partition("/")
        if scheme != "s3" or not root.strip("/"):
            return
        s3, until = self._client("s3"), self._clock() + _DELETE_SECONDS
        try:
            before: list[str] = []
            while keys := _keys(self._page(s3, bucket, f"{root}/", until)):
                if keys == before or self._clock() > until:
                    raise OperationError(f"s3://{bucket}/{root}/ cannot be emptied: {keys[0]} is still there")
                self._remove(s3, bucket, keys, until)
                before = keys
        except ClientError as error:
            if error.response["Error"]["Code"] != "NoSuchBucket":
                raise

    def _read(self, s3: Any, properties: Properties, until: float) -> zipfile.ZipFile:
        """The complete archive. Its checksums are verified before the first write, because CDK names it by the digest of its
        source files and not by its own."""
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
        """Remove up to 1,000 objects; a key is tried again while S3 is busy.

        :raises ClientError: for the first key that cannot be removed.
        """
        self._try(partial(_delete, s3, bucket, keys), until)

    def _listed(self, s3: Any, bucket: str, prefix: str, until: float) -> Iterator[str]:
        more: dict[str, str] = {}
        while True:
            page = self._page(s3, bucket, prefix, until, **more)
            yield from _keys(page)
            following = answers.text(page, "NextContinuationToken")
            if not following or following == more.get("ContinuationToken"):
                return
            more = {"ContinuationToken": following}

    def _page(self, s3: Any, bucket: str, prefix: str, until: float, **more: str) -> dict[str, Any]:
        answer: dict[str, Any] = self._try(partial(s3.list_objects_v2, Bucket=bucket, Prefix=prefix, **more), until)
        return answer

    def _try(self, call: Callable[[], Any], until: float) -> Any:
        """Make a call, and repeat it while S3 throttles or IAM does not know this change's policy yet."""
        return aws.patiently(
            call,
            until=until,
            again=lambda error: aws.transient(error) or aws.unsettled(error),
            clock=self._clock,
            sleep=self._sleep,
        )

    def created(self, physical_id: str, request: resource.Request[Properties]) -> resource.Waiting | resource.Done:
        """Always complete: S3 shows a written object to every reader at once."""
        return resource.Done({})


def _id(properties: Properties) -> str:
    return f"s3://{properties.bucket}/{properties.root}"


def _objects(properties: Properties, archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    for name in archive.namelist():
        if not name.endswith("/"):
            yield name, archive.read(name)
    yield properties.configuration_file, properties.configuration.encode()


def _keys(page: Mapping[str, Any]) -> list[str]:
    """The keys on a page.

    :raises OperationError: if keys are missing: an incomplete list would leave objects, or remove those of an earlier creation.
    """
    keys = [answers.text(item, "Key") for item in answers.structures(page, "Contents")]
    announced = answers.number(page, "KeyCount")
    if not all(keys) or (announced is not None and len(keys) != announced):
        raise OperationError(f"ListObjectsV2: the answer has {len(list(filter(None, keys)))} keys of {announced}")
    return keys


def _body(answer: Mapping[str, Any]) -> bytes:
    """The complete body.

    :raises IncompleteReadError: if the body is shorter than announced; the caller then asks again.
    """
    body = answer.get("Body")
    if body is None:
        raise OperationError("GetObject: the answer has no Body")
    content: bytes = body.read()
    announced = answers.number(answer, "ContentLength")
    if announced is not None and len(content) != announced:
        raise IncompleteReadError(actual_bytes=len(content), expected_bytes=announced)
    return content


def _delete(s3: Any, bucket: str, keys: list[str]) -> None:
    answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True})
    for error in answers.structures(answer, "Errors"):
        message = f"{answers.shown(error, 'Message')} ({answers.shown(error, 'Key')})"
        raise ClientError({"Error": {"Code": answers.text(error, "Code"), "Message": message}}, "DeleteObjects")


def _damaged(source: Mapping[str, str], what: str) -> OperationError:
    place = f"s3://{source['Bucket']}/{source['Key']}"
    return OperationError(
        f"{place}: the archive of the scripts is damaged ({what}); remove this object and deploy again: CDK uploads it anew"
    )


def on_event(event: Mapping[str, Any], context: object) -> dict[str, Any]:
    """Entry point of the Lambda function."""
    return resource.on_event(ScriptsUpload(), event, context=context)
