"""Explanations: one place of a template that explains several findings, of which none is at this place.

A setting explains the mistakes of its resource that are gone where it is not known. A reference explains findings that are gone
where it leads to another resource of its type: several things fail together, and would not with another group, subnet or table. It
may be an import, or an output that one nested stack gives another. So does a parameter where it has the value that its namesake in
another template has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import shortened
from hyperpod_constructs.analysis.references.exports import lonely_imports
from hyperpod_constructs.analysis.references.places import entry, section
from hyperpod_constructs.rules.consequences import Heard, gone_from, gone_in
from hyperpod_constructs.rules.finding import Level
from hyperpod_constructs.rules.rule import Rule
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.doubts import Doubts, Path, key_of
from hyperpod_constructs.templates.model import Model, Resource, Template, resource_of
from hyperpod_constructs.templates.raw import Raw
from hyperpod_constructs.templates.values import shown

_MOST_SETTINGS, _MOST_REFERENCES, _MOST_LOOKS = 12, 40, 2_000
"""Settings and references that are asked, and the resources that this looks at again."""
_JOINING: Mapping[str, str] = {"AWS::SageMaker::Cluster": "VpcConfig"}
"""The property by which a resource that no finding names joins others that fail together."""
_MOST_FINDINGS = 8
_IMPORT, _OUTPUT = "Fn::ImportValue", "Outputs."


def explained(heard: Sequence[Heard], model: Model, rules: Sequence[Rule]) -> list[Heard]:
    """What is heard; of several findings that one place explains, the first, which tells of the others.

    :param rules: all rules, of which none has an error with what a reference may lead to instead.
    """
    return _by_references(_by_namesakes(_by_settings(heard, model), model, rules), model, rules)


def _by_settings(heard: Sequence[Heard], model: Model) -> list[Heard]:
    left = list(heard)
    together = grouped((one[1].resource.key, one) for one in heard if one[1].path)
    asked = ((key, place) for key, found in together.items() if len(found) > 1 for place in _settings(found))
    for key, place in islice(asked, min(_MOST_SETTINGS, _looks(model))):
        present = [one for one in left if one[1].path and one[1].resource.key == key]
        gone = _sorted(gone_in(present, Doubts(values={key: [place]}), model, heard)) if len(present) > 1 else []
        if len(gone) > 1:
            value = shown(gone[0][1].resource.get(*place))
            left = _with_one_for(gone, _telling(gone, f"all because of {place[-1]} {value}"), left)
    return left


def _settings(found: Sequence[Heard]) -> Iterator[Path]:
    """The places of single known values beside those of some mistakes of a resource, the nearest first."""
    resource, paths = found[0][1].resource, {one[1].path for one in found}
    parents = {path[:length] for path in paths for length in range(len(path))}
    for parent in sorted(parents, key=lambda parent: (-len(parent), [*map(str, parent)])):
        beside = resource.get(*parent)
        for key, value in beside.items() if isinstance(beside, Mapping) else ():
            if isinstance(value, str | int) and (*parent, key) not in paths:
                yield (*parent, key)


def _by_namesakes(heard: Sequence[Heard], model: Model, rules: Sequence[Rule]) -> list[Heard]:
    """What is heard, with one finding for a parameter whose value explains several of its template."""
    for template, name, value in _namesakes(model) if _are_several(heard) else ():
        own = [one for one in heard if one[1].resource.template.root is template]
        given = {**model.deployment.given, key_of(template.document, name): value}
        other = model.deployed(replace(model.deployment, given=given))
        gone = _sorted(gone_from(own, other, heard, strict=True)) if _are_several(own) else []
        kept = lonely_imports(other) <= lonely_imports(model)
        if kept and _are_several(gone) and _says_no_new_error(rules, model, other):
            first = _telling(gone, f"none of this with {name} {value!r}, as another template has it")
            return _with_one_for(gone, _at(first, entry(template, "Parameters", name), (), gone), heard)
    return list(heard)


def _are_several(found: Sequence[Heard]) -> bool:
    """Whether findings tell of several resources; one may speak for others."""
    return sum(1 + len(hit.covers) for _, hit, _ in found) > 1


def _namesakes(model: Model) -> Iterator[tuple[Template, str, str]]:
    """The parameters with a default that have another one in another stack, each with that one."""
    defaults = [
        (root, name, default)
        for root in model.roots.values()
        for name, declared in section(root, "Parameters").items()
        if isinstance(default := declared.get("Default") if isinstance(declared, dict) else None, str)
    ]
    found = {
        (root, name, other): None
        for root, name, default in defaults
        for another, namesake, other in defaults
        if another is not root and namesake == name and other != default
    }
    return islice(found, min(_MOST_SETTINGS, _looks(model)))


def _at(heard: Heard, resource: Resource, path: Path, gone: Sequence[Heard]) -> Heard:
    """A finding at another place, which is the mistake of some."""
    rule, hit, finding = heard
    said = replace(hit, resource=resource, path=path, covers=tuple(one[1].resource for one in gone))
    return rule, said, replace(rule.finding(said), level=finding.level, message=finding.message)


def _by_references(heard: Sequence[Heard], model: Model, rules: Sequence[Rule]) -> list[Heard]:
    asked = _sorted(heard)[:_MOST_FINDINGS]
    found = _best(asked, heard, model, rules) if len(asked) > 1 else None
    if found is None:
        return list(heard)
    resource, path, other, gone = found
    first = _telling(gone, f"none of this with {_words(resource.template, other)} at {'/'.join(map(str, path))}")
    return _with_one_for(gone, _at(first, resource, path, gone), heard)


def _best(
    asked: Sequence[Heard], heard: Sequence[Heard], model: Model, rules: Sequence[Rule]
) -> tuple[Resource, Path, Raw, list[Heard]] | None:
    """The reference that explains most of some findings elsewhere, and more than one; what it may be instead, and the findings."""
    best: tuple[Resource, Path, Raw, list[Heard]] | None = None
    for resource, path, other in islice(_others(asked, heard, model), min(_MOST_REFERENCES, _looks(model))):
        doubts = Doubts(instead={resource.key: (path, other)})
        gone = gone_in(asked, doubts, model, heard, strict=True)
        better = _is_more(gone, resource) and len(gone) > (len(best[3]) if best else 0)
        if better and _says_no_new_error(rules, model, model.doubting(doubts)):
            best = resource, path, other, gone
            if len(gone) == len(asked):
                break
    return best


def _is_more(gone: Sequence[Heard], resource: Resource) -> bool:
    """Whether several findings are gone, and not all of them are at a resource."""
    return len(gone) > 1 and any(one[1].resource is not resource for one in gone)


def _says_no_new_error(rules: Sequence[Rule], before: Model, after: Model) -> bool:
    """Whether no rule has an error at a resource of a model at which it has none before."""
    checks = (rule.check for rule in rules if rule.level is Level.ERROR)
    with suppress(Exception):
        return all({one.resource.key for one in check(after)} <= {one.resource.key for one in check(before)} for check in checks)
    return False


def _others(asked: Sequence[Heard], heard: Sequence[Heard], model: Model) -> Iterator[tuple[Resource, Path, Raw]]:
    """The references on which several findings rest, each to every other resource of its type that the template can name."""
    joining = {one: (key,) for type_, key in _JOINING.items() for one in model.resources(type_)}
    given: dict[Resource, Path] = {stack: ("Parameters",) for one in joining if (stack := one.template.parent) is not None}
    named: dict[Resource, Path] = dict.fromkeys((one[1].resource for one in asked), ())
    for resource, start in {**given, **joining, **named}.items():
        for path in _resting([*_references(resource, start)], resource, asked, heard, model):
            yield from ((resource, path, other) for other in _instead(resource, raw_at(resource, path)))


def _resting(
    places: Sequence[Path], resource: Resource, asked: Sequence[Heard], heard: Sequence[Heard], model: Model
) -> Iterator[Path]:
    """Those of some places of a resource on each of which several findings rest, found by halves."""
    doubts = Doubts(values={resource.key: [*places]})
    if not places or not _is_more(gone_in(asked, doubts, model, heard), resource):
        return
    half = len(places) // 2
    for some in (places[:half], places[half:]) if half else ():
        yield from _resting(some, resource, asked, heard, model)
    yield from () if half else places


def _instead(resource: Resource, raw: Raw) -> Iterator[Raw]:
    """The same reference, import or output of a nested stack, to each other resource of its type."""
    template, target = resource.template, _target(resource.template, raw)
    for other in _alike(template, raw) if target is not None else ():
        found = _target(template, other)
        if target is not None and found not in (None, target, resource) and found is not None and found.type == target.type:
            yield other


def _alike(template: Template, raw: Raw) -> Iterator[Raw]:
    """The references of the same form: to all resources, outputs of a nested stack, or imports."""
    stack = _stack(template, raw)
    if stack is not None and stack.nested is not None:
        for name in section(stack.nested, "Outputs"):
            yield {"Fn::GetAtt": [stack.logical_id, f"{_OUTPUT}{name}"]}
    elif _named(raw):
        yield from (_renamed(raw, name) for name in template.by_id)
    else:
        for name in dict.fromkeys(name for one in template.model.templates for name, _ in one.exports()):
            yield {_IMPORT: name}


def _target(template: Template, raw: Raw) -> Resource | None:
    """The resource to which a reference leads, an import of one, or an output of a nested stack."""
    is_import = isinstance(raw, dict) and [*raw] == [_IMPORT]
    if is_import or _stack(template, raw) is not None:
        return resource_of(template.resolver.resolve(raw))
    return template.by_id.get(_named(raw))


def _stack(template: Template, raw: Raw) -> Resource | None:
    """The nested stack of which a reference gives an output."""
    argument = raw.get("Fn::GetAtt") if isinstance(raw, dict) else None
    is_output = isinstance(argument, list) and len(argument) == 2 and str(argument[1]).startswith(_OUTPUT)
    return template.by_id.get(_named(raw)) if is_output else None


def _words(template: Template, raw: Raw) -> str:
    """The name of a reference: that of a resource, of an output, or of an import."""
    argument = next(iter(raw.values())) if isinstance(raw, dict) else raw
    is_output = isinstance(argument, list) and _stack(template, raw) is not None
    return ".".join(map(str, argument)) if is_output and isinstance(argument, list) else _named(raw) or str(argument)


def _references(resource: Resource, start: Path) -> Iterator[Path]:
    """The places of references to resources, or of imports of such, below a place of a resource."""
    waiting = [(raw_at(resource, start), start)]
    while waiting:
        raw, path = waiting.pop()
        if _target(resource.template, raw) is not None:
            yield path
        items = raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ()
        waiting.extend((item, (*path, key)) for key, item in reversed([*items]))


def _named(raw: Raw) -> str:
    """The resource or parameter that a reference names; empty for anything else."""
    argument = next(iter(raw.values())) if isinstance(raw, dict) and len(raw) == 1 and {*raw} <= {"Ref", "Fn::GetAtt"} else None
    first = argument[0] if isinstance(argument, list) and argument else argument
    return first.partition(".")[0] if isinstance(first, str) else ""


def _renamed(raw: Raw, name: str) -> Raw:
    """The same reference to another resource."""
    if isinstance(raw, dict):
        return {function: _renamed(argument, name) for function, argument in raw.items()}
    return [name, *raw[1:]] if isinstance(raw, list) else ".".join([name, *str(raw).split(".")[1:]])


def _telling(found: Sequence[Heard], explanation: str) -> Heard:
    """The first of some findings, with the others and the place that explains them."""
    rule, hit, finding = found[0]
    said = "; ".join(dict.fromkeys(one[2].message for one in found))
    return rule, hit, replace(finding, message=shortened(f"{said}; {explanation}"))


def _with_one_for(gone: Sequence[Heard], first: Heard, heard: Sequence[Heard]) -> list[Heard]:
    """What is heard, with one finding in the place of several."""
    return [first if one is gone[0] else one for one in heard if one is gone[0] or one not in gone]


def _sorted(found: Sequence[Heard]) -> list[Heard]:
    return sorted(found, key=lambda one: one[2].level is not Level.ERROR)


def _looks(model: Model) -> int:
    return 1 + _MOST_LOOKS // (1 + len(model.resources()))
