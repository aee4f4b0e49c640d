"""Lustre over EFA: where, with which devices, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest
from node_setup.errors import NodeSetupError
from node_setup.registry import MODES, name
from node_setup.steps import efa

from .machine import Machine, make_machine

DEVICES = [f"rdmap{index}s0" for index in range(10, 42)]


def make_node(path: Path, product: str, count: int, *, enabled: bool = True) -> Machine:
    """A worker with EFA devices, and one device of another driver."""
    machine = make_machine(path, "Compute", "on_create")
    machine.config["mounts"]["workers"] = [{**machine.config["mounts"]["workers"][0], "efa_enabled": enabled}]
    for program in ("lnetctl", "modprobe", "modinfo"):
        machine.write(f"/usr/bin/{program}", "", 0o755)
    for device in DEVICES[:count]:
        machine.write(f"/sys/class/infiniband/{device}/device/uevent", "DRIVER=efa\nPCI_ID=1D0F:EFA2\n")
    machine.write("/sys/class/infiniband/mlx5_0/device/uevent", "DRIVER=mlx5_core\n")
    machine.write("/sys/class/dmi/id/product_name", product + "\n")
    machine.write(
        "/proc/1/net/route",
        "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        "ens33\t00000000\t0100010A\t0003\t0\t0\t200\t00000000\t0\t0\t0\n"
        "ens32\t00000000\t0100010A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
        "ens34\t0000010A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n",
    )
    return machine


def set_up(machine: Machine) -> None:
    node = machine.node("on_create")
    assert efa.needed(node)
    efa.apply(node)
    efa.verify(node)


@pytest.mark.parametrize(
    ("product", "count", "expected"),
    [
        ("p5.48xlarge", 32, DEVICES[::4]),
        ("p5en.48xlarge", 16, DEVICES[:16:2]),
        ("p6-b200.48xlarge", 8, DEVICES[:8]),
        ("p6-b300.48xlarge", 16, DEVICES[:16]),
        ("p6-b200.48xlarge", 6, DEVICES[:6]),
        ("trn1.32xlarge", 8, [DEVICES[0], DEVICES[7]]),
        ("g6.8xlarge", 1, DEVICES[:1]),
        ("", 4, [DEVICES[0], DEVICES[3]]),
    ],
)
def test_the_devices_are_those_of_the_type(tmp_path: Path, product: str, count: int, expected: list[str]) -> None:
    machine = make_node(tmp_path / "node", product, count)
    set_up(machine)
    assert machine.networks["efa"] == expected


def test_the_network_is_made_in_the_documented_order(tmp_path: Path) -> None:
    machine = make_node(tmp_path / "node", "g6.8xlarge", 1)
    set_up(machine)
    changes = [command for command in machine.commands if "show" not in command and command.startswith(("modprobe", "lnetctl"))]
    assert changes == [
        "modprobe lnet",
        "modprobe kefalnd ipif_name=ens32",
        "modprobe ksocklnd",
        "lnetctl lnet configure",
        "lnetctl net add --net tcp --if ens32",
        f"lnetctl net add --net efa --if {DEVICES[0]} --peer-credits 32",
        "lnetctl set discovery 1",
        "lnetctl udsp add --src efa --priority 0",
    ]


def test_again_it_adds_only_what_is_missing(tmp_path: Path) -> None:
    machine = make_node(tmp_path / "node", "p6-b200.48xlarge", 8)
    set_up(machine)
    machine.networks["efa"].remove(DEVICES[5])
    machine.commands.clear()
    set_up(machine)
    assert [command.split()[6] for command in machine.commands if " add --net " in command] == [DEVICES[5]]
    machine.commands.clear()
    set_up(machine)
    assert not any("add" in command or command.startswith("modprobe") for command in machine.commands)


@pytest.mark.parametrize(
    ("product", "count", "enabled"), [("p5.48xlarge", 32, False), ("trn2.48xlarge", 16, True), ("m5.xlarge", 0, True)]
)
def test_tcp_alone_without_efa_on_both_sides(tmp_path: Path, product: str, count: int, enabled: bool) -> None:
    machine = make_node(tmp_path / "node", product, count, enabled=enabled)
    assert not efa.needed(machine.node("on_create"))


def test_it_comes_before_the_mount_and_says_so_if_the_service_was_faster(tmp_path: Path) -> None:
    for mode in MODES.values():
        steps = [name(step) for step in mode]
        assert steps.index("efa") < steps.index("mounts")
    machine = make_node(tmp_path / "node", "p5.48xlarge", 32)
    set_up(machine)
    assert "is mounted already" not in machine.log.getvalue()
    late = make_node(tmp_path / "late", "p5.48xlarge", 32)
    late.write("/proc/mounts", "10.1.0.99@tcp:/abcd1234 /fsx lustre rw 0 0\n")
    set_up(late)
    assert "/fsx: is mounted already; it may stay on TCP until its next mount" in late.log.getvalue()


def test_a_missing_device_is_reported(tmp_path: Path) -> None:
    machine = make_node(tmp_path / "node", "p6-b200.48xlarge", 8)
    set_up(machine)
    machine.networks["efa"].pop()
    with pytest.raises(NodeSetupError, match=f"does not show {DEVICES[7]}, so Lustre uses fewer devices or TCP"):
        efa.verify(machine.node("on_create"))


def test_a_node_without_a_default_route_is_reported(tmp_path: Path) -> None:
    machine = make_node(tmp_path / "node", "g6.8xlarge", 1)
    machine.write("/proc/1/net/route", "Iface\tDestination\n")
    with pytest.raises(NodeSetupError, match="has no default route"):
        efa.apply(machine.node("on_create"))
