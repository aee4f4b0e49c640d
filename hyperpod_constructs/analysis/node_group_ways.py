"""The ways of nodes that EKS manages, of its pods on Fargate, and of scrapers, to what they do not work without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.control_plane_ways import side_of_control_plane, to_control_plane
from hyperpod_constructs.analysis.interface_ways import Stopped
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters
from hyperpod_constructs.analysis.networks import SUBNET, ExitKind, Subnet, network_facts
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, SecurityGroup, is_resource, security_groups
from hyperpod_constructs.analysis.service_ways import to_service
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Hop, Way
from hyperpod_constructs.facts.connections import SERVICES, Service, Use
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_items, at

_NODES, _PODS = "AWS::EKS::Nodegroup", "AWS::EKS::FargateProfile"
_TEMPLATE, _API = "AWS::EC2::LaunchTemplate", "the Kubernetes API"
_SCRAPER, _SCRAPED = "AWS::APS::Scraper", ("Source", "EksConfiguration")
_OF_PODS = ("ecr.api", "ecr.dkr", "s3")


def node_group_ways(model: Model) -> Iterator[Stopped]:
    """The ways of managed nodes, of pods on Fargate and of scrapers that surely end."""
    for user in model.resources(_NODES, _PODS):
        subnets = [resource_of(one, SUBNET) for one in as_items(user.get("Subnets")) or ()]
        for subnet in (network_facts(model).subnet(one) for one in subnets if one is not None):
            for service in _services(user) if not _may_be_public(user, subnet) else ():
                source = Side(user.logical_id, None, (subnet,))
                way = Way.of(source.name, service.name, Traffic(), to_service(source, service))
                if way.end is not None:
                    yield Stopped(user, ("Subnets",), service.name, way)
    for eks in eks_clusters(model):
        for nodes in eks.node_groups:
            template = resource_of(nodes.get("LaunchTemplate", "Id"), _TEMPLATE)
            data = ABSENT if template is None else template.get("LaunchTemplateData")
            if template is not None:
                yield from _to_control_plane(nodes, ("Subnets",), template, ("LaunchTemplateData",), _named_by(data), eks)
    for scraper in model.resources(_SCRAPER):
        of_scraper = EksCluster.of(scraper.get(*_SCRAPED, "ClusterArn"))
        named, path = as_items(scraper.get(*_SCRAPED, "SecurityGroupIds")) or (), (*_SCRAPED, "SecurityGroupIds")
        if of_scraper is not None:
            yield from _to_control_plane(scraper, (*_SCRAPED, "SubnetIds"), scraper, path, named, of_scraper)


def _named_by(data: Value) -> tuple[Value, ...]:
    """The groups that the data of a launch template names."""
    interfaces = as_items(at(data, "NetworkInterfaces")) or ()
    groups = (one for each in interfaces for one in as_items(at(each, "Groups")) or ())
    return (*(as_items(at(data, "SecurityGroupIds")) or ()), *groups)


def _to_control_plane(
    user: Resource, subnets: tuple[str, ...], place: Resource, path: tuple[str, ...], named: Sequence[Value], eks: EksCluster
) -> Iterator[Stopped]:
    """The way to a control plane of what has groups of its own: EKS then leaves the group of the cluster out.

    :param subnets: the property of the user with its subnets.
    :param place: the resource that names the groups, at a path.
    """
    network, groups = network_facts(eks.resource.template.model), _known(named, eks)
    doors = (eks.resource, *side_of_control_plane(eks).resources) if groups else ()
    for subnet in (resource_of(one, SUBNET) for one in as_items(user.get(*subnets)) or ()) if groups else ():
        source = Side(user.logical_id, groups, None if subnet is None else (network.subnet(subnet),))
        end = Way.of(source.name, _API, Traffic(), to_control_plane(source, eks)).end if source.subnets else None
        if end is not None and end.resource in doors:
            names, door = enumerated(one.logical_id for one in source.resources), end.resource.logical_id
            covers = (user, eks.resource, *source.resources)
            end = Hop(place, False, f"names {names}, and {door} {end.says}", path, covers=covers)
        if end is not None and end.resource in (place, *source.resources):
            yield Stopped(user, path if place is user else ("LaunchTemplate",), _API, Way.of(source.name, _API, Traffic(), [end]))
            return


def _known(named: Sequence[Value], eks: EksCluster) -> tuple[SecurityGroup, ...] | None:
    """These groups, that of the control plane too; `None` if one is not known."""
    facts = security_groups(eks.resource.template.model)
    made, found = facts.made_by(eks.resource), [resource_of(one, SECURITY_GROUP) for one in named]
    own = [made if is_resource(one, eks.resource) is True else None for one in named]
    known = [one or (None if group is None else facts.of(group)) for one, group in zip(own, found, strict=True)]
    return None if None in known else tuple(one for one in known if one is not None)


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
