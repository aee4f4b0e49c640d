"""Findings as annotations of a GitHub workflow: shown in its log and beside the lines of a pull request.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hyperpod_constructs._support.printable import printable
from hyperpod_constructs.rules.finding import Finding
from hyperpod_constructs.rules.formats.lines import Lines, counted
from hyperpod_constructs.templates.model import Model


def render(findings: Sequence[Finding], model: Model) -> str:
    """One workflow command for each finding, and a last line that counts them."""
    return "\n".join([*_commands(findings, Lines(model)), counted(findings)])


def _commands(findings: Sequence[Finding], lines: Lines) -> Iterator[str]:
    for finding in findings:
        line = lines.of(finding)
        properties = {} if line is None else {"file": line.uri, "line": str(line.number)}
        properties["title"] = f"{finding.rule} {finding.construct or finding.resource}"
        listed = ",".join(f"{key}={_escaped(printable(value), ':,')}" for key, value in properties.items())
        yield f"::{finding.level} {listed}::{_escaped(_message(finding))}"


def _message(finding: Finding) -> str:
    at = f"{finding.path}: " if finding.path else ""
    lines = (f"{at}{finding.described()}", f"fix: {finding.fix}", f"source: {finding.source}")
    return "\n".join(map(printable, lines))


def _escaped(text: str, more: str = "") -> str:
    return "".join(f"%{ord(char):02X}" if char in f"%\r\n{more}" else char for char in text)
