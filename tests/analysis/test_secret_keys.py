"""Keys of secrets in the variables of builds and containers."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.references.secret_keys import missing_keys
from hyperpod_constructs.templates.model import Model

MADE = {"SecretStringTemplate": '{"user": "trainer"}', "GenerateStringKey": "token"}


def build(value: Any, kind: str = "SECRETS_MANAGER") -> dict[str, Any]:
    variables = [{"Name": "HUB", "Type": kind, "Value": value}]
    return {"Type": "AWS::CodeBuild::Project", "Properties": {"Environment": {"EnvironmentVariables": variables}}}


def task(value: Any) -> dict[str, Any]:
    container = {"Name": "c", "Secrets": [{"Name": "HUB", "ValueFrom": value}]}
    return {"Type": "AWS::ECS::TaskDefinition", "Properties": {"ContainerDefinitions": [container]}}


def sub(text: str) -> dict[str, str]:
    return {"Fn::Sub": text}


def found(user: dict[str, Any], made: Any = MADE) -> list[str]:
    secret = {"Type": "AWS::SecretsManager::Secret", "Properties": {"GenerateSecretString": made}}
    return [one.message for one in missing_keys(Model.of({"t": {"Resources": {"Hub": secret, "User": user}}}))]


@pytest.mark.parametrize(
    "user",
    [build(sub("${Hub}:password")), build(sub("${Hub}:tokens:AWSCURRENT")), task(sub("${Hub}:password::"))],
)
def test_a_key_that_the_secret_does_not_have(user: dict[str, Any]) -> None:
    assert len(found(user)) == 1


@pytest.mark.parametrize(
    "user",
    [
        build(sub("${Hub}:token")),
        build(sub("${Hub}:user:AWSPREVIOUS")),
        build({"Ref": "Hub"}),
        build(sub("${Hub}:password"), "PLAINTEXT"),
        task(sub("${Hub}:user::")),
        task({"Ref": "Hub"}),
    ],
)
def test_keys_that_it_has_and_whole_secrets(user: dict[str, Any]) -> None:
    assert found(user) == []


@pytest.mark.parametrize("made", [{"Ref": "Given"}, {"PasswordLength": 20}])
def test_a_secret_of_unknown_keys(made: Any) -> None:
    assert found(build(sub("${Hub}:password")), made) == []
