#!/usr/bin/python3
"""Double of the `aws` command: asks the process that made the virtual nodes, by a socket, and says what it answers."""

from __future__ import annotations

import json
import socket
import sys

SOCKET = "/mnt/.aws/socket"
SECONDS = 30.0


def main() -> int:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(SECONDS)
            connection.connect(SOCKET)
            connection.sendall(json.dumps(sys.argv[1:]).encode() + b"\n")
            with connection.makefile(encoding="utf-8") as stream:
                code, output, error = json.loads(stream.readline())
    except (OSError, ValueError) as problem:
        sys.stderr.write(f"Unable to locate credentials: {problem}\n")
        return 255
    sys.stdout.write(output)
    sys.stderr.write(error)
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
