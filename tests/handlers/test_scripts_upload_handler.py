from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, IncompleteReadError, ReadTimeoutError, ResponseStreamingError

from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.resource import on_event
from hyperpod_constructs.custom_resources.handlers.scripts_upload import ScriptsUpload

from .conftest import Clock


class S3:
    """A bucket in memory; the key `broken` is refused `refusals` times (-1: always)."""

    def __init__(self, broken: str | None = None, refusals: int = -1) -> None:
        self.refusals = refusals
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as members:
            members.writestr("on_init_complete.sh", "#!/bin/sh\n")
            members.writestr("steps/one.py", "print()\n")
            members.mkdir("empty")
        self.archive = archive.getvalue()
        self.broken = broken
        self.reads = 0
        self.bodies: list[Any] = []
        self.deleted: list[list[str]] = []
        self.stuck: dict[str, str] = {}
        self.forgetful = False
        self.objects: dict[str, bytes] = {}

    def get_object(self, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803  # boto3's names
        assert (Bucket, Key) == ("assets", "scripts.zip")
        self.reads += 1
        body = self.bodies.pop(0) if self.bodies else io.BytesIO(self.archive)
        return {"Body": body, "ContentLength": len(self.archive)}

    def put_object(self, Bucket: str, Key: str, Body: bytes) -> None:  # noqa: N803
        assert Bucket == "sagemaker-scripts"
        if self.broken is not None and Key.endswith(self.broken) and self.refusals != 0:
            self.refusals -= 1
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no s3:PutObject"}}, "PutObject")
        self.objects[Key] = Body

    def list_objects_v2(self, Bucket: str, Prefix: str, ContinuationToken: str = "") -> dict[str, Any]:  # noqa: N803
        if Bucket != "sagemaker-scripts":
            raise ClientError({"Error": {"Code": "NoSuchBucket", "Message": "gone"}}, "ListObjectsV2")
        keys = [key for key in sorted(self.objects) if key.startswith(Prefix) and key > ContinuationToken]
        more = {"NextContinuationToken": keys[1]} if len(keys) > 2 else {}
        listed = {} if self.forgetful else {"Contents": [{"Key": key} for key in keys[:2]]}
        return {**listed, "KeyCount": len(keys[:2]), **more}

    def delete_objects(self, Bucket: str, Delete: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        keys = [item["Key"] for item in Delete["Objects"]]
        self.deleted.append(keys)
        for key in keys:
            if key not in self.stuck:
                self.objects.pop(key, None)
        return {"Errors": [{"Key": key, "Code": self.stuck[key], "Message": "it stays"} for key in keys if key in self.stuck]}


class Broken:
    """A body whose connection breaks."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def read(self) -> bytes:
        raise self.error


def send(
    s3: S3, kind: str = "Create", prefix: str = "abc", clock: Clock | None = None, root: str = "mine", **more: str
) -> dict[str, Any]:
    event = {
        "RequestType": kind,
        "RequestId": "request-1",
        "LogicalResourceId": "Upload",
        "ResourceProperties": {
            "SourceBucket": "assets",
            "SourceKey": "scripts.zip",
            "Bucket": "sagemaker-scripts",
            "Root": f"lifecycle/{root}",
            "Prefix": f"lifecycle/{root}/{prefix}",
            "ConfigurationFile": "config.json",
            "Configuration": '{"version":1}',
            "TimeoutSeconds": "300",
        },
        **({} if kind == "Create" else {"PhysicalResourceId": "s3://sagemaker-scripts/lifecycle/mine"}),
        **more,
    }
    clock = Clock() if clock is None else clock
    return on_event(ScriptsUpload(lambda service: s3, clock, clock.sleep), event, clock)


def test_writes_the_scripts_and_their_configuration() -> None:
    s3 = S3()
    assert send(s3)["PhysicalResourceId"] == "s3://sagemaker-scripts/lifecycle/mine"
    assert s3.objects == {
        "lifecycle/mine/abc/on_init_complete.sh": b"#!/bin/sh\n",
        "lifecycle/mine/abc/steps/one.py": b"print()\n",
        "lifecycle/mine/abc/config.json": b'{"version":1}',
    }


def test_the_same_request_twice_is_the_same_resource() -> None:
    s3 = S3()
    assert send(s3)["PhysicalResourceId"] == send(s3)["PhysicalResourceId"]
    assert len(s3.objects) == 3


def test_a_changed_prefix_keeps_the_old_one_and_the_resource() -> None:
    s3 = S3()
    created = send(s3)["PhysicalResourceId"]
    assert send(s3, "Update", "def")["PhysicalResourceId"] == created
    assert {key.split("/")[2] for key in s3.objects} == {"abc", "def"}


def test_a_failed_rename_removes_what_it_wrote() -> None:
    s3 = S3()
    send(s3)
    written = dict(s3.objects)
    s3.broken = "config.json"
    with pytest.raises(OperationError, match="no s3:PutObject"):
        send(s3, "Update", root="other")
    assert s3.objects == written


def test_a_list_without_its_keys_is_no_empty_list() -> None:
    s3 = S3()
    send(s3)
    s3.forgetful = True
    with pytest.raises(OperationError, match="ListObjectsV2: the answer has 0 keys of 2"):
        send(s3, "Delete")


def test_deletion_removes_all_prefixes_and_nothing_beside_them() -> None:
    s3 = S3()
    s3.objects["lifecycle/mine-too/abc/on_init_complete.sh"] = b""
    send(s3)
    send(s3, "Update", "def")
    send(s3, "Delete")
    assert list(s3.objects) == ["lifecycle/mine-too/abc/on_init_complete.sh"]


def test_a_failed_creation_removes_what_it_wrote() -> None:
    s3 = S3(broken="config.json")
    with pytest.raises(OperationError, match="PutObject: AccessDenied: no s3:PutObject"):
        send(s3)
    assert s3.objects == {}


def test_a_policy_that_is_seconds_old_is_awaited() -> None:
    s3 = S3(broken="config.json", refusals=2)
    send(s3)
    assert len(s3.objects) == 3


@pytest.mark.parametrize(
    "physical_id", ["s3://bucket-that-is-gone/lifecycle/mine", "HyperPod-Upload-1ABC", "s3://sagemaker-scripts/"]
)
def test_deletion_of_what_is_not_there_succeeds(physical_id: str) -> None:
    s3 = S3()
    send(s3)
    send(s3, "Delete", PhysicalResourceId=physical_id)
    assert len(s3.objects) == 3


def test_a_creation_that_is_sent_again_and_fails_keeps_what_the_first_one_wrote() -> None:
    s3 = S3()
    send(s3)
    written = dict(s3.objects)
    s3.broken = "config.json"
    with pytest.raises(OperationError, match="no s3:PutObject"):
        send(s3)
    assert s3.objects == written


def test_a_creation_that_is_sent_again_after_half_of_it_removes_only_its_own_half() -> None:
    s3 = S3(broken="config.json")
    s3.objects["lifecycle/mine/abc/on_init_complete.sh"] = b"#!/bin/sh\n"
    with pytest.raises(OperationError):
        send(s3)
    assert list(s3.objects) == ["lifecycle/mine/abc/on_init_complete.sh"]


def test_what_a_failed_creation_could_not_remove_stands_in_its_reason() -> None:
    s3 = S3(broken="config.json")
    s3.stuck["lifecycle/mine/abc/steps/one.py"] = "AccessDenied"
    with pytest.raises(OperationError) as failure:
        send(s3)
    assert "no s3:PutObject; not removed: objects below s3://sagemaker-scripts/lifecycle/mine/abc/" in str(failure.value)
    assert "AccessDenied: it stays (lifecycle/mine/abc/steps/one.py)" in str(failure.value)


def test_clean_up_ends_before_lambda_stops_the_function() -> None:
    s3, clock = S3(broken="config.json"), Clock()
    start = clock.now
    s3.stuck["lifecycle/mine/abc/steps/one.py"] = "SlowDown"
    with pytest.raises(OperationError, match="SlowDown"):
        send(s3, clock=clock)
    assert len(s3.deleted) > 1
    assert clock.now - start <= 180 - 35


def test_no_clean_up_starts_when_no_time_is_left() -> None:
    s3, clock = S3(broken="config.json"), Clock()

    def late(seconds: float) -> None:
        clock.now += 160

    clock.sleep = late  # type: ignore[method-assign]
    with pytest.raises(OperationError, match=r"not removed: .*: no time is left"):
        send(s3, clock=clock)
    assert s3.deleted == []


@pytest.mark.parametrize(
    "error",
    [
        IncompleteReadError(actual_bytes=1, expected_bytes=2),
        ResponseStreamingError(error="reset"),
        ReadTimeoutError(endpoint_url="https://s3.example"),
        ConnectionResetError("reset"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_body_that_breaks_off_is_read_again(error: Exception) -> None:
    s3 = S3()
    s3.bodies = [Broken(error), io.BytesIO(s3.archive[:50])]
    send(s3)
    assert s3.reads == 3
    assert len(s3.objects) == 3


@pytest.mark.parametrize(
    "damage", [lambda archive: b"", lambda archive: archive[:30] + b"XX" + archive[32:], lambda archive: archive[:-30]]
)
def test_a_damaged_archive_is_told_before_anything_is_written(damage: Callable[[bytes], bytes]) -> None:
    s3 = S3()
    s3.archive = damage(s3.archive)
    with pytest.raises(OperationError, match=r"s3://assets/scripts\.zip: the archive of the scripts is damaged .*deploy again"):
        send(s3)
    assert s3.objects == {}


def test_deletion_of_objects_that_stay_ends() -> None:
    s3 = S3()
    send(s3)
    s3.stuck = dict.fromkeys(s3.objects, "SlowDown")
    with pytest.raises(OperationError, match="DeleteObjects: SlowDown: it stays"):
        send(s3, "Delete")


def test_deletion_that_succeeds_and_removes_nothing_ends() -> None:
    s3 = S3()
    send(s3)
    kept = dict(s3.objects)
    s3.objects = Sticky(kept)
    with pytest.raises(OperationError, match=r"cannot be emptied: lifecycle/mine/abc/config\.json is still there"):
        send(s3, "Delete")
    assert len(s3.deleted) == 1


class Sticky(dict[str, bytes]):
    """A bucket whose objects cannot be deleted."""

    def pop(self, *_: Any) -> Any:
        return None
