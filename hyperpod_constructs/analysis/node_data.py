"""The files that HyperPod puts on nodes, as programs find them: the groups of the cluster with their instances.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm-slurm-base-config.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.code_runs.things import Items, Object, Thing, thing_of
from hyperpod_constructs.analysis.schema.violation import nearest
from hyperpod_constructs.facts import node_configuration as facts
from hyperpod_constructs.templates.values import UNKNOWN

_NAME = facts.RESOURCE_CONFIG.rpartition("/")[2]
_MOST = 20
"""Paths that are compared with all texts."""
_PATH = re.compile(rf"{facts.FOLDER}/[\w./-]{{1,200}}")


def data_for(group: Group) -> Mapping[str, Callable[[], Thing]]:
    """The data of each file on the nodes of a group, made anew with each call, by its path."""
    return {facts.RESOURCE_CONFIG: lambda: _resource_config(group)}


def _resource_config(group: Group) -> Object:
    cluster, is_open = group.cluster, not group.cluster.knows_groups
    groups = [_of_group(one, is_own=one.path == group.path) for one in cluster.groups]
    return Object(
        {
            facts.CLUSTER_TYPE: UNKNOWN,
            facts.CLUSTER_CONFIG: Object(dict.fromkeys(facts.OF_CLUSTER, UNKNOWN)),
            facts.GROUPS: Items(groups, is_open, _group(UNKNOWN, UNKNOWN, is_own=False)),
        }
    )


def _of_group(group: Group, *, is_own: bool) -> Object:
    return _group(thing_of(group.get("InstanceGroupName")), thing_of(group.get("InstanceType")), is_own=is_own)


def _group(name: Thing, type_: Thing, *, is_own: bool) -> Object:
    """A group; its own one has at least the node on which a program runs, and the number of nodes is not known."""
    instances = Items([_instance()] if is_own else [], True, _instance())
    return Object({facts.NAME: name, facts.TYPE: type_, facts.INSTANCES: instances})


def _instance() -> Object:
    return Object(dict.fromkeys(facts.OF_INSTANCE, UNKNOWN))


def misnamed(texts: Collection[str]) -> Mapping[str, str]:
    """The paths in texts at which the file surely is not, and what is wrong with them."""
    return {path: f"nodes have no {path}; the nearest is {facts.RESOURCE_CONFIG}" for path in _misnamed(texts)}


def _misnamed(texts: Collection[str]) -> Iterator[str]:
    """Paths that are nearly that of the file, and whose names no other text has: nobody makes them."""
    found = {path: path.rpartition("/")[2] for text in texts for path in _PATH.findall(text) if path != facts.RESOURCE_CONFIG}
    near = {name for name in {*found.values()} if name == _NAME or nearest(name, (_NAME,)) is not None}
    for path, name in [pair for pair in found.items() if pair[1] in near][:_MOST]:
        is_only = name == _NAME or sum(text.count(name) for text in texts) == 1
        if is_only and sum(text.count(path) for text in texts) == 1:
            yield path
