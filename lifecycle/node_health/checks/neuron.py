"""AWS Neuron devices: as many as Slurm declares, or as ever before on this node."""

from __future__ import annotations

import json
import re

from node_health.checks.context import Context
from node_health.finding import REBOOT, Finding

SECONDS = 12.0
DEVICE = re.compile(r"neuron\d+")


def check(context: Context) -> list[Finding]:
    program = context.system.find("neuron-ls")
    if program is None:
        return []
    result = context.run("neuron-ls", [program, "--json-output"], SECONDS)
    if result.code is None:
        return [context.silence("neuron:hung", "neuron-ls", SECONDS, result)]
    nodes = sum(1 for name in context.system.names("/dev") if DEVICE.fullmatch(name))
    declared = 0 if context.declared is None else context.declared.amount("neuron")
    expected = max(declared, context.baseline("neuron", nodes))
    if expected == 0:
        return []
    try:
        shown = len(json.loads(result.output))
    except (ValueError, TypeError):
        return [Finding("neuron:driver", f"neuron-ls ends with {result.code}: {result.last_line[:200]}", REBOOT)]
    expected = max(expected, context.baseline("neuron", shown))
    if shown < expected:
        return [Finding("neuron:count", f"neuron-ls shows {shown} devices, expected are {expected}", REBOOT)]
    return []
