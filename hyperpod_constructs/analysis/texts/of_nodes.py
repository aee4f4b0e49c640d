"""Judges of what nodes of a cluster with Slurm get: each mistake once, at the file in which it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group, clusters
from hyperpod_constructs.analysis.node_programs import LIFE_CYCLE, NodeFile
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.texts.slip import Slip, Slips, WholeJudge
from hyperpod_constructs.templates.model import Resource


class Mistake(NamedTuple):
    """What is wrong with a file, in words, and what is right.

    :param line: the line in which it is; nothing for a text that stands in a program.
    """

    file: NodeFile
    says: str
    allowed: str
    line: int = 0


def of_each_group(judges: Sequence[Callable[[Group], Iterator[Mistake]]]) -> WholeJudge:
    """The judge of a cluster by those of its groups; the first mistake of each file."""

    def whole(resource: Resource) -> Slips:
        said: set[tuple[Resource, Path]] = set()
        groups = (group for one in clusters(resource.template.model) if one.resource is resource for group in one.groups)
        for group in (one for one in groups if one.cluster.on_eks is False):
            for found in (one for judge in judges for one in judge(group)):
                place = found.file.resource, found.file.path
                if place not in said:
                    said.add(place)
                    beside = ((resource, (*group.path, LIFE_CYCLE)),)
                    where = f", line {found.line}," if found.line else ""
                    message = f"{found.file.name} for {resource.logical_id}{where} {found.says}"
                    yield Slip(message, found.allowed, place[1], dead=True, beside=beside, at=place[0])

    return whole
