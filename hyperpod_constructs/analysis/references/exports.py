"""Exports with the same name, and imports that no given stack exports although one nearly does."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import listed
from hyperpod_constructs.analysis.references.places import Call, Misreference, calls, entry, section
from hyperpod_constructs.templates.model import Model, Template

_SEPARATORS, _SEVERAL = re.compile(r"[-:_/.]"), 3
_NEAR = 0.85
"""How alike two names are if one is probably meant by the other."""


def twice(model: Model) -> Iterator[Misreference]:
    """Exports whose name another output of the same stack, or of one surely beside it, has too."""
    named = grouped((name, (template, output)) for template in model.templates for name, output in _exports(template))
    for name, places in named.items():
        for number, (template, output) in enumerate(places[1:], start=1):
            before = next((one for one in places[:number] if _is_beside(template, one[0])), None)
            if before is not None:
                where = "" if before[0] is template else f" of {before[0].name}"
                message = f"output {output} exports {name!r}, as output {before[1]}{where} does"
                yield Misreference(entry(template, "Outputs", output), (), message, name, "another name")
    for template in model.templates:
        yield from _written_twice(template)


def _exports(template: Template) -> Iterator[tuple[str, str]]:
    """The known names of exports that are surely there."""
    return ((name, output) for name, output in template.exports() if _is_there(template, output))


def _is_there(template: Template, output: str) -> bool:
    """Whether no condition may leave an output out."""
    declared = section(template, "Outputs").get(output)
    condition = declared.get("Condition") if isinstance(declared, dict) else None
    return not isinstance(condition, str) or template.condition(condition) is True


def _written_twice(template: Template) -> Iterator[Misreference]:
    """Exports of a template whose name is not known, and written like that of another one."""
    known = {output for _, output in template.exports()}
    before: dict[str, str] = {}
    for output, declared in section(template, "Outputs").items():
        export = declared.get("Export") if isinstance(declared, dict) else None
        name = export.get("Name") if isinstance(export, dict) else None
        if name is None or output in known or not _is_there(template, output):
            continue
        written = json.dumps(name, sort_keys=True)
        if written in before:
            message = f"output {output} exports {written}, as output {before[written]} does"
            yield Misreference(entry(template, "Outputs", output), (), message, written, "another name")
        before.setdefault(written, output)


def _is_beside(one: Template, other: Template) -> bool:
    """Whether two templates are surely in one account and region."""
    here, there = one.environment, other.environment
    known = here.region is not None and here.region == there.region and here.account is not None and here.account == there.account
    joined = one.model.cached(_joined, lambda: _joined(one.model))
    return known or joined.get(one.root, one.root) is joined.get(other.root, other.root)


def _joined(model: Model) -> Mapping[Template, Template]:
    """One of the stacks that imports join, for each of them: an import is from the same account and region."""
    joined: dict[Template, Template] = {}
    for user, name in _imports(model):
        exporters = model.exporters(name, user.environment)
        if len(exporters) == 1:
            here, there = (joined.setdefault(one.root, one.root) for one in (user, exporters[0]))
            joined.update((one, there) for one, first in [*joined.items()] if first is here)
    return joined


def unmatched(model: Model) -> Iterator[Misreference]:
    """Imports under names that no given stack exports, one for each template.

    A given stack exports nearly the same name, which the template does not import, or given stacks export all other imports that
    begin alike: other names may come from stacks elsewhere.
    """
    found = [(call, call.template.resolver.resolve(call.argument)) for call in calls(model) if call.name == "Fn::ImportValue"]
    named = grouped((call.template, (call, name)) for call, name in found if isinstance(name, str))
    every = {template: _strange(template, imports) for template, imports in named.items()}
    for template, imports in named.items():
        strange = every[template]
        if strange and not _follows(template, every):
            name, (call, near_name) = next(iter(strange.items()))
            more = f"; the same for {listed(repr(one) for one in list(strange)[1:])}" if len(strange) > 1 else ""
            owners = dict.fromkeys(one.owner for one, _ in strange.values())
            message = f"no given stack exports {name!r}, but one exports {near_name!r}{more}"
            yield replace(call.mistake(message, name, near_name), covers=tuple(owners))
        elif not strange and (lonely := _only_one(template, imports)) is not None:
            call, name = lonely
            message = f"no given stack exports {name!r}, and given stacks export all other imports that begin alike"
            yield call.mistake(message, name, "an exported name")


def _strange(template: Template, imports: Sequence[tuple[Call, str]]) -> dict[str, tuple[Call, str]]:
    """The names that no given stack exports, each with the nearest that one does; none where an export may have any name, or has
    that of another one by mistake."""
    strange: dict[str, tuple[Call, str]] = {}
    for call, name in imports:
        near = [] if name in strange or template.model.exporters(name, template.environment) else _near(name, template)
        free = [one for one in near if not any(one == other for _, other in imports)]
        if free:
            strange[name] = (call, free[0])
    return strange if len(strange) > _nameless(template) + len([*twice(template.model)]) else {}


def _nameless(user: Template) -> int:
    """The number of exports of stacks beside a template whose names are not known."""
    beside = [one for one in user.model.templates if one.root is not user.root and one.environment.is_beside(user.environment)]
    outputs = [output for one in beside for output in section(one, "Outputs").values()]
    declared = [output for output in outputs if isinstance(output, dict) and "Export" in output]
    return len(declared) - sum(len([*one.exports()]) for one in beside)


def _follows(template: Template, every: Mapping[Template, Mapping[str, tuple[Call, str]]]) -> bool:
    """Whether the names here are strange because those of the exporting template are: it imports strange names itself."""
    meant, own = _meant(every[template]), {export for export, _ in template.exports()}
    exporters = [one for one, names in every.items() if names and one.root is not template.root and not _meant(names) <= own]
    return meant <= {export for one in exporters for export, _ in one.exports()}


def _meant(strange: Mapping[str, tuple[Call, str]]) -> set[str]:
    return {near for _, near in strange.values()}


def _only_one(template: Template, imports: list[tuple[Call, str]]) -> tuple[Call, str] | None:
    """The only import of its family that no given stack exports, where the templates have several others."""
    if next(twice(template.model), None) is not None or _nameless(template):
        return None  # the second of two exports with one name may be the missing one, or one whose name is not known
    missing = {name: call for call, name in imports if not template.model.exporters(name, template.environment)}
    if len(missing) != 1:
        return None
    ((name, call),) = missing.items()
    family = _SEPARATORS.split(name)[0]
    beside = [other for user, other in _imports(template.model) if user.environment.is_beside(template.environment)]
    others = {other for other in beside if other != name and _SEPARATORS.split(other)[0] == family}
    exported = all(template.model.exporters(other, template.environment) for other in others)
    return (call, name) if exported and len(others) >= _SEVERAL and len(family) < len(name) else None


def _imports(model: Model) -> tuple[tuple[Template, str], ...]:
    """The known names that templates import; computed once."""
    found = ((one.template, one.template.resolver.resolve(one.argument)) for one in calls(model) if one.name == "Fn::ImportValue")
    return model.cached(_imports, lambda: tuple((template, name) for template, name in found if isinstance(name, str)))


def lonely_imports(model: Model) -> int:
    """The number of imported names that no given stack exports."""
    return sum(not model.exporters(name, user.environment) for user, name in _imports(model))


def _near(name: str, user: Template) -> list[str]:
    beside = [template for template in user.model.templates if template.environment.is_beside(user.environment)]
    exported = [export for template in beside if template.root is not user.root for export, _ in template.exports()]
    return difflib.get_close_matches(name, dict.fromkeys(exported), n=3, cutoff=_NEAR)


def circular(model: Model) -> Iterator[Misreference]:
    """Imports that lead from a stack back to itself; each circle once."""
    found: dict[Template, dict[Template, Call]] = {}
    for call in calls(model):
        name = call.template.resolver.resolve(call.argument) if call.name == "Fn::ImportValue" else None
        exporters = model.exporters(name, call.template.environment) if isinstance(name, str) else []
        if len(exporters) == 1:
            found.setdefault(call.template.root, {}).setdefault(exporters[0].root, call)
    seen: set[Template] = set()
    for start in found:
        way = [] if start in seen else _way_back(start, found)
        if way:
            seen |= set(way)
            named = " imports from ".join(one.name for one in (*way, start))
            yield found[start][(*way, start)[1]].mistake(named, named, "imports from stacks that import nothing from this one")


def _way_back(start: Template, found: Mapping[Template, Mapping[Template, Call]]) -> list[Template]:
    """The stacks on the shortest way of imports from a stack back to it; empty if there is none."""
    ways = [[start]]
    reached: set[Template] = set()
    for way in ways:
        for following in found.get(way[-1], ()):
            if following is start:
                return way
            if following not in reached:
                reached.add(following)
                ways.append([*way, following])
    return []
