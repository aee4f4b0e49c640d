"""A script of the owner as a step: it runs once for each content, again after a failure, and its output is in the log."""

from __future__ import annotations

import hashlib

from node_setup.commands import Command
from node_setup.errors import NodeSetupError
from node_setup.node import HOME, Node
from node_setup.own_steps import OwnStep

FOLDER = "own"
MOST_LINES = 200
MOST_CHARACTERS = 1000


class Own:
    def __init__(self, step: OwnStep) -> None:
        self.step = step
        self.__name__ = f"own {step.name}"
        self.MANDATORY = step.mandatory
        self._path = f"{HOME}/{FOLDER}/{step.name}"

    def needed(self, node: Node) -> bool:
        return not self.step.node_types or node.role.node_type in self.step.node_types

    def apply(self, node: Node) -> None:
        name = f"{FOLDER}/{self.step.name}"
        content = node.bundle(name).get(name)
        if content is None:
            raise NodeSetupError(f"{name}: is missing beside the scripts")
        node.write(self._path, content, 0o700)
        node.once(self.__name__, hashlib.sha256(content).hexdigest(), lambda: self._run(node))

    def verify(self, node: Node) -> None:
        if not node.exists(self._path):
            raise NodeSetupError(f"{self._path}: is missing")

    def _run(self, node: Node) -> None:
        done = node.attempt(Command([self._path], self.step.seconds, _environment(node)))
        said = [line for line in f"{done.output}\n{done.error}".splitlines() if line.strip()]
        if len(said) > MOST_LINES:
            node.log.line(f"{self.step.name}: the first {len(said) - MOST_LINES} lines are left out")
        for line in said[-MOST_LINES:]:
            node.log.line(f"{self.step.name}: {line[:MOST_CHARACTERS]}")
        if done.code != 0:
            raise NodeSetupError(f"ended with {done.code}: {said[-1][:MOST_CHARACTERS] if said else 'it said nothing'}")


def _environment(node: Node) -> dict[str, str]:
    values = {
        "HYPERPOD_GROUP": node.role.group,
        "HYPERPOD_NODE_TYPE": node.role.node_type,
        "HYPERPOD_SHARED_DIRECTORY": node.software.shared_directory,
    }
    return {name: value for name, value in values.items() if value is not None}
