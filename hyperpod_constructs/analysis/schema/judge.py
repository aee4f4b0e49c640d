"""A small interpreter of schemas, for values of which parts are unknown: it says only what is sure.

Every judgement is true, false or, where a deployment decides, `None`; a false one leaves at least one violation. Each branch of a
condition is judged by itself. What one property demands of another is judged only if both are sure to be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias, TypeGuard

from hyperpod_constructs.analysis.answers import Answer, all_of, any_of
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.schema import words
from hyperpod_constructs.analysis.schema.formats import format_words, has_format
from hyperpod_constructs.analysis.schema.meant_names import meant_by, property_with
from hyperpod_constructs.analysis.schema.messages import said
from hyperpod_constructs.analysis.schema.patterns import matches
from hyperpod_constructs.analysis.schema.violation import Kind, Path, Violation, label, listed, nearest, quoted
from hyperpod_constructs.analysis.schema.words import present, taken
from hyperpod_constructs.facts.property_schemas import Schema
from hyperpod_constructs.templates.values import ABSENT, Either, Reference, Unknown, Value, agreed, as_float, as_str, at

Node: TypeAlias = Mapping[str, Any] | bool

_EMPTY: Mapping[str, Any] = {}


def violations(schema: Schema, value: Value, *, conditional: bool = False) -> Iterator[Violation]:
    """The violations of a type's schema and its extensions, each place once.

    :param conditional: the resource has a condition, which may rule a branch of a value out: a mistake is in every branch.
    """
    definitions = schema.get("definitions", _EMPTY)
    judge = _Judge(definitions, conditional)
    judge.judge(schema, value, ())
    yield from judge.found
    known = {one.path for one in judge.found}
    for path, demand, node in schema.get("extensions", ()):
        for place, found in place_in(value, path):
            extension = _Judge(definitions, conditional)
            extension.judge(node, found, place)
            new = [one for one in extension.found if one.path not in known]
            known |= {one.path for one in new}
            yield from [_of_demand(demand, new)] if demand and new else new


def fits(schema: Schema, value: Value) -> bool:
    """Whether a value surely fits a schema."""
    return _Judge(schema.get("definitions", _EMPTY), conditional=False).judge(schema, value, ()) is True


def _of_demand(demand: str, found: list[Violation]) -> Violation:
    """The violations of one demand as one, at the place of the first."""
    first, *others = found
    said = "; ".join(dict.fromkeys(one.message for one in found))
    doubts = (*first.doubts, *(one.path for one in others))
    return replace(first, message=f"{said} ({demand})", doubts=doubts)


class _Judge:
    """One judgement; `found` has its violations."""

    def __init__(self, definitions: Mapping[str, Node], conditional: bool) -> None:
        self._definitions = definitions
        self._conditional = conditional
        self.found: list[Violation] = []

    def judge(self, node: Node, value: Value, path: Path) -> Answer:
        """Whether a value fits a node of the schema."""
        if isinstance(node, bool):
            return node or self._refused(value, path)
        if value is None or value is ABSENT or isinstance(value, Unknown):
            return None
        if isinstance(value, Either):
            # An empty text beside others stands for "not given", and its use is guarded by a condition.
            branches = [self._apart(node, one, path) if one != "" else (None, []) for one in value.alternatives]
            answer = agreed(answer for answer, _ in branches)
            if answer is False or not self._conditional:
                self.found += [one for _, found in branches for one in found]
            return answer
        if "$ref" in node:
            whole = self.judge(self._definitions.get(node["$ref"], True), value, path)
            return whole if whole is False or len(node) == 1 else all_of((whole, self._judged(node, value, path)))
        return self._judged(node, value, path)

    def _judged(self, node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        types = node.get("type")
        if types is not None and words.has_type(types, value) is False:
            return self._not_of_type(types, value, path)
        answers = [True if types is None else words.has_type(types, value)]
        for word, wanted in node.items():
            if word in _LEAVES:
                answers.append(self._leaf(word, node, value, path))
                if answers[-1] is False:
                    return False
            elif word in _STRUCTURES:
                answers.append(_STRUCTURES[word](self, wanted, node, value, path))
        return all_of(answers)

    def _apart(self, node: Node, value: Value, path: Path) -> tuple[Answer, list[Violation]]:
        other = _Judge(self._definitions, self._conditional)
        return other.judge(node, value, path), other.found

    def _say(self, kind: Kind, path: Path, message: str, found: Value, allowed: str) -> bool:
        self.found.append(Violation(kind, path, message, found, allowed))
        return False

    def _doubt(self, start: int, places: Iterable[Path]) -> bool:
        """Says of the violations from an index on that the mistake may be at other places."""
        self.found[start:] = [replace(one, doubts=(*one.doubts, *places)) for one in self.found[start:]]
        return False

    def _refused(self, value: Value, path: Path) -> Answer:
        there = present(value)
        if there:
            return self._say(Kind.TOGETHER, path, f"{label(path)} is not taken here", value, f"no {label(path)}")
        return None if there is None else True

    def _not_of_type(self, types: str | list[str], value: Value, path: Path) -> bool:
        allowed = words.type_words(types)
        return self._say(Kind.TYPE, path, f"{label(path)} is {quoted(value)}, not {allowed}", value, allowed)

    def _leaf(self, word: str, node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        answer = _LEAVES[word](node[word], value)
        if answer is False:
            kind = Kind.REFERENCE if isinstance(value, Reference) else Kind.VALUE
            message, allowed = said(word, node, value, path)
            return self._say(kind, path, message, value, allowed)
        return answer

    def _properties(self, wanted: Mapping[str, Node], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        if not isinstance(value, Mapping):
            return True
        answers = [self._property(wanted, node, name, value, (*path, name)) for name in value]
        return all_of([True, *answers])

    def _property(
        self, known: Mapping[str, Node], node: Mapping[str, Any], name: str, beside: Mapping[str, Value], path: Path
    ) -> Answer:
        value = beside[name]
        if name in known:
            child = known[name]
            if isinstance(child, Mapping) and child.get("readOnly"):
                message = f"{name} is set by the service"
                return self._say(Kind.NAME, path, message, value, f"no {name}") if present(value) else None
            return self.judge(child, value, path)
        patterns = node.get("patternProperties", _EMPTY)
        for pattern, child in patterns.items():
            if matches(pattern, name):
                return self.judge(child, value, path)
        others: Node = node.get("additionalProperties", False)
        if others is not False:
            return self.judge(others, value, path)
        return self._unknown_name(name, known, beside, bool(patterns), path) if present(value) else None

    def _unknown_name(self, name: str, known: Mapping[str, Node], beside: Mapping[str, Value], free: bool, path: Path) -> bool:
        names = [one for one, child in known.items() if not (isinstance(child, Mapping) and child.get("readOnly"))]
        meant = meant_by(name, names, property_with(name, known, beside, self._definitions), beside, of_part=len(path) > 1)
        owner = f"of {label(path[:-1])}" if len(path) > 1 else "of this type"
        message = f"{name} is not a name that {label(path[:-1])} takes" if free else f"{name} is not a property {owner}"
        self._say(Kind.NAME, path, f"{message}{meant.hint}", beside[name], listed(sorted(names)) or "names of another form")
        return self._doubt(len(self.found) - 1, [(*path[:-1], *one) for one in meant.places])

    def _items(self, wanted: Node, node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        if not isinstance(value, tuple):
            return True
        return all_of([True, *(self.judge(wanted, item, (*path, index)) for index, item in enumerate(value))])

    def _first_items(self, wanted: list[Node], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """The first items of a list, each by its own form."""
        items = value if isinstance(value, tuple) else ()
        return all_of(
            [True, *(self.judge(one, item, (*path, index)) for index, (one, item) in enumerate(zip(wanted, items, strict=False)))]
        )

    def _same_values(self, wanted: list[list[str]], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """Two groups of places with the same texts; a text that one group lacks is sure only if all of the group are known."""
        groups = [[one for each in paths for one in place_in(value, each) if one[1] is not ABSENT] for paths in wanted]
        for group, others in (groups, groups[::-1]):
            known = [as_str(one) for _, one in others]
            missing = [(place, one) for place, one in group if as_str(one) is not None and as_str(one) not in known]
            if missing and others and None not in known:
                place, found = missing[0]
                message = f"{quoted(found)} is at {label(place)} alone"
                return self._say(Kind.VALUE, (*path, *place), message, found, listed(dict.fromkeys(map(str, known))))
        return None

    def _named_in(self, wanted: Mapping[str, list[list[Any]]], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """Names that items of lists have: of a list those that fit a third word, if there is one."""
        for key, sources in wanted.items():
            names = [name for of, name, *where in sources for name in self._names_of(at(value, *of.split("/")), name, where, path)]
            for place, one in place_in(value, key) if None not in names else ():
                if as_str(one) is not None and as_str(one) not in names:
                    lists = " or ".join(of for of, *_ in sources)
                    near = nearest(str(as_str(one)), list(map(str, names)))
                    message = f"{label(place)} is {quoted(one)}, which is no {sources[0][1]} of {lists}"
                    allowed = listed(dict.fromkeys(map(str, names))) if names else f"an item of {lists}"
                    return self._say(
                        Kind.VALUE, (*path, *place), f"{message}{f'; the nearest is {near}' if near else ''}", one, allowed
                    )
        return None

    def _names_of(self, items: Value, name: str, where: list[Any], path: Path) -> list[str | None]:
        """The names of the items of a list that fit; `None` stands for those that are not known."""
        every = items if isinstance(items, tuple) else () if items is ABSENT else None
        fits = [one for one in every or () if all(self._apart(form, one, path)[0] is not False for form in where)]
        return [None] if every is None else [as_str(at(one, name)) for one in fits]

    def _required(self, wanted: list[str], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        return self._needs(wanted, value, path) if isinstance(value, Mapping) else True

    def _needs(self, names: list[str], value: Mapping[str, Value], path: Path, because: str = "") -> Answer:
        there = {name: present(value.get(name, ABSENT)) for name in names}
        missing = [name for name, answer in there.items() if answer is False]
        if missing:
            owner = f" in {label(path)}" if path else ""
            needed = " and ".join(missing)
            message = f"{needed} {'is' if len(missing) == 1 else 'are'} missing{owner}{because}"
            self._say(Kind.MISSING, (*path, missing[0]), message, ABSENT, f"a value of {needed}")
            return self._doubt(len(self.found) - 1, [(*path, name) for name in missing[1:]])
        return all_of([True, *there.values()])

    def _exclusive(self, wanted: list[str], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """Exactly one of these."""
        if not isinstance(value, Mapping):
            return True
        there = {name: present(value.get(name, ABSENT)) for name in wanted}
        given = [name for name, answer in there.items() if answer and taken(value[name])]
        if len(given) > 1:
            message = f"{' and '.join(given)} exclude each other"
            self._say(Kind.TOGETHER, (*path, given[-1]), message, value[given[-1]], f"one of {listed(wanted)}")
            return self._doubt(len(self.found) - 1, [(*path, name) for name in given[:-1]])
        return True if given and None not in there.values() else self._some(wanted, node, value, path)

    def _some(self, wanted: list[str], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """At least one of these."""
        if not isinstance(value, Mapping):
            return True
        answer = any_of(present(value.get(name, ABSENT)) for name in wanted)
        if answer is False:
            message = f"{label(path)} has none of {listed(wanted)}"
            self._say(Kind.MISSING, path, message, ABSENT, f"one of {listed(wanted)}")
            return self._doubt(len(self.found) - 1, [(*path, name) for name in wanted])
        return answer

    def _companions(self, wanted: Mapping[str, list[str]], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        if not isinstance(value, Mapping):
            return True
        given = [name for name in wanted if present(value.get(name, ABSENT))]
        return all_of([True, *(self._needs(wanted[name], value, path, f" beside {name}") for name in given)])

    def _rivals(self, wanted: Mapping[str, list[str]], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        if not isinstance(value, Mapping):
            return True
        given = [name for name in wanted if taken(value.get(name, ABSENT))]
        pairs = {tuple(sorted((name, one))) for name in given for one in wanted[name] if taken(value.get(one, ABSENT))}
        for one, other in sorted(pairs):
            message = f"{one} and {other} exclude each other"
            self._say(Kind.TOGETHER, (*path, other), message, value[other], f"one of {one}, {other}")
            self._doubt(len(self.found) - 1, [(*path, one)])
        return not pairs

    def _ascending(self, wanted: list[str], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """Numbers that do not fall from one property to the next; one that is not known, or not given, is passed over."""
        numbers = [(name, as_float(value.get(name, ABSENT))) for name in wanted] if isinstance(value, Mapping) else []
        known = [(name, number) for name, number in numbers if number is not None]
        for (lower, least), (upper, most) in pairwise(known):
            if least > most:
                message = f"{upper} is {most:g}, below {lower}, which is {least:g}"
                return self._say(Kind.VALUE, (*path, upper), message, at(value, upper), f"{least:g} or more")
        return True if len(known) == len(wanted) else None

    def _rising(self, wanted: list[str], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """Two numbers of which the second is larger."""
        lower, upper = wanted
        least, most = as_float(at(value, lower)), as_float(at(value, upper))
        if least is None or most is None:
            return None
        message = f"{upper} is {most:g}, and {lower} {least:g}"
        return least < most or self._say(Kind.VALUE, (*path, upper), message, at(value, upper), f"more than {least:g}")

    def _times_at_most(self, wanted: Mapping[str, list[Any]], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """Numbers that are at most so many times one beside them, which has a default where it is left out."""
        for name, (other, times, default) in wanted.items():
            number, base = as_float(at(value, name)), at(value, other)
            beside = default if base is ABSENT else as_float(base)
            if number is not None and beside is not None and number > times * beside:
                message = f"{name} is {number:g}, and {other} {beside:g}"
                self._say(Kind.VALUE, (*path, name), message, at(value, name), f"at most {times * beside:g}")
                return self._doubt(len(self.found) - 1, [(*path, other)])
        return None

    def _unique_keys(self, wanted: str | list[str], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """Items of a list that differ in one property, or in one of several."""
        names = [wanted] if isinstance(wanted, str) else wanted
        parts = [[as_str(at(item, name)) for name in names] for item in value] if isinstance(value, tuple) else []
        keys = [None if None in one else " ".join(map(str, one)) for one in parts]
        for index, key in enumerate(keys):
            if key is not None and key in keys[:index]:
                what = " and ".join(names)
                message = f"{label(path)} has the {what} {key!r} twice"
                return self._say(Kind.VALUE, (*path, index, names[0]), message, key, f"each {what} once")
        return None if None in keys else True

    def _count_at_most(self, wanted: Mapping[str, str], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """Lists with no more items than a number beside them says."""
        for name, most in wanted.items():
            items, number = at(value, name), as_float(at(value, most))
            sure = sum(present(item) is True for item in items) if isinstance(items, tuple) else 0
            if number is not None and sure > number:
                message = f"{name} has {sure} items, and {most} is {number:g}"
                return self._say(Kind.VALUE, (*path, name), message, items, f"at most {number:g} items")
        return None

    def _as_many(self, wanted: list[str], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """Lists whose items go together, one of each, where all of them are known to be there."""
        counts = {name: len(items) for name in wanted if (items := at(value, name)) is not ABSENT and _is_whole(items)}
        name, most = max(counts.items(), key=lambda one: one[1], default=("", 0))
        few = [other for other, count in counts.items() if count < most]
        if few:
            message = f"{name} has {most} items, and {few[0]} has {counts[few[0]]}"
            return self._say(Kind.VALUE, (*path, few[0]), message, at(value, few[0]), f"an item for each of {name}")
        return None

    def _contains(self, wanted: Node, node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """A list with an item of this form."""
        answer = any_of(self._apart(wanted, item, path)[0] for item in value) if isinstance(value, tuple) else True
        if answer is False:
            allowed = str(wanted["const"]) if isinstance(wanted, Mapping) and "const" in wanted else "item of this form"
            return self._say(Kind.VALUE, path, f"{label(path)} has no {allowed}", value, allowed)
        return answer

    def _all(self, wanted: list[Node], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        return all_of([self.judge(one, value, path) for one in wanted])

    def _any(self, wanted: list[Node], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        """One of several forms; the violations of the nearest are said, or that the value is none of the formats."""
        judged = [self._apart(one, value, path) for one in wanted]
        answer = any_of(answer for answer, _ in judged)
        if answer is False:
            formats = [one["format"] for one in wanted if isinstance(one, Mapping) and "format" in one]
            if len(formats) == len(wanted):
                allowed = " or ".join(dict.fromkeys(map(format_words, formats)))
                kind = Kind.REFERENCE if isinstance(value, Reference) else Kind.VALUE
                return self._say(kind, path, f"{label(path)} is {quoted(value)}", value, allowed)
            self.found += min((found for _, found in judged), key=_distance)
        return answer

    def _not(self, wanted: Node, node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        answer, _ = self._apart(wanted, value, path)
        if answer:
            words_of = listed(wanted["enum"]) if isinstance(wanted, Mapping) and "enum" in wanted else "this"
            message = f"{label(path)} is {quoted(value)}, which is reserved"
            return self._say(Kind.VALUE, path, message, value, f"anything but {words_of}")
        return None if answer is None else True

    def _if(self, wanted: Node, node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        answer, _ = self._apart(wanted, value, path)
        start = len(self.found)
        result = None if answer is None else self.judge(node.get("then" if answer else "else", True), value, path)
        if result is False and isinstance(wanted, Mapping):
            self._doubt(
                start, [(*path, name) for name in {**wanted.get("properties", {}), **dict.fromkeys(wanted.get("required", ()))}]
            )
        return result

    def _names(self, wanted: Node, node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        return all_of([True, *(self.judge(wanted, name, (*path, name)) for name in value)]) if isinstance(value, Mapping) else True

    def _pattern_properties(self, wanted: Mapping[str, Node], node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        return True if "properties" in node else self._properties(_EMPTY, node, value, path)

    def _additional(self, wanted: Node, node: Mapping[str, Any], value: Value, path: Path) -> Answer:
        return True if "properties" in node or "patternProperties" in node else self._properties(_EMPTY, node, value, path)


def _is_whole(items: Value) -> TypeGuard[tuple[Value, ...]]:
    return isinstance(items, tuple) and all(present(item) is True for item in items)


def _distance(found: Iterable[Violation]) -> tuple[int, int]:
    """Of several forms, the nearest has the fewest violations, and the deepest."""
    depths = [len(one.path) for one in found]
    return (len(depths), -max(depths, default=0))


_Structure: TypeAlias = Callable[[_Judge, Any, Mapping[str, Any], Value, Path], Answer]
_STRUCTURES: Mapping[str, _Structure] = {
    "additionalProperties": _Judge._additional,
    "allOf": _Judge._all,
    "anyOf": _Judge._any,
    "asMany": _Judge._as_many,
    "ascending": _Judge._ascending,
    "contains": _Judge._contains,
    "countAtMost": _Judge._count_at_most,
    "dependentExcluded": _Judge._rivals,
    "dependentRequired": _Judge._companions,
    "if": _Judge._if,
    "items": _Judge._items,
    "namedIn": _Judge._named_in,
    "not": _Judge._not,
    "oneOf": _Judge._any,
    "patternProperties": _Judge._pattern_properties,
    "prefixItems": _Judge._first_items,
    "properties": _Judge._properties,
    "propertyNames": _Judge._names,
    "required": _Judge._required,
    "requiredOr": _Judge._some,
    "requiredXor": _Judge._exclusive,
    "rising": _Judge._rising,
    "sameValues": _Judge._same_values,
    "timesAtMost": _Judge._times_at_most,
    "uniqueKeys": _Judge._unique_keys,
}
_LEAVES: Mapping[str, words.Word] = {
    "beginsWith": words.begins_with,
    "classes": words.is_class,
    "const": lambda wanted, value: words.is_one_of([wanted], value),
    "endsWith": words.ends_with,
    "enum": words.is_one_of,
    "enumCaseInsensitive": words.is_one_of_any_case,
    "format": has_format,
    "maxItems": words.has_few_enough_items,
    "maxLength": words.is_short_enough,
    "maxProperties": words.has_few_enough_names,
    "maximum": words.is_at_most,
    "minItems": words.has_enough_items,
    "minLength": words.is_long_enough,
    "minProperties": words.has_enough_names,
    "minimum": words.is_at_least,
    "multipleOf": words.is_multiple,
    "pattern": matches,
    "uniqueItems": words.has_different_items,
    "without": words.has_nowhere,
}
