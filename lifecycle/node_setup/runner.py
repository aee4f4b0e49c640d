"""Runs steps in order. The log shows each step's start, outcome and duration."""

from __future__ import annotations

from collections.abc import Sequence

from node_setup.errors import NodeSetupError
from node_setup.node import Node
from node_setup.registry import Step, name


def run_steps(node: Node, steps: Sequence[Step]) -> None:
    """Run the steps; a step that is not mandatory and fails, is reported and skipped.

    :raises NodeSetupError: with the cause, if a mandatory step fails.
    """
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
