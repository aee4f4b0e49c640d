"""All ways beside those of HyperPod's nodes that surely end: of functions and builds, NAT gateways, load balancers, resolvers,
EKS, DataSync, rotations and Studio."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.copy_ways import copy_ways
from hyperpod_constructs.analysis.interface_ways import Stopped, interface_ways
from hyperpod_constructs.analysis.networks import NAT, SUBNET, network_facts
from hyperpod_constructs.analysis.node_group_ways import node_group_ways
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.resolver_ways import resolver_ways
from hyperpod_constructs.analysis.rotation_ways import rotation_ways
from hyperpod_constructs.analysis.scraped_ports import scraped_ports
from hyperpod_constructs.analysis.studio_ways import studio_ways
from hyperpod_constructs.analysis.target_ways import target_ways
from hyperpod_constructs.analysis.traffic import Traffic
from hyperpod_constructs.analysis.ways import Way, by_gateway, out_of_nat
from hyperpod_constructs.templates.model import Model, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_str

_BALANCER = "AWS::ElasticLoadBalancingV2::LoadBalancer"


def ended_ways(model: Model) -> tuple[Stopped, ...]:
    """The ways of a model that surely end; computed once."""
    return model.cached(ended_ways, lambda: tuple(_ended(model)))


def _ended(model: Model) -> Iterator[Stopped]:
    yield from interface_ways(model)
    yield from node_group_ways(model)
    yield from scraped_ports(model)
    yield from resolver_ways(model)
    yield from copy_ways(model)
    yield from rotation_ways(model)
    yield from studio_ways(model)
    yield from _nat_ways(model)
    yield from _balancer_ways(model)
    yield from target_ways(model)


def _nat_ways(model: Model) -> Iterator[Stopped]:
    """The ways of public NAT gateways that something routes to."""
    used = {one for route in model.resources("AWS::EC2::Route") if (one := resource_of(route.get("NatGatewayId"), NAT)) is not None}
    for nat in (one for one in model.resources(NAT) if one in used):
        way = Way.of(nat.logical_id, "the internet", Traffic(), [out_of_nat(nat)])
        if way.end is not None:
            yield Stopped(nat, ("SubnetId",), "the internet", way)


def _balancer_ways(model: Model) -> Iterator[Stopped]:
    """The ways of load balancers that face the internet, which is what they do by default; the first subnet of each."""
    for one in model.resources(_BALANCER):
        faces = one.get("Scheme") is ABSENT or as_str(one.get("Scheme")) == "internet-facing"
        places = [*place_in(one.properties, "Subnets/*"), *place_in(one.properties, "SubnetMappings/*/SubnetId")]
        for path, named in places if faces and one.exists and as_str(one.get("Type")) != "gateway" else ():
            subnet = resource_of(named, SUBNET)
            hops = [] if subnet is None else [by_gateway(one, network_facts(model).subnet(subnet), *path)]
            way = Way.of(one.logical_id, "the internet", Traffic(), hops)
            if way.end is not None:
                yield Stopped(one, (str(path[0]),), "the internet", way)
                break
