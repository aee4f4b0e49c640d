"""The ways of nodes that EKS manages, and of its pods on Fargate, to what they do not start without."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.interface_ways import Stopped
from hyperpod_constructs.analysis.networks import SUBNET, ExitKind, Subnet, network_facts
from hyperpod_constructs.analysis.service_ways import to_service
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Way
from hyperpod_constructs.facts.connections import SERVICES, Service, Use
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_bool, as_items

_NODES, _PODS = "AWS::EKS::Nodegroup", "AWS::EKS::FargateProfile"
_OF_PODS = ("ecr.api", "ecr.dkr", "s3")


def node_group_ways(model: Model) -> Iterator[Stopped]:
    """The ways of managed nodes and of pods on Fargate that surely end."""
    for user in model.resources(_NODES, _PODS):
        subnets = [resource_of(one, SUBNET) for one in as_items(user.get("Subnets")) or ()]
        for subnet in (network_facts(model).subnet(one) for one in subnets if one is not None):
            for service in _services(user) if not _may_be_public(user, subnet) else ():
                source = Side(user.logical_id, None, (subnet,))
                way = Way.of(source.name, service.name, Traffic(), to_service(source, service))
                if way.end is not None:
                    yield Stopped(user, ("Subnets",), service.name, way)


def _services(user: Resource) -> Iterator[Service]:
    nodes = user.type == _NODES
    return (one for one in SERVICES if (Use.KUBERNETES in one.fatal if nodes else one.name in _OF_PODS))


def _may_be_public(user: Resource, subnet: Subnet) -> bool:
    """Whether nodes may have public addresses: by their subnet, or by the interfaces of their launch template."""
    if user.type == _PODS or subnet.exit.kind is not ExitKind.INTERNET_GATEWAY:
        return False
    mapped, template = subnet.resource.get("MapPublicIpOnLaunch"), user.get("LaunchTemplate")
    named = resource_of(user.get("LaunchTemplate", "Id"))
    plain = template is ABSENT or (named is not None and given(named.get("LaunchTemplateData", "NetworkInterfaces")) is False)
    return not plain or not (mapped is ABSENT or as_bool(mapped) is False)
