"""Records of one name: they have one routing policy, one primary and one secondary, and nothing beside a CNAME.

Sources: https://docs.aws.amazon.com/Route53/latest/APIReference/API_ResourceRecordSet.html and
https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resource-record-sets-values-failover.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference

_RECORD = "AWS::Route53::RecordSet"
_POLICIES = ("Weight", "Region", "Failover", "GeoLocation", "MultiValueAnswer", "CidrRoutingConfig", "GeoProximityLocation")


class _Record(NamedTuple):
    """A record set that is surely there.

    :param policy: the property of its routing policy; empty for none.
    """

    resource: Resource
    zone: object
    name: str
    type: str
    policy: str


def record(resource: Resource) -> Slips:
    """A record beside the earlier ones of its name; of two that do not go together the later is wrong."""
    if resource.get("Failover") == "PRIMARY" and resource.get("HealthCheckId") is ABSENT and resource.get("AliasTarget") is ABSENT:
        yield Slip("a primary record that is no alias has no health check", "a health check", ("HealthCheckId",))
    own = _of(resource)
    family = [] if own is None else _families(resource.template.model).get((own.zone, own.name), [])
    for other in family[: family.index(own)] if own is not None else ():
        slip = _beside(own, other) if own is not None else None
        if slip is not None:
            yield slip
            return


def _beside(own: _Record, other: _Record) -> Slip | None:
    name = other.resource.logical_id
    if own.type != other.type:
        alone = "CNAME" in (own.type, other.type)
        message = f"it has the type {own.type}, and {name} of the same name has the type {other.type}"
        return Slip(message, "a CNAME has its name alone", ("Type",), own.type) if alone else None
    if own.policy != other.policy:
        policies = [one or "no routing policy" for one in (own.policy, other.policy)]
        message = f"it has {policies[0]}, and {name} of the same name and type has {policies[1]}"
        return Slip(message, "one routing policy for all records of a name and type", (own.policy or "SetIdentifier",))
    if not own.policy and own.resource.get("SetIdentifier") is ABSENT:
        return Slip(f"{name} has the same name and type", "one record with all values", ("Name",), own.resource.get("Name"))
    role = known(own.resource.get("Failover"))
    if own.policy == "Failover" and role and role == known(other.resource.get("Failover")):
        return Slip(f"{name} of the same name and type is {role} too", "one PRIMARY and one SECONDARY", ("Failover",), role)
    return None


def _families(model: Model) -> Mapping[tuple[object, str], list[_Record]]:
    """The records of each name in its zone; computed once."""
    return model.cached(_families, lambda: grouped(((one.zone, one.name), one) for one in _records(model)))


def _records(model: Model) -> Iterator[_Record]:
    return (one for resource in model.resources(_RECORD) if (one := _of(resource)) is not None)


def _of(resource: Resource) -> _Record | None:
    given, by_name = resource.get("HostedZoneId"), known(resource.get("HostedZoneName"))
    zone = target_of(given) if isinstance(given, Reference) else known(given) or by_name
    name, type_ = known(resource.get("Name")), known(resource.get("Type"))
    if not zone or not name or not type_ or resource.exists is not True:
        return None
    policy = next((one for one in _POLICIES if resource.get(one) is not ABSENT), "")
    return _Record(resource, zone, name.rstrip(".").lower(), type_, policy)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_RECORD: record}
