"""What watches a function: alarms of the metrics that its code publishes, its log group, and the logs of a control plane."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import KEPT, Template, eks, findings
from tests.rules.catalogue.text_bases import att, function, may_send, resource

CODE = """
import os
import boto3

def handler(event, context):
    sagemaker, cloudwatch = boto3.client("sagemaker"), boto3.client("cloudwatch")
    nodes = sagemaker.list_cluster_nodes(ClusterName="a")["ClusterNodeSummaries"]
    cloudwatch.put_metric_data(
        Namespace=os.environ["NAMESPACE"],
        MetricData=[{"MetricName": "NodeCount", "Value": len(nodes), "Dimensions": [{"Name": "Cluster", "Value": "a"}]}],
    )
"""


def alarm(
    namespace: str, metric: str, *dimensions: tuple[str, Any], threshold: int = 4, operator: str = "LessThanThreshold"
) -> Template:
    return resource(
        "AWS::CloudWatch::Alarm",
        Namespace=namespace,
        MetricName=metric,
        Dimensions=[{"Name": name, "Value": value} for name, value in dimensions],
        Statistic="Minimum",
        Period=300,
        EvaluationPeriods=3,
        DatapointsToAlarm=2,
        TreatMissingData="breaching",
        Threshold=threshold,
        ComparisonOperator=operator,
        AlarmActions=["arn:aws:sns:us-west-2:123456789012:alerts"],
    )


BASE: Template = {
    "Resources": {
        "Count": function(CODE, Environment={"Variables": {"NAMESPACE": "Team/Nodes"}}),
        "CountLogs": resource("AWS::Logs::LogGroup", LogGroupName={"Fn::Sub": "/aws/lambda/${Count}"}, RetentionInDays=7),
        "Often": resource("AWS::Events::Rule", ScheduleExpression="rate(5 minutes)", Targets=[{"Id": "a", "Arn": att("Count")}]),
        "MayCount": resource(
            "AWS::Lambda::Permission",
            FunctionName={"Ref": "Count"},
            Action="lambda:InvokeFunction",
            Principal="events.amazonaws.com",
            SourceArn=att("Often"),
        ),
        "Few": alarm("Team/Nodes", "NodeCount", ("Cluster", "a")),
        "Slow": resource(
            "AWS::CloudWatch::Alarm",
            Metrics=[
                {
                    "Id": "time",
                    "ReturnData": False,
                    "MetricStat": {
                        "Metric": {
                            "Namespace": "AWS/Lambda",
                            "MetricName": "Duration",
                            "Dimensions": [{"Name": "FunctionName", "Value": {"Ref": "Count"}}],
                        },
                        "Period": 300,
                        "Stat": "Maximum",
                    },
                },
                {"Id": "seconds", "Expression": "time / 1000"},
            ],
            EvaluationPeriods=1,
            Threshold=2,
            ComparisonOperator="GreaterThanThreshold",
        ),
        "Store": {
            "Type": "AWS::FSx::FileSystem",
            **KEPT,
            "Properties": {"FileSystemType": "LUSTRE", "StorageCapacity": 1200, "SubnetIds": ["subnet-1"]},
        },
        "Full": alarm("AWS/FSx", "FreeDataStorageCapacity", ("FileSystemId", {"Ref": "Store"}), threshold=100 << 30),
        "Served": resource(
            "AWS::SageMaker::EndpointConfig",
            ProductionVariants=[
                {"VariantName": "main", "ModelName": "m", "InstanceType": "ml.m5.xlarge", "InitialInstanceCount": 1}
            ],
        ),
        "Ranker": resource(
            "AWS::SageMaker::Endpoint", EndpointName="ranker", EndpointConfigName=att("Served", "EndpointConfigName")
        ),
        "Failing": {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                **alarm(
                    *("AWS/SageMaker", "Invocation5XXErrors"),
                    *(("EndpointName", "ranker"), ("VariantName", "main")),
                    operator="GreaterThanThreshold",
                )["Properties"],
                "Statistic": "Sum",
            },
        },
    }
}
MISTAKES: list[tuple[str, Any, str]] = [
    ("Few/Namespace", "Team/Node", "Count writes NodeCount into Team/Nodes"),
    ("Few/Namespace", "AWS/Lambda", "Count writes NodeCount into Team/Nodes, and the alarm asks for it in AWS/Lambda"),
    ("Few/MetricName", "NodesCount", "nothing writes NodesCount into Team/Nodes"),
    ("Few/Dimensions", REMOVED, "Count writes the metric with Cluster"),
    ("Often/State", "DISABLED", "Often is off, and never calls its targets"),
    ("Few/Period", 60, "Count writes a value each 300 seconds, and the alarm asks for one each 60"),
    ("Failing/ComparisonOperator", "LessThanThreshold", "counts what goes wrong: the alarm rings while it is less"),
    ("Failing/Statistic", "Average", "is 1 or 0 for each call: the statistic Average is never above 4"),
    ("Failing/Dimensions", [{"Name": "EndpointName", "Value": "ranker"}], "for EndpointName and VariantName"),
    ("Failing/Dimensions/0/Value", "Ranker", "the logical id of a resource"),
    ("Failing/MetricName", "CPUUtilization", "has no metric CPUUtilization, which is in"),
    ("CountLogs/LogGroupName", "/aws/lambda/team-count", "Count writes to /aws/lambda/${Count}"),
    ("Full/ComparisonOperator", "GreaterThanThreshold", "the alarm rings while more than"),
    ("Slow/Threshold", 2000, "Duration of Count is never above 2e+06, as its Timeout is 3"),
    ("Failing/Namespace", "/aws/sagemaker/Endpoints", "has no metric Invocation5XXErrors, which is in AWS/SageMaker"),
    ("Failing/Dimensions/1/Value", "AllTraffic", "which Served does not have"),
]


@pytest.mark.parametrize(("path", "value", "message"), MISTAKES)
def test_what_watches_names_what_is_written(path: str, value: Any, message: str) -> None:
    found = findings(edited(BASE, {path: value}), rules="HP-TXT")
    assert [message in one.message for one in found] == [True], found


OTHERS = {
    "Often/State": "ENABLED",
    "Few/Namespace": {"Ref": "AWS::StackName"},
    "CountLogs/LogGroupName": "/aws/lambda/other",
    "Count/Environment": {"Variables": {"NAMESPACE": {"Ref": "AWS::StackName"}}},
    "Count/LoggingConfig": {"LogGroup": "team"},
    "Full/Threshold": 1100 << 30,
    "Few/TreatMissingData": "missing",
    "Failing/Dimensions/0/Value": att("Ranker", "EndpointName"),
    "Failing/Dimensions": [{"Name": "EndpointName", "Value": "other"}, {"Name": "VariantName", "Value": "AllTraffic"}],
}


@pytest.mark.parametrize("path", OTHERS)
def test_what_is_right_or_not_known_is_no_mistake(path: str) -> None:
    assert findings(edited(BASE, {path: OTHERS[path]}), rules="HP-TXT") == []


def test_a_function_that_another_also_calls_is_not_off() -> None:
    another = resource("AWS::Lambda::EventSourceMapping", FunctionName={"Ref": "Count"}, EventSourceArn="arn:aws:sqs:a:1:b")
    assert findings(edited(BASE, {"Often/State": "DISABLED", "Another": another}), rules="HP-TXT-011") == []


@pytest.mark.parametrize(
    ("changes", "rings"),
    [
        ({}, True),
        ({"Often/State": "ENABLED"}, False),
        ({"Few/TreatMissingData": "missing"}, False),
        ({"Failed/EventPattern": REMOVED, "Failed/ScheduleExpression": "rate(1 minute)"}, False),
        ({"Handed/FunctionName": {"Ref": "Count"}}, False),
    ],
)
def test_an_alarm_misses_values_that_the_clock_had_written(changes: dict[str, Any], rings: bool) -> None:
    parts = {
        "Often/State": "DISABLED",
        "Jobs": resource("AWS::SQS::Queue", VisibilityTimeout=300),
        "MaySend": may_send(),
        "Failed": resource(
            "AWS::Events::Rule", EventPattern={"source": ["aws.sagemaker"]}, Targets=[{"Id": "a", "Arn": att("Jobs")}]
        ),
        "FromJobs": resource("AWS::Lambda::EventSourceMapping", FunctionName={"Ref": "Count"}, EventSourceArn=att("Jobs")),
        "Handed": resource("AWS::Lambda::Url", TargetFunctionArn="other", AuthType="AWS_IAM"),
    }
    found = findings(edited(edited(BASE, parts), changes), rules="HP-TXT-011")
    assert any("Often, which has Count write the metric, is off" in one.message for one in found) is rings


@pytest.mark.parametrize(
    ("written", "asked", "wrong"),
    [
        (att("Train", "ClusterArn"), "lab", True),
        (att("Train", "ClusterArn"), {"Ref": "Train"}, False),
        ("lab", "lab", False),
        (att("Train", "ClusterArn"), att("Train", "ClusterArn"), False),
    ],
)
def test_a_dimension_is_the_name_or_the_arn_for_both(written: Any, asked: Any, wrong: bool) -> None:
    changes = {
        "Train": resource("AWS::SageMaker::Cluster", ClusterName="lab"),
        "Count/Code/ZipFile": CODE.replace('"Value": "a"', '"Value": os.environ["CLUSTER"]'),
        "Count/Environment/Variables/CLUSTER": written,
        "Few/Dimensions": [{"Name": "Cluster", "Value": asked}],
    }
    found = findings(edited(BASE, changes), rules="HP-TXT-011")
    assert any("Count writes the metric with Cluster '${Train.ClusterArn}'" in one.message for one in found) is wrong


@pytest.mark.parametrize(
    ("service", "says"),
    [("scheduler", ["rings between two values"]), ("lambda", [])],
)
def test_the_role_of_a_schedule_calls_nothing_else(service: str, says: list[str]) -> None:
    trust = {"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}
    may = {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": att("Count")}
    policies = [{"PolicyName": "call", "PolicyDocument": {"Version": "2012-10-17", "Statement": [may]}}]
    assumed = {"Version": "2012-10-17", "Statement": [trust]}
    target = {"Arn": att("Count"), "RoleArn": att("Clock")}
    changes = {
        "Often": resource("AWS::Scheduler::Schedule", ScheduleExpression="rate(6 hours)", Target=target),
        "Clock": resource("AWS::IAM::Role", AssumeRolePolicyDocument=assumed, Policies=policies),
        "MayCount": REMOVED,
        "Few/EvaluationPeriods": 2,
        "Few/DatapointsToAlarm": REMOVED,
    }
    found = findings(edited(BASE, changes), rules="HP-TXT-011")
    assert [one.message.rpartition(": it ")[2] for one in found if one.resource == "Few"] == says


@pytest.mark.parametrize(
    ("rate", "says"),
    [
        ("rate(5 minutes)", None),
        ("rate(30 minutes)", "rings between two values"),
        ("rate(6 hours)", "rings between two values"),
    ],
)
def test_a_function_writes_more_seldom_than_an_alarm_looks(rate: str, says: str | None) -> None:
    changes = {"Often/ScheduleExpression": rate, "Few/EvaluationPeriods": 2, "Few/DatapointsToAlarm": REMOVED}
    found = findings(edited(BASE, changes), rules="HP-TXT-011")
    assert [one.message.rpartition(": it ")[2] for one in found if one.resource == "Few"] == [says] * (says is not None)


READ: Template = edited(
    BASE,
    {
        "Lines": resource("AWS::Logs::LogGroup", RetentionInDays=7),
        "Count/LoggingConfig": {"LogGroup": {"Ref": "Lines"}, "LogFormat": "JSON"},
        "Errors": resource(
            "AWS::Logs::MetricFilter",
            LogGroupName={"Ref": "Lines"},
            FilterPattern='{ $.level = "ERROR" }',
            MetricTransformations=[
                {"MetricNamespace": "Team/Lines", "MetricName": "Errors", "MetricValue": "1", "DefaultValue": 0}
            ],
        ),
        "Many": resource(
            "AWS::CloudWatch::Alarm",
            Namespace="Team/Lines",
            MetricName="Errors",
            Statistic="Sum",
            Period=300,
            EvaluationPeriods=1,
            Threshold=5,
            ComparisonOperator="GreaterThanThreshold",
        ),
        "Both": resource(
            "AWS::CloudWatch::CompositeAlarm", AlarmRule={"Fn::Sub": 'ALARM("${Many}") AND OK("${Few}")'}, AlarmName="both"
        ),
    },
)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("Many/Threshold", 6, []),
        ("Many/Statistic", "Maximum", [("Many", "writes values of at most 1")]),
        ("Many/Statistic", "SampleCount", [("Many", "which SampleCount counts")]),
        ("Many/Period", 10, [("Many", "writes a value each minute")]),
        ("Many/Unit", "Count", [("Many", "with the unit None, and the alarm asks for Count")]),
        ("Many/Unit", "None", []),
        ("Count/LoggingConfig/ApplicationLogLevel", "INFO", []),
        ("Count/LoggingConfig/ApplicationLogLevel", "FATAL", [("Count", "writes lines of FATAL and above")]),
        ("Both/AlarmRule", {"Fn::Sub": 'ALARM("${Many}") AND OK("${Many}")'}, [("Both", "never true")]),
        ("Both/AlarmRule", {"Fn::Sub": 'ALARM("${Many}") OR OK("${Many}")'}, []),
        ("Both/AlarmRule", {"Fn::Sub": 'ALARM("${Many}") AND NOT OK("${Many}")'}, []),
    ],
)
def test_what_reads_lines_and_values(path: str, value: Any, expected: list[tuple[str, str]]) -> None:
    found = findings(edited(READ, {path: value}), rules="HP-TXT")
    assert [one.resource for one in found] == [name for name, _ in expected], found
    assert all(words in one.message for one, (_, words) in zip(found, expected, strict=True)), found


@pytest.mark.parametrize(
    ("namespace", "role", "expected"),
    [
        ("Team/Nodes", "Team/Nodes", []),
        ("Team/Others", "Team/Nodes", [("HP-TXT-011", "Few")]),
        ("Team/Nodes", "Team/Others", [("HP-PERM-002", "Writer")]),
    ],
)
def test_one_wrong_namespace_is_one_finding(namespace: str, role: str, expected: list[tuple[str, str]]) -> None:
    allowed = {"Effect": "Allow", "Action": "cloudwatch:PutMetricData", "Resource": "*"}
    condition = {"StringEquals": {"cloudwatch:namespace": role}}
    lines = {"Effect": "Allow", "Action": "logs:*", "Resource": "*"}
    nodes = {"Effect": "Allow", "Action": "sagemaker:ListClusterNodes", "Resource": "*"}
    document = {"Version": "2012-10-17", "Statement": [{**allowed, "Condition": condition}, lines, nodes]}
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    writer = resource(
        "AWS::IAM::Role",
        AssumeRolePolicyDocument={"Version": "2012-10-17", "Statement": [trust]},
        Policies=[{"PolicyName": "write", "PolicyDocument": document}],
    )
    changes = {"Writer": writer, "Count/Role": att("Writer"), "Count/Environment/Variables/NAMESPACE": namespace}
    found = findings(edited(BASE, changes))
    assert [(one.rule, one.resource) for one in found if one.rule.startswith(("HP-TXT", "HP-PERM"))] == expected


@pytest.mark.parametrize(
    ("rule", "calls", "expected"),
    [
        ('ALARM("team-errors-are-many")', [], ["Both"]),
        ('ALARM("team-errors-are-many")', ["arn:aws:sns:us-west-2:123456789012:alerts"], []),
        ('ALARM("team-errors-are-many") OR ALARM("${Many}")', [], []),
        ('ALARM("team-other")', [], []),
    ],
)
def test_a_rule_names_the_alarm_that_is_there_for_it(rule: str, calls: list[str], expected: list[str]) -> None:
    changes = {"Many/AlarmName": "team-errors-many", "Many/AlarmActions": calls, "Both/AlarmRule": {"Fn::Sub": rule}}
    assert [one.resource for one in findings(edited(READ, changes), rules="HP-TXT")] == expected


@pytest.mark.parametrize(
    ("level", "asked", "dropped"),
    [("INFO", "DEBUG", False), ("WARN", "DEBUG", True), ("WARN", "INFO", True), ("WARN", "WARN", False)],
)
def test_a_line_without_a_time_is_written_as_information(level: str, asked: str, dropped: bool) -> None:
    changes = {"Count/LoggingConfig/ApplicationLogLevel": level, "Errors/FilterPattern": f'{{ $.level = "{asked}" }}'}
    assert [one.resource for one in findings(edited(READ, changes), rules="HP-TXT")] == ["Count"] * dropped


ON = [{"Type": "api"}, {"Type": "audit"}]
CONTROL = edited(
    eks(),
    {
        "Control/Name": "research",
        "Control/Logging": {"ClusterLogging": {"EnabledTypes": ON}},
        "ControlLogs": resource("AWS::Logs::LogGroup", LogGroupName="/aws/eks/research/cluster", RetentionInDays=7),
        "Refused": resource(
            "AWS::Logs::MetricFilter",
            LogGroupName={"Ref": "ControlLogs"},
            FilterPattern="{ $.responseStatus.code = 403 }",
            MetricTransformations=[{"MetricNamespace": "Team", "MetricName": "Refused", "MetricValue": "1"}],
        ),
    },
)
CONTROL["Resources"]["Control"]["DependsOn"] = [*CONTROL["Resources"]["Control"].get("DependsOn", []), "ControlLogs"]


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("ControlLogs/RetentionInDays", 30, []),
        ("Control/Logging/ClusterLogging/EnabledTypes", [{"Type": "api"}], ["Refused"]),
        ("Control/Logging", REMOVED, ["Refused"]),
        ("Refused/FilterPattern", "ERROR", []),
        ("ControlLogs/LogGroupName", "/aws/eks/research/control", ["ControlLogs"]),
        ("ControlLogs/LogGroupName", "/aws/eks/other/cluster", ["ControlLogs"]),
    ],
)
def test_the_logs_of_a_control_plane(path: str, value: Any, expected: list[str]) -> None:
    assert [one.resource for one in findings(edited(CONTROL, {path: value}), rules="HP-TXT")] == expected


AS_TEXT = "/aws/eks/research/cluster"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"Control/Logging/ClusterLogging/EnabledTypes": [{"Type": "api"}]}, ["Refused"]),
        ({"ControlLogs/LogGroupClass": "INFREQUENT_ACCESS"}, ["ControlLogs"]),
        ({"Refused/LogGroupName": "/aws/eks/research/control"}, ["Refused"]),
        ({"Refused/LogGroupName": "/aws/eks/research/control", "Refused/FilterPattern": "ERROR"}, []),
        ({"Refused/LogGroupName": "/aws/eks/research-2/cluster"}, ["Refused"]),
    ],
)
def test_a_group_that_a_filter_names_as_text(changes: dict[str, Any], expected: list[str]) -> None:
    named = edited(CONTROL, {"Refused/LogGroupName": AS_TEXT, **changes})
    assert [one.resource for one in findings(named, rules="HP-TXT")] == expected


@pytest.mark.parametrize(("depends", "expected"), [("CountLogs", ["CountLogs"]), ("Nothing", [])])
def test_a_group_in_the_depends_on_of_a_function_is_meant_for_it(depends: str, expected: list[str]) -> None:
    template = edited(BASE, {"Count/FunctionName": "count", "CountLogs/LogGroupName": "/aws/lambda/team-nodes"})
    template["Resources"]["Count"]["DependsOn"] = [depends]
    assert [one.resource for one in findings(template, rules="HP-TXT") if one.resource == "CountLogs"] == expected
    unknown = {"Count/FunctionName": {"Ref": "Name"}}
    named = {**edited(template, unknown), "Parameters": {"Name": {"Type": "String"}}}
    assert [one.resource for one in findings(named, rules="HP-TXT") if one.resource == "CountLogs"] == []
    logging = edited(template, {"Count/LoggingConfig": {"LogGroup": "/team/count"}})
    assert [one.resource for one in findings(logging, rules="HP-TXT") if one.resource == "CountLogs"] == []


HEARD: Template = edited(
    BASE,
    {
        "Bell": resource("AWS::SNS::Topic"),
        "BellPolicy": resource(
            "AWS::SNS::TopicPolicy",
            Topics=[{"Ref": "Bell"}],
            PolicyDocument={
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "events.amazonaws.com"},
                        "Action": "sns:Publish",
                        "Resource": {"Ref": "Bell"},
                    }
                ],
            },
        ),
        "Mail": resource("AWS::SNS::Subscription", TopicArn={"Ref": "Bell"}, Protocol="email", Endpoint="a@example.com"),
        "Faults": resource(
            "AWS::Events::Rule", EventPattern={"source": ["aws.sagemaker"]}, Targets=[{"Id": "a", "Arn": {"Ref": "Bell"}}]
        ),
        "Apart": resource("AWS::Events::EventBus", Name="apart"),
        "History": resource("AWS::Events::Archive", SourceArn=att("Apart")),
        "Own": resource(
            "AWS::Events::Rule",
            EventBusName={"Ref": "Apart"},
            EventPattern={"source": ["team.jobs"]},
            Targets=[{"Id": "a", "Arn": {"Ref": "Bell"}}],
        ),
        "Lost": resource("AWS::SQS::Queue", MessageRetentionPeriod=1_209_600),
        "Jobs": resource(
            "AWS::SQS::Queue", RedrivePolicy={"deadLetterTargetArn": att("Lost"), "maxReceiveCount": 5}, VisibilityTimeout=60
        ),
        "Failed": resource(
            "AWS::CloudWatch::Alarm",
            Namespace="AWS/SQS",
            MetricName="ApproximateNumberOfMessagesVisible",
            Dimensions=[{"Name": "QueueName", "Value": att("Lost", "QueueName")}],
            Statistic="Maximum",
            Period=300,
            EvaluationPeriods=1,
            Threshold=0,
            ComparisonOperator="GreaterThanThreshold",
        ),
        "Spending": resource(
            "AWS::Budgets::Budget",
            Budget={"BudgetType": "COST", "TimeUnit": "MONTHLY", "BudgetLimit": {"Amount": 90_000, "Unit": "USD"}},
            NotificationsWithSubscribers=[
                {
                    "Notification": {
                        "NotificationType": "ACTUAL",
                        "ComparisonOperator": "GREATER_THAN",
                        "Threshold": 90,
                        "ThresholdType": "PERCENTAGE",
                    },
                    "Subscribers": [{"SubscriptionType": "EMAIL", "Address": "a@example.com"}],
                }
            ],
        ),
    },
)
NOTIFICATION = "Spending/NotificationsWithSubscribers/0/Notification"


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("Mail/FilterPolicyScope", "MessageBody", []),
        ("Mail/FilterPolicy", {"severity": ["high"]}, ["Mail"]),
        ("Mail/FilterPolicy", {"severity": [{"exists": False}]}, []),
        ("Faults/EventBusName", {"Ref": "Apart"}, ["Faults"]),
        ("Faults/EventBusName", "default", []),
        ("Faults/State", "DISABLED", ["Faults"]),
        ("Failed/MetricName", "NumberOfMessagesSent", ["Failed"]),
        (f"{NOTIFICATION}/ComparisonOperator", "LESS_THAN", ["Spending"]),
        (f"{NOTIFICATION}/ThresholdType", "ABSOLUTE_VALUE", ["Spending"]),
        (f"{NOTIFICATION}/Threshold", 80_000, ["Spending"]),
        (f"{NOTIFICATION}/Threshold", 150, []),
        ("Spending/Budget/BudgetType", "RI_UTILIZATION", []),
    ],
)
def test_who_is_told(path: str, value: Any, expected: list[str]) -> None:
    assert [one.resource for one in findings(edited(HEARD, {path: value}), rules="HP-TXT")] == expected


def test_fails_rollback_alarm_that_is_not_the_awaited_one() -> None:
    template = edited(
        BASE,
        {
            "Failing/AlarmName": "ranker-errors",
            "Ranker/DeploymentConfig": {"AutoRollbackConfiguration": {"Alarms": [{"AlarmName": "ranker-5xx"}]}},
        },
    )
    assert findings(template, rules="HP-TXT") == []
    template["Resources"]["Ranker"]["DependsOn"] = "Failing"
    assert [one.resource for one in findings(template, rules="HP-TXT")] == ["Ranker"]


@pytest.mark.parametrize(("id", "expected"), [("band", []), ("calls", ["calls is no band of expected values"])])
def test_a_threshold_of_expected_values_is_a_band(id: str, expected: list[str]) -> None:
    metric = {"Namespace": "AWS/Lambda", "MetricName": "Invocations", "Dimensions": [{"Name": "FunctionName", "Value": "f"}]}
    calls = {"Id": "calls", "MetricStat": {"Metric": metric, "Period": 300, "Stat": "Sum"}}
    alarm = resource(
        "AWS::CloudWatch::Alarm",
        Metrics=[calls, {"Id": "band", "Expression": "ANOMALY_DETECTION_BAND(calls, 2)"}],
        ThresholdMetricId=id,
        EvaluationPeriods=3,
        ComparisonOperator="GreaterThanUpperThreshold",
        AlarmActions=["arn:aws:sns:us-west-2:123456789012:alerts"],
    )
    assert [one.message for one in findings({"Resources": {"Unusual": alarm}}, rules="HP-TXT")] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fields @timestamp, @message | filter @message like /a|order b/ | sort @timestamp desc | limit 20", []),
        ("SOURCE '/team/lines' | stats count(*) as n by bin(5m)", []),
        ("fields @message | order by @timestamp desc", ["Logs Insights has no command order"]),
        ("fields @message | filtr level = 'ERROR'", ["Logs Insights has no command filtr; the nearest is filter"]),
        ("SELECT * FROM lines", ["Logs Insights has no command SELECT"]),
    ],
)
def test_a_query_has_commands_of_its_language(text: str, expected: list[str]) -> None:
    widget = {"type": "log", "properties": {"region": "us-west-2", "query": text}}
    template: Template = {
        "Resources": {
            "Question": resource("AWS::Logs::QueryDefinition", Name="errors", QueryString=text),
            "Board": resource("AWS::CloudWatch::Dashboard", DashboardBody=json.dumps({"widgets": [widget]})),
        }
    }
    found = [one.message for one in findings(template, rules="HP-TXT")]
    assert len(found) == 2 * len(expected)
    assert all(one.startswith(expected[0]) for one in found)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("EmailAddress", []), ("Email", ["EmailAddress"]), ("PhoneNumber-USA", ["PhoneNumber-US"]), ("SomethingNew", [])],
)
def test_what_a_policy_finds_is_known_by_its_name(name: str, expected: list[str]) -> None:
    identifiers = [f"arn:aws:dataprotection::aws:data-identifier/{name}"]
    statements = [
        {"Sid": "audit", "DataIdentifier": identifiers, "Operation": {"Audit": {"FindingsDestination": {}}}},
        {"Sid": "mask", "DataIdentifier": identifiers, "Operation": {"Deidentify": {"MaskConfig": {}}}},
    ]
    policy = {"Name": "lines", "Version": "2021-06-01", "Statement": statements}
    template: Template = {"Resources": {"Lines": resource("AWS::Logs::LogGroup", RetentionInDays=7, DataProtectionPolicy=policy)}}
    found = [one.message.rpartition(" ")[2] for one in findings(template, rules="HP-TXT")]
    assert found == expected


def test_fails_mask_of_other_data_than_those_that_are_audited() -> None:
    of = [[f"arn:aws:dataprotection::aws:data-identifier/{name}"] for name in ("EmailAddress", "IpAddress")]
    statements = [
        {"DataIdentifier": of[0], "Operation": {"Audit": {"FindingsDestination": {}}}},
        {"DataIdentifier": of[1], "Operation": {"Deidentify": {"MaskConfig": {}}}},
    ]
    policy = {"Name": "lines", "Version": "2021-06-01", "Statement": statements}
    lines = resource("AWS::Logs::LogGroup", RetentionInDays=7, DataProtectionPolicy=policy)
    (found,) = findings({"Resources": {"Lines": lines}}, rules="HP-TXT")
    assert "has other identifiers than the one that audits" in found.message


def test_a_wrong_namespace_in_code_is_one_finding() -> None:
    code = CODE.replace('os.environ["NAMESPACE"]', '"Team/Nodes"').replace("import os\n", "")
    two = edited(
        BASE,
        {"Count/Code/ZipFile": code, "Count/Environment": REMOVED, "Fewer": alarm("Team/Nodes", "NodeCount", ("Cluster", "a"))},
    )
    assert findings(two, rules="HP-TXT") == []
    found = findings(edited(two, {"Count/Code/ZipFile": code.replace("Team/Nodes", "Team/Others")}))
    assert [one.message for one in found if one.rule.startswith("HP-TXT")] == [
        "Count writes NodeCount into Team/Others, and the alarm asks for it in Team/Nodes"
    ]


def used_of_size(operator: str, threshold: float, used: str = "UsedStorageCapacity") -> Template:
    def stat(name: str) -> dict[str, Any]:
        metric = {"Namespace": "AWS/FSx", "MetricName": name, "Dimensions": [{"Name": "FileSystemId", "Value": "fs-1"}]}
        return {"Metric": metric, "Stat": "Sum", "Period": 300}

    metrics = [
        {"Id": "full", "Expression": "100 * used / size"},
        {"Id": "used", "ReturnData": False, "MetricStat": stat(used)},
        {"Id": "size", "ReturnData": False, "MetricStat": stat("StorageCapacity")},
    ]
    asked = {"ComparisonOperator": operator, "Threshold": threshold, "EvaluationPeriods": 1}
    return resource("AWS::CloudWatch::Alarm", Metrics=metrics, AlarmActions=["arn:aws:sns:us-west-2:123456789012:alerts"], **asked)


LESS, MORE, STORE = "LessThanThreshold", "GreaterThanThreshold", ("FileSystemId", "fs-1")


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (alarm("AWS/FSx", "StorageCapacityUtilization", STORE, threshold=85), "little StorageCapacityUtilization is good"),
        (alarm("AWS/FSx", "StorageCapacityUtilization", STORE, threshold=85, operator=MORE), None),
        (alarm("AWS/SQS", "ApproximateAgeOfOldestMessage", ("QueueName", "q"), threshold=900), "little ApproximateAgeOf"),
        (
            alarm("AWS/RDS", "FreeableMemory", ("DBInstanceIdentifier", "d"), threshold=1 << 30, operator=MORE),
            "much FreeableMemory",
        ),
        (alarm("AWS/RDS", "BurstBalance", ("DBInstanceIdentifier", "d"), threshold=20), None),
        (alarm("Team/Nodes", "DroppedJobs", threshold=5), "DroppedJobs counts what goes wrong"),
        (alarm("Team/Nodes", "ErrorFreeRuns", threshold=5), None),
        (alarm("Team/Nodes", "Runs", threshold=5), None),
        (
            alarm("AWS/ApplicationELB", "HTTPCode_ELB_5XX_Count", ("LoadBalancer", "app/a/b"), threshold=20, operator=MORE),
            "is 1 or 0",
        ),
        (used_of_size(LESS, 85), "little UsedStorageCapacity is good: the alarm rings while it is less than 85"),
        (used_of_size(LESS, 5), None),
        (used_of_size(MORE, 85), None),
    ],
)
def test_an_alarm_is_for_the_bad_side(found: Template, message: str | None) -> None:
    said = [one.message for one in findings({"Resources": {"A": found}}, rules="HP-TXT")]
    assert [message in one for one in said] == [True] if message else said == []


@pytest.mark.parametrize(
    ("user", "lost"),
    [
        (resource("AWS::SQS::Queue", RedrivePolicy={"deadLetterTargetArn": att("Q"), "maxReceiveCount": 3}), True),
        (
            resource(
                "AWS::Events::Rule",
                ScheduleExpression="rate(1 day)",
                Targets=[{"Id": "a", "Arn": "arn:aws:sns:us-west-2:123456789012:a", "DeadLetterConfig": {"Arn": att("Q")}}],
            ),
            True,
        ),
        (resource("AWS::Lambda::EventSourceMapping", EventSourceArn=att("Q"), FunctionName="f"), False),
    ],
)
def test_few_lost_messages_are_good(user: Template, lost: bool) -> None:
    def said(operator: str) -> list[str]:
        few = alarm("AWS/SQS", "ApproximateNumberOfMessagesVisible", ("QueueName", att("Q", "QueueName")), operator=operator)
        template = {"Resources": {"A": few, "Q": resource("AWS::SQS::Queue"), "U": user}}
        return [one.message for one in findings(template, rules="HP-TXT-003")]

    assert said(MORE) == []
    assert [one.startswith("little ApproximateNumberOfMessagesVisible is good") for one in said(LESS)] == ([True] if lost else [])


@pytest.mark.parametrize(("period", "other", "mixed"), [(300, "Average", True), (60, "Average", False), (300, "Sum", False)])
def test_a_quotient_is_of_one_statistic(period: int, other: str, mixed: bool) -> None:
    found = used_of_size(MORE, 85)
    for one in found["Properties"]["Metrics"][1:]:
        one["MetricStat"]["Period"] = period
    found["Properties"]["Metrics"][2]["MetricStat"]["Stat"] = other
    said = [one.message for one in findings({"Resources": {"A": found}}, rules="HP-TXT")]
    assert said == (["the expression divides the Sum of UsedStorageCapacity by the Average of StorageCapacity"] if mixed else [])


def test_an_alarm_that_scales_in_is_for_the_good_side() -> None:
    few = alarm("AWS/SQS", "ApproximateAgeOfOldestMessage", ("QueueName", "q"), threshold=9)
    few["Properties"]["AlarmActions"] = [{"Ref": "In"}]
    policy = resource("AWS::ApplicationAutoScaling::ScalingPolicy", PolicyName="in", PolicyType="StepScaling", ScalingTargetId="a")
    assert findings({"Resources": {"A": few, "In": policy}}, rules="HP-TXT-003") == []
