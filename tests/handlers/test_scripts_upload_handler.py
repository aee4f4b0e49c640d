from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.custom_resources.handlers.errors import OperationError
from hyperpod_constructs.custom_resources.handlers.resource import on_event
from hyperpod_constructs.custom_resources.handlers.scripts_upload import ScriptsUpload

from .conftest import Clock


class S3:
    """A bucket in memory; `broken` names the key that cannot be written, so many times as `refusals` says (-1: ever)."""

    def __init__(self, broken: str | None = None, refusals: int = -1) -> None:
        self.refusals = refusals
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as members:
            members.writestr("on_init_complete.sh", "#!/bin/sh\n")
            members.writestr("steps/one.py", "print()\n")
            members.mkdir("empty")
        self.archive = archive.getvalue()
        self.broken = broken
        self.objects: dict[str, bytes] = {}

    def get_object(self, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803  # boto3's names
        assert (Bucket, Key) == ("assets", "scripts.zip")
        return {"Body": io.BytesIO(self.archive)}

    def put_object(self, Bucket: str, Key: str, Body: bytes) -> None:  # noqa: N803
        assert Bucket == "sagemaker-scripts"
        if self.broken is not None and Key.endswith(self.broken) and self.refusals != 0:
            self.refusals -= 1
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no s3:PutObject"}}, "PutObject")
        self.objects[Key] = Body

    def delete_object(self, Bucket: str, Key: str) -> None:  # noqa: N803
        assert Bucket == "sagemaker-scripts"
        self.objects.pop(Key, None)

    def list_objects_v2(self, Bucket: str, Prefix: str) -> dict[str, Any]:  # noqa: N803
        if Bucket != "sagemaker-scripts":
            raise ClientError({"Error": {"Code": "NoSuchBucket", "Message": "gone"}}, "ListObjectsV2")
        return {"Contents": [{"Key": key} for key in self.objects if key.startswith(Prefix)][:2]}

    def delete_objects(self, Bucket: str, Delete: dict[str, Any]) -> dict[str, Any]:  # noqa: N803
        for item in Delete["Objects"]:
            self.delete_object(Bucket, item["Key"])
        return {}


def send(s3: S3, kind: str = "Create", prefix: str = "abc", **more: str) -> dict[str, Any]:
    event = {
        "RequestType": kind,
        "RequestId": "request-1",
        "LogicalResourceId": "Upload",
        "ResourceProperties": {
            "SourceBucket": "assets",
            "SourceKey": "scripts.zip",
            "Bucket": "sagemaker-scripts",
            "Root": "lifecycle/mine",
            "Prefix": f"lifecycle/mine/{prefix}",
            "ConfigurationFile": "config.json",
            "Configuration": '{"version":1}',
            "TimeoutSeconds": "300",
        },
        **({} if kind == "Create" else {"PhysicalResourceId": "s3://sagemaker-scripts/lifecycle/mine"}),
        **more,
    }
    clock = Clock()
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
