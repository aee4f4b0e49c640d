"""Identities of pods: Fargate has no agent for them, and the tags of their sessions are known."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import Template, eks

PODS = {"Effect": "Allow", "Principal": {"Service": "pods.eks.amazonaws.com"}, "Action": ["sts:AssumeRole", "sts:TagSession"]}


def statement(tag: str) -> Template:
    return {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::data/${{aws:PrincipalTag/{tag}}}/*"}


def role(*statements: Template, tags: tuple[str, ...] = (), trust: Template = PODS) -> Template:
    policies = [{"PolicyName": "own", "PolicyDocument": {"Version": "2012-10-17", "Statement": [*statements]}}]
    given: dict[str, Any] = {
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
        "Policies": policies if statements else [],
        "Tags": [{"Key": tag, "Value": "a"} for tag in tags],
    }
    return {"Type": "AWS::IAM::Role", "Properties": {key: value for key, value in given.items() if value}}


def policy(*statements: Template) -> Template:
    document = {"Version": "2012-10-17", "Statement": [*statements]}
    return {
        "Type": "AWS::IAM::Policy",
        "Properties": {"PolicyName": "a", "Roles": [{"Ref": "Trainer"}], "PolicyDocument": document},
    }


def condition(tag: str) -> Template:
    return {
        "Effect": "Allow",
        "Action": "s3:GetObject",
        "Resource": "arn:aws:s3:::data/*",
        "Condition": {"StringEquals": {f"aws:PrincipalTag/{tag}": "tools"}},
    }


def profile(namespace: str = "tools", **selector: Any) -> Template:
    properties = {
        "ClusterName": {"Ref": "Control"},
        "PodExecutionRoleArn": "arn:aws:iam::123456789012:role/fargate",
        "Subnets": [{"Ref": "NodeSubnet"}],
        "Selectors": [{"Namespace": namespace, **selector}],
    }
    return {"Type": "AWS::EKS::FargateProfile", "Properties": properties}


IDENTITY = {
    "Type": "AWS::EKS::PodIdentityAssociation",
    "Properties": {
        "ClusterName": {"Ref": "Control"},
        "Namespace": "tools",
        "ServiceAccount": "trainer",
        "RoleArn": {"Fn::GetAtt": ["Trainer", "Arn"]},
    },
}
BASE = edited(eks(), {"Trainer": role(statement("kubernetes-namespace")), "Pods": IDENTITY})
SESSION, TARGET = "Pods/DisableSessionTags", "Pods/TargetRoleArn"
TAKE = {"Effect": "Allow", "Action": ["sts:AssumeRole", "sts:TagSession"], "Resource": "arn:aws:iam::111111111111:role/data"}
CASES = [
    Case("HP-TXT-011", BASE, {"Profile": profile()}, {"Profile": profile("dashboards")}),
    Case("HP-TXT-011", BASE, {"Profile": profile("to*")}, {"Profile": profile(Labels=[{"Key": "run", "Value": "fargate"}])}),
    Case("HP-TXT-011", BASE, {"Trainer": role(statement("eks-namespace"))}, {"Trainer": role(statement("team"), tags=("Team",))}),
    Case("HP-TXT-011", BASE, {"Trainer": role(condition("namespace"))}, {"Trainer": role(condition("kubernetes-namespace"))}),
    Case(
        "HP-TXT-011",
        edited(BASE, {"Trainer": role()}),
        {"More": policy(statement("pod"))},
        {"More": policy(statement("kubernetes-pod-name"))},
    ),
    Case("HP-TXT-011", BASE, {SESSION: True}, {SESSION: False}),
    Case("HP-TXT-011", BASE, {SESSION: True}, {SESSION: True, "Trainer": role(TAKE)}),
    Case(
        "HP-PERM-002",
        BASE,
        {TARGET: "arn:aws:iam::111111111111:role/data"},
        {TARGET: "arn:aws:iam::111111111111:role/data", "Trainer": role(TAKE)},
    ),
]


INSIGHTS = {
    "Type": "AWS::EKS::Addon",
    "DependsOn": "Cluster",
    "Properties": {"ClusterName": {"Ref": "Control"}, "AddonName": "amazon-cloudwatch-observability"},
}
WATCHED = edited(BASE, {"Insights": INSIGHTS, "Pods/Namespace": "amazon-cloudwatch", "Insights/.DependsOn": ["Cluster", "Pods"]})
CASES += [
    Case("HP-TXT-011", WATCHED, {"Pods/ServiceAccount": "cloudwatch-agents"}, {"Pods/ServiceAccount": "trainer"}),
    Case(
        "HP-TXT-011",
        WATCHED,
        {"Pods/ServiceAccount": "cloudwatch-agents"},
        {"Pods/ServiceAccount": "cloudwatch-agents", "Pods/Namespace": "tools"},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_tags_of_roles_that_others_take_too_are_not_known() -> None:
    """Whoever takes the role may bring tags of a session."""
    own = {"Effect": "Allow", "Principal": {"AWS": "arn:aws:iam::123456789012:root"}, "Action": "sts:AssumeRole"}
    base = edited(BASE, {"Trainer": role(statement("eks-namespace"))})
    document = {"Version": "2012-10-17", "Statement": [PODS, own]}
    Case("HP-TXT-011", base, {}, {"Trainer/AssumeRolePolicyDocument": document}).check()
