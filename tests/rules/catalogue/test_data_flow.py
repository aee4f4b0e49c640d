"""Data between states, and of events and answers in code: what nothing writes is one finding, and what may be there is believed."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import Template, eks, findings
from tests.rules.catalogue.text_bases import att, function, resource

ROLE = "arn:aws:iam::123456789012:role/service"
SDK, OWN = "arn:aws:states:::aws-sdk:", "arn:aws:states:::"
COUNT = "def handler(event, context):\n    return {'free': event['wanted'], 'more': {'a': 1}}\n"
HEALTH = "SageMaker HyperPod Cluster Node Health Event"
STATES: dict[str, Any] = {
    "Count": {
        "Type": "Task",
        "Resource": f"{OWN}lambda:invoke",
        "Parameters": {"FunctionName": att("Count"), "Payload": {"wanted.$": "$.wanted"}},
        "ResultPath": "$.count",
        "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Failed"}],
        "Next": "Look",
    },
    "Look": {
        "Type": "Task",
        "Resource": f"{SDK}sagemaker:describeCluster",
        "Parameters": {"ClusterName.$": "$.name"},
        "ResultSelector": {"status.$": "$.ClusterStatus", "type.$": "$.InstanceGroups[0].InstanceType"},
        "ResultPath": "$.cluster",
        "Next": "Which",
    },
    "Which": {
        "Type": "Choice",
        "Choices": [
            {
                "And": [
                    {"Variable": "$.cluster.status", "StringEquals": "InService"},
                    {"Variable": "$.count.Payload.free", "NumericGreaterThan": 1},
                ],
                "Next": "Tell",
            }
        ],
        "Default": "Each",
    },
    "Each": {
        "Type": "Map",
        "ItemsPath": "$.names",
        "ItemProcessor": {"StartAt": "One", "States": {"One": {"Type": "Pass", "Parameters": {"a.$": "$.any"}, "End": True}}},
        "ResultPath": None,
        "Next": "Tell",
    },
    "Tell": {
        "Type": "Task",
        "Resource": f"{OWN}sns:publish",
        "Parameters": {"TopicArn": "arn:aws:sns:us-west-2:123456789012:a", "Message.$": "States.Format('$.x {}', $.name)"},
        "End": True,
    },
    "Failed": {
        "Type": "Task",
        "Resource": f"{OWN}sns:publish",
        "Parameters": {"TopicArn": "arn:aws:sns:us-west-2:123456789012:a", "Message.$": "$.error.Cause"},
        "End": True,
    },
}
BASE: Template = {
    "Resources": {
        "Count": function(COUNT),
        "Machine": resource(
            "AWS::StepFunctions::StateMachine", RoleArn=ROLE, Definition={"StartAt": "Count", "States": deepcopy(STATES)}
        ),
    }
}


def said(changes: dict[str, Any], **resources: Any) -> list[str]:
    template = deepcopy(BASE)
    template["Resources"].update(resources)
    states = template["Resources"]["Machine"]["Properties"]["Definition"]["States"]
    for path, value in changes.items():
        name, key = path.split("/")
        if value is ...:
            del states[name][key]
        else:
            states[name][key] = value
    return [one.message for one in findings(template, rules="HP-TXT-011")]


def test_data_that_states_write_is_read_without_a_finding() -> None:
    assert said({}) == []


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("Count/ResultPath", ..., "reads $.name, and nothing before it writes name"),
        ("Count/ResultSelector", {"n.$": "$.Payload.nodes"}, "reads $.Payload.nodes, and nothing before it writes nodes"),
        ("Look/ResultSelector", {"state.$": "$.Status"}, "'Look' reads $.Status"),
        ("Look/ResultSelector", {"type.$": "$.InstanceGroups[0].Type"}, "reads $.InstanceGroups[0].Type"),
        ("Look/ResultSelector", {"state.$": "$.ClusterStatus"}, "reads $.cluster.status, and nothing before it writes status"),
        ("Look/Parameters", {"clusterName.$": "$.name"}, "with clusterName, which it does not take; the nearest is ClusterName"),
        (
            "Which/Choices",
            [{"Variable": "$.cluster.status", "StringEquals": "INSERVICE", "Next": "Tell"}],
            "compares $.cluster.status with 'INSERVICE', which it never is; the nearest is InService",
        ),
        ("Each/ItemsPath", "$.count.Payload.names", "reads $.count.Payload.names"),
        ("Failed/Parameters", {"TopicArn": "a", "Message.$": "$.error.Reason"}, "reads $.error.Reason"),
        ("Each/ResultPath", "$", "the state 'Tell' reads $.name, and the way from 'Each' has no name"),
        ("Each/ResultPath", ..., "the state 'Tell' reads $.name, and the way from 'Each' has no name"),
        (
            "Count/Catch",
            [{"ErrorEquals": ["A"], "Next": "Look"}, {"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "Failed"}],
            "the state 'Look' reads $.name, and the way from 'Count' has no name",
        ),
        ("Which/Choices", [{"Variable": "$.count.x", "IsPresent": True, "Next": "Tell"}], None),
        ("Look/Parameters", {"ClusterName.$": "$$.Execution.Name"}, None),
        ("Count/OutputPath", "$.elsewhere", None),
    ],
)
def test_a_state_reads_what_may_be_there(path: str, value: Any, message: str | None) -> None:
    assert [message is not None and message in one for one in said({path: value})] == ([] if message is None else [True])


ANSWERS: dict[str, Any] = {
    "Look": {
        "Type": "Task",
        "Resource": f"{SDK}sagemaker:describeCluster",
        "Arguments": {"ClusterName": "{% $states.input.name %}"},
        "Output": {"name": "{% $states.input.name %}", "status": "{% $states.result.ClusterStatus %}"},
        "Catch": [{"ErrorEquals": ["States.ALL"], "Output": {"why": "{% $states.errorOutput.Cause %}"}, "Next": "Failed"}],
        "Next": "Which",
    },
    "Which": {
        "Type": "Choice",
        "Choices": [
            {
                "Condition": "{% $states.input.status = 'Failed' %}",
                "Output": {"why": "{% $states.input.status %}"},
                "Next": "Failed",
            },
            {"Condition": "{% $states.input.status = 'Gone' %}", "Output": {"why": "gone"}, "Next": "Failed"},
        ],
        "Default": "Pause",
    },
    "Pause": {"Type": "Wait", "Seconds": 60, "Next": "Look"},
    "Failed": {
        "Type": "Task",
        "Resource": f"{OWN}sns:publish",
        "Arguments": {"TopicArn": "arn:aws:sns:us-west-2:123456789012:a", "Message": "{% $states.input.why %}"},
        "End": True,
    },
}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("Pause/Seconds", 30, None),
        ("Look/Output", ..., "the state 'Look' reads $states.input.name, and the way from 'Pause' has no name"),
        ("Look/Output", {"name": "{% $states.result.Name %}"}, "the state 'Look' reads $states.result.Name, and nothing before it"),
        ("Pause/Output", {"count": 1}, "the way from 'Pause' has no name"),
        ("Look/Catch", [{"ErrorEquals": ["A"], "Next": "Failed"}], "reads $states.input.why, and the way from 'Look' has no why"),
        ("Failed/Arguments", {"TopicArn": "a", "Message": "{% $states.input.reason %}"}, "reads $states.input.reason"),
        ("Failed/Arguments", {"TopicArn": "a", "Message": "{% $states.input.reason & 'x' %}"}, None),
        ("Failed/Arguments", {"TopicArn": "a", "Message": "{% $states.context.Execution.Name %}"}, None),
        ("Look/Output", "{% $merge([$states.input, $states.result]) %}", None),
        ("Pause/Output", {"name": "{% $states.result.a %}"}, "$states has no result there"),
    ],
)
def test_paths_of_jsonata_are_followed(path: str, value: Any, message: str | None) -> None:
    template = deepcopy(BASE)
    template["Resources"]["Machine"]["Properties"]["Definition"] = {
        "StartAt": "Look",
        "QueryLanguage": "JSONata",
        "States": deepcopy(ANSWERS),
    }
    name, key = path.split("/")
    state = template["Resources"]["Machine"]["Properties"]["Definition"]["States"][name]
    state.update({key: value})
    if value is ...:
        del state[key]
    found = [one.message for one in findings(template, rules="HP-TXT-011")]
    assert [message is not None and message in one for one in found] == ([] if message is None else [True]), found


def test_a_machine_gets_what_the_rules_and_schedules_of_the_app_send() -> None:
    target = {"Arn": {"Ref": "Machine"}, "RoleArn": ROLE, "Input": '{"wanted": 1, "names": []}'}
    nightly = resource(
        "AWS::Scheduler::Schedule", ScheduleExpression="rate(1 day)", FlexibleTimeWindow={"Mode": "OFF"}, Target=target
    )
    (message,) = said({}, Nightly=nightly)
    assert "reads $.name, and nothing before it writes name" in message
    pattern = {"source": ["aws.sagemaker"], "detail-type": [HEALTH]}
    health = resource("AWS::Events::Rule", EventPattern=pattern, Targets=[{"Id": "a", "Arn": {"Ref": "Machine"}, "RoleArn": ROLE}])
    read = {"Count/Parameters": {"FunctionName": att("Count")}, "Look/Parameters": {"ClusterName.$": "$.detail.Cluster"}}
    (message,) = said({**read, "Each/ItemsPath": "$.resources"}, Health=health)
    assert "reads $.detail.Cluster, and nothing before it writes Cluster" in message


READS = """
import boto3

