"""The emulator's own paths: `/_hyperpod/health`, `/_hyperpod/reset`, `/_hyperpod/faults`, `/_hyperpod/nodes`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperpod_constructs.local.aws_service import Service

PREFIX = "/_hyperpod/"

Answer = tuple[int, Mapping[str, Any]]


class Control:
    """Answers requests to the emulator itself. Nothing of it exists on AWS."""

    def __init__(
        self,
        services: Sequence[Service],
        resets: Sequence[Callable[[], None]],
        set_faults: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        nodes: Callable[[], Sequence[Mapping[str, Any]]],
    ) -> None:
        self._services = services
        self._resets = resets
        self._set_faults = set_faults
        self._nodes = nodes

    async def answer(self, method: str, path: str, body: bytes) -> Answer:
        """Answer one request; the second part is the JSON body."""
        match method, path.removeprefix(PREFIX):
            case "GET", "health":
                return 200, {"pid": os.getpid(), "services": [service.name for service in self._services]}
            case "GET", "nodes":
                return 200, {"nodes": self._nodes()}
            case "POST", "reset":
                await asyncio.to_thread(self._reset)
                return 200, {}
            case "POST", "faults":
                return await self._faults(body)
            case _:
                return 404, {"message": f"no such path: {method} {path}; there are health, nodes, reset and faults"}

    def _reset(self) -> None:
        # Our services first: their running work would leave traces in the others.
        for reset in (*(service.reset for service in self._services), *self._resets):
            reset()

    async def _faults(self, body: bytes) -> Answer:
        try:
            wanted = json.loads(body or b"{}")
            if not isinstance(wanted, dict):
                raise ValueError("the body must be a json object")
            return 200, await asyncio.to_thread(self._set_faults, wanted)
        except (ValueError, TypeError) as error:
            return 400, {"message": str(error)}
