"""Uploads a directory of lifecycle scripts under a prefix with deploy-time values."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import CustomResource, IgnoreMode
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from hyperpod_constructs._support.statements import Statement
from hyperpod_constructs._support.tree import within
from hyperpod_constructs.custom_resources.provider import HandlerProvider, minutes
from hyperpod_constructs.custom_resources.upload_names import CONFIGURATION_FILE, EXCLUDED


class ScriptsUpload(Construct):
    """The scripts and `config.json` under a prefix of a bucket; complete once they are there.

    `aws_s3_deployment.BucketDeployment` does not fit. It renders deploy-time content in its constructor, before later groups of the
    cluster. It writes the prefix into a tag of the bucket, so that a changed script would change the bucket's stack. It brings the
    AWS CLI as a layer for a few small files.

    A change of prefix or content writes a new set beside the old one, for a rollback. The deletion of the resource deletes
    everything below `root`; the cluster awaits the resource, so it is deleted before.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        directory: Path,
        bucket: s3.IBucket,
        root: str,
        prefix: str,
        configuration: str,
    ) -> None:
        """
        :param directory: the scripts; compiled Python is left out.
        :param bucket: the target.
        :param root: the first part of `prefix`, for this upload alone. It writes and deletes only below it. A change **replaces**
            the resource.
        :param prefix: the whole prefix; may hold tokens.
        :param configuration: the text of `config.json`; may hold tokens.
        """
        super().__init__(scope, id)
        within(self, scope)
        left_out = [f"**/*{ending}" for ending in EXCLUDED]
        asset = assets.Asset(self, "Scripts", path=str(directory), exclude=left_out, ignore_mode=IgnoreMode.DOCKER)
        key, target = asset.s3_object_key, bucket.bucket_arn
        provider = HandlerProvider.of(scope, "HyperPodScriptsUploadProvider", module="scripts_upload", waits=False)
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodScriptsUpload",
            properties={
                "SourceBucket": asset.s3_bucket_name,
                "SourceKey": key,
                "Bucket": bucket.bucket_name,
                "Root": root,
                "Prefix": prefix,
                "ConfigurationFile": CONFIGURATION_FILE,
                "Configuration": configuration,
            },
            statements=[
                Statement(actions=["s3:GetObject"], resources=[asset.bucket.arn_for_objects(key)]),
                Statement(actions=["s3:PutObject", "s3:DeleteObject"], resources=[f"{target}/{root}/*"]),
                Statement(
                    actions=["s3:ListBucket"],
                    resources=[target],
                    conditions={"StringLike": {"s3:prefix": f"{root}/*"}},
                ),
            ],
            timeout=minutes(5),
        )
        if (encryption_key := bucket.encryption_key) is not None:
            encryption_key.grant_encrypt(provider.role).apply_before(self.resource)