def handler(event, context):
    nodes = boto3.client("sagemaker").list_cluster_nodes(ClusterName="a")
    for node in nodes["ClusterNodeSummaries"]:
        print(node["InstanceStatus"]["Status"], event["detail"]["HealthSummary"]["RepairAction"])
    if "Records" in event:
        print(event["Records"])
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ('["ClusterNodeSummaries"]', '["Nodes"]', "line 6 of the code reads nodes['Nodes'], and Nodes is never there"),
        ('["Status"]', '["State"]', "reads node['InstanceStatus']['State']"),
        ('["RepairAction"]', '["Action"]', "and Action is never there"),
        ('event["detail"]["HealthSummary"]', 'event["HealthSummary"]', "reads event['HealthSummary']"),
        ('ClusterName="a"', 'ClusterName="a", Status="Running"', "calls list_cluster_nodes with Status, which it does not take"),
        ('["Nodes"]', '["ResponseMetadata"]', None),
        ("import boto3\n", "import boto3\nnodes = {}\n", None),
    ],
)
def test_code_reads_what_answers_and_events_have(old: str, new: str, message: str | None) -> None:
    rule = resource(
        "AWS::Events::Rule",
        EventPattern={"source": ["aws.sagemaker"], "detail-type": [HEALTH]},
        Targets=[{"Id": "a", "Arn": att("F")}],
    )
    let = {"FunctionName": {"Ref": "F"}, "Action": "lambda:InvokeFunction", "Principal": "events.amazonaws.com"}
    permission = resource("AWS::Lambda::Permission", **let, SourceArn=att("R"))
    template = {"Resources": {"F": function(READS.replace(old, new)), "R": rule, "P": permission}}
    found = findings(template, rules="HP-TXT-011")
    assert [message is not None and message in one.message for one in found] == ([] if message is None else [True])


