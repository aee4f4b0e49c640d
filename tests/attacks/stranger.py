"""A program that gives up root and then attacks the embedded AWS like another account of the machine.

usage: python stranger.py UID ATTACK JSON-ARGUMENTS     Prints its loot as JSON.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401  (needed by sockets, and not to be found any more without root)
import http.client
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any


def readable(directory: str) -> list[str]:
    """Readable files and directories, at and below this directory."""
    found: list[str] = []
    with suppress(PermissionError):
        found += [directory, *(str(path) for path in Path(directory).iterdir())]
    names = ("aws.json", "server.log", "lock", "tmp", "tmp/state", "bootstrap.log", "aws.json.partial")
    for name in (Path(directory) / name for name in names):
        with suppress(OSError):
            found.append(name.read_bytes()[:1].decode() and str(name))
        with suppress(OSError):
            found += [str(path) for path in name.iterdir()]
    return found


def write(directory: str) -> list[str]:
    """Names in this directory that the account could make, replace or remove."""
    done = []
    for name in ("aws.json", "planted", "lock"):
        with suppress(PermissionError):
            (Path(directory) / name).write_text("{}")
            done.append(f"wrote {name}")
        with suppress(PermissionError):
            (Path(directory) / name).unlink()
            done.append(f"removed {name}")
    return done


def process(pid: int) -> list[str]:
    """The readable details of a process, except its name."""
    found = []
    for name in ("environ", "mem", "maps", "fd", "cwd"):
        with suppress(OSError):
            path = Path(f"/proc/{pid}/{name}")
            if name == "cwd":
                found.append(str(path.readlink()))
            elif name == "fd":
                found += [str(item) for item in path.iterdir()]
            else:
                found.append(path.open("rb").read(1).decode("latin-1") and name)
    return found


def command_line(pid: int) -> str:
    """The arguments of a process, readable for everybody."""
    return Path(f"/proc/{pid}/cmdline").read_bytes().decode("latin-1").replace("\0", " ")


def kill(pid: int) -> str:
    """The signals that the process accepted."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(PermissionError):
            os.kill(pid, number)
            return number.name
    return ""


def ask(host: str, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Status, headers and body of the answer to each request."""
    return [_answer(host, **request) for request in requests]


def _answer(host: str, method: str, path: str, headers: dict[str, str]) -> dict[str, Any]:
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    names = [name.lower() for name, _ in answer.getheaders()]
    body = answer.read().decode("latin-1")
    connection.close()
    return {"status": answer.status, "headers": names, "body": body}


def tell(host: str, requests: list[str]) -> list[int]:
    """The status of the answer to each raw request."""
    return [_status(host, request.encode("latin-1")) for request in requests]


def _status(host: str, request: bytes) -> int:
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port)), timeout=60) as connection:
        connection.sendall(request)
        answer = connection.makefile("rb").readline()
    return int(answer.split()[1])


ATTACKS: dict[str, Callable[..., Any]] = {
    attack.__name__: attack for attack in (readable, write, process, command_line, kill, ask, tell)
}


def main() -> None:
    """Become the other account for good, then attack."""
    uid = int(sys.argv[1])
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    print(json.dumps(ATTACKS[sys.argv[2]](**json.loads(sys.argv[3]))))  # noqa: T201


if __name__ == "__main__":
    main()
