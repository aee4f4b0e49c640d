"""The ways of load balancers to instances that are their targets.

A load balancer uses targets in zones in which it has a subnet, and the groups of a target let in the load balancer's.

Source: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-troubleshooting.html (as of 2026-11-30)
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.forwarders import INSTANCE, groups_of, subnet_of
from hyperpod_constructs.analysis.half_rules import half_rules
from hyperpod_constructs.analysis.interface_ways import Stopped
from hyperpod_constructs.analysis.listeners import mute_balancers, targets_of
from hyperpod_constructs.analysis.networks import SUBNET, Subnet, network_facts
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.placement import groups_at
from hyperpod_constructs.analysis.security_groups import security_groups
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Hop, Way, through_groups
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_int, as_items, as_str, at

_BALANCER, _LISTENER = (f"AWS::ElasticLoadBalancingV2::{kind}" for kind in ("LoadBalancer", "Listener"))


def target_ways(model: Model) -> Iterator[Stopped]:
    """The ways of load balancers to their targets that surely end, but those that they let nothing out to."""
    joined = [(resource_of(one.get("LoadBalancerArn"), _BALANCER), one) for one in model.resources(_LISTENER)]
    pairs = dict.fromkeys((one, targets) for one, listener in joined if one is not None for targets in targets_of(listener))
    mute = {(one.balancer, one.targets) for one in mute_balancers(model)} if pairs else set()
    for balancer, targets in pairs:
        if (balancer, targets) not in mute and balancer.exists and targets.exists and model.complete:
            yield from _to(balancer, targets)


def _to(balancer: Resource, targets: Resource) -> Iterator[Stopped]:
    subnets = _subnets(balancer)
    for item in as_items(targets.get("Targets")) or ():
        instance, given = resource_of(at(item, "Id"), INSTANCE), at(item, "Port")
        port = as_int(targets.get("Port") if given is ABSENT else given)
        if instance is not None and instance.exists and port is not None and subnets is not None:
            traffic = Traffic("tcp", range(port, port + 1))
            hops = [*_in_zones(balancer, subnets, targets, instance), *_groups(balancer, subnets, instance, traffic)]
            way = Way.of(balancer.logical_id, instance.logical_id, traffic, hops)
            if way.end is not None:
                yield Stopped(balancer, ("Subnets",), instance.logical_id, way)


def _subnets(balancer: Resource) -> tuple[Subnet, ...] | None:
    """The subnets of a load balancer; `None` if they are not all known."""
    items: Value = balancer.get("Subnets")
    named = [*(as_items(items) or ()), *(value for _, value in place_in(balancer.properties, "SubnetMappings/*/SubnetId"))]
    found = [resource_of(one, SUBNET) for one in named]
    facts = network_facts(balancer.template.model)
    return None if None in found or not found else tuple(facts.subnet(one) for one in found if one is not None)


def _in_zones(balancer: Resource, subnets: tuple[Subnet, ...], targets: Resource, instance: Resource) -> Iterator[Hop]:
    own = subnet_of(instance)
    if own is not None and all(one.zone.is_same(own.zone) is False for one in subnets):
        says = f"is in {own.resource.logical_id}, in whose zone {balancer.logical_id} has no subnet"
        yield Hop(instance, False, says, ("SubnetId",), covers=(targets,))


def _groups(balancer: Resource, subnets: tuple[Subnet, ...], instance: Resource, traffic: Traffic) -> Iterator[Hop]:
    """The groups of a target, unless a rule to them has no other half, which is the mistake then.

    A load balancer for networks may send as its clients, whom nobody knows.
    """
    own, groups = groups_at(balancer, "SecurityGroups"), groups_of(instance)
    if own and groups is not None and as_str(balancer.get("Type")) in ("application", None):
        source = Side(balancer.logical_id, tuple(security_groups(one.template.model).of(one) for one in own), subnets)
        target = Side(instance.logical_id, groups)
        halves = [one for one in half_rules(balancer.template.model) if one.group in own and one.target in target.resources]
        yield from through_groups(target, "ingress", source, traffic) if not halves else ()
