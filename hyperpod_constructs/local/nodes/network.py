"""A rig's network: a bridge in a namespace of its own, so neither the host's address nor its firewall is in it."""

from __future__ import annotations

from pathlib import Path

from hyperpod_constructs.local.nodes.commands import attempt, host
from hyperpod_constructs.local.nodes.ledger import Ledger, undo_namespace

BRIDGE = "switch0"
FIRST = 77
PREFIX = 16
PER_BLOCK = 250


class Network:
    """The network of the rig in that slot: `10.77.0.0/16` for slot 0, `10.78.0.0/16` for slot 1, and so on."""

    def __init__(self, slot: int, ledger: Ledger) -> None:
        self._ledger = ledger
        self._start = f"10.{FIRST + slot}"
        self.switch = f"hpn-switch-{slot}"

    def address(self, number: int) -> str:
        """The address of the node with that number, counted from 0."""
        return f"{self._start}.{1 + number // PER_BLOCK}.{1 + number % PER_BLOCK}"

    def make(self) -> None:
        """Makes the switch."""
        host("ip", "netns", "add", self._ledger.namespace(self.switch))
        _batch(
            self.switch,
            "link set lo up",
            f"link add {BRIDGE} type bridge",
            f"address add {self._gateway}/{PREFIX} dev {BRIDGE}",
            f"link set {BRIDGE} up",
        )

    def attach(self, address: str) -> Path:
        """A namespace with that address, plugged into the switch."""
        name = self._ledger.namespace(_namespace(address))
        host("ip", "netns", "add", name)
        port = _port(address)
        _batch(
            self.switch,
            f"link add {port} type veth peer name eth0 address {_hardware_address(address)} netns {name}",
            f"link set {port} master {BRIDGE} up",
        )
        _batch(
            name,
            "link set lo up",
            f"address add {address}/{PREFIX} dev eth0",
            "link set eth0 up",
            f"route add default via {self._gateway}",
        )
        return Path("/run/netns", name)

    def detach(self, address: str) -> None:
        """The cable goes by itself only with the last of the namespace's sockets, which may outlive the node."""
        attempt("ip", "-n", self.switch, "link", "delete", _port(address))
        undo_namespace(_namespace(address))

    def set_link(self, address: str, *, up: bool) -> None:
        """Cuts or restores the node's cable; peers see silence, no reset."""
        _batch(self.switch, f"link set {_port(address)} {'up' if up else 'down'}")

    @property
    def _gateway(self) -> str:
        return f"{self._start}.0.1"


def node_name(address: str) -> str:
    """The host name that the service gives to an address."""
    return "ip-" + address.replace(".", "-")


def _namespace(address: str) -> str:
    return "hpn-" + address.replace(".", "-")


def _hardware_address(address: str) -> str:
    """The same for a replacement: in the service's network no peer asks for it, so none has a stale one."""
    third, fourth = address.split(".")[2:]
    return f"02:4d:00:00:{int(third):02x}:{int(fourth):02x}"


def _port(address: str) -> str:
    third, fourth = address.split(".")[2:]
    return f"port-{third}-{fourth}"


def _batch(namespace: str, *lines: str) -> None:
    host("ip", "-n", namespace, "-batch", "-", input="\n".join(lines) + "\n")
