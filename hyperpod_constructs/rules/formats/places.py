"""Where in its file a finding is: what editors and code reviews show it beside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hyperpod_constructs._printable import encodable
from hyperpod_constructs.rules.finding import Finding
from hyperpod_constructs.rules.template.files import read_text
from hyperpod_constructs.rules.template.model import Model, Template

_RESOURCES = re.compile(r"""[\s{]*["']?(Resources)["']?\s*:""")
_KEY = re.compile(r"""\s*["']?([^\s"':]+)["']?\s*:""")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file."""

    file: Path
    line: int

    @property
    def uri(self) -> str:
        """The file, relative to the current directory where it is below it; else the whole ``file:`` URI."""
        try:
            return encodable(self.file.resolve().relative_to(Path.cwd()).as_posix())
        except ValueError:
            return self.file.resolve().as_uri()


class Places:
    """The places of the resources of a model."""

    def __init__(self, model: Model) -> None:
        self._templates = {template.name: template for template in model.templates}
        self._texts: dict[Path, _Lines] = {}

    def of(self, finding: Finding) -> Place | None:
        """The line on which the resource begins; ``None`` if the template is in no file."""
        template = self._templates.get(finding.template)
        file = _file(template)
        if file is None:
            return None
        lines = self._texts.setdefault(file, _Lines(file))
        return Place(file, lines.of(finding.resource))


class _Lines:
    """The lines of a template on which keys stand."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, logical_id: str) -> int:
        """The first line behind ``Resources`` with this key, else that of ``Resources``, else the first of the file."""
        return self._keys.get(logical_id, self._keys.get("", 1))

    @cached_property
    def _keys(self) -> Mapping[str, int]:
        """The lines by the key with which they begin, in one pass; that of ``Resources`` by the empty text."""
        found: dict[str, int] = {}
        for number, line in enumerate(read_text(self._file).split("\n"), start=1):
            begins = _KEY.match(line) if found else _RESOURCES.match(line)
            if begins is not None:
                found.setdefault(begins[1] if found else "", number)
        return found


def _file(template: Template | None) -> Path | None:
    return None if template is None else template.file


def counted(findings: Iterable[Finding]) -> str:
    """How many errors and warnings there are, in words."""
    levels = [str(finding.level) for finding in findings]
    counts = {level: levels.count(level) for level in ("error", "warning")}
    return ", ".join(f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items() if count) or "no findings"
