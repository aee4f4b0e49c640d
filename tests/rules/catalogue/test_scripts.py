from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.model import load
from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import WAYS, Template, eks, findings, slurm

SCRIPTS = "Cluster/InstanceGroups/2/LifeCycleConfig"
OUTSIDE = "arn:aws:iam::123456789012:role/nodes"
SCRIPT = "on_init_complete.sh"
HASH = "0123456789abcdef" * 4


def deployment(**properties: Any) -> Template:
    """The resources of CDK's BucketDeployment."""
    return {
        "Type": "Custom::CDKBucketDeployment",
        "Properties": {
            "ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:deploy",
            "SourceBucketNames": ["assets"],
            "SourceObjectKeys": [f"{HASH}.zip"],
            "DestinationBucketName": {"Ref": "Scripts"},
            **properties,
        },
    }


UPLOADED = edited(slurm(), {"Upload": deployment(DestinationBucketKeyPrefix="lifecycle"), "Cluster/.DependsOn": ["Upload", *WAYS]})
OWN = {"ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:load"}

CASES = [
    Case("HP-SCR-001", slurm(), {f"{SCRIPTS}/OnCreate": "on_create.sh"}, {f"{SCRIPTS}/OnCreate": {"Ref": "AWS::NoValue"}}),
    Case("HP-SCR-002", slurm(), {f"{SCRIPTS}/OnInitComplete": REMOVED}, {SCRIPTS: REMOVED}),
    Case("HP-SCR-002", slurm(), {f"{SCRIPTS}/SourceS3Uri": REMOVED}, {SCRIPTS: REMOVED}),
    Case(
        "HP-SCR-003",
        UPLOADED,
        {"Upload/Key": "lifecycle/provisioning_parameters.json"},
        {"Upload/Key": "lifecycle/parameters.json"},
    ),
    Case(
        "HP-SCR-004",
        slurm(),
        {"Cluster/InstanceGroups/2/ExecutionRole": OUTSIDE, f"{SCRIPTS}/SourceS3Uri": "s3://research-scripts/lifecycle/"},
        {"Cluster/InstanceGroups/2/ExecutionRole": OUTSIDE, f"{SCRIPTS}/SourceS3Uri": "s3://sagemaker-scripts/lifecycle/"},
    ),
    Case("HP-SCR-005", UPLOADED, {"Cluster/.DependsOn": REMOVED}, {"Upload/DestinationBucketKeyPrefix": "lifecycle/v1"}),
    Case(
        "HP-SCR-005",
        slurm(),
        {"Load": {"Type": "Custom::Loader", "Properties": {**OWN, "BucketName": {"Ref": "Scripts"}}}},
        {"Load": {"Type": "Custom::Loader", "Properties": {**OWN, "BucketName": {"Ref": "Data"}}}},
    ),
    Case(
        "HP-SCR-005",
        slurm(),
        {"Upload": deployment()},
        {
            "Other": deployment(DestinationBucketKeyPrefix="tools"),
            "Empty": {"Type": "Custom::S3AutoDeleteObjects", "Properties": {**OWN, "BucketName": {"Ref": "Scripts"}}},
            "Preflight": {"Type": "Custom::HyperPodPreflight", "Properties": {**OWN, "Bucket": {"Ref": "Scripts"}}},
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(("name", "rules"), [("provisioning_parameters.json", ["HP-SCR-003"]), ("on_create.sh", [])])
def test_the_legacy_file_is_found_in_an_asset_beside_the_template(tmp_path: Path, name: str, rules: list[str]) -> None:
    (tmp_path / f"asset.{HASH}").mkdir()
    for one in (name, SCRIPT):
        (tmp_path / f"asset.{HASH}" / one).write_text("{}")
    template = tmp_path / "t.template.json"
    template.write_text(json.dumps(UPLOADED))
    assert [finding.rule for finding in check(load([template]))] == rules


@pytest.mark.parametrize(("names", "rules"), [(["data.txt", SCRIPT], []), (["data.txt", "other.sh"], ["HP-SCR-007"])])
def test_the_entry_point_is_in_one_of_several_assets(tmp_path: Path, names: list[str], rules: list[str]) -> None:
    hashes = [HASH, HASH[::-1]]
    for digest, name in zip(hashes, names, strict=True):
        (tmp_path / f"asset.{digest}").mkdir()
        (tmp_path / f"asset.{digest}" / name).write_text("x")
    keys = [f"{digest}.zip" for digest in hashes]
    template = tmp_path / "t.template.json"
    template.write_text(
        json.dumps(edited(UPLOADED, {"Upload/SourceObjectKeys": keys, "Upload/SourceBucketNames": ["assets", "more"]}))
    )
    assert [finding.rule for finding in check(load([template]))] == rules


def test_the_legacy_file_is_where_it_belongs_without_the_api(tmp_path: Path) -> None:
    changes = {f"Cluster/InstanceGroups/{index}/SlurmConfig": REMOVED for index in range(3)}
    legacy = edited(
        UPLOADED,
        {
            "Upload/Key": "lifecycle/provisioning_parameters.json",
            "Cluster/Orchestrator": REMOVED,
            "Cluster/NodeProvisioningMode": REMOVED,
            **changes,
        },
    )
    template = tmp_path / "t.json"
    template.write_text(json.dumps(legacy))
    assert [finding.rule for finding in check(load([template]))] == []


@pytest.mark.parametrize(
    ("template", "allowed"),
    [(slurm(), "SourceS3Uri with one of OnCreate and OnInitComplete"), (eks(), "SourceS3Uri with OnCreate")],
)
def test_scripts_of_eks_run_by_on_create(template: Template, allowed: str) -> None:
    (found,) = findings(edited(template, {"Cluster/InstanceGroups/0/LifeCycleConfig/SourceS3Uri": REMOVED}))
    assert (found.rule, found.allowed) == ("HP-SCR-002", allowed)


@pytest.mark.parametrize(("template", "allowed"), [(slurm(), "OnCreate, or OnInitComplete"), (eks(), "OnCreate")])
def test_the_entry_point_to_keep_is_the_orchestrator_s(template: Template, allowed: str) -> None:
    both = {"SourceS3Uri": "s3://sagemaker-scripts/lifecycle/", "OnCreate": "create.sh", "OnInitComplete": "extend.sh"}
    found = findings(edited(template, {"Cluster/InstanceGroups/0/LifeCycleConfig": both}), rules="HP-SCR-001")
    assert [finding.allowed for finding in found] == [allowed]


PUTS = """import boto3
def handler(event, context):
    given = event["ResourceProperties"]
    for name, text in given["Files"].items():
        boto3.client("s3").put_object(Bucket=given["Bucket"], Key=f"{given['Prefix']}/{name}", Body=text.encode())
"""
LOADER = {
    "Type": "AWS::Lambda::Function",
    "Properties": {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Timeout": 60,
        "Role": "arn:aws:iam::123456789012:role/load",
        "Code": {"ZipFile": PUTS},
    },
}
LOADED = edited(
    slurm(),
    {
        "Loader": LOADER,
        "Load": {
            "Type": "Custom::Scripts",
            "Properties": {
                "ServiceToken": {"Fn::GetAtt": ["Loader", "Arn"]},
                "Bucket": {"Ref": "Scripts"},
                "Prefix": "lifecycle",
                "Files": {SCRIPT: "#!/bin/bash", "worker.sh": "#!/bin/bash"},
            },
        },
        "Cluster/.DependsOn": ["Load", *WAYS],
    },
)
OF_OTHERS = {"Fn::Sub": "s3://${Scripts}/others/"}


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, False),
        ({f"{SCRIPTS}/OnInitComplete": "worker.sh"}, False),
        ({f"{SCRIPTS}/OnInitComplete": "login.sh"}, True),
        ({f"{SCRIPTS}/OnInitComplete": "login.sh", "Loader/Code/ZipFile": PUTS.replace("put_object", "delete_object")}, False),
        ({f"{SCRIPTS}/SourceS3Uri": OF_OTHERS}, True),
        ({f"{SCRIPTS}/SourceS3Uri": OF_OTHERS, "More": {"Type": "Custom::More", "Properties": {"To": {"Ref": "Scripts"}}}}, False),
        ({f"{SCRIPTS}/SourceS3Uri": "s3://sagemaker-scripts/others/"}, False),
    ],
)
def test_scripts_are_where_a_function_of_the_template_puts_them(changes: dict[str, Any], found: bool) -> None:
    assert [one.rule for one in findings(edited(LOADED, changes), rules="HP-SCR-007")] == ["HP-SCR-007"] * found
