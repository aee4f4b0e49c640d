from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.model import Model, load
from tests.analysis.test_node_programs import made
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
        {"Cluster/InstanceGroups/2/ExecutionRole": OUTSIDE, f"{SCRIPTS}/SourceS3Uri": "s3://sagemaker-research/lifecycle/"},
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


WRITES = """import boto3
def handler(event, context):
    given = event["ResourceProperties"]
    boto3.client("s3").put_object(Bucket=given["Bucket"], Key=given["Key"], Body=given["Body"].encode())
"""
STARTS = """import os
import boto3, cfnresponse
def handler(event, context):
    boto3.client("codebuild").start_build(projectName=os.environ["PROJECT"])
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {})
"""
COPIES = """version: 0.2
phases:
  build:
    commands:
      - aws s3 cp on_init_complete.sh "s3://$BUCKET/{}"
"""


def written(*keys: str) -> Template:
    """A cluster whose scripts custom resources write, one each."""
    function = {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Code": {"ZipFile": WRITES},
        "Role": "arn:aws:iam::123456789012:role/writer",
    }
    token = {"Fn::GetAtt": ["Writer", "Arn"]}
    scripts = {
        f"Script{place}": {
            "Type": "Custom::Script",
            "Properties": {"ServiceToken": token, "Bucket": {"Ref": "Scripts"}, "Key": key, "Body": "#!/bin/bash"},
        }
        for place, key in enumerate(keys)
    }
    added = {"Writer": {"Type": "AWS::Lambda::Function", "Properties": function}, **scripts}
    return edited(slurm(), {**added, "Cluster/.DependsOn": [*scripts, *WAYS]})


def built(key: str, *awaited: str) -> Template:
    """A cluster whose scripts a build copies, which a custom resource starts."""
    project = {
        "ServiceRole": "arn:aws:iam::123456789012:role/build",
        "Artifacts": {"Type": "NO_ARTIFACTS"},
        "Environment": {
            "Type": "LINUX_CONTAINER",
            "ComputeType": "BUILD_GENERAL1_SMALL",
            "Image": "aws/codebuild/standard:7.0",
            "EnvironmentVariables": [{"Name": "BUCKET", "Value": {"Ref": "Scripts"}}],
        },
        "Source": {"Type": "NO_SOURCE", "BuildSpec": COPIES.format(key)},
    }
    function = {"Runtime": "python3.13", "Handler": "index.handler", "Code": {"ZipFile": STARTS}, "Role": OUTSIDE}
    variables = {"Environment": {"Variables": {"PROJECT": {"Ref": "Build"}}}}
    added = {
        "Build": {"Type": "AWS::CodeBuild::Project", "Properties": project},
        "Starter": {"Type": "AWS::Lambda::Function", "Properties": {**function, **variables}},
        "Install": {"Type": "Custom::Install", "Properties": {"ServiceToken": {"Fn::GetAtt": ["Starter", "Arn"]}}},
    }
    return edited(slurm(), {**added, "Cluster/.DependsOn": [*awaited, *WAYS]})


def said(template: Template, rule: str = "HP-SCR-007") -> list[str]:
    return [one.message for one in findings(template, rules=rule)]


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (written("v2/on_init_complete.sh", "v2/tools.sh"), "starts with lifecycle/on_init_complete.sh, and Script0 writes v2/"),
        (written("v2/tools.sh", "lifecycle/on_create.sh"), "and Script1 writes lifecycle/on_create.sh"),
        (written("on_init_complete.sh"), "and Script0 writes on_init_complete.sh"),
        (written("lifecycle/v2/on_init_complete.sh"), "and Script0 writes lifecycle/v2/on_init_complete.sh"),
        (written("tools/other.sh"), "and Script0 writes tools/other.sh"),
        (built("scripts/on_init_complete.sh", "Install"), "and Build writes scripts/on_init_complete.sh"),
        (built("scripts/", "Install"), "and Build writes scripts/on_init_complete.sh"),
    ],
)
def test_fails_when_nodes_start_with_a_script_that_is_written_elsewhere(template: Template, text: str) -> None:
    (message,) = said(template)
    assert text in message


