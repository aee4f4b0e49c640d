"""The ways of DataSync to file systems: the interfaces that it makes have the security groups of a location.

Sources: https://docs.aws.amazon.com/datasync/latest/userguide/create-lustre-location.html and
https://docs.aws.amazon.com/datasync/latest/userguide/create-efs-location.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.file_systems import MOUNT_TARGET, mount_targets_of, side_of_target
from hyperpod_constructs.analysis.interface_ways import Stopped
from hyperpod_constructs.analysis.networks import SUBNET, network_facts
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.reachability import side_of_file_system, way_to
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, SecurityGroup, security_groups
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.facts import lustre
from hyperpod_constructs.facts.listeners import NFS
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import as_items

_LUSTRE, _EFS = "AWS::DataSync::LocationFSxLustre", "AWS::DataSync::LocationEFS"


def copy_ways(model: Model) -> Iterator[Stopped]:
    """The ways of locations to their file systems that surely end."""
    for location in model.resources(_LUSTRE):
        system = resource_of(location.get("FsxFilesystemArn"), FILE_SYSTEM)
        if system is not None:
            target = side_of_file_system(system)
            source = Side(location.logical_id, _groups(location, "SecurityGroupArns"), target.subnets)
            yield from _ended(location, ("SecurityGroupArns",), source, target, system, Traffic("tcp", lustre.LNET_PORTS))
    for location in model.resources(_EFS):
        subnet = next((one for one in references(location.get("Ec2Config", "SubnetArn")) if one.type == SUBNET), None)
        system, groups = resource_of(location.get("EfsFilesystemArn")), _groups(location, "Ec2Config", "SecurityGroupArns")
        for found in mount_targets_of(system)[:1] if system is not None else ():
            subnets = None if subnet is None else (network_facts(model).subnet(subnet),)
            source = Side(location.logical_id, groups, subnets)
            path = ("Ec2Config", "SecurityGroupArns")
            yield from _ended(location, path, source, side_of_target(found), found, Traffic("tcp", NFS))


def _ended(
    location: Resource, path: tuple[str, ...], source: Side, target: Side, system: Resource, traffic: Traffic
) -> Iterator[Stopped]:
    if source.groups is not None and source.subnets is not None:
        way = way_to(source, target, traffic, system, ("SubnetId" if system.type == MOUNT_TARGET else "SubnetIds",))
        if way.end is not None:
            yield Stopped(location, path, system.logical_id, way)


def _groups(location: Resource, *path: str) -> tuple[SecurityGroup, ...] | None:
    """The groups whose ARNs a location lists; `None` if one is not of the model."""
    items = as_items(location.get(*path)) or ()
    found = [next((one for one in references(item) if one.type == SECURITY_GROUP), None) for item in items]
    known = [one for one in found if one is not None]
    return tuple(map(security_groups(location.template.model).of, known)) if known and len(known) == len(found) else None
