"""Rules of security groups that name a group of a VPC which nothing joins to theirs.

EC2 knows a group of another VPC by a peering, or by a transit gateway with SecurityGroupReferencingSupport.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/security-group-rules.html and
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateTransitGatewayVpcAttachmentRequestOptions.html (as of 2026-11-30)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.networks import VPC
from hyperpod_constructs.analysis.security_groups import PEER_GROUP, SECURITY_GROUP, GroupRule, security_groups
from hyperpod_constructs.analysis.transit import ATTACHMENTS, GATEWAY
from hyperpod_constructs.analysis.ways import CONNECTIONS, PEERING
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_str

_SUPPORT = "SecurityGroupReferencingSupport"


class FarRule(NamedTuple):
    """A rule of a group that names one of another VPC."""

    rule: GroupRule
    group: Resource
    peer: Resource

    @property
    def path(self) -> tuple[str | int, ...]:
        """The place of the other group in the resource of the rule."""
        return (*self.rule.path, PEER_GROUP[self.rule.direction])


def far_rules(model: Model) -> Iterator[FarRule]:
    """The rules whose other group surely is in a VPC that nothing joins to theirs."""
    groups = model.resources(SECURITY_GROUP) if model.complete and len(model.resources(VPC)) > 1 else ()
    for group in groups:
        own = resource_of(group.get("VpcId"), VPC)
        for rule in security_groups(model).of(group).rules if own is not None else ():
            peer = resource_of(rule.peer_group, SECURITY_GROUP)
            far = None if peer is None or peer is group else resource_of(peer.get("VpcId"), VPC)
            if peer is not None and own is not None and far not in (None, own) and not _know_each_other(model, own, far):
                yield FarRule(rule, group, peer)


def _know_each_other(model: Model, one: Resource, other: Resource | None) -> bool:
    """Whether groups of two VPCs may name each other."""
    return any({one, other} <= ends or (None in ends and ends & {one, other}) for ends in _pairs(model))


def _pairs(model: Model) -> list[set[Resource | None]]:
    """The VPCs of each connection by which groups know each other, `None` for one that is not known; computed once."""
    return model.cached(_pairs, lambda: [*_joined(model)])


def _joined(model: Model) -> Iterator[set[Resource | None]]:
    for one in model.resources(*CONNECTIONS):
        if one.type == PEERING:
            yield {resource_of(one.get(key), VPC) for key in ("VpcId", "PeerVpcId")}
        elif one.type not in ATTACHMENTS:
            yield {resource_of(one.get("VpcId"), VPC), None}
    attached = [(one, resource_of(one.get("TransitGatewayId"), GATEWAY)) for one in model.resources(*ATTACHMENTS)]
    unknown = {resource_of(one.get("VpcId"), VPC) for one, gateway in attached if gateway is None}
    yield from ({vpc, None} for vpc in unknown)
    for gateway, those in grouped((gateway, one) for one, gateway in attached if gateway is not None).items():
        if not _is_off(gateway.get(_SUPPORT), default=True):
            yield {resource_of(one.get("VpcId"), VPC) for one in those if not _is_off(one.get("Options", _SUPPORT), default=False)}


def _is_off(value: Value, *, default: bool) -> bool:
    return default if value is ABSENT else as_str(value) == "disable"