@pytest.mark.parametrize(
    "template",
    [
        written("lifecycle/on_init_complete.sh"),
        written("lifecycle/tools.sh", "lifecycle/on_init_complete.sh"),
        edited(written("tools/other.sh"), {"Upload": deployment(DestinationBucketKeyPrefix="lifecycle")}),
        edited(written("v2/on_init_complete.sh"), {"Script0/Bucket": "sagemaker-elsewhere"}),
        edited(written("v2/on_init_complete.sh"), {"Script0/Key": {"Ref": "AWS::StackName"}}),
        built("lifecycle/", "Install"),
        built("$CODEBUILD_BUILD_NUMBER/on_init_complete.sh", "Install"),
    ],
)
def test_passes_when_the_script_may_be_where_nodes_look_for_it(template: Template) -> None:
    assert said(template) == []


PUTS = """import boto3, cfnresponse
def handler(event, context):
    props = event["ResourceProperties"]
    boto3.client("s3").put_object(Bucket=props["Bucket"], Key=props["Prefix"] + "/on_init_complete.sh", Body=props["Script"])
"""


def put(prefix: str, code: str = PUTS) -> Template:
    """A cluster whose script a function writes below the prefix of a custom resource."""
    function = {"Runtime": "python3.13", "Handler": "index.handler", "Code": {"ZipFile": code}, "Role": OUTSIDE}
    token = {"ServiceToken": {"Fn::GetAtt": ["Publisher", "Arn"]}}
    added = {
        "Publisher": {"Type": "AWS::Lambda::Function", "Properties": function},
        "Published": {
            "Type": "Custom::Scripts",
            "Properties": {**token, "Bucket": {"Ref": "Scripts"}, "Prefix": prefix, "Script": "#!/bin/bash"},
        },
    }
    return edited(slurm(), {**added, "Cluster/.DependsOn": ["Published", *WAYS]})


def test_a_custom_resource_writes_what_its_function_does() -> None:
    assert said(put("lifecycle")) == []
    (message,) = said(edited(put("lifecycle"), {"Cluster/InstanceGroups/0/LifeCycleConfig/OnInitComplete": "prepare.sh"}))
    assert "and Published writes lifecycle/on_init_complete.sh" in message
    others = PUTS + "    boto3.client('s3').put_object(Bucket=props['Bucket'], Key=context.other, Body=b'')\n"
    unknown = edited(put("lifecycle", others), {"Cluster/InstanceGroups/0/LifeCycleConfig/OnInitComplete": "prepare.sh"})
    assert said(unknown) == []


ANSWERS = """import os, boto3, cfnresponse
def handler(event, context):
    prefix = event["ResourceProperties"]["Prefix"]
    if event["RequestType"] == "Delete":
        cfnresponse.send(event, context, cfnresponse.SUCCESS, {})
        return
    boto3.client("s3").put_object(Bucket=os.environ["BUCKET"], Key=f"{prefix}/on_init_complete.sh", Body=b"x")
    cfnresponse.send(event, context, cfnresponse.SUCCESS, {"Prefix": prefix, "Time": context.aws_request_id})
"""


def answering(name: str, prefix: Any, code: str = ANSWERS) -> Template:
    """A cluster whose groups take the prefix of their scripts from what writes these."""
    function = {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Code": {"ZipFile": code},
        "Environment": {"Variables": {"BUCKET": {"Ref": "Scripts"}}},
        "Role": "arn:aws:iam::123456789012:role/writer",
    }
    added = {
        "Writer": {"Type": "AWS::Lambda::Function", "Properties": function},
        "Script": {"Type": "Custom::Script", "Properties": {"ServiceToken": {"Fn::GetAtt": ["Writer", "Arn"]}, "Prefix": "v7"}},
    }
    place = {"Fn::Join": ["", ["s3://", {"Ref": "Scripts"}, "/", prefix]]}
    configuration = {"SourceS3Uri": place, "OnInitComplete": name}
    groups = {f"Cluster/InstanceGroups/{index}/LifeCycleConfig": configuration for index in range(3)}
    return edited(slurm(), {**added, **groups, "Cluster/.DependsOn": ["Script", *WAYS]})


ANSWERED = {"Fn::GetAtt": ["Script", "Prefix"]}


