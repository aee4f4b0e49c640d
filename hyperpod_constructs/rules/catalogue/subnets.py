"""Subnets: their size and their zones; EFA and the bandwidth of a file system stay in one zone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.file_systems import MOUNT_TARGET, Lustre, mount_targets_of
from hyperpod_constructs.analysis.networks import ENDPOINT, SUBNET, ExitKind, Zone, in_one_zone, network_facts, places_of_zones
from hyperpod_constructs.analysis.placement import FILE_SYSTEM, NodeGroup, groups_at, node_groups, subnets_of, users_of_file_systems
from hyperpod_constructs.analysis.reachability import users_by_rules
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, security_groups
from hyperpod_constructs.analysis.subnet_needs import TooSmall, too_small
from hyperpod_constructs.facts.listeners import NFS
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.facts.orchestration import TAG_OF_NODE_SUBNETS, TAG_OF_PUBLIC_SUBNETS
from hyperpod_constructs.facts.zones import WRITE_ZONE, absent_mistake, id_mistake, name_mistake
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Text, Value, as_items, as_str, at, is_known

_INTERNAL, _FOR_INTERNET = TAG_OF_NODE_SUBNETS[0], TAG_OF_PUBLIC_SUBNETS[0]
_PREREQUISITES = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html"
_MULTI_ZONE = f"{_PREREQUISITES}#sagemaker-hyperpod-prerequisites-multiple-availability-zones"


@error(
    "HP-SUB-001",
    on=too_small,
    title="subnets are large enough for their nodes and file systems",
    why="a node takes an address for every network card, and on EKS for its pods; the service finds out after it has begun to "
    "provision, and the block of a subnet cannot be changed",
    fix="make the subnet larger now (a /16 holds 2,047 nodes of 32 cards), spread the groups over subnets, or lower the counts",
    allowed="no more than the addresses of the subnet, without the five that AWS keeps",
    source=f"{_PREREQUISITES}#sagemaker-hyperpod-prerequisites-optional-vpc",
)
def subnets_hold_the_nodes(one: TooSmall) -> Hit:
    return hit(one.first, one.message, "CidrBlock")


def _apart(some: Iterable[Zone], others: Iterable[Zone]) -> bool:
    """Whether the two surely have no zone in common."""
    answers = [one.is_same(other) for one in some for other in others]
    return bool(answers) and all(answer is False for answer in answers)


def _zones(group: NodeGroup) -> list[Zone]:
    return [facts.zone for facts in group.subnet_facts()]


def _zones_of(file_system: Resource) -> list[Zone]:
    facts = network_facts(file_system.template.model)
    return [facts.subnet(subnet).zone for subnet in subnets_of(file_system) or ()]


def _shown(zones: Iterable[Zone]) -> str:
    return " and ".join(dict.fromkeys(zone.shown for zone in zones))


def _placed(group: NodeGroup) -> str:
    return f"{group.label} ({_shown(_zones(group))})"


def _users(model: Model) -> Iterator[tuple[Resource, Sequence[NodeGroup]]]:
    """The file systems with the groups that mount them; where none names any, those far from all nodes with a rule for them.

    Over EFA only nodes with EFA reach a file system.
    """
    named = users_of_file_systems(model)
    yield from named.items()
    for system, users in () if named else users_by_rules(model).items():
        near = [one for one in users if one.has_efa] if Lustre(system).efa else users
        if all(_apart(_zones(one), _zones_of(system)) for one in near):
            yield system, near


@warning(
    "HP-SUB-010",
    title="file systems are in the zone of the nodes that mount them",
    why="every read and write crosses zones: slower, billed by the gigabyte, and without EFA",
    fix="put the file system into a subnet of the nodes' zone: it cannot be moved later",
    allowed="a subnet in a zone of the nodes",
    source=_MULTI_ZONE,
)
def file_systems_are_near(model: Model) -> Iterator[Hit]:
    """One hit for the file systems of a subnet, with the groups in other zones that mount all of them."""
    found = ((file_system, _far(file_system, users)) for file_system, users in _users(model))
    alike = grouped(((tuple(subnets_of(one) or ()), text), one) for one, text in found if text is not None)
    for (_, text), (first, *others) in alike.items():
        more = f"; the same for {enumerated(one.logical_id for one in others)}" if others else ""
        # It covers none of the others: with the places of all of them in doubt, what else is wrong with their ways would be hidden.
        yield Hit(first, ("SubnetIds",), f"{text}{more}", first.get("SubnetIds"))


def _far(file_system: Resource, users: Sequence[NodeGroup]) -> str | None:
    zones = _zones_of(file_system)
    far = [_placed(user) for user in users if _apart(_zones(user), zones)]
    return f"it is in {_shown(zones)}, and the nodes of {enumerated(far)} mount it" if far else None


def _is_single(group: NodeGroup) -> bool:
    """Whether the group has one node, without autoscaling."""
    return group.count == 1 and group.cluster.get("AutoScaling", "Mode") in (ABSENT, "Disable")


@warning(
    "HP-SUB-011",
    title="nodes that train together are in one zone",
    why="EFA traffic does not leave its zone: a job over both falls back to TCP, or hangs",
    fix="give the group subnets of one zone, and make another group for the other zone (on Slurm with its own partition)",
    allowed="subnets of one zone for a group with EFA, and for all groups with EFA of a partition",
    source=_MULTI_ZONE,
)
def partitions_are_in_one_zone(model: Model) -> Iterator[Hit]:
    """A group with EFA has subnets of several zones, or is in another zone than a group of the same partition."""
    first: dict[tuple[Resource, str], NodeGroup] = {}
    for group in (group for group in node_groups(model) if group.has_efa):
        zones = _zones(group)
        others = [first.setdefault((group.resource, partition), group) for partition in _partitions(group)]
        apart = next((other for other in others if _apart(zones, _zones(other))), None)
        message = None if apart is None else f"{_placed(group)} and {_placed(apart)} share a partition across zones"
        if not _is_single(group) and any(one.is_same(other) is False for one in zones for other in zones):
            message = f"the nodes of {group.label}, which have EFA, are spread over {_shown(zones)}"
        if message is not None:
            allowed = "subnets of one zone for a group with EFA" if group.cluster.on_eks else None
            yield hit(group.cluster, message, *group.network_path, "Subnets", allowed=allowed)


def _partitions(group: NodeGroup) -> set[str]:
    names = as_items(group.get("SlurmConfig", "PartitionNames")) or ()
    return {name for name in map(as_str, names) if name is not None}


@warning(
    "HP-SUB-012",
    title="groups of one training plan are in one zone",
    why="a plan reserves capacity in one zone: the nodes of a group in another never come",
    fix="put the group into a subnet of the zone that aws sagemaker describe-training-plan names",
    allowed="subnets in the zone of the plan",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html",
)
def training_plans_are_in_one_zone(model: Model) -> Iterator[Hit]:
    """Two groups name the same plan, without a common zone."""
    before: list[tuple[Value, NodeGroup]] = []
    for group in node_groups(model):
        plan = group.get("TrainingPlanArn")
        if not plan or not is_known(plan):
            continue
        apart = [other for known, other in before if known == plan and _apart(_zones(group), _zones(other))]
        if apart:
            yield hit(group, f"{_placed(group)} and {_placed(apart[0])} share a training plan", "TrainingPlanArn")
        before.append((plan, group))


@error(
    "HP-SUB-013",
    on=SUBNET,
    title="zones of subnets are given by name or by id, each in its property",
    why="EC2 refuses the subnet",
    fix=WRITE_ZONE,
    allowed="AvailabilityZone takes a name such as us-west-2a, AvailabilityZoneId an id such as usw2-az4",
    source="https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html",
)
def zones_are_in_their_property(subnet: Resource) -> Iterator[Hit]:
    key, other = "AvailabilityZone", "AvailabilityZoneId"
    name, zone_id = as_str(subnet.get(key)), as_str(subnet.get(other))
    found = {
        key: _of_other_kind(subnet, key) if name is None else name_mistake(key, name, other) or absent_mistake(key, name),
        other: _of_other_kind(subnet, other)
        if zone_id is None
        else id_mistake(other, zone_id, None, key) or absent_mistake(other, zone_id),
    }
    yield from (hit(subnet, mistake, place) for place, mistake in found.items() if mistake is not None)


_ENDS: Mapping[str, tuple[re.Pattern[str], str]] = {
    "AvailabilityZone": (re.compile(r"(?:.*-)?az\d+"), "ends as a zone id, which belongs in AvailabilityZoneId"),
    "AvailabilityZoneId": (re.compile(r".*[a-z]"), "does not end as a zone id; a name belongs in AvailabilityZone"),
}
"""The ends of the other kind, for a zone whose region only the deployment knows."""


def _of_other_kind(subnet: Resource, key: str) -> Mistake | None:
    value, (end, words) = subnet.get(key), _ENDS[key]
    return Mistake(f"{key} {value} {words}", WRITE_ZONE) if isinstance(value, Text) and end.fullmatch(value.suffix) else None


_SPREAD: Mapping[str, tuple[str, ...]] = {
    "AWS::APS::Scraper": ("Source", "EksConfiguration", "SubnetIds"),
    "AWS::DMS::ReplicationSubnetGroup": ("SubnetIds",),
    "AWS::DirectoryService::MicrosoftAD": ("VpcSettings", "SubnetIds"),
    "AWS::DirectoryService::SimpleAD": ("VpcSettings", "SubnetIds"),
    "AWS::DocDB::DBSubnetGroup": ("SubnetIds",),
    "AWS::ElasticLoadBalancingV2::LoadBalancer": ("Subnets",),
    FILE_SYSTEM: ("SubnetIds",),
    "AWS::Neptune::DBSubnetGroup": ("SubnetIds",),
    "AWS::RDS::DBSubnetGroup": ("SubnetIds",),
}
"""Resources whose subnets are in two zones or more; of load balancers, those for applications."""


@error(
    "HP-SUB-014",
    on=tuple(_SPREAD),
    title="databases, directories, scrapers, load balancers for applications and file systems with a standby cover two zones",
    why="the service refuses subnets of one zone (DBSubnetGroupDoesNotCoverEnoughAZs), and the stack rolls back",
    fix="add a subnet in another zone, a small one",
    allowed="subnets in two zones or more",
    source="https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_VPC.WorkingWithRDSInstanceinaVPC.html",
)
def subnets_cover_two_zones(resource: Resource) -> Hit | None:
    path, kind = _SPREAD[resource.type], resource.get("Type")
    known = _subnets_at(resource, *path) if kind in (ABSENT, "application") else []
    least = 2 if resource.type == FILE_SYSTEM else 1
    of_one = as_str(resource.get("FileSystemType")) == "LUSTRE"  # it takes one subnet
    if of_one or len(known) < least or not (len(known) == 1 or in_one_zone(known)):
        return None
    text = f"its subnets ({', '.join(one.logical_id for one in known)}) are in one zone"
    return hit(resource, text, *path, doubts=places_of_zones(known))


_APART: Mapping[str, str] = {
    ENDPOINT: "SubnetIds",
    "AWS::EC2::TransitGatewayAttachment": "SubnetIds",
    "AWS::EC2::TransitGatewayVpcAttachment": "SubnetIds",
    "AWS::ElasticLoadBalancingV2::LoadBalancer": "Subnets",
    "AWS::NetworkFirewall::Firewall": "SubnetMappings",
}
"""Resources with one interface in each zone, by the property with their subnets."""


@error(
    "HP-SUB-015",
    on=tuple(_APART),
    title="endpoints, attachments, firewalls and load balancers have one subnet in each zone",
    why="the service refuses a second subnet of a zone (DuplicateSubnetsInSameZone), and the stack rolls back",
    fix="keep one of the subnets",
    allowed="subnets in different zones",
    source="https://docs.aws.amazon.com/vpc/latest/tgw/tgw-vpc-attachments.html",
)
def subnets_are_in_different_zones(resource: Resource) -> Hit | None:
    key = _APART[resource.type]
    facts = network_facts(resource.template.model)
    found = [facts.subnet(one) for one in dict.fromkeys(_subnets_at(resource, key, all_known=False))]
    for one, other in combinations(found, 2):
        if one.zone.is_same(other.zone):
            text = f"its subnets {one.resource.logical_id} and {other.resource.logical_id} are in one zone"
            return hit(resource, text, key, doubts=((resource, (key,)), *places_of_zones([one.resource, other.resource])))
    return None


@error(
    "HP-SUB-016",
    title="a file system of EFS has one mount target in each zone",
    why="EFS refuses a second one (MountTargetConflict), and the stack rolls back",
    fix="put the mount target into a subnet of another zone, or take it out",
    allowed="mount targets in different zones",
    source="https://docs.aws.amazon.com/efs/latest/ug/API_CreateMountTarget.html",
)
def mount_targets_are_in_different_zones(model: Model) -> Iterator[Hit]:
    targets = [(one, resource_of(one.get("FileSystemId")), _zone_of(one)) for one in model.resources(MOUNT_TARGET) if one.exists]
    for index, (target, system, zone) in enumerate(targets):
        before = [one for one, its, other in targets[:index] if its is system and zone and other and other.is_same(zone)]
        if system is not None and before:
            text = f"{target.logical_id} and {before[0].logical_id} of {system.logical_id} are in one zone"
            subnets = [resource_of(one.get("SubnetId"), SUBNET) for one in (target, before[0])]
            doubts = places_of_zones([one for one in subnets if one is not None])
            yield hit(target, text, "SubnetId", covers=(before[0],), doubts=doubts)


@warning(
    "HP-SUB-017",
    title="a file system of EFS has a mount target in the zone of the nodes that it lets in",
    why="the name of the file system resolves only in the zones of its mount targets: mounts fail on these nodes",
    fix="add a mount target in a subnet of the nodes' zone, or put the one that is there into it",
    allowed="a mount target in a zone of the nodes",
    source="https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-mount-cmd-dns-name.html",
)
def mount_targets_are_near(model: Model) -> Iterator[Hit]:
    for system in dict.fromkeys(resource_of(one.get("FileSystemId")) for one in model.resources(MOUNT_TARGET)):
        targets = [] if system is None else mount_targets_of(system)
        zones = [zone for zone in map(_zone_of, targets) if zone is not None]
        far = [one for one in _let_in(model, targets) if _apart(_zones(one), zones)] if len(zones) == len(targets) else []
        if system is not None and far:
            nodes = enumerated(map(_placed, far))
            text = f"{system.logical_id} is in {_shown(zones)} alone, and lets in the nodes of {nodes}"
            subnets = [one for target in targets if (one := resource_of(target.get("SubnetId"), SUBNET)) is not None]
            yield hit(targets[0], text, "SubnetId", covers=(system, *targets[1:]), doubts=places_of_zones(subnets))


def _let_in(model: Model, targets: Iterable[Resource]) -> list[NodeGroup]:
    """The groups of nodes with a security group that a mount target, which is in another one, lets in."""
    owned = {group for target in targets for group in groups_at(target, "SecurityGroups") or ()}
    rules = [rule for group in owned for rule in security_groups(model).of(group).in_direction("ingress")]
    nfs = [rule.peer_group for rule in rules if rule.covers_traffic("tcp", NFS)]
    peers = {peer for one in nfs if (peer := resource_of(one, SECURITY_GROUP)) is not None} - owned
    return [group for group in node_groups(model) if not peers.isdisjoint(group.security_groups or ())]


def _zone_of(target: Resource) -> Zone | None:
    subnet = resource_of(target.get("SubnetId"), SUBNET)
    return None if subnet is None else network_facts(target.template.model).subnet(subnet).zone


@warning(
    "HP-SUB-018",
    on=SUBNET,
    at=("Tags",),
    title="the tag for load balancers of Kubernetes fits the routes of the subnet",
    why="a load balancer for the internet is in a subnet that nobody reaches from there, or an internal one has addresses that the "
    "internet routes to",
    fix="move the tag to a subnet of the other kind",
    allowed=f"{_FOR_INTERNET} on subnets with a route to an internet gateway, {_INTERNAL} on others",
    source="https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html",
    last=True,
)
def tags_of_balancers_fit_the_routes(subnet: Resource) -> str | None:
    """A guide of HyperPod has the tag for the internet on all subnets: it is wrong on a private one beside others' own."""
    keys = _tags(subnet)
    exit_ = network_facts(subnet.template.model).subnet(subnet).exit.kind if keys & {_FOR_INTERNET, _INTERNAL} else ExitKind.UNKNOWN
    if exit_ is ExitKind.UNKNOWN:
        return None
    is_public = exit_ is ExitKind.INTERNET_GATEWAY
    if is_public and _INTERNAL in keys and _FOR_INTERNET not in keys:
        return f"{subnet.logical_id} has a route to an internet gateway and the tag {_INTERNAL}"
    others = (one for one in subnet.template.model.resources(SUBNET) if _INTERNAL in _tags(one))
    moved = not is_public and _FOR_INTERNET in keys and _INTERNAL not in keys and any(others)
    return f"{subnet.logical_id} has the tag {_FOR_INTERNET} and {exit_.value}" if moved else None


def _tags(resource: Resource) -> set[str | None]:
    return {as_str(at(one, "Key")) for one in as_items(resource.get("Tags")) or ()}


def _subnets_at(resource: Resource, *path: str, all_known: bool = True) -> list[Resource]:
    """The subnets of a resource that are in the model.

    :param all_known: whether none are returned where one is not of the model; true by default.
    """
    items = as_items(resource.get(*path)) or ()
    subnets = [resource_of(at(item, "SubnetId") if isinstance(item, Mapping) else item, SUBNET) for item in items]
    known = [one for one in subnets if one is not None]
    return known if len(known) == len(subnets) or not all_known else []
