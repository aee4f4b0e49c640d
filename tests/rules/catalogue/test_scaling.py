"""Targets of Application Auto Scaling: their ids have the form of what is scaled."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.endpoints import component, endpoint, monitor
from hyperpod_constructs.analysis.texts.scaling import policy, target
from hyperpod_constructs.templates.model import Model
from tests.templates.models import model_of

TABLE = {"Type": "AWS::DynamoDB::Table", "Properties": {}}

ENDPOINT = """{{Resources: {{
  Config: {{Type: AWS::SageMaker::EndpointConfig, Properties: {{ProductionVariants: [{{VariantName: all, {}}}]}}}},
  Endpoint: {{Type: AWS::SageMaker::Endpoint, Properties: {{EndpointName: chat,
    EndpointConfigName: !GetAtt Config.EndpointConfigName}}}},
  Target: {{Type: AWS::ApplicationAutoScaling::ScalableTarget, Properties: {{ResourceId: {},
    ScalableDimension: "sagemaker:variant:DesiredInstanceCount"}}}}}}}}"""


@pytest.mark.parametrize(
    ("variant", "id_", "path"),
    [
        ("InstanceType: ml.g5.xlarge", "endpoint/chat/variant/all", None),
        ("InstanceType: ml.g5.xlarge", "!Sub 'endpoint/${Endpoint.EndpointName}/variant/all'", None),
        ("InstanceType: ml.g5.xlarge", "endpoint/chat/variant/AllTraffic", "ResourceId"),
        ("InstanceType: ml.g5.xlarge", "!Sub 'endpoint/${Endpoint.EndpointName}/variant/one'", "ResourceId"),
        ("InstanceType: ml.g5.xlarge", "endpoint/other/variant/AllTraffic", None),
        ("InstanceType: ml.g5.xlarge", "endpoint/Chat/variant/all", "ResourceId"),
        ("ServerlessConfig: {MaxConcurrency: 5}", "endpoint/chat/variant/all", "ScalableDimension"),
    ],
)
def test_a_target_is_a_variant_that_the_endpoint_has(variant: str, id_: str, path: str | None) -> None:
    (resource,) = model_of(ENDPOINT.format(variant, id_)).resources("AWS::ApplicationAutoScaling::ScalableTarget")
    assert [one.path for one in target(resource)] == ([(path,)] if path else [])


@pytest.mark.parametrize(
    ("dimension", "id_", "wrong"),
    [
        ("dynamodb:table:WriteCapacityUnits", {"Fn::Sub": "table/${Table}"}, False),
        ("dynamodb:table:WriteCapacityUnits", {"Ref": "Table"}, True),
        ("dynamodb:table:WriteCapacityUnits", {"Fn::GetAtt": ["Table", "Arn"]}, True),
        ("dynamodb:table:WriteCapacityUnits", {"Fn::Sub": "${Table}"}, True),
        ("dynamodb:table:WriteCapacityUnits", {"Fn::Sub": "tables/${Table}"}, True),
        ("dynamodb:table:WriteCapacityUnits", "table/runs/index/day", True),
        ("dynamodb:index:ReadCapacityUnits", "table/runs/index/day", False),
        ("dynamodb:table:WriteCapacityUnits", {"Ref": "Id"}, False),
        ("dynamodb:table:WriteCapacityUnits", {"Fn::Sub": "${Id}/${Table}"}, False),
        ("rds:cluster:ReadReplicaCount", "cluster:accounts", False),
        ("rds:cluster:ReadReplicaCount", "accounts", True),
        ("lambda:function:ProvisionedConcurrency", "function:clean:live", False),
        ("sagemaker:variant:DesiredInstanceCount", "endpoint/chat", True),
        ("custom-resource:ResourceType:Property", "https://example.org/one", False),
    ],
)
def test_the_id_of_a_target_has_the_form_of_what_is_scaled(dimension: str, id_: Any, wrong: bool) -> None:
    scaled = {"ScalableDimension": dimension, "ResourceId": id_}
    target_ = {"Type": "AWS::ApplicationAutoScaling::ScalableTarget", "Properties": scaled}
    parameters = {"Id": {"Type": "String"}}
    model = Model.of({"t": {"Parameters": parameters, "Resources": {"Table": TABLE, "Target": target_}}})
    (resource,) = model.resources("AWS::ApplicationAutoScaling::ScalableTarget")
    assert [one.path for one in target(resource)] == ([("ResourceId",)] if wrong else [])


@pytest.mark.parametrize(
    ("id_", "wrong"),
    [
        ("endpoint/${Endpoint.EndpointName}/variant/all", False),
        ("endpoint/${Endpoint}/variant/all", True),
        ("endpoint/${Config.EndpointConfigName}/variant/all", True),
    ],
)
def test_the_id_of_a_target_names_what_is_scaled(id_: str, wrong: bool) -> None:
    (resource,) = model_of(ENDPOINT.format("InstanceType: ml.g5.xlarge", f"!Sub '{id_}'")).resources(
        "AWS::ApplicationAutoScaling::ScalableTarget"
    )
    assert [one.path for one in target(resource)] == ([("ResourceId",)] if wrong else [])


@pytest.mark.parametrize(
    ("variant", "least", "path"),
    [
        ("InstanceType: ml.g5.xlarge, ModelName: llm", 1, None),
        ("InstanceType: ml.g5.xlarge, ModelName: llm", 0, "MinCapacity"),
        ("InstanceType: ml.g5.xlarge, ManagedInstanceScaling: {MinInstanceCount: 0}", 0, None),
        ("InstanceType: ml.t2.medium, ModelName: llm", 1, "ResourceId"),
    ],
)
def test_the_instances_of_a_variant_can_be_scaled(variant: str, least: int, path: str | None) -> None:
    template = ENDPOINT.format(variant, "endpoint/chat/variant/all").replace(
        "ScalableDimension", f"MinCapacity: {least}, ScalableDimension"
    )
    (resource,) = model_of(template).resources("AWS::ApplicationAutoScaling::ScalableTarget")
    assert [one.path for one in target(resource)] == ([(path,)] if path else [])


def test_a_variant_of_an_asynchronous_endpoint_is_scaled_to_none() -> None:
    template = ENDPOINT.format("InstanceType: ml.g5.xlarge, ModelName: llm", "endpoint/chat/variant/all")
    template = template.replace("ProductionVariants", "AsyncInferenceConfig: {}, ProductionVariants")
    (resource,) = model_of(template.replace("ScalableDimension", "MinCapacity: 0, ScalableDimension")).resources(
        "AWS::ApplicationAutoScaling::ScalableTarget"
    )
    assert [*target(resource)] == []


@pytest.mark.parametrize(("most", "wrong"), [(901, False), (900, True)])
def test_a_deployment_has_time_for_its_pauses(most: int, wrong: bool) -> None:
    policy = {
        "MaximumExecutionTimeoutInSeconds": most,
        "TerminationWaitInSeconds": 300,
        "TrafficRoutingConfiguration": {"Type": "CANARY", "WaitIntervalInSeconds": 600},
    }
    chat = {"Type": "AWS::SageMaker::Endpoint", "Properties": {"DeploymentConfig": {"BlueGreenUpdatePolicy": policy}}}
    (resource,) = Model.of({"t": {"Resources": {"Chat": chat}}}).resources("AWS::SageMaker::Endpoint")
    assert [one.found for one in endpoint(resource)] == ([most] if wrong else [])


@pytest.mark.parametrize(("variant", "wrong"), [("all", False), ("AllTraffic", True)])
def test_a_component_is_on_a_variant_that_the_endpoint_has(variant: str, wrong: bool) -> None:
    part = f"""Part: {{Type: AWS::SageMaker::InferenceComponent, Properties: {{
      EndpointName: !GetAtt Endpoint.EndpointName, VariantName: {variant}}}}}, Target:"""
    template = ENDPOINT.format("InstanceType: ml.g5.xlarge", "endpoint/chat/variant/all").replace("Target:", part)
    (resource,) = model_of(template).resources("AWS::SageMaker::InferenceComponent")
    assert [one.path for one in component(resource)] == ([("VariantName",)] if wrong else [])


def part(variant: str, **asked: int) -> list[tuple[Any, ...]]:
    sizes = ", ".join(f"{key}: {value}" for key, value in asked.items())
    text = f"""Part: {{Type: AWS::SageMaker::InferenceComponent, Properties: {{
      EndpointName: !GetAtt Endpoint.EndpointName, VariantName: all,
      Specification: {{ComputeResourceRequirements: {{{sizes}}}}}}}}}, Target:"""
    (found,) = model_of(ENDPOINT.format(variant, "endpoint/chat/variant/all").replace("Target:", text)).resources(
        "AWS::SageMaker::InferenceComponent"
    )
    return [one.path for one in component(found)]


NEEDS = ("Specification", "ComputeResourceRequirements")


@pytest.mark.parametrize(
    ("variant", "asked", "paths"),
    [
        ("InstanceType: ml.g5.12xlarge", {"NumberOfAcceleratorDevicesRequired": 4, "MinMemoryRequiredInMb": 65536}, []),
        ("InstanceType: ml.g5.12xlarge, ModelName: llm", {}, [("VariantName",)]),
        (
            "InstanceType: ml.g5.12xlarge",
            {"NumberOfAcceleratorDevicesRequired": 5},
            [(*NEEDS, "NumberOfAcceleratorDevicesRequired")],
        ),
        ("InstanceType: ml.g5.12xlarge", {"NumberOfCpuCoresRequired": 49}, [(*NEEDS, "NumberOfCpuCoresRequired")]),
        ("InstanceType: ml.g5.12xlarge", {"MinMemoryRequiredInMb": 196609}, [(*NEEDS, "MinMemoryRequiredInMb")]),
        ("InstanceType: ml.m5.xlarge", {"NumberOfAcceleratorDevicesRequired": 1}, [(*NEEDS, "NumberOfAcceleratorDevicesRequired")]),
        ("InstanceType: ml.unknown9.xlarge", {"NumberOfCpuCoresRequired": 999}, []),
    ],
)
def test_a_component_fits_the_instances_of_its_variant(variant: str, asked: dict[str, int], paths: list[Any]) -> None:
    assert part(variant, **asked) == paths


@pytest.mark.parametrize(
    ("capture", "wrong"),
    [("DataCaptureConfig: {EnableCapture: true},", False), ("DataCaptureConfig: {EnableCapture: false},", True), ("", True)],
)
def test_an_endpoint_that_is_monitored_captures_data(capture: str, wrong: bool) -> None:
    job = """Job: {Type: AWS::SageMaker::DataQualityJobDefinition, Properties: {DataQualityJobInput: {EndpointInput: {
      EndpointName: !GetAtt Endpoint.EndpointName}}}}, Target:"""
    template = ENDPOINT.format("InstanceType: ml.m5.xlarge", "endpoint/chat/variant/all").replace("Target:", job)
    model = model_of(template.replace("ProductionVariants", f"{capture} ProductionVariants"))
    (found,) = model.resources("AWS::SageMaker::DataQualityJobDefinition")
    at = ("DataQualityJobInput", "EndpointInput", "EndpointName")
    assert [one.path for one in monitor(found)] == ([at] if wrong else [])


METRIC = ("TargetTrackingScalingPolicyConfiguration", "CustomizedMetricSpecification")


@pytest.mark.parametrize(
    ("space", "name", "path"),
    [
        ("AWS/SageMaker", "Endpoint.EndpointName", None),
        ("AWS/SageMaker", "Other.EndpointName", (*METRIC, "Dimensions", 0, "Value")),
        ("AWS/Sagemaker", "Endpoint.EndpointName", (*METRIC, "Namespace")),
    ],
)
def test_a_policy_follows_a_metric_of_what_it_scales(space: str, name: str, path: tuple[Any, ...] | None) -> None:
    scaling = f"""Other: {{Type: AWS::SageMaker::Endpoint, Properties: {{EndpointConfigName: other}}}},
      Policy: {{Type: AWS::ApplicationAutoScaling::ScalingPolicy, Properties: {{ScalingTargetId: !Ref Target,
        {METRIC[0]}: {{{METRIC[1]}: {{Namespace: {space}, MetricName: ApproximateBacklogSizePerInstance,
          Dimensions: [{{Name: EndpointName, Value: !GetAtt {name}}}]}}}}}}}}, Target:"""
    id_ = "!Sub 'endpoint/${Endpoint.EndpointName}/variant/all'"
    model = model_of(ENDPOINT.format("InstanceType: ml.m5.xlarge", id_).replace("Target:", scaling))
    (found,) = model.resources("AWS::ApplicationAutoScaling::ScalingPolicy")
    assert [one.path for one in policy(found)] == ([path] if path else [])