@pytest.mark.parametrize(
    ("template", "wrong"),
    [
        (answering("setup.sh", ANSWERED), True),
        (answering(SCRIPT, {"Fn::Join": ["/", [ANSWERED, "slurm"]]}), True),
        (answering(SCRIPT, "v8"), True),
        (answering(SCRIPT, ANSWERED), False),
        (answering(SCRIPT, ANSWERED, ANSWERS.replace('"Prefix": prefix', '"Prefix": prefix + "/x"')), True),
        (answering(SCRIPT, {"Fn::GetAtt": ["Script", "Time"]}), False),
        (answering(SCRIPT, ANSWERED, ANSWERS.replace('"Prefix": prefix', '"Prefix": made(prefix)')), False),
        (answering(SCRIPT, ANSWERED, ANSWERS.replace("SUCCESS, {})", 'SUCCESS, {"Prefix": "gone"})')), False),
        (answering(SCRIPT, ANSWERED, ANSWERS.replace('{"Prefix": prefix, ', '{**answer, "Prefix": prefix + "/x", ')), False),
    ],
)
def test_scripts_are_where_the_function_says_that_it_writes_them(template: Template, wrong: bool) -> None:
    assert bool(said(template)) is wrong


@pytest.mark.parametrize(
    ("uploaded", "named", "wrong"),
    [
        ("lifecycle/9f31c2", "lifecycle/4b07aa", True),
        ("lifecycle/v1.2", "lifecycle/v1.3/", True),
        ("lifecycle/9f31c2", "lifecycle/9f31c2", False),
        ("lifecycle/9f31c2", "tools/4b07aa", False),
        ("lifecycle/9f31c2", "lifecycle/compute", False),
        ({"Ref": "AWS::StackName"}, "lifecycle/4b07aa", False),
    ],
)
@pytest.mark.parametrize("beside", [True, False])
def test_scripts_have_the_version_that_is_uploaded(uploaded: Any, named: str, wrong: bool, beside: bool) -> None:
    """Also in another stack, beside what empties the bucket; another upload may have any version."""
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "sagemaker-scripts"}}
    upload = deployment(DestinationBucketKeyPrefix=uploaded)
    empty = {"Type": "Custom::S3AutoDeleteObjects", "Properties": {**OWN, "BucketName": {"Ref": "Scripts"}}}
    other = {
        "Upload": upload,
        "Empty": empty,
        "Other": {**upload, "Type": "AWS::CodeBuild::Project" if not beside else empty["Type"]},
    }
    storage = {
        "Resources": {"Scripts": bucket, **other},
        "Outputs": {"Scripts": {"Value": {"Ref": "Scripts"}, "Export": {"Name": "scripts"}}},
    }
    place = {"Fn::Join": ["", ["s3://", {"Fn::ImportValue": "scripts"}, f"/{named}"]]}
    cluster = edited(slurm(), {f"Cluster/InstanceGroups/{index}/LifeCycleConfig/SourceS3Uri": place for index in range(3)})
    found = check(Model.of({"storage": storage, "cluster": cluster}))
    assert any(one.rule == "HP-SCR-007" for one in found) is (wrong and beside)


@pytest.mark.parametrize(("accepting", "found"), [("Scripts", []), ("Cluster", []), ("Bucket", ["Scripts"]), (None, ["Scripts"])])
def test_a_file_that_lacks_is_said_at_its_script_and_accepted_at_the_cluster_too(accepting: str | None, found: list[str]) -> None:
    raw = json.loads(json.dumps(made({"mount.sh": None}).templates[0].raw))
    if accepting is not None:
        accepted = {"Acknowledge": [{"Rule": "HP-SCR-007", "Reason": "the image has it"}]}
        raw["Resources"][accepting]["Metadata"] = {"HyperPodRules": accepted}
    assert [one.resource for one in check(Model.of({"t": raw})) if one.rule == "HP-SCR-007"] == found


def test_fails_when_a_cluster_does_not_await_the_build_that_copies_its_scripts() -> None:
    (message,) = said(built("lifecycle/"), "HP-SCR-005")
    assert "does not await Install, which uploads the scripts" in message
    assert said(built("lifecycle/", "Install"), "HP-SCR-005") == said(built("tools/"), "HP-SCR-005") == []
