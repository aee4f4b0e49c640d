"""The gateway endpoint by which a network reaches S3, and the buckets that it admits."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Aws, CfnTag, Fn
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.facts.connections import ANSWERS_BUCKET, READ_BUCKETS


class S3Endpoint:
    """A gateway endpoint for S3 on the route tables of nodes. In a network without internet it admits some buckets only."""

    def __init__(
        self, scope: Construct, region: str, vpc_id: str, route_table_id: str, tags: Sequence[CfnTag], *, internet: bool
    ) -> None:
        self._region = region
        self._route_tables = [route_table_id]
        self._policy = None if internet else _bucket_policy(region)
        self._serves_kubernetes = False
        self.resource = ec2.CfnVPCEndpoint(
            scope,
            "S3Endpoint",
            vpc_id=vpc_id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{region}.s3",
            route_table_ids=self._route_tables,
            policy_document=self._policy,
            tags=list(tags),
        )

    def add_route_table(self, route_table_id: str) -> None:
        """Lead from a further subnet to S3."""
        self._route_tables.append(route_table_id)
        self.resource.route_table_ids = self._route_tables

    def admit_bucket(self, bucket: s3.IBucket) -> None:
        """Admit a bucket of another account."""
        if self._policy is not None:
            self._policy.add_statements(_allow(None, ["s3:*"], [bucket.bucket_arn, f"{bucket.bucket_arn}/*"]))

    def serve_kubernetes(self) -> None:
        """Let functions in the VPC answer CloudFormation: those of a cluster on EKS are in it. Twice is once."""
        if self._policy is not None and not self._serves_kubernetes:
            self._policy.add_statements(_answers_of_functions(self._region))
        self._serves_kubernetes = True


def _bucket_policy(region: str) -> iam.PolicyDocument:
    """The account's own buckets, and those of AWS that nodes read."""
    return iam.PolicyDocument(
        statements=[
            _allow("OwnBuckets", ["s3:*"], ["*"], {"StringEquals": {"aws:ResourceAccount": Aws.ACCOUNT_ID}}),
            _allow("BucketsOfAws", ["s3:GetObject"], [_objects(f"{before}{region}{after}") for before, after in READ_BUCKETS]),
        ]
    )


def _answers_of_functions(region: str) -> iam.PolicyStatement:
    place = Fn.join("", Fn.split("-", region)) if is_unknown(region) else region.replace("-", "")
    return _allow("AnswersToCloudFormation", ["s3:PutObject"], [_objects(f"{ANSWERS_BUCKET}{place}")])


def _objects(bucket: str) -> str:
    return f"arn:{Aws.PARTITION}:s3:::{bucket}/*"


def _allow(
    sid: str | None, actions: list[str], resources: list[str], conditions: dict[str, dict[str, str]] | None = None
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid, principals=[iam.AnyPrincipal()], actions=actions, resources=resources, conditions=conditions
    )
