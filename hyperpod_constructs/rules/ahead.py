"""The check beside a synthesis: it begins as soon as the templates are written.

CDK validates the constructs, writes the templates and then the manifest, asks its own validator, and the plug-ins last. Python only
waits for that validator.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple

from hyperpod_constructs.rules.failure import CHECKING, guarded

if TYPE_CHECKING:
    from hyperpod_constructs.rules.finding import Finding
    from hyperpod_constructs.templates.model import Model

_LOOK_SECONDS = 0.01
_MOST_LOOKS = 6_000
"""A minute: a synthesis that fails writes no manifest and asks nobody."""

_Version = tuple[int, int, int]


class Checked(NamedTuple):
    """An assembly and the findings in it."""

    model: Model
    findings: list[Finding]


class CheckAhead:
    """The check of an assembly that is about to be written, in a thread of its own."""

    def __init__(self, assembly: Path, check: Callable[[Path], Checked]) -> None:
        """Load the rules, wait for the manifest, and check.

        :param assembly: the directory of the assembly.
        :param check: reads and checks it.
        """
        self._assembly, self._check = assembly, check
        self._before = self._written()
        self._read: _Version | None = None
        self._found: Checked | None = None
        self._asked = Event()
        self._thread = Thread(target=self._run, name="hyperpod-rules", daemon=True)
        self._thread.start()

    def take(self) -> Checked | None:
        """The end of the check; `None` if it failed, or if the assembly changed meanwhile."""
        self._asked.set()
        self._thread.join()
        return self._found if self._written() == self._read else None

    def _run(self) -> None:
        with guarded(CHECKING, []):  # the plug-in tries again, and says what fails
            load_rules()
            self._read = self._awaited()
            if self._read is not None:
                self._found = self._check(self._assembly)

    def _awaited(self) -> _Version | None:
        """The manifest that this synthesis writes, after its templates: whole, as it is the same at two looks."""
        last = self._before
        for _ in range(_MOST_LOOKS):
            asked = self._asked.wait(_LOOK_SECONDS)
            version = self._written()
            if asked or (version not in (None, self._before) and version == last):
                return version
            last = version
        return None

    def _written(self) -> _Version | None:
        """What tells this manifest from an earlier one; `None` without one, or while it is empty."""
        try:
            found = (self._assembly / "manifest.json").stat()
        except OSError:
            return None
        return (found.st_ino, found.st_size, found.st_mtime_ns) if found.st_size else None


def load_rules_early() -> None:
    """Load the rules in a thread, before the CDK is imported: Python only waits there for Node.

    A short program gains a tenth of a second. A failure is silent here: the plug-in loads the rules again, and says what fails.
    """
    Thread(target=_loaded, name="hyperpod-rules-early", daemon=True).start()


def _loaded() -> None:
    with guarded(CHECKING, []):
        load_rules()


def load_rules() -> None:
    """Import the rules, and the modules that judge texts."""
    from hyperpod_constructs.analysis.texts.places import book
    from hyperpod_constructs.analysis.texts.subjects import MODULES
    from hyperpod_constructs.rules.checking import load_catalogue

    load_catalogue()
    for module in MODULES:
        book(module)
