"""Rule groups and Alertmanager's definition of Managed Service for Prometheus, as YAML.

Sources: https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-ruler-rulesfile.html,
https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-config.html and
https://prometheus.io/docs/prometheus/latest/configuration/recording_rules/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from hyperpod_constructs.analysis.regions import region_of
from hyperpod_constructs.analysis.schema.violation import listed, nearest, quoted
from hyperpod_constructs.analysis.texts.arns import arn_of
from hyperpod_constructs.analysis.texts.promql import mistakes_in_message, mistakes_in_promql, slips
from hyperpod_constructs.analysis.texts.reading import HOLE, from_yaml, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.promql import INHIBITION_KEYS, SIGV4_KEYS, SNS_KEYS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import Reference, Text, Value

_WORKSPACE, _DEFINITION = "AWS::APS::Workspace", "AWS::APS::AlertManagerDefinition"
_DURATION = re.compile(r"0|(?:\d{1,9}(?:ms|[smhdwy]))+")
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_GROUP = ("name", "interval", "limit", "rules", "query_offset", "labels", "partial_response_strategy")
_RULE = ("record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations")
_MOST = 2000


def _is_open(value: Value) -> bool:
    return isinstance(value, str) and HOLE in value


def _strange(data: Mapping[str, Value], names: tuple[str, ...], what: str) -> Iterator[Slip]:
    for name in data:
        if name not in names and not _is_open(name):
            near = nearest(name, names)
            yield Slip(f"{what} has no {name}{f'; the nearest is {near}' if near else ''}", listed(names))


def rule_groups(value: Value) -> Slips:
    """The rules of a namespace."""
    data = from_yaml(value)
    if isinstance(data, Slip):
        yield data
        return
    if data is None or _is_open(data):
        return
    groups = mapping(data).get("groups")
    if _is_open(groups):
        return
    if not isinstance(groups, tuple):
        yield Slip("the text has no list of groups", "groups: with a list of groups, each with name and rules")
        return
    yield from _strange(mapping(data), ("groups",), "a namespace of rules")
    names: set[str] = set()
    recorded = frozenset(_recorded(groups))
    for index, one in entries(groups[:_MOST]):
        yield from _group(f"groups/{index}", one, names, recorded)


def _recorded(groups: Value) -> Iterator[str]:
    """The names that the rules of a text record."""
    for _, one in entries(groups):
        yield from (str(mapping(rule)["record"]) for _, rule in entries(mapping(one).get("rules")) if "record" in mapping(rule))


def _group(place: str, one: Value, names: set[str], recorded: frozenset[str]) -> Slips:
    if _is_open(one):
        return
    if not isinstance(one, Mapping):
        yield Slip(f"{place} is {quoted(one)}", "a group with name and rules")
        return
    yield from _strange(one, _GROUP, place)
    name, rules = one.get("name"), one.get("rules")
    if name in (None, ""):
        yield Slip(f"{place} has no name", "a name")
    elif str(name) in names:
        yield Slip(f"two groups are named {name}", "different names")
    names.add(str(name))
    yield from _duration(place, one, "interval")
    if not isinstance(rules, tuple) and not _is_open(rules):
        yield Slip(f"{place} has no list of rules", "rules, each with expr and either record or alert")
    for index, rule in entries(rules):
        if index < _MOST and not _is_open(rule):
            yield from _rule(f"{place}/rules/{index}", mapping(rule), recorded)


def _rule(place: str, rule: Mapping[str, Value], recorded: frozenset[str]) -> Slips:
    yield from _strange(rule, _RULE, place)
    kinds = [name for name in ("record", "alert") if name in rule]
    if len(kinds) != 1:
        yield Slip(f"{place} has {'both record and alert' if kinds else 'neither record nor alert'}", "one of the two")
    expression = rule.get("expr")
    if expression in (None, ""):
        yield Slip(f"{place} has no expr", "an expression of PromQL")
    elif isinstance(expression, str) and (wrong := promql(expression)):
        yield Slip(f"expr of {place} {wrong}", "an expression of PromQL")
    elif isinstance(expression, str):
        yield from slips(place, "expr", mistakes_in_promql(expression, recorded))
    for key, text in (*mapping(rule.get("annotations")).items(), *mapping(rule.get("labels")).items()):
        if isinstance(text, str):
            yield from slips(place, key, mistakes_in_message(text))
        elif isinstance(text, tuple | Mapping):
            yield Slip(f"{key} of {place} is {quoted(text)}", "a text")
    record = rule.get("record")
    if isinstance(record, str) and not _is_open(record) and not _METRIC.fullmatch(record):
        yield Slip(f"{place} records {quoted(record)}", "letters, digits, '_' and ':'")
    for name in ("for", "keep_firing_for", "annotations"):
        if name in rule and kinds == ["record"]:
            yield Slip(f"{place} records, and has {name}", f"{name} of alerts only")
    yield from _duration(place, rule, "for")
    for label in mapping(rule.get("labels")):
        if not _LABEL.fullmatch(label) and not _is_open(label):
            yield Slip(f"{place} has the label {quoted(label)}", "letters, digits and '_'")


def _duration(place: str, data: Mapping[str, Value], name: str) -> Slips:
    value = data.get(name)
    if value is not None and not _is_open(value) and not _DURATION.fullmatch(str(value)):
        yield Slip(f"{name} of {place} is {quoted(value)}", "a duration such as 30s, 5m or 1h")


_OPERATORS = re.compile(r"[-+*/%^=<>!~&|]+(?:\s+[*/%^=<>!~&|]+)*")
_OPERATOR = re.compile(r"(?:==|!=|>=|<=|[-+*/%^<>])[-+]*")
_PAIRS = {")": "(", "]": "[", "}": "{"}


def promql(text: str) -> str | None:
    """What is surely wrong with an expression: quotes and brackets without an end, a missing operand."""
    plain = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`", '""', text)
    plain = re.sub(r"#[^\n]*", "", plain)
    if HOLE in text:
        return None
    if re.sub('""', "", plain).count('"') or "'" in plain:
        return "has a quote without an end"
    open_: list[str] = []
    for character in plain:
        if character in "([{":
            open_.append(character)
        elif character in _PAIRS and (not open_ or open_.pop() != _PAIRS[character]):
            return f"has {character!r} that closes nothing"
    if open_:
        return f"has {open_[-1]!r} without an end"
    if re.search(r"(?:[-+*/%^=<>!]|\b(?:and|or|unless|by|without))\s*$", plain.strip()):
        return "ends with an operator"
    for operators in _OPERATORS.findall(re.sub(r"\{[^{}]*\}|\[[^\[\]]*\]", "", plain)):
        if not _OPERATOR.fullmatch(re.sub(r"\s", "", operators)):
            return f"has the operator {operators}"
    if (window := re.search(r"\[\s*([^\]:]*?)\s*(?::[^\]]*)?\]", plain)) and not re.fullmatch(
        r"(?:\d+(?:ms|[smhdwy]))+|\d+(?:\.\d+)?", window[1]
    ):
        return f"has the range [{window[1]}]" if window[1][:1].isdigit() else None
    return None


_RECEIVER = ("name", "sns_configs", "pagerduty_configs")
_ROUTE = (
    "receiver",
    "group_by",
    "continue",
    "match",
    "match_re",
    "matchers",
    "group_wait",
    "group_interval",
    "repeat_interval",
    "routes",
    "mute_time_intervals",
    "active_time_intervals",
)
_CONFIG = ("global", "route", "receivers", "inhibit_rules", "templates", "mute_time_intervals", "time_intervals")


def alert_manager(value: Value) -> Slips:
    """The definition of a workspace's Alertmanager: YAML, and in it the configuration as YAML."""
    outer = from_yaml(value)
    if isinstance(outer, Slip):
        yield outer
        return
    if outer is None or _is_open(outer):
        return
    if mapping(outer).get("alertmanager_config") is None:
        hint = "; put the configuration below it, as a block" if mapping(outer).get("route") is not None else ""
        yield Slip(f"the definition has no alertmanager_config{hint}", "alertmanager_config: | and the configuration below it")
        return
    yield from _strange(mapping(outer), ("alertmanager_config", "template_files"), "the definition")
    inner = mapping(outer)["alertmanager_config"]
    data = from_yaml(inner) if isinstance(inner, str) else inner
    if isinstance(data, Slip):
        yield data
    elif isinstance(data, Mapping):
        yield from _configuration(data)


