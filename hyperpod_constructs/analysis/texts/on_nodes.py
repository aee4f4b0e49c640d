"""Mistakes in what nodes get, and in what their programs write and put somewhere, for the groups of a cluster, each file once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import CLUSTER, Group, clusters
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, NodeFile
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.texts.slip import Slip, Slips, WholeJudge
from hyperpod_constructs.templates.model import Resource


class Mistake(NamedTuple):
    """What is wrong, in words, with the file in which it is, and what is right.

    :param line: the line in which it is; nothing for a text that stands in a program.
    :param others: other files in which the mistake may be instead.
    """

    file: NodeFile
    says: str
    allowed: str
    line: int = 0
    others: tuple[NodeFile, ...] = ()


GroupJudge = Callable[[Group], Iterable[Mistake]]


def on_nodes(*judges: GroupJudge) -> dict[str, WholeJudge]:
    """The judge of clusters whose groups may have these mistakes: the first one of each file."""

    def whole(cluster: Resource) -> Slips:
        said: set[tuple[Resource, Path]] = set()
        groups = (group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups)
        for group, found in ((one, found) for one in groups for judge in judges for found in judge(one)):
            place = found.file.resource, found.file.path
            if place not in said:
                said.add(place)
                where = f", line {found.line}," if found.line else ""
                message = f"{found.file.name} for nodes of {cluster.logical_id}{where} {found.says}"
                beside = ((cluster, (*group.path, LIFE_CYCLE)), *((one.resource, one.path) for one in found.others))
                yield Slip(message, found.allowed, place[1], dead=True, beside=beside, at=place[0])

    return {CLUSTER: whole}


def of_slurm(*judges: GroupJudge) -> dict[str, WholeJudge]:
    """The same for clusters that Slurm schedules."""

    def mistakes(group: Group) -> Iterable[Mistake]:
        return (one for judge in judges for one in judge(group)) if group.cluster.on_eks is False else ()

    return on_nodes(mistakes)
