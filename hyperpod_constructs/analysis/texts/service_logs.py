"""Log groups that a service fills by their names: whether the resource that is meant writes there, and what a filter asks for.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs.html and
https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.texts.reading import spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.log_groups import AUDIT, MADE_BY_SERVICES, NAMES_AND_GROUPS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import awaits, references
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_items, as_str, at, joined, parts_of

GROUP, _EKS = "AWS::Logs::LogGroup", "AWS::EKS::Cluster"
_NAME = "LogGroupName"
_TYPES = ("Logging", "ClusterLogging", "EnabledTypes")
_WORD = re.compile(r"[a-z]+|\d+")


def log_group(group: Resource) -> Slips:
    """A group that has the beginning of a service's names, and not the name of the one resource that is meant."""
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
    """Whether a group is surely meant for a resource: that awaits it and has its name in the group's, or all words of its id."""
    name = spelled(group.get(_NAME)) or ""
    if after:
        begins = [spelled(joined([before, *parts_of(one), "/"])) for one in _names(writer)]
        return awaits(writer, group) and any(one is not None and name.startswith(one) for one in begins)
    named = writer.get(NAMES_AND_GROUPS[writer.type][0]) is not ABSENT or any(True for _ in references(group.get(_NAME)))
    words = set(_WORD.findall(name.removeprefix(before).lower()))
    return not named and set(_WORD.findall(re.sub(r"([A-Z])", r" \1", writer.logical_id).lower())) <= words


def audited(resource: Resource) -> Slips:
    """A filter on JSON in the logs of a Kubernetes control plane: of its logs, only those of the audit are JSON."""
    pattern, group = as_str(resource.get("FilterPattern")) or "", resource_of(resource.get(_NAME), GROUP)
    for cluster in resource.template.model.resources(_EKS) if group is not None and pattern.lstrip().startswith("{") else ():
        on = [as_str(at(one, "Type")) for one in as_items(cluster.get(*_TYPES)) or ()]
        unknown = None in on or (as_items(cluster.get(*_TYPES)) is None and cluster.get(*_TYPES) is not ABSENT)
        if _group_of(cluster) is group and not unknown and AUDIT not in on:
            message = f"only the logs of the audit are JSON, and {cluster.logical_id} does not write them"
            yield Slip(
                message, f"Type: {AUDIT} in {'/'.join(_TYPES)} of {cluster.logical_id}", ("FilterPattern",), pattern, dead=True
            )


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    GROUP: log_group,
    "AWS::Logs::MetricFilter": audited,
    "AWS::Logs::SubscriptionFilter": audited,
}
