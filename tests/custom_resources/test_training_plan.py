from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Duration, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Match, Template

from hyperpod_constructs import ClusterInstanceType, InstanceGroup, TrainingPlan

PLAN = "Custom::HyperPodTrainingPlan"
ARN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/spring"
P5 = ClusterInstanceType.P5_48XLARGE


def make(stack: Stack, id: str = "Plan", **arguments: Any) -> TrainingPlan:
    return TrainingPlan(stack, id, **{"plan": "spring", "instance_type": P5, "instance_count": 4, **arguments})


def statements(stack: Stack, id: str = "Plan") -> list[dict[str, Any]]:
    found = Template.from_stack(stack).find_resources("AWS::IAM::Policy")
    [document] = [item["Properties"]["PolicyDocument"] for name, item in found.items() if name.startswith(f"{id}Policy")]
    return list(document["Statement"])


def test_asks_for_what_the_groups_need(stack: Stack) -> None:
    subnet = ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-1")
    make(stack, subnets=[subnet], minimum_left=Duration.days(2), timeout=Duration.minutes(30))
    Template.from_stack(stack).has_resource_properties(
        PLAN,
        {
            "Plan": "spring",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": 4,
            "SubnetIds": ["subnet-1"],
            "MinimumLeftSeconds": 172800,
            "AlarmDays": 0,
            "AlarmTopic": Match.absent(),
            "TimeoutSeconds": 1800,
        },
    )


@pytest.mark.parametrize("reference", ["spring", ARN])
def test_permissions_name_one_plan(stack: Stack, reference: str) -> None:
    make(stack, plan=reference)
    [looking] = statements(stack)
    assert looking["Action"] == "sagemaker:DescribeTrainingPlan"
    resource = looking["Resource"]
    text = (
        resource
        if isinstance(resource, str)
        else "".join(part if isinstance(part, str) else "aws" for part in resource["Fn::Join"][1])
    )
    assert text == ARN


def test_a_plan_by_token_is_any_of_the_account(stack: Stack) -> None:
    name, count = CfnParameter(stack, "Name").value_as_string, CfnParameter(stack, "Count", type="Number").value_as_number
    make(stack, plan=name, instance_count=count)
    assert str(statements(stack)[0]["Resource"]).endswith(":sagemaker:us-west-2:123456789012:training-plan/*']]}")
    Template.from_stack(stack).has_resource_properties(PLAN, {"Plan": {"Ref": "Name"}, "InstanceCount": {"Ref": "Count"}})


def test_subnets_are_looked_up_only_if_given(stack: Stack) -> None:
    make(stack, subnets=[ec2.Subnet.from_subnet_id(stack, "Subnet", "subnet-1")])
    assert statements(stack)[1] == {"Action": "ec2:DescribeSubnets", "Effect": "Allow", "Resource": "*"}


def test_an_alarm_is_one_schedule_to_the_topic(stack: Stack) -> None:
    plan = make(stack, alarm_topic=sns.Topic(stack, "Topic"), alarm_days=3)
    template = Template.from_stack(stack)
    template.has_resource_properties(PLAN, {"AlarmDays": 3, "AlarmTopic": {"Ref": Match.string_like_regexp("Topic")}})
    [schedule] = template.find_resources("AWS::Scheduler::Schedule").values()
    properties = schedule["Properties"]
    logical_id = next(iter(template.find_resources(PLAN)))
    assert properties["ScheduleExpression"] == {"Fn::Join": ["", ["at(", {"Fn::GetAtt": [logical_id, "AlarmTime"]}, ")"]]}
    assert properties["Target"]["Arn"] == {"Ref": next(iter(template.find_resources("AWS::SNS::Topic")))}
    assert {"Fn::GetAtt": [logical_id, "EndTime"]} in properties["Target"]["Input"]["Fn::Join"][1]
    assert any(name.startswith("PlanAlarmRoleDefaultPolicy") for name in schedule["DependsOn"])
    template.has_resource_properties(
        "AWS::IAM::Role",
        {
            "AssumeRolePolicyDocument": {
                "Statement": [
                    {
                        "Action": "sts:AssumeRole",
                        "Condition": {"StringEquals": {"aws:SourceAccount": "123456789012"}},
                        "Effect": "Allow",
                        "Principal": {"Service": "scheduler.amazonaws.com"},
                    }
                ],
                "Version": "2012-10-17",
            }
        },
    )
    assert plan.alarm is not None


def test_without_a_topic_there_is_no_alarm(stack: Stack) -> None:
    assert make(stack).alarm is None
    Template.from_stack(stack).resource_count_is("AWS::Scheduler::Schedule", 0)


def test_attributes_reach_the_template(stack: Stack) -> None:
    plan = make(stack)
    names = ("Arn", "ZoneId", "StartTime", "EndTime", "Message")
    tokens = (plan.training_plan_arn, plan.zone_id, plan.start_time, plan.end_time, plan.message)
    logical_id = next(iter(Template.from_stack(stack).find_resources(PLAN)))
    assert [stack.resolve(token) for token in tokens] == [{"Fn::GetAtt": [logical_id, name]} for name in names]


def test_a_group_takes_the_plan_itself(stack: Stack) -> None:
    plan = make(stack)
    for given in (plan, plan.training_plan_arn):
        group = InstanceGroup(name="workers", instance_type=P5, count=4, training_plan_arn=given)
        rendered = group.render(role_arn="role", scripts=None)
        assert rendered.training_plan_arn == plan.training_plan_arn


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"plan": "a plan"},
            r'Stack/Plan: plan is .a plan.; allowed: the name or the ARN of a training plan .*; write plan="a-plan"',
        ),
        ({"plan": ARN.replace("us-west-2", "us-east-1")}, "Stack/Plan: plan is in us-east-1, the stack in us-west-2"),
        ({"minimum_left": Duration.minutes(29)}, "minimum_left is 1740 seconds; allowed: 1800 or more"),
        ({"alarm_days": 183}, "alarm_days is 183; allowed: 1 to 182"),
        ({"instance_count": -1}, "instance_count is -1"),
        ({"timeout": Duration.minutes(1)}, "timeout is 60 seconds"),
    ],
)
def test_fails(stack: Stack, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(stack, **arguments)


def test_a_region_that_is_not_known_is_not_compared(app: App) -> None:
    make(Stack(app, "Anywhere"), plan=ARN)
    make(Stack(app, "Somewhere", env=Environment(region="us-west-2")), plan=ARN)
