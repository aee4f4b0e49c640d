"""Settings of one resource that go together: the form of the rows, and what they refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_constructs.analysis.schema.judge import _LEAVES, _STRUCTURES, violations
from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.property_schemas import property_schema
from hyperpod_constructs.facts.together import condition, demand, demands_together
from tests.facts.demands import check_demand

TEMPLATE, VOLUME, POLICY = "AWS::EC2::LaunchTemplate", "AWS::EC2::Volume", "AWS::AutoScaling::ScalingPolicy"
FUNCTION, MAPPING, DATABASE = "AWS::Lambda::Function", "AWS::Lambda::EventSourceMapping", "AWS::RDS::DBInstance"
BUCKET, TOPIC, QUEUE, SCHEDULE = "AWS::S3::Bucket", "AWS::SNS::Topic", "AWS::SQS::Queue", "AWS::Scheduler::Schedule"
VPN, CONTROL, RULE, BUILD = "AWS::EC2::VPNConnection", "AWS::EKS::Cluster", "AWS::Config::ConfigRule", "AWS::CodeBuild::Project"
SAVED, RECORD = "AWS::DLM::LifecyclePolicy", "AWS::Route53::RecordSet"
_OF_JSON = frozenset({"redrivePermission", "sourceQueueArns"})
"""Names in properties that are JSON, of which no schema speaks."""


@pytest.mark.parametrize(
    ("when", "then", "right", "wrong"),
    [
        ("Mode=auto", "!Size", {"Mode": "auto"}, {"Mode": "auto", "Size": 1}),
        ("Mode=auto", "!Size", {"Mode": "own", "Size": 1}, {"Mode": "auto", "Size": 1}),
        ("A & !B", "C=x,?", {"A": 1}, {"A": 1, "C": "y"}),
        ("A", "B/C=x", {"A": 1, "B": {"C": "x"}}, {"A": 1, "B": {}}),
        ("A~x.*", "B", {}, {"A": "xy"}),
        ("A>=2", "B", {"A": 1}, {"A": 2}),
        ("", "A<=0.5*B:10", {"A": 5}, {"A": 6}),
        ("", "A<=0.5*B:10", {"A": 6, "B": 12}, {"A": 6, "B": 11}),
        ("", "A<=0.5*B", {"A": 6}, {"A": 6, "B": 11}),
        ("A", "B or C", {"A": 1, "C": 1}, {"A": 1}),
        ("A!=x", "B", {"A": "x"}, {"A": "y"}),
        ("A!=x", "B", {}, {"A": "y"}),
    ],
)
def test_conditions(when: str, then: str, right: dict[str, Any], wrong: dict[str, Any]) -> None:
    schema = demand(when, then)
    assert list(violations({"extensions": [("", "", _opened(schema))]}, right)) == []
    assert len(list(violations({"extensions": [("", "", _opened(schema))]}, wrong))) == 1


def _opened(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    found = {name: _opened(one) for name, one in node.items()}
    return {"additionalProperties": True, **found} if "properties" in node else found


def test_conditions_on_one_object_are_one() -> None:
    assert condition("A/B=x & A/C=y") == {
        "properties": {"A": {"properties": {"B": {"enum": ["x"]}, "C": {"enum": ["y"]}}, "required": ["B", "C"]}},
        "required": ["A"],
    }


def _names(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from node.get("required", ())
        yield from node.get("requiredOr", ())
        for name, (other, *_) in node.get("timesAtMost", {}).items():
            yield from (name, other)
        yield from node.get("properties", ())
        for key, child in node.items():
            for one in child.values() if key == "properties" else [child]:
                yield from _names(one)


def test_each_row_is_of_known_types_in_known_words() -> None:
    for types, path, words, schema in demands_together():
        for name in types.split(","):
            known = re.findall(r"'(\w+)'", str(property_schema(name)))
            assert set(_names(schema)) - _OF_JSON <= set(known), (name, words)
            assert {one for one in path.split("/") if one not in ("", "*")} <= set(known), (name, path)
        assert set(schema) <= {*_STRUCTURES, *_LEAVES, "then"}, words
    assert all(source.startswith("https://") for *_, source in rows("together.tsv"))


FLOWS, GROUP = "AWS::EC2::FlowLog", "arn:aws:logs:us-west-2:123456789012:log-group:flows"


def flows(**places: Any) -> dict[str, Any]:
    role = "arn:aws:iam::123456789012:role/flows"
    return {"ResourceType": "VPC", "ResourceId": "vpc-1", "TrafficType": "ALL", "DeliverLogsPermissionArn": role, **places}


def disk(**ebs: Any) -> dict[str, Any]:
    return {"LaunchTemplateData": {"BlockDeviceMappings": ({"DeviceName": "/dev/xvda", "Ebs": ebs},)}}


def template(**data: Any) -> dict[str, Any]:
    return {"LaunchTemplateData": data}


def tunnel(**options: Any) -> dict[str, Any]:
    return {"VpnTunnelOptionsSpecifications": (options,)}


def rules(**rule: Any) -> dict[str, Any]:
    return {"LifecycleConfiguration": {"Rules": ({"Id": "a", "Status": "Enabled", **rule},)}}


def saved(**rule: Any) -> dict[str, Any]:
    return {"PolicyDetails": {"Schedules": ({"Name": "daily", "CreateRule": rule},)}}


MADE = {"Engine": "mariadb", "DBInstanceClass": "db.m6g.large", "MasterUsername": "slurm", "ManageMasterUserPassword": True}
CODE = {"Code": {"S3Bucket": "code", "S3Key": "a.zip"}, "Role": "role", "Handler": "a.b", "Runtime": "python3.13"}
CHOSEN = {"VCpuCount": {"Min": 2}, "MemoryMiB": {"Min": 4096}}
JUDGING = "arn:aws:lambda:us-west-2:123456789012:function:check"
SNAP = {"SnapStart": {"ApplyOn": "PublishedVersions"}}
STEPS = {"StepAdjustments": ({"ScalingAdjustment": 1},), "AdjustmentType": "ChangeInCapacity"}
BUS = "arn:aws:events:us-west-2:123456789012:event-bus/default"
BY_LAMBDA = {"Type": "LINUX_LAMBDA_CONTAINER", "ComputeType": "BUILD_LAMBDA_1GB", "Image": "own"}


def kept(size: int, **more: Any) -> dict[str, Any]:
    return {**MADE, "AllocatedStorage": str(size), "StorageType": "gp3", **more}


def built(**more: Any) -> dict[str, Any]:
    return {"Environment": BY_LAMBDA, **more}


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        (TEMPLATE, disk(VolumeType="gp3", Throughput=751), disk(VolumeType="gp3", Throughput=750)),
        (TEMPLATE, disk(VolumeType="gp3", Iops=3200, Throughput=1000), disk(VolumeType="gp3", Iops=4000, Throughput=1000)),
        (TEMPLATE, disk(VolumeType="gp3", Iops=4000, VolumeSize=7), disk(VolumeType="gp3", Iops=3000, VolumeSize=1)),
        (VOLUME, {"VolumeType": "io2", "Iops": 9000, "Size": 8}, {"VolumeType": "io2", "Iops": 8000, "Size": 8}),
        (VOLUME, {"MultiAttachEnabled": True, "VolumeType": "gp3"}, {"MultiAttachEnabled": False, "VolumeType": "gp3"}),
        (TEMPLATE, template(InstanceRequirements=CHOSEN, InstanceType="m6i.large"), template(InstanceType="m6i.large")),
        (
            TEMPLATE,
            template(NetworkInterfaces=({"DeviceIndex": 1, "AssociatePublicIpAddress": True},)),
            template(NetworkInterfaces=({"DeviceIndex": 0, "AssociatePublicIpAddress": True},)),
        ),
        (
            TEMPLATE,
            template(NetworkInterfaces=({"DeviceIndex": 1}, {"DeviceIndex": 1})),
            template(NetworkInterfaces=({"DeviceIndex": 1, "NetworkCardIndex": 1}, {"DeviceIndex": 1, "NetworkCardIndex": 2})),
        ),
        (TEMPLATE, {"LaunchTemplateData": {"BlockDeviceMappings": ({"DeviceName": "a"},) * 2}}, disk(VolumeSize=8)),
        (POLICY, {"PolicyType": "StepScaling", **STEPS, "Cooldown": "60"}, {"PolicyType": "StepScaling", **STEPS}),
        (POLICY, STEPS, {**STEPS, "PolicyType": "StepScaling"}),
        (VPN, tunnel(Phase1LifetimeSeconds=1800, Phase2LifetimeSeconds=3600), tunnel(Phase2LifetimeSeconds=3600)),
        (VPN, tunnel(Phase2LifetimeSeconds=1800, RekeyMarginTimeSeconds=901), tunnel(RekeyMarginTimeSeconds=901)),
        (VPN, {"EnableAcceleration": True, "VpnGatewayId": "vgw-0"}, {"EnableAcceleration": True, "TransitGatewayId": "tgw-0"}),
        (FUNCTION, {**CODE, "Runtime": "nodejs22.x", **SNAP}, {**CODE, **SNAP}),
        (FUNCTION, {**CODE, "Runtime": "python3.11", **SNAP}, {**CODE, "Runtime": "java21", **SNAP}),
        (FUNCTION, {**CODE, "ImageConfig": {"Command": ("a",)}}, CODE),
        (
            MAPPING,
            {"EventSourceArn": "a", "MaximumRecordAgeInSeconds": 30},
            {"EventSourceArn": "a", "MaximumRecordAgeInSeconds": -1},
        ),
        (DATABASE, kept(400, Iops=12000, StorageThroughput=3500), kept(400, Iops=12000, StorageThroughput=3000)),
        (DATABASE, kept(400, Iops=250000), kept(1000, Iops=250000)),
        (DATABASE, kept(100, DBSnapshotIdentifier="s"), {**kept(100), "DBSnapshotIdentifier": "s", "MasterUsername": None}),
        (
            BUCKET,
            rules(
                Transitions=(
                    {"StorageClass": "GLACIER", "TransitionInDays": 30},
                    {"StorageClass": "GLACIER", "TransitionInDays": 90},
                )
            ),
            rules(
                Transitions=(
                    {"StorageClass": "GLACIER", "TransitionInDays": 30},
                    {"StorageClass": "DEEP_ARCHIVE", "TransitionInDays": 150},
                )
            ),
        ),
        (BUCKET, {"WebsiteConfiguration": {"ErrorDocument": "e"}}, {"WebsiteConfiguration": {"IndexDocument": "e"}}),
        (TOPIC, {"ContentBasedDeduplication": True}, {"ContentBasedDeduplication": True, "FifoTopic": True, "TopicName": "a.fifo"}),
        (
            QUEUE,
            {"FifoQueue": True, "FifoThroughputLimit": "perMessageGroupId"},
            {"FifoQueue": True, "FifoThroughputLimit": "perMessageGroupId", "DeduplicationScope": "messageGroup"},
        ),
        (SCHEDULE, {"Target": {"Arn": BUS}}, {"Target": {"Arn": BUS, "EventBridgeParameters": {"Source": "a", "DetailType": "b"}}}),
        (
            CONTROL,
            {"ComputeConfig": {"NodeRoleArn": "arn:r"}},
            {"ComputeConfig": {"NodeRoleArn": "arn:r", "NodePools": ("system",)}},
        ),
        (
            RULE,
            {"Source": {"Owner": "CUSTOM_LAMBDA", "SourceIdentifier": JUDGING}},
            {"Source": {"Owner": "AWS", "SourceIdentifier": "ENCRYPTED_VOLUMES"}},
        ),
        (BUILD, {"Source": {"Type": "S3", "Location": "s3://b/x.zip"}}, {"Source": {"Type": "S3", "Location": "b/x.zip"}}),
        (BUILD, {"Artifacts": {"Type": "S3", "Location": "b/out"}}, {"Artifacts": {"Type": "S3", "Location": "b"}}),
        (BUILD, built(TimeoutInMinutes=30), built(TimeoutInMinutes=15)),
        (
            SAVED,
            saved(CronExpression="cron(0 3 * * ? *)", Interval=24, IntervalUnit="HOURS"),
            saved(Interval=24, IntervalUnit="HOURS"),
        ),
        (RECORD, {"Type": "TXT", "ResourceRecords": ("v=1",)}, {"Type": "TXT", "ResourceRecords": ('"v=1"',)}),
        (RECORD, {"Type": "CNAME", "ResourceRecords": ("a", "b")}, {"Type": "A", "ResourceRecords": ("10.0.0.1", "10.0.0.2")}),
        (FLOWS, flows(LogDestination=GROUP, LogGroupName="flows"), flows(LogGroupName="flows")),
        (FLOWS, flows(LogDestination=GROUP, LogGroupName="flows"), flows(LogDestination=GROUP)),
        (
            "AWS::EC2::Volume",
            {"Size": 8, "AvailabilityZone": "us-west-2a", "AvailabilityZoneId": "usw2-az1"},
            {"Size": 8, "AvailabilityZoneId": "usw2-az1"},
        ),
        ("AWS::CloudTrail::Trail", {"EventSelectors": (), "AdvancedEventSelectors": ()}, {"EventSelectors": ()}),
        ("AWS::EC2::EIPAssociation", {"InstanceId": "i-1", "NetworkInterfaceId": "eni-1"}, {"NetworkInterfaceId": "eni-1"}),
        (
            "AWS::EC2::Instance",
            {"LaunchTemplate": {"LaunchTemplateId": "lt-1", "LaunchTemplateName": "nodes", "Version": "1"}},
            {"LaunchTemplate": {"LaunchTemplateName": "nodes", "Version": "1"}},
        ),
        (RECORD, {"Type": "A", "SetIdentifier": "a"}, {"Type": "A", "SetIdentifier": "a", "Weight": 1}),
    ],
)
def test_settings_that_do_not_go_together(kind: str, wrong: dict[str, Any], right: dict[str, Any]) -> None:
    check_demand(kind, wrong, right)
