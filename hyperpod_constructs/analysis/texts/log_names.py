"""Names of log groups that a service makes for a cluster: the cluster in the name is one of the templates.

Such a group has the name of its cluster before the id or the kind of its logs. What names another cluster reads a group that
nothing writes to, or that is not there.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-run-jobs-slurm-monitoring.html,
https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-setup-logs-FluentBit.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.schema.violation import meant
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.log_groups import ENDS, OF_CLUSTERS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import named_at
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import Value, as_str, parts_of

_GROUP = "AWS::Logs::LogGroup"
_PLACES: Mapping[str, str] = {
    "AWS::Logs::MetricFilter": "LogGroupName",
    "AWS::Logs::QueryDefinition": "LogGroupNames/*",
    "AWS::Logs::SubscriptionFilter": "LogGroupName",
}
"""Where resources name log groups that they read."""


def groups_of_none(resource: Resource) -> Slips:
    """The groups of clusters that the templates do not have, where they have others."""
    groups = [one.get("LogGroupName") for one in resource.template.model.resources(_GROUP)]
    for place, value in place_in(resource.get(), _PLACES[resource.type]):
        for before, name, kinds in _clusters_in(value) if value not in groups else ():
            names = list(_wrong(resource, place, name, kinds))
            if names:
                message = f"the log group is that of a cluster {name}, and no cluster of the templates has that name"
                yield Slip(f"{message}{meant(name, names)}", f"{before}{names[0]}/…", place, value, dead=True)
        yield from (slip.below(*place) for slip in (_without_end(value) if value not in groups else ()))


def _without_end(value: Value) -> Slips:
    """A name that ends behind the name of the cluster."""
    text = known(value) or ""
    for before, ends in ENDS.items():
        name, _, end = text.removeprefix(before).partition("/")
        if text.startswith(before) and name and not end:
            allowed = " or ".join(f"{before}{name}/{one}" for one in ends or ("<id of the cluster>",))
            message = f"the log group {text} has nothing behind the name of the cluster, and the service makes none so"
            yield Slip(message, allowed, (), value, dead=True)


def _clusters_in(value: Value) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """The beginning and the name of a cluster in the name of a group, with the types of such clusters."""
    first = parts_of(value)[0]
    for before, kinds in OF_CLUSTERS.items():
        name, slash, _ = first.removeprefix(before).partition("/") if isinstance(first, str) else ("", "", "")
        if isinstance(first, str) and first.startswith(before) and name and slash:
            yield before, name, kinds


def _wrong(resource: Resource, place: tuple[str | int, ...], name: str, kinds: Mapping[str, str]) -> Iterator[str]:
    """The names of the clusters, one of which is surely meant; none if the name may be right.

    The cluster whose id is in the name of the group is meant; without one, that whose name is like the name.
    """
    model = resource.template.model
    own = [as_str(one.get(kinds[one.type])) for one in named_at(resource, str(place[0])) if one.type in kinds]
    values = [one.get(kinds[one.type]) for one in model.resources(*kinds)]
    if nobodys(model, name, values) if not own else len(place) == 1 and None not in own and name not in own:
        yield from (text for text in own or map(as_str, values) if text is not None)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = dict.fromkeys(_PLACES, groups_of_none)
