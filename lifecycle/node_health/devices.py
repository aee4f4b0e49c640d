"""Accelerators and network cards, as their programs and the kernel tell them: read by the checks and by `node_metrics`."""

from __future__ import annotations

import re
from typing import Sequence

from node_health.checks.context import Context
from node_health.system import Result, System

EFA_DEVICES = "/sys/class/infiniband"
NEURON_DEVICES = "/sys/devices/virtual/neuron_device"
NEURON_DEVICE = re.compile(r"neuron\d+")
UNSUPPORTED = "is not a valid field"


def ask_gpus(context: Context, program: str, fields: Sequence[str], form: str, seconds: float) -> Result:
    """The answer of `nvidia-smi` about the first of these lists of fields that its version knows."""
    result = Result(127)
    for names in fields:
        result = context.run("nvidia-smi", [program, f"--query-gpu={names}", f"--format={form}"], seconds)
        if UNSUPPORTED not in result.output + result.error:
            break
    return result


def table(output: str) -> list[list[str]]:
    """The rows of an answer with commas between its cells."""
    return [[cell.strip() for cell in line.split(",")] for line in output.splitlines() if "," in line]


def efa_devices(system: System) -> list[str]:
    return [name for name in system.names(EFA_DEVICES) if not name.startswith("mlx")]


def neuron_devices(system: System) -> list[str]:
    return [name for name in system.names(NEURON_DEVICES) if NEURON_DEVICE.fullmatch(name)]


def neuron_counter(system: System, device: str, name: str) -> str:
    """A hardware counter of a device since its driver was loaded; 0 if the driver does not have it."""
    return (system.read(f"{NEURON_DEVICES}/{device}/stats/hardware/{name}") or "").strip() or "0"
