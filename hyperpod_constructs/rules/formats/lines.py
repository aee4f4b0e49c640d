"""The line of a finding in its file: editors and code reviews show it there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from hyperpod_constructs._support.printable import encodable
from hyperpod_constructs.rules.finding import Finding
from hyperpod_constructs.templates.files import read_text
from hyperpod_constructs.templates.model import Model

_RESOURCES = re.compile(r"""[\s{]*["']?(Resources)["']?\s*:""")
_KEY = re.compile(r"""\s*["']?([^\s"':]+)["']?\s*:""")


class Line(NamedTuple):
    """A line of a file."""

    file: Path
    number: int

    @property
    def uri(self) -> str:
        """The file, relative to the current directory where it is below it; else the whole `file:` URI."""
        try:
            return encodable(self.file.resolve().relative_to(Path.cwd()).as_posix())
        except ValueError:
            return self.file.resolve().as_uri()


class Lines:
    """The lines of the resources of a model."""

    def __init__(self, model: Model) -> None:
        self._templates = {template.name: template for template in model.templates}
        self._keys: dict[Path, _Keys] = {}

    def of(self, finding: Finding) -> Line | None:
        """The line on which the resource begins; `None` if the template is in no file."""
        template = self._templates.get(finding.template)
        file = None if template is None else template.file
        return None if file is None else Line(file, self._keys.setdefault(file, _Keys(file)).line(finding.resource))


class _Keys:
    """The keys of a template by their lines."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def line(self, logical_id: str) -> int:
        """The first line behind `Resources` with this key, else the line of `Resources`, else the first of the file."""
        return self._lines.get(logical_id, self._lines.get("", 1))

    @cached_property
    def _lines(self) -> Mapping[str, int]:
        """The lines by the key at their beginning, in one pass; the line of `Resources` by the empty text."""
        found: dict[str, int] = {}
        for number, line in enumerate(read_text(self._file).split("\n"), start=1):
            begins = _KEY.match(line) if found else _RESOURCES.match(line)
            if begins is not None:
                found.setdefault(begins[1] if found else "", number)
        return found


def counted(findings: Iterable[Finding]) -> str:
    """The number of errors and warnings, in words."""
    levels = [str(finding.level) for finding in findings]
    counts = {level: levels.count(level) for level in ("error", "warning")}
    return ", ".join(f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items() if count) or "no findings"
