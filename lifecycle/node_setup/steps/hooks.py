"""Prolog and epilog: they run the executables of a folder on each node, and no failure drains the node.

If the image has folders of its own for them, ours run from there. Otherwise slurmctld sends them to the nodes. On the way to a node
that has not registered yet their mode is lost, and the node would be drained at its first job. So a unit on each node makes them
executable as soon as they arrive.

Source: pack_config_file and push_reconfig_to_slurmd of Slurm 24.11 (https://github.com/SchedMD/slurm/tree/slurm-24.11)
"""

from __future__ import annotations

from node_setup import slurm_conf, systemd
from node_setup.errors import NodeSetupError
from node_setup.node import HOME, Node
from node_setup.settings import EPILOG, PROLOG

MANDATORY = False
NAMES = {"prolog.d": PROLOG, "epilog.d": EPILOG}
PROGRAM = """#!/bin/sh
# Runs the executables in {folder}. It always succeeds: Slurm drains a node for a failure here.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
for program in {folder}/*; do
    if [ ! -f "$program" ] || [ ! -x "$program" ]; then continue; fi
    timeout 60 "$program" </dev/null || logger -t hyperpod "$program ended with $?" || true
done
exit 0
"""
SENT = "/var/spool/slurmd/conf-cache"
PATH_UNIT = "hyperpod-hooks.path"
SERVICE = "hyperpod-hooks.service"
UNITS = {
    PATH_UNIT: f"""[Unit]
Description=Looks for programs of Slurm's prolog and epilog that arrive

[Path]
PathChanged={SENT}
Unit={SERVICE}

[Install]
WantedBy=multi-user.target
""",
    # Only a change of a mode changes the folder, so the unit starts itself again once at most.
    SERVICE: f"""[Unit]
Description=Makes programs of Slurm's prolog and epilog executable
ConditionPathIsDirectory={SENT}
StartLimitIntervalSec=0

[Service]
Type=oneshot
ExecStart=/usr/bin/find {SENT} -maxdepth 1 -type f ( -name {PROLOG} -o -name {EPILOG} ) ! -perm -111 -exec chmod 0755 {{}} +
""",
}


def needed(node: Node) -> bool:
    return True


def apply(node: Node) -> None:
    for name, program in NAMES.items():
        folder = f"{HOME}/{name}"
        if not node.is_folder(folder):
            node.folder(folder)
        text = PROGRAM.format(folder=folder)
        if node.is_controller:
            node.write(f"{slurm_conf.FOLDER}/{program}", text, 0o755)
        if node.is_folder(f"{slurm_conf.FOLDER}/{name}"):
            node.write(f"{slurm_conf.FOLDER}/{name}/900_hyperpod.sh", text, 0o755)
    if not node.is_controller:
        systemd.write_units(node, UNITS, PATH_UNIT)
        if not systemd.is_active(node, PATH_UNIT):
            node.run(["systemctl", "start", SERVICE, PATH_UNIT])


def verify(node: Node) -> None:
    for name in NAMES:
        if not node.is_folder(f"{HOME}/{name}"):
            raise NodeSetupError(f"{HOME}/{name}: is missing")
