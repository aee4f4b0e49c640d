"""Runs steps in order: each is named in the log with its start, outcome and seconds."""

from __future__ import annotations

from collections.abc import Sequence

from node_setup.errors import NodeSetupError
from node_setup.node import Node
from node_setup.registry import Step, name


def run_steps(node: Node, steps: Sequence[Step]) -> None:
    """Raises :class:`NodeSetupError` with the cause when a mandatory step fails; the others are reported and skipped."""
    for step in steps:
        if step.needed(node):
            _run(node, step)


def _run(node: Node, step: Step) -> None:
    try:
        with node.log.step(name(step)) as outcome:
            before = node.effects
            step.apply(node)
            step.verify(node)
            changes = node.effects - before
            outcome.text = f"ok, {changes} changes" if changes else "ok, nothing to change"
    except (NodeSetupError, OSError) as error:
        cause = f"{name(step)}: {_said(error)}"
        if step.MANDATORY:
            raise NodeSetupError(cause) from error
        node.log.line(f"skipped: {cause}")


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)
