"""Synthesizes a preset of the reference app and writes the findings of cdk-nag beside its templates.

A process of its own, because the tests of constructs switch CDK's template validation off, and jsii reads that once.

usage: python -m tests.lint.synth <directory> <preset> [<key>=<value> ...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from aws_cdk import App
from cdk_nag import AwsSolutionsChecks

from tests.lint.tools import NAG_REPORT
from tests.presets import build


def _nag_findings(app: App) -> list[dict[str, str]]:
    # Without the plug-in of CDK, which would fail the synthesis and mix its findings with those of CDK itself.
    report = AwsSolutionsChecks(app).validate_scope(app)
    return [
        {"rule": violation.rule_name, "resource": resource.construct_path or "", "message": violation.description}
        for violation in report.violations
        for resource in violation.violating_resources
    ]


def main(directory: str, preset: str, *settings: str) -> None:
    app = build(preset, Path(directory), **dict(setting.split("=", 1) for setting in settings))
    app.synth()
    Path(directory, NAG_REPORT).write_text(json.dumps(_nag_findings(app)))


if __name__ == "__main__":
    main(*sys.argv[1:])
