"""The entry point of `hyperpod`."""

from __future__ import annotations

import atexit
import gc
import sys

from hyperpod_constructs._support.printable import printable
from hyperpod_constructs.cli.console import make_encodable
from hyperpod_constructs.cli.plain_check import plain_check
from hyperpod_constructs.cli.shadowed import other_program

GARBAGE = 200_000
"""Objects until the garbage collector looks for the first time. A command makes millions that live to its end: with Python's own
threshold they are searched again and again, and once more at the end, in a quarter of the processor time of most commands.
"""


def main() -> None:
    """Run the command line, on a terminal of any encoding."""
    gc.set_threshold(GARBAGE)
    atexit.register(gc.freeze)
    make_encodable(sys.stdout, sys.stderr)
    other = other_program(sys.argv[0])
    if other is not None:
        sys.stderr.write(printable(f"hyperpod: your shell finds another hyperpod first, {other}; this is {sys.argv[0]}") + "\n")
    if plain_check(sys.argv[1:]):
        return
    from hyperpod_constructs.cli.commands import app

    app()
