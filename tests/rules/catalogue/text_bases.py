"""Correct texts, as the documentation of AWS writes them, in templates by the kind of text."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

from tests.rules.catalogue.templates import Template

KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
ARN = "arn:aws:sns:us-west-2:123456789012:alerts"
ROLE = "arn:aws:iam::123456789012:role/service"


def resource(type_: str, **properties: Any) -> dict[str, Any]:
    """A resource; a rule of events has a target by default."""
    default = {"Targets": [TARGET]} if type_ == "AWS::Events::Rule" else {}
    return {"Type": type_, "Properties": {**default, **properties}}


TARGET = {"Id": "a", "Arn": "arn:aws:sns:us-west-2:123456789012:a"}


def att(name: str, attribute: str = "Arn") -> dict[str, Any]:
    return {"Fn::GetAtt": [name, attribute]}


def may_send() -> dict[str, Any]:
    """A policy that lets events come to the queue Jobs."""
    statement = {"Effect": "Allow", "Principal": {"Service": "events.amazonaws.com"}, "Action": "sqs:SendMessage"}
    document = {"Version": "2012-10-17", "Statement": [{**statement, "Resource": att("Jobs")}]}
    return resource("AWS::SQS::QueuePolicy", Queues=[{"Ref": "Jobs"}], PolicyDocument=document)


def function(code: str, **properties: Any) -> dict[str, Any]:
    given = {"Runtime": "python3.12", "Handler": "index.handler", "Role": ROLE, "Code": {"ZipFile": code}, **properties}
    return resource("AWS::Lambda::Function", **given)


def sending(kind: str, key: str, name: str, service: Any) -> dict[str, Any]:
    """A policy that lets services send to a topic or a queue."""
    action, arn = ("sns:Publish", {"Ref": name}) if kind == "SNS::Topic" else ("sqs:SendMessage", att(name))
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": action, "Resource": arn}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    return resource(f"AWS::{kind}Policy", **{key: [{"Ref": name}], "PolicyDocument": document})


HANDLER = """
import json
import boto3
import cfnresponse

