"""Sets up a node. The log is standard output; after a failure, its last line is the cause.

`on_init_complete` and `on_create` are the service's two moments for scripts. The node itself runs `boot` after a reboot. `keep`
copies the controller's state, `partitions` gives partitions over several groups their nodes. `accounting` looks at the accounting
database, and takes its rotated password over.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

from node_trust.folder import Folder
from node_trust.owners import Ownership, Unowned

from node_setup import partitions, shared, state
from node_setup.config import Config, read_config
from node_setup.errors import NodeSetupError, read_json
from node_setup.log import Log, silent
from node_setup.mounts import await_mount
from node_setup.node import Host, Node, Patience
from node_setup.registry import MODES, planned
from node_setup.role import Role, await_role, own_addresses
from node_setup.runner import run_steps
from node_setup.steps import password
from node_setup.steps.install import ROLE
from node_setup.waiting import Clock

RESOURCE_CONFIG = "/opt/ml/config/resource_config.json"
KEEP_SECONDS = 10.0
LOCK = "hyperpod-node-setup.lock"
ALONE = ("keep", "partitions", "accounting")
COMMANDS = (*MODES, *ALONE)


def run(mode: str, environment: Mapping[str, str], log: Log) -> None:
    """Run every step of one mode; each step is safe to run again after a kill at any line."""
    patience = _patience(environment)
    events = _events(mode, log)
    source = Path(__file__).resolve().parent.parent
    root = environment.get("NODE_SETUP_ROOT", "")
    host = Host(root, platform.node().split(".")[0], Clock(), Unowned() if root else Ownership())
    with events.step("read config.json"):
        config = read_config(source / "config.json")
    with events.step("name the role"):
        role = (
            _any_role(config, environment, host, patience)
            if config.on_eks
            else _slurm_role(mode, config, environment, host, patience)
        )
        events.line(str(role))
    if role.group is None and mode == "on_create" and not config.on_eks:
        raise NodeSetupError(
            f"{RESOURCE_CONFIG}: names no instance with an address of this node ({', '.join(role.addresses) or 'none'}) after "
            f"{patience.role:.0f} s, so its node type is unknown; with OnCreate nothing else sets up the node"
        )
    node = Node(mode, config, role, source, log, host, patience)
    if mode == "keep":
        keep(node)
    elif mode == "partitions":
        partitions.update(node)
    elif mode == "accounting":
        password.look(node)
    else:
        run_steps(node, planned(mode, node))


def main(arguments: list[str], environment: Mapping[str, str]) -> int:
    log = Log(sys.stdout)
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        log.line(f"failed: usage: python3 -m node_setup {'|'.join(COMMANDS)}, got {arguments!r}")
        return 2
    try:
        with _events(arguments[0], log).step(arguments[0]), _alone(environment):
            run(arguments[0], environment, log)
    except NodeSetupError as error:
        log.line(f"failed: {error}")
        return 1
    except Exception as error:  # the cause of any error must be the last line of the log
        log.line(traceback.format_exc())
        log.line(f"failed: {type(error).__name__}: {error}")
        return 1
    return 0


def keep(node: Node) -> None:
    """Copy the controller's state to the shared file system, which must be mounted."""
    if not state.is_ready(node):
        raise NodeSetupError(
            f"{state.READY}: is missing: this root volume has not taken over the cluster's state, so its state is not kept"
        )
    mount = shared.mount(node)
    if mount is None:
        raise NodeSetupError(f"{node.software.shared_directory}: is not on a mount of this node, so nothing is kept there")
    await_mount(mount, node.root, node.clock.monotonic() + min(KEEP_SECONDS, node.patience.mount), node.clock)
    node.log.line("kept" if state.keep(node) else "nothing to keep yet: slurmctld has written no state")


def _events(mode: str, log: Log) -> Log:
    """The log for starts and ends; each look at the accounting database would fill it with them."""
    return silent() if mode == "accounting" else log


def _slurm_role(mode: str, config: Config, environment: Mapping[str, str], host: Host, patience: Patience) -> Role:
    return _stored_role(host) if mode in ("boot", *ALONE) else _role(config, environment, host, patience)


def _any_role(config: Config, environment: Mapping[str, str], host: Host, patience: Patience) -> Role:
    """The role of a node of EKS, if it is known: only scripts of the owner look at it, so nothing else waits for it."""
    try:
        return _role(config, environment, host, patience if config.own_steps else patience._replace(role=0))
    except NodeSetupError:
        return Role(None, None, None, None, None, [], [], "cluster")


def _role(config: Config, environment: Mapping[str, str], host: Host, patience: Patience) -> Role:
    path = Path(environment.get("SAGEMAKER_RESOURCE_CONFIG_PATH", host.root + RESOURCE_CONFIG))
    addresses = own_addresses(Path(host.root + "/proc/net/fib_trie"))
    return await_role(path, config, addresses, host.clock.monotonic() + patience.role, host.clock)


def _stored_role(host: Host) -> Role:
    """The role that the lifecycle scripts stored; a reboot need not wait for it."""
    path = Path(host.root + ROLE)
    try:
        return Role(**read_json(path))
    except TypeError as error:
        raise NodeSetupError(f"{path}: is not a stored role: {error}") from error


def _patience(environment: Mapping[str, str]) -> Patience:
    seconds = {name: environment.get(f"NODE_SETUP_{name.upper()}_SECONDS") for name in Patience._fields}
    return Patience(**{name: float(value) for name, value in seconds.items() if value is not None})


@contextlib.contextmanager
def _alone(environment: Mapping[str, str]) -> Iterator[None]:
    """A lock for one run at a time on a node; it ends with the process."""
    root = environment.get("NODE_SETUP_ROOT", "")
    ownership = Unowned() if root else Ownership()
    with Folder.open(root or "/", ownership, checked=False) as top, top.child("run", mode=0o755) as folder, folder.lock(LOCK):
        yield


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))
