"""The ways of apps of Studio, of models and of notebooks in a VPC: to services, to the file systems that apps mount, and to each
other."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.ends import ends
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.interface_ways import Stopped, sides_of, to_file_system
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.reachability import reads_a_bucket
from hyperpod_constructs.analysis.service_ways import to_service
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Way, inside
from hyperpod_constructs.facts.connections import S3, Service
from hyperpod_constructs.facts.interfaces import HOSTED, Hosted
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT

_DOMAIN = "AWS::SageMaker::Domain"
_MOUNTS = {
    _DOMAIN: ("DefaultUserSettings/CustomFileSystemConfigs", "DefaultSpaceSettings/CustomFileSystemConfigs"),
    "AWS::SageMaker::UserProfile": ("UserSettings/CustomFileSystemConfigs",),
    "AWS::SageMaker::Space": ("SpaceSettings/CustomFileSystems",),
}
_GROUPS = ("UserSettings", "SecurityGroups")
"""The place of the groups of a user's apps, where they are not those of the domain."""
_CONFIGS = ("EFSFileSystemConfig", "EFSFileSystem", "FSxLustreFileSystemConfig", "FSxLustreFileSystem")


def studio_ways(model: Model) -> Iterator[Stopped]:
    """The ways of apps, models and notebooks that surely end."""
    for type_, hosted in HOSTED.items():
        for user in model.resources(type_):
            mounted = list(dict.fromkeys(_mounted(user))) if type_ == _DOMAIN else ()
            services, apart = _services(user, hosted), any(_is_apart(one, user, hosted) for one in _users(user))
            for source in sides_of(user, hosted):
                ways = [(one.logical_id, way) for one in mounted for way in to_file_system(source, one)]
                for name in services:
                    ways.append((name, Way.of(source.name, name, Traffic(), to_service(source, Service(name=name, action=None)))))
                ways += [("its other apps", way) for way in _inside(source, hosted) if services and not apart]
                yield from (Stopped(user, hosted.subnets, target, way) for target, way in ways if way.end is not None)


def _inside(source: Side, hosted: Hosted) -> Iterator[Way]:
    """The way between its own interfaces, by rules that name a group of theirs or the block of their subnet."""
    if hosted.inner and source.groups is not None:
        traffic = Traffic("tcp", hosted.inner)
        yield Way.of(source.name, source.name, traffic, inside(source, source, traffic))


def _services(user: Resource, hosted: Hosted) -> tuple[str, ...]:
    """The services that it uses by the VPC."""
    if not any(True for way in hosted.when for _ in ends(user, way)):
        return ()
    role = resource_of(user.get(*hosted.role.split("/")), ROLE)
    reads = role is not None and reads_a_bucket(role)
    return tuple(dict.fromkeys((*hosted.services, *((S3.name,) if reads else ()))))


def _mounted(domain: Resource) -> Iterator[Resource]:
    """The file systems that apps of a domain mount."""
    for type_, paths in _MOUNTS.items():
        for one in domain.template.model.resources(type_):
            if one is domain or resource_of(one.get("DomainId"), _DOMAIN) is domain:
                yield from _named_in(one, paths)


def _users(domain: Resource) -> Iterator[Resource]:
    """The profiles of a domain."""
    found = domain.template.model.resources("AWS::SageMaker::UserProfile")
    return (one for one in found if resource_of(one.get("DomainId"), _DOMAIN) is domain)


def _is_apart(profile: Resource, domain: Resource, hosted: Hosted) -> bool:
    """Whether the apps of a profile may have other groups than those of its domain."""
    own, others = profile.get(*_GROUPS), domain.get(*hosted.groups)
    return own is not ABSENT and own != others


def _named_in(one: Resource, paths: tuple[str, ...]) -> Iterator[Resource]:
    for path in (f"{path}/*/{key}/FileSystemId" for path in paths for key in _CONFIGS):
        for _, value in place_in(one.get(), path):
            system = resource_of(value)
            if system is not None:
                yield system
