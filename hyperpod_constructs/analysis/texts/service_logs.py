"""Log groups that a service fills by their names: whether the resource that is meant writes there, and what a filter asks for.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs.html,
https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-log-level.html,
https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/Subscriptions-recursion-prevention.html and
https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.alone import is_handed_on, types_of_users
from hyperpod_constructs.analysis.by_name import named_resource
from hyperpod_constructs.analysis.texts.reading import known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.log_contents import AUDIT as AUDIT_LINES
from hyperpod_constructs.facts.log_groups import (
    AUDIT,
    FILTERS,
    LEVELS,
    MADE_BY_SERVICES,
    MOST_SUBSCRIPTIONS,
    NAMES_AND_GROUPS,
    READERS,
    UNTOLD,
)
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import awaits, explicitly_awaits, references
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Unknown, Value, as_items, as_str, at, joined, parts_of

GROUP, _EKS, _FUNCTION = "AWS::Logs::LogGroup", "AWS::EKS::Cluster", "AWS::Lambda::Function"
_GROUP = ("LoggingConfig", "LogGroup")
_LEVEL = re.compile(r"\$\.level\s*=\s*\"?([A-Z]+)")
_FIELD, _QUOTED = re.compile(r"\$\.([A-Za-z_][\w-]*)"), re.compile(r'"(?:[^"\\]|\\.)*"')
_NAME, _SUBSCRIPTION = "LogGroupName", "AWS::Logs::SubscriptionFilter"
_TYPES = ("Logging", "ClusterLogging", "EnabledTypes")
_WORD = re.compile(r"[a-z]+|\d+")


def log_group(group: Resource) -> Slips:
    """A group that has the beginning of a service's names, and not the name of the one resource that is meant."""
    yield from _unwritten(group)
    for type_, form in MADE_BY_SERVICES.items():
        before, after = form.split("{}")
        if _begins(group.get(_NAME), before):
            writers = [one for one in group.template.model.resources(type_) if not _writes_elsewhere(one)]
            if group in map(_group_of, writers):
                return
            for one in writers:
                if _group_of(one) is None and _is_meant(group, one, before, after):
                    right = form.format(f"${{{one.logical_id}}}")
                    message = f"{one.logical_id} writes to {right}, and to no group of another name"
                    yield Slip(message, right, (_NAME,), dead=True)
                    return


def _unwritten(group: Resource) -> Slips:
    """A group that a filter reads, that a role may write to and nothing does: nobody else knows the name it gets."""
    users, model = types_of_users(group), group.template.model
    is_read = not users.isdisjoint(FILTERS) and any(one.startswith("AWS::IAM::") for one in users)
    if group.get(_NAME) is ABSENT and is_read and users <= READERS and model.complete and not is_handed_on(group):
        functions = [one.logical_id for one in model.resources(_FUNCTION) if not _writes_elsewhere(one)]
        allowed = "a function with this group in its LoggingConfig, or another writer"
        message = f"filters read {group.logical_id}, and nothing writes to it"
        yield Slip(message + (f": {functions[0]} does not" if len(functions) == 1 else ""), allowed, (), dead=True)


def _begins(name: Value, before: str) -> bool:
    first = parts_of(name)[0]
    return isinstance(first, str) and first.startswith(before)


def _writes_elsewhere(resource: Resource) -> bool:
    """Whether a resource writes to a group that its properties name."""
    _, place = NAMES_AND_GROUPS[resource.type]
    return bool(place) and resource.get(*place) is not ABSENT


def _group_of(resource: Resource) -> Resource | None:
    """The group of the model to which a resource writes by its name."""
    model, (before, after) = resource.template.model, MADE_BY_SERVICES[resource.type].split("{}")
    groups = model.cached(_group_of, lambda: {_key(one.get(_NAME)): one for one in model.resources(GROUP)})
    keys = (_key(joined([before, *parts_of(name), after])) for name in _names(resource))
    return next((groups[key] for key in keys if key in groups), None)


def _names(resource: Resource) -> Iterator[Value]:
    """The name of a resource, and the reference that gives it."""
    name = resource.get(NAMES_AND_GROUPS[resource.type][0])
    yield from (name, Reference(resource)) if name is not ABSENT else (Reference(resource),)


def _key(name: Value) -> tuple[object, ...]:
    """A name by its parts, a reference as its resource: all attributes with it are the name, or no name at all."""
    return tuple(one.resource if isinstance(one, Reference) else one for one in parts_of(name))


def _is_meant(group: Resource, writer: Resource, before: str, after: str) -> bool:
    """Whether a group is surely meant for a resource: that has it in its DependsOn, or awaits it and has its name in the group's,
    or has all words of its id there."""
    name = spelled(group.get(_NAME)) or ""
    if explicitly_awaits(writer, group):
        return all(not isinstance(part, Unknown) for one in (group.get(_NAME), *_names(writer)) for part in parts_of(one))
    if after:
        begins = [spelled(joined([before, *parts_of(one), "/"])) for one in _names(writer)]
        return awaits(writer, group) and any(one is not None and name.startswith(one) for one in begins)
    named = writer.get(NAMES_AND_GROUPS[writer.type][0]) is not ABSENT or any(True for _ in references(group.get(_NAME)))
    words = set(_WORD.findall(name.removeprefix(before).lower()))
    return not named and set(_WORD.findall(re.sub(r"([A-Z])", r" \1", writer.logical_id).lower())) <= words


