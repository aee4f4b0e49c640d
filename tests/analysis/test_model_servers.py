"""Endpoints whose instances have what the servers of their models take."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.model_servers import config
from hyperpod_constructs.templates.model import Model

LMI = {"Fn::Sub": "763104351884.dkr.ecr.${AWS::Region}.amazonaws.com/djl-inference:0.32.0-lmi14.0.0-cu126"}
OWN = {"Fn::Sub": "${AWS::AccountId}.dkr.ecr.${AWS::Region}.amazonaws.com/server:4"}
DEGREE = "OPTION_TENSOR_PARALLEL_DEGREE"


def said(instance: str, image: Any, **variables: str) -> list[str]:
    model = {"Type": "AWS::SageMaker::Model", "Properties": {"PrimaryContainer": {"Image": image, "Environment": variables}}}
    variant = {"VariantName": "all", "InstanceType": instance, "ModelName": {"Fn::GetAtt": ["Chat", "ModelName"]}}
    served = {"Type": "AWS::SageMaker::EndpointConfig", "Properties": {"ProductionVariants": [variant]}}
    (resource,) = Model.of({"t": {"Resources": {"Chat": model, "Served": served}}}).resources("AWS::SageMaker::EndpointConfig")
    return [one.message for one in config(resource)]


@pytest.mark.parametrize(
    ("instance", "image", "variables", "found"),
    [
        ("ml.g6e.12xlarge", LMI, {DEGREE: "4"}, 0),
        ("ml.g6e.12xlarge", LMI, {DEGREE: "8"}, 1),
        ("ml.g6e.12xlarge", LMI, {DEGREE: "max"}, 0),
        ("ml.g5.2xlarge", OWN, {"SM_NUM_GPUS": "4"}, 1),
        ("ml.g5.2xlarge", OWN, {"WORKERS": "4"}, 0),
        ("ml.m5.2xlarge", LMI, {}, 1),
        ("ml.m5.2xlarge", LMI, {DEGREE: "1"}, 1),
        ("ml.m5.2xlarge", OWN, {}, 0),
        ("ml.g99.2xlarge", LMI, {DEGREE: "8"}, 0),
    ],
)
def test_instances_have_the_accelerators_of_a_server(instance: str, image: Any, variables: dict[str, str], found: int) -> None:
    assert len(said(instance, image, **variables)) == found
