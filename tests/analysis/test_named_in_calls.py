"""Names that tasks of state machines and code give to calls of AWS."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts import call_values, named_in_calls
from tests.templates.models import by_id, model_of

TEMPLATE = """
Parameters:
  Given: {{Type: String}}
Resources:
  Nodes: {{Type: AWS::SageMaker::Cluster, Properties: {{ClusterName: weavers-nodes}}}}
  Control: {{Type: AWS::EKS::Cluster, Properties: {{Name: weavers-control}}}}
  Jobs: {{Type: AWS::DynamoDB::Table, Properties: {{TableName: weavers-jobs}}}}
  Files: {{Type: AWS::FSx::FileSystem, Properties: {{FileSystemType: LUSTRE}}}}
  Records: {{Type: AWS::RDS::DBInstance, Properties: {{Engine: mariadb}}}}
  Machine:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      Definition:
        StartAt: Ask
        States:
          Ask: {{Type: Task, Resource: "arn:aws:states:::{call}", Parameters: {{{parameter}: {value}}}, End: true}}
  Asking:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.13
      Environment: {{Variables: {{NAME: {value}}}}}
      Code:
        ZipFile: |
          import os
          import boto3
          def handler(event, context):
              boto3.client("{client}").{operation}({parameter}=os.environ["NAME"])
"""
LOOK = ("aws-sdk:sagemaker:listClusterNodes", "sagemaker", "list_cluster_nodes", "ClusterName")
SYSTEM = ("aws-sdk:fsx:createDataRepositoryTask", "fsx", "create_data_repository_task", "FileSystemId")
DATABASE = ("aws-sdk:rds:startDBInstance", "rds", "start_db_instance", "DBInstanceIdentifier")
SCAN = ("aws-sdk:dynamodb:scan", "dynamodb", "scan", "TableName")


@pytest.mark.parametrize(
    ("called", "value", "wrong"),
    [
        (LOOK, "weavers-nodes", False),
        (LOOK, "!Ref Given", False),
        (LOOK, "others", False),
        (LOOK, "weavers-jobs", False),
        (LOOK, "weavers-control", True),
        (LOOK, "!Sub weavers-control", True),
        (LOOK, "weavers-node", True),
        (LOOK, "!Ref Control", True),
        (SYSTEM, "!Ref Files", False),
        (SYSTEM, "!GetAtt Files.Id", False),
        (SYSTEM, "fs-0123456789abcdef0", False),
        (SYSTEM, "!Ref Given", False),
        (SYSTEM, "!GetAtt Files.DNSName", True),
        (SYSTEM, "!GetAtt Files.LustreMountName", True),
        (SYSTEM, "!Ref Records", True),
        (DATABASE, "!Ref Records", False),
        (DATABASE, "!GetAtt Records.DBInstanceArn", False),
        (DATABASE, "!GetAtt Records.Endpoint.Address", True),
        (SCAN, "weavers-jobs", False),
        (SCAN, "!Ref Jobs", False),
        (SCAN, "weavers-control", False),
        (SCAN, "weavers-jbos", True),
    ],
)
def test_calls_name_things_of_their_kind(called: tuple[str, str, str, str], value: str, wrong: bool) -> None:
    call, client, operation, parameter = called
    text = TEMPLATE.format(call=call, client=client, operation=operation, parameter=parameter, value=value)
    machine, function = (by_id(model_of(text), name) for name in ("Machine", "Asking"))
    said = list(named_in_calls.WHOLES[machine.type](machine))
    assert len(said) == wrong
    assert [one.path for one in said] == [("Definition", "States", "Ask", "Parameters", parameter)] * wrong
    assert len([one for one in call_values.WHOLES[function.type](function) if parameter.lower() in one.message.lower()]) == wrong
