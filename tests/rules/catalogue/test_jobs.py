"""Jobs, builds and pipelines: each mistake in their documents and between them is one finding, and correct ones have none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import Template, findings
from tests.rules.catalogue.text_bases import KEPT, att, function, resource

ROLE = "arn:aws:iam::123456789012:role/service"
RULES = ("HP-TXT-006", "HP-TXT-007", "HP-TXT-011", "HP-TXT-012", "HP-SCH-007", "HP-REF-012")
SPEC = 'version: 0.2\nphases:\n  build:\n    commands:\n      - make\nartifacts:\n  files: ["**/*"]\n'
STEP = "\n      - name: tools\n        action: ExecuteBash\n"
PART = f"schemaVersion: 1.0\nphases:\n  - name: build\n    steps:{STEP}"

PARENT = "arn:aws:imagebuilder:us-west-2:aws:image/amazon-linux-2023-arm64/x.x.x"
MODELS: dict[str, Any] = {
    "Version": "2020-12-01",
    "Parameters": [{"Name": "Input", "Type": "String"}],
    "Steps": [
        {"Name": "Look", "Type": "Lambda", "FunctionArn": "${Count.Arn}", "Arguments": {"a": {"Get": "Parameters.Input"}}},
        {
            "Name": "Stop",
            "Type": "Fail",
            "DependsOn": ["Look"],
            "Arguments": {"ErrorMessage": {"Get": "Steps.Look.OutputParameters['a']"}},
        },
    ],
}


def action(category: str, provider: str, **given: Any) -> dict[str, Any]:
    kind = {"Category": category, "Owner": "AWS", "Provider": provider, "Version": "1"}
    return {"Name": provider, "ActionTypeId": kind, **given}


SOURCE = action(
    "Source",
    "S3",
    Configuration={"S3Bucket": "code", "S3ObjectKey": "code.zip"},
    OutputArtifacts=[{"Name": "Code"}],
)
BUILD = action(
    "Build",
    "CodeBuild",
    Configuration={"ProjectName": {"Ref": "Build"}},
    InputArtifacts=[{"Name": "Code"}],
    OutputArtifacts=[{"Name": "Built"}],
)
STACK = {
    "ActionMode": "CREATE_UPDATE",
    "StackName": "jobs",
    "RoleArn": ROLE,
    "TemplatePath": "Built::jobs.yaml",
    "Capabilities": "CAPABILITY_IAM,CAPABILITY_AUTO_EXPAND",
}
DEPLOY = action("Deploy", "CloudFormation", Configuration=STACK, InputArtifacts=[{"Name": "Built"}], RunOrder=2)
ASK = action("Approval", "Manual", Configuration={"NotificationArn": {"Ref": "Told"}}, RunOrder=3)
SIZES = [{"Type": "VCPU", "Value": "2"}, {"Type": "MEMORY", "Value": "8192"}]
BASE: Template = {
    "Resources": {
        "Count": function("def handler(event, context):\n    return {}\n", ReservedConcurrentExecutions=10),
        "Queue": {**resource("AWS::SQS::Queue"), **KEPT},
        "Source": resource(
            "AWS::Lambda::EventSourceMapping",
            FunctionName={"Ref": "Count"},
            EventSourceArn=att("Queue"),
            ScalingConfig={"MaximumConcurrency": 10},
        ),
        "Build": resource(
            "AWS::CodeBuild::Project",
            ServiceRole=ROLE,
            Artifacts={"Type": "CODEPIPELINE"},
            Source={"Type": "CODEPIPELINE", "BuildSpec": SPEC},
            Environment={
                "Type": "LINUX_CONTAINER",
                "ComputeType": "BUILD_GENERAL1_SMALL",
                "Image": "aws/codebuild/amazonlinux-x86_64-standard:5.0",
            },
        ),
        "Release": resource(
            "AWS::CodePipeline::Pipeline",
            RoleArn=ROLE,
            ArtifactStore={"Type": "S3", "Location": "artifacts"},
            Stages=[{"Name": "Source", "Actions": [SOURCE]}, {"Name": "Build", "Actions": [BUILD, DEPLOY, ASK]}],
        ),
        "Models": resource(
            "AWS::SageMaker::Pipeline",
            PipelineName="models",
            RoleArn=ROLE,
            PipelineDefinition={"PipelineDefinitionBody": {"Fn::Sub": json.dumps(MODELS)}},
        ),
        "Told": resource("AWS::SNS::Topic"),
        "Recipe": resource("AWS::ImageBuilder::ImageRecipe", Name="a", Version="1.0.0", ParentImage=PARENT, Components=[]),
        "Place": resource(
            "AWS::ImageBuilder::InfrastructureConfiguration", InstanceProfileName="builder", InstanceTypes=["c7g.large"]
        ),
        "Images": resource(
            "AWS::ImageBuilder::ImagePipeline",
            Name="a",
            ImageRecipeArn={"Ref": "Recipe"},
            InfrastructureConfigurationArn={"Ref": "Place"},
        ),
        "Recorder": resource(
            "AWS::Config::ConfigurationRecorder", RoleARN=ROLE, RecordingGroup={"ResourceTypes": ["AWS::S3::Bucket"]}
        ),
        "Versions": resource(
            "AWS::Config::ConfigRule",
            Source={"Owner": "AWS", "SourceIdentifier": "S3_BUCKET_VERSIONING_ENABLED"},
            Scope={"ComplianceResourceTypes": ["AWS::S3::Bucket"]},
        ),
        "Part": resource("AWS::ImageBuilder::Component", Name="tools", Version="1.0.0", Platform="Linux", Data=PART),
        "Small": resource(
            "AWS::Batch::ComputeEnvironment",
            Type="MANAGED",
            ComputeResources={"Type": "FARGATE", "MaxvCpus": 8, "Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
        ),
        "Large": resource(
            "AWS::Batch::ComputeEnvironment",
            Type="MANAGED",
            ComputeResources={
                "Type": "EC2",
                "InstanceTypes": ["optimal"],
                "InstanceRole": "ecsInstanceRole",
                "MinvCpus": 0,
                "MaxvCpus": 8,
                "Subnets": ["subnet-1"],
                "SecurityGroupIds": ["sg-1"],
            },
        ),
        "Waiting": resource(
            "AWS::Batch::JobQueue", Priority=1, ComputeEnvironmentOrder=[{"Order": 1, "ComputeEnvironment": {"Ref": "Small"}}]
        ),
        "Job": resource(
            "AWS::Batch::JobDefinition",
            Type="container",
            PlatformCapabilities=["FARGATE"],
            ContainerProperties={
                "Image": "python",
                "ExecutionRoleArn": ROLE,
                "ResourceRequirements": SIZES,
                "Volumes": [{"Name": "data"}],
                "MountPoints": [{"SourceVolume": "data", "ContainerPath": "/data"}],
            },
        ),
        "Features": resource(
            "AWS::SageMaker::FeatureGroup",
            FeatureGroupName="samples",
            RecordIdentifierFeatureName="sample_id",
            EventTimeFeatureName="time",
            OnlineStoreConfig={"EnableOnlineStore": True},
            FeatureDefinitions=[
                {"FeatureName": "sample_id", "FeatureType": "Integral"},
                {"FeatureName": "time", "FeatureType": "String"},
            ],
        ),
    }
}


def said(changes: dict[str, Any]) -> list[str]:
    found = findings(edited(BASE, changes), rules="HP-")
    return [one.message for one in found if one.rule in RULES]


def started(name: str) -> dict[str, Any]:
    target = {
        "Id": "models",
        "Arn": {"Fn::Sub": "arn:aws:sagemaker:${AWS::Region}:${AWS::AccountId}:pipeline/${Models}"},
        "RoleArn": ROLE,
        "SageMakerPipelineParameters": {"PipelineParameterList": [{"Name": name, "Value": "s3://a/b"}]},
    }
    return {"Nightly": resource("AWS::Events::Rule", ScheduleExpression="rate(1 day)", Targets=[target])}


def models(**changes: Any) -> dict[str, Any]:
    return {"Models/PipelineDefinition/PipelineDefinitionBody": {"Fn::Sub": json.dumps({**MODELS, **changes})}}


def triggered(name: str) -> dict[str, Any]:
    started = {"ProviderType": "CodeStarSourceConnection", "GitConfiguration": {"SourceActionName": name}}
    return {"Release/Triggers": [started], "Release/PipelineType": "V2"}


def connected(repository: str) -> dict[str, Any]:
    connection = "arn:aws:codeconnections:us-west-2:123456789012:connection/0f1d2c3b-4a59-4687-8796-a5b4c3d2e1f0"
    given = {"ConnectionArn": connection, "FullRepositoryId": repository, "BranchName": "main"}
    kind = {"Category": "Source", "Owner": "AWS", "Provider": "CodeStarSourceConnection", "Version": "1"}
    return {"Release/Stages/0/Actions/0": {**SOURCE, "ActionTypeId": kind, "Configuration": given}}


STACKED = "Release/Stages/1/Actions/1/Configuration"
MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"Source/ScalingConfig/MaximumConcurrency": 11}, "calls Count 11 times at once, and 10 are reserved"),
    ({"Build/Source/BuildSpec": SPEC.replace("0.2", "1.0")}, "has the version 1.0"),
    ({"Build/Source/BuildSpec": SPEC.replace("  build:", "  prebuild:")}, "a build has no phase prebuild"),
    ({"Build/Source/BuildSpec": SPEC.replace("commands", "command")}, "the phase build has no commands, but command"),
    ({"Build/Source/BuildSpec": SPEC.replace("phases", "phase")}, "a build has no phase; the nearest is phases"),
    ({"Release/Stages/1/Name": "Source"}, "two stages are named 'Source'"),
    ({"Release/Stages/1": REMOVED}, "the pipeline has one stage"),
    ({"Release/Stages/0/Actions/0/ActionTypeId/Category": "Build"}, "the first stage has an action of the category Build"),
    ({"Release/Stages/1/Actions/0/InputArtifacts/0/Name": "code"}, "no action before gives an artifact 'code'"),
    ({"Release/Stages/1/Actions/1/RunOrder": 1}, "no action before gives an artifact 'Built'"),
    ({"Release/Stages/1/Actions/0/OutputArtifacts/0/Name": "Code", "Release/Stages/1/Actions/1": REMOVED}, "two actions give"),
    ({"Release/Stages/1/Actions/0/InputArtifacts": []}, "an action of CodeBuild has 0 InputArtifacts"),
    ({"Release/Stages/0/Actions/0/Configuration": {"S3Bucket": "code", "S3Key": "a"}}, "an action of S3 has no S3ObjectKey"),
    ({"Release/Stages/1/Actions/0/Configuration/ProjectName": att("Build")}, "ProjectName is Arn of Build"),
    ({"Release/Stages/1/Actions/0/ActionTypeId/Version": "2"}, "AWS has no version 2 of this action"),
    (triggered("Code"), "no source is named 'Code'"),
    (connected("https://github.com/team/jobs"), "FullRepositoryId is 'https://github.com/team/jobs'"),
    ({f"{STACKED}/ActionMode": "CREATE"}, "CloudFormation has no mode CREATE"),
    ({f"{STACKED}/StackName": REMOVED}, "the mode CREATE_UPDATE has no StackName"),
    ({f"{STACKED}/Capabilities": "CAPABILITY_IAMS"}, "there is no capability CAPABILITY_IAMS; the nearest is CAPABILITY_IAM"),
    ({f"{STACKED}/TemplatePath": "Code::jobs.yaml"}, "TemplatePath names no file of an artifact"),
    ({f"{STACKED}/TemplatePath": "jobs.yaml"}, "TemplatePath names no file of an artifact"),
    ({"Release/Stages/1/Actions/2/Configuration/NotificationArn": att("Queue")}, "is the ARN of a queue"),
    ({"Release/Stages/1/Actions/0/Configuration/PrimarySource": "Built"}, "the build takes no artifact 'Built'"),
    ({"Part/Data": PART.replace("ExecuteBash", "RunBash")}, "a step has no action RunBash; the nearest is ExecuteBash"),
    ({"Place/InstanceTypes": ["m7i.large"]}, "Place builds on m7i.large, and the image of Recipe is for other processors"),
    ({"Versions/Scope/ComplianceResourceTypes": ["AWS::IAM::Role"]}, "Recorder does not record AWS::IAM::Role"),
    (started("Data"), "Models has no parameter 'Data'"),
    ({**started("Input"), "Nightly/Targets/0/Arn": {"Ref": "Models"}}, "is no ARN: Ref of AWS::SageMaker::Pipeline"),
    (models(Parameters=[]), "reads Parameters.Input, which is not there"),
    (models(Steps=[MODELS["Steps"][0], {**MODELS["Steps"][1], "DependsOn": ["Lock"]}]), "depends on 'Lock', which is no step"),
    (models(Steps=[MODELS["Steps"][0], MODELS["Steps"][0]]), "two steps are named 'Look'"),
    ({"Part/Data": "schemaVersion: 1.0\n"}, "the component has no phases"),
    ({"Part/Data": PART.replace("build", "install")}, "Image Builder runs no phase install"),
    ({"Waiting/ComputeEnvironmentOrder/1": {"Order": 2, "ComputeEnvironment": {"Ref": "Large"}}}, "of FARGATE and of EC2"),
    ({"Job/ContainerProperties/ResourceRequirements/1/Value": "3000"}, "with 2 vCPUs has 3000 MiB"),
    ({"Job/ContainerProperties/ResourceRequirements/0/Value": "3"}, "a job on Fargate has 3 vCPUs"),
    ({"Job/ContainerProperties/MountPoints/0/SourceVolume": "date"}, "which is no Name of Volumes"),
    ({"Job/ContainerProperties/ExecutionRoleArn": REMOVED}, "ExecutionRoleArn is missing"),
    ({"Small/ComputeResources/MinvCpus": 1}, "MinvCpus is not taken here"),
    ({"Features/RecordIdentifierFeatureName": "sample"}, "which is no FeatureName of FeatureDefinitions"),
    ({"Features/FeatureDefinitions/1/FeatureType": "Integral"}, "EventTimeFeatureName is 'time'"),
]


def test_correct_ones_have_no_finding() -> None:
    assert said({}) == []


@pytest.mark.parametrize(("changes", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_fails_a_mistake(changes: dict[str, Any], message: str) -> None:
    (found,) = said(changes)
    assert message in found


@pytest.mark.parametrize(
    "changes",
    [
        started("Input"),
        {"Build/Source/BuildSpec": "builds/image.yaml"},
        {"Recorder/RecordingGroup": {"AllSupported": True}, "Versions/Scope/ComplianceResourceTypes": ["AWS::IAM::Role"]},
        {"Place/InstanceTypes": ["m7i.large", "m7g.large"]},
        triggered("S3"),
        connected("team/jobs"),
        {"Build/Source/BuildSpec": {"Fn::Sub": SPEC.replace("build:", "${AWS::Region}:")}},
        {"Release/Stages/1/Actions/0/InputArtifacts/0/Name": {"Ref": "AWS::StackName"}},
        {"Features/FeatureDefinitions": {"Ref": "AWS::NoValue"}},
        {"Job/ContainerProperties/ResourceRequirements/1/Value": {"Ref": "AWS::StackName"}},
        models(Steps=[MODELS["Steps"][0], {**MODELS["Steps"][1], "DependsOn": ["${AWS::Region}"]}]),
    ],
)
def test_unknown_parts_are_believed(changes: dict[str, Any]) -> None:
    assert said(changes) == []
