"""The upload of lifecycle scripts: objects below a root in a bucket that others use too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs.custom_resources.scripts_upload import ScriptsUpload
from tests.custom_resources.case import Case, Variant
from tests.custom_resources.world import SCRIPTS, World

DIRECTORY = Path(__file__).parents[1] / "scripts"


class ScriptsUploadCase(Case):
    failure = "ListObjectsV2: NoSuchBucket"

    def prepare(self, world: World) -> None:
        for key in ("lifecycle/one-more/a/config.json", "lifecycle/one", "unrelated"):
            world.client("s3").put_object(Bucket=SCRIPTS, Key=key, Body=b"of others")

    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        root = "lifecycle/two" if variant is Variant.RENAMED else "lifecycle/one"
        bucket = "sagemaker-that-is-gone" if variant is Variant.BROKEN else SCRIPTS
        ScriptsUpload(
            scope,
            "Upload",
            directory=DIRECTORY,
            bucket=s3.Bucket.from_bucket_name(scope, "Bucket", bucket),
            root=root,
            prefix=f"{root}/b" if variant is Variant.CHANGED else f"{root}/a",
            configuration=f'{{"of": "{variant.value}"}}',
        )

    def read(self, world: World) -> Mapping[str, Any]:
        return {item["Key"]: item["ETag"] for item in world.client("s3").list_objects_v2(Bucket=SCRIPTS).get("Contents", ())}
