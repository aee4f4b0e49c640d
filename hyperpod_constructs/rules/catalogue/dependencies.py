"""The order of creation of resources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.analysis.alone import alone, unused
from hyperpod_constructs.analysis.early import Early, closed_ways
from hyperpod_constructs.analysis.first_calls import early_calls
from hyperpod_constructs.analysis.iam import RoleFacts, role_facts
from hyperpod_constructs.analysis.order import unawaited
from hyperpod_constructs.analysis.role_calls import called
from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.rule import ORDER, error, warning
from hyperpod_constructs.templates.dependencies import circles, nested_in, references
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Value, placed_leaves

_MOST_NAMES = 10


@error(
    "HP-DEP-001",
    title="no resource awaits itself",
    why="CloudFormation refuses the template (circular dependency) before it makes anything",
    fix="break the circle: make one of the references a resource of its own, as a rule of a security group or a policy of a role",
    allowed="references and DependsOn that lead to an end",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html",
    silences=("HP-ADD-021", "HP-ADD-039"),
)
def no_resource_awaits_itself(model: Model) -> Iterator[Hit]:
    for template in model.templates:
        for circle in () if template.rewritten else circles(template):
            links = (
                (one, path) for one, other in zip(circle, [*circle[1:], circle[0]], strict=True) for path in _links(one, other)
            )
            yield Hit(circle[0], (), _message(circle), covers=(*circle[1:], *_inside(circle)), doubts=tuple(links))


def _inside(circle: Sequence[Resource]) -> Iterator[Resource]:
    """The resources of nested stacks beside those in a circle: all of these await each other, as far as anybody knows."""
    return nested_in(circle[0].template.resources if any(one.nested is not None for one in circle) else ())


def _links(one: Resource, other: Resource) -> Iterator[tuple[str | int, ...]]:
    """The places at which a resource refers to another: one of a circle's is wrong, nobody knows which."""
    return (path for path, value in placed_leaves(one.get()) if any(other in _with_stacks(named) for named in references(value)))


def _with_stacks(resource: Resource) -> Iterator[Resource]:
    """A resource, and the nested stacks in which it is."""
    yield resource
    while (parent := resource.template.parent) is not None:
        yield (resource := parent)


def _message(circle: Sequence[Resource]) -> str:
    names = [resource.logical_id for resource in circle]
    if len(names) == 1:
        return f"{names[0]} awaits itself"
    shown = names[:_MOST_NAMES] + ["…"] * (len(names) > _MOST_NAMES)
    return f"{shown[0]} awaits {', which awaits '.join([*shown[1:], names[0]])}"


@warning(
    "HP-DEP-002",
    title="resources await what completes the things that they use",
    why="CloudFormation makes both at once, and AWS refuses what uses a thing that is not complete yet",
    fix="name the later one in DependsOn of the resource",
    allowed="DependsOn on what completes a gateway, a secret, a file system, a bucket, or a thing that is named by its text",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html",
    because=ORDER,
)
def things_are_complete_first(model: Model) -> Iterator[Hit]:
    """One hit for each late resource: what awaits others of those that do not await it may not be wrong itself."""
    found = dict.fromkeys((*unawaited(model), *early_calls(model)))
    for (late, words), (first, *others) in grouped(((one.late, one.words), one.resource) for one in found).items():
        names = f"; the same for {enumerated(one.logical_id for one in others)}" if others else ""
        yield Hit(first, (), f"it does not await {late.logical_id}, {words}{names}", covers=tuple(others))


@error(
    "HP-DEP-003",
    title="what tries a role awaits the policies that let it work",
    why="CloudFormation attaches the policy while it makes the resource, AWS refuses the first call, and the stack rolls back",
    fix="name the policy in DependsOn of the resource, or write it in the role",
    allowed="DependsOn on the policies of the role",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html",
    because=ORDER,
)
def policies_are_attached_first(model: Model) -> Iterator[Hit]:
    said: set[Resource] = set()
    for one in called(model):
        known = role_facts(one.role)
        late = [policy.resource for policy in known.unawaited_by(one.resource)] if one.tested and one.resource not in said else []
        early = RoleFacts(one.role, without=frozenset(late))
        missing = [action for action in one.task.actions if _comes_late(known, early, action, one.arn)]
        if late and missing:
            said.add(one.resource)
            text = f"it does not await {late[0].logical_id}, with which {one.role.logical_id} may use {enumerated(missing)}"
            yield Hit(one.resource, (), text)


def _comes_late(known: RoleFacts, early: RoleFacts, action: str, arn: Value) -> bool:
    """Whether a role surely may not do something before some of its policies, and then may, or perhaps may."""
    return known.may(action, arn) is not False and early.may(action, arn) is False


@warning(
    "HP-DEP-004",
    on=closed_ways,
    title="a cluster awaits the ways of its nodes, and a custom resource those of its function and its build",
    why="CloudFormation opens the way while nodes start: they cannot fetch scripts or images, or fail the check of EFA, and the "
    "creation fails now and then; a function that is called too early fails in the same way",
    fix="name the routes, associations, endpoints and rules of their subnets and groups in DependsOn of the resource",
    allowed="DependsOn on each of them, or on the nested stack that has them",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html",
    because=ORDER,
)
def ways_are_open_first(early: Early) -> Hit:
    names = enumerated(one.logical_id for one in early.late)
    text = f"it does not await {names}, without which {early.users} cannot reach {enumerated(early.targets)}"
    return Hit(early.resource, (), text)


@warning(
    "HP-DEP-005",
    title="what has no effect alone has its partner",
    why="it deploys and does nothing: no traffic, no backup and no answer comes of it",
    fix="add the partner, or take the resource out",
    allowed="a partner that names the resource",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html",
)
def nothing_is_alone(model: Model) -> Iterator[Hit]:
    for resource, found in grouped((one.resource, one.partner) for one in alone(model)).items():
        words = " and ".join(f"no {' or '.join(one.types)}, which {one.words}" for one in found)
        yield Hit(resource, (), f"{resource.logical_id} has {words}")


@warning(
    "HP-DEP-006",
    title="what only serves others is used",
    why="it deploys and does nothing: often a reference leads to its neighbour, or was forgotten",
    fix="let what needs it name it, hand it on as an output, or take it out",
    allowed="a resource or an output that names it",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html",
    last=True,
)
def nothing_is_unused(model: Model) -> Iterator[Hit]:
    return (Hit(one.resource, (), f"nothing {one.partner.words}") for one in unused(model))
