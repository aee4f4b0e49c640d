"""Names that a template writes as text, and that a resource beside nearly has."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts import near_arns
from hyperpod_constructs.analysis.texts.near_names import WHOLES
from hyperpod_constructs.analysis.texts.own_names import nobodys
from hyperpod_constructs.templates.model import Model

CLUSTER = "AWS::SageMaker::Cluster"


@pytest.mark.parametrize(("name", "found"), [("nodes-updates", 1), ("nodes-update", 0), ({"Ref": "Alarm"}, 0), ("of-others", 0)])
@pytest.mark.parametrize("groups", ["InstanceGroups", "RestrictedInstanceGroups"])
def test_alarms_that_undo_an_update_of_nodes(groups: str, name: Any, found: int) -> None:
    update = {"DeploymentConfig": {"AutoRollbackConfiguration": [{"AlarmName": name}]}}
    resources = {
        "Nodes": {"Type": CLUSTER, "Properties": {groups: [{"ScheduledUpdateConfig": update}]}},
        "Alarm": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"AlarmName": "nodes-update"}},
    }
    (nodes,) = Model.of({"t": {"Resources": resources}}).resources(CLUSTER)
    assert len(list(WHOLES[CLUSTER](nodes))) == found


LOGS = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/train/sessions"}}
DATA = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Fn::Sub": "train-data-${AWS::AccountId}"}}}
SCRIPTS = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Fn::Sub": "sagemaker-train-scripts-${AWS::AccountId}"}}}
ALIAS = {"Type": "AWS::KMS::Alias", "Properties": {"AliasName": "alias/train/data", "TargetKeyId": "a"}}
CASES: list[tuple[str, dict[str, Any], bool]] = [
    ("AWS::SSM::Document", {"Content": {"inputs": {"cloudWatchLogGroupName": "/train/shells"}}}, True),
    ("AWS::SSM::Document", {"Content": {"inputs": {"cloudWatchLogGroupName": "/shells"}}}, False),
    ("AWS::Logs::MetricFilter", {"LogGroupName": "/train/shells"}, True),
    ("AWS::Logs::MetricFilter", {"LogGroupName": "/aws/lambda/train-shells"}, False),
    ("AWS::FSx::DataRepositoryAssociation", {"DataRepositoryPath": "s3://train-data/tokens"}, True),
    ("AWS::FSx::DataRepositoryAssociation", {"DataRepositoryPath": "s3://train-corpus/tokens"}, False),
    ("AWS::FSx::DataRepositoryAssociation", {"DataRepositoryPath": {"Fn::Sub": "s3://train-data-${AWS::AccountId}/"}}, False),
    ("AWS::FSx::DataRepositoryAssociation", {"DataRepositoryPath": "s3://train-data-123456789012/tokens"}, False),
    (CLUSTER, {"InstanceGroups": [{"LifeCycleConfig": {"SourceS3Uri": "s3://train-scripts/v1"}}]}, True),
    ("AWS::FSx::FileSystem", {"KmsKeyId": "alias/train/homes"}, True),
    ("AWS::SQS::Queue", {"KmsMasterKeyId": "alias/train-queues"}, True),
    ("AWS::RDS::DBInstance", {"KmsKeyId": "alias/train/data"}, False),
    ("AWS::RDS::DBInstance", {"KmsKeyId": "alias/company/data"}, False),
    ("AWS::SNS::Topic", {"KmsMasterKeyId": "alias/aws/sns"}, False),
    ("AWS::SNS::Topic", {"KmsMasterKeyId": {"Ref": "Alias"}}, False),
    ("AWS::Kinesis::Stream", {"StreamEncryption": {"KeyId": "11111111-2222-3333-4444-555555555555"}}, False),
    (CLUSTER, {"InstanceGroups": [{"LifeCycleConfig": {"SourceS3Uri": "s3://scripts/v1"}}]}, False),
]


@pytest.mark.parametrize(("type_", "properties", "wrong"), CASES)
def test_names_in_the_family_of_the_templates_that_nothing_has(type_: str, properties: dict[str, Any], wrong: bool) -> None:
    user = {"Type": type_, "Properties": properties}
    model = Model.of({"t": {"Resources": {"User": user, "Logs": LOGS, "Data": DATA, "Scripts": SCRIPTS, "Alias": ALIAS}}})
    found = [*WHOLES[type_](model.resources(type_)[0])]
    assert ["of the templates is called" in one.message for one in found] == [True] * wrong


@pytest.mark.parametrize(
    ("bucket", "wrong"),
    [
        ("train-dat-${AWS::AccountId}", True),
        ("train-data-${AWS::AccountId}", False),
        ("train-data-${AWS::Region}", False),
        ("train-logs-${AWS::AccountId}", False),
    ],
)
def test_a_name_with_unknown_parts_may_be_misspelled_too(bucket: str, wrong: bool) -> None:
    trail = {"Type": "AWS::CloudTrail::Trail", "Properties": {"S3BucketName": {"Fn::Sub": bucket}}}
    other = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Fn::Sub": "train-datas-${AWS::AccountId}"}}}
    model = Model.of({"t": {"Resources": {"Trail": trail, "Data": DATA, "Scripts": SCRIPTS, "Other": other}}})
    found = [*WHOLES["AWS::CloudTrail::Trail"](model.resources("AWS::CloudTrail::Trail")[0])]
    assert ["did you mean" in one.message for one in found] == [True] * wrong


@pytest.mark.parametrize(
    ("name", "names", "wrong"),
    [
        ("train-c", ["train-a", "train-b"], True),
        ("train-c", ["train-a", "serve-b"], False),
        ("train-c", ["train-a", "train-b", "serve-b"], True),
        ("my-c", ["my-a", "my-b"], False),
        ("train-c", [], False),
    ],
)
def test_a_family_is_that_of_most_names(name: str, names: list[str], wrong: bool) -> None:
    assert nobodys(Model.of({"t": {"Resources": {}}}), name, names) is wrong


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("train-health", False), ("train-events", True), ("others-events", False), ("train-health.fifo", True)],
)
def test_the_queue_of_a_target_is_one_of_the_templates(name: str, wrong: bool) -> None:
    arn = {"Fn::Sub": f"arn:aws:sqs:${{AWS::Region}}:${{AWS::AccountId}}:{name}"}
    rule = {"Type": "AWS::Events::Rule", "Properties": {"Targets": [{"Id": "a", "Arn": arn}]}}
    queues = {one: {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": f"train-{one}"}} for one in ("health", "dead")}
    model = Model.of({"t": {"Resources": {"Rule": rule, **queues}}})
    found = [*near_arns.WHOLES["AWS::Events::Rule"](model.resources("AWS::Events::Rule")[0])]
    assert [name in one.message for one in found] == [True] * wrong
