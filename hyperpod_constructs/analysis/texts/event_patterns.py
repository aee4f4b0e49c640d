"""Patterns of events: JSON with lists of values, or of operators, at its leaves.

Sources: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-event-patterns.html,
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html and
https://docs.aws.amazon.com/sns/latest/dg/sns-subscription-filter-policies.html
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_constructs.analysis.arn_kinds import thing_of
from hyperpod_constructs.analysis.schema.violation import listed, nearest, quoted
from hyperpod_constructs.analysis.texts.arns import service_of
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts import events
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import ABSENT, Either, Reference, Text, Unknown, Value, as_items, at

_DEEPEST = 50
_COMPARISONS = ("=", "<", "<=", ">", ">=")
_LEAVES = 'a list of values, such as ["aws.sagemaker"]'


def event_pattern(value: Value) -> Slips:
    """The pattern of a rule: its form, and whether an event with such fields can come."""
    found = _data(value)
    if isinstance(found, Slip):
        yield found
    elif isinstance(found, Mapping):
        wrong = list(_of(found, 0))
        yield from wrong
        if not wrong:
            yield from _unheard(found)


def message_filter(value: Value) -> Slips:
    """The filter of an event source or a pipe, or the filter policy of a subscription: operators as in patterns."""
    found = _data(value)
    if isinstance(found, Slip):
        yield found
    elif isinstance(found, Mapping) and found:
        yield from _of(found, 0)


def _data(value: Value) -> Value | Slip:
    found = from_json(value) if isinstance(value, str | Text) else value
    if isinstance(found, (Slip, Mapping)) or found is None or isinstance(found, Reference | Either | Unknown):
        return found
    return Slip(f"the pattern is {quoted(found)}", "an object in JSON", found=found) if found is not ABSENT else None


def _of(node: Mapping[str, Value], depth: int) -> Slips:
    if depth > _DEEPEST:
        return
    if not node:
        yield Slip("the pattern has an empty object", "at least one field with a list of values")
    for name, value in node.items():
        for slip in _alternatives(value, depth) if name == "$or" else _field(name, value, depth):
            yield slip.below(name)


def _alternatives(value: Value, depth: int) -> Slips:
    if not isinstance(value, tuple):
        return
    if len(value) < 2:
        yield Slip("$or has fewer than two patterns", "a list of two or more patterns")
    for index, one in enumerate(value):
        if isinstance(one, Mapping):
            for slip in _of(one, depth + 1):
                yield slip.below(index)


def _field(name: str, value: Value, depth: int) -> Slips:
    if isinstance(value, Mapping):
        yield from _of(value, depth + 1)
    elif isinstance(value, tuple):
        if not value:
            yield Slip(f"{name} has an empty list", _LEAVES)
        for index, item in enumerate(value):
            for slip in _leaf(name, item):
                yield slip.below(index)
    elif isinstance(value, str | int | float | Text | Reference) or value is None:
        if isinstance(value, str) and HOLE in value:
            return
        yield Slip(f"{name} is {quoted(value)}, which is not a list; write [{quoted(value)}]", _LEAVES, found=value)


def _leaf(name: str, item: Value) -> Slips:
    if isinstance(item, tuple):
        yield Slip(f"{name} has a list in its list", "values and operators", found=item)
    elif isinstance(item, Mapping):
        yield from _operator(name, item)


def _operator(name: str, item: Mapping[str, Value]) -> Slips:
    if len(item) != 1:
        yield Slip(f"an item of {name} has {len(item)} operators", f"one of {listed(events.PATTERN_OPERATORS)}", found=item)
        return
    ((operator, operand),) = item.items()
    if operator not in events.PATTERN_OPERATORS:
        near = nearest(operator, events.PATTERN_OPERATORS)
        message = f"{name} has the operator {operator!r}{f'; the nearest is {near}' if near else ''}"
        yield Slip(message, f"one of {listed(events.PATTERN_OPERATORS)}", found=item)
    elif _is_open(operand):
        return
    elif (allowed := _operand(operator, operand)) is not None:
        yield Slip(f"{operator} of {name} is {quoted(operand)}", allowed, found=operand)


def _is_open(value: Value) -> bool:
    return isinstance(value, Either | Reference | Text | Unknown) or (isinstance(value, str) and HOLE in value)


def _operand(operator: str, operand: Value) -> str | None:
    """What an operator takes, if it does not take this."""
    if operator == "exists":
        return None if isinstance(operand, bool) or operand in ("true", "false") else "true or false"
    if operator == "numeric":
        return None if _is_numeric(operand) else 'a list such as [">", 0] or [">", 0, "<=", 5]'
    if operator == "cidr":
        return None if not isinstance(operand, str) or _is_block(operand) else "a block such as 10.0.0.0/24"
    if operator == "wildcard":
        texts = operand if isinstance(operand, tuple) else (operand,)
        return "a text without '**'" if any(isinstance(one, str) and "**" in one for one in texts) else None
    if operator == "anything-but":
        return "a value, a list of values, or one operator" if operand in ((), {}) or isinstance(operand, bool) else None
    if operator == "equals-ignore-case":
        return None if isinstance(operand, str) else "a text"
    fold = isinstance(operand, Mapping) and set(operand) == {"equals-ignore-case"}
    return None if (isinstance(operand, str) and operand) or fold else "a text"


def _is_numeric(operand: Value) -> bool:
    if not isinstance(operand, tuple) or len(operand) not in (2, 4):
        return False
    pairs = list(zip(operand[::2], operand[1::2], strict=True))
    return all(
        _is_open(word) or (word in _COMPARISONS and (_is_open(number) or (_is_number(number) and abs(float(str(number))) <= 5e9)))
        for word, number in pairs
    )


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_block(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _unheard(pattern: Mapping[str, Value]) -> Slips:
    """Fields and values that no event has."""
    for name, value in pattern.items():
        if name not in events.EVENT_FIELDS and name != "$or" and not _asks_for_absence(value):
            near = nearest(name.replace("_", "-"), events.EVENT_FIELDS)
            message = f"no event has a field {name}{f'; the nearest is {near}' if near else ''}"
            yield Slip(message, listed(events.EVENT_FIELDS), (name,), value, dead=True)
    types = literals(pattern.get("detail-type", ABSENT))
    sources = literals(pattern.get("source", ABSENT))
    yield from _sources(sources, types)
    if sources == ["aws.sagemaker"] or any("HyperPod" in one for one in types):
        yield from _types(types)
    yield from _other_types(sources, types)
    yield from _accounts(pattern)
    yield from _resources(pattern, sources, types)
    if len(types) == 1:
        yield from _details(types[0], pattern.get("detail", ABSENT))


def _asks_for_absence(value: Value) -> bool:
    return isinstance(value, tuple) and any(isinstance(one, Mapping) and one.get("exists") is False for one in value)


def literals(value: Value) -> list[str]:
    """The texts of a list of only texts; none if something else is in it."""
    items = as_items(value) or ()
    found = [text for item in items if isinstance(item, str) and (text := known(item)) is not None]
    return found if len(found) == len(items) else []


def _sources(sources: list[str], types: list[str]) -> Slips:
    allowed = "the name of the service behind aws., such as aws.sagemaker"
    wanted = {events.EVENT_SOURCES[one] for one in types if one in events.EVENT_SOURCES}
    for index, source in enumerate(sources):
        found: Any = source
        service = re.fullmatch(r"(?:aws[.:])?([\w-]+)(?:\.amazonaws\.com)?", source, re.IGNORECASE)
        if source.endswith(".amazonaws.com") or re.match(r"aws(:|\.\w*[A-Z])|AWS\.", source):
            meant = f"; write aws.{service[1].lower()}" if service else ""
            yield Slip(f"no event has the source {source!r}{meant}", allowed, ("source", index), found, dead=True)
            return
    if len(wanted) == 1 and sources and not {*wanted, *events.ANY_SOURCE} & {*sources}:
        message = f"events of the type {types[0]!r} have the source {next(iter(wanted))}, not {listed(sources)}"
        yield Slip(message, allowed, ("source", 0), sources[0], dead=True)


def _types(types: list[str]) -> Slips:
    for index, name in enumerate(types):
        if name not in events.SAGEMAKER_EVENTS:
            near = nearest(name, events.SAGEMAKER_EVENTS) or _with_state(name, events.SAGEMAKER_EVENTS)
            if near is not None or "HyperPod" in name:
                message = f"SageMaker has no event {name!r}{f'; the nearest is {near!r}' if near else ''}"
                yield Slip(message, listed(events.HYPERPOD_EVENTS), ("detail-type", index), name, dead=True)


def _other_types(sources: list[str], types: list[str]) -> Slips:
    """Types that surely are others of the same source, misspelled."""
    names = events.OTHER_EVENTS.get(sources[0] if len(sources) == 1 else "", ())
    for index, name in enumerate(types if names else ()):
        near = typo_of(name, names) or _with_state(name, names)
        if near is not None:
            message = f"{sources[0]} has no event {name!r}; the nearest is {near!r}"
            yield Slip(message, listed(names), ("detail-type", index), name, dead=True)


def _with_state(name: str, names: Sequence[str]) -> str | None:
    """The event of any state of something, where a type names one of them: the state is in `detail`."""
    thing, _, state = name.rpartition(" ")
    found = [one for one in names if one in (f"{thing} State Change", f"{thing} Status Change", f"{thing} Execution State Change")]
    return found[0] if name not in names and state.lower() in events.STATES and found else None


def _accounts(pattern: Mapping[str, Value]) -> Slips:
    for index, account in enumerate(literals(pattern.get("account", ABSENT))):
        if not re.fullmatch(r"\d{12}", account):
            yield Slip(f"no event comes from the account {account!r}", "12 digits", ("account", index), account, dead=True)


def _resources(pattern: Mapping[str, Value], sources: list[str], types: list[str]) -> Slips:
    """Resources of other services than the source, or others than the HyperPod cluster."""
    services = {events.OF_OWN_RESOURCES.get(one, "") for one in sources}
    wanted = {events.ARNS_IN_EVENTS.get(one, {}).get("resources", "") for one in types}
    of_clusters = bool(types) and all(one in events.HYPERPOD_EVENTS for one in types)
    for index, one in enumerate(as_items(pattern.get("resources", ABSENT)) or ()):
        service = service_of(one) if len(services) == 1 and "" not in services else None
        kind = target_of(one).type if isinstance(one, Reference) else ""
        other = of_clusters and kind.startswith("AWS::SageMaker::") and kind != "AWS::SageMaker::Cluster"
        other = other or ("" not in wanted and bool(wanted) and (thing_of(one) or "") not in {"", *wanted})
        if other or (service is not None and service not in services) or ("" not in services and services and _is_no_arn(one)):
            message = f"events of {listed(types or sources)} do not name {quoted(one)}"
            meant = sorted(wanted - {""}) or sorted(services)
            allowed = "the ARN of the HyperPod cluster" if of_clusters else f"an ARN of {listed(meant)}"
            yield Slip(message, allowed, ("resources", index), one, dead=True)


def _is_no_arn(value: Value) -> bool:
    """Whether a resource is a name, where events have ARNs."""
    if isinstance(value, Reference):
        form = FORMS.get(target_of(value).type)
        return form is not None and value.attribute in form.names
    text = known(value)
    return text is not None and not text.startswith(("arn:", "*", "$"))


def _details(type_: str, detail: Value) -> Slips:
    if not isinstance(detail, Mapping):
        return
    yield from _unknown_fields(f"the event {type_!r}", detail, events.HYPERPOD_EVENTS.get(type_), ("detail",))
    for name, inner in detail.items():
        if type_ in events.HYPERPOD_EVENTS and isinstance(inner, Mapping):
            yield from _unknown_fields(name, inner, events.FIELDS_OF.get(name), ("detail", name))
    yield from _arns(type_, detail)
    for path, words in events.EVENT_WORDS.get(type_, {}).items():
        keys = tuple(path.split("/"))
        for index, text in enumerate(literals(at(detail, *keys))):
            if text not in words:
                near = nearest(text, words)
                message = f"{keys[-1]} is never {text!r}{f'; the nearest is {near}' if near else ''}"
                yield Slip(message, listed(words), ("detail", *keys, index), text, dead=True)
    for index, source in enumerate(literals(detail.get("eventSource", ABSENT)) if type_ == events.API_CALL else ()):
        from hyperpod_constructs.analysis.texts.trail_names import right_source  # few patterns are for calls

        if not source.endswith((".amazonaws.com", ".amazonaws.com.cn")) or right_source(source):
            message = f"no call has the eventSource {source!r}"
            yield Slip(
                message,
                "the host of a service, such as sagemaker.amazonaws.com",
                ("detail", "eventSource", index),
                source,
                dead=True,
            )

    yield from _calls(type_, detail)


def _calls(type_: str, detail: Mapping[str, Value]) -> Slips:
    """The names of calls of one service."""
    sources, names = (literals(detail.get(key, ABSENT)) for key in ("eventSource", "eventName"))
    if type_ == events.API_CALL and len(sources) == 1 and names:
        from hyperpod_constructs.analysis.texts.trail_names import lost_names  # few patterns are for calls

        for name, near in lost_names(sources[0], names):
            path = ("detail", "eventName", names.index(name))
            yield Slip(f"no call is named {name}; the nearest is {near}", near, path, name, dead=True)


def _arns(type_: str, detail: Mapping[str, Value]) -> Slips:
    """What is no ARN, or that of another thing, in fields that have some."""
    for place, wanted in events.ARNS_IN_EVENTS.get(type_, {}).items():
        first, *keys = place.split("/")
        for index, one in enumerate(as_items(at(detail, *keys)) or () if first == "detail" else ()):
            thing = thing_of(one)
            if _is_no_arn(one) or thing not in (None, wanted):
                message = f"{keys[-1]} of an event is an ARN with {wanted}, and not {quoted(one)}"
                yield Slip(message, f"an ARN with {wanted}", (first, *keys, index), one, dead=True)


def _unknown_fields(of: str, given: Mapping[str, Value], fields: tuple[str, ...] | None, path: tuple[str, ...]) -> Slips:
    """Fields that an event does not have; those that lie one object deeper are one mistake."""
    own = fields or ()
    lost = [name for name, value in given.items() if own and name not in (*own, "$or") and not _asks_for_absence(value)]
    for inner in own:
        deeper = [name for name in lost if name in events.FIELDS_OF.get(inner, ())]
        if deeper:
            message = f"{of} has no field {' and '.join(deeper)} beside {inner}, but in it"
            yield Slip(message, f"{inner} with {listed(deeper)}", (*path, deeper[0]), given[deeper[0]], dead=True)
            lost = [name for name in lost if name not in deeper]
    for name in lost:
        near = nearest(name, own)
        message = f"{of} has no field {name}{f'; the nearest is {near}' if near else ''}"
        yield Slip(message, listed(own), (*path, name), given[name], dead=True)


JUDGES: Mapping[Language, Judge] = {Language.EVENTS: event_pattern, Language.MESSAGES: message_filter}
WHOLES: Mapping[str, WholeJudge] = {}
