"""Put on the path of a job's processes: notes every use of files whose path names the checkpoints, by process and time."""

import os
import sys
import time

import quick  # noqa: F401

DIRECTORY = os.environ["GUARDED_DIRECTORY"]
WATCHED = ("open", "os.listdir", "os.scandir", "os.mkdir", "os.rename")


def note(event: str, arguments: tuple[object, ...]) -> None:
    if event in WATCHED and arguments and str(arguments[0]).startswith(DIRECTORY):
        line = f"{time.time()} {os.getpid()} {event} {arguments[0]}\n"
        descriptor = os.open(os.environ["GUARD_FILE"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, line.encode())
        os.close(descriptor)


sys.addaudithook(note)
