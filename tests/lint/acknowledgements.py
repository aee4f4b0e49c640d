"""Findings, and the file of those that are accepted with a reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

TOOLS = ("cdk", "cfn-lint", "cdk-nag", "checkov")
FILE = Path(__file__).parent / "acknowledged.toml"
_SHORTEST_REASON = 40


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Finding:
    """A tool's finding on one resource, by its construct path."""

    tool: str
    rule: str
    resource: str
    message: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Acknowledgement:
    """Accepts the findings of a tool whose rule and resource match, for a reason.

    In both patterns `*` stands for any text, and `\\*` for an asterisk.
    """

    tool: str
    rule: str
    resource: str
    reason: str

    def __post_init__(self) -> None:
        if self.tool not in TOOLS:
            raise ValueError(f"acknowledgement of {self.rule}: {self.tool!r} is no tool; allowed: {', '.join(TOOLS)}")
        if len(self.reason.strip()) < _SHORTEST_REASON:
            raise ValueError(
                f"acknowledgement of {self.tool} {self.rule}: {self.reason!r} is no reason; say what makes the finding harmless "
                "or what its cure would break"
            )

    def covers(self, finding: Finding) -> bool:
        return self.tool == finding.tool and _matches(self.rule, finding.rule) and _matches(self.resource, finding.resource)


def read(file: Path = FILE) -> list[Acknowledgement]:
    """Every acknowledgement of the file; an unknown or a missing key is an error."""
    return [Acknowledgement(**entry) for entry in tomllib.loads(file.read_text())["acknowledged"]]


def unacknowledged(findings: Iterable[Finding], known: Collection[Acknowledgement]) -> list[Finding]:
    return sorted(finding for finding in set(findings) if not any(entry.covers(finding) for entry in known))


def unused(findings: Collection[Finding], known: Iterable[Acknowledgement]) -> list[Acknowledgement]:
    return [entry for entry in known if not any(entry.covers(finding) for finding in findings)]


def _matches(pattern: str, text: str) -> bool:
    expression = {"*": ".*", r"\*": re.escape("*")}
    parts = (expression.get(part, re.escape(part)) for part in re.split(r"(\\?\*)", pattern))
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None
