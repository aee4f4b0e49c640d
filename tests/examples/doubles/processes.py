"""Processes of this machine by a variable in their environment; the doubles set it for their children."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def send(number: signal.Signals, *marks: str) -> None:
    """Send the signal to every process with these marks in its environment. One that ends meanwhile keeps it from no other."""
    for pid in marked(*marks):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def marked(*marks: str) -> Iterator[int]:
    """Other processes whose environment has these marks: NAME=VALUE, or NAME= with any value."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                environment = (entry / "environ").read_bytes().split(b"\0")
                if all(has(environment, mark.encode()) for mark in marks):
                    yield int(entry.name)


def has(environment: list[bytes], mark: bytes) -> bool:
    return any(entry.startswith(mark) if mark.endswith(b"=") else entry == mark for entry in environment)
