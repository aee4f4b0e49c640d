"""The ports of Slurm's programs, by the roles of nodes (as of 2026-11-29).

Source: https://slurm.schedmd.com/network.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

CONTROLLER, LOGIN, COMPUTE = "Controller", "Login", "Compute"
SLURMCTLD, SLURMD, SLURMDBD = range(6817, 6818), range(6818, 6819), range(6819, 6820)
SRUN = range(1024, 65536)
"""`srun` listens on some of these ports, which `SrunPortRange` narrows."""


class Talk(NamedTuple):
    """What nodes of one role ask those of another one."""

    program: str
    """The program that listens there."""
    ports: range
    some: bool = False
    """Whether it listens on some of the ports only, so that one open port is enough."""


TALKS: Mapping[tuple[str, str], Talk] = {
    (LOGIN, CONTROLLER): Talk("slurmctld", SLURMCTLD),
    (COMPUTE, CONTROLLER): Talk("slurmctld", SLURMCTLD),
    (CONTROLLER, COMPUTE): Talk("slurmd", SLURMD),
    (LOGIN, COMPUTE): Talk("slurmd", SLURMD),
    (CONTROLLER, LOGIN): Talk("srun", SRUN, some=True),
    (COMPUTE, LOGIN): Talk("srun", SRUN, some=True),
}
"""By the roles of who asks and who answers. A job that starts on a login node asks the controller for nodes and starts its steps on
these; both answer the `srun` of the login node on ports that this chooses.
"""

PROGRAMS = frozenset(one.program for one in TALKS.values())
