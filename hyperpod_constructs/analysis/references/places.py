"""The calls of functions in a template, each with its place, and the names that they can use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated
from hyperpod_constructs.templates.model import Model, Resource, Template
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.transforms import may_name
from hyperpod_constructs.templates.values import Value

Path: TypeAlias = tuple[str | int, ...]
Needs: TypeAlias = tuple[tuple[str, bool], ...]

ENTRIES = {"Conditions": "Condition", "Outputs": "Output", "Parameters": "Parameter", "Resources": "Resource", "Rules": "Rule"}
"""The sections whose entries are places of mistakes, with what each entry is called."""


@dataclass(frozen=True, slots=True)
class Misreference:
    """A mistake at a place of a template.

    :param owner: the resource, or the parameter, condition, output or rule (`entry`).
    :param allowed: the allowed values, in words.
    :param of_order: it is in `DependsOn`.
    :param doubts: places elsewhere that may be the mistake instead.
    """

    owner: Resource
    path: Path
    message: str
    found: Value
    allowed: str
    covers: tuple[Resource, ...] = ()
    of_order: bool = False
    doubts: tuple[tuple[Resource, Path], ...] = ()


class Call(NamedTuple):
    """A call of a function, or a condition by its name.

    :param path: the path of the outermost function from the properties of a resource; empty elsewhere.
    :param sure: whether the deployment surely needs the result: no condition decides, or a known one chooses it.
    :param needs: the conditions under which the result is needed, each with the answer that it must give.
    """

    owner: Resource
    path: Path
    name: str
    argument: Raw
    sure: bool
    needs: Needs = ()

    @property
    def template(self) -> Template:
        """The template of the call."""
        return self.owner.template

    def written(self) -> Raw:
        """The argument of the outermost function at the place of the call."""
        value: Raw = self.owner.raw.get("Properties")
        for key in self.path:
            if isinstance(value, dict) and isinstance(key, str):
                value = value.get(key)
            else:
                value = value[key] if isinstance(value, list) and isinstance(key, int) and key < len(value) else None
        return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else None

    def mistake(self, message: str, found: Value, allowed: str) -> Misreference:
        """A mistake at the place of the call."""
        return Misreference(self.owner, self.path, message, found, allowed)


def entry(template: Template, section: str, name: str) -> Resource:
    """A parameter, condition, output or rule, as the place of a mistake."""
    return template.model.cached((entry, template, section, name), lambda: Resource(template, name, {"Type": ENTRIES[section]}))


def head(template: Template) -> Resource | None:
    """Where mistakes of a whole template stand: the first resource that every deployment has, or else the first one."""
    return next((one for one in template.resources if one.condition is None), next(iter(template.resources), None))


def section(template: Template, name: str) -> Mapping[str, Raw]:
    """A section of the template as written, without loops and macros; empty without one."""
    return template.model.cached((section, template, name), lambda: _section(template.raw.get(name)))


def _section(written: Raw) -> Mapping[str, Raw]:
    return {key: value for key, value in written.items() if not key.startswith("Fn::")} if isinstance(written, dict) else {}


def names(template: Template, *sections: str) -> frozenset[str] | None:
    """The names in sections of a template; `None` if a macro, a loop or a module adds some. Computed once."""
    return template.model.cached((names, template, sections), lambda: _names(template, sections))


def _names(template: Template, sections: Iterable[str]) -> frozenset[str] | None:
    if may_name(template.raw):
        return None
    found: set[str] = set()
    for name in sections:
        written = template.raw.get(name)
        if isinstance(written, dict):
            resources = template.written if name == "Resources" else {}
            if any(key.startswith("Fn::") for key in written) or any(map(_is_module, resources.values())):
                return None
            found |= {*resources, *written}
    return frozenset(found)


def _is_module(resource: Mapping[str, Raw]) -> bool:
    """Whether a resource is a module, whose resources have names that begin with its own.

    Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/module-ref-resources.html
    """
    return str(resource.get("Type")).endswith("::MODULE")


def calls(model: Model) -> tuple[Call, ...]:
    """The calls in the resources, outputs, conditions and rules of a model; computed once."""
    return model.cached(calls, lambda: tuple(call for one in model.templates for call in _of_template(one)))


def once(mistakes: Iterable[Misreference]) -> Iterator[Misreference]:
    """One mistake where several places of a template have the same; it names the others."""
    for same in grouped(((one.owner.template, one.message), one) for one in mistakes).values():
        owners = list(dict.fromkeys(one.owner for one in same))
        first, others = same[0], [owner for owner in owners if owner is not same[0].owner]
        more = f"; the same in {enumerated(owner.logical_id for owner in others)}" if others else ""
        yield settled(replace(first, message=f"{first.message}{more}", covers=tuple(others)))


def settled(one: Misreference) -> Misreference:
    """A mistake of a condition or a rule at what it decides on, where an acknowledgement can stand; it says which one."""
    user = _user(one.owner)
    if user is None:
        return one
    what, name = one.owner.type.lower(), one.owner.logical_id
    said = one.message if f"{what} {name}" in one.message else f"{one.message}, in {what} {name}"
    return replace(one, owner=user, path=(), message=said)


def _user(owner: Resource) -> Resource | None:
    """The first resource or output with a condition, or the first resource or parameter of a rule; `None` without one."""
    template, names_of = owner.template, set[str]()
    if owner.type == "Rule":
        named = [*_named(section(template, "Rules").get(owner.logical_id), "Ref")]
        parameters = [entry(template, "Parameters", name) for name in named if name in section(template, "Parameters")]
        return next(iter([*(template.by_id[name] for name in named if name in template.by_id), *parameters]), None)
    waiting = [owner.logical_id] if owner.type == "Condition" else []
    while waiting:
        name = waiting.pop()
        if name not in names_of:
            names_of.add(name)
            waiting += [one for one, written in section(template, "Conditions").items() if name in _named(written, "Condition")]
    outputs = ((entry(template, "Outputs", name), written) for name, written in section(template, "Outputs").items())
    places = [*((one, one.raw) for one in template.resources), *outputs] if names_of else []
    return next(
        (place for place, raw in places if not names_of.isdisjoint({*_named(raw, "Condition"), *_named(raw, "Fn::If")})), None
    )


def _named(raw: object, key: str) -> Iterator[str]:
    """The names that a function takes anywhere in a value."""
    waiting = [raw]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, dict):
            argument = value.get(key)
            first = argument[0] if isinstance(argument, list) and argument else argument
            yield from (first,) if isinstance(first, str) else ()
            waiting += reversed(value.values())


def _of_template(template: Template) -> Iterator[Call]:
    if template.rewritten:
        return
    for resource in template.resources:
        yield from _in(resource, resource.raw.get("Properties"), resource.exists is True, _need(resource.condition))
    for name, output in section(template, "Outputs").items():
        condition = output.get("Condition") if isinstance(output, dict) else None
        holds = template.condition(condition) if isinstance(condition, str) else True
        if holds is not False:
            yield from _in(entry(template, "Outputs", name), output, holds is True, _need(condition), nested=True)
    for kind in ("Conditions", "Rules"):
        for name, written in section(template, kind).items():
            yield from _in(entry(template, kind, name), written, True, nested=True)


def _need(condition: Raw) -> Needs:
    return ((condition, True),) if isinstance(condition, str) else ()


_Waiting: TypeAlias = tuple[Raw, Path, bool, Needs, bool]


def _in(owner: Resource, raw: Raw, sure: bool, needs: Needs = (), *, nested: bool = False) -> Iterator[Call]:
    """The calls in a value.

    :param nested: whether the value has no path of its own, as inside of another call; false by default.
    """
    waiting: list[_Waiting] = [(raw, (), sure, needs, nested)]
    while waiting:
        value, path, sure, needs, nested = waiting.pop()
        if isinstance(value, list):
            items = [(item, path if nested else (*path, index), sure, needs, nested) for index, item in enumerate(value)]
            waiting.extend(reversed(items))
        elif isinstance(value, dict):
            if len(value) == 1:
                ((name, argument),) = value.items()
                if name == "Fn::If" and isinstance(argument, list) and len(argument) == 3:
                    yield Call(owner, path, name, argument, sure, needs)
                    waiting.extend(_branches(owner.template, argument, path, sure, needs))
                    continue
                if name.startswith(("Fn::ForEach", "Fn::Transform")):
                    continue
                if name == "Ref" or name.startswith("Fn::") or (name == "Condition" and isinstance(argument, str)):
                    yield Call(owner, path, name, argument, sure, needs)
                    waiting.append((argument, path, sure, needs, True))
                    continue
            if not any(key.startswith("Fn::") for key in value):
                members = [(item, path if nested else (*path, key), sure, needs, nested) for key, item in value.items()]
                waiting.extend(reversed(members))


def _branches(template: Template, argument: list[Raw], path: Path, sure: bool, needs: Needs) -> Iterator[_Waiting]:
    name = argument[0] if isinstance(argument[0], str) else None
    holds = None if name is None else template.condition(name)
    for branch, chosen in ((argument[1], True), (argument[2], False)):
        yield branch, path, sure and holds is chosen, needs if name is None else (*needs, (name, chosen)), True