def _configuration(data: Mapping[str, Value]) -> Slips:
    yield from _strange(data, _CONFIG, "the configuration of Alertmanager")
    receivers = [mapping(one) for _, one in entries(data.get("receivers"))]
    names = [str(one.get("name")) for one in receivers]
    if not receivers:
        yield Slip("Alertmanager has no receivers", "receivers, each with a name")
    for index, one in enumerate(receivers):
        yield from _receiver(f"receivers/{index}", one)
        if names[index] in names[:index]:
            yield Slip(f"two receivers are named {names[index]}", "different names")
    route = data.get("route")
    if not isinstance(route, Mapping):
        yield Slip("Alertmanager has no route", "route: with the name of a receiver")
        return
    if route.get("receiver") is None:
        yield Slip("the route at the top has no receiver", f"one of {listed(names)}")
    if not any(map(_is_open, names)):
        yield from _route("route", route, names, 0)
    for index, rule in entries(data.get("inhibit_rules")):
        yield from _strange(mapping(rule), INHIBITION_KEYS, f"inhibit_rules/{index}")
        for key in ("source_matchers", "target_matchers"):
            yield from _matchers(f"inhibit_rules/{index}", mapping(rule), key)


def _receiver(place: str, one: Mapping[str, Value]) -> Slips:
    if one.get("name") is None:
        yield Slip(f"{place} has no name", "a name")
    for name in one:
        if name not in _RECEIVER and not _is_open(name):
            yield Slip(f"{place} has {name}, and the service sends to SNS and PagerDuty only", "sns_configs, pagerduty_configs")
    for index, config in entries(one.get("sns_configs")):
        yield from _strange(mapping(config), SNS_KEYS, f"{place}/sns_configs/{index}")
        yield from _strange(mapping(mapping(config).get("sigv4")), SIGV4_KEYS, f"sigv4 of {place}/sns_configs/{index}")
        arn = mapping(config).get("topic_arn")
        if arn is None:
            yield Slip(f"{place}/sns_configs/{index} has no topic_arn", "topic_arn and sigv4 with the region")
        elif isinstance(arn, str):
            yield from (
                Slip(f"topic_arn of {place}: {slip.message}", slip.allowed) for slip in arn_of(arn, ("sns",)) if HOLE not in arn
            )
        if arn is not None and mapping(config).get("sigv4") is None:
            yield Slip(f"{place}/sns_configs/{index} has no sigv4", "sigv4: with the region of the topic")