def handler(event, context):
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {})
"""
NODE = "const response = require('cfn-response');\nexports.handler = (event, context) => response.send(event, context);\n"

SCHEDULES = {
    "Daily": resource("AWS::Events::Rule", ScheduleExpression="cron(0 10 * * ? *)"),
    "Weekdays": resource("AWS::Events::Rule", ScheduleExpression="cron(0/15 8-17 ? JAN,JUL MON-FRI 2026-2030)"),
    "Third": resource("AWS::Events::Rule", ScheduleExpression="cron(0 9 ? * 3#2 *)"),
    "LastDay": resource("AWS::Events::Rule", ScheduleExpression="cron(0 8 L * ? *)"),
    "Often": resource("AWS::Events::Rule", ScheduleExpression="rate(5 minutes)"),
    "Hourly": resource("AWS::Events::Rule", ScheduleExpression="rate(1 hour)"),
    "Once": resource(
        "AWS::Scheduler::Schedule",
        ScheduleExpression="at(2027-11-20T13:00:00)",
        ScheduleExpressionTimezone="America/New_York",
        FlexibleTimeWindow={"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15},
        StartDate="2026-12-01T00:00:00Z",
        EndDate="2027-12-31T00:00:00Z",
        Target={
            "Arn": "arn:aws:scheduler:::aws-sdk:sagemaker:updateCluster",
            "RoleArn": ROLE,
            "Input": '{"ClusterName": "training"}',
        },
    ),
    "Probe": resource(
        "AWS::Synthetics::Canary",
        Name="login",
        Code={"Handler": "login.handler", "Script": "def handler(event, context): ..."},
        ArtifactS3Location="s3://canaries/login",
        ExecutionRoleArn=ROLE,
        RuntimeVersion="syn-python-selenium-7.0",
        Schedule={"Expression": "rate(5 minutes)"},
        RunConfig={"TimeoutInSeconds": 300},
    ),
    "Chosen": resource(
        "AWS::Backup::BackupSelection",
        BackupPlanId={"Ref": "Plan"},
        BackupSelection={
            "SelectionName": "homes",
            "IamRoleArn": ROLE,
            "Resources": ["arn:aws:fsx:us-west-2:123456789012:file-system/fs-0123456789abcdef0"],
        },
    ),
    "Plan": resource(
        "AWS::Backup::BackupPlan",
        BackupPlan={
            "BackupPlanName": "daily",
            "BackupPlanRule": [
                {
                    "RuleName": "night",
                    "TargetBackupVault": "vault",
                    "ScheduleExpression": "cron(0 5 ? * * *)",
                    "StartWindowMinutes": 60,
                    "CompletionWindowMinutes": 120,
                    "Lifecycle": {"MoveToColdStorageAfterDays": 30, "DeleteAfterDays": 120},
                }
            ],
        },
    ),
    "Rotation": resource(
        "AWS::SecretsManager::RotationSchedule",
        SecretId="arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf",
        RotationRules={"ScheduleExpression": "cron(0 8 1 * ? *)", "Duration": "3h"},
        RotationLambdaARN="arn:aws:lambda:us-west-2:123456789012:function:rotate",
    ),
    "Scaling": resource("AWS::AutoScaling::ScheduledAction", AutoScalingGroupName="group", MinSize=1, Recurrence="30 0 1 1,6,12 *"),
    "Window": resource(
        "AWS::SSM::MaintenanceWindow",
        Name="patches",
        Schedule="cron(0 0 16 ? * TUE#3 *)",
        Duration=2,
        Cutoff=1,
        AllowUnassociatedTargets=False,
    ),
    "Database": {
        **resource(
            "AWS::RDS::DBInstance",
            DBInstanceClass="db.m6g.large",
            Engine="mariadb",
            AllocatedStorage="20",
            MasterUsername="slurm",
            ManageMasterUserPassword=True,
            StorageEncrypted=True,
            PreferredMaintenanceWindow="sun:05:00-sun:06:00",
            PreferredBackupWindow="03:00-04:00",
            BackupRetentionPeriod=7,
        ),
        **KEPT,
    },
}

_STATE = {
    "source": ["aws.sagemaker"],
    "detail-type": ["SageMaker HyperPod Cluster State Change"],
    "detail": {"ClusterName": [{"prefix": "train"}], "ClusterStatus": ["Failed", {"anything-but": ["InService", "Creating"]}]},
}
_OPERATORS = {
    "time": [{"prefix": "2027-10-02"}],
    "detail": {
        "eventName": [{"suffix": ".png"}, {"equals-ignore-case": "alice"}],
        "c-count": [{"numeric": [">", 0, "<=", 5]}],
        "sourceIPAddress": [{"cidr": "10.0.0.0/24"}],
        "x": [{"exists": False}],
        "path": [{"wildcard": "dir/*.png"}],
        "state": [{"anything-but": {"prefix": "init"}}],
        "$or": [{"a": [1, True]}, {"b": [{"prefix": {"equals-ignore-case": "EventB"}}]}],
    },
}
PATTERNS = {
    "Alerts": resource("AWS::SNS::Topic"),
    "AlertsPolicy": sending("SNS::Topic", "Topics", "Alerts", "events.amazonaws.com"),
    "Events": resource(
        "AWS::Events::Rule",
        EventPattern=_STATE,
        Targets=[
            {
                "Id": "topic",
                "Arn": {"Ref": "Alerts"},
                "InputTransformer": {
                    "InputPathsMap": {"cluster": "$.detail.ClusterName"},
                    "InputTemplate": '"cluster <cluster> at <aws.events.event.ingestion-time>"',
                },
            }
        ],
    ),
    "Operators": resource("AWS::Events::Rule", EventPattern=_OPERATORS),
    "Errors": resource(
        "AWS::Events::Rule",
        EventPattern={
            "source": ["aws.sagemaker"],
            "detail-type": ["SageMaker HyperPod Cluster Event"],
            "detail": {"EventDetails": {"EventLevel": ["Error"]}},
        },
    ),
    "Calls": resource(
        "AWS::Events::Rule",
        EventPattern={
            "source": ["aws.sagemaker"],
            "detail-type": ["AWS API Call via CloudTrail"],
            "detail": {"eventSource": ["sagemaker.amazonaws.com"], "eventName": ["UpdateCluster"]},
        },
    ),
    "Images": resource("AWS::ECR::Repository", RepositoryName={"Fn::Sub": "trainer-${AWS::AccountId}"}),
    "Pushes": resource(
        "AWS::Events::Rule", EventPattern={"source": ["aws.ecr"], "detail": {"repository-name": ["trainer-123456789012"]}}
    ),
    "Others": resource("AWS::ECR::Repository", RepositoryName="shared-cache"),
    "Scans": resource("AWS::Events::Rule", EventPattern={"source": ["aws.ecr"], "detail": {"repository-name": ["shared"]}}),
    "Own": resource("AWS::Events::Rule", EventPattern={"source": ["my.training"], "detail-type": ["Epoch Done"]}),
}

_MATH = [
    {
        "Id": "errors",
        "MetricStat": {"Metric": {"Namespace": "App", "MetricName": "Errors"}, "Period": 60, "Stat": "Sum"},
        "ReturnData": False,
    },
    {
        "Id": "calls",
        "MetricStat": {"Metric": {"Namespace": "App", "MetricName": "Calls"}, "Period": 60, "Stat": "p99.9"},
        "ReturnData": False,
    },
    {"Id": "share", "Expression": "IF(calls > 0, 100 * errors / calls, 0)", "Label": "share", "ReturnData": True},
]
_DASHBOARD = {
    "start": "-PT6H",
    "widgets": [
        {
            "type": "metric",
            "x": 0,
            "y": 0,
            "width": 12,
            "height": 6,
            "properties": {
                "metrics": [
                    ["AWS/EC2", "CPUUtilization", "InstanceId", "i-012345"],
                    [".", "NetworkIn", ".", "."],
                    [{"expression": "m1"}],
                ],
                "period": 300,
                "stat": "Average",
                "region": "us-east-1",
                "view": "timeSeries",
            },
        },
        {"type": "text", "x": 0, "y": 7, "width": 3, "height": 3, "properties": {"markdown": "Hello world"}},
        {"type": "log", "properties": {"query": "SOURCE 'logs' | fields @message", "region": "us-west-2"}},
        {"type": "alarm", "properties": {"alarms": ["arn:aws:cloudwatch:us-west-2:123456789012:alarm:Failed"]}},
    ],
}
ALARMS = {
    "Failed": resource(
        "AWS::CloudWatch::Alarm",
        AlarmName="failed-nodes",
        Namespace="/aws/sagemaker/Clusters",
        MetricName="cluster_failed_node_count",
        Dimensions=[{"Name": "ClusterId", "Value": "abcdefghijkl"}],
        Statistic="Maximum",
        Period=60,
        EvaluationPeriods=5,
        DatapointsToAlarm=3,
        Threshold=0,
        ComparisonOperator="GreaterThanThreshold",
        TreatMissingData="notBreaching",
        AlarmActions=[ARN, "arn:aws:ssm:us-west-2:123456789012:opsitem:1"],
    ),
    "Slow": resource(
        "AWS::CloudWatch::Alarm",
        Namespace="AWS/Lambda",
        MetricName="Duration",
        ExtendedStatistic="p99",
        Period=3600,
        EvaluationPeriods=100,
        Threshold=1000,
        ComparisonOperator="GreaterThanThreshold",
    ),
    "Share": resource(
        "AWS::CloudWatch::Alarm",
        Metrics=_MATH,
        EvaluationPeriods=3,
        Threshold=5,
        ComparisonOperator="GreaterThanThreshold",
    ),
    "Both": {
        **resource(
            "AWS::CloudWatch::CompositeAlarm",
            AlarmName="both",
            AlarmRule='ALARM("failed-nodes") AND NOT (OK(other) OR INSUFFICIENT_DATA("my name")) OR AT_LEAST(1, ALARM, (a, b))',
            AlarmActions=[ARN],
        ),
        "DependsOn": "Failed",
    },
    "Substituted": resource(
        "AWS::CloudWatch::CompositeAlarm", AlarmName="s", AlarmRule={"Fn::Sub": "ALARM(${Failed}) OR ALARM(${Slow.Arn})"}
    ),
    "Board": resource("AWS::CloudWatch::Dashboard", DashboardBody=json.dumps(_DASHBOARD, indent=1)),
}


def metric_filter(pattern: str, value: str = "1", **change: Any) -> dict[str, Any]:
    transformation = {"MetricName": "m", "MetricNamespace": "App", "MetricValue": value, **change}
    return resource("AWS::Logs::MetricFilter", LogGroupName="/app", FilterPattern=pattern, MetricTransformations=[transformation])


LOGS = {
    "Everything": metric_filter(""),
    "Terms": metric_filter('?ERROR ?"exit code" -DEBUG'),
    "Quoted": metric_filter("{ $.['cluster.name'] = \"c\" }", "$.size"),
    "Expression": metric_filter("%AUTHORIZED|REFUSED%"),
    "Json": metric_filter(
        '{ ($.user.id = 1) && ($.errorCode = "*Unauth*" || $.list[0] != 4*) && $.a IS NULL && $.b NOT EXISTS }', "$.size"
    ),
    "Fields": metric_filter("[ip, id, user, ..., status_code = 4*, bytes > 1000]", "$bytes"),
    "Flows": resource(
        "AWS::EC2::FlowLog",
        ResourceType="VPC",
        ResourceId="vpc-0123456789abcdef0",
        TrafficType="ALL",
        LogDestinationType="s3",
        LogDestination="arn:aws:s3:::flow-logs",
        LogFormat="${version} ${vpc-id} ${srcaddr} ${pkt-srcaddr} ${reject-reason} ${of-tomorrow}",
    ),
    "Words": metric_filter('[w1=ERROR || w1="%WARN%", w2]'),
    "Levels": metric_filter('{ $.level = "*" }', Dimensions=[{"Key": "Level", "Value": "$.level"}]),
    "ToStream": resource(
        "AWS::Logs::SubscriptionFilter",
        LogGroupName="/app",
        FilterPattern='"health"',
        DestinationArn="arn:aws:kinesis:us-west-2:123456789012:stream/logs",
        RoleArn=ROLE,
        Distribution="Random",
    ),
    "ToFunction": resource(
        "AWS::Logs::SubscriptionFilter",
        LogGroupName="/app",
        FilterPattern="",
        DestinationArn="arn:aws:lambda:us-west-2:123456789012:function:ship",
    ),
}

CODE = {
    "Python": function(HANDLER),
    "Installs": function("import sys\nsys.path.insert(0, '/tmp/python')\nimport requests\ndef handler(e, c): pass\n"),
    "Below": function("try:\n    import requests\nexcept ImportError:\n    handler = print\n"),
    "Class": function("class index: pass\nfrom os import *\n", Handler="index.anything"),
    "Assigned": function("handler, other = print, print"),
    "Newer": function('def handler(event, context):\n    return f"{event["a"]}"\n', Runtime="python3.13"),
    "Layered": function(
        "import requests\ndef handler(e, c): pass", Layers=["arn:aws:lambda:us-west-2:123456789012:layer:requests:1"]
    ),
    "Filled": function(
        "x", Code={"ZipFile": {"Fn::Sub": "REGION = '${AWS::Region}'\ndef handler(e, c): return ${AWS::AccountId}"}}
    ),
    "Node": function(NODE, Runtime="nodejs22.x"),
    "Packed": function("x", Handler="app.main", Code={"S3Bucket": "bucket", "S3Key": "key"}),
}

DELIVERY = {
    "Bus": resource("AWS::Events::EventBus", Name="experiments"),
    "Dead": resource("AWS::SQS::Queue"),
    "Jobs": resource(
        "AWS::SQS::Queue",
        VisibilityTimeout=180,
        RedrivePolicy={"deadLetterTargetArn": att("Dead"), "maxReceiveCount": 5},
    ),
    "Ordered": resource("AWS::SQS::Queue", QueueName="ordered.fifo", FifoQueue=True),
    "Worker": function("def handler(event, context): pass", Timeout=30),
    "Mapping": resource(
        "AWS::Lambda::EventSourceMapping",
        EventSourceArn=att("Jobs"),
        FunctionName={"Ref": "Worker"},
        BatchSize=100,
        MaximumBatchingWindowInSeconds=5,
        FilterCriteria={"Filters": [{"Pattern": '{"body": {"kind": ["train"]}}'}]},
    ),
    "Alerts": resource("AWS::SNS::Topic", Subscription=[{"Protocol": "email", "Endpoint": "team@example.com"}]),
    "OrderedTopic": resource("AWS::SNS::Topic", TopicName="ordered.fifo", FifoTopic=True),
    "ToQueue": resource(
        "AWS::SNS::Subscription",
        TopicArn={"Ref": "Alerts"},
        Protocol="sqs",
        Endpoint=att("Jobs"),
        RawMessageDelivery=True,
        FilterPolicy={"store": ["example_corp"], "price": [{"numeric": [">=", 100]}]},
    ),
    "ToOrdered": resource("AWS::SNS::Subscription", TopicArn={"Ref": "OrderedTopic"}, Protocol="sqs", Endpoint=att("Ordered")),
    "ToWorker": resource("AWS::SNS::Subscription", TopicArn={"Ref": "Alerts"}, Protocol="lambda", Endpoint=att("Worker")),
    "ToPage": resource("AWS::SNS::Subscription", TopicArn={"Ref": "Alerts"}, Protocol="https", Endpoint="https://example.com/hook"),
    "ToPhone": resource("AWS::SNS::Subscription", TopicArn={"Ref": "Alerts"}, Protocol="sms", Endpoint="+14155550100"),
    "Rule": resource(
        "AWS::Events::Rule",
        ScheduleExpression="rate(1 day)",
        Targets=[
            {"Id": "a", "Arn": att("Worker"), "Input": '{"kind": "train"}'},
            {"Id": "b", "Arn": att("Ordered"), "SqsParameters": {"MessageGroupId": "g"}},
            {"Id": "c", "Arn": att("Jobs"), "DeadLetterConfig": {"Arn": att("Dead")}},
        ],
    ),
    "Data": {
        **resource(
            "AWS::S3::Bucket",
            NotificationConfiguration={"QueueConfigurations": [{"Event": "s3:ObjectCreated:*", "Queue": att("Jobs")}]},
        ),
        "DependsOn": "JobsPolicy",
        **KEPT,
    },
    "JobsPolicy": sending("SQS::Queue", "Queues", "Jobs", ["events.amazonaws.com", "s3.amazonaws.com", "sns.amazonaws.com"]),
    "DeadPolicy": sending("SQS::Queue", "Queues", "Dead", "events.amazonaws.com"),
    "OrderedPolicy": sending("SQS::Queue", "Queues", "Ordered", ["events.amazonaws.com", "sns.amazonaws.com"]),
    "OfTopic": resource(
        "AWS::Lambda::Permission",
        Action="lambda:InvokeFunction",
        FunctionName={"Ref": "Worker"},
        Principal="sns.amazonaws.com",
        SourceArn={"Ref": "Alerts"},
    ),
    "Permission": resource(
        "AWS::Lambda::Permission",
        Action="lambda:InvokeFunction",
        FunctionName={"Ref": "Worker"},
        Principal="events.amazonaws.com",
        SourceArn=att("Rule"),
    ),
}

_MACHINE = {
    "StartAt": "Wait",
    "States": {
        "Wait": {"Type": "Wait", "Seconds": 5, "Next": "Choose"},
        "Choose": {"Type": "Choice", "Choices": [{"Variable": "$.a", "NumericEquals": 1, "Next": "Run"}], "Default": "Failed"},
        "Run": {
            "Type": "Task",
            "Resource": "arn:aws:states:::lambda:invoke",
            "Parameters": {"FunctionName": "restart"},
            "End": True,
            "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Failed"}],
        },
        "Failed": {"Type": "Fail"},
    },
}
_POLICY = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "es.amazonaws.com"}, "Action": "logs:PutLogEvents", "Resource": "*"}
    ],
}
_IMAGES = {
    "rules": [
        {
            "rulePriority": 1,
            "selection": {"tagStatus": "untagged", "countType": "sinceImagePushed", "countUnit": "days", "countNumber": 14},
            "action": {"type": "expire"},
        },
        {
            "rulePriority": 2,
            "selection": {"tagStatus": "tagged", "tagPrefixList": ["prod"], "countType": "imageCountMoreThan", "countNumber": 30},
            "action": {"type": "expire"},
        },
    ]
}
_COMMAND = """
schemaVersion: "2.2"
description: restarts
parameters:
  Service: {type: String}
