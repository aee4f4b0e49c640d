"""Functions and their layers: one architecture and one runtime."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.layers import function, layer_version
from tests.templates.models import by_id, model_of

LAYER = "arn:aws:lambda:us-west-2:123456789012:layer"


def said(layer: dict[str, Any], **properties: Any) -> list[tuple[str | int, ...]]:
    """The places of the mistakes in a function beside a layer."""
    resources = {
        "Tools": {"Type": "AWS::Lambda::LayerVersion", "Properties": layer},
        "Run": {"Type": "AWS::Lambda::Function", "Properties": {"Runtime": "python3.13", **properties}},
    }
    return [one.path for one in function(by_id(model_of(json.dumps({"Resources": resources})), "Run"))]


OWN = {"Layers": [{"Ref": "Tools"}]}
FIRST = [("Layers", 0)]


@pytest.mark.parametrize(
    ("layer", "properties", "places"),
    [
        ({"CompatibleArchitectures": ["arm64"]}, OWN, FIRST),
        ({"CompatibleArchitectures": ["arm64"]}, {**OWN, "Architectures": ["arm64"]}, []),
        ({"CompatibleArchitectures": ["x86_64"]}, {**OWN, "Architectures": ["arm64"]}, FIRST),
        ({"CompatibleArchitectures": ["x86_64"]}, OWN, []),
        ({"CompatibleArchitectures": ["x86_64", "arm64"]}, {**OWN, "Architectures": ["arm64"]}, []),
        ({}, {**OWN, "Architectures": ["arm64"]}, []),
        ({"CompatibleRuntimes": ["nodejs22.x"]}, OWN, FIRST),
        ({"CompatibleRuntimes": ["python3.12", "python3.13"]}, OWN, []),
        ({"CompatibleArchitectures": ["arm64"]}, {**OWN, "Architectures": [{"Fn::ImportValue": "machine"}]}, []),
        ({}, {"Layers": [f"{LAYER}:AWSLambdaPowertoolsPythonV3-python313-arm64:7"]}, FIRST),
        ({}, {"Layers": [f"{LAYER}:AWSLambdaPowertoolsPythonV3-python313-x86_64:7"]}, []),
        ({}, {"Layers": [f"{LAYER}:LambdaInsightsExtension:53"], "Architectures": ["arm64"]}, FIRST),
        ({}, {"Layers": [f"{LAYER}:LambdaInsightsExtension-Arm64:20"], "Architectures": ["arm64"]}, []),
        ({}, {"Layers": [f"{LAYER}:aws-otel-python-amd64-ver-1-32-0:1"], "Architectures": ["arm64"]}, FIRST),
        ({}, {"Layers": [f"{LAYER}:charm64tools:1"]}, []),
        ({}, {"Code": {"ImageUri": "123456789012.dkr.ecr.us-west-2.amazonaws.com/run:1.2-arm64"}}, [("Code", "ImageUri")]),
        ({}, {"Code": {"ImageUri": "123456789012.dkr.ecr.us-west-2.amazonaws.com/arm64/run:1.2"}}, []),
        ({}, {"Code": {"S3Bucket": "code", "S3Key": "run-amd64.zip"}, "Architectures": ["arm64"]}, [("Code", "S3Key")]),
        ({}, {"Code": {"S3Bucket": "code", "S3Key": "run.zip"}, "Architectures": ["arm64"]}, []),
    ],
)
def test_a_function_and_what_it_runs_are_for_one_machine(
    layer: dict[str, Any], properties: dict[str, Any], places: list[tuple[str | int, ...]]
) -> None:
    assert said(layer, **properties) == places


@pytest.mark.parametrize(("key", "count"), [("tools-arm64.zip", 1), ("tools-amd64.zip", 0), ("tools.zip", 0)])
def test_the_archive_of_a_layer_is_for_its_architecture(key: str, count: int) -> None:
    layer = {"CompatibleArchitectures": ["x86_64"], "Content": {"S3Bucket": "code", "S3Key": key}}
    model = model_of(json.dumps({"Resources": {"Tools": {"Type": "AWS::Lambda::LayerVersion", "Properties": layer}}}))
    assert len(list(layer_version(by_id(model, "Tools")))) == count
