"""EFA devices: one for each EFA function on the PCI bus, no fewer than ever before on this node, each port active."""

from __future__ import annotations

from node_health.checks.context import Context
from node_health.devices import EFA_DEVICES, efa_devices
from node_health.finding import REBOOT, Finding

PCI = "/sys/bus/pci/devices"
AMAZON = "0x1d0f"
EFA = ("0xefa0", "0xefa1", "0xefa2", "0xefa3")
ACTIVE = "ACTIVE"


def check(context: Context) -> list[Finding]:
    on_bus = sum(1 for name in context.system.names(PCI) if _is_efa(context, name))
    devices = efa_devices(context.system)
    expected = max(on_bus, context.baseline("efa", max(on_bus, len(devices))))
    if len(devices) < expected:
        return [Finding("efa:count", f"{EFA_DEVICES} has {len(devices)} EFA devices, expected are {expected}", REBOOT)]
    states = {name: _state(context, name) for name in devices}
    bad = [f"{name} is {state}" for name, state in states.items() if state and ACTIVE not in state]
    return [Finding("efa:port", f"EFA port not active: {', '.join(bad)}", REBOOT)] if bad else []


def _is_efa(context: Context, name: str) -> bool:
    vendor = (context.system.read(f"{PCI}/{name}/vendor") or "").strip()
    return vendor == AMAZON and (context.system.read(f"{PCI}/{name}/device") or "").strip() in EFA


def _state(context: Context, name: str) -> str:
    return (context.system.read(f"{EFA_DEVICES}/{name}/ports/1/state") or "").strip()
