"""The endpoints by which a network reaches services of AWS without the internet."""

from __future__ import annotations

import re

from aws_cdk import Aws, CfnTag, Fn
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs._support.network_checks import usable_addresses
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.facts.connections import ANSWERS_BUCKET, GATEWAY_SERVICES, READ_BUCKETS

_NAME = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")
_HTTPS = 443


class InterfaceEndpoints:
    """Interface endpoints in one subnet of a network, with a security group that admits the whole VPC on TCP 443."""

    def __init__(self, scope: Construct, path: str, region: str, *, vpc: ec2.IVpc, subnet_id: str, cidr: str) -> None:
        """
        :param cidr: the block of the subnet.
        """
        self._scope, self._path, self._region, self._vpc = scope, path, region, vpc
        self._subnet_id, self._cidr = subnet_id, cidr
        self._made: dict[str, ec2.CfnVPCEndpoint] = {}
        self._group = ec2.SecurityGroup(
            scope, "EndpointSecurityGroup", vpc=vpc, allow_all_outbound=False, description="Interface endpoints"
        )

    def admit(self, cidr: str) -> None:
        """Let a block of the VPC in."""
        self._group.add_ingress_rule(ec2.Peer.ipv4(cidr), ec2.Port.tcp(_HTTPS), "from the VPC")

    def add(self, service: str) -> ec2.CfnVPCEndpoint:
        """The endpoint of a service; the same one for the same service.

        :param service: its name behind the region, such as `ecr.dkr`.
        :raises ValueError: for another name, a service with a gateway endpoint, or a subnet without room.
        """
        if service not in self._made:
            self._check(service)
            self._made[service] = ec2.CfnVPCEndpoint(
                self._scope,
                f"{''.join(word.title() for word in re.split('[.-]', service))}Endpoint",
                vpc_id=self._vpc.vpc_id,
                vpc_endpoint_type="Interface",
                service_name=f"com.amazonaws.{self._region}.{service}",
                subnet_ids=[self._subnet_id],
                security_group_ids=[self._group.security_group_id],
                private_dns_enabled=True,
                tags=[CfnTag(key="Name", value=f"{self._path}/{service}")],
            )
        return self._made[service]

    def _check(self, service: str) -> None:
        if not _NAME.fullmatch(service):
            raise ValueError(
                f"{self._path}: {service!r} is not the name of a service behind the region; "
                'write "ecr.dkr" for com.amazonaws.us-west-2.ecr.dkr'
            )
        if service in GATEWAY_SERVICES:
            raise ValueError(f"{self._path}: {service} needs no interface endpoint; a gateway endpoint is free, and s3 has one")
        room = None if is_unknown(self._cidr) else usable_addresses(self._cidr)
        if room is not None and len(self._made) >= room:
            raise ValueError(
                f"{self._path}: the endpoints' subnet {self._cidr} has {room} addresses, one for each endpoint, and {service} is "
                "one too many; give the network a larger cidr, such as 10.0.0.0/16"
            )


def bucket_policy(region: str) -> iam.PolicyDocument:
    """The policy of a gateway endpoint for S3: the account's own buckets, and those of AWS that nodes read."""
    return iam.PolicyDocument(
        statements=[
            _allow("OwnBuckets", ["s3:*"], ["*"], {"StringEquals": {"aws:ResourceAccount": Aws.ACCOUNT_ID}}),
            _allow("BucketsOfAws", ["s3:GetObject"], [_objects(f"{before}{region}{after}") for before, after in READ_BUCKETS]),
        ]
    )


def foreign_bucket(bucket: s3.IBucket) -> iam.PolicyStatement:
    """The statement that admits a bucket of another account."""
    return _allow(None, ["s3:*"], [bucket.bucket_arn, f"{bucket.bucket_arn}/*"])


def answers_of_functions(region: str) -> iam.PolicyStatement:
    """The statement that lets functions in the VPC answer CloudFormation."""
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