def filter_of(resource: Resource) -> Slips:
    """A filter of a group, whether it feeds itself, and whether a control plane writes what it asks for."""
    group = named_resource(resource, resource.get(_NAME), GROUP)
    every = resource.template.model.resources(_FUNCTION) if group is not None else ()
    functions = [one for one in every if group_written_by(one) is group]
    if resource_of(resource.get("DestinationArn")) in functions:
        message = f"{functions[0].logical_id} writes to the group that calls it: each call causes the next"
        yield Slip(message, "the group of another function", (_NAME,))
        return
    yield from _audited(resource) if group is not None else _unaudited(resource)
    yield from () if group is None else _one_too_many(resource, group)


def _one_too_many(resource: Resource, group: Resource) -> Slips:
    """A subscription to a group that has as many as it takes."""
    every = [one for one in group.template.model.resources(_SUBSCRIPTION) if one.exists]
    same = [one for one in every if named_resource(one, one.get(_NAME), GROUP) is group]
    if resource in same[MOST_SUBSCRIPTIONS:]:
        names = " and ".join(one.logical_id for one in same[:MOST_SUBSCRIPTIONS])
        message = f"{group.logical_id} has {names}, and a log group takes {MOST_SUBSCRIPTIONS} subscriptions"
        yield Slip(message, "one stream for several receivers", (_NAME,))


def _unaudited(resource: Resource) -> Slips:
    """A filter on fields of the audit, of a group below the control planes' names that none of them writes to."""
    name, value = known(resource.get(_NAME)) or "", resource.get(_NAME)
    clusters, form = resource.template.model.resources(_EKS), MADE_BY_SERVICES[_EKS]
    names = [known(one.get("Name")) for one in clusters]
    asks = name.startswith(form.split("{}")[0]) and fields_asked(resource.get("FilterPattern")) & AUDIT_LINES.telling
    for own in names if asks and None not in names else ():
        if name.startswith(form.format(own).removesuffix("cluster")) and name != form.format(own):
            message = f"the audit of {own} is written to {form.format(own)}, and to no group of another name"
            yield Slip(message, form.format(own), (_NAME,), value, dead=True)


def fields_asked(pattern: Value) -> frozenset[str]:
    """The fields at the top of a line in JSON that a pattern asks for."""
    text = as_str(pattern) or ""
    return frozenset(_FIELD.findall(_QUOTED.sub('""', text))) if text.lstrip().startswith("{") else frozenset()


def levels(function: Resource) -> Slips:
    """A function that drops the lines that a filter of its group asks for."""
    group, least = group_written_by(function), _least_level(function)
    if group is None or least is None or not types_of_users(group) <= READERS | {_FUNCTION}:
        return
    model = function.template.model
    filters = [one for one in model.resources(*FILTERS) if named_resource(one, one.get(_NAME), GROUP) is group]
    others = [one for one in model.resources(_FUNCTION) if one is not function and group_written_by(one) is group]
    for one in filters if not others else ():
        asked = _LEVEL.findall(as_str(one.get("FilterPattern")) or "")
        if asked and all(level in LEVELS and LEVELS.index(level) < least for level in asked):
            message = f"the function writes lines of {LEVELS[least]} and above, and {one.logical_id} asks for {' and '.join(asked)}"
            yield Slip(message, asked[0], ("LoggingConfig", "ApplicationLogLevel"), LEVELS[least], dead=True)
            return


def group_written_by(writer: Resource) -> Resource | None:
    """The group of the model to which a function or a control plane writes."""
    return resource_of(writer.get(*_GROUP), GROUP) if _writes_elsewhere(writer) else _group_of(writer)


def _least_level(function: Resource) -> int | None:
    """The place of the lowest level that a function writes; `None` if it is not known, or lines of an untold level are written."""
    level, format_ = (as_str(function.get("LoggingConfig", key)) for key in ("ApplicationLogLevel", "LogFormat"))
    least = LEVELS.index(level) if format_ == "JSON" and level in LEVELS else 0
    return least if least > LEVELS.index(UNTOLD) else None


def _audited(resource: Resource) -> Slips:
    """A filter on JSON in the logs of a Kubernetes control plane: of its logs, only those of the audit are JSON."""
    pattern, group = as_str(resource.get("FilterPattern")) or "", named_resource(resource, resource.get(_NAME), GROUP)
    for cluster in resource.template.model.resources(_EKS) if group is not None and pattern.lstrip().startswith("{") else ():
        on = [as_str(at(one, "Type")) for one in as_items(cluster.get(*_TYPES)) or ()]
        unknown = None in on or (as_items(cluster.get(*_TYPES)) is None and cluster.get(*_TYPES) is not ABSENT)
        if _group_of(cluster) is group and not unknown and AUDIT not in on:
            message = f"only the logs of the audit are JSON, and {cluster.logical_id} does not write them"
            allowed = f"Type: {AUDIT} in {'/'.join(_TYPES)} of {cluster.logical_id}"
            yield Slip(message, allowed, ("FilterPattern",), pattern, dead=True, beside=((cluster, _TYPES),))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    GROUP: log_group,
    _FUNCTION: levels,
    "AWS::Logs::MetricFilter": filter_of,
    _SUBSCRIPTION: filter_of,
}
