"""The process of the double: reads its settings from standard input, says its port, and ends when that input ends."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading

from hyperpod_constructs.local.kubernetes import schemas
from hyperpod_constructs.local.kubernetes.application import Application

HOST = "127.0.0.1"
IDLE_SECONDS = 15
HANDSHAKE_SECONDS = 10


def main() -> None:
    """Serve until the process that started this one closes its end of the pipe or ends."""
    settings = json.loads(sys.stdin.readline())
    listener = socket.create_server((HOST, 0), backlog=256)
    port = int(listener.getsockname()[1])
    application = Application(
        schemas.load(settings["version"]), settings["version"], settings["administrator"], settings["webhook"], f"{HOST}:{port}"
    )
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    asyncio.run(_serve(application, settings, listener, port))


def _end_with_the_parent() -> None:
    """Nothing is kept, so nothing is worth a slow end."""
    sys.stdin.read()
    os._exit(0)


async def _serve(application: Application, settings: dict[str, str], listener: socket.socket, port: int) -> None:
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.certfile, config.keyfile = settings["certificate"], settings["key"]
    config.alpn_protocols = ["http/1.1"]
    config.keep_alive_timeout = IDLE_SECONDS
    config.ssl_handshake_timeout = HANDSHAKE_SECONDS
    config.loglevel = "ERROR"
    config.include_server_header = False
    sys.stdout.write(json.dumps({"port": port}) + "\n")
    sys.stdout.flush()
    await serve(application, config, shutdown_trigger=asyncio.Event().wait)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
