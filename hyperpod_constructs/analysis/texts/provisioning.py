"""`provisioning_parameters.json`, uploaded for a group or in a parameter: JSON whose groups are groups of the cluster.

The lifecycle scripts of the service read it where groups have no `SlurmConfig`.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm-slurm-base-config.html
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from hyperpod_constructs.analysis.clusters import CLUSTER, Cluster, Group, clusters
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, NodeFile, programs_of
from hyperpod_constructs.analysis.references.outputs import misnamed_outputs
from hyperpod_constructs.analysis.schema.violation import listed, meant, nearest
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.property_schemas import attributes
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Value, as_str, at, shown

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
_MANAGING = ("controller_group", "login_group")
_ONE_PART = "one part for each group"
_WORKER = ("instance_group_name", "partition_name")
FILE, _FILE_SYSTEM = "provisioning_parameters.json", "AWS::FSx::FileSystem"
_NO_LETTERS = re.compile("[^a-z]")
_ATTRIBUTES: Mapping[str, str] = {"fsx_dns_name": "DNSName", "fsx_mountname": "LustreMountName"}
"""Keys with an attribute of a file system."""


def parameter(resource: Resource) -> Slips:
    """The first mistake in such a text."""
    text = spelled(resource.get("Value"))
    data = from_json(resource.get("Value")) if text is not None and _MARK in text else None
    if isinstance(data, Slip):
        yield data.below("Value")
    elif isinstance(data, Mapping):
        yield from (one.below("Value") for one in list(_mistakes(data, resource.template.model))[:1])


def uploaded(cluster: Resource) -> Slips:
    """The first mistake in such a file among the scripts of a cluster."""
    groups = [group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups]
    yield from list(_misnamed(groups))[:1]
    found = ((group, programs_of(group).files.get(FILE)) for group in groups)
    for group, file in ((group, file) for group, file in found if file is not None):
        data = from_json(file.text)
        slips = [data] if isinstance(data, Slip) else _of_file(data, file, group) if isinstance(data, Mapping) else []
        for one in list(slips)[:1]:
            beside = ((cluster, (*group.path, LIFE_CYCLE)),)
            yield Slip(f"{FILE}: {one.message}", one.allowed, file.path, dead=True, beside=beside, at=file.resource)
            return
        if isinstance(data, Mapping):
            yield from _empty_controller(data, group.cluster)
            return


def _misnamed(groups: Iterable[Group]) -> Iterator[Slip]:
    """A file with nearly the name of such a file, which no other file names."""
    for group in groups:
        files = programs_of(group).files
        for name, file in files.items() if FILE not in files else ():
            if _is_misspelled(name) and not any(name in str(shown(one.text)) for one in files.values()):
                yield Slip(
                    f"the scripts of the service read no {name}; the nearest is {FILE}",
                    FILE,
                    file.path,
                    dead=True,
                    at=file.resource,
                )


def _is_misspelled(name: str) -> bool:
    """Whether a name has the letters of that of the file, but for one."""
    letters, right = (_NO_LETTERS.sub("", one.lower()) for one in (name, FILE))
    return abs(len(letters) - len(right)) <= 1 and nearest(letters, (right,)) is not None


def misnames_file_systems(group: Group) -> bool:
    """Whether the file for a group gives its scripts the wrong attribute of a file system."""
    file = programs_of(group).files.get(FILE)
    if file is None:
        return False
    key = (misnames_file_systems, file.resource, file.path)
    return file.resource.template.model.cached(key, lambda: any(True for _ in _others_given(values_in(file.text))))


def _of_file(data: Mapping[str, Value], file: NodeFile, group: Group) -> Iterator[Slip]:
    if "workload_manager" not in data and "controller_group" in data:
        yield Slip("it has no workload_manager, so the scripts set up no Slurm", '"workload_manager": "slurm"', dead=True)
    yield from _mistakes(data, file.resource.template.model)
    yield from _file_systems(values_in(file.text))
    yield from _parts(data, group.cluster)


def _parts(data: Mapping[str, Value], cluster: Cluster) -> Iterator[Slip]:
    """Groups with a part in Slurm that another one excludes, and groups without any."""
    workers = [one.get("instance_group_name") for _, one in _entries(data)]
    managing = {key: data[key] for key in _MANAGING if data.get(key)}
    if not workers or any(not isinstance(one, str) or HOLE in one for one in (*workers, *managing.values())):
        return
    for key, name in managing.items():
        if name in workers:
            yield Slip(f"{name} is the {key} and a group of workers", _ONE_PART, dead=True)
    left = [one for one in cluster.plain_groups if one.name not in {*workers, *managing.values(), None} and one.count != 0]
    alike = len(set(managing.values())) < len(managing)
    for group in (one for one in left if alike or _is_set_up_by(one, data)):
        beside = f", and {data['login_group']} is the {' and the '.join(managing)}" if alike else ""
        yield Slip(f"group {group.name} of {cluster.resource.logical_id} has no part in it{beside}", _ONE_PART, dead=True)


def _is_set_up_by(group: Group, data: Mapping[str, Value]) -> bool:
    """Whether the nodes of a group get such a file, and no other file of theirs names the group."""
    files, name = programs_of(group).files, group.name or ""
    own = files.get(FILE)
    return own is not None and from_json(own.text) == data and not any(name in str(shown(one.text)) for one in files.values())


def _empty_controller(data: Mapping[str, Value], cluster: Cluster) -> Iterator[Slip]:
    """A group for the controller without nodes."""
    for group in (one for one in cluster.plain_groups if one.name == data.get("controller_group") and one.count == 0):
        message = f"instance group {group.label!r} is the controller of {FILE}, and has no nodes"
        yield Slip(message, "1", (*group.path, "InstanceCount"), 0, dead=True)


def _mistakes(data: Mapping[str, Value], model: Model) -> Iterator[Slip]:
    yield from _keys(data, _KEYS)
    yield from _workers(data)
    yield from _manager(data)
    yield from _unknown_groups(data, model)


def _file_systems(data: Value) -> Iterator[Slip]:
    """Another attribute of a file system than the one that a key is for, but by a misnamed output."""
    for key, attribute, given, target in _others_given(data):
        if _is_there(given.attribute) and all(one.found != given for one in misnamed_outputs(target.template.model)):
            message = f"{key} is {given.attribute or 'the id'} of {target.logical_id}"
            yield Slip(message, f"{attribute} of {target.logical_id}", dead=True)


def _others_given(data: Value) -> Iterator[tuple[str, str, Reference, Resource]]:
    """The keys with another attribute of a file system than theirs, each with its own one, the given one and the file system."""
    for key, attribute in _ATTRIBUTES.items():
        given = at(data, key)
        target = resource_of(given, _FILE_SYSTEM)
        if target is not None and isinstance(given, Reference) and given.attribute != attribute:
            yield key, attribute, given, target


def _is_there(attribute: str | None) -> bool:
    """Whether a file system has an attribute; a reference to another one is a mistake where it stands."""
    return attribute is None or attribute in (attributes(_FILE_SYSTEM) or ())


def _keys(data: Mapping[str, Value], allowed: tuple[str, ...]) -> Iterator[Slip]:
    """Keys that are nearly those that the scripts read."""
    for key in data:
        near = nearest(key, allowed) if key not in allowed else None
        if near is not None and near not in data:
            yield Slip(f"the scripts read no {key}; the nearest is {near}", listed(allowed), dead=True)


def _workers(data: Mapping[str, Value]) -> Iterator[Slip]:
    for _, one in _entries(data):
        yield from _keys(one, _WORKER)
        lacking = [key for key in _WORKER if one and key not in one]
        if lacking:
            yield Slip(f"a group of workers has no {lacking[0]}", listed(_WORKER), dead=True)


def _entries(data: Mapping[str, Value]) -> Iterator[tuple[int, Mapping[str, Value]]]:
    workers = data.get("worker_groups")
    yield from ((index, mapping(one)) for index, one in entries(workers if isinstance(workers, tuple) else ABSENT))


def _manager(data: Mapping[str, Value]) -> Iterator[Slip]:
    manager = data.get("workload_manager")
    if isinstance(manager, str) and HOLE not in manager and manager != "slurm":
        yield Slip(f"the workload manager is {manager!r}", "slurm", dead=True)


def _unknown_groups(data: Mapping[str, Value], model: Model) -> Iterator[Slip]:
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
WHOLES: Mapping[str, WholeJudge] = {_PARAMETER: parameter, CLUSTER: uploaded}
