"""Roles of the pods of charts, and charts that work for another cluster than theirs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.analysis.account_roles import strangers
from hyperpod_constructs.analysis.kubernetes import named_elsewhere
from hyperpod_constructs.templates.model import Model

PROVIDER, OF_ROLE = "arn:aws:iam::123456789012:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/A", "eks.amazonaws.com/role-arn"
CONTROLLER = "aws-load-balancer-controller"


def role(**principal: Any) -> dict[str, Any]:
    claims = {"oidc.eks.us-west-2.amazonaws.com/id/A:sub": f"system:serviceaccount:kube-system:{CONTROLLER}"}
    statement = {"Effect": "Allow", "Principal": principal, "Action": "sts:*", "Condition": {"StringEquals": claims}}
    return {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {"Statement": [statement]}}}


def installed(role: Any, values: Any, namespace: str = "kube-system", name: str = CONTROLLER) -> Model:
    given = {"ClusterName": {"Ref": "Control"}, "Chart": name, "Namespace": namespace, "Values": values}
    resources = {
        "Role": role,
        "Control": {"Type": "AWS::EKS::Cluster", "Properties": {"Name": "research"}},
        "Dns": {"Type": "AWS::EKS::Addon", "Properties": {"ClusterName": {"Ref": "Control"}, "AddonName": "coredns"}},
        "Chart": {"Type": "Custom::Chart", "Properties": {"ServiceToken": "arn:aws:lambda:us-west-2:1:function:charts", **given}},
    }
    return Model.of({"t": {"Resources": resources}})


def account(name: str = CONTROLLER) -> dict[str, Any]:
    return {"serviceAccount": {"name": name, "annotations": {OF_ROLE: {"Fn::GetAtt": ["Role", "Arn"]}}}}


IN_JSON = {"Fn::Join": ["", [json.dumps(account()).split('{"Fn::')[0], '"', {"Fn::GetAtt": ["Role", "Arn"]}, '"}}}']]}


@pytest.mark.parametrize(
    ("given", "values", "namespace", "wrong"),
    [
        (role(Federated=PROVIDER), account(), "kube-system", None),
        (role(Federated=PROVIDER), account("controller"), "kube-system", "is for"),
        (role(Federated=PROVIDER), account(), "networking", "is for"),
        (role(Federated=PROVIDER), {"chart": account("controller")}, "kube-system", "is for"),
        (role(Service="pods.eks.amazonaws.com"), account(), "kube-system", "trusts no provider"),
        (role(Service="pods.eks.amazonaws.com"), {"serviceAccount": {"name": CONTROLLER}}, "kube-system", None),
        (role(Service="pods.eks.amazonaws.com"), IN_JSON, "kube-system", "trusts no provider"),
        (role(Federated=PROVIDER), IN_JSON, "kube-system", None),
    ],
)
def test_the_role_of_a_chart_is_for_its_service_account(given: Any, values: Any, namespace: str, wrong: str | None) -> None:
    found = list(strangers(installed(given, values, namespace)))
    assert [one.resource.logical_id for one in found] == ["Chart"] * (wrong is not None)
    assert wrong is None or wrong in found[0].message


@pytest.mark.parametrize(
    ("name", "values", "wrong"),
    [
        (CONTROLLER, {"clusterName": "other"}, ["Chart"]),
        (CONTROLLER, {"clusterName": "research"}, []),
        (CONTROLLER, {"clusterName": {"Ref": "Control"}}, []),
        ("karpenter", {"settings": {"clusterName": "other"}}, ["Chart"]),
        ("dashboard", {"clusterName": "other"}, []),
    ],
)
def test_a_chart_works_for_the_cluster_that_it_is_installed_into(name: str, values: Any, wrong: list[str]) -> None:
    assert [one.resource.logical_id for one in named_elsewhere(installed(role(Federated=PROVIDER), values, name=name))] == wrong


def inference(alb: str, keda: str, gateway: str = "Other") -> Model:
    """The add-on of inference with these roles; each role is for the account of which it has the name."""
    accounts = {"Alb": CONTROLLER, "Keda": "keda-operator", "Other": "inference-gateway-controller"}
    roles = {}
    for name, account_ in accounts.items():
        roles[name] = role(Federated=PROVIDER)
        (statement,) = roles[name]["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        (claims,) = statement["Condition"].values()
        claims["oidc.eks.us-west-2.amazonaws.com/id/A:sub"] = f"system:serviceaccount:hyperpod-inference-system:{account_}"
    values = {
        "alb": {"serviceAccount": {"roleArn": f"${{{alb}.Arn}}"}},
        "keda": {"auth": {"aws": {"irsa": {"roleArn": f"${{{keda}.Arn}}"}}}},
        "inferenceGateway": {"serviceAccount": {"roleArn": f"${{{gateway}.Arn}}"}},
    }
    given = {"AddonName": "amazon-sagemaker-hyperpod-inference", "ConfigurationValues": {"Fn::Sub": json.dumps(values)}}
    addon = {"Type": "AWS::EKS::Addon", "Properties": {"ClusterName": {"Ref": "Control"}, **given}}
    return Model.of({"t": {"Resources": {**roles, "Control": {"Type": "AWS::EKS::Cluster"}, "Inference": addon}}})


@pytest.mark.parametrize(
    ("roles", "wrong"),
    [
        (("Alb", "Keda", "Other"), []),
        (("Keda", "Alb", "Other"), ["Inference"]),
        (("Keda", "Other", "Alb"), ["Inference"]),
        (("Other", "Keda", "Other"), ["Other"]),
    ],
)
def test_roles_of_an_addon_that_are_exchanged_are_one_mistake(roles: tuple[str, str, str], wrong: list[str]) -> None:
    assert [one.resource.logical_id for one in strangers(inference(*roles))] == wrong
