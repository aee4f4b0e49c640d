"""Data services and what they name: engines of proxies, parameters of caches, zones of file systems, names in own policies.

Sources: https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_CreateDBProxy.html,
https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_CreateReplicationGroup.html,
https://docs.aws.amazon.com/efs/latest/ug/API_CreateMountTarget.html,
https://docs.aws.amazon.com/efs/latest/ug/API_PutLifecycleConfiguration.html,
https://docs.aws.amazon.com/datasync/latest/userguide/API_Ec2Config.html and
https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-points-policies.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.database import databases_of, secret_of
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.networks import in_one_zone
from hyperpod_constructs.analysis.policy_document import listed
from hyperpod_constructs.analysis.schema.violation import listed as words_of
from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.caches import CLUSTERED, EVICTIONS, family_of
from hyperpod_constructs.facts.databases import ROTATIONS, engine_of
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_bool, as_int, as_str, at

_GROUP, _PARAMETERS = "AWS::ElastiCache::ReplicationGroup", "AWS::ElastiCache::ParameterGroup"
_FILES, _TARGET, _SUBNET = "AWS::EFS::FileSystem", "AWS::EFS::MountTarget", "AWS::EC2::Subnet"
_POINT, _DOMAIN = "AWS::S3::AccessPoint", "AWS::OpenSearchService::Domain"
_PROTOCOLS = {
    "MYSQL": ("aurora-mysql", "mariadb", "mysql"),
    "POSTGRESQL": ("aurora-postgresql", "postgres"),
}
"""The engines behind a family of proxies; those of SQL Server have many names."""
_ZONE = "AvailabilityZoneName"
_WAY = re.compile(r"(\w+?)((?:Single|Multi)User)")
_MAKER = "AWS::SecretsManager-"
_DAYS = re.compile(r"AFTER_(\d+)_DAYS?")
_OWN = {_POINT: ("Policy", "Name", "accesspoint/"), _DOMAIN: ("AccessPolicies", "DomainName", "domain/")}
"""The own policy of a type, its own name, and what is before the name in an ARN."""


def proxy_targets(resource: Resource) -> Slips:
    """A proxy speaks the language of the databases behind it."""
    proxy = resource_of(resource.get("DBProxyName"), "AWS::RDS::DBProxy")
    family = known(proxy.get("EngineFamily")) if proxy is not None else None
    for key in ("DBClusterIdentifiers", "DBInstanceIdentifiers"):
        for index, one in entries(resource.get(key)):
            database = target_of(one) if isinstance(one, Reference) else None
            engine = (known(database.get("Engine")) or "").lower() if database is not None else ""
            if proxy is not None and family in _PROTOCOLS and engine in _engines() and engine not in _PROTOCOLS[family]:
                message = f"{proxy.logical_id} is for {family}, and {quoted(one)} a database of {engine}"
                yield Slip(message, f"a database of {words_of(_PROTOCOLS[family])}", (key, index), one)


def _engines() -> tuple[str, ...]:
    return tuple(engine for engines in _PROTOCOLS.values() for engine in engines)


def cache(resource: Resource) -> Slips:
    """The version and the parameters of a cache are of its engine, and with several groups of nodes those of a cluster."""
    yield from _in_one_zone(resource)
    group, key = resource_of(resource.get("CacheParameterGroupName"), _PARAMETERS), "CacheParameterGroupName"
    engine, version = known(resource.get("Engine")), known(resource.get("EngineVersion"))
    facts = engine_of(engine or "")
    if facts is not None and version is not None and "x" not in version and facts.has_version(version) is False:
        yield Slip(f"{engine} has no version {version}", f"a version of {engine}", ("EngineVersion",), version)
        return
    wanted = family_of((engine or "").lower(), version or "")
    family = known(group.get("CacheParameterGroupFamily")) if group is not None else None
    if group is None or family is None:
        return
    if wanted is not None and family != wanted:
        message = f"{group.logical_id} is of {family}, and the cache of {engine} {version}"
        yield Slip(message, f"a group of {wanted}", (key,), resource.get(key))
    shards, own = as_int(resource.get("NumNodeGroups")) or 0, mapping(group.get("Properties"))
    sure = resource.get("ClusterMode") is ABSENT and not isinstance(own.get(CLUSTERED, ABSENT), Reference)
    if shards > 1 and sure and known(own.get(CLUSTERED, ABSENT)) != "yes":
        message = f"it has {shards} groups of nodes, and {group.logical_id} no {CLUSTERED}: yes"
        yield Slip(message, f"a group with {CLUSTERED}: yes", (key,), resource.get(key))


def _in_one_zone(resource: Resource) -> Slips:
    """A cache in several zones has subnets in them."""
    group = resource_of(resource.get("CacheSubnetGroupName"), "AWS::ElastiCache::SubnetGroup")
    items = [one for _, one in entries(group.get("SubnetIds"))] if group is not None else []
    subnets = [found for one in items if (found := resource_of(one, _SUBNET)) is not None]
    if group is not None and as_bool(resource.get("MultiAZEnabled")) and len(subnets) == len(items) and in_one_zone(subnets):
        message = f"it is in several zones, and the subnets of {group.logical_id} are in one"
        yield Slip(message, "a group with subnets in two zones", ("CacheSubnetGroupName",), resource.get("CacheSubnetGroupName"))


def cache_parameters(resource: Resource) -> Slips:
    """The parameters of Redis and Valkey have hyphens in their names, and an eviction that there is."""
    if not (known(resource.get("CacheParameterGroupFamily")) or "").startswith(("redis", "valkey")):
        return
    for name, value in mapping(resource.get("Properties")).items():
        text = known(value)
        if "_" in name:
            meant = name.replace("_", "-")
            yield Slip(f"{name} is no parameter; did you mean {meant}?", meant, ("Properties", name), name)
        elif name == "maxmemory-policy" and text is not None and text not in EVICTIONS:
            yield Slip(f"{name} is {text!r}", words_of(EVICTIONS), ("Properties", name), value)


def file_system(resource: Resource) -> Slips:
    """Files move to the archive later than to infrequent access."""
    days, places = {}, {}
    for index, one in entries(resource.get("LifecyclePolicies")):
        for name in ("TransitionToIA", "TransitionToArchive"):
            found = _DAYS.fullmatch(known(mapping(one).get(name, ABSENT)) or "")
            if found:
                days[name], places[name] = int(found[1]), ("LifecyclePolicies", index, name)
    if len(days) == 2 and days["TransitionToArchive"] <= days["TransitionToIA"]:
        message = f"files move to the archive after {days['TransitionToArchive']} days, and before after {days['TransitionToIA']}"
        path = places["TransitionToArchive"]
        yield Slip(message, f"more than {days['TransitionToIA']} days", path, resource.get(*path))


def access_point(resource: Resource) -> Slips:
    """The directory of an access point is made by it where the file system is new."""
    root, files = resource.get("RootDirectory"), resource_of(resource.get("FileSystemId"), _FILES)
    path = known(at(root, "Path"))
    if files is not None and path not in (None, "", "/") and at(root, "CreationInfo") is ABSENT:
        message = f"{path} is not there in {files.logical_id}, and nobody makes it"
        yield Slip(message, "CreationInfo with owner and permissions", ("RootDirectory", "CreationInfo"), dead=True)


def mount_target(resource: Resource) -> Slips:
    """A file system in one zone has its mount target there."""
    files, subnet = resource_of(resource.get("FileSystemId"), _FILES), resource_of(resource.get("SubnetId"), _SUBNET)
    zone, own = (None if one is None else known(one.get(key)) for one, key in ((files, _ZONE), (subnet, "AvailabilityZone")))
    if files is not None and subnet is not None and zone and own and zone != own:
        message = f"{subnet.logical_id} is in {own}, and {files.logical_id} in {zone} alone"
        yield Slip(message, f"a subnet in {zone}", ("SubnetId",), resource.get("SubnetId"))
    elif files is not None and files.get(_ZONE) is not ABSENT and resource.exists:
        others = [one for one in resource.template.model.resources(_TARGET) if resource_of(one.get("FileSystemId")) is files]
        if others[0] is not resource and others[0].exists:
            message = f"{files.logical_id} is in one zone, and has its one mount target with {others[0].logical_id}"
            yield Slip(message, "one mount target", ("FileSystemId",), resource.get("FileSystemId"))


def efs_location(resource: Resource) -> Slips:
    """DataSync mounts a file system from a zone that has a mount target."""
    files, path = next(references(resource.get("EfsFilesystemArn")), None), ("Ec2Config", "SubnetArn")
    subnet = next((one for one in references(resource.get(*path)) if one.type == _SUBNET), None)
    own = None if subnet is None else known(subnet.get("AvailabilityZone"))
    if files is None or files.type != _FILES or subnet is None or own is None:
        return
    targets = [one for one in resource.template.model.resources(_TARGET) if resource_of(one.get("FileSystemId")) is files]
    subnets = [resource_of(one.get("SubnetId"), _SUBNET) for one in targets]
    zones = [None if one is None else known(one.get("AvailabilityZone")) for one in subnets]
    if zones and None not in zones and own not in zones:
        there = words_of(sorted({*map(str, zones)}))
        message = f"{subnet.logical_id} is in {own}, and {files.logical_id} has mount targets in {there}"
        yield Slip(message, "a subnet in a zone with a mount target", path, resource.get(*path))


def copy(resource: Resource) -> Slips:
    """A task copies from one location to another."""
    source, target = (resource.get(f"{key}LocationArn") for key in ("Source", "Destination"))
    if isinstance(source, Reference) and source == target:
        yield Slip(f"it copies from {quoted(source)} to itself", "another location", ("DestinationLocationArn",), target)


def grant(resource: Resource) -> Slips:
    """A principal passes on only the permissions that it has."""
    own = [known(one) for _, one in entries(resource.get("Permissions"))]
    for index, one in entries(resource.get("PermissionsWithGrantOption")):
        name = known(one)
        if name is not None and None not in own and name not in own and "ALL" not in own:
            message = f"{name} may be passed on, and is not among the permissions"
            yield Slip(message, words_of([*map(str, own)]), ("PermissionsWithGrantOption", index), one)


def rotation(resource: Resource) -> Slips:
    """A hosted function for rotation comes with the transform that makes it."""
    given = resource.template.raw.get("Transform")
    names = given if isinstance(given, list) else [given]
    if resource.get("HostedRotationLambda") is not ABSENT and not any(str(one).startswith(_MAKER) for one in names):
        message = f"HostedRotationLambda is made by the transform {_MAKER}, which the template does not have"
        yield Slip(message, f"Transform: {_MAKER}2024-09-16", ("HostedRotationLambda",))
        return
    path = ("HostedRotationLambda", "RotationType")
    way, secret = _WAY.fullmatch(known(resource.get(*path)) or ""), secret_of(resource.get("SecretId"))
    for place, engine in _engines_of(secret) if way is not None and secret is not None else ():
        wanted = ROTATIONS.get(engine.lower())
        if way is not None and wanted is not None and wanted != way[1]:
            message = f"it rotates for {way[1]}, and {place} is of {engine}"
            yield Slip(message, f"{wanted}{way[2]}", path, resource.get(*path), dead=True)
            return


def _engines_of(secret: Resource) -> Iterator[tuple[str, str]]:
    """The engines of the databases of a secret, and the one that it names itself, each with its place."""
    yield from ((one.logical_id, known(one.get("Engine")) or "") for one in databases_of(secret))
    for path in (("GenerateSecretString", "SecretStringTemplate"), ("SecretString",)):
        yield secret.logical_id, as_str(at(values_in(secret.get(*path)), "engine")) or ""


def own_policy(resource: Resource) -> Slips:
    """The policy of a resource speaks of that resource."""
    policy, key, before = _OWN[resource.type]
    own = known(resource.get(key))
    for index, statement in enumerate(listed(resource.get(policy, "Statement")) if own else ()):
        for one in listed(at(statement, "Resource")):
            other = _name_in(one, before)
            if other is not None and other != own and "*" not in other:
                message = f"its policy speaks of {other}, and its name is {own}"
                yield Slip(message, f"the ARN of {own}", (policy, "Statement", index, "Resource"), one)


def _name_in(arn: Value, before: str) -> str | None:
    """The name behind a kind in an ARN, if it is known."""
    _, found, rest = (spelled(arn) or "").partition(f":{before}")
    name = rest.partition("/")[0]
    return name if found and name and HOLE not in name else None


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    "AWS::DataSync::LocationEFS": efs_location,
    "AWS::DataSync::Task": copy,
    "AWS::EFS::AccessPoint": access_point,
    _FILES: file_system,
    _TARGET: mount_target,
    "AWS::ElastiCache::CacheCluster": cache,
    _GROUP: cache,
    _PARAMETERS: cache_parameters,
    _DOMAIN: own_policy,
    "AWS::LakeFormation::PrincipalPermissions": grant,
    "AWS::RDS::DBProxyTargetGroup": proxy_targets,
    "AWS::SecretsManager::RotationSchedule": rotation,
    _POINT: own_policy,
}
