"""Log groups and their lines: a filter or a query asks for lines that something writes to its group."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import KEPT, Template, findings
from tests.rules.catalogue.text_bases import att, function, resource

ROLE = "arn:aws:iam::123456789012:role/service"
AUDIT, TRAIL = '{ $.kind = "Event" && $.responseStatus.code >= 500 }', '{ $.eventName = "DeleteCluster" }'
FLOWS = '[version, account, eni, src, dst, sport, dport, protocol, packets, bytes, start, end, action = "REJECT", status]'


def group(name: str | None = None) -> Template:
    return {**resource("AWS::Logs::LogGroup", RetentionInDays=30, **({"LogGroupName": name} if name else {})), **KEPT}


def lines(group: Any, pattern: str, name: str) -> Template:
    change = {"MetricNamespace": "Team", "MetricName": name, "MetricValue": "1"}
    return resource("AWS::Logs::MetricFilter", LogGroupName=group, FilterPattern=pattern, MetricTransformations=[change])


BASE: Template = {
    "Resources": {
        "ControlLines": group("/aws/eks/control/cluster"),
        "Control": {
            **resource(
                "AWS::EKS::Cluster",
                Name="control",
                RoleArn=ROLE,
                ResourcesVpcConfig={"SubnetIds": ["subnet-0a1b2c3d", "subnet-1a1b2c3d"]},
                Logging={"ClusterLogging": {"EnabledTypes": [{"Type": "audit"}]}},
            ),
            "DependsOn": "ControlLines",
            **KEPT,
        },
        "FlowLines": group("/team/flow"),
        "Flow": resource(
            "AWS::EC2::FlowLog",
            ResourceId="vpc-0a1b2c3d",
            ResourceType="VPC",
            TrafficType="ALL",
            LogGroupName={"Ref": "FlowLines"},
            DeliverLogsPermissionArn=ROLE,
        ),
        "ShellLines": group(),
        "Shell": resource(
            "AWS::SSM::Document",
            DocumentType="Session",
            Content={
                "schemaVersion": "1.0",
                "description": "a shell",
                "sessionType": "Standard_Stream",
                "inputs": {"cloudWatchLogGroupName": {"Ref": "ShellLines"}, "cloudWatchEncryptionEnabled": False},
            },
        ),
        "TrailLines": group(),
        "Trail": resource(
            "AWS::CloudTrail::Trail",
            IsLogging=True,
            S3BucketName="trail",
            CloudWatchLogsLogGroupArn=att("TrailLines"),
            CloudWatchLogsRoleArn=ROLE,
        ),
        "ProgramLines": group(),
        "Program": function("def handler(event, context):\n    return 1\n", LoggingConfig={"LogGroup": {"Ref": "ProgramLines"}}),
        "Errors": lines({"Ref": "ControlLines"}, AUDIT, "Errors"),
        "Rejected": lines({"Ref": "FlowLines"}, FLOWS, "Rejected"),
        "Roots": lines({"Ref": "ShellLines"}, '"sudo su"', "Roots"),
        "Deleted": lines({"Ref": "TrailLines"}, TRAIL, "Deleted"),
        "Failed": lines({"Ref": "ProgramLines"}, '{ $.verb = "create" }', "Failed"),
        "Query": resource(
            "AWS::Logs::QueryDefinition",
            Name="errors",
            LogGroupNames=[{"Ref": "ControlLines"}],
            QueryString="fields @timestamp, objectRef.name | filter responseStatus.code >= 500",
        ),
    }
}
NONE = "and Shell writes the lines of sessions"


def test_lines_are_asked_of_those_who_write_them_without_a_finding() -> None:
    assert findings(BASE) == []


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("Errors/LogGroupName", {"Ref": "ShellLines"}, f"the filter asks for the audit of a Kubernetes control plane, {NONE}"),
        ("Errors/LogGroupName", {"Ref": "TrailLines"}, "and Trail writes the calls of a trail"),
        ("Errors/LogGroupName", "/aws/codebuild/chart", "and the groups of /aws/codebuild/ writes the lines of builds"),
        ("Errors/LogGroupName", {"Ref": "FlowLines"}, "the filter reads JSON, and flow logs write words with spaces"),
        ("Errors/FilterPattern", "{ $.responsestatus.code = 403 }", "asks for a field responsestatus"),
        (
            "Errors/FilterPattern",
            '{ $.level = "ERROR" && $.message = "x" }',
            "asks for a field message, and Control writes the audit",
        ),
        ("Deleted/LogGroupName", {"Ref": "ControlLines"}, "asks for the calls of a trail, and Control writes the audit"),
        ("Deleted/LogGroupName", {"Ref": "ShellLines"}, f"asks for the calls of a trail, {NONE}"),
        (
            "Deleted/FilterPattern",
            '{ $.eventname = "DeleteCluster" }',
            "a field eventname, and Trail writes the calls of a trail; the nea",
        ),
        ("Rejected/LogGroupName", {"Ref": "ShellLines"}, f"asks for the records of flows, {NONE}"),
        ("Rejected/LogGroupName", {"Ref": "ControlLines"}, "asks for the records of flows, and Control writes the audit"),
        ("Roots/LogGroupName", "/team/flow", "asks for 'sudo su', and Flow writes records of flows without such words"),
        ("Roots/FilterPattern", FLOWS, f"asks for the records of flows, {NONE}"),
        ("Rejected/FilterPattern", "ERROR -REJECT", "asks for 'ERROR', and Flow writes records"),
        ("Rejected/FilterPattern", "?sudo ?passwd", "asks for 'sudo', and Flow writes records"),
        ("Query/LogGroupNames", [{"Ref": "ShellLines"}], f"the query asks for the audit of a Kubernetes control plane, {NONE}"),
        (
            "Query/QueryString",
            "filter eventName = 'DeleteCluster'",
            "the query asks for the calls of a trail, and Control writes the",
        ),
    ],
)
def test_fails_a_reader_of_other_lines(path: str, value: Any, message: str) -> None:
    name = path.split("/")[0]
    (found,) = findings(edited(BASE, {path: value}))
    assert (found.rule, found.resource) == ("HP-TXT-011", name)
    assert message in found.message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("Errors/LogGroupName", {"Ref": "ProgramLines"}),
        ("Errors/LogGroupName", {"Fn::ImportValue": "lines"}),
        ("Errors/FilterPattern", "{ $.responseStatus.code = 403 || $.code = 403 }"),
        ("Errors/FilterPattern", "{ $.error NOT EXISTS }"),
        ("Roots/FilterPattern", '{ $.level = "ERROR" }'),
        ("Rejected/FilterPattern", '"10.0.0.1" REJECT'),
        ("Rejected/FilterPattern", "eni-0a1b ?OK ?sudo"),
        ("Rejected/FilterPattern", "%su.o%"),
        ("Flow/LogFormat", "${srcaddr} ${pkt-dst-aws-service} ${action}"),
        ("Query/QueryString", "parse @message /(?<a>x)/ | parse @message '*' as eventName | filter eventName = 'a'"),
        ("Query/LogGroupNames", [{"Ref": "ControlLines"}, {"Ref": "ShellLines"}]),
        ("Query/LogGroupNames", [{"Fn::ImportValue": "lines"}]),
    ],
)
def test_what_may_be_written_is_believed(path: str, value: Any) -> None:
    changed = edited(BASE, {path: value})
    if path.startswith("Flow"):
        changed["Resources"]["Rejected"]["Properties"]["FilterPattern"] = "AMAZON"
    assert [one.message for one in findings(changed) if one.rule == "HP-TXT-011"] == []


SAYING = 'def handler(event, context):\n    print(f"FAILED: {event}")\n'
QUIET = "def handler(event, context):\n    return 1\n"


@pytest.mark.parametrize(
    ("own", "other", "pattern", "wrong"),
    [
        (QUIET, SAYING, '"FAILED:"', True),
        (SAYING, SAYING, '"FAILED:"', False),
        (QUIET, QUIET, '"FAILED:"', False),
        (QUIET.replace("return 1", "print(event)"), SAYING, '"FAILED:"', False),
        (QUIET, SAYING.replace("FAILED:", "Task timed out"), '"Task timed out"', False),
        (QUIET, SAYING.replace("FAILED:", "AccessDenied"), '"AccessDenied"', False),
        (QUIET, QUIET.replace("return 1", 'return "FAILED: all"'), '"FAILED:"', False),
    ],
)
def test_a_text_of_another_function(own: str, other: str, pattern: str, *, wrong: bool) -> None:
    changes = {
        "Program/Code/ZipFile": own,
        "OtherLines": group(),
        "Other": function(other, LoggingConfig={"LogGroup": {"Ref": "OtherLines"}}),
        "Failed/FilterPattern": pattern,
    }
    found = [one.message for one in findings(edited(BASE, changes))]
    assert found == (["the code of Program says FAILED: nowhere, and that of Other does"] if wrong else [])


def test_a_group_to_which_others_may_write_is_believed() -> None:
    agent = resource("AWS::SSM::Parameter", Type="String", Value={"Fn::Sub": '{"log_group_name": "${ShellLines}"}'})
    changed = edited(BASE, {"Errors/LogGroupName": {"Ref": "ShellLines"}, "Agent": agent})
    assert findings(changed) == []


def test_one_control_plane_without_an_audit_is_one_finding_for_all_filters() -> None:
    types = {"Control/Logging/ClusterLogging/EnabledTypes": [{"Type": "api"}]}
    other = lines({"Ref": "ControlLines"}, "{ $.responseStatus.code = 403 }", "Denied")
    (found,) = findings(edited(BASE, {**types, "Denied": other}))
    assert "only the logs of the audit are JSON, and Control does not write them" in found.message
