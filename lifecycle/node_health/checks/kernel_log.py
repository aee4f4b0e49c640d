"""The kernel's log: records of NVIDIA's driver (Xid) and of AWS Neuron's driver that call for a new node or a reboot.

A record names its fault once. So faults are remembered until the next boot, with the number of the last record. A new boot, or a
new node, has a new boot id and starts with an empty memory.

Users write in this log too: many records, even of the drivers, contain the name of a crashed process, 15 bytes of its owner's
choice. So a record counts only if it is complete, in its driver's format, and if the driver has devices. A continuation (flag `c`)
begins in the middle of a record and never counts. A user of a Neuron device can make its driver write any record
(`NEURON_IOCTL_PRINTK`), so a Neuron record asks for a replacement only if the counters of a device confirm it.

Sources of the tables, read in November 2026:
- https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html, the immediate action by code: "reset the GPU", "restart the
  machine" and the workflows that end in one of them. Reset and restart become a reboot here. Codes with the action to restart the
  application or to ignore the event (13, 31, 43, 45, 63, 94 and others) are left out.
- Replacement for 48, 64, 74 and 79 (double bit error, failed row retirement, NVLink, fallen off the bus): a rebooted instance keeps
  its host, and Amazon EKS gives double bit and NVLink errors the repair action Replace
  (https://docs.aws.amazon.com/eks/latest/userguide/node-health-nma.html). 54 is a power connector and 160 a retired channel.
- 154 carries the driver's own verdict in words.
- Neuron: https://awsdocs-neuron.readthedocs-hosted.com, hardware errors with `action=TERMINATE_INSTANCE` (nrt-troubleshoot), and
  the counters of uncorrected errors below `stats/hardware` (neuron-sysfs-user-guide).
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from node_health.checks.context import Context
from node_health.devices import NEURON_DEVICE, neuron_counter, neuron_devices
from node_health.finding import REBOOT, REPLACE, Finding

KMSG = "/dev/kmsg"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
NVIDIA = re.compile(r"nvidia(?:\d+|ctl)")
NVIDIA_DRIVER = "/proc/driver/nvidia"
NEURON_COUNTERS = ("sram_ecc_uncorrected", "mem_ecc_uncorrected")
XID_ACTIONS = {
    **dict.fromkeys((48, 54, 64, 74, 79, 160), REPLACE),
    **dict.fromkeys((46, 62, 95, 109, 110, 119, 120, 136, 140, 143, 151, 155, 156, 158, 162), REBOOT),
}
RECOVERY_CHANGED = 154
RECORD = re.compile(r"(\d{1,10}),(\d{1,20}),\d+,-(?:,[^;]*)?;(.*)")
XID = re.compile(
    r"NVRM: Xid \((?:PCI:)?([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-9A-Fa-f])?)(?: GPU-I:\d{1,2})?\): (\d{1,4}), (.*)"
)
# The name of the process may stand before the verdict; it is too short for the first words of the verdict.
RECOVERY = re.compile(
    r"(?:pid=.{1,40}, name=.{0,80}, )?GPU recovery action changed from 0x[0-9a-f]+ \([^()]{1,40}\) to 0x[0-9a-f]+ "
    r"\((?:GPU Reset Required|Node Reboot Required|OS Reboot|Drain and Reset)\)\.?"
)
NEURON = re.compile(
    r"(?:[0-9T:.Z+-]{19,35} )?NEURON_HW_ERR=([A-Z][A-Z_]{0,63})(?: [a-z-]{1,20}=[\w.:-]{1,80}){1,10} action=TERMINATE_INSTANCE"
)
NEURON_FAULT = "neuron:"
KERNEL_FACILITY = 8
MEMORY = "kernel_log"


class Record(NamedTuple):
    number: int
    text: str


def parse(log: str) -> list[Record]:
    """The complete records of the kernel itself; records of programs have another facility."""
    found = []
    for line in log.split("\n"):
        match = RECORD.fullmatch(line)
        if match is not None and int(match.group(1)) < KERNEL_FACILITY:
            found.append(Record(int(match.group(2)), match.group(3)))
    return found


def finding(text: str) -> Finding | None:
    """The fault in a record; `None` if it calls for no action."""
    xid = XID.fullmatch(text)
    if xid is not None:
        code = int(xid.group(2))
        action = XID_ACTIONS.get(code)
        if code == RECOVERY_CHANGED and RECOVERY.fullmatch(xid.group(3)):
            action = REBOOT
        return None if action is None else Finding(f"xid:{code}", f"GPU {xid.group(1)}: {text[:200]}", action, hardware=True)
    neuron = NEURON.fullmatch(text)
    return None if neuron is None else Finding(NEURON_FAULT + neuron.group(1), text[:200], REPLACE, hardware=True)


def check(context: Context) -> list[Finding]:
    boot = (context.system.read(BOOT_ID) or "").strip()
    remembered = context.memory.table(MEMORY)
    if remembered.get("boot") != boot:
        remembered.clear()
        remembered.update(boot=boot, last=-1, faults={})
    _remember(context, remembered, context.system.read(KMSG) or "")
    found = [Finding(fault, *values) for fault, values in sorted(remembered["faults"].items())]
    return [_borne_out(context, one) if one.fault.startswith(NEURON_FAULT) else one for one in found]


def _remember(context: Context, remembered: dict[str, Any], log: str) -> None:
    drivers = {"xid:": _has_nvidia(context), NEURON_FAULT: _has_neuron(context)}
    for record in parse(log):
        if record.number <= remembered["last"]:
            continue
        remembered["last"] = record.number
        found = finding(record.text)
        if found is not None and any(there and found.fault.startswith(kind) for kind, there in drivers.items()):
            remembered["faults"].setdefault(found.fault, list(found[1:]))


def _has_nvidia(context: Context) -> bool:
    """Whether the driver has devices. A GPU that fell off the bus leaves its device file and the driver's folder behind."""
    return any(NVIDIA.fullmatch(name) for name in context.system.names("/dev")) or bool(context.system.names(NVIDIA_DRIVER))


def _has_neuron(context: Context) -> bool:
    return any(NEURON_DEVICE.fullmatch(name) for name in context.system.names("/dev"))


def _borne_out(context: Context, found: Finding) -> Finding:
    system = context.system
    if any(neuron_counter(system, device, name) != "0" for device in neuron_devices(system) for name in NEURON_COUNTERS):
        return found
    return found._replace(detail=f"{found.detail} (no counter of a device confirms it)", action=None)