OPERATIONS: dict[str, Any] = {"source": ["aws.sagemaker"], "detail-type": ["SageMaker HyperPod Cluster Event"]}
STACK = resource("AWS::CloudFormation::Stack", TemplateURL="https://example.s3.amazonaws.com/child.yaml")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Cluster/NodeProvisioningMode": REMOVED}, "only continuous provisioning has events of operations"),
        ({"Cluster/NodeProvisioningMode": "Continuous"}, None),
        ({"R/EventPattern/detail-type": [*OPERATIONS["detail-type"], HEALTH], "Cluster/NodeProvisioningMode": REMOVED}, None),
        ({"R/EventPattern/resources": [{"Ref": "Child"}]}, "these events have no ARN of a stack, such as Child"),
        ({"R/EventPattern/resources": [att("Child", "Outputs.ClusterArn")]}, None),
    ],
)
def test_a_rule_awaits_what_clusters_send(changes: Any, message: str | None) -> None:
    target = {"Id": "a", "Arn": "arn:aws:sns:us-west-2:123456789012:a"}
    rule = resource("AWS::Events::Rule", EventPattern=OPERATIONS, Targets=[target])
    made = edited(eks(), {"R": rule, "Child": STACK, "Cluster/NodeProvisioningMode": "Continuous"})
    found = findings(edited(made, changes), rules="HP-TXT-011")
    assert [message is not None and message in one.message for one in found] == ([] if message is None else [True])


