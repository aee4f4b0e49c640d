"""Demands of what watches, records and builds: each refuses one thing, and takes the nearest right one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.facts.demands import check_demand

ALIAS, CONNECTION, WINDOW = "AWS::Lambda::Alias", "AWS::Events::Connection", "AWS::SSM::MaintenanceWindow"
RECORDER, LOGS, IMAGES = "AWS::Config::ConfigurationRecorder", "AWS::Logs::LogGroup", "AWS::ImageBuilder::DistributionConfiguration"
RECOVER, ANOMALIES = "arn:aws:automate:us-west-2:ec2:recover", "AWS::CE::AnomalySubscription"
FAILING: dict[str, Any] = {
    **{"MetricName": "StatusCheckFailed_System", "Namespace": "AWS/EC2", "Period": 60, "Statistic": "Maximum"},
    **{"Threshold": 0, "ComparisonOperator": "GreaterThanThreshold", "EvaluationPeriods": 2},
}
AUDIT: dict[str, Any] = {"Operation": {"Audit": {}}}
MASK: dict[str, Any] = {"Operation": {"Deidentify": {}}}
TOKEN = {"ApiKeyAuthParameters": {"ApiKeyName": "X-Token", "ApiKeyValue": "a"}}


def weighted(version: str, other: str) -> dict[str, Any]:
    weights = ({"FunctionVersion": other, "FunctionWeight": 0.1},)
    return {"FunctionVersion": version, "RoutingConfig": {"AdditionalVersionWeights": weights}}


def recorded(**group: Any) -> dict[str, Any]:
    return {"RecordingGroup": group}


def protected(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"DataProtectionPolicy": {"Name": "a", "Version": "2021-06-01", "Statement": statements}}


def sent(values: str) -> dict[str, Any]:
    return {"EventSelectors": ({"DataResources": ({"Type": "AWS::S3::Object", "Values": (values,)},)},)}


def aimed(key: str) -> dict[str, Any]:
    return {"Targets": ({"Key": key, "Values": ("research",)},)}


def compared(option: str) -> dict[str, Any]:
    return {"ThresholdExpression": f'{{"Dimensions": {{"Key": "ANOMALY_TOTAL_IMPACT_ABSOLUTE", "MatchOptions": ["{option}"]}}}}'}


def image(name: str) -> dict[str, Any]:
    return {"Distributions": ({"Region": "us-west-2", "AmiDistributionConfiguration": {"Name": name}},)}


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        ("AWS::StepFunctions::StateMachine", {"Definition": {}, "DefinitionString": "{}"}, {"DefinitionString": "{}"}),
        ("AWS::StepFunctions::StateMachine", {"RoleArn": "arn:a"}, {"RoleArn": "arn:a", "DefinitionS3Location": {"Bucket": "b"}}),
        (ALIAS, weighted("$LATEST", "2"), {"FunctionVersion": "$LATEST"}),
        (ALIAS, weighted("2", "$LATEST"), weighted("2", "1")),
        (
            CONNECTION,
            {"AuthorizationType": "BASIC", "AuthParameters": TOKEN},
            {"AuthorizationType": "API_KEY", "AuthParameters": TOKEN},
        ),
        (WINDOW, {"Duration": 3, "Cutoff": 3}, {"Duration": 3, "Cutoff": 2}),
        (
            RECORDER,
            recorded(AllSupported=True, ResourceTypes=("AWS::S3::Bucket",)),
            recorded(AllSupported=False, ResourceTypes=("AWS::S3::Bucket",)),
        ),
        (RECORDER, recorded(IncludeGlobalResourceTypes=True), recorded(IncludeGlobalResourceTypes=True, AllSupported=True)),
        (LOGS, protected(AUDIT), protected(AUDIT, MASK)),
        (LOGS, protected(MASK), protected(AUDIT, MASK)),
        ("AWS::Scheduler::Schedule", {"StartDate": "2027-05-01"}, {"StartDate": "2027-05-01T00:00:00Z"}),
        (
            "AWS::CloudWatch::Alarm",
            {**FAILING, "AlarmActions": (RECOVER,)},
            {**FAILING, "AlarmActions": (RECOVER,), "Dimensions": ({"Name": "InstanceId"},)},
        ),
        ("AWS::SSM::Association", aimed("tags:team"), aimed("tag:team")),
        ("AWS::CloudTrail::Trail", sent("arn:aws:s3:::data"), sent("arn:aws:s3:::data/")),
        ("AWS::CloudTrail::Trail", sent("arn:aws:s3:::data"), sent("arn:aws:s3")),
        ("AWS::CloudTrail::Trail", sent("arn:aws-us-gov:s3:::data"), sent("arn:aws-us-gov:s3:::")),
        ("AWS::CodePipeline::Pipeline", {"Triggers": ({},), "PipelineType": "V1"}, {"Triggers": ({},), "PipelineType": "V2"}),
        (ANOMALIES, compared("GREATER_THAN"), compared("GREATER_THAN_OR_EQUAL")),
        ("AWS::APS::RuleGroupsNamespace", {"Name": "fleet/accelerators"}, {"Name": "fleet.accelerators_1-a"}),
        ("AWS::Batch::JobQueue", {"JobQueueName": "team a"}, {"JobQueueName": "team_a-1"}),
        ("AWS::SageMaker::Image", {"ImageName": "team--a"}, {"ImageName": "team-a.1"}),
        (IMAGES, image("training"), image("training-{{imagebuilder:buildDate}}")),
    ],
)
def test_a_demand_refuses_one_thing_and_takes_the_nearest_right_one(
    kind: str, wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    check_demand(kind, wrong, right)
