"""What a Kubernetes cluster has beside nodes: profiles of Fargate, an identity provider and capabilities."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import eks, findings


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::{kind}", "Properties": properties}


def att(name: str, attribute: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [name, attribute]}


CONTROL = {"Ref": "Control"}


def trust(service: str, *actions: str) -> dict[str, Any]:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)}
    return {"Version": "2012-10-17", "Statement": [statement]}


def profile(**more: Any) -> dict[str, Any]:
    own = {"ClusterName": CONTROL, "PodExecutionRoleArn": att("PodRole", "Arn"), "Selectors": [{"Namespace": "tools"}]}
    return resource("EKS::FargateProfile", **{**own, **more})


def provider(**more: Any) -> dict[str, Any]:
    oidc = {"IssuerUrl": "https://login.example.com", "ClientId": "kubernetes", **more}
    return resource("EKS::IdentityProviderConfig", ClusterName=CONTROL, Type="oidc", IdentityProviderConfigName="corp", Oidc=oidc)


def capability(kind: str, **more: Any) -> dict[str, Any]:
    own = {"ClusterName": CONTROL, "CapabilityName": kind.lower(), "Type": kind, "DeletePropagationPolicy": "RETAIN"}
    return resource("EKS::Capability", **{**own, "RoleArn": att("OwnRole", "Arn"), **more})


ARGO = {"Configuration": {"ArgoCd": {"AwsIdc": {"IdcInstanceArn": "arn:aws:sso:::instance/ssoins-0123456789abcdef"}}}}
LABELS = [{"Key": f"key{number}", "Value": "x"} for number in range(6)]
RIGHT: dict[str, Any] = {
    "PodRole": resource(
        "IAM::Role",
        AssumeRolePolicyDocument=trust("eks-fargate-pods.amazonaws.com", "sts:AssumeRole"),
        ManagedPolicyArns=["arn:aws:iam::aws:policy/AmazonEKSFargatePodExecutionRolePolicy"],
    ),
    "OwnRole": resource(
        "IAM::Role", AssumeRolePolicyDocument=trust("capabilities.eks.amazonaws.com", "sts:AssumeRole", "sts:TagSession")
    ),
    "First": profile(),
    "Second": {**profile(Selectors=[{"Namespace": "web", "Labels": LABELS[:5]}]), "DependsOn": "First"},
    "Login": provider(GroupsPrefix="oidc:", UsernamePrefix="oidc:"),
    "Ack": capability("ACK"),
    "Argo": capability("ARGOCD", **ARGO),
}
WRONG: list[tuple[dict[str, Any], tuple[str, str]]] = [
    ({"Second": profile(Selectors=[{"Namespace": "web"}])}, ("HP-DEP-002", "Second")),
    ({"Second/Selectors/0/Labels": LABELS}, ("HP-SCH-007", "Second")),
    ({"Other": provider()}, ("HP-LIM-004", "Other")),
    ({"Login/Oidc/UsernamePrefix": "system:"}, ("HP-SCH-007", "Login")),
    ({"Login/Oidc/GroupsPrefix": "system:"}, ("HP-SCH-007", "Login")),
    ({"Other": capability("ACK", CapabilityName="second")}, ("HP-LIM-004", "Other")),
    ({"Ack/Configuration": ARGO["Configuration"]}, ("HP-SCH-007", "Ack")),
    ({"Argo": capability("ARGOCD")}, ("HP-SCH-007", "Argo")),
    (
        {"OwnRole/AssumeRolePolicyDocument": trust("eks.amazonaws.com", "sts:AssumeRole", "sts:TagSession")},
        ("HP-ROL-001", "OwnRole"),
    ),
]


def found(changes: dict[str, Any]) -> list[tuple[str, str]]:
    plain = {(one.rule, one.resource) for one in findings(eks())}
    return [
        (one.rule, one.resource) for one in findings(edited(edited(eks(), RIGHT), changes)) if (one.rule, one.resource) not in plain
    ]


def test_what_is_right_has_no_finding() -> None:
    assert not found({})


@pytest.mark.parametrize(("changes", "finding"), WRONG)
def test_each_mistake_has_one_finding(changes: dict[str, Any], finding: tuple[str, str]) -> None:
    assert found(changes) == [finding]
