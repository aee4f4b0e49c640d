"""Lustre over EFA, where a mounted file system has EFA: devices of the node become interfaces of Lustre's network.

It follows FSx's guide and has not run on a machine with EFA. The guide gives the number of devices for each instance type. It does
not say which ones: they are spread evenly over the sorted names, and a type that the guide does not name takes the first and the
last.

A file system that the service has mounted before this step may stay on TCP until its next mount; the log says so.

Source: https://docs.aws.amazon.com/fsx/latest/LustreGuide/configure-efa-clients.html (as of 2026-11-22)
"""

from __future__ import annotations

from node_setup.errors import NodeSetupError
from node_setup.mounts import mounted
from node_setup.node import Node

MANDATORY = False
DRIVER = "kefalnd"
DEVICES = "/sys/class/infiniband"
PRODUCT = "/sys/class/dmi/id/product_name"
ROUTES = "/proc/1/net/route"
INTERFACES = {
    "p5.48xlarge": 8,
    "p5e.48xlarge": 8,
    "p5en.48xlarge": 8,
    "p6-b200.48xlarge": 8,
    "p6-b300.48xlarge": 16,
    "p6e-gb200.36xlarge": 8,
}
UNSUPPORTED = ("trn2",)


def needed(node: Node) -> bool:
    if not any(mount.efa for mount in node.mounts) or not _chosen(node):
        return False
    return node.has("lnetctl") and node.query(["modinfo", DRIVER]).code == 0


def apply(node: Node) -> None:
    missing = [device for device in _chosen(node) if device not in _interfaces(node)]
    if not missing:
        return
    for mount in node.mounts:
        if mount.efa and mounted(node.path("/proc/mounts"), mount.path) is not None:
            node.log.line(f"{mount.path}: is mounted already; it may stay on TCP until its next mount")
    _start(node, _interface_outwards(node))
    for device in missing:
        node.run(["lnetctl", "net", "add", "--net", "efa", "--if", device, "--peer-credits", "32"])
    node.run(["lnetctl", "set", "discovery", "1"])
    if "efa" not in node.query(["lnetctl", "udsp", "show"]).output:
        node.run(["lnetctl", "udsp", "add", "--src", "efa", "--priority", "0"])


def verify(node: Node) -> None:
    shown = _interfaces(node)
    lacking = [device for device in _chosen(node) if device not in shown]
    if lacking:
        raise NodeSetupError(f"lnetctl net show --net efa: does not show {', '.join(lacking)}, so Lustre uses fewer devices or TCP")


def _start(node: Node, interface: str) -> None:
    """Load Lustre's network with its drivers. A network that runs already stays as it is, because a mount may use it."""
    for module in (["lnet"], [DRIVER, f"ipif_name={interface}"], ["ksocklnd"]):
        node.run(["modprobe", *module])
    if not node.query(["lnetctl", "net", "show"]).output.strip():
        node.run(["lnetctl", "lnet", "configure"])
    if "@tcp" not in node.query(["lnetctl", "net", "show", "--net", "tcp"]).output:
        node.run(["lnetctl", "net", "add", "--net", "tcp", "--if", interface])


def _chosen(node: Node) -> list[str]:
    """The EFA devices for Lustre, of those that the node has."""
    product = (node.read(PRODUCT) or "").strip()
    devices = [] if product.startswith(UNSUPPORTED) else _devices(node)
    count = INTERFACES.get(product)
    if count is None:
        return list(dict.fromkeys((*devices[:1], *devices[-1:])))
    return [devices[index * len(devices) // count] for index in range(count)] if count < len(devices) else devices


def _devices(node: Node) -> list[str]:
    return [name for name in sorted(node.names(DEVICES)) if "DRIVER=efa" in _event(node, name).splitlines()]


def _event(node: Node, device: str) -> str:
    return node.read(f"{DEVICES}/{device}/device/uevent") or ""


def _interface_outwards(node: Node) -> str:
    """The interface of the default route with the lowest metric."""
    routes = [line.split() for line in (node.read(ROUTES) or "").splitlines()[1:]]
    outwards = [(int(route[6]), route[0]) for route in routes if len(route) > 7 and route[1] == route[7] == "00000000"]
    if not outwards:
        raise NodeSetupError(f"{ROUTES}: has no default route, so the interface for Lustre's TCP is not known")
    return min(outwards)[1]


def _interfaces(node: Node) -> list[str]:
    shown = node.query(["lnetctl", "net", "show", "--net", "efa"]).output
    return [line.split(":", 1)[1].strip() for line in shown.splitlines() if line.strip().startswith("0:")]
