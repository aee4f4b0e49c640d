"""The interface endpoints by which a network reaches services of AWS without the internet."""

from __future__ import annotations

import re

from aws_cdk import CfnTag
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_constructs._support.network_checks import usable_addresses
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.facts.connections import GATEWAY_SERVICES

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
