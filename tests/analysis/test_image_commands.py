"""Images and charts that builds pull from ECR and push to it: the login, and tags that a repository takes once."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.image_commands import WHOLES
from hyperpod_constructs.templates.model import Model

LOGIN = "aws ecr get-login-password | docker login --username AWS --password-stdin ${REPOSITORY%%/*}"
HELM_LOGIN = "aws ecr get-login-password | helm registry login --username AWS --password-stdin $REGISTRY"
PUSH = "docker push $REPOSITORY:$TAG"
HOST = "123456789012.dkr.ecr.eu-west-2.amazonaws.com"
IMAGE = "aws/codebuild/standard:7.0"


def project(*commands: str, image: str = IMAGE, **variables: Any) -> dict[str, Any]:
    given = {"REPOSITORY": {"Fn::GetAtt": ["Images", "RepositoryUri"]}, "REGISTRY": HOST} | variables
    lines = "".join(f"      - {one}\n" for one in commands)
    properties = {
        "Source": {"Type": "NO_SOURCE", "BuildSpec": f"version: 0.2\nphases:\n  build:\n    commands:\n{lines}"},
        "Environment": {"Image": image, "EnvironmentVariables": [{"Name": key, "Value": one} for key, one in given.items()]},
    }
    return {"Type": "AWS::CodeBuild::Project", "Properties": properties}


def said(build: dict[str, Any], mutability: str = "MUTABLE", **others: Any) -> list[str]:
    images = {"Type": "AWS::ECR::Repository", "Properties": {"RepositoryName": "train/images", "ImageTagMutability": mutability}}
    model = Model.of({"t": {"Resources": {"Build": build, "Images": images, **others}}})
    return [slip.message for one in model.resources("AWS::CodeBuild::Project") for slip in WHOLES[one.type](one)]


@pytest.mark.parametrize(
    ("command", "verb"),
    [
        (PUSH, "docker push"),
        ("docker image push $REPOSITORY:$TAG", "docker push"),
        ("podman push $REPOSITORY:$TAG", "podman push"),
        ("docker push --quiet $REPOSITORY:$TAG", "docker push"),
        ("docker buildx build --push -t $REPOSITORY:$TAG .", "docker push"),
        (f"docker pull {HOST}/base:1", "docker pull"),
        ("docker pull $REGISTRY/base:1", "docker pull"),
        ("helm push chart-1.0.0.tgz oci://$REGISTRY/charts", "helm push"),
        ("helm upgrade --install own oci://$REGISTRY/charts/own --version 1.0.0", "helm upgrade"),
    ],
)
def test_fails_use_of_ecr_without_a_login(command: str, verb: str) -> None:
    message = f"{verb} uses ECR, and no command before it logs in"
    assert said(project("docker build -t a .", command)) == [message]
    assert said(project(command, LOGIN)) == [message]
    assert said(project(LOGIN, command)) == []
    assert said(project(HELM_LOGIN, command)) == []


@pytest.mark.parametrize(
    "build",
    [
        project("docker push example/image:1"),
        project("docker pull public.example.com/image:1"),
        project("docker pull $OTHER/image:1"),
        project("docker build -t $REPOSITORY:1 ."),
        project("helm install own oci://registry.example.com/charts/own"),
        project("helm install own repository/chart"),
        project(f"{PUSH} || true"),
        project("./login.sh", PUSH),
        project("make push-base", PUSH),
        project(". ./functions.sh", PUSH),
        project("$(aws ecr get-login --no-include-email)", PUSH),
        project("apt-get install amazon-ecr-credential-helper", PUSH),
        project("aws s3 cp s3://bucket/config.json ~/.docker/config.json", PUSH),
        project("""echo '{"credsStore": "ecr-login"}' > config.json""", PUSH),
        project("export DOCKER_CONFIG=/own", PUSH),
        project(PUSH, DOCKER_CONFIG="/own"),
        project(PUSH, image=f"{HOST}/builder:1"),
        project(PUSH, image="builder-with-a-helper"),
    ],
)
def test_what_may_be_logged_in(build: dict[str, Any]) -> None:
    assert said(build) == []


def machine(**parameters: Any) -> dict[str, Any]:
    task = {"Resource": "arn:aws:states:::codebuild:startBuild", "Parameters": {"ProjectName": "${Build}", **parameters}}
    definition = {"StartAt": "A", "States": {"A": {"Type": "Task", "End": True, **task}}}
    properties = {"Definition": definition, "DefinitionSubstitutions": {"Build": {"Ref": "Build"}}}
    return {"Type": "AWS::StepFunctions::StateMachine", "Properties": properties}


def clock(target: str) -> dict[str, Any]:
    properties = {"ScheduleExpression": "rate(1 day)", "Targets": [{"Id": "a", "Arn": {"Fn::GetAtt": [target, "Arn"]}}]}
    return {"Type": "AWS::Events::Rule", "Properties": properties}


HEARS = {"Type": "AWS::Events::Rule", "Properties": {"EventPattern": {"detail": {"project-name": [{"Ref": "Build"}]}}}}
NIGHTLY = {"Machine": machine(), "Clock": clock("Machine")}
OVERRIDE = [{"Name": "TAG", "Value.$": "$.tag"}]


@pytest.mark.parametrize(
    ("build", "others", "wrong"),
    [
        (project(LOGIN, PUSH, TAG="stable"), {}, "stable"),
        (project(LOGIN, PUSH, TAG="latest"), NIGHTLY, "latest"),
        (project(LOGIN, "docker push $REGISTRY/train/images:main"), {}, "main"),
        (project(LOGIN, "docker buildx build --push --tag=$REPOSITORY:dev ."), {}, "dev"),
        (project(LOGIN, PUSH, TAG="1.4.2"), NIGHTLY, "1.4.2"),
        (project(LOGIN, PUSH, TAG="1.4.2"), {"Clock": clock("Build")}, "1.4.2"),
        (project(LOGIN, "export TAG=1.4.2", PUSH), NIGHTLY, "1.4.2"),
        (
            project(LOGIN, "docker push $REPOSITORY:1.4.2"),
            {**NIGHTLY, "Other": machine(EnvironmentVariablesOverride=OVERRIDE)},
            "1.4.2",
        ),
        (project(LOGIN, PUSH, TAG="1.4.2"), {}, None),
        (project(LOGIN, PUSH, TAG="1.4.2"), {"Machine": machine()}, None),
        (project(LOGIN, PUSH, TAG="1.4.2"), {"Hears": HEARS}, None),
        (project(LOGIN, PUSH, TAG="stable"), {"Machine": machine(EnvironmentVariablesOverride=OVERRIDE)}, None),
        (project(LOGIN, PUSH), NIGHTLY, None),
        (project(LOGIN, "docker push $REPOSITORY:$CODEBUILD_BUILD_NUMBER"), NIGHTLY, None),
        (project(LOGIN, "export TAG=$(date +%s)", PUSH), NIGHTLY, None),
        (project(LOGIN, PUSH, "docker pull $REPOSITORY:latest"), NIGHTLY, None),
        (project(LOGIN, f"aws ecr describe-images --image-ids imageTag=$TAG || {PUSH}", TAG="1.4.2"), NIGHTLY, None),
        (project(LOGIN, "aws ecr batch-delete-image --image-ids imageTag=latest", PUSH, TAG="latest"), NIGHTLY, None),
        (project(LOGIN, "docker push $REGISTRY/others:latest"), NIGHTLY, None),
    ],
)
def test_tags_that_a_repository_takes_once(build: dict[str, Any], others: dict[str, Any], wrong: str | None) -> None:
    found = [] if wrong is None else [f"each build pushes the tag {wrong}, and Images takes a tag once"]
    assert said(build, "IMMUTABLE", **others) == found
    assert said(build, **others) == []
