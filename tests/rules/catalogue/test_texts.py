"""Texts in a language of their own: each mistake is one finding at its property, and correct texts have none."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.analysis.texts import places, subjects
from hyperpod_constructs.facts.texts import LANGUAGES, Language
from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import findings, rules_of
from tests.rules.catalogue.text_bases import (
    ALERTS,
    ARN,
    BASES,
    HANDLER,
    NODE,
    ROLE,
    RULES,
    SCRAPES,
    att,
    function,
    metric_filter,
    record,
    resource,
)

LINES = "arn:aws:logs:us-west-2:123456789012:log-group:/jobs"
TOPIC, QUEUE = {"Ref": "Topic"}, {"Ref": "Queue"}
CRON, RATE, PATTERN = "Daily/ScheduleExpression", "Often/ScheduleExpression", "Events/EventPattern"
DETAIL = f"{PATTERN}/detail"
BOARD = json.loads(BASES["alarms"]["Resources"]["Board"]["Properties"]["DashboardBody"])
MACHINE = json.loads(BASES["documents"]["Resources"]["Machine"]["Properties"]["DefinitionString"])
POLICY = json.loads(BASES["documents"]["Resources"]["LogPolicy"]["Properties"]["PolicyDocument"])
IMAGES = json.loads(BASES["documents"]["Resources"]["Images"]["Properties"]["LifecyclePolicy"]["LifecyclePolicyText"])
COMMAND = BASES["documents"]["Resources"]["Command"]["Properties"]["Content"]
IMAGE_TEXT = "Images/LifecyclePolicy/LifecyclePolicyText"
INPUTS = "Session/Content/inputs"


def changed(data: Any, path: str, value: Any) -> str:
    """JSON with another value at a path."""
    copy = json.loads(json.dumps(data))
    *parents, last = [int(key) if key.isdecimal() else key for key in path.split("/")]
    place = copy
    for key in parents:
        place = place[key]
    if value is REMOVED:
        del place[last]
    else:
        place[last] = value
    return json.dumps(copy)


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


MISTAKES: list[tuple[str, str, str, Any, str]] = [
    # Schedules
    ("schedules", "HP-TXT-001", CRON, "cron(0 10 * * *)", "has 5 fields, not six; write cron(0 10 * * ? *)"),
    ("schedules", "HP-TXT-001", CRON, "cron(0 10 * * * *)", "neither is '?'"),
    ("schedules", "HP-TXT-001", CRON, "cron(0 10 ? * ? *)", "both are '?'"),
    ("schedules", "HP-TXT-011", CRON, "cron(0 3 30 2 ? *)", "no day of month 30 is in the month 2: the schedule never comes"),
    ("schedules", "HP-TXT-011", CRON, "cron(0 3 31 APR,06 ? *)", "no day of month 31 is in the month APR,06"),
    ("schedules", "HP-TXT-011", "Scaling/Recurrence", "0 8 31 11 *", "no day of month 31 is in the month 11"),
    ("schedules", "HP-TXT-001", CRON, "cron(60 10 * * ? *)", "field 1 of the cron, minutes, has '60'"),
    ("schedules", "HP-TXT-001", CRON, "cron(0 24 * * ? *)", "field 2 of the cron, hours, has '24'"),
    ("schedules", "HP-TXT-001", CRON, "cron(0 10 32 * ? *)", "day of month, has '32'"),
    ("schedules", "HP-TXT-001", CRON, "cron(0 10 ? JUNE MON *)", "month, has 'JUNE'"),
    ("schedules", "HP-TXT-001", CRON, "cron(0 10 ? * 0 *)", "day of week, has '0'"),
    ("schedules", "HP-TXT-001", CRON, "cron(0/0 10 * * ? *)", "minutes, has '0/0'"),
    ("schedules", "HP-TXT-001", CRON, {"Fn::Sub": "cron(0 25 * * ? ${AWS::Region})"}, "hours, has '25'"),
    ("schedules", "HP-TXT-001", CRON, "0 10 * * *", "write cron(0 10 * * ? *)"),
    ("schedules", "HP-TXT-001", CRON, "every day", "the schedule 'every day' is none"),
    ("schedules", "HP-TXT-001", CRON, "at(2027-01-01T00:00:00)", "of the kind 'at', which is not taken here"),
    ("schedules", "HP-TXT-001", RATE, "rate(1 minutes)", "write rate(1 minute)"),
    ("schedules", "HP-TXT-001", RATE, "rate(5 minute)", "write rate(5 minutes)"),
    ("schedules", "HP-TXT-001", RATE, "rate(30 seconds)", "is no rate"),
    ("schedules", "HP-TXT-001", RATE, "rate(0 minutes)", "never comes"),
    ("schedules", "HP-TXT-001", "Once/ScheduleExpression", "at(2027-11-20 13:00)", "is no time"),
    ("schedules", "HP-TXT-001", "Once/ScheduleExpression", "at(2027-02-30T13:00:00)", "is no time"),
    ("schedules", "HP-TXT-001", "Once/ScheduleExpressionTimezone", "Europe/Berln", "the nearest is Europe/Berlin"),
    ("schedules", "HP-TXT-001", "Once/ScheduleExpressionTimezone", "PST", "the nearest is America/Los_Angeles"),
    ("schedules", "HP-TXT-001", "Once/FlexibleTimeWindow/MaximumWindowInMinutes", REMOVED, "has no MaximumWindowInMinutes"),
    ("schedules", "HP-TXT-001", "Once/FlexibleTimeWindow/Mode", "OFF", "that is OFF has MaximumWindowInMinutes"),
    ("schedules", "HP-TXT-001", "Once/EndDate", "2026-11-30T00:00:00Z", "ends before it starts"),
    ("schedules", "HP-TXT-001", "Probe/RunConfig/TimeoutInSeconds", 301, "begins each 300 seconds"),
    ("schedules", "HP-TXT-001", "Probe/Schedule/Expression", "rate(4 minutes)", "begins each 240 seconds"),
    ("schedules", "HP-TXT-001", "Plan/BackupPlan/BackupPlanRule/0/ScheduleExpression", "rate(1 day)", "of the kind 'rate'"),
    ("schedules", "HP-TXT-001", "Plan/BackupPlan/BackupPlanRule/0/StartWindowMinutes", 30, "30 minutes"),
    ("schedules", "HP-TXT-001", "Plan/BackupPlan/BackupPlanRule/0/CompletionWindowMinutes", 60, "to complete has 60"),
    ("schedules", "HP-TXT-001", "Plan/BackupPlan/BackupPlanRule/0/Lifecycle/DeleteAfterDays", 60, "deleted after 60"),
    ("schedules", "HP-TXT-001", "Rotation/RotationRules/ScheduleExpression", "rate(2 hours)", "is too often"),
    ("schedules", "HP-TXT-001", "Rotation/RotationRules/ScheduleExpression", "rate(90 minutes)", "is no rate"),
    ("schedules", "HP-TXT-001", "Rotation/RotationRules/ScheduleExpression", "cron(30 8 1 * ? *)", "the minutes of"),
    ("schedules", "HP-TXT-001", "Rotation/RotationRules/AutomaticallyAfterDays", 30, "exclude each other"),
    ("schedules", "HP-TXT-001", "Rotation/RotationRules/Duration", "3 hours", "the duration '3 hours' is none"),
    ("schedules", "HP-TXT-001", "Scaling/Recurrence", "cron(0 8 * * ? *)", "has 6 fields, not five"),
    ("schedules", "HP-TXT-001", "Window/Schedule", "cron(0 0 16 ? * TUE#6 *)", "'TUE#6'"),
    ("schedules", "HP-TXT-001", "Database/PreferredMaintenanceWindow", "sunday:05:00-sunday:06:00", "is none"),
    ("schedules", "HP-TXT-001", "Database/PreferredMaintenanceWindow", "sun:05:00-sun:05:20", "has 20 minutes"),
    ("schedules", "HP-TXT-001", "Database/PreferredBackupWindow", "3:00-4:00", "is none"),
    ("schedules", "HP-TXT-001", "Database/PreferredBackupWindow", "05:30-06:30", "lies in that of maintenance"),
    # Patterns
    ("patterns", "HP-TXT-002", f"{PATTERN}/source", "aws.sagemaker", "is not a list; write ['aws.sagemaker']"),
    ("patterns", "HP-TXT-002", f"{DETAIL}/ClusterName", [], "has an empty list"),
    ("patterns", "HP-TXT-002", f"{DETAIL}/ClusterName", [["a"]], "a list in its list"),
    ("patterns", "HP-TXT-002", f"{DETAIL}/ClusterName", [{"begins-with": "a"}], "has the operator 'begins-with'"),
    ("patterns", "HP-TXT-002", f"{DETAIL}/ClusterName", [{"prefx": "a"}], "the nearest is prefix"),
    ("patterns", "HP-TXT-002", f"{DETAIL}/ClusterName", [{"prefix": "a", "suffix": "b"}], "has 2 operators"),
    ("patterns", "HP-TXT-002", f"{DETAIL}/ClusterName", {}, "an empty object"),
    ("patterns", "HP-TXT-002", "Operators/EventPattern/detail/c-count", [{"numeric": [">", "many"]}], "numeric of c-count"),
    ("patterns", "HP-TXT-002", "Operators/EventPattern/detail/c-count", [{"numeric": ["=>", 1]}], "numeric of c-count"),
    ("patterns", "HP-TXT-002", "Operators/EventPattern/detail/sourceIPAddress", [{"cidr": "10.0.0.0/33"}], "cidr of"),
    ("patterns", "HP-TXT-002", "Operators/EventPattern/detail/x", [{"exists": "no"}], "exists of x"),
    ("patterns", "HP-TXT-002", "Operators/EventPattern/detail/path", [{"wildcard": "a**b"}], "wildcard of path"),
    ("patterns", "HP-TXT-002", "Operators/EventPattern/detail/$or", [{"a": [1]}], "fewer than two"),
    ("patterns", "HP-TXT-011", f"{PATTERN}/detail_type", ["x"], "no event has a field detail_type; the nearest is detail-type"),
    ("patterns", "HP-TXT-011", f"{PATTERN}/source", ["sagemaker.amazonaws.com"], "write aws.sagemaker"),
    ("patterns", "HP-TXT-011", f"{PATTERN}/source", ["aws.SageMaker"], "write aws.sagemaker"),
    ("patterns", "HP-TXT-011", f"{PATTERN}/source", ["aws.ec2"], "have the source aws.sagemaker"),
    ("patterns", "HP-TXT-011", f"{PATTERN}/detail-type", ["SageMaker HyperPod Cluster Status Change"], "SageMaker has no event"),
    ("patterns", "HP-TXT-011", f"{PATTERN}/resources", ["arn:aws:eks:us-west-2:123456789012:cluster/c"], "do not name"),
    ("patterns", "HP-TXT-011", f"{PATTERN}/resources", ["train"], "do not name 'train'"),
    ("patterns", "HP-TXT-011", "Pushes/EventPattern/detail/repository-name", ["trainer"], "the nearest is trainer-"),
    ("patterns", "HP-TXT-011", f"{PATTERN}/account", ["1234"], "no event comes from the account"),
    ("patterns", "HP-TXT-011", f"{DETAIL}/ClusterArn", ["a"], "ClusterArn of an event is an ARN"),
    ("patterns", "HP-TXT-011", f"{DETAIL}/clusterName", ["a"], "has no field clusterName; the nearest is ClusterName"),
    ("patterns", "HP-TXT-011", f"{DETAIL}/ClusterStatus", ["FAILED"], "ClusterStatus is never 'FAILED'; the nearest is Failed"),
    ("patterns", "HP-TXT-011", "Errors/EventPattern/detail/EventDetails/EventLevel", ["ERROR"], "the nearest is Error"),
    ("patterns", "HP-TXT-011", "Calls/EventPattern/detail/eventSource", ["aws.sagemaker"], "no call has the eventSource"),
    # Alarms
    ("alarms", "HP-TXT-003", "Failed/Period", 90, "the nearest is 120"),
    ("alarms", "HP-TXT-003", "Failed/Period", 45, "the period has 45 seconds"),
    ("alarms", "HP-TXT-003", "Failed/DatapointsToAlarm", 6, "6 of 5 periods"),
    ("alarms", "HP-TXT-003", "Failed/EvaluationPeriods", 1441, "86,460 seconds"),
    ("alarms", "HP-TXT-003", "Slow/EvaluationPeriods", 169, "608,400 seconds"),
    ("alarms", "HP-TXT-003", "Failed/TreatMissingData", "notbreaching", "the nearest is notBreaching"),
    ("alarms", "HP-TXT-003", "Slow/ExtendedStatistic", "p101", "the statistic 'p101' is none"),
    ("alarms", "HP-TXT-003", "Slow/ExtendedStatistic", "Average", "is a Statistic"),
    ("alarms", "HP-TXT-003", "Failed/Dimensions", [{"Name": "A", "Value": "1"}, {"Name": "A", "Value": "2"}], "2 times"),
    ("alarms", "HP-TXT-003", "Share/Metrics/2/Expression", "100 * errors / cals", "names 'cals'"),
    ("alarms", "HP-TXT-003", "Share/Metrics/2/Expression", "IF(calls > 0, errors", "parentheses"),
    ("alarms", "HP-TXT-003", "Share/Metrics/2/Expression", "FIL(errors, 0)", "the nearest is FILL"),
    ("alarms", "HP-TXT-003", "Share/Metrics/2/Expression", "100 errors / calls", "has no operator between 100 and errors"),
    ("alarms", "HP-TXT-003", "Share/Metrics/2/Expression", "SEARCH('{App} Errors', 'Sum', 60)", "no SEARCH"),
    ("alarms", "HP-TXT-003", "Share/Metrics/1/Id", "errors", "two metrics have the id errors"),
    ("alarms", "HP-TXT-003", "Share/Metrics/1/ReturnData", True, "2 metrics return data"),
    ("alarms", "HP-TXT-003", "Share/Metrics/2/ReturnData", False, "no metric returns data"),
    ("alarms", "HP-TXT-003", "Share/Metrics/0/MetricStat/Period", 50, "the period has 50 seconds"),
    ("alarms", "HP-TXT-003", "Share/Metrics/0/MetricStat/Stat", "sum", "the nearest is Sum"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", 'ALARM("failed-nodes") && ALARM(b)', "has '&&'"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", 'ALARM("failed-nodes"', "ends too early"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", 'ALRM("failed-nodes")', "the nearest is ALARM"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", {"Fn::Sub": 'ALARM("${Failed}") OR "${Slow}"'}, "an alarm without a state"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", {"Fn::Sub": "${Slow} AND OK(${Failed})"}, "an alarm without a state"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", {"Ref": "Failed"}, "an alarm without a state"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", "failed-nodes AND other", "which is no word of it"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", "ALARM(failed-node)", "the nearest is failed-nodes"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", {"Fn::Sub": 'ALARM("${Failed}" OR OK("${Slow}")'}, "has 'OR' where ')' is awaited"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", {"Fn::Sub": 'ALARM("${Failed}") OK("a-${Slow}")'}, "has 'OK' where AND"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", "ALARM(both)", "part of its own rule"),
    ("alarms", "HP-TXT-003", "Both/AlarmRule", {"Fn::Sub": 'ALARMED("${Failed}")'}, "the nearest is ALARM"),
    ("alarms", "HP-TXT-003", "Both/.DependsOn", "Slow", "does not await it"),
    ("alarms", "HP-TXT-003", "Board/DashboardBody", "{widgets: []}", "is not JSON"),
    ("alarms", "HP-TXT-003", "Board/DashboardBody", '{"widget": []}', "no list of widgets"),
    ("alarms", "HP-TXT-003", "Board/DashboardBody", changed(BOARD, "widgets/0/type", "metrics"), "the nearest is metric"),
    ("alarms", "HP-TXT-003", "Board/DashboardBody", changed(BOARD, "widgets/0/width", 25), "width of widgets/0 is 25"),
    ("alarms", "HP-TXT-003", "Board/DashboardBody", changed(BOARD, "widgets/0/properties/region", REMOVED), "has no region"),
    ("alarms", "HP-TXT-003", "Board/DashboardBody", changed(BOARD, "widgets/1/properties", {}), "has no markdown"),
    (
        "alarms",
        "HP-TXT-003",
        "Board/DashboardBody",
        changed(BOARD, "widgets/0/properties/view", "timeseries"),
        "the nearest is timeSeries",
    ),
    (
        "alarms",
        "HP-TXT-003",
        "Board/DashboardBody",
        changed(BOARD, "widgets/0/properties/metrics", [["A", "b", "c"]]),
        "without a value",
    ),
    ("alarms", "HP-TXT-010", "Failed/AlarmActions/0", "arn:aws:sqs:us-west-2:123456789012:queue", "is the ARN of a queue"),
    ("alarms", "HP-TXT-011", "Failed/MetricName", "cluster_failed_nodes_count", "the nearest is cluster_failed_node_count"),
    ("alarms", "HP-TXT-011", "Failed/Namespace", "/aws/sagemaker/clusters", "the nearest is /aws/sagemaker/Clusters"),
    # Filters of logs
    ("logs", "HP-TXT-004", "Flows/LogFormat", "${version} ${vpcid}", "has the field vpcid; the nearest is vpc-id"),
    ("logs", "HP-TXT-004", "Flows/LogFormat", "version vpc-id", "has no field"),
    ("logs", "HP-TXT-004", "Flows/LogFormat", "${version} ${srcaddress}", "has the field srcaddress; the nearest is srcaddr"),
    ("logs", "HP-TXT-004", "Terms/FilterPattern", "[ERROR", "does not end with ']'"),
    ("logs", "HP-TXT-004", "Terms/FilterPattern", 'ERROR "exit', "a quote without an end"),
    ("logs", "HP-TXT-004", "Terms/FilterPattern", "ERROR: failed", 'write "ERROR:"'),
    ("logs", "HP-TXT-004", "Json/FilterPattern", '{ $.level == "ERROR" }', "= is written once"),
    ("logs", "HP-TXT-004", "Json/FilterPattern", '{ $.level = "ERROR" AND $.a = 1 }', "write &&"),
    ("logs", "HP-TXT-004", "Json/FilterPattern", '{ level = "ERROR" }', "a field such as $.level is awaited"),
    ("logs", "HP-TXT-004", "Json/FilterPattern", '{ ($.level = "ERROR" }', "')' is awaited|ends too early"),
    ("logs", "HP-TXT-004", "Json/FilterPattern", "{ }", "is empty"),
    ("logs", "HP-TXT-004", "Json/FilterPattern", "{ $.level }", "is awaited|ends too early"),
    ("logs", "HP-TXT-004", "Fields/FilterPattern", "[ip, user id, bytes]", "has the field 'user id'"),
    ("logs", "HP-TXT-004", "Fields/MetricTransformations/0/MetricValue", "$size", "the pattern has no field size"),
    ("logs", "HP-TXT-004", "Terms/MetricTransformations/0/MetricValue", "$.size", "a pattern of terms has no fields"),
    ("logs", "HP-TXT-004", "Levels/MetricTransformations/0/DefaultValue", 0, "exclude each other"),
    ("logs", "HP-TXT-004", "Levels/MetricTransformations/0/Dimensions/0/Value", "level", "begins with \\$"),
    ("logs", "HP-TXT-004", "ToStream/RoleArn", REMOVED, "needs RoleArn"),
    ("logs", "HP-TXT-004", "ToFunction/RoleArn", ROLE, "takes no RoleArn"),
    ("logs", "HP-TXT-004", "ToFunction/Distribution", "Random", "for streams of Kinesis"),
    ("logs", "HP-TXT-010", "ToFunction/DestinationArn", ARN, "is the ARN of a topic"),
    # Code
    ("code", "HP-TXT-011", "Python/Code/ZipFile", HANDLER.replace("context):", "context)"), "no Python: expected ':' at line 6"),
    ("code", "HP-TXT-011", "Python/Handler", "index.lambda_handler", "the code has no lambda_handler"),
    ("code", "HP-TXT-011", "Python/Handler", "app.handler", "in the module 'app'"),
    ("code", "HP-TXT-011", "Python/Code/ZipFile", f"import requests\n{HANDLER}", "line 1 of the code imports requests"),
    ("code", "HP-TXT-011", "Python/Code/ZipFile", NODE, "the code is JavaScript"),
    ("code", "HP-TXT-005", "Node/Code/ZipFile", "def handler(event, context):\n    return 1\n", "the code is Python"),
    ("code", "HP-TXT-011", "Node/Handler", "index.main", "exports no main"),
    ("code", "HP-TXT-005", "Python/Runtime", "java21", "runs on Python and Node.js"),
    ("code", "HP-TXT-005", "Python/Runtime", "python3.7", "makes no more functions"),
    ("code", "HP-TXT-011", "Python/Runtime", "python3.9", "is deprecated since 2025-12-15"),
    ("code", "HP-TXT-005", "Python/Runtime", "python3.5", "no runtime python3.5"),
    # Deliveries
    ("delivery", "HP-TXT-006", "Jobs/RedrivePolicy/deadLetterTargetArn", {"Ref": "Dead"}, "write !GetAtt Dead.Arn"),
    ("delivery", "HP-TXT-006", "Jobs/RedrivePolicy/deadLetterTargetArn", {"Ref": "Alerts"}, "is the ARN of a topic"),
    ("delivery", "HP-TXT-006", "Jobs/RedrivePolicy/deadLetterTargetArn", att("Ordered"), "Ordered is a FIFO queue"),
    ("delivery", "HP-TXT-006", "Jobs/RedrivePolicy/maxReceiveCount", 0, "maxReceiveCount is 0"),
    ("delivery", "HP-TXT-006", "Jobs/RedrivePolicy", {"deadLetterTargetArn": att("Dead")}, "has no maxReceiveCount"),
    ("delivery", "HP-TXT-006", "Jobs/QueueName", "jobs.fifo", "is that of FIFO"),
    ("delivery", "HP-TXT-006", "Alerts/TopicName", "alerts.fifo", "is that of FIFO"),
    ("delivery", "HP-TXT-006", "Mapping/MaximumBatchingWindowInSeconds", REMOVED, "has no MaximumBatchingWindowInSeconds"),
    ("delivery", "HP-TXT-002", "Mapping/FilterCriteria/Filters/0/Pattern", '{"body": "train"}', "body is 'train'"),
    ("delivery", "HP-TXT-010", "Mapping/EventSourceArn", {"Ref": "Jobs"}, "write !GetAtt Jobs.Arn"),
    ("delivery", "HP-TXT-006", "Alerts/Subscription/0/Endpoint", "team", "the endpoint of email is 'team'"),
    ("delivery", "HP-TXT-006", "Alerts/Subscription/0/Protocol", "mail", "no protocol is named mail"),
    ("delivery", "HP-TXT-006", "ToQueue/Endpoint", {"Ref": "Jobs"}, "write !GetAtt Jobs.Arn"),
    ("delivery", "HP-TXT-006", "ToQueue/Protocol", "lambda", "is the ARN of a queue"),
    ("delivery", "HP-TXT-006", "ToQueue/Endpoint", att("Ordered"), "Ordered is a FIFO queue, and Alerts a standard topic"),
    ("delivery", "HP-TXT-011", "ToQueue/RedrivePolicy", {"deadLetterTargetArn": att("Jobs")}, "delivered to Jobs goes to Jobs"),
    ("delivery", "HP-TXT-011", "Rule/Targets/2/DeadLetterConfig/Arn", att("Jobs"), "delivered to Jobs goes to Jobs"),
    ("delivery", "HP-TXT-006", "ToQueue/FilterPolicy/price", [{"number": 1}], "has the operator 'number'"),
    ("delivery", "HP-TXT-006", "ToWorker/RawMessageDelivery", True, "lambda has no raw messages"),
    ("delivery", "HP-TXT-006", "ToWorker/TopicArn", {"Ref": "OrderedTopic"}, "is a FIFO topic"),
    ("delivery", "HP-TXT-006", "ToPage/Endpoint", "http://example.com/hook", "the endpoint of https"),
    ("delivery", "HP-TXT-006", "ToPhone/Endpoint", "call me", "the endpoint of sms"),
    ("delivery", "HP-TXT-006", "Rule/Targets/0/Arn", {"Ref": "Worker"}, "write !GetAtt Worker.Arn"),
    ("delivery", "HP-TXT-006", "Rule/Targets/0/Arn", att("Data"), "is the ARN of a bucket"),
    ("delivery", "HP-TXT-006", "Rule/Targets/0/Arn", "arn:aws:states:us-west-2:123456789012:stateMachine:m", "has no RoleArn"),
    ("delivery", "HP-TXT-006", "Rule/Targets/0/Arn", "arn:aws:events:us-west-2:123456789012:api-destination/a/b", "has no RoleArn"),
    ("delivery", "HP-TXT-011", "Rule/Targets/0/Arn", f"{LINES}:*", "no event comes to that"),
    (
        "delivery",
        "HP-TXT-011",
        "Rule/Targets/0/Arn",
        {"Fn::Sub": "arn:aws:logs:${AWS::Region}:${AWS::AccountId}:log-group:a:*"},
        "no event comes",
    ),
    ("delivery", "HP-TXT-006", "Rule/Targets/0/Input", "{kind: train}", "is not JSON"),
    ("delivery", "HP-TXT-006", "Rule/Targets/0/InputPath", "$.detail", "exclude each other"),
    ("delivery", "HP-TXT-006", "Rule/Targets/1/Id", "a", "two targets have the id 'a'"),
    ("delivery", "HP-TXT-006", "Rule/EventBusName", "training", "only the default bus"),
    ("delivery", "HP-TXT-006", "Rule/EventBusName", {"Ref": "Bus"}, "only the default bus"),
    ("delivery", "HP-TXT-011", "Rule/Targets/1/SqsParameters", REMOVED, "has no MessageGroupId"),
    ("delivery", "HP-TXT-006", "Data/NotificationConfiguration/QueueConfigurations/0/Queue", {"Ref": "Alerts"}, "of a topic"),
    ("patterns", "HP-TXT-006", "Events/Targets/0/InputTransformer/InputTemplate", '"<clustr>"', "the nearest is cluster"),
    ("patterns", "HP-TXT-006", "Events/Targets/0/InputTransformer/InputTemplate", '{"a": <cluster> now}', "is no JSON"),
    (
        "patterns",
        "HP-TXT-006",
        "Events/Targets/0/InputTransformer/InputPathsMap/cluster",
        "detail.ClusterName",
        "the path of cluster",
    ),
    (
        "schedules",
        "HP-TXT-006",
        "Once/Target/Arn",
        "arn:aws:scheduler:::aws-sdk:sagemaker:UpdateCluster",
        "sagemaker:updateCluster",
    ),
    ("schedules", "HP-TXT-006", "Once/Target/Input", "{ClusterName}", "is not JSON"),
    # Documents
    ("documents", "HP-TXT-007", "Machine/DefinitionString", changed(MACHINE, "StartAt", "Wiat"), "the nearest is 'Wait'"),
    ("documents", "HP-TXT-007", "Machine/DefinitionString", changed(MACHINE, "States/Wait/Next", "Done"), "names the state 'Done'"),
    ("documents", "HP-TXT-007", "Machine/DefinitionString", changed(MACHINE, "States/Run/End", REMOVED), "neither Next nor End"),
    ("documents", "HP-TXT-007", "Machine/DefinitionString", changed(MACHINE, "States/Run/End", False), "neither Next nor End"),
    ("documents", "HP-TXT-007", "Machine/DefinitionString", changed(MACHINE, "States/Run/Type", "Taks"), "the nearest is Task"),
    ("documents", "HP-TXT-007", "Machine/DefinitionString", json.dumps(MACHINE)[:-1], "is not JSON"),
    ("documents", "HP-TXT-007", "LogPolicy/PolicyDocument", json.dumps(POLICY).replace("}]", "},]"), "is not JSON"),
    (
        "documents",
        "HP-TXT-007",
        "LogPolicy/PolicyDocument",
        changed(POLICY, "Statement/0/Effect", "allow"),
        "Effect of Statement/0",
    ),
    ("documents", "HP-TXT-007", "LogPolicy/PolicyDocument", changed(POLICY, "Version", "2012-10-18"), "the version of the policy"),
    ("documents", "HP-TXT-007", "LogPolicy/PolicyDocument", changed(POLICY, "Statement/0/Actions", "x"), "the nearest is Action"),
    ("documents", "HP-TXT-007", "LogPolicy/PolicyDocument", changed(POLICY, "Statement/0/Principal", REMOVED), "has no Principal"),
    ("documents", "HP-TXT-007", IMAGE_TEXT, changed(IMAGES, "rules/0/selection/countType", "imagesPushed"), "countType of"),
    ("documents", "HP-TXT-007", IMAGE_TEXT, changed(IMAGES, "rules/0/selection/countUnit", "weeks"), "countUnit of"),
    ("documents", "HP-TXT-007", IMAGE_TEXT, changed(IMAGES, "rules/0/selection/countNumber", "14"), "countNumber of"),
    ("documents", "HP-TXT-007", IMAGE_TEXT, changed(IMAGES, "rules/1/rulePriority", "2"), "rulePriority of"),
    ("documents", "HP-TXT-007", IMAGE_TEXT, changed(IMAGES, "rules/1/rulePriority", 1), "two rules have the priority 1"),
    ("documents", "HP-TXT-007", IMAGE_TEXT, changed(IMAGES, "rules/1/selection/tagPrefixList", REMOVED), "without tags"),
    ("documents", "HP-TXT-007", IMAGE_TEXT, changed(IMAGES, "rules/0/selection/tagStatus", "any"), "others follow it"),
    ("documents", "HP-TXT-007", "Command/DocumentFormat", REMOVED, "without DocumentFormat: YAML"),
    ("documents", "HP-TXT-007", "Command/Content", COMMAND.replace('"2.2"', '"0.3"'), "has the schemaVersion '0.3'"),
    (
        "documents",
        "HP-TXT-007",
        "Command/Content",
        COMMAND.replace("{{ Service", "{{ Servic"),
        "no parameter Servic; the nearest is Service",
    ),
    (
        "documents",
        "HP-TXT-007",
        "Command/Content",
        COMMAND.replace("aws:runShellScript", "runShellScript"),
        "the action is 'runShellScript'",
    ),
    (
        "documents",
        "HP-TXT-007",
        "Command/Content",
        COMMAND.replace("aws:runShellScript", "aws:runShelScript"),
        "the nearest is aws:runShellScript",
    ),
    ("documents", "HP-TXT-007", "Command/Content", COMMAND.replace("mainSteps", "steps"), "no mainSteps"),
    ("documents", "HP-TXT-007", f"{INPUTS}/idleSessionTimeout", "90", "idleSessionTimeout is 90"),
    ("documents", "HP-TXT-007", f"{INPUTS}/kmsKeyId", "arn:aws:s3:::logs", "kmsKeyId is"),
    ("documents", "HP-TXT-007", f"{INPUTS}/runAsEnabled", "ubuntu", "runAsEnabled is 'ubuntu'"),
    ("documents", "HP-TXT-007", f"{INPUTS}/s3BucketName", "s3://logs/sessions", "s3BucketName is 's3://logs/sessions'"),
    ("documents", "HP-TXT-007", f"{INPUTS}/cloudWatchLogGroupName", f"{LINES}:*", "cloudWatchLogGroupName is"),
    ("documents", "HP-TXT-007", f"{INPUTS}/cloudWatchLogGroupName", {"Ref": "Images"}, "cloudWatchLogGroupName is"),
    ("documents", "HP-TXT-011", f"{INPUTS}/runAsDefaultUser", "ubuntu", "without runAsEnabled it does nothing"),
    ("documents", "HP-TXT-007", f"{INPUTS}/s3Bucket", "logs", "the nearest is s3BucketName"),
    ("documents", "HP-TXT-007", "Secret/GenerateSecretString/SecretStringTemplate", "username: slurm", "is not JSON"),
    ("documents", "HP-TXT-007", "Secret/GenerateSecretString/GenerateStringKey", REMOVED, "has no GenerateStringKey"),
    ("documents", "HP-TXT-007", "Session/Content/schemaVersion", "2.2", "has the schemaVersion '2.2'"),
    # Prometheus
    ("prometheus", "HP-TXT-008", "Groups/Data", RULES.replace("groups:", "group:"), "no list of groups"),
    ("prometheus", "HP-TXT-008", "Groups/Data", RULES.replace("- alert: NodeDown\n    ", "- "), "neither record nor alert"),
    ("prometheus", "HP-TXT-008", "Groups/Data", RULES.replace("[5m])", "[5m]"), "without an end"),
    ("prometheus", "HP-TXT-008", "Groups/Data", RULES.replace("10m", "ten minutes"), "for of groups/0/rules/1"),
    ("prometheus", "HP-TXT-008", "Groups/Data", RULES.replace("annotations", "annotation"), "the nearest is annotations"),
    ("prometheus", "HP-TXT-008", "Groups/Data", RULES.replace("node:free:ratio", "node-free"), "records 'node-free'"),
    ("prometheus", "HP-TXT-008", "Groups/Data", RULES.replace("  interval", "\tinterval"), "is not YAML"),
    (
        "prometheus",
        "HP-TXT-008",
        "Workspace/AlertManagerDefinition",
        ALERTS.replace("receiver: pages", "receiver: page"),
        "the nearest is pages",
    ),
    (
        "prometheus",
        "HP-TXT-008",
        "Workspace/AlertManagerDefinition",
        ALERTS.replace("sns_configs", "slack_configs"),
        "SNS and PagerDuty only",
    ),
    ("prometheus", "HP-TXT-008", "Workspace/AlertManagerDefinition", ALERTS.replace(":sns:", ":sqs:"), "is the ARN of a queue"),
    (
        "prometheus",
        "HP-TXT-008",
        "Workspace/AlertManagerDefinition",
        "route: {receiver: a}\nreceivers: [{name: a}]",
        "no alertmanager_config",
    ),
    (
        "prometheus",
        "HP-TXT-008",
        "Scraper/ScrapeConfiguration/ConfigurationBlob",
        encoded(SCRAPES.replace("nodes", "pods")),
        "of another",
    ),
    (
        "prometheus",
        "HP-TXT-008",
        "Scraper/ScrapeConfiguration/ConfigurationBlob",
        encoded("global: {}"),
        "no list of scrape_configs",
    ),
    # Scripts
    ("scripts", "HP-TXT-009", "Bastion/UserData", "#!/bin/bash\necho a\n", "is not in base64"),
    ("scripts", "HP-TXT-009", "Bastion/UserData/Fn::Base64", "#!/bin/bash\n" + "x" * 16_384, "16,396 bytes"),
    ("scripts", "HP-TXT-011", "Bastion/UserData/Fn::Base64", "\n  #!/bin/bash\necho a\n", "white space before"),
    ("scripts", "HP-TXT-011", "Bastion/UserData/Fn::Base64", {"Fn::Sub": "echo ${AWS::Region}\n"}, "so nothing runs it"),
    ("scripts", "HP-TXT-011", "Bastion/UserData/Fn::Base64", "#!bin/bash\n", "names no program"),
    ("scripts", "HP-TXT-011", "Bastion/UserData/Fn::Base64", "#!/bin/bash\r\necho\r\n", "carriage return"),
    ("scripts", "HP-TXT-011", "Template/LaunchTemplateData/UserData", encoded("apt-get update"), "so nothing runs it"),
    ("scripts", "HP-TXT-009", "Studio/StudioLifecycleConfigContent", "#!/bin/bash\n", "is not in base64"),
    # Names
    ("names", "HP-TXT-010", "Host/ResourceRecords/0", "2001:db8::8", "a record of the type A"),
    ("names", "HP-TXT-010", "Host/ResourceRecords/0", "db.example.com", "a record of the type A"),
    ("names", "HP-TXT-010", "Host/ResourceRecords/0", att("Server", "PrivateDnsName"), "which is a name"),
    ("names", "HP-TXT-010", "Alias/ResourceRecords/0", {"Ref": "Public"}, "which is an address"),
    ("names", "HP-TXT-010", "Alias/ResourceRecords/0", att("Topic", "TopicArn"), "which is an ARN"),
    ("names", "HP-TXT-010", "Alias/ResourceRecords", ["a.example.com", "b.example.com"], "a CNAME has 2 records"),
    ("names", "HP-TXT-010", "Alias/Name", "train.internal", "a CNAME at the top"),
    ("names", "HP-TXT-010", "Host/Name", "db.train.example", "is not in the zone train.internal"),
    ("names", "HP-TXT-010", "Host/TTL", REMOVED, "no TTL"),
    ("names", "HP-TXT-010", "Text/ResourceRecords/0", "v=spf1 -all", "a record of the type TXT"),
    ("names", "HP-TXT-010", "Mail/ResourceRecords/0", "mail.example.com", "a record of the type MX"),
    ("names", "HP-TXT-010", "Host/Type", "ALIAS", "no record has the type ALIAS"),
    ("names", "HP-TXT-010", "Weighted/SetIdentifier", REMOVED, "Weight needs a SetIdentifier"),
    ("names", "HP-TXT-010", "Zone/Name", "train..internal", "is no domain name"),
    ("names", "HP-TXT-010", "Endpoint/ServiceName", {"Fn::Sub": "com.amazonaws.${AWS::Region}.ecr-dkr"}, "the nearest is ecr.dkr"),
    (
        "names",
        "HP-TXT-010",
        "Endpoint/ServiceName",
        {"Fn::Join": ["-", ["com.amazonaws", {"Ref": "AWS::Region"}, "logs"]]},
        "no service is named",
    ),
    ("names", "HP-TXT-010", "Endpoint/ServiceName", "com.amazonaws.us-west-2.ssm-messages", "the nearest is ssmmessages"),
    (
        "names",
        "HP-TXT-010",
        "Endpoint/ServiceName",
        {"Fn::Sub": "com.amazonaws.${AWS::Region}.ecr.docker"},
        "the nearest is ecr.dkr",
    ),
    ("names", "HP-TXT-010", "Endpoint/ServiceName", "com.amazonaws.us-west-2.ssm-message", "the nearest is ssmmessages"),
    (
        "names",
        "HP-TXT-010",
        "Endpoint/ServiceName",
        "com.amazonaws.us-west-2.elastic-file-system",
        "the nearest is elasticfilesystem",
    ),
    ("names", "HP-TXT-010", "Endpoint/ServiceName", "com.amazonaws.us-west-2.session-manager", "the nearest is ssmmessages"),
    ("names", "HP-TXT-010", "Endpoint/ServiceName", "com.amazonaws.us-west-2.dkr.ecr", "the nearest is ecr.dkr"),
    ("names", "HP-TXT-010", "Endpoint/ServiceName", "com.amazonaws.us-west-2.sns.api", "the nearest is sns"),
    (
        "names",
        "HP-TXT-010",
        "Endpoint/ServiceName",
        "com.amazonaws.us-west-2.sagemaker.studio",
        "no service is named sagemaker.studio",
    ),
    ("names", "HP-TXT-010", "Endpoint/ServiceName", "com.amazonaws.us-west-9.ssm", "no region us-west-9"),
    ("names", "HP-TXT-010", "Endpoint/ServiceName", "s3", "no service is named 's3'"),
    ("names", "HP-TXT-010", "Endpoint/ServiceName", "com.amazonaws.s3.us-west-2", "the service comes before the region"),
    (
        "names",
        "HP-TXT-010",
        "Endpoint/ServiceName",
        {"Fn::Sub": "cn.com.amazonaws.ecr.dkr.${AWS::Region}"},
        "the service comes before the region",
    ),
    ("names", "HP-TXT-010", "Alarm/AlarmActions/0", att("Topic", "TopicName"), "write !Ref Topic"),
    ("names", "HP-TXT-010", "Alarm/AlarmActions/0", att("Queue"), "is the ARN of a queue"),
    ("names", "HP-TXT-010", "Alarm/AlarmActions/0", {"Ref": "Post"}, "is that of an AWS::SNS::Subscription"),
    ("names", "HP-TXT-010", "Dead/DeadLetterConfig/TargetArn", {"Ref": "Post"}, "is that of an AWS::SNS::Subscription"),
    ("names", "HP-TXT-010", "Alarm/AlarmActions/0", "alerts", "is no ARN"),
    ("names", "HP-TXT-010", "Alarm/AlarmActions/0", "arn:aws:sns:us-west-2:1234:alerts", "has the account '1234'"),
    ("names", "HP-TXT-010", "Dead/DeadLetterConfig/TargetArn", QUEUE, "write !GetAtt Queue.Arn"),
]


@pytest.mark.parametrize("name", BASES)
def test_correct_texts_have_no_finding(name: str) -> None:
    assert [f"{one.rule} {one.resource} {one.path}: {one.message}" for one in findings(BASES[name])] == []


@pytest.mark.parametrize(("base", "rule", "path", "value", "said"), MISTAKES, ids=lambda one: one if isinstance(one, str) else "-")
def test_mistake(base: str, rule: str, path: str, value: Any, said: str) -> None:
    """One finding, of this rule, at the resource that was edited, and with all that a reader needs."""
    found = findings(edited(BASES[base], {path: value}))
    assert [one.rule for one in found] == [rule], [f"{one.rule} {one.path}: {one.message}" for one in found]
    assert any(words in found[0].message for words in said.replace("\\", "").split("|")), found[0].message
    assert all((found[0].allowed, found[0].fix, found[0].source))
    assert found[0].resource == path.split("/", 1)[0]


@pytest.mark.parametrize(
    ("kind", "attribute"),
    [("AutoScaling::ScalingPolicy", None), ("SSMIncidents::ResponsePlan", "Arn"), ("CloudFormation::Stack", "Outputs.Topic")],
)
def test_an_action_may_be_of_these_types(kind: str, attribute: str | None) -> None:
    action = {"Ref": "Other"} if attribute is None else att("Other", attribute)
    template = edited(BASES["names"], {"Other": resource(f"AWS::{kind}"), "Alarm/AlarmActions": [action]})
    assert [one.message for one in findings(template) if one.resource == "Alarm"] == []


@pytest.mark.parametrize(
    ("source", "kind", "field", "right", "wrong"),
    [
        ("aws.datasync", "DataSync Task Execution State Change", "State", "ERROR", "FAILED"),
        ("aws.codebuild", "CodeBuild Build State Change", "build-status", "FAILED", "FAIL"),
        ("aws.backup", "Backup Job State Change", "state", "FAILED", "failed"),
        ("aws.backup", "Restore Job State Change", "status", "ABORTED", "EXPIRED"),
        ("aws.batch", "Batch Job State Change", "status", "RUNNABLE", "Runnable"),
        ("aws.codepipeline", "CodePipeline Pipeline Execution State Change", "state", "SUPERSEDED", "SUCCESS"),
        ("aws.health", "AWS Health Event", "eventTypeCategory", "scheduledChange", "SCHEDULED_CHANGE"),
        ("aws.ec2", "EC2 Spot Instance Interruption Warning", "instance-action", "terminate", "TERMINATE"),
        ("aws.ecr", "ECR Image Action", "result", "SUCCESS", "SUCCEEDED"),
    ],
)
def test_the_state_in_an_event_is_one_of_its_service(source: str, kind: str, field: str, right: str, wrong: str) -> None:
    def said(word: str) -> list[str]:
        pattern = {"source": [source], "detail-type": [kind], "detail": {field: [word]}}
        return [one.message for one in findings(edited(BASES["patterns"], {"Pushes/EventPattern": pattern}))]

    assert said(right) == []
    assert [f"{field} is never {wrong!r}" in one for one in said(wrong)] == [True]


@pytest.mark.parametrize("arn", [LINES, {"Fn::Sub": "arn:aws:logs:${AWS::Region}:${AWS::AccountId}:log-group:${Group}"}])
def test_events_come_to_a_log_group_by_its_own_arn(arn: Any) -> None:
    group = {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 30}}
    base = edited(BASES["delivery"], {"Group": group, "Rule/Targets/0": {"Id": "a", "Arn": arn}})
    assert [one for one in rules_of(base) if one.startswith("HP-TXT")] == []
    wrong = edited(base, {"Rule/Targets/0": {"Id": "a", "Arn": att("Group")}})
    assert [one for one in rules_of(wrong) if one.startswith("HP-TXT")] == ["HP-TXT-011"]


@pytest.mark.parametrize(
    "inputs",
    [
        {"s3BucketName": "", "s3KeyPrefix": "", "cloudWatchLogGroupName": "", "kmsKeyId": "", "runAsDefaultUser": ""},
        {"s3BucketName": "logs", "s3KeyPrefix": "sessions", "kmsKeyId": "alias/sessions", "runAsEnabled": "true"},
        {"kmsKeyId": "0f1d2c3b-4a59-4687-8796-a5b4c3d2e1f0", "runAsEnabled": True, "runAsDefaultUser": "ubuntu"},
        {"kmsKeyId": "arn:aws:kms:us-west-2:123456789012:key/0f1d2c3b-4a59-4687-8796-a5b4c3d2e1f0"},
        {"cloudWatchLogGroupName": "/lab/sessions", "cloudWatchStreamingEnabled": True, "runAsDefaultUser": "{{ user }}"},
    ],
)
def test_preferences_of_sessions_have_their_forms(inputs: dict[str, Any]) -> None:
    user = {"runAsEnabled": True} if "{{" in str(inputs) else {}
    found = rules_of(edited(BASES["documents"], {INPUTS: {**inputs, **user}}))
    assert [one for one in found if one.startswith("HP-TXT")] == []


def test_a_queue_of_another_kind_than_all_around_it_is_one_mistake() -> None:
    """Its dead letters, its reader, its topic and its rule ask for the other kind."""
    found = findings(edited(BASES["delivery"], {"Jobs/FifoQueue": True}), rules="HP-TXT")
    assert len([one for one in found if "FIFO" in one.message]) == 1


def test_a_queue_that_shows_messages_too_early_is_named_at_its_reader() -> None:
    (found,) = findings(edited(BASES["delivery"], {"Jobs/VisibilityTimeout": 10}))
    assert (found.resource, found.path) == ("Mapping", "Properties/EventSourceArn")
    assert "Jobs hides messages for 10 seconds, and Worker runs for up to 30" in found.message
    assert rules_of(edited(BASES["delivery"], {"Jobs/VisibilityTimeout": 30})) == []


def test_a_place_in_a_text_has_line_and_column() -> None:
    text = '{\n  "widgets": [\n    {"type": "text",}\n  ]\n}'
    (found,) = findings(edited(BASES["alarms"], {"Board/DashboardBody": text}))
    assert "line 3, column 21" in found.message


PARAMETERS = {
    "Open": {"Type": "String"},
    "Chosen": {"Type": "String"},
    "Wrong": {"Type": "String", "Default": "rate(1 minutes)"},
    "Sources": {"Type": "CommaDelimitedList", "Default": "aws.sagemaker,aws.fsx"},
    "Empty": {"Type": "String", "Default": ""},
}
OPEN = {"Ref": "Open"}


def _judged(
    type_: str, conditions: dict[str, Any] | None = None, beside: dict[str, Any] | None = None, **properties: Any
) -> list[str]:
    template = {
        "Parameters": PARAMETERS,
        "Transform": "AWS::LanguageExtensions",
        "Conditions": {"Unknown": {"Fn::Equals": [{"Ref": "Chosen"}, "x"]}},
        "Resources": {"Subject": {**resource(type_, **properties), **(beside or {})}},
    }
    return [one.rule for one in findings(template)]


@pytest.mark.parametrize(
    ("type_", "properties"),
    [
        ("AWS::Events::Rule", {"ScheduleExpression": OPEN}),
        ("AWS::Events::Rule", {"ScheduleExpression": {"Ref": "Empty"}, "EventPattern": {"source": ["a"]}}),
        ("AWS::Events::Rule", {"ScheduleExpression": {"Fn::Sub": "cron(${Open})"}}),
        ("AWS::Events::Rule", {"ScheduleExpression": {"Fn::Sub": "cron(0 3 30 ${Open} ? *)"}}),
        ("AWS::Events::Rule", {"ScheduleExpression": "cron(0 3 29 2 ? *)"}),
        ("AWS::Events::Rule", {"ScheduleExpression": "cron(0 3 31 2,3 ? *)"}),
        ("AWS::Events::Rule", {"ScheduleExpression": "cron(0 3 31 1/2 ? *)"}),
        ("AWS::Events::Rule", {"ScheduleExpression": "cron(0 3 28,30 FEB ? *)"}),
        ("AWS::AutoScaling::ScheduledAction", {"AutoScalingGroupName": "a", "DesiredCapacity": 1, "Recurrence": "0 8 31 11 5"}),
        ("AWS::Events::Rule", {"ScheduleExpression": {"Fn::Sub": "rate(${Open} minutes)"}}),
        ("AWS::Events::Rule", {"EventPattern": {"source": {"Ref": "Sources"}, "detail": OPEN}}),
        ("AWS::Events::Rule", {"EventPattern": {"source": [OPEN], "resources": [{"prefix": OPEN}]}}),
        ("AWS::CloudWatch::Alarm", {"Period": OPEN, "EvaluationPeriods": OPEN, "ComparisonOperator": OPEN, "Metrics": OPEN}),
        ("AWS::CloudWatch::Dashboard", {"DashboardBody": {"Fn::Sub": '{"widgets": ${Open}}'}}),
        ("AWS::CloudWatch::CompositeAlarm", {"AlarmName": "a", "AlarmRule": {"Fn::Sub": "${Open} OR ALARM(${Open})"}}),
        ("AWS::Logs::MetricFilter", metric_filter({"Fn::Sub": "{ $.a = ${Open}"})["Properties"]),  # type: ignore[arg-type]
        ("AWS::Lambda::Function", function("x", Code={"ZipFile": {"Fn::Sub": "def handler(: ${Open}"}})["Properties"]),
        ("AWS::SNS::Subscription", {"TopicArn": OPEN, "Protocol": OPEN, "Endpoint": OPEN}),
        ("AWS::SNS::Subscription", {"TopicArn": OPEN, "Protocol": "https", "Endpoint": {"Fn::Sub": "${Open}/hook"}}),
        ("AWS::SQS::Queue", {"RedrivePolicy": OPEN}),
        ("AWS::SQS::Queue", {"RedrivePolicy": {"deadLetterTargetArn": OPEN, "maxReceiveCount": OPEN}}),
        ("AWS::APS::RuleGroupsNamespace", {"Workspace": OPEN, "Name": "n", "Data": {"Fn::Sub": "groups: ${Open}"}}),
        ("AWS::EC2::Instance", {"ImageId": OPEN, "UserData": {"Fn::Base64": OPEN}}),
        ("AWS::EC2::Instance", {"ImageId": OPEN, "UserData": OPEN}),
        ("AWS::Route53::RecordSet", record("A", name="a.b", HostedZoneId=OPEN, ResourceRecords=[OPEN])["Properties"]),
        ("AWS::Route53::RecordSet", {"Name": OPEN, "Type": "A", "ResourceRecords": OPEN, "TTL": OPEN, "HostedZoneId": OPEN}),
        ("AWS::EC2::VPCEndpoint", {"VpcId": OPEN, "ServiceName": {"Fn::Sub": "com.amazonaws.${Open}.${Open}"}}),
        ("AWS::EC2::VPCEndpoint", {"VpcId": OPEN, "VpcEndpointType": OPEN, "ServiceName": "com.amazonaws.us-west-2.ecr.dkr-fips"}),
        ("AWS::EC2::VPCEndpoint", {"VpcId": OPEN, "VpcEndpointType": OPEN, "ServiceName": "com.amazonaws.us-west-2.ds-data"}),
        ("AWS::SSM::Document", {"Content": OPEN}),
        (
            "AWS::StepFunctions::StateMachine",
            {
                "RoleArn": ROLE,
                "DefinitionString": '{"StartAt": "${First}", "States": {"${First}": {"Type": "Wait", "Seconds": ${Time}}}}',
                "DefinitionSubstitutions": {"First": "A", "Time": 5},
            },
        ),
    ],
)
def test_what_only_the_deployment_knows_is_no_mistake(type_: str, properties: dict[str, Any]) -> None:
    assert _judged(type_, **properties) == []


def test_texts_are_judged_as_they_resolve() -> None:
    assert _judged("AWS::Events::Rule", ScheduleExpression={"Ref": "Wrong"}) == ["HP-TXT-001"]
    branches = {"Fn::If": ["Unknown", "rate(1 minutes)", "rate(1 minute)"]}
    assert _judged("AWS::Events::Rule", ScheduleExpression=branches) == ["HP-TXT-001"]
    assert _judged("AWS::Events::Rule", ScheduleExpression=branches, beside={"Condition": "Unknown"}) == ["HP-TXT-001"]
    others = {"Fn::If": ["Unknown", "rate(1 minute)", "rate(1 minutes)"]}
    assert _judged("AWS::Events::Rule", ScheduleExpression=others, beside={"Condition": "Unknown"}) == []
    assert _judged("AWS::CloudWatch::Dashboard", DashboardBody={"Fn::ToJsonString": {"widget": [1]}}) == ["HP-TXT-003"]


def test_every_language_and_type_has_its_judge() -> None:
    for module, languages in subjects.LANGUAGES_OF.items():
        assert set(places.book(module).JUDGES) == set(languages)
    for module in subjects.MODULES:
        assert set(places.book(module).WHOLES) == set(subjects.TYPES_OF.get(module, ()))
    assert {language for places_ in LANGUAGES.values() for language in places_.values()} == set(Language)


HOSTILE = {
    "long": "a" * 300_000,
    "deep": "[" * 50_000,
    "lists": "[" * 600 + "]" * 600,
    "objects": '{"a":' * 600 + "1" + "}" * 600,
    "deep braces": '{"a":' * 20_000,
    "parentheses": "(" * 60_000,
    "minus": "-" * 60_000 + "1",
    "dots": "a" + ".b" * 30_000,
    "some dots": "a = 1\na" + ".b" * 600,
    "calls": "a" + ".b()" * 200,
    "quotes": '"' * 60_001,
    "backslashes": '"' + "\\" * 60_001,
    "spaces": " " * 60_000 + "x",
    "digits": "1" * 60_000,
    "nots": "NOT " * 15_000,
    "commas": "," * 60_000,
    "zero": "\0\ud7ff\U0010ffff",
    "aliases": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"a{n}: &a{n} [{','.join(['*a' + (str(n - 1) if n else '')] * 9)}]\n" for n in range(9)),
}
SUBJECTS: list[tuple[str, str, str]] = [
    ("schedules", CRON, "cron({})"),
    ("schedules", CRON, "{}"),
    ("schedules", "Database/PreferredMaintenanceWindow", "{}"),
    ("patterns", PATTERN, "{}"),
    ("alarms", "Both/AlarmRule", "{}"),
    ("alarms", "Share/Metrics/2/Expression", "{}"),
    ("alarms", "Slow/ExtendedStatistic", "{}"),
    ("alarms", "Board/DashboardBody", "{}"),
    ("logs", "Terms/FilterPattern", "{}"),
    ("logs", "Terms/FilterPattern", "{{{}}}"),
    ("logs", "Terms/FilterPattern", "[{}]"),
    ("code", "Python/Code/ZipFile", "{}"),
    ("code", "Node/Code/ZipFile", "{}"),
    ("code", "Python/Runtime", "python{}"),
    ("delivery", "ToPage/Endpoint", "{}"),
    ("delivery", "Alerts/Subscription/0/Endpoint", "{}@"),
    ("delivery", "Rule/Targets/0/Arn", "arn:aws:{}"),
    ("documents", "Machine/DefinitionString", "{}"),
    ("documents", "LogPolicy/PolicyDocument", "{}"),
    ("documents", "Command/Content", "{}"),
    ("prometheus", "Groups/Data", "{}"),
    ("prometheus", "Workspace/AlertManagerDefinition", "{}"),
    ("scripts", "Bastion/UserData", "{}"),
    ("names", "Text/ResourceRecords/0", '"{}'),
    ("names", "Zone/Name", "{}"),
    ("names", "Endpoint/ServiceName", "com.amazonaws.us-west-2.{}"),
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_fail_no_rule(hostile: str) -> None:
    """No rule fails or takes long on them: a failed rule would be a finding of its own."""
    for base, path, form in SUBJECTS:
        text = form.replace("{{", "\1").replace("}}", "\2").replace("{}", HOSTILE[hostile]).replace("\1", "{").replace("\2", "}")
        found = findings(edited(BASES[base], {path: text}), rules="HP-TXT")
        assert not [one.message for one in found if "this rule failed" in one.message], (path, found)


def test_code_is_not_executed(tmp_path: Path) -> None:
    trace = tmp_path / "executed"
    code = f"open({str(trace)!r}, 'w')\ndef handler(event, context): pass\n"
    assert findings({"Resources": {"F": function(code)}}) == []
    assert not trace.exists()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"shellProfile": "exec bash"}, "shellProfile is 'exec bash'"),
        ({"shellProfile": ["exec bash"]}, "shellProfile is ['exec bash']"),
        ({"shellProfile": {"ubuntu": "exec bash"}}, "shellProfile has ubuntu"),
        ({"shellProfile": {"linux": ["cd", "exec bash"]}}, "linux of shellProfile is ['cd', 'exec bash']"),
        ({"runAsEnabled": True, "runAsDefaultUser": {"linux": "ubuntu"}}, "runAsDefaultUser is {'linux': 'ubuntu'}"),
        ({"shellProfile": {"linux": "exec bash", "windows": ""}}, None),
        ({"shellProfile": ""}, None),
    ],
)
def test_sessions_begin_with_commands_for_each_system(given: dict[str, Any], message: str | None) -> None:
    found = findings(edited(BASES["documents"], {INPUTS: given}), rules="HP-TXT")
    assert [one.message for one in found] == ([] if message is None else [message])
