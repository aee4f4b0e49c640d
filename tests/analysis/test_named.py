"""Demands on resources that others name."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.schema.named import unmet_demands
from hyperpod_constructs.templates.model import Model


def att(name: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [name, "Arn"]}


def rule(**queue: Any) -> dict[str, Any]:
    target = {"Id": "a", "Arn": att("Topic"), "DeadLetterConfig": {"Arn": att("Lost")}}
    return {
        "Rule": {"Type": "AWS::Events::Rule", "Properties": {"Targets": [target]}},
        "Lost": {"Type": "AWS::SQS::Queue", "Properties": queue},
    }


def endpoint(alarm: Any) -> dict[str, Any]:
    config = {"AutoRollbackConfiguration": {"Alarms": [{"AlarmName": alarm}]}}
    return {
        "Endpoint": {"Type": "AWS::SageMaker::Endpoint", "Properties": {"DeploymentConfig": config}},
        "Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": {}},
    }


def watched(kind: str | None, space: str) -> dict[str, Any]:
    name = {"Fn::GetAtt": ["Balancer", "LoadBalancerFullName"]}
    dimensions = [{"Name": "LoadBalancer", "Value": name}]
    return {
        "Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"Namespace": space, "Dimensions": dimensions}},
        "Balancer": {"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer", "Properties": {"Type": kind} if kind else {}},
    }


def manifest(cluster: Any) -> dict[str, Any]:
    given = {"ClusterName": cluster, "Manifest": "[]"}
    return {
        "Objects": {"Type": "Custom::AWSCDK-EKS-KubernetesResource", "Properties": given},
        "Control": {"Type": "AWS::EKS::Cluster", "Properties": {}},
    }


def nodes(image: str, **data: Any) -> dict[str, Any]:
    template = {"LaunchTemplateData": data}
    return {
        "Nodes": {"Type": "AWS::EKS::Nodegroup", "Properties": {"AmiType": image, "LaunchTemplate": {"Id": {"Ref": "Template"}}}},
        "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": template},
    }


def pipe(source: str, target: str) -> dict[str, Any]:
    given: dict[str, Any] = {"SourceParameters": {source: {}}, "TargetParameters": {target: {}}}
    return {
        "Pipe": {"Type": "AWS::Pipes::Pipe", "Properties": {"Source": att("Jobs"), "Target": {"Ref": "Steps"}, **given}},
        "Jobs": {"Type": "AWS::SQS::Queue", "Properties": {}},
        "Steps": {"Type": "AWS::StepFunctions::StateMachine", "Properties": {}},
    }


def task(kind: str) -> dict[str, Any]:
    return {
        "Task": {"Type": "AWS::SSM::MaintenanceWindowTask", "Properties": {"TaskType": kind, "TaskArn": att("Clean")}},
        "Clean": {"Type": "AWS::Lambda::Function", "Properties": {}},
    }


OF_STEPS = "StepFunctionStateMachineParameters"


def rotated(**more: Any) -> dict[str, Any]:
    schedule = {"SecretId": {"Ref": "Secret"}, "RotationRules": {"AutomaticallyAfterDays": 30}, **more}
    return {
        "Rotation": {"Type": "AWS::SecretsManager::RotationSchedule", "Properties": schedule},
        "Secret": {"Type": "AWS::SecretsManager::Secret", "Properties": {}},
    }


def recorded(**lock: Any) -> dict[str, Any]:
    locked = {"ObjectLockEnabled": True, "ObjectLockConfiguration": {"ObjectLockEnabled": "Enabled", **lock}}
    return {
        "Channel": {"Type": "AWS::Config::DeliveryChannel", "Properties": {"S3BucketName": {"Ref": "Kept"}}},
        "Kept": {"Type": "AWS::S3::Bucket", "Properties": locked},
    }


def logged(output: str, exported: str = "slowquery") -> dict[str, Any]:
    database = {"DBParameterGroupName": {"Ref": "Settings"}, "EnableCloudwatchLogsExports": [exported]}
    return {
        "Database": {"Type": "AWS::RDS::DBInstance", "Properties": database},
        "Settings": {"Type": "AWS::RDS::DBParameterGroup", "Properties": {"Parameters": {"log_output": output}}},
    }


def replaced(canary: int, instances: int) -> dict[str, Any]:
    routing = {"Type": "CANARY", "CanarySize": {"Type": "INSTANCE_COUNT", "Value": canary}, "WaitIntervalInSeconds": 300}
    config = {"BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": routing}}
    properties = {"EndpointConfigName": {"Fn::GetAtt": ["Config", "EndpointConfigName"]}, "DeploymentConfig": config}
    variants = [{"VariantName": "main", "InitialInstanceCount": instances}]
    return {
        "Endpoint": {"Type": "AWS::SageMaker::Endpoint", "Properties": properties},
        "Config": {"Type": "AWS::SageMaker::EndpointConfig", "Properties": {"ProductionVariants": variants}},
    }


def told(kind: str) -> dict[str, Any]:
    properties = {"SourceType": kind, "SourceIds": [{"Ref": "Database"}]}
    return {
        "Told": {"Type": "AWS::RDS::EventSubscription", "Properties": properties},
        "Database": {"Type": "AWS::RDS::DBInstance", "Properties": {}},
    }


def polled(**mapping: Any) -> dict[str, Any]:
    given = {"FunctionName": {"Ref": "Function"}, "EventSourceArn": att("Jobs"), **mapping}
    return {
        "Mapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": given},
        "Function": {"Type": "AWS::Lambda::Function", "Properties": {}},
        "Jobs": {"Type": "AWS::SQS::Queue", "Properties": {}},
    }


def provisioned(amount: int, **function: Any) -> dict[str, Any]:
    given = {"FunctionName": {"Ref": "Function"}, "ProvisionedConcurrencyConfig": {"ProvisionedConcurrentExecutions": amount}}
    return {
        "Version": {"Type": "AWS::Lambda::Version", "Properties": given},
        "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
    }


def disks(size: int, device: str = "/dev/xvda", image: str = "AL2023_x86_64_STANDARD") -> dict[str, Any]:
    return nodes(image, BlockDeviceMappings=[{"DeviceName": device, "Ebs": {"VolumeSize": size}}])


def versions(own: str, other: str, named: Any = None, name: str = "train") -> dict[str, Any]:
    nodes = {"ClusterName": named or {"Ref": "Control"}, "Version": own}
    return {
        "Nodes": {"Type": "AWS::EKS::Nodegroup", "Properties": nodes},
        "Control": {"Type": "AWS::EKS::Cluster", "Properties": {"Name": name, "Version": other}},
    }


FUNCTION = "arn:aws:lambda:us-west-2:123456789012:function:rotate"


@pytest.mark.parametrize(
    ("resources", "named"),
    [
        (polled(), []),
        (polled(ParallelizationFactor=2), ["Jobs"]),
        (provisioned(5), []),
        (provisioned(5, ReservedConcurrentExecutions=2), ["Function"]),
        (provisioned(5, SnapStart={"ApplyOn": "PublishedVersions"}), ["Function"]),
        (disks(20), []),
        (disks(10), ["Template"]),
        (disks(10, device="/dev/xvdb"), []),
        (disks(10, image="BOTTLEROCKET_x86_64"), []),
        (versions("1.33", "1.33"), []),
        (versions("1.34", "1.33"), ["Control"]),
        (versions("1.34", "1.33", named="train"), ["Control"]),
        (versions("1.34", "1.33", named="other"), []),
        (versions("1.34", "1.33", named={"Fn::Sub": "train-${AWS::AccountId}"}), []),
        (told("db-instance"), []),
        (told("db-cluster"), ["Database"]),
        (logged("FILE"), []),
        (logged("TABLE"), ["Settings"]),
        (logged("TABLE", "error"), []),
        (replaced(1, 2), []),
        (replaced(1, 1), ["Config"]),
        (replaced(2, 2), ["Config"]),
        (replaced(2, 4), []),
        (rotated(), ["Secret"]),
        (rotated(RotationLambdaARN=FUNCTION), []),
        (rotated(SecretId="database-that-rds-manages"), []),
        (recorded(), []),
        (recorded(Rule={"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 30}}), ["Kept"]),
        (rule(), []),
        (rule(FifoQueue=False), []),
        (rule(FifoQueue=True), ["Lost"]),
        (endpoint({"Ref": "Alarm"}), []),
        (endpoint(att("Alarm")), ["Alarm"]),
        (watched("network", "AWS/NetworkELB"), []),
        (watched(None, "AWS/ApplicationELB"), []),
        (watched("network", "AWS/ApplicationELB"), ["Balancer"]),
        (watched(None, "AWS/NetworkELB"), ["Balancer"]),
        (nodes("CUSTOM", ImageId="ami-1"), []),
        (nodes("AL2023_x86_64_STANDARD"), []),
        (nodes("CUSTOM"), ["Template"]),
        (manifest({"Ref": "Control"}), []),
        (manifest(att("Control")), ["Control"]),
        (task("LAMBDA"), []),
        (task("RUN_COMMAND"), ["Clean"]),
        (pipe("SqsQueueParameters", OF_STEPS), []),
        (pipe("KinesisStreamParameters", OF_STEPS), ["Jobs"]),
        (pipe("SqsQueueParameters", "LambdaFunctionParameters"), ["Steps"]),
    ],
)
def test_what_is_named_meets_the_demands(resources: dict[str, Any], named: list[str]) -> None:
    assert [one.named.logical_id for one in unmet_demands(Model.of({"t": {"Resources": resources}}))] == named
