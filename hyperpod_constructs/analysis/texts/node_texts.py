"""Texts in files of nodes: uploaded ones that programs put somewhere, and those that scripts write.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm-base-config.html
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.node_programs import NodeFile, programs_of
from hyperpod_constructs.analysis.placed_files import placed_files
from hyperpod_constructs.analysis.scripts import scripts_for
from hyperpod_constructs.analysis.texts.reading import HOLE, spelled
from hyperpod_constructs.analysis.written_texts import HOLE as UNREAD
from hyperpod_constructs.analysis.written_texts import texts_written, whole_files


class NodeText(NamedTuple):
    """A text in a file of nodes.

    :param place: the whole path of the file.
    :param text: with a hole for each part that is not known; empty if nothing of it is known.
    :param by: the file whose command puts it there.
    :param at: the file with the text.
    :param adds: whether it comes behind what is in the file.
    """

    place: str
    text: str
    by: NodeFile
    at: NodeFile
    adds: bool = False

    @property
    def folder(self) -> str:
        """The folder of the file."""
        return self.place.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The name of the file without the folder."""
        return self.place.rpartition("/")[2]


def texts_on_nodes(group: Group) -> tuple[NodeText, ...]:
    """The texts in files of the nodes of a group, as far as the paths of these are known; computed once."""
    key = (texts_on_nodes, group.resource, group.path)
    return group.resource.template.model.cached(key, lambda: (*_placed(group), *_written(group)))


def _placed(group: Group) -> Iterator[NodeText]:
    """The uploaded files that programs put somewhere."""
    programs = programs_of(group)
    for one in placed_files(programs):
        source = programs.files.get(one.source.removeprefix("./"))
        if HOLE not in one.place and UNREAD not in one.place and one.place.startswith("/"):
            text = (spelled(source.text) or "") if source is not None else ""
            yield NodeText(one.place, text, programs.files[one.by], source or programs.files[one.by])


def _written(group: Group) -> Iterator[NodeText]:
    """The texts that scripts write."""
    own = {(one.resource, one.path): one for one in programs_of(group).files.values()}
    for script in scripts_for(group):
        file = own[script.resource, script.path]
        for text in whole_files(texts_written(script.run)) if script.run is not None else ():
            if text.place.startswith("/") and UNREAD not in text.place:
                yield NodeText(text.place, spelled(text.value) or "", file, file, text.adds)
