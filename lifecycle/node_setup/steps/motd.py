"""The message of the day: the node's place in the cluster, and useful commands."""

from __future__ import annotations

from node_setup.errors import NodeSetupError
from node_setup.node import Node

MANDATORY = False
PATH = "/etc/motd.d/50-hyperpod"
COMMANDS = (
    ("sinfo", "partitions and the state of their nodes"),
    ("squeue --me", "your jobs"),
    ("sbatch job.sh", "submit a job"),
    ("srun --auto-resume=1 ...", "a step that goes on after a failed node was replaced"),
    ("sacct -j JOB", "what became of a job"),
    ('scontrol update node=NAME state=fail reason="Action:Replace"', "have a node replaced (root)"),
)


def needed(node: Node) -> bool:
    return node.software.motd


def apply(node: Node) -> None:
    node.write(PATH, _text(node))


def verify(node: Node) -> None:
    if not node.exists(PATH):
        raise NodeSetupError(f"{PATH}: is missing")


def _text(node: Node) -> str:
    place = "HyperPod node" if node.role.group is None else f"HyperPod {node.role.node_type} node of group {node.role.group}"
    partitions = sorted({group.partition for group in node.config.groups.values() if group.partition})
    lines = [f"{place}, {node.name}"]
    if partitions:
        lines.append(f"Partitions: {', '.join(partitions)}")
    if node.software.shared_directory:
        lines.append(f"Shared by all nodes: {node.software.shared_directory}; keep data and checkpoints there")
    width = max(len(command) for command, _ in COMMANDS[:-1]) + 2
    lines += [f"  {command:<{width}} {meaning}" for command, meaning in COMMANDS]
    return "\n".join(["", *lines, ""]) + "\n"