mainSteps:
- action: aws:runShellScript
  name: restart
  inputs:
    runCommand:
    - systemctl restart {{ Service }}
"""
_SESSION = {
    "schemaVersion": "1.0",
    "sessionType": "Standard_Stream",
    "inputs": {"s3BucketName": "logs", "s3EncryptionEnabled": True, "idleSessionTimeout": "20", "maxSessionDuration": "60"},
}
DOCUMENTS = {
    "Machine": resource("AWS::StepFunctions::StateMachine", RoleArn=ROLE, DefinitionString=json.dumps(_MACHINE)),
    "LogPolicy": resource("AWS::Logs::ResourcePolicy", PolicyName="p", PolicyDocument=json.dumps(_POLICY)),
    "Images": {**resource("AWS::ECR::Repository", LifecyclePolicy={"LifecyclePolicyText": json.dumps(_IMAGES)}), **KEPT},
    "Command": resource("AWS::SSM::Document", DocumentType="Command", DocumentFormat="YAML", Content=_COMMAND),
    "Secret": {
        **resource(
            "AWS::SecretsManager::Secret",
            GenerateSecretString={"SecretStringTemplate": '{"username": "slurm"}', "GenerateStringKey": "password"},
        ),
        **KEPT,
    },
    "Session": resource("AWS::SSM::Document", DocumentType="Session", Content=_SESSION),
}

RULES = """
groups:
- name: nodes
  interval: 30s
  rules:
  - record: node:free:ratio
    expr: node_memory_free / on(instance) node_memory_total{job="nodes"}
  - alert: NodeDown
    expr: sum by (instance) (rate(up{job=~"no.*"}[5m])) == 0 # comment's
    for: 10m
    labels: {severity: page}
    annotations: {summary: "{{ $labels.instance }} is down"}
