"""The ways of functions and builds in a VPC: to services that their roles name, to databases and to file systems."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.api_calls import code_calls, program_calls
from hyperpod_constructs.analysis.build_commands import PROJECT, build_of, hosts_of
from hyperpod_constructs.analysis.cluster_builds import cluster_builds
from hyperpod_constructs.analysis.control_plane_ways import from_no_vpc, to_control_plane
from hyperpod_constructs.analysis.custom_resources import makers
from hyperpod_constructs.analysis.database import DATABASES, databases_of, port_of, secret_of, side_of
from hyperpod_constructs.analysis.file_systems import mount_targets_of, side_of_target
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters
from hyperpod_constructs.analysis.networks import SUBNET, network_facts
from hyperpod_constructs.analysis.placement import FILE_SYSTEM
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.analysis.reachability import file_system_ways, way_to
from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, security_groups
from hyperpod_constructs.analysis.service_ways import to_service
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Hop, Way, to_the_internet
from hyperpod_constructs.facts.connections import ANSWERED, ANSWERS_BUCKET, Service
from hyperpod_constructs.facts.interfaces import BY_SERVICE, ENDPOINTS, INTERFACES, OF_APPLIERS, Interfaces
from hyperpod_constructs.facts.listeners import NFS
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.doubts import Key
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.parameters import items_of
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN, Text, Value, as_bool, as_items, as_str, at, joined, parts_of

_FUNCTION, _POINT = "AWS::Lambda::Function", "AWS::EFS::AccessPoint"
_SENDING = ("AWS::Lambda::EventInvokeConfig", "AWS::Lambda::EventSourceMapping")
"""What sends on for a function, as its role."""
_ANSWERS = "the bucket of CloudFormation's answers"
_LETTERS = 3
"""Letters of the name of a resource without which an ARN of a policy names nothing in particular."""


class Stopped(NamedTuple):
    """A way of a user, which surely ends where that is asked for.

    :param user: the function or build.
    :param target: what it cannot reach, in words.
    """

    user: Resource
    path: tuple[str, ...]
    target: str
    way: Way


def interface_ways(model: Model, only: Collection[Key] | None = None) -> Iterator[Stopped]:
    """The ways of functions and builds that surely end.

    :param only: those of some functions and builds alone.
    """
    return (one for one in ways_of(model, only) if one.way.end is not None)


def ways_of(model: Model, only: Collection[Key] | None = None) -> Iterator[Stopped]:
    """The ways of functions and builds, whether they end or not."""
    appliers = {one for eks in eks_clusters(model) for one in eks.appliers}
    answering = set(makers(model).values())
    applied = ((function, eks) for eks in eks_clusters(model) for function in eks.installers)
    asking = grouped(dict.fromkeys((*applied, *_callers(model))))
    rotated = grouped(_rotations(model))
    for type_, places in INTERFACES.items():
        for resource in (one for one in model.resources(type_) if only is None or one.key in only):
            calls = {**dict.fromkeys(OF_APPLIERS if resource in appliers else (), ()), **_called(resource, places, model)}
            named = [one for one in references(_variables(resource)) if one.type in DATABASES]
            databases = dict.fromkeys((*named, *rotated.get(resource, ())))
            for source in sides_of(resource, places):
                stopped = partial(Stopped, resource, places.subnets)
                for name, actions in calls.items():
                    yield stopped(name, _to_endpoint(source, resource, name, actions))
                if resource in answering:
                    yield stopped(
                        _ANSWERS, Way.of(source.name, _ANSWERS, Traffic(), to_service(source, ANSWERED, _answers(resource)))
                    )
                for host in hosts_of(build_of(resource)) if resource.type == PROJECT else ():
                    yield stopped(host, Way.of(source.name, host, Traffic(), to_the_internet(source, Traffic())))
                for eks in asking.get(resource, ()):
                    way = Way.of(source.name, eks.resource.logical_id, Traffic(), to_control_plane(source, eks))
                    yield stopped(eks.resource.logical_id, way)
                yield from (stopped(one.logical_id, way) for one in databases for way in to_database(source, one))
                yield from (stopped(one.logical_id, way) for one in _mounted(resource) for way in to_file_system(source, one))
    if only is None:
        yield from _outside(rotated)
        yield from _far_callers(model)


def _callers(model: Model) -> Iterator[tuple[Resource, EksCluster]]:
    """What surely asks the API of a Kubernetes cluster: builds, and functions whose own role has an access entry."""
    yield from ((one.project, one.eks) for one in cluster_builds(model))
    users = _users_of_roles(model) if eks_clusters(model) else {}
    for eks in eks_clusters(model):
        for entry in eks.access_entries:
            role = resource_of(entry.get("PrincipalArn"), ROLE)
            its = users.get(role, ()) if role is not None else ()
            yield from ((one, eks) for one in its if len(its) == 1 and one.type == _FUNCTION)


def _far_callers(model: Model) -> Iterator[Stopped]:
    """Functions and builds that ask a Kubernetes cluster, which lets nobody in from where they are: in no VPC."""
    for caller, eks in dict.fromkeys(_callers(model)):
        outside = caller.get(*INTERFACES[caller.type].subnets) in (ABSENT, ())
        end = from_no_vpc(caller, eks) if outside else None
        if end is not None:
            name = eks.resource.logical_id
            yield Stopped(caller, ("VpcConfig",), name, Way.of(caller.logical_id, name, Traffic(), [end]))


def _answers(function: Resource) -> tuple[Value]:
    """The object with which a function answers CloudFormation."""
    region = region_of(function)
    return (joined([f"arn:aws:s3:::{ANSWERS_BUCKET}", region.replace("-", "") if region else UNKNOWN, "/", UNKNOWN]),)


def _to_endpoint(source: Side, resource: Resource, name: str, actions: Sequence[str]) -> Way:
    """The way to a service: the first that ends of those of some actions, or of any."""
    every = [
        Way.of(source.name, name, Traffic(), to_service(source, Service(name=name, action=one), _objects(resource, one)))
        for one in actions or (None,)
    ]
    return next((way for way in every if way.end is not None), every[0])


def to_database(source: Side, database: Resource) -> Iterator[Way]:
    """The way to the port of a database."""
    port = port_of(database)
    if port is not None and 0 < port < 65536 and source.groups is not None:
        yield way_to(source, side_of(database), Traffic("tcp", range(port, port + 1)), database, ("DBSubnetGroupName",))


def _rotations(model: Model) -> Iterator[tuple[Resource, Resource]]:
    """The functions that rotate passwords, each with a database whose password it changes."""
    for schedule in model.resources("AWS::SecretsManager::RotationSchedule"):
        function, secret = resource_of(schedule.get("RotationLambdaARN"), _FUNCTION), secret_of(schedule.get("SecretId"))
        for database in databases_of(secret) if function is not None and secret is not None else ():
            if function is not None:
                yield function, database


def _outside(rotated: dict[Resource, list[Resource]]) -> Iterator[Stopped]:
    """Functions that rotate the password of a database inside of a VPC, and are in none."""
    for function, databases in rotated.items():
        inner = [
            one for one in databases if one.get("DBSubnetGroupName") is not ABSENT and not as_bool(one.get("PubliclyAccessible"))
        ]
        if inner and function.get("VpcConfig") is ABSENT:
            hop = Hop(function, False, f"is in no VPC, and {inner[0].logical_id} is reached inside of its own", ("VpcConfig",))
            way = Way.of(function.logical_id, inner[0].logical_id, Traffic(), [hop])
            yield Stopped(function, ("VpcConfig",), inner[0].logical_id, way)


def _may_be_public(database: Resource) -> bool:
    public = database.get("PubliclyAccessible")
    return public is not ABSENT and as_bool(public) is not False


def _mounted(resource: Resource) -> Iterator[Resource]:
    """The file systems of EFS that a function mounts."""
    for entry in as_items(resource.get("FileSystemConfigs")) or ():
        point = resource_of(at(entry, "Arn"), _POINT)
        system = None if point is None else resource_of(point.get("FileSystemId"))
        if system is not None:
            yield system


def to_file_system(source: Side, system: Resource) -> Iterator[Way]:
    """The way to a file system of FSx that ends, or that to a mount target of EFS.

    That is the first way, if none passes, or none is in the zone, where alone the name of the file system resolves.

    Source: https://docs.aws.amazon.com/efs/latest/ug/mounting-fs-mount-cmd-dns-name.html
    """
    if system.type == FILE_SYSTEM:
        there = (way for way in file_system_ways(source, system) if way.source == source.name)
        yield from [way for way in there if way.end is not None][:1]
        return
    targets = mount_targets_of(system)
    ways = [way_to(source, side_of_target(one), Traffic("tcp", NFS), one, ("SubnetId",)) for one in targets]
    if ways and all(way.end is not None for way in ways):
        yield ways[0]
    elif ways and all(_is_far(source, one) for one in targets):
        (subnet,) = source.subnets or ()
        says = f"is not in the zone of {subnet.resource.logical_id}, where the name of {system.logical_id} does not resolve"
        hop = Hop(targets[0], False, says, ("SubnetId",), covers=tuple(targets[1:]))
        yield Way.of(source.name, system.logical_id, Traffic("tcp", NFS), [hop])


def _is_far(source: Side, target: Resource) -> bool:
    """Whether a mount target is surely in another zone."""
    places = side_of_target(target).subnets or ()
    return bool(places) and all(one.zone.is_same(other.zone) is False for one in source.subnets or () for other in places)


def _variables(resource: Resource) -> Value:
    return resource.get("Environment", "Variables")


def sides_of(resource: Resource, places: Interfaces) -> Iterator[Side]:
    """The ends in each subnet, if all subnets are of the model."""
    model = resource.template.model
    subnets = [resource_of(one, SUBNET) for one in _listed(resource.get(*places.subnets))]
    groups = [resource_of(one, SECURITY_GROUP) for one in _listed(resource.get(*places.groups))]
    known = [one for one in groups if one is not None]
    sides = None if not known or None in groups else tuple(security_groups(model).of(one) for one in known)
    for subnet in subnets if None not in subnets else ():
        if subnet is not None:
            place = (resource, places.groups)
            yield Side(resource.logical_id, sides, (network_facts(model).subnet(subnet),), place=place, anywhere=True)


def _objects(resource: Resource, action: str | None) -> tuple[Value, ...]:
    """The ARNs on which code or commands do an action, as far as they are known."""
    if action is None:
        return ()
    found = code_calls(resource)
    arns = [one.arn for one in found if action.lower() in map(str.lower, one.task.actions)]
    return tuple(dict.fromkeys(one for one in arns if one is not UNKNOWN))


def _listed(value: Value) -> tuple[Value, ...]:
    """The items of a list, or of a text with commas."""
    items = as_items(items_of(parts_of(value)) if isinstance(value, str | Text) else value)
    return (value,) if items is None else items


def _called(resource: Resource, places: Interfaces, model: Model) -> dict[str, tuple[str, ...]]:
    """The endpoints of the services that a resource calls, each with actions that it surely does.

    It calls what its code calls, or else what the role that it alone has allows on certain resources, if that is one action.
    """
    if resource.get(*places.subnets) is ABSENT:
        return {}
    role = resource_of(resource.get(*places.role.split("/")), ROLE)
    coded = _by_endpoint(_of_code(resource))
    allowed = _by_endpoint(_of_role(role, resource) if role is not None and len(_users_of_roles(model).get(role, ())) == 1 else ())
    single = {name: actions if len(actions) == 1 and "*" not in actions[0] else () for name, actions in allowed.items()}
    return {**single, **coded}


def _by_endpoint(actions: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Actions that are called from the network of their caller, by the endpoints of their services."""
    found = [(endpoint, one) for one in dict.fromkeys(actions) if (endpoint := ENDPOINTS.get(one.partition(":")[0])) is not None]
    return {name: tuple(ones) for name, ones in grouped(one for one in found if one[1].lower() not in BY_SERVICE).items()}


