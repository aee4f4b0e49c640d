"""The order of creation, from `DependsOn`, functions in properties and in metadata, nested stacks and exports.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-dependson.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.templates.model import Model, Resource, Template, target_of
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import Either, Reference, Text, Value, leaves

_VARIABLE = re.compile(r"\$\{\s*([^!${}.\s]+)")


def depends_on(resource: Resource) -> frozenset[Resource]:
    """The resources that a resource depends on: by `DependsOn`, by a function, or by an export or output of another stack."""
    return resource.template.model.cached((depends_on, resource), lambda: _named_by(resource))


def awaits(resource: Resource, other: Resource) -> bool:
    """Whether a resource is created after another, by any chain of dependencies within and between stacks."""
    return other is not resource and other in resource.template.model.cached((awaits, resource), lambda: _awaited(resource))


def references(value: Value) -> Iterator[Resource]:
    """All resources to which a resolved value refers."""
    for leaf in leaves(value):
        if isinstance(leaf, Reference):
            yield target_of(leaf)
        elif isinstance(leaf, Text):
            yield from map(target_of, leaf.references)
        elif isinstance(leaf, Either):
            yield from references(leaf.alternatives)


def nested_in(resources: Iterable[Resource]) -> Iterator[Resource]:
    """The resources of the nested stacks among some, also of those in them."""
    for one in resources:
        inside = () if one.nested is None else one.nested.resources
        yield from (*inside, *nested_in(inside))


def named_at(resource: Resource, *path: str) -> list[Resource]:
    """The resources of its template that functions name at a path in the properties, also inside of dynamic references."""
    raw = resource.raw.get("Properties")
    for key in path:
        raw = raw.get(key) if isinstance(raw, dict) else None
    names = dict.fromkeys(name for function, argument in _calls(raw) for name in _names(function, argument))
    return [resource.template.by_id[name] for name in names if name in resource.template.by_id]


def parameter_at(resource: Resource, path: Sequence[str | int]) -> tuple[Template, str] | None:
    """The parameter that alone gives the value at a path in the properties, or a list with it, in the outermost stack with one."""
    whole = raw_at(resource, path[:-1]) if path and isinstance(path[-1], int) else None
    return _parameter_in(resource.template, raw_at(resource, path) if whole is None or isinstance(whole, list) else whole)


def parameter_giving(resource: Resource, path: Sequence[str | int], part: Value) -> tuple[Template, str] | None:
    """The only parameter that gives a part of the text at a path in the properties, in the outermost stack with one."""
    template, declared = resource.template, resource.template.document.section("Parameters")
    named = dict.fromkeys(name for call, argument in _calls(raw_at(resource, path)) for name in _names(call, argument))
    giving = [name for name in named if name in declared and template.resolver.resolve({"Ref": name}) == part]
    return _parameter_in(template, {"Ref": giving[0]}) if len(giving) == 1 else None


def import_at(resource: Resource, path: Sequence[str | int]) -> str | None:
    """The name of the export that alone gives the value at a path in the properties."""
    raw = raw_at(resource, path)
    argument = raw.get("Fn::ImportValue") if isinstance(raw, dict) and len(raw) == 1 else None
    name = None if argument is None else resource.template.resolver.resolve(argument)
    return name if isinstance(name, str) else None


def lookup_at(resource: Resource, path: Sequence[str | int]) -> tuple[Template, str, str, str] | None:
    """The mapping that alone gives the value at a path in the properties, with the two keys as they are written."""
    raw = raw_at(resource, path)
    argument = raw.get("Fn::FindInMap") if isinstance(raw, dict) and len(raw) == 1 else None
    if not isinstance(argument, list) or len(argument) < 3:
        return None
    mapping, first, second = map(str, argument[:3])
    return resource.template, mapping, first, second


def output_of(template: Template, parameter: str) -> tuple[Template, str] | None:
    """The output of a nested stack that alone gives a parameter of another one."""
    parent = template.parent
    properties = None if parent is None else parent.raw.get("Properties")
    given = properties.get("Parameters") if isinstance(properties, dict) else None
    raw = given.get(parameter) if isinstance(given, dict) else None
    argument = raw.get("Fn::GetAtt") if isinstance(raw, dict) and len(raw) == 1 else None
    stack, _, rest = (".".join(map(str, argument)) if isinstance(argument, list) else str(argument)).partition(".")
    giver = None if parent is None else parent.template.by_id.get(stack)
    name = rest.removeprefix("Outputs.")
    return None if giver is None or giver.nested is None or name == rest else (giver.nested, name)


def raw_at(resource: Resource, path: Sequence[str | int]) -> Raw:
    """The properties of a resource at a path, as written."""
    raw: Raw = resource.raw.get("Properties")
    for key in path:
        raw = raw.get(key) if isinstance(raw, dict) and isinstance(key, str) else _item(raw, key)
    return raw


def _item(raw: Raw, key: str | int) -> Raw:
    return raw[key] if isinstance(raw, list) and isinstance(key, int) and key < len(raw) else None


def _parameter_in(template: Template, raw: Raw) -> tuple[Template, str] | None:
    if isinstance(raw, dict) and isinstance(raw.get("Fn::Select"), list):
        return _parameter_in(template, _item(raw["Fn::Select"], 1))
    name = raw.get("Ref") if isinstance(raw, dict) and len(raw) == 1 else None
    declared = template.raw.get("Parameters")
    if not isinstance(name, str) or not isinstance(declared, dict) or name not in declared:
        return None
    properties = None if template.parent is None else template.parent.raw.get("Properties")
    given = properties.get("Parameters") if isinstance(properties, dict) else None
    if template.parent is None or not isinstance(given, dict) or name not in given:
        return template, name
    return _parameter_in(template.parent.template, given[name]) or (template, name)


def _named_by(resource: Resource) -> frozenset[Resource]:
    template = resource.template
    if resource.key in template.model.doubts.orders:
        return frozenset(one for other in _not_after(template.root) for one in _all_of(other)) - _ending_after(resource)
    return _written_by(resource)


def _not_after(root: Template) -> Iterator[Template]:
    """A stack, and those that may be deployed before it, as they surely need nothing of it."""
    roots = [one for one in root.model.templates if one.parent is None]
    needing = root.model.cached(_not_after, lambda: grouped((needed, one) for one in roots for needed in imported_from(one)))
    later, waiting = set[Template](), [root]
    while waiting:
        following = set(needing.get(waiting.pop(), ())) - later
        later |= following
        waiting.extend(following)
    return (one for one in roots if one not in later or one is root)


def _written_by(resource: Resource) -> frozenset[Resource]:
    """The resources that one names itself, whatever is in doubt."""
    by_id = resource.template.by_id
    named = {by_id[name] for name in _local_names(resource) if name in by_id}
    return frozenset((named | set(references(resource.get()))) - {resource})


def _ending_after(resource: Resource) -> set[Resource]:
    """A resource, what awaits it, and the stacks that these are in: it can await none of them, as that would be a circle."""
    users, found, waiting = _users(resource.template.model), {resource}, [resource]
    while waiting:
        current = waiting.pop()
        following = {
            one for user in users.get(current, ()) for one in (user, *(() if user.nested is None else _all_of(user.nested)))
        }
        following |= set() if current.template.parent is None else {current.template.parent}
        waiting.extend(following - found)
        found |= following
    return found


def _users(model: Model) -> Mapping[Resource, Sequence[Resource]]:
    """By resource: those that name it themselves; computed once."""
    return model.cached(_users, lambda: grouped((named, one) for one in model.resources() for named in _written_by(one)))


def _awaited(resource: Resource) -> frozenset[Resource]:
    """All resources that are created before one, through its own dependencies and those of its stacks."""
    found: set[Resource] = set()
    templates: set[Template] = set()
    waiting = [resource]
    while waiting:
        current = waiting.pop()
        following = set(depends_on(current))
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
    """The resources that are created before a whole template: the dependencies of its nested stack, and the stacks it imports."""
    if template.parent is not None:
        return depends_on(template.parent)
    return template.model.cached(
        (_before, template), lambda: frozenset(resource for other in imported_from(template) for resource in _all_of(other))
    )


def _all_of(template: Template) -> frozenset[Resource]:
    """The resources of a template and of its nested stacks."""
    return template.model.cached(
        (_all_of, template), lambda: frozenset(template.resources).union(*(_all_of(child) for child in template.nested.values()))
    )


def imported_from(template: Template) -> set[Template]:
    """The stacks that are deployed before this one: it needs their outputs, which come last."""
    roots = template.model.roots
    found = {roots[name] for name in template.document.awaits if name in roots}
    waiting = [template]
    while waiting:
        part = waiting.pop()
        waiting.extend(part.nested.values())
        for name, argument in _calls(part.raw.get("Resources")):
            if name not in ("Fn::ImportValue", "Fn::GetStackOutput"):
                continue
            resolved = part.resolver.resolve(argument)
            if name == "Fn::ImportValue" and isinstance(resolved, str):
                found |= {exporter.root for exporter in template.model.exporters(resolved, template.environment)}
            elif isinstance(resolved, Mapping):
                stack = resolved.get("StackName")
                found |= (
                    set(template.model.stacks_named(stack, template.environment.place(resolved)))
                    if isinstance(stack, str)
                    else set()
                )
    return found - {template}


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
    """Certain dependency circles, which CloudFormation refuses: each resource awaits the next, and the last the first."""
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
    """The names in circles and behind them: names without dependencies are removed until no more are left."""
    left = {name: len(others) for name, others in named.items()}
    awaiting = grouped((other, name) for name, others in named.items() for other in others)
    ends = [name for name, count in left.items() if not count]
    while ends:
        for name in awaiting.get(ends.pop(), ()):
            left[name] -= 1
            if not left[name]:
                ends.append(name)
    return {name: None for name, count in left.items() if count}


def _first_circle(start: str, named: Mapping[str, list[str]], inside: Mapping[str, None], seen: set[str]) -> list[str]:
    """The first circle from a name on; empty if the way leads to a name seen before."""
    way: dict[str, None] = {}
    current = start
    while current not in seen:
        seen.add(current)
        way[current] = None
        current = next(other for other in named[current] if other in inside)
    steps = list(way)
    return steps[steps.index(current) :] if current in way else []


def _local_names(resource: Resource, *, certain: bool = False) -> Iterator[str]:
    """The names of the same template that a resource uses; for a known condition of `Fn::If`, only in the chosen branch.

    A reference that is in doubt counts, as nobody knows the right one, but is not certain.

    :param certain: whether to leave out both branches of an unknown condition, and metadata; false by default.
    """
    yield from _explicit(resource)
    waiting = [resource.raw.get("Properties")] if certain else [resource.written.get(key) for key in ("Properties", "Metadata")]
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


def _explicit(resource: Resource) -> Iterator[str]:
    """The names in `DependsOn`."""
    written = resource.raw.get("DependsOn")
    return (name for name in (written if isinstance(written, list) else [written]) if isinstance(name, str))


def explicitly_awaits(resource: Resource, other: Resource) -> bool:
    """Whether the `DependsOn` of a resource has another one of its template."""
    return other.template is resource.template and other.logical_id in _explicit(resource)


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
