"""Uploads a directory of lifecycle scripts under a prefix that is known only at deployment."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import CustomResource, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from hyperpod_constructs.custom_resources.provider import HandlerProvider

#: Rendered beside the scripts.
CONFIGURATION_FILE = "config.json"

#: Endings of names that are left out of the upload, wherever they stand in a path.
EXCLUDED = ("__pycache__", ".pyc", ".mypy_cache", ".ruff_cache", ".pytest_cache")


class ScriptsUpload(Construct):
    """The scripts and `config.json` under a prefix of a bucket; complete when they are there.

    aws_s3_deployment.BucketDeployment is not used: it renders deploy-time content when it is made, while groups can be added to a
    cluster later; it writes the prefix into a tag of the bucket, so that a changed script would change the bucket's stack; and it
    brings the AWS CLI as a layer for a few small files.

    A change of prefix or content writes a new set beside the old one, which a rollback still names. Everything below `root` goes
    when the resource goes: the cluster, which awaits it, is gone by then.
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
        :param directory: what to upload, without compiled Python.
        :param bucket: where to.
        :param root: the first part of `prefix`, this upload's alone; it writes and deletes below it only. A change **replaces** it.
        :param prefix: the whole prefix; may hold tokens.
        :param configuration: the text of `config.json`; may hold tokens.
        """
        super().__init__(scope, id)
        asset = assets.Asset(self, "Scripts", path=str(directory), exclude=[f"**/*{ending}" for ending in EXCLUDED])
        provider = HandlerProvider.of(self, "HyperPodScriptsUploadProvider", module="scripts_upload", waits=False)
        self.resource: CustomResource = provider.add_resource(
            self,
            resource_type="Custom::HyperPodScriptsUpload",
            properties={
                "SourceBucket": asset.s3_bucket_name,
                "SourceKey": asset.s3_object_key,
                "Bucket": bucket.bucket_name,
                "Root": root,
                "Prefix": prefix,
                "ConfigurationFile": CONFIGURATION_FILE,
                "Configuration": configuration,
            },
            statements=[
                iam.PolicyStatement(actions=["s3:GetObject"], resources=[asset.bucket.arn_for_objects(asset.s3_object_key)]),
                iam.PolicyStatement(actions=["s3:PutObject", "s3:DeleteObject"], resources=[bucket.arn_for_objects(f"{root}/*")]),
                iam.PolicyStatement(
                    actions=["s3:ListBucket"],
                    resources=[bucket.bucket_arn],
                    conditions={"StringLike": {"s3:prefix": f"{root}/*"}},
                ),
            ],
            timeout=Duration.minutes(5),
        )
        if bucket.encryption_key is not None:
            bucket.encryption_key.grant_encrypt(provider.role).apply_before(self.resource)
