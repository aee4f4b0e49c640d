"""Where in its file a finding is: what editors and code reviews show it beside."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hyperpod_constructs.rules.finding import Finding
from hyperpod_constructs.rules.template.model import Model, Template


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file."""

    file: Path
    line: int

    @property
    def uri(self) -> str:
        """The file, relative to the current directory where it is below it; else the whole ``file:`` URI."""
        try:
            return self.file.resolve().relative_to(Path.cwd()).as_posix()
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
        """The first line behind ``Resources`` with this key, else the first of the file."""
        pattern = re.compile(rf"""\s*["']?{re.escape(logical_id)}["']?\s*:""")
        resources = re.compile(r"""[\s{]*["']?Resources["']?\s*:""")
        start = next((number for number, line in self._numbered if resources.match(line)), 0)
        return next((number for number, line in self._numbered if number > start and pattern.match(line)), start or 1)

    @cached_property
    def _numbered(self) -> tuple[tuple[int, str], ...]:
        text = self._file.read_text(encoding="utf-8-sig")
        return tuple(enumerate(text.splitlines(), start=1))


def _file(template: Template | None) -> Path | None:
    return None if template is None else template.file


def counted(findings: Iterable[Finding]) -> str:
    """How many errors and warnings there are, in words."""
    levels = [str(finding.level) for finding in findings]
    counts = {level: levels.count(level) for level in ("error", "warning")}
    return ", ".join(f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items() if count) or "no findings"
