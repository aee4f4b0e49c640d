"""Mistakes in what programs of nodes write and put somewhere, for the groups of a cluster, each file once."""

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

    :param others: other files in which the mistake may be instead.
    """

    file: NodeFile
    says: str
    allowed: str
    others: tuple[NodeFile, ...] = ()


def on_nodes(mistakes: Callable[[Group], Iterable[Mistake]]) -> dict[str, WholeJudge]:
    """The judge of clusters whose groups may have these mistakes."""

    def files(cluster: Resource) -> Slips:
        said: set[tuple[Resource, Path]] = set()
        for group in (group for one in clusters(cluster.template.model) if one.resource is cluster for group in one.groups):
            for found in mistakes(group):
                place = found.file.resource, found.file.path
                if place not in said:
                    said.add(place)
                    message = f"{found.file.name} for nodes of {cluster.logical_id} {found.says}"
                    beside = ((cluster, (*group.path, LIFE_CYCLE)), *((one.resource, one.path) for one in found.others))
                    yield Slip(message, found.allowed, place[1], dead=True, beside=beside, at=place[0])

    return {CLUSTER: files}
