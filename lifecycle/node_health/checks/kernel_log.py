"""The kernel's log: records of NVIDIA's driver (Xid) and of AWS Neuron's that call for a new node or a reboot.

A record names its fault once, so faults are remembered until the node boots again; the number of the last record read is
remembered too. A new boot, or a new node, has a new boot id and starts from nothing.

Sources of the tables, read in November 2026:
- https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html, the immediate action by code: "reset the GPU", "restart the
  machine" and the workflows that end in one of them. Reset and restart become a reboot here. Codes whose action is to restart the
  application or to ignore the event (13, 31, 43, 45, 63, 94 and others) are not listed.
- Replaced instead: 48, 64, 74 and 79 (double bit error, failed row retirement, NVLink, fallen off the bus) because an instance
  that reboots keeps its host, and Amazon EKS gives double bit and NVLink errors the repair action Replace
  (https://docs.aws.amazon.com/eks/latest/userguide/node-health-nma.html); 54 is a power connector and 160 a retired channel.
- 154 carries the driver's own verdict in words.
- Neuron: https://awsdocs-neuron.readthedocs-hosted.com, hardware errors with ``action=TERMINATE_INSTANCE``.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from node_health.checks.context import Context
from node_health.finding import REBOOT, REPLACE, Finding

KMSG = "/dev/kmsg"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
XID_ACTIONS = {
    **dict.fromkeys((48, 54, 64, 74, 79, 160), REPLACE),
    **dict.fromkeys((46, 62, 95, 109, 110, 119, 120, 136, 140, 143, 151, 155, 156, 158, 162), REBOOT),
}
RECOVERY_CHANGED = 154
RECOVERY_WORDS = re.compile(r"\((?:GPU Reset Required|Node Reboot Required|OS Reboot|Drain and Reset)\)")
RECORD = re.compile(r"(\d+),(\d+),\d+,[^;]*;(.*)")
XID = re.compile(r"NVRM: Xid \((?:PCI:)?([0-9A-Fa-f:.]+)\): (\d+)\b(.*)")
NEURON = re.compile(r"NEURON_HW_ERR=([A-Z][A-Z_]*)")
KERNEL_FACILITY = 8
MEMORY = "kernel_log"


class Record(NamedTuple):
    number: int
    text: str


def parse(log: str) -> list[Record]:
    """The records that the kernel itself wrote; a program that writes to its log has another facility."""
    found = []
    for line in log.split("\n"):
        match = RECORD.match(line)
        if match is not None and int(match.group(1)) < KERNEL_FACILITY:
            found.append(Record(int(match.group(2)), match.group(3)))
    return found


def finding(text: str) -> Finding | None:
    """The fault that a record names, ``None`` when it calls for nothing."""
    xid = XID.match(text)
    if xid is not None:
        code = int(xid.group(2))
        action = XID_ACTIONS.get(code)
        if code == RECOVERY_CHANGED and RECOVERY_WORDS.search(xid.group(3).rpartition(" to ")[2]):
            action = REBOOT
        return None if action is None else Finding(f"xid:{code}", f"GPU {xid.group(1)}: {text[:200]}", action, hardware=True)
    neuron = NEURON.search(text)
    return None if neuron is None else Finding(f"neuron:{neuron.group(1)}", text[:200], REPLACE, hardware=True)


def check(context: Context) -> list[Finding]:
    boot = (context.system.read(BOOT_ID) or "").strip()
    remembered = context.memory.table(MEMORY)
    if remembered.get("boot") != boot:
        remembered.clear()
        remembered.update(boot=boot, last=-1, faults={})
    _remember(remembered, context.system.read(KMSG) or "")
    return [Finding(fault, *values) for fault, values in sorted(remembered["faults"].items())]


def _remember(remembered: dict[str, Any], log: str) -> None:
    for record in parse(log):
        if record.number <= remembered["last"]:
            continue
        remembered["last"] = record.number
        found = finding(record.text)
        if found is not None:
            remembered["faults"].setdefault(found.fault, list(found[1:]))
