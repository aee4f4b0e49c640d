"""Domains of Studio, their users and spaces, and what stands beside: notebooks, models and functions in a VPC."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case
from tests.rules.catalogue.templates import Template

ROLE, GROUPS, TWO = (
    "arn:aws:iam::123456789012:role/studio",
    ["sg-0123456789abcdef0"],
    ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
)


def _resource(kind: str, **properties: Any) -> Template:
    return {"Type": f"AWS::{kind}", "Properties": properties}


STUDIO: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        "Studio": _resource(
            "SageMaker::Domain",
            AuthMode="IAM",
            DomainName="research",
            AppNetworkAccessType="VpcOnly",
            VpcId="vpc-0123456789abcdef0",
            SubnetIds=TWO,
            DefaultUserSettings={"ExecutionRole": ROLE, "SecurityGroups": GROUPS, "DefaultLandingUri": "studio::"},
        ),
        "Ada": _resource("SageMaker::UserProfile", DomainId={"Fn::GetAtt": ["Studio", "DomainId"]}, UserProfileName="ada"),
        "Notes": {
            "DependsOn": ["Ada"],
            **_resource(
                "SageMaker::Space",
                DomainId={"Ref": "Studio"},
                SpaceName="notes",
                OwnershipSettings={"OwnerUserProfileName": "ada"},
                SpaceSharingSettings={"SharingType": "Private"},
            ),
        },
        "Book": _resource(
            "SageMaker::NotebookInstance",
            InstanceType="ml.m5.xlarge",
            RoleArn=ROLE,
            RootAccess="Disabled",
            DirectInternetAccess="Disabled",
            SubnetId=TWO[0],
            SecurityGroupIds=GROUPS,
        ),
        "Llm": _resource(
            "SageMaker::Model",
            ExecutionRoleArn=ROLE,
            PrimaryContainer={"Image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/llm:1"},
            VpcConfig={"Subnets": TWO, "SecurityGroupIds": GROUPS},
        ),
        "Tool": _resource(
            "Lambda::Function",
            Runtime="python3.13",
            Handler="index.handler",
            Role=ROLE,
            Code={"ZipFile": "def handler(event, context): pass"},
            VpcConfig={"SubnetIds": TWO, "SecurityGroupIds": GROUPS},
        ),
    },
}
FILES = "Studio/DefaultUserSettings/CustomFileSystemConfigs"
EFS = {"EFSFileSystemConfig": {"FileSystemId": "fs-0123456789abcdef0", "FileSystemPath": "/"}}
LUSTRE = {"FSxLustreFileSystemConfig": {"FileSystemId": "fs-0123456789abcdef1", "FileSystemPath": "/"}}
SUB = {"ImageName": "lab", "AppImageConfigName": {"Ref": "LabConfig"}}
LAB: Template = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Resources": {
        **STUDIO["Resources"],
        "Lab": _resource("SageMaker::Image", ImageName="lab", ImageRoleArn=ROLE),
        "LabConfig": _resource("SageMaker::AppImageConfig", AppImageConfigName="lab", JupyterLabAppImageConfig={}),
        "Grace": _resource(
            "SageMaker::UserProfile",
            DomainId={"Ref": "Studio"},
            UserProfileName="grace",
            UserSettings={"JupyterLabAppSettings": {"CustomImages": [SUB]}},
        ),
    },
}
IMAGE = "Grace/UserSettings/JupyterLabAppSettings/CustomImages/0"
OWNER, LANDING = "Notes/OwnershipSettings/OwnerUserProfileName", "Studio/DefaultUserSettings"
HELPER = {
    "Type": "Custom::Users",
    "Properties": {"ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:users", "Of": {"Ref": "Studio"}},
}


@pytest.mark.parametrize(
    "case",
    [
        Case("HP-TXT-010", STUDIO, {OWNER: "grace"}, {OWNER: "grace", "Users": HELPER, "Notes/.DependsOn": ["Users"]}),
        Case("HP-DEP-002", STUDIO, {"Notes/.DependsOn": REMOVED}, {}),
        Case("HP-SCH-007", STUDIO, {f"{LANDING}/StudioWebPortal": "DISABLED"}, {f"{LANDING}/StudioWebPortal": "ENABLED"}),
        Case(
            "HP-SCH-007",
            STUDIO,
            {"Book/SecurityGroupIds": REMOVED},
            {"Book/SecurityGroupIds": REMOVED, "Book/DirectInternetAccess": "Enabled"},
        ),
        Case(
            "HP-SCH-007",
            STUDIO,
            {"Tool/VpcConfig/SecurityGroupIds": []},
            {"Tool/VpcConfig": {"SubnetIds": [], "SecurityGroupIds": []}},
        ),
        Case("HP-SCH-007", STUDIO, {"Tool/VpcConfig/SubnetIds": []}, {"Tool/VpcConfig": REMOVED}),
        Case("HP-SCH-007", STUDIO, {FILES: [{**EFS, **LUSTRE}]}, {FILES: [EFS, LUSTRE]}),
        Case("HP-TXT-011", LAB, {f"{IMAGE}/ImageName": "Lab"}, {f"{IMAGE}/ImageName": "lab"}),
        Case(
            "HP-TXT-012",
            LAB,
            {"LabConfig/JupyterLabAppImageConfig": REMOVED, "LabConfig/CodeEditorAppImageConfig": {}},
            {"LabConfig/CodeEditorAppImageConfig": {}},
        ),
    ],
)
def test_a_mistake_gives_one_finding(case: Case) -> None:
    case.check()
