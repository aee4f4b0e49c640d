"""A control plane with every add-on and a HyperPod cluster, as the rules see them in the template."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_aps as aps
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import (
    Addon,
    ClusterInstanceType,
    ClusterNetwork,
    EksControlPlane,
    HyperPodChart,
    HyperPodCluster,
    HyperPodDependencies,
    InstanceGroup,
    LifecycleScripts,
    LustreStorage,
    Orchestrator,
    ReadinessGate,
)
from tests.conftest import synthesize
from tests.eks.conftest import MakeControlPlane
from tests.rules.catalogue.templates import findings

BEFORE = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
KEPT = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


def add_everything(stack: Stack, network: ClusterNetwork, control_plane: EksControlPlane) -> None:
    HyperPodDependencies(stack, "Dependencies", control_plane=control_plane, chart=HyperPodChart.stand_in())
    for name in (*BEFORE, "coredns", "metrics-server"):
        Addon(stack, name, control_plane=control_plane, name=name)
    cluster = HyperPodCluster(
        stack,
        "HyperPod",
        network=network,
        orchestrator=Orchestrator.eks(control_plane),
        instance_groups=[InstanceGroup(name="workers", instance_type=ClusterInstanceType.P5_48XLARGE, count=2)],
        lifecycle_scripts=LifecycleScripts.none(),
    )
    ready = ReadinessGate(stack, "Ready", cluster=cluster)
    Addon(stack, "Certificates", control_plane=control_plane, name="cert-manager", after=[ready])
    Addon.training_operator(stack, "Operator", control_plane=control_plane, after=[ready])
    Addon.task_governance(stack, "Governance", control_plane=control_plane, after=[ready])
    workspace = aps.CfnWorkspace(stack, "Workspace")
    workspace.apply_removal_policy(KEPT)
    Addon.observability(stack, "Observability", control_plane=control_plane, workspace=workspace, after=[ready])
    lustre = LustreStorage(stack, "Lustre", network=network)
    Addon.fsx_csi(stack, "Fsx", control_plane=control_plane, file_system=lustre)
    Addon.ebs_csi(stack, "Ebs", control_plane=control_plane)
    Addon.s3_csi(stack, "S3", control_plane=control_plane, buckets=[s3.Bucket(stack, "Data", removal_policy=KEPT)])
    people = iam.Role.from_role_arn(stack, "People", "arn:aws:iam::123456789012:role/people")
    control_plane.access.grant_team(people, namespaces=["hyperpod-ns-a"])


@pytest.fixture
def template(stack: Stack, network: ClusterNetwork, make_control_plane: MakeControlPlane) -> dict[str, Any]:
    control_plane = make_control_plane()
    add_everything(stack, network, control_plane)
    return synthesize(stack)


def test_the_rules_find_nothing(template: dict[str, Any]) -> None:
    assert [(one.rule, one.message) for one in findings(template)] == []


def test_the_cluster_waits_for_what_its_nodes_need_and_for_nothing_else(template: dict[str, Any]) -> None:
    found = template["Resources"]
    names = {id: one["Properties"]["AddonName"] for id, one in found.items() if one["Type"] == "AWS::EKS::Addon"}
    (cluster,) = [one for one in found.values() if one["Type"] == "AWS::SageMaker::Cluster"]
    assert {names[id] for id in cluster["DependsOn"] if id in names} == set(BEFORE)


def test_the_chart_is_installed_before_the_cluster_and_after_the_access_of_its_function(template: dict[str, Any]) -> None:
    found = template["Resources"]
    (release,) = [id for id, one in found.items() if one["Type"] == "Custom::AWSCDK-EKS-HelmChart"]
    (cluster,) = [one for one in found.values() if one["Type"] == "AWS::SageMaker::Cluster"]
    assert release in cluster["DependsOn"]
    (barrier,) = [id for id in found[release]["DependsOn"] if "KubectlReadyBarrier" in id]
    assert {found[id]["Type"] for id in found[barrier]["DependsOn"]} >= {"AWS::EKS::Cluster", "AWS::EKS::AccessEntry"}
