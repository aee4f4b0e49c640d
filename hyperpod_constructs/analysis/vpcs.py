"""Resources that work together and are in two VPCs, and the resource to edit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from hyperpod_constructs.analysis.far_groups import FarRule, far_rules
from hyperpod_constructs.analysis.networks import ENDPOINT, VPC
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, node_groups
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, at

Path: TypeAlias = tuple[str | int, ...]
Vpc: TypeAlias = "Resource | str"

_SUBNET_GROUPS = {"CacheSubnetGroupName": "AWS::ElastiCache::SubnetGroup", "DBSubnetGroupName": ""}
"""Properties that name a group of subnets, each with its type; empty for that of the service."""
_LISTENER = "AWS::ElasticLoadBalancingV2::Listener"
_DEFAULT = "the default VPC"
"""Where a security group without VpcId is: in no VPC that a template makes.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-securitygroup.html
"""
_IDS, _GROUPS = ("SubnetIds",), ("SecurityGroupIds",)
_IN_CONFIG = (("VpcConfig", "SubnetIds"), ("VpcConfig", "SecurityGroupIds"))
_NAMES: Mapping[str, tuple[Path, ...]] = {
    FILE_SYSTEM: (_IDS, _GROUPS),
    ENDPOINT: (_IDS, _GROUPS, ("RouteTableIds",)),
    "AWS::ApiGatewayV2::VpcLink": (_IDS, _GROUPS),
    "AWS::DocDB::DBCluster": (("VpcSecurityGroupIds",),),
    "AWS::DocDB::DBSubnetGroup": (_IDS,),
    "AWS::EC2::Instance": (("SubnetId",), _GROUPS),
    "AWS::EC2::SubnetNetworkAclAssociation": (("SubnetId",), ("NetworkAclId",)),
    "AWS::EC2::SubnetRouteTableAssociation": (("SubnetId",), ("RouteTableId",)),
    "AWS::EC2::TransitGatewayAttachment": (_IDS,),
    "AWS::EC2::TransitGatewayVpcAttachment": (_IDS,),
    "AWS::EFS::MountTarget": (("SubnetId",), ("SecurityGroups",)),
    "AWS::EKS::Cluster": (("ResourcesVpcConfig", "SubnetIds"), ("ResourcesVpcConfig", "SecurityGroupIds")),
    "AWS::EKS::Nodegroup": (("Subnets",),),
    "AWS::ElastiCache::ReplicationGroup": (_GROUPS,),
    "AWS::ElastiCache::SubnetGroup": (_IDS,),
    _LISTENER: (("DefaultActions", "*", "TargetGroupArn"),),
    "AWS::ElasticLoadBalancingV2::LoadBalancer": (("Subnets",), ("SecurityGroups",)),
    "AWS::Lambda::Function": _IN_CONFIG,
    "AWS::Neptune::DBSubnetGroup": (_IDS,),
    "AWS::NetworkFirewall::Firewall": (("SubnetMappings", "*", "SubnetId"),),
    "AWS::OpenSearchService::Domain": (("VPCOptions", "SubnetIds"), ("VPCOptions", "SecurityGroupIds")),
    "AWS::RDS::DBCluster": (("VpcSecurityGroupIds",),),
    "AWS::RDS::DBInstance": (("VPCSecurityGroups",),),
    "AWS::RDS::DBSubnetGroup": (_IDS,),
    "AWS::Route53Resolver::ResolverEndpoint": (("IpAddresses", "*", "SubnetId"), _GROUPS),
    "AWS::SageMaker::Domain": (_IDS, ("DefaultUserSettings", "SecurityGroups")),
}
"""Properties by which a resource names others that must be in one VPC with each other, and with itself."""


@dataclass(frozen=True)
class Member:
    """A resource in a VPC that works with others, named at a place of the resource that joins them."""

    resource: Resource
    vpc: Vpc
    path: Path


@dataclass(frozen=True)
class Stray:
    """A place at which a resource of another VPC is named, or the resource itself where it is in the wrong one."""

    resource: Resource
    path: Path
    joining: Resource
    one: Member
    other: Member


def strays(model: Model) -> Iterator[Stray]:
    """One for each mistake: the resource that agrees with none of those that it works with, or the place that names it."""
    joints = list(_joints(model))
    agreeing = {one.resource for _, members in joints for one in members if _vpcs(members, but=one) & {one.vpc}}
    times = Counter(one.resource for _, members in joints if len(_vpcs(members)) > 1 for one in members)
    found: dict[tuple[Resource, Path], Stray] = {}
    for joining, members in joints:
        odd = next((one for one in members[1:] if one.vpc != members[0].vpc), None)
        if odd is not None:
            stray = _stray(joining, members[0], odd, agreeing, times)
            found.setdefault((stray.resource, stray.path), stray)
    yield from found.values()
    apart = {one.resource for one in found.values()}
    yield from (_far(one) for one in far_rules(model) if apart.isdisjoint((one.group, one.peer)))


def _far(one: FarRule) -> Stray:
    own, far = (Member(group, _vpc_of(group) or "", one.path) for group in (one.group, one.peer))
    return Stray(one.rule.resource, one.path, one.rule.resource, own, far)


def _stray(joining: Resource, first: Member, odd: Member, agreeing: set[Resource], times: Counter[Resource]) -> Stray:
    lonely = [one for one in (first, odd) if one.resource not in agreeing]
    if not lonely:
        return Stray(joining, odd.path, joining, first, odd)
    wrong = max(reversed(lonely), key=lambda one: times[one.resource])
    return Stray(wrong.resource, ("VpcId",), joining, first, odd)


def _vpcs(members: list[Member], but: Member | None = None) -> set[Vpc]:
    return {one.vpc for one in members if one is not but}


def _joints(model: Model) -> Iterator[tuple[Resource, list[Member]]]:
    """The resources that join others, each with those whose VPC is known."""
    return ((joining, _comparable(members)) for joining, members in _every_joint(model))


def _comparable(members: list[Member]) -> list[Member]:
    """Those whose VPCs surely differ if they are written otherwise: a VPC that is given by its id may be the default one."""
    given = any(isinstance(one.vpc, str) and one.vpc != _DEFAULT for one in members)
    return [one for one in members if one.vpc != _DEFAULT or not given]


def _every_joint(model: Model) -> Iterator[tuple[Resource, list[Member]]]:
    for group in node_groups(model):
        paths = [(*group.network_path, key) for key in ("Subnets", "SecurityGroupIds")]
        yield group.resource, [one for path in paths for one in _named(group.resource, path)]
    for joining in model.resources(*_NAMES):
        own = _vpc_of(joining)
        itself = [] if own is None else [Member(joining, own, ("VpcId",))]
        named = (one for path in _NAMES[joining.type] for one in _named(joining, path))
        yield joining, [*itself, *_by_another(joining), *named]


def _by_another(joining: Resource) -> Iterator[Member]:
    """The subnets of the group of subnets of a database or a cache, and of the load balancer of a listener."""
    for key, type_ in _SUBNET_GROUPS.items():
        group = resource_of(joining.get(key), *([type_] if type_ else [f"{joining.type.rpartition('::')[0]}::DBSubnetGroup"]))
        if group is not None:
            yield from (replace(one, path=(key,)) for one in _named(group, _IDS))
    balancer = resource_of(joining.get("LoadBalancerArn")) if joining.type == _LISTENER else None
    if balancer is not None:
        yield from (replace(one, path=("LoadBalancerArn",)) for one in _named(balancer, ("Subnets",)))


def _named(joining: Resource, path: Path) -> Iterator[Member]:
    places = place_in(joining.get(), "/".join(map(str, path))) if "*" in path else [(path, at(joining.get(), *path))]
    for place, value in places:
        for item in value if isinstance(value, tuple) else (value,):
            named = resource_of(item)
            vpc = None if named is None else _vpc_of(named)
            if named is not None and vpc is not None:
                yield Member(named, vpc, place)


def _vpc_of(one: Resource) -> Vpc | None:
    value: Value = one.get("VpcId")
    if value is ABSENT and one.type == SECURITY_GROUP:
        return _DEFAULT
    return value if isinstance(value, str) else resource_of(value, VPC)


def name_of(vpc: Vpc) -> str:
    """The name of a VPC in a sentence."""
    return vpc.logical_id if isinstance(vpc, Resource) else vpc
