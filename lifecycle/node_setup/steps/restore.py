"""Restores the cluster's accounting and jobs on a controller with a new root volume, from the copy on the shared file system.

If the scripts own the node, this happens before the first start of the daemons. Otherwise the image has started the daemons, and
they stop for it.
"""

from __future__ import annotations

import json

from node_setup import database, shared, slurm_conf, state, systemd
from node_setup.errors import NodeSetupError
from node_setup.node import STATE, Node

MANDATORY = True
WORK = f"{STATE}/restore"
DAEMONS = ("slurmctld.service", "slurmdbd.service")


def needed(node: Node) -> bool:
    return node.is_controller and shared.is_there(node)


def apply(node: Node) -> None:
    if state.is_ready(node):
        node.remove(WORK)
        return
    if not state.archives(node):
        _mark(node, {"restored": None})
        return
    manifest = state.open_latest(node, WORK)
    running = [unit for unit in DAEMONS if systemd.is_enabled(node, unit)]
    for unit in DAEMONS:
        systemd.stop(node, unit)
    access = database.read_access(node)
    if node.exists(f"{WORK}/{state.DUMP}"):
        if access is None:
            raise NodeSetupError(f"{database.SLURMDBD_CONF}: is missing, so the copy of the accounting cannot be restored")
        database.load(node, access, f"{WORK}/{state.DUMP}")
    state.put_files(node, WORK)
    for unit in reversed(running if node.mode == "on_init_complete" else []):
        systemd.start(node, unit)
    node.log.line(f"restored the copy of {manifest.get('time')} (seconds since 1970)")
    _mark(node, {"restored": manifest})
    node.remove(WORK)


def verify(node: Node) -> None:
    if not state.is_ready(node):
        raise NodeSetupError(f"{state.READY}: is missing, so the controller's state would not be kept")
    place = slurm_conf.read(node).value("StateSaveLocation", "/var/spool")
    if node.recall(state.READY).get("restored") and not node.exists(f"{place}/clustername"):
        raise NodeSetupError(f"{place}/clustername: is missing after the copy was restored")


def _mark(node: Node, content: dict[str, object]) -> None:
    node.write(state.READY, json.dumps(content, sort_keys=True) + "\n", 0o600)
