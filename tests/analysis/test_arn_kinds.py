"""ARNs with the name of a resource behind the word of another kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.arn_kinds import other_kind
from hyperpod_constructs.templates.model import Model
from tests.templates.models import by_id, model_of

HERE = "${AWS::Region}:${AWS::AccountId}"


def said(arn: str, **resources: Any) -> bool:
    """Whether the ARN that a selection of backups names is of another kind than what has the name."""
    return other_kind(by_id(_model(arn, resources), "Backup").get("BackupSelection", "Resources", 0)) is not None


def _model(arn: str, resources: dict[str, Any]) -> Model:
    selection = {"BackupSelection": {"Resources": [{"Fn::Sub": arn}]}}
    types = {
        "Books": "RDS::DBInstance",
        "Group": "RDS::DBCluster",
        "Role": "IAM::Role",
        "Files": "EFS::FileSystem",
        "Lustre": "FSx::FileSystem",
        "Data": "Glue::Database",
        "Node": "EC2::Instance",
        "Disk": "EC2::Volume",
        "Control": "EKS::Cluster",
        "Train": "SageMaker::Cluster",
        "Bus": "Events::EventBus",
    }
    made = {name: {"Type": f"AWS::{kind}", "Properties": {}} for name, kind in types.items()}
    return model_of(
        json.dumps(
            {"Resources": {**made, "Backup": {"Type": "AWS::Backup::BackupSelection", "Properties": selection}, **resources}}
        )
    )


def profile(name: Any) -> dict[str, Any]:
    return {"Profile": {"Type": "AWS::IAM::InstanceProfile", "Properties": {"InstanceProfileName": name}}}


@pytest.mark.parametrize(
    ("arn", "wrong"),
    [
        (f"arn:${{AWS::Partition}}:rds:{HERE}:cluster:${{Books}}", True),
        (f"arn:${{AWS::Partition}}:rds:{HERE}:db:${{Books}}", False),
        (f"arn:aws:rds:{HERE}:db:${{Group}}", True),
        (f"arn:aws:rds:{HERE}:cluster:${{Group}}", False),
        (f"arn:aws:rds:{HERE}:db/${{Books}}", True),
        (f"arn:aws:rds:{HERE}:subgrp:${{Books}}", False),
        (f"arn:aws:elasticfilesystem:{HERE}:file-system/${{Lustre}}", True),
        (f"arn:aws:fsx:{HERE}:file-system/${{Files}}", True),
        (f"arn:aws:fsx:{HERE}:volume/${{Lustre}}", True),
        (f"arn:aws:fsx:{HERE}:volume/${{Lustre}}/*", False),
        (f"arn:aws:ec2:{HERE}:volume/${{Node}}", True),
        (f"arn:aws:ec2:{HERE}:instance/${{Node}}", False),
        (f"arn:aws:glue:{HERE}:table/${{Data}}/runs", False),
        (f"arn:aws:ssm:{HERE}:parameter/${{Node}}", False),
        (f"arn:aws:logs:{HERE}:log-group:${{Node}}", False),
        (f"arn:aws:eks:{HERE}:nodegroup/${{Control}}", False),
        (f"arn:aws:sagemaker:{HERE}:cluster/${{Control}}", True),
        (f"arn:aws:events:{HERE}:rule/${{Bus}}/nightly", False),
        ("arn:aws:iam::${AWS::AccountId}:user/${Role}", True),
        ("arn:aws:iam::${AWS::AccountId}:role/${Role}", False),
    ],
)
def test_the_word_before_a_name_is_that_of_its_kind(arn: str, wrong: bool) -> None:
    assert said(arn) is wrong


def test_a_name_that_another_resource_takes_over_is_its_name_too() -> None:
    arn = "arn:aws:iam::${AWS::AccountId}:instance-profile/${Role}"
    assert said(arn, **profile({"Ref": "Role"})) is False
    assert said(arn, **profile("nodes")) is True


def test_a_chosen_name_may_be_that_of_something_else() -> None:
    role = {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "people"}}
    assert said("arn:aws:iam::${AWS::AccountId}:user/${Role}", Role=role) is False
