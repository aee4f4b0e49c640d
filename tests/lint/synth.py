"""Synthesizes a preset of the reference app and writes the findings of cdk-nag beside its templates.

A process of its own, because the tests of constructs switch CDK's template validation off, and jsii reads that once.

A key such as `override:ClusterName` overrides a property of the cluster's L1, past the checks of the constructs.

usage: python -m tests.lint.synth <directory> <preset> [<key>=<value> ...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from aws_cdk import App
from aws_cdk.aws_sagemaker import CfnCluster
from cdk_nag import AwsSolutionsChecks

from tests.lint.tools import NAG_REPORT
from tests.presets import build

_OVERRIDE = "override:"


def _nag_findings(app: App) -> list[dict[str, str]]:
    # Without the plug-in of CDK, which would fail the synthesis and mix its findings with those of CDK itself.
    report = AwsSolutionsChecks(app).validate_scope(app)
    return [
        {"rule": violation.rule_name, "resource": resource.construct_path or "", "message": violation.description}
        for violation in report.violations
        for resource in violation.violating_resources
    ]


def main(directory: str, preset: str, *settings: str) -> None:
    given = dict(setting.split("=", 1) for setting in settings)
    overrides = {key: given.pop(key) for key in tuple(given) if key.startswith(_OVERRIDE)}
    app = build(preset, Path(directory), **given)
    for cluster in app.node.find_all():
        if isinstance(cluster, CfnCluster):
            for key, value in overrides.items():
                cluster.add_property_override(key.removeprefix(_OVERRIDE), value)
    app.synth()
    Path(directory, NAG_REPORT).write_text(json.dumps(_nag_findings(app)))


if __name__ == "__main__":
    main(*sys.argv[1:])
