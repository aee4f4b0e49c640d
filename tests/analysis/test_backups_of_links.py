"""File systems that are linked to a bucket: AWS Backup makes no backups of them, however a selection names them."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.texts.storage import WHOLES
from tests.templates.models import by_id, model_of

TEMPLATE = """
Resources:
  Scratch: {{Type: AWS::FSx::FileSystem, Properties: {{FileSystemType: LUSTRE}}}}
  Homes: {{Type: AWS::FSx::FileSystem, Properties: {{FileSystemType: OPENZFS}}}}
  Link: {{Type: AWS::FSx::DataRepositoryAssociation, Properties: {{FileSystemId: !Ref Scratch}}}}
  Chosen: {{Type: AWS::Backup::BackupSelection, Properties: {{BackupSelection: {{Resources: [{chosen}]}}}}}}
"""
TEXT = "!Sub 'arn:${{AWS::Partition}}:fsx:${{AWS::Region}}:${{AWS::AccountId}}:{}'"


@pytest.mark.parametrize(
    ("chosen", "wrong"),
    [
        ("!GetAtt Scratch.ResourceARN", True),
        (TEXT.format("file-system/${Scratch}"), True),
        (TEXT.format("file-system/${Homes}"), False),
        (TEXT.format("volume/${Scratch}/*"), False),
        ("'arn:aws:fsx:*:*:file-system/*'", False),
    ],
)
def test_what_is_linked_is_not_backed_up(chosen: str, wrong: bool) -> None:
    selection = by_id(model_of(TEMPLATE.format(chosen=chosen)), "Chosen")
    found = [slip.message for slip in WHOLES[selection.type](selection)]
    assert found == (["Scratch is linked to a bucket, and FSx makes no backups of it"] if wrong else [])
