"""Consequences: findings that follow from another finding, and are not said beside it.

A finding is sure only if what it rests on is. Where a value is a mistake itself, its right value is not known yet: whatever another
rule says only because of that value follows from the mistake. So the rules are asked once more about the same templates, in which
the wrong value is not known. A finding that is gone then is a consequence; one that stays is a mistake of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs._support.words import enumerated, shortened
from hyperpod_constructs.rules.finding import Finding, Hit, Level
from hyperpod_constructs.rules.rule import ORDER, Rule
from hyperpod_constructs.templates.dependencies import import_at, lookup_at, output_of, parameter_at, parameter_giving
from hyperpod_constructs.templates.doubts import Doubts, Handed, Key, Path, key_of
from hyperpod_constructs.templates.model import Model, Resource, Template, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_str, leaves, parts_of

Heard: TypeAlias = tuple[Rule, Hit, Finding]
_Places: TypeAlias = dict[tuple[str, Key], set[Path]]
"""The places of findings, by rule and resource."""

_PARAMETER = "Parameter"
_MOST_CAUSES, _MOST_LOOKS = 12, 400
"""Mistakes that are asked for consequences one by one, the most certain first, and the resources that this looks at again."""


def without_consequences(heard: Sequence[Heard], causes: Sequence[Heard], model: Model) -> list[Heard]:
    """What is heard, without what follows from some of it.

    :param causes: all that can be a cause: what is heard, and what somebody else says.
    """
    left, said = {id(one): one for one in heard}, frozenset(map(id, heard))
    most = min(_MOST_CAUSES, 1 + _MOST_LOOKS // (1 + len(model.resources())))
    for together in _in_order(causes, most) if heard and len(causes) > 1 else ():
        present = {id(one): one for one in together if id(one) in left or id(one) not in said}
        gone = _consequences([*present.values()], [one for id_, one in left.items() if id_ not in present], model)
        for one in gone:
            del left[id(one)]
        left.update((id_, _as_sure(one, gone)) for id_, one in present.items() if id_ in left)
    return list(left.values())


def _as_sure(cause: Heard, gone: Sequence[Heard]) -> Heard:
    """A mistake that is as sure as the surest of what follows from it, and tells of it."""
    rule, found, finding = cause
    worse = [one for one in gone if one[2].level is Level.ERROR]
    if finding.level is Level.ERROR or not worse:
        return cause
    return rule, found, replace(finding, level=Level.ERROR, message=shortened(f"{finding.message}; so {worse[0][1].message}"))


def _in_order(causes: Sequence[Heard], most: int) -> Iterable[list[Heard]]:
    """The mistakes by the schemas at once, which nothing else explains, and by the requests; then some others, parameters first.

    :param most: the number of others.
    """
    for validated in (True, False):
        yield [one for one in causes if one[0].yields and one[0].validated is validated]
    others = [one for one in causes if not one[0].yields and _doubts([one]) != Doubts()]
    for one in sorted(others, key=_rank)[:most]:
        yield [one]


def _rank(one: Heard) -> tuple[bool, ...]:
    _, found, finding = one
    return found.resource.type != _PARAMETER, finding.level is not Level.ERROR, not found.doubts, not found.path


def _consequences(causes: Sequence[Heard], others: Sequence[Heard], model: Model) -> list[Heard]:
    doubts = _doubts(causes)
    # A warning hides no error that has a value of its own, nor a use of a parameter the mistake of the parameter itself.
    certain = any(rule.level is Level.ERROR for rule, _, _ in causes)
    possible = [
        one
        for one in others
        if (certain or one[0].level is not Level.ERROR or not one[1].path) and one[1].resource.type != _PARAMETER
    ]
    if doubts == Doubts() or not possible:
        return []
    gone = [*map(id, gone_in([*causes, *possible], doubts, model, others))]
    # A mistake that is still said was not about what is in doubt.
    return [one for one in possible if id(one) in gone] if any(id(one) in gone for one in causes) else []


def gone_in(
    asked: Sequence[Heard], doubts: Doubts, model: Model, others: Sequence[Heard] = (), *, strict: bool = False
) -> list[Heard]:
    """Those of some mistakes that are said no more of a model in doubt.

    :param others: what else is said without the doubts.
    :param strict: none if their rules say anything new of it; false by default.
    """
    return gone_from(asked, model.doubting(doubts), others, strict=strict)


def gone_from(asked: Sequence[Heard], other: Model, others: Sequence[Heard] = (), *, strict: bool = False) -> list[Heard]:
    """Those of some mistakes that are said no more of another model of their templates."""
    still: _Places = {}
    for rule in dict.fromkeys(rule for rule, _, _ in asked):
        for hit in _hits(rule, other, [one for one in asked if one[0] is rule]):
            still.setdefault((rule.id, hit.resource.key), set()).add(hit.path)
    before: _Places = {}
    for rule, hit, _ in (*asked, *others):
        before.setdefault((rule.id, hit.resource.key), set()).add(hit.path)
    said = {*((place, path) for place, paths in before.items() for path in paths), *(_unheard(asked) if strict else ())}
    if strict and any((place, path) not in said for place, paths in still.items() for path in paths):
        return []
    return [one for one in asked if _is_gone(one, before, still)]


def _unheard(asked: Sequence[Heard]) -> Iterator[tuple[tuple[str, Key], Path]]:
    """The places of all that the rules of some findings say of their model, also where another rule silences it."""
    for rule in dict.fromkeys(rule for rule, _, _ in asked):
        model = asked[0][1].resource.template.model
        hits = model.cached((_unheard, rule.id), partial(_hits, rule, model, ()))
        yield from (((rule.id, one.resource.key), one.path) for one in hits)


def _hits(rule: Rule, model: Model, known: Sequence[Heard]) -> Iterable[Hit]:
    """The hits of a rule on a model in doubt; those that are known where it fails there."""
    try:
        return list(of_parameters_once(rule.check(model)))
    except Exception:
        return [hit for _, hit, _ in known]


def _is_gone(one: Heard, before: _Places, still: _Places) -> bool:
    """Whether a finding is said no more, not even at another place of its resource."""
    place = (one[0].id, one[1].resource.key)
    return one[1].path not in still.get(place, ()) and not still.get(place, set()) - before[place]


def _doubts(causes: Sequence[Heard]) -> Doubts:
    values: dict[Key, list[Path]] = {}
    for rule, hit, _ in causes:
        lacking = [(hit.resource, rule.because)] if rule.because not in ((), ORDER) else []
        for resource, path in (*_places(hit), *lacking):
            values.setdefault(resource.key, []).append(path)
    return Doubts(
        values=values,
        orders=frozenset(one.key for rule, hit, _ in causes for one in _late(rule, hit)),
        types={hit.resource.key: hit.meant for _, hit, _ in causes if hit.meant is not None},
        parameters=frozenset(key for _, hit, _ in causes for key in _parameters(hit)),
        handed=frozenset(one for rule, hit, _ in causes if rule.level is Level.ERROR for one in _handed(hit)),
    )


def _late(rule: Rule, hit: Hit) -> Iterable[Resource]:
    """The resources whose order is wrong."""
    if rule.because == ORDER:
        yield hit.resource
    yield from (resource for resource, path in hit.doubts if path == ORDER)


def _parameters(hit: Hit) -> Iterable[Key]:
    """The parameters that are wrong, or give a wrong value."""
    if hit.resource.type == _PARAMETER:
        yield hit.resource.key
    for resource, path in _places(hit):
        found = parameter_at(resource, path)
        if found is not None:
            yield key_of(found[0].document, found[1])


def _handed(hit: Hit) -> Iterable[Handed]:
    """The references of other stacks that are wrong, or alone in a wrong value, and the text that an output gives."""
    text, origin = as_str(hit.resource.get(*hit.path)), _origin(hit)
    if text is not None and (isinstance(origin, str) or (origin is not None and len(origin) == 3)):
        yield text
    for resource, path in _places(hit):
        parts = {part for leaf in leaves(resource.get(*path)) for part in parts_of(leaf)}
        found = [one for one in parts if isinstance(one, Reference) and target_of(one).template is not resource.template]
        yield from ((target_of(one).key, one.attribute) for one in found if len(found) == 1)


def _places(hit: Hit) -> Iterable[tuple[Resource, Path]]:
    """The single values that are wrong; of a whole with parts nobody knows which part is."""
    if hit.path and _is_single(hit.resource.get(*hit.path)):
        yield hit.resource, hit.path
        for other in hit.covers:
            if other.get(*hit.path) is not ABSENT and _is_single(other.get(*hit.path)):
                yield other, hit.path
    yield from (place for place in hit.doubts if place[1] != ORDER)


def of_parameters_once(hits: Iterable[Hit]) -> Iterator[Hit]:
    """The hits of a rule; where one parameter, export or list gives several wrong values, the first, which names the others.

    Where a nested stack gets the parameter, its giver is the place of the mistake.
    """
    by_cause = grouped((_origin(one) or _list_of(one) or id(one), one) for one in list(hits))
    for cause, (first, *others) in by_cause.items():
        covers, doubts = [one.resource for one in others], [(one.resource, one.path) for one in others]
        message = _of_all(cause, first, others)
        said = replace(first, message=message, covers=(*first.covers, *covers), doubts=(*first.doubts, *doubts))
        stack = _stack_of(cause)
        yield said if stack is None or stack in (first.resource, *covers) or not others else _at_stack(said, stack, cause)


def _stack_of(cause: object) -> Resource | None:
    """The nested stack that gets a parameter; `None` for other causes."""
    return cause[0].parent if isinstance(cause, tuple) and len(cause) == 2 and isinstance(cause[0], Template) else None


def _at_stack(said: Hit, stack: Resource, cause: object) -> Hit:
    """The hit of a parameter that gives several wrong values, at the nested stack that gets the parameter."""
    path = ("Parameters", str(cause[1])) if isinstance(cause, tuple) else ()
    covers, doubts = (said.resource, *said.covers), ((said.resource, said.path), *said.doubts)
    return replace(said, resource=stack, path=path, found=stack.get(*path), covers=covers, doubts=doubts, part=None)


_GIVERS = {3: "output", 4: "mapping"}
"""What gives a value, by the number of names that tell it."""


def _of_all(cause: object, first: Hit, others: Sequence[Hit]) -> str:
    """The message of the first of some hits with one cause, which tells of the others."""
    if not others or cause == _list_of(first):
        return "; ".join(dict.fromkeys(one.message for one in (first, *others)))
    given = (first, *others) if _stack_of(cause) is not None else others
    places = enumerated(dict.fromkeys(f"{_name(one.path)} of {one.resource.logical_id}" for one in given))
    giver = "export" if isinstance(cause, str) else _GIVERS.get(len(cause) if isinstance(cause, tuple) else 0, "parameter")
    return f"{first.message}; its {giver}{' also' if len(given) == len(others) else ''} gives {places}"


def _name(path: Path) -> str:
    """The property of a place, also of an item of a list."""
    return next((key for key in reversed(path) if isinstance(key, str)), "")


_Origin: TypeAlias = "tuple[Template, str] | tuple[Template, str, str] | tuple[Template, str, str, str] | str | None"


def _origin(hit: Hit) -> _Origin:
    """What alone gives a wrong value: a parameter, also one of a nested stack, an output of one, the name of an export, or keys of
    a mapping."""
    parameter, nested = parameter_at(hit.resource, hit.path) if hit.path else None, hit.resource.nested
    if parameter is None and nested is not None and hit.path[:1] == ("Parameters",) and len(hit.path) == 2:
        parameter = nested, str(hit.path[1])
    if parameter is None and hit.part is not None:
        parameter = parameter_giving(hit.resource, hit.path, hit.part)
    if parameter is None:
        return (import_at(hit.resource, hit.path) or lookup_at(hit.resource, hit.path)) if hit.path else None
    output = output_of(*parameter)
    return parameter if output is None else (*output, "output")


def _list_of(hit: Hit) -> tuple[Key, Path] | None:
    """The list of which a wrong text is an item: such texts are written together."""
    of_list = hit.path and isinstance(hit.path[-1], int) and isinstance(hit.resource.get(*hit.path), str)
    return (hit.resource.key, hit.path[:-1]) if of_list else None


def _is_single(value: Value) -> bool:
    items = value if isinstance(value, tuple) else (value,)
    return not any(isinstance(item, Mapping | tuple) for item in items)
