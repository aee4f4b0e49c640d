"""The roles of nodes."""

from __future__ import annotations

from enum import StrEnum


class SlurmNodeType(StrEnum):
    """The role of a group's nodes in Slurm. It cannot be changed for an existing group."""

    CONTROLLER = "Controller"
    LOGIN = "Login"
    COMPUTE = "Compute"
