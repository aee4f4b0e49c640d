"""`provisioning_parameters.json` in a parameter: JSON whose groups are groups of the cluster.

The lifecycle scripts of the service read it where groups have no `SlurmConfig`.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm-base-config.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.clusters import clusters
from hyperpod_constructs.analysis.schema.violation import listed, meant, nearest
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import ABSENT, as_str

_PARAMETER = "AWS::SSM::Parameter"
_MARK = '"workload_manager"'
_KEYS = (
    "version",
    "workload_manager",
    "controller_group",
    "login_group",
    "worker_groups",
    "fsx_dns_name",
    "fsx_mountname",
    "slurm_configurations",
)
_WORKER = ("instance_group_name", "partition_name")


def parameter(resource: Resource) -> Slips:
    """The first mistake in such a text."""
    text = spelled(resource.get("Value"))
    data = from_json(resource.get("Value")) if text is not None and _MARK in text else None
    if isinstance(data, Slip):
        yield data.below("Value")
    elif isinstance(data, Mapping):
        mistakes = (*_keys(data, _KEYS), *_workers(data), *_manager(data), *_unknown_groups(data, resource.template.model))
        yield from (one.below("Value") for one in mistakes[:1])


def _keys(data: Mapping[str, object], allowed: tuple[str, ...]) -> Iterator[Slip]:
    """Keys that are nearly those that the scripts read."""
    for key in data:
        near = nearest(key, allowed) if key not in allowed else None
        if near is not None and near not in data:
            yield Slip(f"the scripts read no {key}; the nearest is {near}", listed(allowed), dead=True)


def _workers(data: Mapping[str, object]) -> Iterator[Slip]:
    for _, one in _entries(data):
        yield from _keys(one, _WORKER)
        lacking = [key for key in _WORKER if one and key not in one]
        if lacking:
            yield Slip(f"a group of workers has no {lacking[0]}", listed(_WORKER), dead=True)


def _entries(data: Mapping[str, object]) -> Iterator[tuple[int, Mapping[str, object]]]:
    workers = data.get("worker_groups")
    yield from ((index, mapping(one)) for index, one in entries(workers if isinstance(workers, tuple) else ABSENT))


def _manager(data: Mapping[str, object]) -> Iterator[Slip]:
    manager = data.get("workload_manager")
    if isinstance(manager, str) and HOLE not in manager and manager != "slurm":
        yield Slip(f"the workload manager is {manager!r}", "slurm", dead=True)


def _unknown_groups(data: Mapping[str, object], model: Model) -> Iterator[Slip]:
    """Groups that the one cluster of the templates does not have."""
    own = [as_str(group.get("InstanceGroupName")) for one in clusters(model) if one.knows_groups for group in one.groups]
    if len(clusters(model)) != 1 or not own or None in own:
        return
    names = [name for name in own if name is not None]
    workers = [one.get("instance_group_name") for _, one in _entries(data)]
    for given in (data.get("controller_group"), data.get("login_group"), *workers):
        if isinstance(given, str) and given and HOLE not in given and given not in names:
            message = f"{clusters(model)[0].resource.logical_id} has no group {given}{meant(given, names)}"
            yield Slip(message, listed(names), dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_PARAMETER: parameter}
