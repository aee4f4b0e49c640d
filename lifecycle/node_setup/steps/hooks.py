"""Prolog and epilog: they run the executables of a folder on each node, and no failure drains the node.

If the image has folders of its own for them, ours run from there.
"""

from __future__ import annotations

from node_setup import slurm_conf
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


def verify(node: Node) -> None:
    for name in NAMES:
        if not node.is_folder(f"{HOME}/{name}"):
            raise NodeSetupError(f"{HOME}/{name}: is missing")
