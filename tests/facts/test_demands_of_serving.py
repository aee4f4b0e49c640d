"""Demands of endpoints, models, features, monitors and stack sets: each refuses one thing, and takes the nearest right one."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.facts.property_schemas import request_limits
from hyperpod_constructs.facts.reference_kinds import kind_of
from hyperpod_constructs.facts.role_users import role_users

CONFIG, ENDPOINT, MODEL, FEATURES, SCHEDULE, COMPONENT = (
    f"AWS::SageMaker::{name}"
    for name in ("EndpointConfig", "Endpoint", "Model", "FeatureGroup", "MonitoringSchedule", "InferenceComponent")
)
SETS, BUCKET = "AWS::CloudFormation::StackSet", "AWS::S3::Bucket"
SERVERLESS = {"ServerlessConfig": {"MemorySizeInMB": 2048, "MaxConcurrency": 5}}
INSTANCES = {"InstanceType": "ml.m5.xlarge", "InitialInstanceCount": 1}
ASYNC = {"OutputConfig": {"S3OutputPath": "s3://models/answers"}}
OWN, ORGANIZED = {"PermissionModel": "SELF_MANAGED"}, {"PermissionModel": "SERVICE_MANAGED"}
ARCHIVE, FOLDER = "s3://models/one.tar.gz", "s3://models/all/"
AURORA = {"Engine": "aurora-mysql", "DBClusterIdentifier": "slurm", "DBInstanceClass": "db.r7g.large"}
STORE = {"OnlineStoreConfig": {"EnableOnlineStore": True}}
FEATURE = {"FeatureName": "run", "FeatureType": "String"}


def config(variant: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"ProductionVariants": ({"VariantName": "all", **variant},), **more}


def provisioned(count: int) -> dict[str, Any]:
    return config({"ServerlessConfig": {**SERVERLESS["ServerlessConfig"], "ProvisionedConcurrency": count}})


def rolling(value: int, kind: str = "CAPACITY_PERCENT", key: str = "MaximumBatchSize") -> dict[str, Any]:
    return {"DeploymentConfig": {"RollingUpdatePolicy": {key: {"Type": kind, "Value": value}}}}


def model(**container: Any) -> dict[str, Any]:
    return {"PrimaryContainer": {"Image": "image", **container}}


def collected(**store: Any) -> dict[str, Any]:
    return {"FeatureDefinitions": ({**FEATURE, "CollectionType": "List"},), "OnlineStoreConfig": store}


def scheduled(**more: Any) -> dict[str, Any]:
    return {"MonitoringScheduleConfig": {"MonitoringJobDefinitionName": "a", **more}}


def once(**more: Any) -> dict[str, Any]:
    return scheduled(ScheduleConfig={"ScheduleExpression": "NOW", **more})


def tracked(**metric: Any) -> dict[str, Any]:
    return {"ScalingTargetId": "a", "TargetTrackingScalingPolicyConfiguration": {"TargetValue": 50, **metric}}


def stacks(**targets: Any) -> dict[str, Any]:
    return {"StackInstancesGroup": ({"Regions": ("us-west-2",), "DeploymentTargets": targets},)}


def expires(day: str) -> dict[str, Any]:
    return {"LifecycleConfiguration": {"Rules": ({"Status": "Enabled", "Prefix": "a/", "ExpirationDate": day},)}}


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        (CONFIG, provisioned(6), provisioned(5)),
        (CONFIG, config(SERVERLESS, AsyncInferenceConfig=ASYNC), config(INSTANCES, AsyncInferenceConfig=ASYNC)),
        (
            CONFIG,
            {"DataCaptureConfig": {"CaptureOptions": ({"CaptureMode": "Input"}, {"CaptureMode": "Input"})}},
            {"DataCaptureConfig": {"CaptureOptions": ({"CaptureMode": "Input"}, {"CaptureMode": "Output"})}},
        ),
        (ENDPOINT, rolling(60), rolling(50)),
        (ENDPOINT, rolling(4), rolling(4, kind="INSTANCE_COUNT")),
        (ENDPOINT, rolling(4, key="RollbackMaximumBatchSize"), rolling(100, key="RollbackMaximumBatchSize")),
        (MODEL, {"ExecutionRoleArn": "arn:aws:iam::123456789012:role/one"}, model()),
        (MODEL, model(ModelDataUrl=ARCHIVE, ModelDataSource={}), model(ModelDataUrl=ARCHIVE)),
        (MODEL, {"PrimaryContainer": {"Mode": "SingleModel"}}, {"PrimaryContainer": {"ModelPackageName": "a"}}),
        (MODEL, model(ModelDataUrl=FOLDER), model(ModelDataUrl=FOLDER, Mode="MultiModel")),
        (MODEL, model(ModelDataUrl=ARCHIVE, Mode="MultiModel"), model(ModelDataUrl=ARCHIVE)),
        (MODEL, model(MultiModelConfig={}), model(MultiModelConfig={}, Mode="MultiModel")),
        (
            MODEL,
            {"Containers": ({"Image": "a", "ContainerHostname": "a"}, {"Image": "b", "ContainerHostname": "a"})},
            {"Containers": ({"Image": "a", "ContainerHostname": "a"}, {"Image": "b", "ContainerHostname": "b"})},
        ),
        (
            MODEL,
            model(ImageConfig={"RepositoryAccessMode": "Vpc"}),
            {**model(ImageConfig={"RepositoryAccessMode": "Vpc"}), "VpcConfig": {}},
        ),
        (FEATURES, {"FeatureDefinitions": (FEATURE, FEATURE), **STORE}, {"FeatureDefinitions": (FEATURE,), **STORE}),
        (FEATURES, collected(EnableOnlineStore=True), collected(EnableOnlineStore=True, StorageType="InMemory")),
        (
            FEATURES,
            {"ThroughputConfig": {"ThroughputMode": "OnDemand", "ProvisionedReadCapacityUnits": 1}, **STORE},
            {"ThroughputConfig": {"ThroughputMode": "OnDemand"}, **STORE},
        ),
        (SCHEDULE, scheduled(MonitoringJobDefinition={}), scheduled()),
        (SCHEDULE, once(DataAnalysisStartTime="-PT1H"), once(DataAnalysisStartTime="-PT1H", DataAnalysisEndTime="-PT0H")),
        (
            COMPONENT,
            {"Specification": {"ModelName": "a", "Container": {}}},
            {"Specification": {"ModelName": "a"}},
        ),
        (
            COMPONENT,
            {"Specification": {"ComputeResourceRequirements": {"MinMemoryRequiredInMb": 2, "MaxMemoryRequiredInMb": 1}}},
            {"Specification": {"ComputeResourceRequirements": {"MinMemoryRequiredInMb": 1, "MaxMemoryRequiredInMb": 2}}},
        ),
        (SETS, {**OWN, "AutoDeployment": {"Enabled": True}}, {**ORGANIZED, "AutoDeployment": {"Enabled": True}}),
        (SETS, {**ORGANIZED, "ExecutionRoleName": "a"}, {**OWN, "ExecutionRoleName": "a"}),
        (SETS, {**ORGANIZED, **stacks(Accounts=("123456789012",))}, {**OWN, **stacks(Accounts=("123456789012",))}),
        (SETS, {**OWN, **stacks(OrganizationalUnitIds=("r-abcd",))}, {**ORGANIZED, **stacks(OrganizationalUnitIds=("r-abcd",))}),
        (
            SETS,
            {"OperationPreferences": {"MaxConcurrentCount": 1, "MaxConcurrentPercentage": 10}},
            {"OperationPreferences": {"MaxConcurrentCount": 1, "FailureTolerancePercentage": 10}},
        ),
        (SETS, stacks(AccountFilterType="UNION"), stacks(AccountFilterType="UNION", Accounts=("123456789012",))),
        (
            SETS,
            {"OperationPreferences": {"RegionOrder": ("us-west-22",)}},
            {"OperationPreferences": {"RegionOrder": ("us-west-2",)}},
        ),
        (
            "AWS::SSM::PatchBaseline",
            {"ApprovalRules": {"PatchRules": ({"ApproveAfterDays": 7, "ApproveUntilDate": "2027-01-01"},)}},
            {"ApprovalRules": {"PatchRules": ({"ApproveAfterDays": 7},)}},
        ),
        (
            "AWS::SageMaker::ImageVersion",
            {"BaseImage": "lab:1"},
            {"BaseImage": "123456789012.dkr.ecr.us-west-2.amazonaws.com/lab:1"},
        ),
        (
            "AWS::ApplicationAutoScaling::ScalingPolicy",
            tracked(PredefinedMetricSpecification={}, CustomizedMetricSpecification={}),
            tracked(CustomizedMetricSpecification={}),
        ),
        ("AWS::RDS::DBInstance", {**AURORA, "MasterUsername": "slurm"}, AURORA),
        (BUCKET, expires("2027-02-30T00:00:00Z"), expires("2027-02-28T00:00:00Z")),
        (BUCKET, expires("2027-02-28T12:00:00Z"), expires("2027-02-28")),
        (
            "AWS::Budgets::Budget",
            {"Budget": {"BudgetLimit": {}, "TimePeriod": {"Start": "1798761600", "End": "1767225600"}}},
            {"Budget": {"BudgetLimit": {}, "TimePeriod": {"Start": "1767225600", "End": "1798761600"}}},
        ),
    ],
)
def test_a_demand_refuses_one_thing(kind: str, wrong: dict[str, Any], right: dict[str, Any]) -> None:
    schema = request_limits(kind)
    assert schema is not None
    demands = {"extensions": schema["extensions"]}
    assert len(list(violations(demands, wrong))) == 1
    assert [one.message for one in violations(demands, right)] == []


@pytest.mark.parametrize(
    ("kind", "key"), [("AWS::CloudFormation::Macro", "FunctionName"), ("AWS::CloudFormation::LambdaHook", "LambdaFunction")]
)
def test_what_cloudformation_calls_is_a_function(kind: str, key: str) -> None:
    wanted = kind_of(kind, key)
    assert wanted is not None
    assert "AWS::Lambda::Function" in wanted.sources
    assert "AWS::IAM::Role" not in wanted.sources


@pytest.mark.parametrize("kind", ["Lambda", "Guard"])
def test_hooks_have_a_role_of_their_own(kind: str) -> None:
    users = [one for one in role_users() if one.type == f"AWS::CloudFormation::{kind}Hook"]
    assert [one.service for one in users] == ["hooks.cloudformation.amazonaws.com"]
