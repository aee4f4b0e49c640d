"""Rules on availability zones: EFA and the bandwidth of a file system do not cross them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hyperpod_constructs.rules.facts.clusters import hit
from hyperpod_constructs.rules.facts.networks import SUBNET, Zone, network_facts
from hyperpod_constructs.rules.facts.placement import NodeGroup, node_groups, subnets_of
from hyperpod_constructs.rules.finding import Hit, Level
from hyperpod_constructs.rules.rule import rule
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import ABSENT, Value, as_items, as_str, is_known
from hyperpod_constructs.rules.zone_names import id_mistake, name_mistake

_PREREQUISITES = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html"
_MULTI_ZONE = f"{_PREREQUISITES}#sagemaker-hyperpod-prerequisites-multiple-availability-zones"


def _apart(some: Iterable[Zone], others: Iterable[Zone]) -> bool:
    """Whether no zone of the one is a zone of the other, for sure."""
    answers = [one.is_same(other) for one in some for other in others]
    return bool(answers) and all(answer is False for answer in answers)


def _zones(group: NodeGroup) -> list[Zone]:
    return [facts.zone for facts in group.subnet_facts()]


def _shown(zones: Iterable[Zone]) -> str:
    names = [as_str(zone.id) or as_str(zone.name) or "?" for zone in zones]
    return " and ".join(dict.fromkeys(names))


@rule(
    "HP-SUB-010",
    Level.WARNING,
    title="file systems are in the zone of the nodes that mount them",
    why="every read and write crosses zones: slower, billed by the gigabyte, and without EFA",
    fix="put the file system into a subnet of the nodes' zone: it cannot be moved later",
    allowed="a subnet in a zone of the nodes",
    source=_MULTI_ZONE,
)
def file_systems_are_near(model: Model) -> Iterator[Hit]:
    """One hit for each file system, with the groups that are elsewhere."""
    far: dict[Resource, list[NodeGroup]] = {}
    for group in node_groups(model):
        for file_system in group.mounts:
            if _apart(_zones(group), _zones_of(file_system)):
                far.setdefault(file_system, []).append(group)
    for file_system, users in far.items():
        where = ", ".join(f"{user.name} ({_shown(_zones(user))})" for user in users)
        message = f"it is in {_shown(_zones_of(file_system))}, and the nodes of {where} mount it"
        yield Hit(file_system, ("SubnetIds",), message, found=file_system.get("SubnetIds"))


def _zones_of(file_system: Resource) -> list[Zone]:
    facts = network_facts(file_system.template.model)
    return [facts.subnet(subnet).zone for subnet in subnets_of(file_system) or ()]


_ON_EKS = (
    "give the group subnets of one zone, and make another group for the other zone",
    "subnets of one zone for a group with EFA",
)
"""Fix and what is allowed, where there are no partitions."""


def _is_single(group: NodeGroup) -> bool:
    """Whether the group has one node, and no autoscaling can give it more."""
    return group.group.count == 1 and group.cluster.get("AutoScaling", "Mode") in (ABSENT, "Disable")


@rule(
    "HP-SUB-011",
    Level.WARNING,
    title="nodes that train together are in one zone",
    why="EFA traffic does not leave its zone: a job over both falls back to TCP, or hangs",
    fix="give the group subnets of one zone, and for the other zone make another group with its own partition",
    allowed="subnets of one zone for all groups with EFA of a partition",
    source=_MULTI_ZONE,
)
def partitions_are_in_one_zone(model: Model) -> Iterator[Hit]:
    """A group with EFA has subnets of several zones, or is in another zone than one of the same partition."""
    first: dict[tuple[Resource, str], NodeGroup] = {}
    for group in (group for group in node_groups(model) if group.has_efa):
        zones = _zones(group)
        others = [first.setdefault((group.cluster, partition), group) for partition in _partitions(group)]
        apart = [other for other in others if _apart(zones, _zones(other))]
        path = (*group.network_path, "Subnets")
        if not _is_single(group) and any(one.is_same(other) is False for one in zones for other in zones):
            message = f"the nodes of {group.name}, which have EFA, are spread over {_shown(zones)}"
            fix, allowed = _ON_EKS if group.owner.on_eks else (None, None)
            yield Hit(group.cluster, path, message, found=group.cluster.get(*path), fix=fix, allowed=allowed)
        elif apart:
            message = (
                f"{group.name} ({_shown(zones)}) and {apart[0].name} ({_shown(_zones(apart[0]))}) share a partition across zones"
            )
            yield Hit(group.cluster, path, message, found=group.cluster.get(*path))


def _partitions(group: NodeGroup) -> set[str]:
    names = as_items(group.group.get("SlurmConfig", "PartitionNames")) or ()
    return {name for name in map(as_str, names) if name is not None}


@rule(
    "HP-SUB-012",
    Level.WARNING,
    title="groups of one training plan are in one zone",
    why="a plan reserves capacity in one zone: the nodes of a group in another never come",
    fix="put the group into a subnet of the zone that aws sagemaker describe-training-plan names",
    allowed="subnets in the zone of the plan",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/reserve-capacity-with-training-plans.html",
)
def training_plans_are_in_one_zone(model: Model) -> Iterator[Hit]:
    """Two groups name the same plan, and no zone is both's."""
    before: list[tuple[Value, NodeGroup]] = []
    for group in node_groups(model):
        plan = group.group.get("TrainingPlanArn")
        if not plan or not is_known(plan):
            continue
        apart = [other for known, other in before if known == plan and _apart(_zones(group), _zones(other))]
        if apart:
            message = (
                f"{group.name} ({_shown(_zones(group))}) and {apart[0].name} ({_shown(_zones(apart[0]))}) share a training plan"
            )
            yield Hit(group.cluster, group.path("TrainingPlanArn"), message, found=plan)
        before.append((plan, group))


@rule(
    "HP-SUB-013",
    Level.ERROR,
    title="subnets are in a zone of their stack's region",
    why="EC2 refuses the subnet, or the subnet lies where no capacity was bought",
    fix="write the zone that your capacity was sold in: AvailabilityZoneId: usw2-az4",
    allowed="AvailabilityZone takes a name such as us-west-2a, AvailabilityZoneId an id such as usw2-az4",
    source="https://docs.aws.amazon.com/ram/latest/userguide/working-with-az-ids.html",
)
def zones_are_of_the_region(model: Model) -> Iterator[Hit]:
    """An id where a name belongs, a name where an id belongs, or a zone of another region."""
    for subnet in model.resources(SUBNET):
        region = subnet.template.environment.region
        name, zone_id = as_str(subnet.get("AvailabilityZone")), as_str(subnet.get("AvailabilityZoneId"))
        mistake = None if name is None else name_mistake("AvailabilityZone", name, "AvailabilityZoneId")
        if mistake:
            yield hit(subnet, ("AvailabilityZone",), mistake, name)
        elif name is not None and region is not None and not name.startswith(region):
            message = f"AvailabilityZone {name!r} is not in region {region}"
            yield Hit(subnet, ("AvailabilityZone",), message, found=name, fix=f"write one that starts with {region}")
        mistake = None if zone_id is None else id_mistake("AvailabilityZoneId", zone_id, region, "AvailabilityZone")
        if mistake:
            yield hit(subnet, ("AvailabilityZoneId",), mistake, zone_id)
