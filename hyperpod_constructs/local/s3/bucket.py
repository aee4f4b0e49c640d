"""CloudFormation providers of S3: ministack's own ignore most bucket properties and drop a bucket that still holds objects."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients, ignoring
from hyperpod_constructs.local.ec2.provider import boolean, document
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.s3.configuration import SETTINGS

Properties = Mapping[str, Any]

_BLOCKS = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")


class Bucket:
    """AWS::S3::Bucket."""

    type_name = "AWS::S3::Bucket"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the bucket with its configuration; a bucket that cannot be configured is deleted again."""
        s3 = self._clients("s3", caller)
        name = properties.get("BucketName") or _generated_name(stack, logical_id)
        if self._exists(s3, name):
            raise AwsError("AlreadyExists", f"{name} already exists")
        where = {} if caller.region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": caller.region}}
        s3.create_bucket(Bucket=name, **where)
        try:
            self._configure(s3, name, {}, properties)
        except Exception:
            s3.delete_bucket(Bucket=name)
            raise
        return _provisioned(name, caller)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the configuration in place."""
        self._configure(self._clients("s3", caller), physical_id, old, new)
        return _provisioned(physical_id, caller)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the bucket; refused while it holds objects."""
        with ignoring("NoSuchBucket"):
            self._clients("s3", caller).delete_bucket(Bucket=physical_id)

    def _exists(self, s3: Any, name: str) -> bool:
        try:
            s3.head_bucket(Bucket=name)
        except ClientError as error:
            return bool(error.response["Error"]["Code"] not in ("404", "NoSuchBucket"))
        return True

    def _configure(self, s3: Any, name: str, old: Properties, new: Properties) -> None:
        """Set every configuration to the new properties; remove those that only the old ones have."""
        for setting in SETTINGS:
            setting.apply(s3, name, old, new)
        self._acl(s3, name, old, new)
        self._public_access(s3, name, old, new)
        self._logging(s3, name, old, new)

    def _acl(self, s3: Any, name: str, old: Properties, new: Properties) -> None:
        acl = new.get("AccessControl", "Private")
        if acl != old.get("AccessControl", "Private"):
            s3.put_bucket_acl(Bucket=name, ACL=re.sub(r"(?<!^)(?=[A-Z])", "-", acl).lower())

    def _public_access(self, s3: Any, name: str, old: Properties, new: Properties) -> None:
        wanted = new.get("PublicAccessBlockConfiguration")
        if wanted is None and "PublicAccessBlockConfiguration" not in old:
            wanted = dict.fromkeys(_BLOCKS, True)  # the default of new buckets since April 2023
        if wanted is None:
            s3.delete_public_access_block(Bucket=name)
        else:
            settings = {block: boolean(wanted.get(block, False)) for block in _BLOCKS}
            s3.put_public_access_block(Bucket=name, PublicAccessBlockConfiguration=settings)

    def _logging(self, s3: Any, name: str, old: Properties, new: Properties) -> None:
        wanted = new.get("LoggingConfiguration")
        if wanted is not None:
            prefix = wanted.get("LogFilePrefix") or ""
            target = {"TargetBucket": wanted.get("DestinationBucketName") or name, "TargetPrefix": prefix}
            s3.put_bucket_logging(Bucket=name, BucketLoggingStatus={"LoggingEnabled": target})
        elif "LoggingConfiguration" in old:
            s3.put_bucket_logging(Bucket=name, BucketLoggingStatus={})


class BucketPolicy:
    """AWS::S3::BucketPolicy."""

    type_name = "AWS::S3::BucketPolicy"

    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Attach the policy; the bucket must exist and have none."""
        bucket = str(properties["Bucket"])
        self._put(bucket, properties, caller)
        return Provisioned(bucket)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the policy."""
        self._put(physical_id, new, caller)
        return Provisioned(physical_id)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Remove the policy; a bucket that is gone took it along."""
        with ignoring("NoSuchBucket"):
            self._clients("s3", caller).delete_bucket_policy(Bucket=physical_id)

    def _put(self, bucket: str, properties: Properties, caller: Caller) -> None:
        self._clients("s3", caller).put_bucket_policy(Bucket=bucket, Policy=document(properties["PolicyDocument"]))


def _provisioned(name: str, caller: Caller) -> Provisioned:
    return Provisioned(
        name,
        {
            "Arn": f"arn:aws:s3:::{name}",
            "DomainName": f"{name}.s3.amazonaws.com",
            "RegionalDomainName": f"{name}.s3.{caller.region}.amazonaws.com",
            "DualStackDomainName": f"{name}.s3.dualstack.{caller.region}.amazonaws.com",
        },
    )


def _generated_name(stack: str, logical_id: str) -> str:
    """As CloudFormation names a bucket: stack, logical id and a random part, 63 characters in all."""
    readable = re.sub(r"[^a-z0-9-]", "", f"{stack}-{logical_id}".lower())[:50]
    return f"{readable}-{uuid.uuid4().hex[:12]}"
