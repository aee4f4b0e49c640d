"""File systems without backups: no selection of AWS Backup takes them, by their ARNs or by their tags."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.storage import WHOLES
from hyperpod_constructs.templates.documents import Document
from hyperpod_constructs.templates.environment import Environment
from hyperpod_constructs.templates.model import Model
from tests.templates.models import by_id, model_of

TEMPLATE = """
Parameters:
  Day: {{Type: String}}
Resources:
  Scratch:
    Type: AWS::FSx::FileSystem
    Properties:
      FileSystemType: LUSTRE
      LustreConfiguration: {{DeploymentType: {deployment}}}
      Tags: [{{Key: backup, Value: {tag}}}, {{Key: for, Value: jobs}}]
  Homes:
    Type: AWS::FSx::FileSystem
    Properties:
      FileSystemType: OPENZFS
      Tags: [{{Key: backup, Value: daily}}, {{Key: for, Value: people}}]
  Link: {{Type: AWS::FSx::DataRepositoryAssociation, Properties: {{FileSystemId: !Ref {linked}}}}}
  Chosen: {{Type: AWS::Backup::BackupSelection, Properties: {{BackupSelection: {chosen}}}}}
"""
TEXT = "!Sub 'arn:${{AWS::Partition}}:fsx:${{AWS::Region}}:${{AWS::AccountId}}:{}'"
DAILY = "{ConditionType: STRINGEQUALS, ConditionKey: backup, ConditionValue: daily}"
CONDITION = "{{ConditionKey: aws:ResourceTag/{}, ConditionValue: {}}}"
BOTH = f"{{StringEquals: [{CONDITION.format('backup', 'daily')}, {CONDITION.format('for', '%s')}]}}"
LINKED = "Scratch is linked to a bucket, and FSx makes no backups of it"


def slips(chosen: str, tag: str = "weekly", linked: str = "Scratch", deployment: str = "PERSISTENT_2") -> list[str]:
    """The messages for a selection."""
    written = TEMPLATE.format(chosen=chosen, tag=tag, linked=linked, deployment=deployment)
    selection = by_id(model_of(written), "Chosen")
    return [slip.message for slip in WHOLES[selection.type](selection)]


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
    assert slips(f"{{Resources: [{chosen}]}}") == ([LINKED] if wrong else [])


@pytest.mark.parametrize(
    "chosen",
    [
        f"{{ListOfTags: [{DAILY}]}}",
        f"{{Resources: ['*'], ListOfTags: [{DAILY}]}}",
        f"{{Resources: ['*'], Conditions: {BOTH % 'jobs'}}}",
    ],
)
def test_tags_take_nothing_that_has_no_backups(chosen: str) -> None:
    (found,) = slips(chosen, tag="daily")
    assert found == "backup daily is a tag of Scratch too: Scratch is linked to a bucket, and FSx makes no backups of it"


@pytest.mark.parametrize(
    ("chosen", "others"),
    [
        (f"{{ListOfTags: [{DAILY}]}}", {"tag": "weekly"}),
        (f"{{ListOfTags: [{DAILY}]}}", {"tag": "!Ref Day"}),
        (f"{{ListOfTags: [{DAILY}]}}", {"linked": "Other"}),
        (f"{{ListOfTags: [{DAILY}], NotResources: [!GetAtt Scratch.ResourceARN]}}", {}),
        (f"{{Resources: ['arn:aws:rds:*:*:db:*'], ListOfTags: [{DAILY}]}}", {}),
        (f"{{ListOfTags: [{DAILY}], Conditions: {{StringNotEquals: []}}}}", {}),
        (f"{{Resources: ['*'], Conditions: {BOTH % 'people'}}}", {}),
        (f"{{Resources: ['*'], Conditions: {BOTH % '!Ref Day'}}}", {}),
        ("{Resources: ['*'], Conditions: !Ref Day}", {}),
        ("{ListOfTags: !Ref Day}", {}),
    ],
)
def test_other_tags_are_believed(chosen: str, others: dict[str, Any]) -> None:
    assert slips(chosen, **{"tag": "daily", **others}) == []


@pytest.mark.parametrize(("deployment", "wrong"), [("SCRATCH_2", True), ("PERSISTENT_1", False), ("!Ref Day", False)])
def test_scratch_file_systems_have_no_backups(deployment: str, wrong: bool) -> None:
    found = slips(f"{{ListOfTags: [{DAILY}]}}", "daily", "Homes", deployment)
    text = "backup daily is a tag of Scratch, Homes too: Scratch is of the type SCRATCH_2, and FSx makes no backups of it"
    assert [one for one in found if "SCRATCH" in one] == ([text] if wrong else [])


@pytest.mark.parametrize(("region", "found"), [("us-west-2", 1), ("eu-west-1", 0)])
def test_a_selection_takes_only_what_is_in_its_region(region: str, found: int) -> None:
    written = TEMPLATE.format(chosen=f"{{ListOfTags: [{DAILY}]}}", tag="daily", linked="Scratch", deployment="PERSISTENT_2")
    others = dict(model_of(written).templates[0].document.section("Resources"))
    parts = [(region, {"Chosen": others.pop("Chosen")}), ("us-west-2", others)]
    model = Model(
        [
            Document(name=place, body={"Resources": part}, environment=Environment(region=place, account="123456789012"))
            for place, part in ((f"{name}", part) for name, part in parts)
        ]
    )
    selection = by_id(model, "Chosen")
    assert len([*WHOLES[selection.type](selection)]) == found
