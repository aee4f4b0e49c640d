"""Refusals of CreateStack and CreateChangeSet before the first change."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import cfnlint.runner  # type: ignore[import-untyped]
import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.server import LocalAws
from hyperpod_constructs.local.template_check import TemplateCheck
from tests.local.stacks import deploy

ROLE: dict[str, Any] = {
    "Type": "AWS::IAM::Role",
    "Properties": {
        "AssumeRolePolicyDocument": {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "sagemaker.amazonaws.com"}}],
        }
    },
}


def role(**properties: Any) -> dict[str, Any]:
    return {**ROLE, "Properties": {**ROLE["Properties"], **properties}}


def test_verdicts() -> None:
    gate = TemplateCheck("us-west-2")
    assert gate.check(json.dumps({"Resources": {"Role": ROLE}})) is None
    refusal = gate.check(json.dumps({"Resources": {"Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"Nmae": "x"}}}}))
    assert refusal is not None
    assert "Nmae" in refusal
    assert "Resources/Bucket" in refusal


def policy(name: str) -> str:
    properties = {
        "Name": name,
        "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefgh1234",
        "SchedulerConfig": {"FairShare": "Enabled"},
    }
    return json.dumps({"Resources": {"Policy": {"Type": "AWS::SageMaker::ClusterSchedulerConfig", "Properties": properties}}})


def test_scheduling_policies_are_where_clusters_are() -> None:
    """The linter's list of types lacks them in us-west-2, and clusters in eu-west-3."""
    gate = TemplateCheck("us-west-2")
    assert gate.check(policy("scheduler")) is None
    assert "'not_a_name'" in (gate.check(policy("not_a_name")) or "")
    assert "does not exist in 'eu-west-3'" in (TemplateCheck("eu-west-3").check(policy("scheduler")) or "")


def test_a_verdict_does_not_depend_on_the_templates_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """They share the linter's rules, which are made once."""
    make = Mock(wraps=cfnlint.runner.Runner)
    monkeypatch.setattr(cfnlint.runner, "Runner", make)
    right = {"Role": ROLE, "Bucket": {"Type": "AWS::S3::Bucket"}}
    wrong = {"Bucket": {"Type": "AWS::S3::Bucket", "DependsOn": "Rule"}, "Role": role(Nmae="x")}
    templates = [json.dumps({"Resources": resources}) for resources in (right, wrong, {"Role": wrong["Role"]}, right | {"B": ROLE})]
    alone = [TemplateCheck("us-west-2").check(template) for template in templates]
    assert [refusal is None for refusal in alone] == [True, False, False, True]
    make.reset_mock()
    gate = TemplateCheck("us-west-2")
    assert [gate.check(template) for template in reversed(templates)] == alone[::-1]
    assert [gate.check(template + " ") for template in templates] == alone
    make.assert_called_once()


def test_fails_on_text_that_is_no_template() -> None:
    assert "E0000" in (TemplateCheck("us-west-2").check('{"Resources": {"A": }') or "")


@pytest.mark.parametrize(
    ("resource", "message"),
    [
        ({"Type": "AWS::S3::Bucket", "Properties": {"Nmae": "x"}}, "Nmae"),
        ({"Type": "AWS::EC2::Subnet", "Properties": {"CidrBlock": "10.0.0.0/24"}}, "VpcId"),
        ({"Type": "AWS::EC2::Subnet", "Properties": {"VpcId": {"Ref": "Nowhere"}, "CidrBlock": "10.0.0.0/24"}}, "Nowhere"),
        ({"Type": "AWS::Nothing::Here"}, "AWS::Nothing::Here"),
    ],
)
def test_fails_on_a_wrong_template(aws: LocalAws, resource: dict[str, Any], message: str) -> None:
    cloudformation = aws.client("cloudformation")
    body = json.dumps({"Resources": {"Thing": resource}})
    with pytest.raises(ClientError, match=message) as refused:
        cloudformation.create_stack(StackName="wrong", TemplateBody=body)
    assert refused.value.response["Error"]["Code"] == "ValidationError"
    with pytest.raises(ClientError, match=message):
        cloudformation.create_change_set(StackName="wrong", ChangeSetName="set", ChangeSetType="CREATE", TemplateBody=body)
    with pytest.raises(ClientError, match="does not exist"):
        cloudformation.describe_stacks(StackName="wrong")


def test_fails_without_capabilities(aws: LocalAws) -> None:
    cloudformation = aws.client("cloudformation")
    plain, named = json.dumps({"Resources": {"Role": ROLE}}), json.dumps({"Resources": {"Role": role(RoleName="named")}})
    macro = json.dumps({"Transform": "AWS::LanguageExtensions", "Resources": {"Role": ROLE}})
    for body, given, missing in (
        (plain, [], "CAPABILITY_IAM"),
        (named, ["CAPABILITY_IAM"], "CAPABILITY_NAMED_IAM"),
        (macro, ["CAPABILITY_IAM"], "CAPABILITY_AUTO_EXPAND"),
    ):
        with pytest.raises(ClientError, match=missing) as refused:
            cloudformation.create_stack(StackName="iam", TemplateBody=body, Capabilities=given)
        assert refused.value.response["Error"]["Code"] == "InsufficientCapabilitiesException"
    with pytest.raises(ClientError, match="CAPABILITY_IAM"):
        cloudformation.create_change_set(StackName="iam", ChangeSetName="set", ChangeSetType="CREATE", TemplateBody=plain)


def test_fails_with_a_managed_policy_that_does_not_exist(fresh: LocalAws) -> None:
    wrong = "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolPolicy"
    stack = deploy(fresh, {"Role": role(ManagedPolicyArns=[wrong])})
    assert stack.status == "ROLLBACK_COMPLETE"
    assert any(wrong in reason for reason in stack.reasons)
    assert fresh.client("iam").list_roles()["Roles"] == []


def test_takes_policies_that_exist(fresh: LocalAws) -> None:
    arns = [
        "arn:aws:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy",
        "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole",
    ]
    boundary = "arn:aws:iam::aws:policy/PowerUserAccess"
    stack = deploy(fresh, {"Role": role(ManagedPolicyArns=arns, PermissionsBoundary=boundary)})
    assert stack.status == "CREATE_COMPLETE", stack.reasons
    iam = fresh.client("iam")
    attached = iam.list_attached_role_policies(RoleName=stack.resources["Role"])["AttachedPolicies"]
    assert sorted(policy["PolicyArn"] for policy in attached) == sorted(arns)
    made = iam.get_role(RoleName=stack.resources["Role"])["Role"]
    assert made["PermissionsBoundary"]["PermissionsBoundaryArn"] == boundary


def test_fails_with_a_role_name_that_is_taken(fresh: LocalAws) -> None:
    fresh.client("iam").create_role(
        RoleName="taken", AssumeRolePolicyDocument=json.dumps(ROLE["Properties"]["AssumeRolePolicyDocument"])
    )
    stack = deploy(fresh, {"Role": role(RoleName="taken")})
    assert stack.status == "ROLLBACK_COMPLETE"
    assert any("already exists" in reason for reason in stack.reasons)
    assert fresh.client("iam").get_role(RoleName="taken")["Role"]["RoleName"] == "taken"
