"""Names of log groups that a service makes for a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.log_names import WHOLES
from hyperpod_constructs.templates.model import Model

ID = {"Fn::Select": [1, {"Fn::Split": ["/", {"Fn::GetAtt": ["Train", "ClusterArn"]}]}]}


def of_train(name: str) -> dict[str, Any]:
    return {"Fn::Join": ["", [f"/aws/sagemaker/Clusters/{name}/", ID]]}


@pytest.mark.parametrize(
    ("kind", "properties", "wrong"),
    [
        ("MetricFilter", {"LogGroupName": of_train("other")}, True),
        ("MetricFilter", {"LogGroupName": of_train("lab-second")}, True),
        ("SubscriptionFilter", {"LogGroupName": "/aws/containerinsights/lab-trian/performance"}, True),
        ("QueryDefinition", {"LogGroupNames": ["/aws/eks/lab-control/cluster", "/aws/eks/lab-train/cluster"]}, True),
        ("MetricFilter", {"LogGroupName": "/aws/sagemaker/Clusters/lab-train"}, True),
        ("SubscriptionFilter", {"LogGroupName": "/aws/eks/lab-control"}, True),
        ("QueryDefinition", {"LogGroupNames": ["/aws/containerinsights/lab-control"]}, True),
        ("SubscriptionFilter", {"LogGroupName": "/aws/containerinsights/lab-services/performance"}, True),
        ("SubscriptionFilter", {"LogGroupName": "/aws/ecs/containerinsights/lab-serving/performance"}, True),
        ("SubscriptionFilter", {"LogGroupName": "/aws/ecs/containerinsights/lab-services"}, True),
        ("MetricFilter", {"LogGroupName": of_train("lab-train")}, False),
        ("MetricFilter", {"LogGroupName": {"Fn::Sub": "/aws/eks/${AWS::StackName}"}}, False),
        ("MetricFilter", {"LogGroupName": {"Fn::Sub": ["/aws/sagemaker/Clusters/${AWS::StackName}/${Id}", {"Id": ID}]}}, False),
        ("MetricFilter", {"LogGroupName": "/aws/sagemaker/Clusters/research/abcdef123456"}, False),
        ("MetricFilter", {"LogGroupName": "/aws/eks/lab-old/cluster"}, False),
        ("SubscriptionFilter", {"LogGroupName": "/aws/containerinsights/lab-control/prometheus"}, False),
        ("SubscriptionFilter", {"LogGroupName": "/aws/ecs/containerinsights/lab-services/performance"}, False),
        ("SubscriptionFilter", {"LogGroupName": "/aws/lambda/lab-other"}, False),
        ("QueryDefinition", {"LogGroupNames": ["/aws/sagemaker/Clusters"]}, False),
    ],
)
def test_a_log_group_is_that_of_a_cluster_of_the_templates(kind: str, properties: dict[str, Any], wrong: bool) -> None:
    """The group of an old cluster is kept in the templates."""
    resources = {
        "Train": {"Type": "AWS::SageMaker::Cluster", "Properties": {"ClusterName": "lab-train"}},
        "Second": {"Type": "AWS::SageMaker::Cluster", "Properties": {"ClusterName": "lab-second"}},
        "Control": {"Type": "AWS::EKS::Cluster", "Properties": {"Name": "lab-control"}},
        "Services": {"Type": "AWS::ECS::Cluster", "Properties": {"ClusterName": "lab-services"}},
        "Old": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/aws/eks/lab-old/cluster"}},
        "It": {"Type": f"AWS::Logs::{kind}", "Properties": properties},
    }
    (it,) = Model.of({"t": {"Resources": resources}}).resources(f"AWS::Logs::{kind}")
    assert bool(list(WHOLES[it.type](it))) is wrong


def test_a_cluster_whose_name_is_not_known_may_have_any() -> None:
    cluster = {"Type": "AWS::SageMaker::Cluster", "Properties": {"ClusterName": {"Ref": "AWS::StackName"}}}
    filter_ = {"Type": "AWS::Logs::MetricFilter", "Properties": {"LogGroupName": of_train("lab-train")}}
    (it,) = Model.of({"t": {"Resources": {"Train": cluster, "It": filter_}}}).resources("AWS::Logs::MetricFilter")
    assert list(WHOLES[it.type](it)) == []
