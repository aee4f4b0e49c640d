"""Findings for a person, as paragraphs: the caller knows the width of the terminal and its colours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hyperpod_constructs.rules.finding import Finding, Level
from hyperpod_constructs.rules.formats.lines import Lines, counted
from hyperpod_constructs.templates.model import Model

_STYLES = {Level.ERROR: "bold red", Level.WARNING: "yellow"}
_HANGING = " " * 10


class Paragraph(NamedTuple):
    """Text to wrap: its first line after `indent`, the others after `hanging`."""

    text: str
    indent: str = ""
    hanging: str = ""
    style: str | None = None


def render(findings: Sequence[Finding], model: Model) -> Iterator[Paragraph]:
    """Each finding with its place, reason, fix and source; then their number, and the number of resources."""
    lines = Lines(model)
    for finding in findings:
        line = lines.of(finding)
        yield Paragraph(_head(finding), hanging="  ", style=_STYLES[finding.level])
        rows = {
            "": finding.described(),
            "at": " ".join(filter(None, [finding.path, "" if line is None else f"({line.file}:{line.number})"])),
            "fix": finding.fix,
            "source": finding.source,
        }
        for label, text in rows.items():
            if text:
                yield Paragraph(text, indent=f"  {label:<8}" if label else "  ", hanging=_HANGING if label else "  ")
        yield Paragraph("")
    yield Paragraph(f"{counted(findings)} in {_amount(model)}")


def _head(finding: Finding) -> str:
    name = finding.resource if finding.construct is None else f"{finding.construct} ({finding.resource})"
    return f"{finding.level} {finding.rule} {name}"


def _amount(model: Model) -> str:
    templates, resources = len(model.templates), len(model.resources())
    return f"{templates} template{'' if templates == 1 else 's'} with {resources} resource{'' if resources == 1 else 's'}"
