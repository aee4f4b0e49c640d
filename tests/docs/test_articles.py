"""The presets make the requests of the articles, and every claim of theirs has a test that exists, or a reason."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import pytest

from docs.requests import llm_cluster
from tests.docs.pages import ROOT
from tests.presets import build, templates

COVERAGE = ROOT / "docs" / "coverage.md"
REQUESTS = ROOT / "docs" / "requests"


def _made(preset: str, directory: Path) -> dict[str, Any]:
    resources = templates(build(preset, directory))["Cluster"]["Resources"].values()
    (cluster,) = (one["Properties"] for one in resources if one["Type"] == "AWS::SageMaker::Cluster")
    found: dict[str, Any] = cluster
    return found


def _comparable(request: Mapping[str, Any]) -> dict[str, Any]:
    """All that the article writes, without the names of a bucket and of a role that the app makes by itself."""
    kept = ("InstanceGroupName", "InstanceType", "InstanceCount", "ThreadsPerCore")
    groups = [
        {**{key: group[key] for key in kept}, "OnCreate": group["LifeCycleConfig"]["OnCreate"]}
        for group in request["InstanceGroups"]
    ]
    return {"ClusterName": request["ClusterName"], "InstanceGroups": groups}


def test_the_preset_makes_the_request_of_the_announcement(tmp_path: Path) -> None:
    request = json.loads((REQUESTS / "announcement.json").read_text("utf-8"))
    assert _comparable(_made("announcement", tmp_path)) == _comparable(request)


def test_the_preset_makes_the_request_of_the_article(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []

    class Asked:
        """Takes the request, and ends the program as a failure of the service would."""

        def create_cluster(self, **request: Any) -> dict[str, str]:
            sent.append(request)
            return {"ClusterArn": "arn"}

        def describe_cluster(self, **_: Any) -> dict[str, str]:
            return {"ClusterStatus": "Failed", "FailureMessage": "no capacity"}

    monkeypatch.setattr(boto3, "client", lambda _: Asked())
    with pytest.raises(SystemExit, match="no capacity"):
        llm_cluster.main()
    assert _comparable(_made("llm", tmp_path)) == _comparable(sent[0])


@cache
def _tests(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def _rows() -> list[tuple[str, str]]:
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", COVERAGE.read_text("utf-8"), re.MULTILINE)
    return [(claim, shown) for claim, shown in rows if claim != "claim"]


@pytest.mark.parametrize(("claim", "shown"), _rows(), ids=lambda text: text[:40])
def test_a_claim_has_a_test_or_a_reason(claim: str, shown: str) -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", shown)
    assert named or re.match(r"(Not|On|A|Named|It|Tiny|With|Shown) ", shown), claim
    for file, test in named:
        assert test in _tests(file), f"{file} has no {test}"
