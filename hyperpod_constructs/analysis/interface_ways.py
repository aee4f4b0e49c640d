"""The ways of functions and builds in a VPC to the services that their roles name, and the databases that variables name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_constructs.analysis.database import INSTANCE, port_of, side_of
from hyperpod_constructs.analysis.iam import ROLE, role_facts
from hyperpod_constructs.analysis.kubernetes import eks_clusters
from hyperpod_constructs.analysis.networks import SUBNET, network_facts
from hyperpod_constructs.analysis.policy_document import Statement
from hyperpod_constructs.analysis.reachability import way_to
from hyperpod_constructs.analysis.security_groups import SECURITY_GROUP, security_groups
from hyperpod_constructs.analysis.service_ways import to_service
from hyperpod_constructs.analysis.traffic import Side, Traffic
from hyperpod_constructs.analysis.ways import Way
from hyperpod_constructs.facts.connections import Service
from hyperpod_constructs.facts.interfaces import BY_SERVICE, ENDPOINTS, INTERFACES, OF_APPLIERS, Interfaces
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, as_str

_DATABASES = (INSTANCE, "AWS::RDS::DBCluster")


@dataclass(frozen=True, slots=True)
class Stopped:
    """A way that surely ends.

    :param user: the function or build.
    :param target: what it cannot reach, in words.
    """

    user: Resource
    path: tuple[str, ...]
    target: str
    way: Way


def ended_ways(model: Model) -> tuple[Stopped, ...]:
    """The ways of a model that surely end; computed once."""
    return model.cached(ended_ways, lambda: tuple(one for one in _ways(model) if one.way.end is not None))


def _ways(model: Model) -> Iterator[Stopped]:
    appliers = {one for eks in eks_clusters(model) for one in eks.appliers}
    for type_, places in INTERFACES.items():
        for resource in model.resources(type_):
            calls = dict.fromkeys(OF_APPLIERS) if resource in appliers else {}
            calls |= _called(resource, places, model)
            databases = [one for one in dict.fromkeys(references(_variables(resource))) if one.type in _DATABASES]
            for source in _sides(resource, places) if calls or databases else ():
                for name, action in calls.items():
                    hops = to_service(source, Service(name=name, action=action))
                    yield Stopped(resource, places.subnets, name, Way.of(source.name, name, Traffic(), hops))
                for database in databases:
                    yield from _to_database(resource, places, source, database)


def _to_database(resource: Resource, places: Interfaces, source: Side, database: Resource) -> Iterator[Stopped]:
    port = port_of(database)
    if port is not None and 0 < port < 65536 and source.groups is not None:
        way = way_to(source, side_of(database), Traffic("tcp", range(port, port + 1)), database, ("DBSubnetGroupName",))
        yield Stopped(resource, places.subnets, database.logical_id, way)


def _variables(resource: Resource) -> Value:
    return resource.get("Environment", "Variables")


def _sides(resource: Resource, places: Interfaces) -> Iterator[Side]:
    """The ends in each subnet, if all subnets are of the model."""
    model = resource.template.model
    subnets = [resource_of(one, SUBNET) for one in as_items(resource.get(*places.subnets)) or ()]
    groups = [resource_of(one, SECURITY_GROUP) for one in as_items(resource.get(*places.groups)) or ()]
    known = [one for one in groups if one is not None]
    sides = None if not known or None in groups else tuple(security_groups(model).of(one) for one in known)
    for subnet in subnets if None not in subnets else ():
        if subnet is not None:
            place = (resource, places.groups)
            yield Side(resource.logical_id, sides, (network_facts(model).subnet(subnet),), place=place)


def _called(resource: Resource, places: Interfaces, model: Model) -> dict[str, str | None]:
    """The endpoints of the services that the role of a resource alone names, each with an action if it is the only one."""
    role = resource_of(resource.get(*places.role.split("/")), ROLE)
    if role is None or resource.get(*places.subnets) is ABSENT or len(_users(role, model)) != 1:
        return {}
    found: dict[str, set[str]] = {}
    for statement in role_facts(role).statements:
        for action in _actions(statement):
            endpoint = ENDPOINTS.get(action.partition(":")[0])
            if endpoint is not None and action not in BY_SERVICE:
                found.setdefault(endpoint, set()).add(action)
    return {name: next(iter(actions)) if len(actions) == 1 and "*" not in str(actions) else None for name, actions in found.items()}


def _users(role: Resource, model: Model) -> list[Resource]:
    found = (one for type_, places in INTERFACES.items() for one in model.resources(type_) if _role_of(one, places) is role)
    return list(found)


def _role_of(resource: Resource, places: Interfaces) -> Resource | None:
    return resource_of(resource.get(places.role), ROLE)


def _actions(statement: Statement) -> Iterator[str]:
    """The actions that a statement allows on resources of the templates, in small letters."""
    named = any(True for pattern in statement.resources for _ in references(pattern))
    plain = statement.effect == "Allow" and not statement.excludes_actions and not statement.excludes_resources
    for action in statement.actions if named and plain else ():
        yield (as_str(action) or "").lower()