def _of_code(resource: Resource) -> Iterator[str]:
    return (one.operation.action for one in program_calls(resource))


def _of_role(role: Resource, resource: Resource) -> Iterator[str]:
    """What a role allows, but for what Lambda does with what a function could not take: it sends that from its own network."""
    left = set(references(resource.get("DeadLetterConfig")))
    for one in resource.template.model.resources(*_SENDING):
        if resource_of(one.get("FunctionName"), _FUNCTION) is resource:
            left.update(references(one.get("DestinationConfig")))
    for statement in role_facts(role).statements:
        named = set(references(statement.resources))
        if not named or not named <= left:
            yield from _actions(statement)


def _users_of_roles(model: Model) -> Mapping[Resource, Sequence[Resource]]:
    """By role: the functions and builds that work as it; computed once."""
    found = ((_role_of(one, places), one) for type_, places in INTERFACES.items() for one in model.resources(type_))
    return model.cached(_users_of_roles, lambda: grouped((role, one) for role, one in found if role is not None))


def _role_of(resource: Resource, places: Interfaces) -> Resource | None:
    return resource_of(resource.get(places.role), ROLE)


def _actions(statement: Statement) -> Iterator[str]:
    """The actions that a statement allows on certain resources, in small letters."""
    plain = statement.effect == "Allow" and not statement.excludes_actions and not statement.excludes_resources
    for action in statement.actions if plain and any(map(_is_certain, statement.resources)) else ():
        yield (as_str(action) or "").lower()


def _is_certain(pattern: Value) -> bool:
    """Whether an ARN names a resource: one of the templates, or one by the beginning of its name."""
    if any(True for _ in references(pattern)):
        return True
    last = parts_of(pattern)[-1] if isinstance(pattern, str | Text) else ""
    name = last.rpartition(":")[2].partition("*")[0] if isinstance(last, str) else ""
    kind, slash, rest = name.partition("/")
    return len(rest if slash and ":::" not in str(last) else kind) >= _LETTERS
