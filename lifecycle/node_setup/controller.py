"""Whether Slurm's commands reach the controller: all that a login node needs.

AWS's sources disagree whether slurmd runs on login nodes. With it, the commands find their configuration in slurmd's cache; without
it, the image has brought one.
"""

from __future__ import annotations

from node_setup.node import Node


def answers(node: Node) -> bool:
    return " UP" in node.query(["scontrol", "ping"]).output


def await_answer(node: Node) -> None:
    """Wait until the controller answers.

    :raises NodeSetupError: if it does not answer in time.
    """
    node.wait_until(
        lambda: answers(node), "scontrol ping does not say UP, so Slurm's commands do not reach the controller", node.patience.slurm
    )
