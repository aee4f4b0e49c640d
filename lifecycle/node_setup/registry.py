"""The steps of each mode, in order. Each step decides itself whether this node needs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from node_setup.errors import NodeSetupError
from node_setup.node import Node
from node_setup.steps import (
    accounting,
    agent,
    associations,
    boot,
    container_data,
    containers,
    efa,
    health,
    homes,
    hooks,
    host_keys,
    image,
    install,
    keep,
    limits,
    log_rotation,
    metrics,
    motd,
    mounts,
    munge,
    own,
    partitions,
    password,
    reconfigure,
    restore,
    scheduling,
    slurm_settings,
    slurmctld,
    slurmd,
    slurmdbd,
    sssd,
    user_keys,
    users,
)


class Step(Protocol):
    """A module of `node_setup.steps`. A mandatory step that fails, fails the node; any other is reported and skipped."""

    __name__: str
    MANDATORY: bool

    def needed(self, node: Node) -> bool: ...

    def apply(self, node: Node) -> None: ...

    def verify(self, node: Node) -> None: ...


FIRST: list[Step] = [install, boot, efa, mounts]
PEOPLE: list[Step] = [users, homes, user_keys, host_keys, sssd]
NODE: list[Step] = [containers, limits, log_rotation, motd, health, metrics, hooks]
MODES: dict[str, Sequence[Step]] = {
    "on_init_complete": [
        *FIRST,
        *PEOPLE,
        image,
        *NODE,
        restore,
        slurm_settings,
        reconfigure,
        password,
        scheduling,
        partitions,
        keep,
    ],
    "on_create": [
        *FIRST,
        *PEOPLE,
        *NODE,
        munge,
        agent,
        slurm_settings,
        accounting,
        restore,
        slurmdbd,
        slurmctld,
        slurmd,
        reconfigure,
        associations,
        password,
        scheduling,
        partitions,
        keep,
    ],
    "boot": [efa, mounts, containers],
}
ON_EKS: dict[str, Sequence[Step]] = {"on_create": [install, boot, container_data], "boot": [container_data]}


def planned(mode: str, node: Node) -> list[Step]:
    """The steps of a mode with the owner's, which run after the installation of the programs, and at the end; never at a boot."""
    modes = ON_EKS if node.config.on_eks else MODES
    if mode not in modes:
        raise NodeSetupError(f"{mode} is for nodes of Slurm; on EKS these scripts run {' and '.join(modes)}")
    steps = list(modes[mode])
    if mode == "boot":
        return steps
    before, after = ([own.Own(step) for step in node.config.own_steps if step.when == when] for when in ("before", "after"))
    return [install, *before, *[step for step in steps if step is not install], *after]


def name(step: Step) -> str:
    return step.__name__.rpartition(".")[2]