"""
ALERTS = """
alertmanager_config: |
  route:
    receiver: default
    group_wait: 30s
    routes:
    - receiver: pages
      matchers: ['severity="page"']
  receivers:
  - name: default
    sns_configs:
    - topic_arn: arn:aws:sns:us-west-2:123456789012:alerts
      sigv4: {region: us-west-2}
  - name: pages
    pagerduty_configs: [{routing_key: abc}]
"""
SCRAPES = "global: {scrape_interval: 30s}\nscrape_configs:\n- job_name: pods\n- job_name: nodes\n"
PROMETHEUS = {
    "Workspace": {**resource("AWS::APS::Workspace", AlertManagerDefinition=ALERTS), **KEPT},
    "Groups": resource("AWS::APS::RuleGroupsNamespace", Workspace=att("Workspace", "Arn"), Name="n", Data=RULES),
    "Scraper": resource(
        "AWS::APS::Scraper",
        ScrapeConfiguration={"ConfigurationBlob": b64encode(SCRAPES.encode()).decode()},
        Source={
            "EksConfiguration": {
                "ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/c",
                "SubnetIds": ["subnet-0123456789abcdef0"],
            }
        },
        Destination={"AmpConfiguration": {"WorkspaceArn": att("Workspace", "Arn")}},
    ),
}

SCRIPT = "#!/bin/bash\necho ${AWS::Region}\n"
SCRIPTS = {
    "Bastion": resource("AWS::EC2::Instance", ImageId="ami-0123456789abcdef0", UserData={"Fn::Base64": {"Fn::Sub": SCRIPT}}),
    "Cloud": resource(
        "AWS::EC2::Instance", ImageId="ami-0123456789abcdef0", UserData={"Fn::Base64": "#cloud-config\npackages: [jq]\n"}
    ),
    "Template": resource("AWS::EC2::LaunchTemplate", LaunchTemplateData={"UserData": b64encode(b"#!/bin/sh\ntrue\n").decode()}),
    "Studio": resource(
        "AWS::SageMaker::StudioLifecycleConfig",
        StudioLifecycleConfigName="s",
        StudioLifecycleConfigAppType="JupyterLab",
        StudioLifecycleConfigContent=b64encode(b"#!/bin/bash\ntrue\n").decode(),
    ),
}


def record(kind: str, *values: str, name: str = "db.train.internal", **properties: Any) -> dict[str, Any]:
    given = {"HostedZoneId": {"Ref": "Zone"}, "Name": name, "Type": kind, "TTL": "300", "ResourceRecords": [*values], **properties}
    return resource("AWS::Route53::RecordSet", **given)


NAMES = {
    "Zone": resource(
        "AWS::Route53::HostedZone", Name="train.internal", VPCs=[{"VPCId": "vpc-0123456789abcdef0", "VPCRegion": "us-west-2"}]
    ),
    "Host": record("A", "10.0.0.8"),
    "Sixth": record("AAAA", "2001:db8::8"),
    "Alias": record("CNAME", "database.example.com.", name="alias.train.internal"),
    "Text": record("TXT", '"v=spf1 -all" "more"'),
    "Mail": record("MX", "10 mail.example.com"),
    "Weighted": record("A", "10.0.0.9", name="w.train.internal.", SetIdentifier="one", Weight=1),
    "Endpoint": resource(
        "AWS::EC2::VPCEndpoint",
        VpcId="vpc-0123456789abcdef0",
        VpcEndpointType="Interface",
        ServiceName={"Fn::Sub": "com.amazonaws.${AWS::Region}.ecr.dkr"},
    ),
    "Server": resource("AWS::EC2::Instance", ImageId="ami-0123456789abcdef0", InstanceType="m7g.large"),
    "Public": resource("AWS::EC2::EIP"),
    "Inner": record("A", name="server.train.internal", ResourceRecords=[att("Server", "PrivateIp"), {"Ref": "Public"}]),
    "Outer": record("CNAME", name="public.train.internal", ResourceRecords=[att("Server", "PublicDnsName")]),
    "Topic": resource("AWS::SNS::Topic"),
    "Queue": resource("AWS::SQS::Queue"),
    "Post": resource("AWS::SNS::Subscription", TopicArn={"Ref": "Topic"}, Protocol="email", Endpoint="a@example.com"),
    "Alarm": resource(
        "AWS::CloudWatch::Alarm",
        Namespace="App",
        MetricName="m",
        Statistic="Sum",
        Period=60,
        EvaluationPeriods=1,
        Threshold=1,
        ComparisonOperator="GreaterThanThreshold",
        AlarmActions=[{"Ref": "Topic"}],
    ),
    "Dead": function("def handler(e, c): pass", DeadLetterConfig={"TargetArn": att("Queue")}),
}

BASES: dict[str, Template] = {
    name: {"Resources": resources}
    for name, resources in {
        "schedules": SCHEDULES,
        "patterns": PATTERNS,
        "alarms": ALARMS,
        "logs": LOGS,
        "code": CODE,
        "delivery": DELIVERY,
        "documents": DOCUMENTS,
        "prometheus": PROMETHEUS,
        "scripts": SCRIPTS,
        "names": NAMES,
    }.items()
}
