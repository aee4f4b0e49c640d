"""Subnets of the nodes: free addresses, network interfaces, and the types that their zones offer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import answers
from ..aws import Patient
from .cluster_use import ClusterUse
from .findings import Finding, error, warning
from .quotas import INTERFACES, Quota, judged
from .wanted import FileSystem, Group, Wanted

_PAGE = 1000
_ZONES_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet, with its free addresses if they are known."""

    id: str
    zone: str
    free: int | None


def subnets(ec2: Patient, wanted: Wanted) -> dict[str, Subnet]:
    """The subnets of the nodes and of the file systems."""
    ids = sorted({id for group in wanted.groups for id in group.subnets} | {system.subnet for system in wanted.file_systems} - {""})
    if not ids:
        return {}
    answer = ec2.call("describe_subnets", SubnetIds=ids)
    return {
        answers.text(found, "SubnetId"): Subnet(
            answers.text(found, "SubnetId"),
            answers.text(found, "AvailabilityZoneId"),
            answers.number(found, "AvailableIpAddressCount"),
        )
        for found in answers.structures(answer, "Subnets")
    }


def check_addresses(found: Mapping[str, Subnet], wanted: Wanted, use: ClusterUse, new: Iterable[FileSystem]) -> Iterator[Finding]:
    """Too few free addresses. Groups that name the same subnets share them; each lot of subnets is judged by itself."""
    needs: dict[tuple[str, ...], Counter[str]] = {}
    for group in wanted.groups:
        if group.subnets and (more := use.more(group)):
            needs.setdefault(tuple(sorted(group.subnets)), Counter())[f"group {group.name!r}"] += more * group.addresses
    for system in new:
        if system.subnet:
            needs.setdefault((system.subnet,), Counter())[f"file system {system.logical_id}"] += system.addresses
    for ids, parts in sorted(needs.items()):
        lot = [found[id] for id in ids if id in found]
        if len(lot) < len(ids) or any(subnet.free is None for subnet in lot):
            yield warning(f"free addresses of {', '.join(ids)} not checked: EC2 does not tell them")
            continue
        free = sum(subnet.free or 0 for subnet in lot)
        if parts.total() > free:
            listed = ", ".join(f"{what} {count}" for what, count in parts.most_common())
            yield error(
                f"{', '.join(ids)}: {free} addresses are free, and this deployment takes {parts.total()} ({listed}); "
                "a subnet cannot grow: use a larger one (a new network), free addresses in it, or lower the counts"
            )


def interfaces_needed(wanted: Wanted, use: ClusterUse) -> int:
    """Network interfaces of the nodes that the deployment adds."""
    return sum(use.more(group) * group.interfaces for group in wanted.groups if group.subnets or group.in_vpc)


def check_interfaces(ec2: Patient, quota: Quota | None, more: int, region: str) -> Iterator[Finding]:
    """Too few network interfaces in the quota. The count of existing ones stops once the answer is certain."""
    if quota is None:
        yield warning(f"{INTERFACES!r} is not in the list of Service Quotas in {region}, so it was not compared")
        return
    used = 0
    for page, _ in answers.pages(lambda token: ec2.call("describe_network_interfaces", MaxResults=_PAGE, **token)):
        used += len(answers.structures(page, "NetworkInterfaces"))
        if used + more > quota.value:
            break
    yield from judged(quota, used=used, more=more, region=region, unit="network interfaces")


def asked_types(wanted: Wanted, use: ClusterUse) -> list[Group]:
    """The groups that need their zones to offer their types; a training plan has a zone of its own."""
    return [group for group in wanted.groups if use.more(group) and group.subnets and not group.training_plan]


def check_offers(ec2: Patient, groups: Sequence[Group], found: Mapping[str, Subnet]) -> Iterator[Finding]:
    """Types that EC2 does not offer in the zones of their subnets."""
    offers = _offers(ec2, sorted({kind for group in groups for kind in group.instance_types}))
    for group in groups:
        zones = {found[id].zone for id in group.subnets if id in found} - {""}
        anywhere = {zone for kind in group.instance_types for zone in offers.get(kind, ())}
        if not zones or zones & anywhere:
            continue
        kinds, here = " and ".join(group.instance_types), ", ".join(sorted(zones))
        if not anywhere:
            yield warning(f"group {group.name!r}: EC2 lists {kinds} in no zone of this region; SageMaker may know better")
            continue
        listed = ", ".join(sorted(anywhere)[:_ZONES_SHOWN])
        yield error(
            f"group {group.name!r}: {kinds} is not offered in zone {here} of its subnets; it is in {listed}: "
            "use a network in one of these zones (availability_zone_id), or another type"
        )


def _offers(ec2: Patient, kinds: Sequence[str]) -> dict[str, set[str]]:
    """Zone ids by instance type of SageMaker."""
    offers: dict[str, set[str]] = {}
    arguments: dict[str, Any] = {
        "LocationType": "availability-zone-id",
        "Filters": [{"Name": "instance-type", "Values": [kind.removeprefix("ml.") for kind in kinds]}],
    }
    for page, _ in answers.pages(lambda token: ec2.call("describe_instance_type_offerings", **arguments, **token)):
        for offer in answers.structures(page, "InstanceTypeOfferings"):
            offers.setdefault(f"ml.{answers.text(offer, 'InstanceType')}", set()).add(answers.text(offer, "Location"))
    return offers
