"""The node's memory between two checks: one JSON file, lost with the node."""

from __future__ import annotations

import json
from typing import Any

from node_health.bounds import load
from node_health.system import System

DIRECTORY = "/var/lib/hyperpod/health"
MEMORY = f"{DIRECTORY}/memory.json"
LIMIT = 1024 * 1024


class Memory:
    """Values by name. A missing or damaged file is an empty memory."""

    def __init__(self, system: System) -> None:
        self._system = system
        loaded = load(system.read(MEMORY) or "{}", LIMIT)
        self.values: dict[str, Any] = loaded if isinstance(loaded, dict) else {}

    def table(self, name: str) -> dict[str, Any]:
        """The object of this name, made if missing."""
        found = self.values.get(name)
        if not isinstance(found, dict):
            found = self.values[name] = {}
        return found

    def forget(self) -> None:
        """Empty the memory for good, after its content made a check fail."""
        self.values = {}
        self.save()

    def save(self) -> str | None:
        """Save the memory, and return the reason of a failure; `None` on success."""
        try:
            self._system.write(MEMORY, json.dumps(self.values, sort_keys=True))
        except OSError as error:
            return f"{MEMORY}: {error.strerror}"
        return None
