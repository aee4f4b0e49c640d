"""A network that exists already, by CDK's look-ups, whose answers the project keeps in `cdk.context.json`."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.network.node_network import ExistingNetwork


def looked_up(scope: Construct, path: str, vpc_id: str, node_subnet_id: str, security_group_id: str) -> ExistingNetwork:
    """The network with these ids.

    :raises ValueError: for a subnet that is public or not in the VPC.
    """
    vpc = ec2.Vpc.from_lookup(scope, "Vpc", vpc_id=vpc_id)
    return ExistingNetwork(
        vpc=vpc,
        node_subnet=_subnet(path, vpc, node_subnet_id),
        security_group=ec2.SecurityGroup.from_lookup_by_id(scope, "SecurityGroup", security_group_id),
    )


def _subnet(path: str, vpc: ec2.IVpc, wanted: str) -> ec2.ISubnet:
    private = {one.subnet_id: one for one in (*vpc.private_subnets, *vpc.isolated_subnets)}
    if wanted in private:
        return private[wanted]
    unknown = [one for id, one in private.items() if is_unknown(id)]
    if unknown:  # the look-up has no answer yet
        return unknown[0]
    public = [one.subnet_id for one in vpc.public_subnets]
    why = "is public, and nodes have no public addresses" if wanted in public else f"is not in {vpc.vpc_id}"
    raise ValueError(f"{path}: node_subnet_id {wanted!r} {why}; {_private(list(private))}")


def _private(known: Sequence[str]) -> str:
    return f"its private subnets are {', '.join(known)}" if known else "the VPC has no private subnet"
