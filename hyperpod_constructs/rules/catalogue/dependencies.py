"""The order of creation of resources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_constructs.rules.finding import Hit
from hyperpod_constructs.rules.rule import error
from hyperpod_constructs.templates.dependencies import circles
from hyperpod_constructs.templates.model import Model, Resource

_MOST_NAMES = 10


@error(
    "HP-DEP-001",
    title="no resource awaits itself",
    why="CloudFormation refuses the template (circular dependency) before it makes anything",
    fix="break the circle: make one of the references a resource of its own, as a rule of a security group or a policy of a role",
    allowed="references and DependsOn that lead to an end",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html",
)
def no_resource_awaits_itself(model: Model) -> Iterator[Hit]:
    for template in model.templates:
        for circle in () if template.rewritten else circles(template):
            yield Hit(circle[0], (), _message(circle), covers=tuple(circle[1:]))


def _message(circle: Sequence[Resource]) -> str:
    names = [resource.logical_id for resource in circle]
    if len(names) == 1:
        return f"{names[0]} awaits itself"
    shown = names[:_MOST_NAMES] + ["…"] * (len(names) > _MOST_NAMES)
    return f"{shown[0]} awaits {', which awaits '.join([*shown[1:], names[0]])}"
