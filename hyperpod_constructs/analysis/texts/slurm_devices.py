"""GPUs in Slurm's configuration and batch scripts: their types and numbers agree, and are those of the instance types.

Sources: https://slurm.schedmd.com/gres.html, https://slurm.schedmd.com/gres.conf.html and
https://slurm.schedmd.com/slurm.conf.html#OPT_GresTypes
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.clusters import Group, Orchestration
from hyperpod_constructs.analysis.node_programs import programs_of
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.slurm_devices import Device, of_devices, of_jobs, of_nodes
from hyperpod_constructs.analysis.slurm_texts import is_known, slurm_texts, spelled_file
from hyperpod_constructs.analysis.texts.on_nodes import Mistake, of_slurm
from hyperpod_constructs.analysis.texts.slip import Judge, WholeJudge
from hyperpod_constructs.facts.slurm_configuration import GRES, SLURM
from hyperpod_constructs.facts.texts import Language

_GPU = "gpu"


def _types(group: Group) -> Iterator[Mistake]:
    """A type of GPUs in one place that another place does not have: no node has what a job asks for."""
    texts = slurm_texts(group)
    nodes, devices = ([one for one in some if one.name == _GPU] for some in (of_nodes(group, texts), of_devices(texts)))
    for one in nodes if _agree_on_types(devices) and _agree_on_types(nodes) else ():
        others = sorted({other.type_ for other in devices if other.type_})
        if one.type_ not in others:
            yield _other(one, devices[0], group)
            return
    known = [one for some in (devices, nodes) if some and _agree_on_types(some) for one in some]
    there = sorted({one.type_ for one in known if one.type_ is not None})
    for job in (one for one in of_jobs(group) if one.name == _GPU and one.type_ and known):
        if job.type_ not in there:
            yield Mistake(
                job.file, f"asks for GPUs of type {job.type_}, and nodes have {listed(there)}: it never starts", listed(there)
            )


def _agree_on_types(some: Sequence[Device]) -> bool:
    """Whether all of them have known types."""
    return bool(some) and all(one.type_ for one in some)


def _other(node: Device, device: Device, group: Group) -> Mistake:
    """Two types of which one is wrong: the one that is not that of the instances."""
    types = [one for some in group.cluster.groups for one in some.types or ()]
    names = {(one.accelerator.name or "").lower() for one in types if one.accelerator is not None}
    wrong, right = (device, node) if node.type_ in names and device.type_ not in names else (node, device)
    says = f"gives nodes GPUs of type {wrong.type_}, and {right.file.name} those of type {right.type_}"
    return Mistake(wrong.file, says, str(right.type_))


def _counts(group: Group) -> Iterator[Mistake]:
    """Fewer or more devices than the instances have, where `slurm.conf` or a job counts otherwise."""
    texts, has = slurm_texts(group), _of_instances(group)
    devices = [one for one in of_devices(texts) if one.name == _GPU]
    others = [one.number for one in (*of_nodes(group, texts), *of_jobs(group)) if one.name == _GPU and one.number is not None]
    for some in grouped((one.nodes, one) for one in devices).values():
        counts = [one.number for one in some]
        total = sum(one for one in counts if one is not None)
        if has is not None and None not in counts and total != has and has in others and total not in others:
            says = f"gives a node {total} GPUs, and an instance has {has}: slurmd's count is another one than slurmctld's"
            yield Mistake(some[0].file, says, f"{has} devices")


def _of_instances(group: Group) -> int | None:
    """The number of GPUs of an instance; `None` if the instances of the cluster have different ones, or it is not known."""
    types = [one.types for one in group.cluster.groups]
    every = [one for some in types for one in some or ()]
    counts = {one.accelerator.count for one in every if one.accelerator is not None}
    is_known_ = None not in types and all(one.vcpus is not None for one in every)
    return counts.pop() if is_known_ and len(counts) == 1 else None


def _kinds(group: Group) -> Iterator[Mistake]:
    """Resources of nodes that `GresTypes` does not have; the file that the service writes has none by itself."""
    texts = slurm_texts(group)
    own = [one for one in texts if one.kind == SLURM]
    lines = [line for text in own if (line := text.last("grestypes")) is not None]
    said = any("grestypes" in (spelled_file(one) or "grestypes").lower() for one in programs_of(group).files.values())
    names = sorted({one.name for one in (*of_nodes(group, texts),)})
    if not own or not names or group.cluster.orchestration is not Orchestration.LEGACY_SLURM or (said and not lines):
        return
    have = {one.strip() for line in lines for one in line.value.split(",")}
    lacking = [one for one in names if one not in have]
    if lacking and all(map(is_known, have)):
        file = next(text for text in own if not lines or text.last("grestypes") is not None).file
        yield Mistake(
            file, f"has no GresTypes with {lacking[0]}, which nodes have: slurmctld refuses them", f"GresTypes={lacking[0]}"
        )


def _tracked(group: Group) -> Iterator[Mistake]:
    """Resources to count that are no kinds of `GresTypes` beside them."""
    for text in (one for one in slurm_texts(group) if one.kind == SLURM):
        kinds, tracked = text.last("grestypes"), text.last("accountingstoragetres")
        if kinds is None or tracked is None or not is_known(kinds.value + tracked.value):
            continue
        have = {one.strip() for one in kinds.value.split(",")}
        for name in re.findall(r"gres/(\w+)", tracked.value):
            if name not in have:
                says = f"counts gres/{name}, and GresTypes has {listed(sorted(have))}"
                yield Mistake(text.file, says, listed(sorted(f"gres/{one}" for one in have)), tracked.number if text.own else 0)


def _without_file(group: Group) -> Iterator[Mistake]:
    """GPUs in `slurm.conf`, and no `gres.conf` that says which devices they are: slurmd finds none."""
    texts = slurm_texts(group)
    nodes = [one for one in of_nodes(group, texts) if one.name == _GPU]
    files = [spelled_file(one) for one in programs_of(group).files.values()]
    is_named = any(text is None or GRES in text for text in files) or any(one.kind == GRES and not one.own for one in texts)
    if nodes and not is_named and group.cluster.orchestration is Orchestration.LEGACY_SLURM:
        says = f"gives nodes GPUs, and no program puts a {GRES} beside it: slurmd finds no device"
        yield Mistake(nodes[0].file, says, GRES)


_JUDGES: tuple[Callable[[Group], Iterator[Mistake]], ...] = (_types, _counts, _kinds, _tracked, _without_file)
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_slurm(*_JUDGES)
