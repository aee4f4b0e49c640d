"""Metrics that nobody writes, where the templates have everybody who could."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.own_metrics import written
from tests.analysis.test_node_programs import made
from tests.templates.models import by_id, model_of

TEMPLATE = """
Resources:
  Cluster:
    Type: AWS::SageMaker::Cluster
    Properties:
      InstanceGroups: [{{InstanceGroupName: a, InstanceType: ml.m5.xlarge, InstanceCount: 1, ExecutionRole: {node}}}]
  NodeRole:
    Type: AWS::IAM::Role
    Properties:
      ManagedPolicyArns: [{policy}]
      AssumeRolePolicyDocument: {{Statement: [{{Effect: Allow, Principal: {{Service: {service}}}, Action: "sts:AssumeRole"}}]}}
  WriterRole:
    Type: AWS::IAM::Role
    Properties:
      Policies: [{{PolicyName: a, PolicyDocument: {{Statement: [{{Effect: Allow, Action: "cloudwatch:*", Resource: "*"}}]}}}}]
  Writer:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.13
      Role: !GetAtt WriterRole.Arn
      Code: {code}
  Filter:
    Type: AWS::Logs::MetricFilter
    Properties:
      FilterPattern: ERROR
      MetricTransformations: [{{MetricNamespace: Team, MetricName: Errors, MetricValue: "1"}}]
  Alarm:
    Type: AWS::CloudWatch::Alarm
    Properties: {{Namespace: Team, MetricName: {metric}, Dimensions: {dimensions}}}
"""
NODES = "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"
AGENT = "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"
SEND = """import boto3
          boto3.client("cloudwatch").put_metric_data(Namespace="Team", MetricData=[{"MetricName": NAME, "Value": 1}])"""


def said(metric: str = "Idle", python: str | None = "print()", **given: str) -> list[str]:
    code = "{S3Bucket: b, S3Key: k}" if python is None else f"\n        ZipFile: |\n          {python}"
    filled = {"node": "!GetAtt NodeRole.Arn", "policy": NODES, "service": "sagemaker.amazonaws.com", "dimensions": "[]"} | given
    return [one.message for one in written(by_id(model_of(TEMPLATE.format(metric=metric, code=code, **filled)), "Alarm"))]


def test_fails_metric_that_nobody_writes() -> None:
    assert said() == ["nothing writes Idle into Team"]
    assert said(python=SEND.replace("NAME", '"Busy"')) == ["nothing writes Idle into Team"]
    assert said(policy=AGENT, service="pods.eks.amazonaws.com", node="!GetAtt WriterRole.Arn") == []


@pytest.mark.parametrize(
    ("python", "given"),
    [
        (SEND.replace("NAME", '"Idle"'), {}),
        (SEND.replace("NAME", "name"), {}),
        ('print({"_aws": {"CloudWatchMetrics": []}})', {}),
        (None, {}),
        ("print()", {"policy": AGENT}),
        ("print()", {"policy": "arn:aws:iam::aws:policy/AdministratorAccess"}),
        ("print()", {"policy": "!Ref Given"}),
        ("print()", {"node": "!ImportValue nodes"}),
    ],
)
def test_what_others_may_write_is_believed(python: str | None, given: dict[str, str]) -> None:
    assert said(python=python, **given) == []


def test_a_metric_that_is_written() -> None:
    assert said("Errors") == []


@pytest.mark.parametrize(
    ("written", "asked", "count"),
    [("'a'", "a", 0), ("'a'", "b", 1), ("name", "b", 0), ("'a'", "!Ref Cluster", 0)],
)
def test_values_of_dimensions(written: str, asked: str, count: int) -> None:
    python = SEND.replace("NAME", f'"Idle", "Dimensions": [{{"Name": "Group", "Value": {written}}}]')
    assert len(said(python=python, dimensions=f"[{{Name: Group, Value: {asked}}}]")) == count


BOOT = """
Resources:
  Machine:
    Type: AWS::EC2::Instance
    Properties: {{UserData: {{"Fn::Base64": "#!/bin/bash\\n{commands}\\n"}}}}
  Key:
    Type: AWS::KMS::Key
    Properties: {{KeyPolicy: {{}}}}
  Subnet:
    Type: AWS::EC2::Subnet
    Properties: {{AvailabilityZone: us-west-2a}}
  Alarm:
    Type: AWS::CloudWatch::Alarm
    Properties:
      Namespace: Team
      MetricName: NodesDown
      Dimensions: [{{Name: Cluster, Value: train}}]
"""
COMMAND = (
    "aws cloudwatch put-metric-data --namespace Team --metric-name NodesDown --dimensions Cluster=train --value 1 --unit Count"
)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        (
            "Cluster=train",
            "ClusterName=train",
            "Machine writes the metric with ClusterName, and the alarm asks for it with the dimensions",
        ),
        (" --dimensions Cluster=train", "", "Machine writes the metric with no dimensions"),
        ("Cluster=train", "$DIMENSIONS", None),
        ("Cluster=train", "ClusterName=$NAME", "Machine writes the metric with ClusterName"),
        ("Cluster=train", "Cluster=$NAME", None),
        ("Cluster=train", "Cluster=train,Node=a", "Machine writes the metric with Cluster, Node"),
        ("NodesDown", "DownNodes", "nothing writes NodesDown into Team; the nearest is DownNodes"),
        ("NodesDown", "$NAME", None),
        ("NodesDown", "Load", None),
        ("Team", "Other", "Machine writes NodesDown into Other, and the alarm asks for it in Team"),
        ("Team", "$SPACE", None),
        ("--namespace", "--region us-east-1 --namespace", "Machine writes the metric in us-east-1, and the alarm is in us-west-2"),
        ("--namespace", "--region us-west-2 --namespace", None),
        ("--namespace", "--region $REGION --namespace", None),
        ("aws", "export AWS_DEFAULT_REGION=us-east-1; aws", "Machine writes the metric in us-east-1"),
        ("aws", "{COMMAND} --region us-east-1; aws", None),
        ("Cluster=train --value 1 --unit Count", "A=b || true", "Machine writes the metric with A"),
        ("--metric-name NodesDown --dimensions Cluster=train", "--metric-data file://a.json", None),
        ("--dimensions Cluster=train", "--dimensions A=b --profile other", None),
        ("--dimensions Cluster=train", "--dimensions A=b; python3 -c 'boto3.client().put_metric_data()'", None),
    ],
)
def test_metrics_of_scripts(old: str, new: str, message: str | None) -> None:
    assert old in COMMAND
    text = COMMAND.replace(old, new.replace("{COMMAND}", COMMAND), 1) if old else COMMAND
    found = [one.message for one in written(by_id(model_of(BOOT.format(commands=text)), "Alarm"))]
    assert [message in one for one in found] == [True] if message else found == []


@pytest.mark.parametrize(("command", "count"), [("A=b", 1), ("A=b --value 1\npython3 own.py", 0)])
def test_metrics_of_nodes(command: str, count: int) -> None:
    own = "import boto3\nboto3.client('cloudwatch').put_metric_data()\n"
    script = f"#!/bin/bash\n{COMMAND.replace('Cluster=train', command)}\n"
    alarm = {"Namespace": "Team", "MetricName": "NodesDown", "Dimensions": [{"Name": "Cluster", "Value": "train"}]}
    model = made({"metrics.sh": script, **({"own.py": own} if not count else {})}, Alarm=alarm)
    assert len(list(written(by_id(model, "Alarm")))) == count
