"""Scripts of the user beside the steps of this library's scripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs.facts.limits import Limit
from hyperpod_constructs.node_software.node_type import SlurmNodeType
from hyperpod_constructs.node_software.script_text import check_script

StepName = Annotated[
    str,
    Limit(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$",
        shortest=1,
        longest=40,
        words="{shortest} to {longest} letters, digits, '_' and '-', with a letter or digit first",
        example="scratch-disk",
    ),
]
Seconds = Annotated[int, Limit(least=1, most=3600)]


class StepMoment(StrEnum):
    """The place of a step among the library's own."""

    BEFORE = "before"
    """Before the library changes the node, but with its file systems if the service has mounted them."""
    AFTER = "after"
    """After the library's last step."""


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class OwnStep:
    """A script of yours that nodes run as root beside the steps of this library's scripts.

    It runs once on each node, and again after a failure, a kill, a change of its content or a software update: write it so that it
    can run twice. A reboot does not run it. Its output is in the node's log. It finds `HYPERPOD_GROUP`, `HYPERPOD_NODE_TYPE` and
    `HYPERPOD_SHARED_DIRECTORY` in its environment, and the programs of the image in `PATH`.

    :param script: path of the script, a text of 1 MiB or less whose first line names the interpreter, such as `#!/bin/bash`.
    :param name: of the step in the log; the file's name without its ending when not given.
    :param when: after the library's steps unless given.
    :param node_types: the roles of nodes that run it, such as `[SlurmNodeType.COMPUTE]`; all nodes unless given.
    :param mandatory: whether its failure fails the node; yes unless given. Otherwise the log reports it.
    :param timeout_seconds: 1 to 3600; 600 unless given. A script that takes longer has failed.
    :raises ValueError: for a missing file, or a script without an interpreter, with CR line ends or with a mistake that `bash -n`
        finds.
    """

    script: str | Path
    name: StepName | None = None
    when: StepMoment = StepMoment.AFTER
    node_types: Sequence[SlurmNodeType] = ()
    mandatory: bool = True
    timeout_seconds: Seconds = 600

    def __post_init__(self) -> None:
        if not self.path.is_file():
            raise ValueError(f"OwnStep: script {str(self.script)!r} is not a file; write the path of an executable text")
        check_script(self.path)

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.script)

    @property
    def step_name(self) -> str:
        """The name in the log and among the uploaded files."""
        return re.sub(r"[^A-Za-z0-9_-]+", "-", self.path.stem).strip("-_")[:40] or "step" if self.name is None else self.name

    def render(self) -> dict[str, Any]:
        """The step in `config.json`."""
        return {
            "name": self.step_name,
            "when": self.when.value,
            "node_types": [kind.value for kind in self.node_types],
            "mandatory": self.mandatory,
            "seconds": self.timeout_seconds,
        }
