"""Properties by CloudFormation's schemas, for every property of the types of this library."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hyperpod_constructs.analysis.clusters import groups
from hyperpod_constructs.analysis.references.kinds import places_of_wrong_kinds
from hyperpod_constructs.analysis.schema.resources import Found, request_violations, schema_violations
from hyperpod_constructs.analysis.schema.violation import Kind, nearest
from hyperpod_constructs.facts.instance_types import impossible, is_instance_type
from hyperpod_constructs.facts.property_schemas import has_schema, known_types, regions_without
from hyperpod_constructs.facts.schema import schema_date, type_facts
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.rule import ORDER, Check, error, warning
from hyperpod_constructs.templates.model import Model
from hyperpod_constructs.templates.values import ABSENT

_REFERENCE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html"
_REFUSED = "CloudFormation or the service refuses the resource, and the stack rolls back"
_schema_error = partial(error, why=_REFUSED, source=_REFERENCE, yields=True, validated=True)


def _said_of(kind: Kind) -> Check:
    return lambda model: (_hit(one) for one in schema_violations(model) if one[1].kind is kind)


def _hit(found: Found) -> Hit:
    resource, one = found
    # Of properties that are not taken together, one is too many, whatever is in it.
    own = (one.path,) if one.kind is Kind.TOGETHER else ()
    # What is missing may be the reference that says the order.
    order = (ORDER,) if one.found is ABSENT else ()
    doubts = tuple((resource, path) for path in (*own, *one.doubts, *order))
    return Hit(resource, one.path, one.message, one.found, one.allowed, about=one.about, doubts=doubts)


_schema_error(
    "HP-SCH-001",
    title="a resource has only properties that its type takes",
    fix="write the nearest name, or take the property out",
    allowed="the names in the schema of the type",
)(_said_of(Kind.NAME))

_schema_error(
    "HP-SCH-002",
    title="a resource has the properties that its type needs",
    fix="add the property",
    allowed="all properties that the schema requires",
)(_said_of(Kind.MISSING))

_schema_error(
    "HP-SCH-003",
    title="a value is of the type that its property takes",
    fix="write a value of this type",
    allowed="a value of this type",
)(_said_of(Kind.TYPE))

_schema_error(
    "HP-SCH-004",
    title="a value is one that its property takes: a word, a form, a length, a range, a number of items",
    fix="write an allowed value, such as the nearest",
    allowed="the values in the schema of the type",
    aliases=("HP-LIM-001",),
)(_said_of(Kind.VALUE))


@_schema_error(
    "HP-SCH-005",
    title="a reference gives what its property takes",
    fix="refer to a resource of the right type; by Ref where an id is taken, by Fn::GetAtt where an ARN is",
    allowed="a reference to a resource of the right type",
    aliases=("HP-CTL-009",),
)
def references_fit(model: Model) -> Iterator[Hit]:
    said = places_of_wrong_kinds(model)
    return (one for one in _said_of(Kind.REFERENCE)(model) if (one.resource, one.path) not in said)


_schema_error(
    "HP-SCH-006",
    title="properties that exclude each other are not given together",
    fix="keep one of them",
    allowed="one of them",
)(_said_of(Kind.TOGETHER))


@error(
    "HP-SCH-007",
    title="a resource is what the service takes, where the schema has no limits",
    why="the service refuses the request, and the stack rolls back",
    fix="write an allowed value, such as the nearest; of what excludes each other keep one",
    allowed="what the API reference of the service names",
    source=_REFERENCE,
    yields=True,
    aliases=("HP-FSX-013", "HP-ACC-004", "HP-CAP-003", "HP-GOV-009", "HP-GOV-011"),
)
def requests_are_within_limits(model: Model) -> Iterator[Hit]:
    said = places_of_wrong_kinds(model)
    return (_hit(one) for one in request_violations(model) if said.isdisjoint((one[0], path) for path in one[1].about))


@warning(
    "HP-SCH-008",
    title="the region has the type of the resource",
    why="CloudFormation refuses a type that the region does not have",
    fix="write a type that the region has, or deploy to a region that has it; a type that came later is fine",
    allowed="a type that the schemas of the region have",
    source=_REFERENCE,
    validated=True,
)
def regions_have_the_types(model: Model) -> Iterator[Hit]:
    """By the schemas of a date: what came later is not in them."""
    day = schema_date()[:10]
    for resource in model.resources():
        region = resource.template.environment.region
        if not has_schema(resource.type):
            if resource.type.startswith("AWS::") and type_facts(resource.type) is None and not resource.template.rewritten:
                near = nearest(resource.type, known_types())
                if _is_of_ours(resource.type) or (near is not None and _is_slip(resource.type, near)):
                    meant = f"; the nearest is {near}" if near else ""
                    yield Hit(resource, (), f"no region had a type {resource.type} on {day}{meant}", meant=near)
        elif region in regions_without(resource.type):
            yield Hit(resource, (), f"{region} had no {resource.type} on {day}")


def _is_of_ours(resource_type: str) -> bool:
    prefix = resource_type.rpartition("::")[0]
    return any(name.startswith(f"{prefix}::") for name in known_types())


def _is_slip(resource_type: str, near: str) -> bool:
    """Whether a type has the kind of another, and nearly the service."""
    (service, _, kind), (known, _, other) = resource_type.rpartition("::"), near.rpartition("::")
    return kind.casefold() == other.casefold() and nearest(service, [known]) is not None and len(service) >= len(known) - 1


@warning(
    "HP-SCH-009",
    title="HyperPod and the region have the instance types of the nodes",
    why="no node starts: the deployment fails, or with continuous provisioning it tries without end",
    fix="take a type that the region has, or deploy to a region with this type",
    allowed="an instance type that HyperPod has in the region",
    source="https://aws.amazon.com/sagemaker/ai/pricing/",
    validated=True,
)
def regions_have_the_instance_types(model: Model) -> Iterator[Hit]:
    for group in groups(model):
        region = group.resource.template.environment.region
        names = [name for name in group.type_names or () if impossible(name) is None]
        nowhere = [name for name in names if not (is_instance_type(name) or regions_without(name))]
        lacking = nowhere or [name for name in names if region in regions_without(name)]
        if lacking:
            path = (*group.path, "InstanceType" if group.get("InstanceType") else "InstanceRequirements")
            text = (
                f"{'no region' if nowhere else region} had {'' if nowhere else 'no '}{', '.join(lacking)} on {schema_date()[:10]}"
            )
            yield Hit(group.resource, path, text, group.get(path[-1]))
