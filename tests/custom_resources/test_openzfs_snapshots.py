from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import CfnParameter, Duration, Stack
from aws_cdk import aws_events as events

from hyperpod_constructs import ClusterNetwork, OpenZfsSnapshots, OpenZfsStorage
from tests.conftest import only, resources

EXISTING = OpenZfsStorage.from_attributes(file_system_id="fs-01234567", root_volume_id="fsvol-0123456789abcdef0")


def target(stack: Stack) -> Any:
    (found,) = only(stack, "AWS::Events::Rule")["Properties"]["Targets"]
    return found


def test_each_night_one_is_taken_and_seven_stay(stack: Stack, network: ClusterNetwork) -> None:
    homes = OpenZfsStorage(stack, "Homes", network=network)
    OpenZfsSnapshots(stack, "Snapshots", file_system=homes)
    rule = only(stack, "AWS::Events::Rule")
    assert rule["Properties"]["ScheduleExpression"] == "cron(0 2 * * ? *)"
    template = target(stack)["InputTransformer"]["InputTemplate"]["Fn::Join"][1]
    assert template == ['{"VolumeId":"', stack.resolve(homes.root_volume_id), '","Prefix":"daily","Keep":7,"Time":<time>}']
    assert any(id.startswith("SnapshotsPolicy") for id in rule["DependsOn"])
    permission = only(stack, "AWS::Lambda::Permission")["Properties"]
    (rule_id,) = resources(stack, "AWS::Events::Rule")
    assert (permission["Principal"], permission["SourceArn"]) == ("events.amazonaws.com", {"Fn::GetAtt": [rule_id, "Arn"]})
    assert target(stack)["Arn"] == permission["FunctionName"]
    function = only(stack, "AWS::Lambda::Function")["Properties"]
    assert function["Handler"] == "handlers.openzfs_snapshots.on_schedule"


def test_it_may_touch_no_snapshot_of_another_volume(stack: Stack) -> None:
    OpenZfsSnapshots(stack, "Snapshots", file_system=EXISTING)
    (policy,) = (found for id, found in resources(stack, "AWS::IAM::Policy").items() if id.startswith("SnapshotsPolicy"))
    create, delete, look = policy["Properties"]["PolicyDocument"]["Statement"]
    volume, snapshots = (
        {"Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, f":fsx:us-west-2:123456789012:{name}"]]}
        for name in ("volume/*/fsvol-0123456789abcdef0", "snapshot/fsvol-0123456789abcdef0/*")
    )
    assert (create["Action"], create["Resource"]) == ("fsx:CreateSnapshot", [volume, snapshots])
    assert (delete["Action"], delete["Resource"]) == ("fsx:DeleteSnapshot", snapshots)
    assert (look["Action"], look["Resource"]) == ("fsx:DescribeSnapshots", "*")


def test_takes_a_schedule_and_tokens(stack: Stack) -> None:
    prefix = CfnParameter(stack, "Prefix").value_as_string
    keep = CfnParameter(stack, "Keep", type="Number").value_as_number
    schedule = events.Schedule.rate(Duration.hours(1))
    OpenZfsSnapshots(stack, "Snapshots", file_system=EXISTING, schedule=schedule, keep=keep, prefix=prefix)  # type: ignore[arg-type]
    assert only(stack, "AWS::Events::Rule")["Properties"]["ScheduleExpression"] == "rate(1 hour)"
    parts = target(stack)["InputTransformer"]["InputTemplate"]["Fn::Join"][1]
    assert [part for part in parts if isinstance(part, dict)] == [{"Ref": "Prefix"}, {"Ref": "Keep"}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"keep": 0}, "keep is 0; allowed: 1 to 1000; write keep=1"),
        ({"prefix": "each day"}, "prefix is 'each day'; allowed: 1 to 182 letters, digits, '_', ':', '.' and '-'"),
        ({"file_system": OpenZfsStorage.from_attributes(file_system_id="fs-01234567")}, "has no root_volume_id; write"),
    ],
)
def test_fails_on_what_fsx_refuses(stack: Stack, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Snapshots: ") as caught:
        OpenZfsSnapshots(stack, "Snapshots", **{"file_system": EXISTING, **given})
    assert message in str(caught.value)
