"""All ways beside those of HyperPod's nodes that surely end: of functions and builds, NAT gateways, resolvers, EKS,
DataSync and Studio."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.copy_ways import copy_ways
from hyperpod_constructs.analysis.interface_ways import Stopped, interface_ways
from hyperpod_constructs.analysis.networks import NAT
from hyperpod_constructs.analysis.node_group_ways import node_group_ways
from hyperpod_constructs.analysis.resolver_ways import resolver_ways
from hyperpod_constructs.analysis.studio_ways import studio_ways
from hyperpod_constructs.analysis.traffic import Traffic
from hyperpod_constructs.analysis.ways import Way, out_of_nat
from hyperpod_constructs.templates.model import Model, resource_of


def ended_ways(model: Model) -> tuple[Stopped, ...]:
    """The ways of a model that surely end; computed once."""
    return model.cached(ended_ways, lambda: tuple(_ended(model)))


def _ended(model: Model) -> Iterator[Stopped]:
    yield from interface_ways(model)
    yield from node_group_ways(model)
    yield from resolver_ways(model)
    yield from copy_ways(model)
    yield from studio_ways(model)
    yield from _nat_ways(model)


def _nat_ways(model: Model) -> Iterator[Stopped]:
    """The ways of public NAT gateways that something routes to."""
    used = {one for route in model.resources("AWS::EC2::Route") if (one := resource_of(route.get("NatGatewayId"), NAT)) is not None}
    for nat in (one for one in model.resources(NAT) if one in used):
        way = Way.of(nat.logical_id, "the internet", Traffic(), [out_of_nat(nat)])
        if way.end is not None:
            yield Stopped(nat, ("SubnetId",), "the internet", way)
