"""`hyperpod check`: the rules on templates and assemblies. It does not start jsii.

Exit codes for CI: 0 clean, 1 findings at or above `--fail-on`, 2 unusable input.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_constructs.cli.inputs import progress, usable_input

if TYPE_CHECKING:
    from hyperpod_constructs.rules.finding import Finding
    from hyperpod_constructs.templates.model import Model

FOUND = 1


class FindingFormat(StrEnum):
    """The format of findings."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


class FailOn(StrEnum):
    """The lowest level that makes the exit code 1."""

    ERROR = "error"
    WARNING = "warning"


def check(paths: Sequence[Path], *, form: FindingFormat, fail_on: FailOn) -> None:
    """Print the findings of the rules.

    :raises SystemExit: with code 1 if a finding is at or above the level that fails.
    """
    from hyperpod_constructs.rules.checking import check as findings_of
    from hyperpod_constructs.rules.validation_report import acknowledged_in
    from hyperpod_constructs.templates.model import load

    with usable_input(), progress("checking"):
        model = load(paths)
        acknowledged = [one for path in paths if path.is_dir() for one in acknowledged_in(path)]
        findings = findings_of(model, acknowledged)
    with usable_input():
        _print(findings, model, form)
    if any(fail_on is FailOn.WARNING or str(finding.level) == fail_on for finding in findings):
        raise SystemExit(FOUND)


def _print(findings: Sequence[Finding], model: Model, form: FindingFormat) -> None:
    if form is FindingFormat.TEXT:
        _print_text(findings, model)
    elif form is FindingFormat.JSON:
        from hyperpod_constructs.rules.formats import json_list

        _write(json_list.render(findings))
    elif form is FindingFormat.SARIF:
        from hyperpod_constructs.rules.formats import sarif

        _write(sarif.render(findings, model))
    else:
        from hyperpod_constructs.rules.formats import github

        _write(github.render(findings, model))


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _print_text(findings: Sequence[Finding], model: Model) -> None:
    from hyperpod_constructs.cli.tables import paragraph
    from hyperpod_constructs.rules.formats import text

    for one in text.render(findings, model):
        paragraph(one.text, indent=one.indent, hanging=one.hanging, style=one.style)
