"""Data repository tasks that state machines and functions start."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.repository_tasks import WHOLES
from tests.templates.models import by_id, model_of

TEMPLATE = """
Parameters:
  Given: {{Type: String}}
Resources:
  Files: {{Type: AWS::FSx::FileSystem, Properties: {{FileSystemType: LUSTRE{system}}}}}
  Results:
    Type: AWS::FSx::DataRepositoryAssociation
    Properties: {{FileSystemId: !Ref Files, FileSystemPath: {linked}, DataRepositoryPath: "s3://a/results"}}
  Machine:
    Type: AWS::StepFunctions::StateMachine
    Properties:
      DefinitionSubstitutions: {{Files: !Ref Files}}
      Definition:
        StartAt: Move
        States:
          Move:
            Type: Task
            Resource: arn:aws:states:::aws-sdk:fsx:createDataRepositoryTask
            Parameters: {{Type: {kind}, FileSystemId: "${{Files}}", Paths: [{path}], Report: {{Enabled: false}}}}
            End: true
  Moving:
    Type: AWS::Lambda::Function
    Properties:
      Runtime: python3.13
      Environment: {{Variables: {{FILES: !Ref Files}}}}
      Code:
        ZipFile: |
          import os
          import boto3
          def handler(event, context):
              boto3.client("fsx").create_data_repository_task(
                  Type="{kind}", FileSystemId=os.environ["FILES"], Paths=["{path}"], Report={{"Enabled": False}})
"""
EXPORT, IMPORT = "EXPORT_TO_REPOSITORY", "IMPORT_METADATA_FROM_REPOSITORY"
NOT_LINKED, OTHER_SIDE, NOT_RELATIVE = "is in no directory", "an import reads paths in S3", "relative to the mount point"


@pytest.mark.parametrize(
    ("kind", "path", "linked", "system", "says"),
    [
        (EXPORT, "results", "/results", "", None),
        (EXPORT, "results/today", "/results", "", None),
        (EXPORT, "results", "/results/today", "", None),
        (EXPORT, "results", "/", "", None),
        (EXPORT, "checkpoints", "!Ref Given", "", None),
        (EXPORT, "checkpoints", "/results", ", LustreConfiguration: {ExportPath: s3://a}", None),
        (EXPORT, "checkpoints", "/results", "", NOT_LINKED),
        (EXPORT, "results-2", "/results", "", NOT_LINKED),
        (EXPORT, "/results", "/results", "", NOT_RELATIVE),
        (IMPORT, "s3://a/results", "/results", "", None),
        (IMPORT, "results", "/results", "", OTHER_SIDE),
        ("RELEASE_DATA_FROM_FILESYSTEM", "checkpoints", "/results", "", None),
    ],
)
def test_paths_are_of_the_side_that_a_task_reads(kind: str, path: str, linked: str, system: str, says: str | None) -> None:
    model = model_of(TEMPLATE.format(kind=kind, path=path, linked=linked, system=system))
    for name in ("Machine", "Moving"):
        resource = by_id(model, name)
        found = [one.message for one in WHOLES[resource.type](resource)]
        assert [(says or "") in one for one in found] == ([] if says is None else [True])


@pytest.mark.parametrize("path", ["{% $states.input.path %}", "$.path"])
def test_computed_paths_are_believed(path: str) -> None:
    text = TEMPLATE.format(kind=EXPORT, path=f'"{path}"', linked="/results", system="")
    machine = by_id(model_of(text), "Machine")
    assert list(WHOLES[machine.type](machine)) == []