@pytest.mark.parametrize(
    ("detail", "paths", "message"),
    [
        ({"ClusterName": ["a"]}, {"node": "$.detail.InstanceId"}, None),
        ({"ClusterStatus": ["Failed"]}, {"node": "$.detail.InstanceId"}, "has no field ClusterStatus"),
        ({"HealthSummary": {"HealthStatus": ["Unhealthy"]}}, {"node": "$.detail.InstanceId"}, None),
        ({"HealthSummary": {"HealthStatus": ["Unschedulable"]}}, {"node": "$.detail.InstanceId"}, "never 'Unschedulable'"),
        (
            {"ClusterName": ["a"], "HealthStatus": ["b"], "RepairAction": ["c"]},
            {},
            "no field HealthStatus and RepairAction beside Hea",
        ),
        (
            {"ClusterArn": ["arn:aws:eks:us-west-2:123456789012:cluster/a"]},
            {},
            "ClusterArn of an event is an ARN with sagemaker:clu",
        ),
        ({"ClusterArn": ["arn:aws:sagemaker:us-west-2:123456789012:endpoint/a"]}, {}, "is an ARN with sagemaker:cluster/, and not"),
        ({"ClusterArn": [{"prefix": "arn:aws:sagemaker:"}]}, {}, None),
        ({"HealthSummary": {"Status": ["a"]}}, {"node": "$.detail.InstanceId"}, "HealthSummary has no field Status"),
        ({"ClusterName": ["a"]}, {"node": "$.detail.NodeId"}, "takes $.detail.NodeId, and the event has no NodeId"),
    ],
)
def test_a_rule_asks_and_takes_what_events_have(detail: Any, paths: dict[str, str], message: str | None) -> None:
    transformer = {"InputPathsMap": paths, "InputTemplate": f'"{"<node>" if paths else "a"}"'}
    rule = resource(
        "AWS::Events::Rule",
        EventPattern={"source": ["aws.sagemaker"], "detail-type": [HEALTH], "detail": detail},
        Targets=[{"Id": "a", "Arn": "arn:aws:sns:us-west-2:123456789012:a", "InputTransformer": transformer}],
    )
    found = findings({"Resources": {"R": rule}}, rules="HP-TXT-011")
    assert [message is not None and message in one.message for one in found] == ([] if message is None else [True])


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        ("Step Functions Execution Status Change", {"detail": {"stateMachineArn": [{"Ref": "Machine"}]}}, None),
        ("Step Functions Execution Status Change", {"resources": [{"Ref": "Machine"}]}, "do not name"),
        (
            "Step Functions Execution Status Change",
            {"detail": {"executionArn": [{"Ref": "Machine"}]}},
            "an ARN with states:execution:",
        ),
        (
            "Step Functions Execution Status Change",
            {"detail": {"stateMachineArn": [att("Machine", "Name")]}},
            "stateMachineArn of an ev",
        ),
        (
            "Batch Job State Change",
            {"detail": {"jobQueue": ["arn:aws:batch:us-west-2:123456789012:job-definition/a"]}},
            "batch:job-queue/",
        ),
        ("Batch Job State Change", {"detail": {"jobQueue": ["arn:aws:batch:us-west-2:123456789012:job-queue/a"]}}, None),
        ("CodeBuild Build State Change", {"resources": ["arn:aws:codebuild:us-west-2:123456789012:project/a"]}, "do not name"),
        (
            "RDS DB Cluster Event",
            {"detail": {"SourceArn": ["arn:aws:rds:us-west-2:123456789012:db:a"]}},
            "an ARN with rds:cluster:",
        ),
        ("ECS Task State Change", {"detail": {"clusterArn": ["arn:aws:ecs:us-west-2:123456789012:service/a/b"]}}, "ecs:cluster/"),
        ("CloudWatch Alarm State Change", {"resources": ["arn:aws:cloudwatch:us-west-2:123456789012:dashboard/a"]}, "do not name"),
    ],
)
def test_arns_in_events_are_of_the_things_that_have_them(kind: str, more: Any, message: str | None) -> None:
    words = kind.split()
    source = "aws.states" if words[0] == "Step" else f"aws.{words[0].lower()}"
    target = {"Id": "a", "Arn": "arn:aws:sns:us-west-2:123456789012:a"}
    rule = resource("AWS::Events::Rule", EventPattern={"source": [source], "detail-type": [kind], **more}, Targets=[target])
    machine = BASE["Resources"]["Machine"]
    found = findings({"Resources": {"R": rule, "Machine": machine, "Count": BASE["Resources"]["Count"]}}, rules="HP-TXT-011")
    assert [message is not None and message in one.message for one in found] == ([] if message is None else [True]), found


@pytest.mark.parametrize(
    ("targets", "wrong"), [(..., True), ([], True), ([{"Id": "a", "Arn": "arn:aws:sns:us-west-2:123456789012:a"}], False)]
)
def test_a_rule_has_a_target(targets: Any, wrong: bool) -> None:
    properties = {"ScheduleExpression": "rate(1 day)", **({} if targets is ... else {"Targets": targets})}
    rule = {"Type": "AWS::Events::Rule", "Properties": properties}
    found = findings({"Resources": {"R": rule}})
    assert ["R has no target" in one.message for one in found] == [True] * wrong