_MATCHER = re.compile(r"[{]?\s*\"?[a-zA-Z_][\w.]*\"?\s*(?:=~|!~|!=|=(?!=)).*", re.DOTALL)


def _matchers(place: str, data: Mapping[str, Value], key: str) -> Slips:
    for index, one in entries(data.get(key)):
        if isinstance(one, str) and not _is_open(one) and not _MATCHER.fullmatch(one):
            yield Slip(f"{key}/{index} of {place} is {quoted(one)}", 'a label, =, !=, =~ or !~, and a value: severity="critical"')


def _route(place: str, route: Mapping[str, Value], names: list[str], depth: int) -> Slips:
    yield from _strange(route, _ROUTE, place)
    receiver = route.get("receiver")
    if receiver is not None and str(receiver) not in names:
        near = nearest(str(receiver), names)
        yield Slip(
            f"{place} names the receiver {receiver}, which is not there{f'; the nearest is {near}' if near else ''}",
            f"one of {listed(names)}",
        )
    yield from _matchers(place, route, "matchers")
    for name in ("group_wait", "group_interval", "repeat_interval"):
        yield from _duration(place, route, name)
    for index, one in entries(route.get("routes")):
        if depth < 20 and isinstance(one, Mapping):
            yield from _route(f"{place}/routes/{index}", one, names, depth + 1)


_SNS_TOPIC = "AWS::SNS::Topic"
_TOPIC = re.compile(r"\btopic_arn:\s*[\"']?$")
_SIGNED = re.compile(r"\bregion:\s*[\"']?([a-z]{2}(?:-[a-z]+)+-\d)\b")


def own_topics(resource: Resource) -> Slips:
    """Messages go to topics by their ARNs, and requests to those of the stack are signed for its region."""
    key = "Definition" if resource.type == _DEFINITION else "AlertManagerDefinition"
    value, own = resource.get(key), region_of(resource)
    text = spelled(value) or ""
    references = [part for part in value.parts if isinstance(part, Reference)] if isinstance(value, Text) else []
    others = [one for one in _SIGNED.findall(text) if own is not None and one != own]
    topics = [one for one in references if target_of(one).type == _SNS_TOPIC]
    if topics and others and "arn:aws" not in text:
        message = f"requests to {target_of(topics[0]).logical_id}, a topic in {own}, are signed for {others[0]}"
        yield Slip(message, f"sigv4 with the region {own}", (key,), dead=True)
    parts = value.parts if isinstance(value, Text) else ()
    for before, one in pairwise(parts):
        if isinstance(before, str) and _TOPIC.search(before) and isinstance(one, Reference):
            target = target_of(one)
            if target.type != _SNS_TOPIC or one.attribute == "TopicName":
                message = f"topic_arn is {one.attribute or 'Ref'} of {target.logical_id}"
                yield Slip(message, "the ARN of a topic, which its Ref is", (key,), dead=True)


JUDGES: Mapping[Language, Judge] = {
    Language.RULES: rule_groups,
    Language.ALERTS: alert_manager,
}
WHOLES: Mapping[str, WholeJudge] = {_WORKSPACE: own_topics, _DEFINITION: own_topics}
