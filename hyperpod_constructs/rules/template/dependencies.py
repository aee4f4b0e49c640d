"""What CloudFormation creates before what: the order that ``DependsOn``, functions, nested stacks and exports make.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-dependson.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hyperpod_constructs.rules.template.raw import Raw
from hyperpod_constructs.rules.template.values import Either, Reference, Text, Value

if TYPE_CHECKING:
    from hyperpod_constructs.rules.template.model import Resource, Template

_VARIABLE = re.compile(r"\$\{\s*([^!${}.\s]+)")


def depends_on(resource: Resource) -> frozenset[Resource]:
    """The resources that a resource names: in ``DependsOn``, by a function, or through another stack."""
    template = resource.template
    named = {template.by_id[name] for name in _local_names(resource) if name in template.by_id}
    return frozenset((named | set(_references(resource.get()))) - {resource})


def awaited(resource: Resource) -> frozenset[Resource]:
    """All resources that are created before one: by its dependencies, theirs, those of its stack, and other stacks'."""
    found: set[Resource] = set()
    templates: set[Template] = set()
    waiting = [resource]
    while waiting:
        current = waiting.pop()
        following = set(current.depends_on)
        if current.nested is not None and current is not resource:
            following |= _all_of(current.nested)
        template: Template | None = current.template
        while template is not None and template not in templates:
            templates.add(template)
            following |= _before(template)
            template = None if template.parent is None else template.parent.template
        following -= found
        found |= following
        waiting.extend(following)
    return frozenset(found)


def _before(template: Template) -> frozenset[Resource]:
    """What is created before anything of a template: what its nested stack names, and the stacks from which it takes values."""
    if template.parent is not None:
        return template.parent.depends_on
    return template.model.cached(
        (_before, template), lambda: frozenset(resource for other in _imported_from(template) for resource in _all_of(other))
    )


def _all_of(template: Template) -> frozenset[Resource]:
    """The resources of a template and of its nested stacks."""
    return template.model.cached(
        (_all_of, template), lambda: frozenset(template.resources).union(*(_all_of(child) for child in template.nested.values()))
    )


def _imported_from(template: Template) -> set[Template]:
    """The stacks that are deployed before this one: an import needs the other stack's outputs, which come last."""
    roots = template.model.roots
    found = {roots[name] for name in template.document.awaits if name in roots}
    waiting = [template]
    while waiting:
        part = waiting.pop()
        waiting.extend(part.nested.values())
        for name, argument in _calls(part.raw.get("Resources")):
            resolved = part.resolver.resolve(argument)
            if name == "Fn::ImportValue" and isinstance(resolved, str):
                found |= {_root(exporter) for exporter in template.model.exporters(resolved, template.environment)}
            elif name == "Fn::GetStackOutput" and isinstance(resolved, Mapping):
                stack = resolved.get("StackName")
                found |= set(template.model.stacks_named(stack, template.place(resolved))) if isinstance(stack, str) else set()
    return found - {template}


def _root(template: Template) -> Template:
    while template.parent is not None:
        template = template.parent.template
    return template


def _calls(raw: Raw) -> Iterator[tuple[str, Raw]]:
    """The function calls in this part of a template."""
    waiting = [raw]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if len(value) == 1:
                yield next(iter(value.items()))
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def circles(template: Template) -> Iterator[list[Resource]]:
    """Resources that surely await themselves, which CloudFormation refuses: each awaits the next, and the last the first."""
    named = {name: _certain(resource) for name, resource in template.by_id.items()}
    inside = _without_ends(named)
    seen: set[str] = set()
    for name in inside:
        if name in seen:
            continue
        way = _first_circle(name, named, inside, seen)
        if way:
            yield [template.by_id[step] for step in way]


def _certain(resource: Resource) -> list[str]:
    names = dict.fromkeys(_local_names(resource, certain=True))
    return [name for name in names if name in resource.template.by_id]


def _without_ends(named: Mapping[str, list[str]]) -> dict[str, None]:
    """The names that are left when those that await nothing are taken away again and again: circles, and what awaits them."""
    left = {name: len(others) for name, others in named.items()}
    awaiting: dict[str, list[str]] = {}
    for name, others in named.items():
        for other in others:
            awaiting.setdefault(other, []).append(name)
    ends = [name for name, count in left.items() if not count]
    while ends:
        for name in awaiting.get(ends.pop(), ()):
            left[name] -= 1
            if not left[name]:
                ends.append(name)
    return {name: None for name, count in left.items() if count}


def _first_circle(start: str, named: Mapping[str, list[str]], inside: Mapping[str, None], seen: set[str]) -> list[str]:
    """From a name on to the next that is left, until one comes again; nothing where that was seen before."""
    way: dict[str, None] = {}
    current = start
    while current not in seen:
        seen.add(current)
        way[current] = None
        current = next(other for other in named[current] if other in inside)
    steps = list(way)
    return steps[steps.index(current) :] if current in way else []


def _local_names(resource: Resource, *, certain: bool = False) -> Iterator[str]:
    """The names of the same template that a resource uses; of ``Fn::If`` with a known condition, only the branch that counts.

    :param certain: leave out the branches of a condition that is not known.
    """
    explicit = resource.raw.get("DependsOn")
    for name in explicit if isinstance(explicit, list) else [explicit]:
        if isinstance(name, str):
            yield name
    waiting = [resource.raw.get("Properties")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            if len(value) == 1:
                name, argument = next(iter(value.items()))
                if name == "Fn::If" and isinstance(argument, list) and len(argument) == 3:
                    waiting.extend(_branches(resource, argument, certain))
                    continue
                yield from _names(name, argument)
            waiting.extend(value.values())


def _branches(resource: Resource, argument: list[Raw], certain: bool) -> list[Raw]:
    holds = resource.template.condition(argument[0]) if isinstance(argument[0], str) else None
    if holds is None:
        return [] if certain else argument[1:]
    return [argument[1 if holds else 2]]


def _names(function: str, argument: Raw) -> Iterator[str]:
    first = argument[0] if isinstance(argument, list) and argument else argument
    if not isinstance(first, str):
        return
    if function == "Ref":
        yield first
    elif function == "Fn::GetAtt":
        yield first.partition(".")[0]
    elif function == "Fn::Sub":
        given = argument[1] if isinstance(argument, list) and len(argument) == 2 and isinstance(argument[1], dict) else {}
        yield from (name for name in _VARIABLE.findall(first) if name not in given)


def _references(value: Value) -> Iterator[Resource]:
    """The resources in a resolved value."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Reference):
            yield current.resource
        elif isinstance(current, Text):
            waiting.extend(current.references)
        elif isinstance(current, Either):
            waiting.extend(current.alternatives)
        elif isinstance(current, tuple):
            waiting.extend(current)
        elif isinstance(current, Mapping):
            waiting.extend(current.values())
