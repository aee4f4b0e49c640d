"""The ways of the apps of SageMaker Studio in a VPC: to the service, and to the file systems that they mount.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/studio-notebooks-and-internet-access.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs.analysis.interface_ways import Stopped, sides_of, to_file_system
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.service_ways import to_service
from hyperpod_constructs.analysis.traffic import Traffic
from hyperpod_constructs.analysis.ways import Way
from hyperpod_constructs.facts.connections import Service
from hyperpod_constructs.facts.interfaces import STUDIO, STUDIO_SERVICES
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import as_str

_DOMAIN = "AWS::SageMaker::Domain"
_MOUNTS = {
    _DOMAIN: ("DefaultUserSettings/CustomFileSystemConfigs", "DefaultSpaceSettings/CustomFileSystemConfigs"),
    "AWS::SageMaker::UserProfile": ("UserSettings/CustomFileSystemConfigs",),
    "AWS::SageMaker::Space": ("SpaceSettings/CustomFileSystems",),
}
_CONFIGS = ("EFSFileSystemConfig", "EFSFileSystem")


def studio_ways(model: Model) -> Iterator[Stopped]:
    """The ways of the apps of each domain that surely end."""
    for domain in model.resources(_DOMAIN):
        mounted = list(dict.fromkeys(_mounted(domain)))
        for source in sides_of(domain, STUDIO):
            ways = [(one.logical_id, way) for one in mounted for way in to_file_system(source, one)]
            for name in STUDIO_SERVICES if as_str(domain.get("AppNetworkAccessType")) == "VpcOnly" else ():
                ways.append((name, Way.of(source.name, name, Traffic(), to_service(source, Service(name=name, action=None)))))
            yield from (Stopped(domain, STUDIO.subnets, target, way) for target, way in ways if way.end is not None)


def _mounted(domain: Resource) -> Iterator[Resource]:
    """The file systems of EFS that apps of a domain mount."""
    for type_, paths in _MOUNTS.items():
        for one in domain.template.model.resources(type_):
            if one is domain or resource_of(one.get("DomainId"), _DOMAIN) is domain:
                yield from _named_in(one, paths)


def _named_in(one: Resource, paths: tuple[str, ...]) -> Iterator[Resource]:
    for path in (f"{path}/*/{key}/FileSystemId" for path in paths for key in _CONFIGS):
        for _, value in place_in(one.get(), path):
            system = resource_of(value)
            if system is not None:
                yield system
