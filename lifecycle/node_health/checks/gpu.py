"""NVIDIA GPUs: as many as Slurm declares or as ever before on this node; each answers, and no row failed to remap.

A node with missing GPUs asks for a reboot, because the service reboots such nodes too.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-health-monitoring-agent.html
"""

from __future__ import annotations

from node_health.checks.context import Context
from node_health.devices import ask_gpus, table
from node_health.finding import REBOOT, REPLACE, Finding

SECONDS = 12.0
FIELDS = ("index,pci.bus_id,remapped_rows.failure,remapped_rows.pending", "index,pci.bus_id")
LOST = ("GPU is lost", "Unable to determine the device handle", "No devices were found", "Unknown Error", "[GPU")
SET = ("1", "Yes")


def check(context: Context) -> list[Finding]:
    program = context.system.find("nvidia-smi")
    if program is None:
        return []
    result = ask_gpus(context, program, FIELDS, "csv,noheader", SECONDS)
    if result.code is None:
        return [context.silence("gpu:hung", "nvidia-smi", SECONDS, result)]
    rows = table(result.output)
    declared = 0 if context.declared is None else context.declared.amount("gpu")
    expected = max(declared, context.baseline("gpu", len(rows)))
    if expected == 0:
        return []
    return _lost(result.output + result.error, result.code) + _count(len(rows), expected) + _rows(rows)


def _lost(text: str, code: int) -> list[Finding]:
    for line in text.splitlines():
        if any(sign in line for sign in LOST):
            return [Finding("gpu:lost", f"nvidia-smi: {line.strip()[:200]}", REBOOT)]
    return [Finding("gpu:driver", f"nvidia-smi ends with {code}: {text.strip()[:200]}", REBOOT)] if code != 0 else []


def _count(found: int, expected: int) -> list[Finding]:
    if found >= expected:
        return []
    return [Finding("gpu:count", f"nvidia-smi shows {found} GPUs, expected are {expected}", REBOOT)]


def _rows(rows: list[list[str]]) -> list[Finding]:
    found = []
    for row in rows:
        failed, pending = [*row, "", ""][2:4]
        if failed in SET:
            detail = f"GPU {row[0]} ({row[1]}) could not remap a row of its memory"
            found.append(Finding("gpu:remap", detail, REPLACE, hardware=True))
        elif pending in SET:
            found.append(Finding("gpu:remap_pending", f"GPU {row[0]} ({row[1]}) remaps a row of its memory at its next reset"))
    return found
