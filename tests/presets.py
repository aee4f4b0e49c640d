"""The presets of the reference app, as `cdk.json` and a zone make them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

from aws_cdk import App

import app as reference
import app_settings

ROOT = Path(__file__).parents[1]
PRESETS = tuple(app_settings.PRESETS)
STACKS = ("Foundation", "Cluster")
ON_EKS = {"control_plane_zone_ids": "usw2-az1,usw2-az2", "chart": "stand-in"}
"""What a cluster on EKS needs beside a zone, and without the service's chart."""
OTHER_ZONES = {"kubernetes": ON_EKS, "production": {"accounting_zone_id": "usw2-az1"}}
"""What a preset needs beside the nodes' zone."""
_ENVIRONMENT = {"CDK_DEFAULT_ACCOUNT": "123456789012", "CDK_DEFAULT_REGION": "us-west-2"}


def on_eks(preset: str) -> bool:
    """Whether Kubernetes orchestrates the cluster of a preset."""
    return app_settings.PRESETS[preset].orchestrator is app_settings.OrchestratorName.EKS


def build(preset: str, directory: Path | None = None, **given: str) -> App:
    """Both stacks of a preset, to be synthesized; `given` is what a user says with `-c`."""
    context: dict[str, Any] = json.loads((ROOT / "cdk.json").read_text())["context"]
    context |= {"preset": preset, "availability_zone_id": "usw2-az4", **OTHER_ZONES.get(preset, {}), **given}
    app = App(context=context, outdir=None if directory is None else str(directory))
    with patch.dict(os.environ, _ENVIRONMENT):
        reference.build(app)
    return app


def templates(app: App) -> dict[str, dict[str, Any]]:
    """The template of each stack."""
    assembly = app.synth()
    return {stack: assembly.get_stack_artifact(stack).template for stack in STACKS}
