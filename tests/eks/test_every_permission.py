"""Every permission that the library writes for nodes, pods, Karpenter and the control plane is needed: without it a rule names it.

The roles and their actions come from the template, so a new role or statement is judged without a word here. Functions are judged
by `tests/custom_resources/test_faults.py`, and people's roles by `tests/deploy/test_eks_cluster.py`, where IAM evaluates them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
from aws_cdk import App, Environment, RemovalPolicy, Stack
from aws_cdk import aws_aps as aps
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3

from hyperpod_constructs import (
    Addon,
    AutoScaling,
    CapacitySizeConfig,
    CapacitySizeType,
    ClusterInstanceType,
    ClusterNetwork,
    DeploymentConfiguration,
    EbsVolume,
    EksControlPlane,
    HyperPodChart,
    HyperPodCluster,
    HyperPodDependencies,
    InstanceGroup,
    LifecycleScripts,
    Orchestrator,
    ReadinessGate,
    RollingUpdatePolicy,
    ScheduledUpdateConfig,
)
from hyperpod_constructs.facts.addons import LOG_ACTIONS, WRITE_LOGS
from tests.conftest import synthesize
from tests.eks import LAYER
from tests.rules.catalogue.templates import findings

Template = dict[str, Any]
KEPT = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
JUDGED = {"sagemaker.amazonaws.com", "hyperpod.sagemaker.amazonaws.com", "pods.eks.amazonaws.com", "eks.amazonaws.com"}
"""The services whose roles are judged here."""

ELSEWHERE: Mapping[str, str] = {
    "lambda.amazonaws.com": "functions run without each action, in tests/custom_resources/test_faults.py and tests/deploy",
    "states.amazonaws.com": "the CDK makes the role of its waiter, and writes the permissions",
    "vpc-flow-logs.amazonaws.com": "without them no rejected traffic is logged, and nothing of the cluster fails",
}
"""The services whose roles are not judged here, with the reason."""

UNNOTICED: Mapping[tuple[str, str], str] = {
    ("sagemaker", "ecr:BatchCheckLayerAvailability"): "the guide lists it, and only those who push an image ask for it",
    ("pods.eks", "kms:Encrypt"): "the guide lists it, and a volume is made without it",
    ("pods.eks", "kms:ReEncrypt*"): "only volumes of encrypted snapshots are encrypted anew",
    ("pods.eks", "s3:DeleteObject"): "pods may write without deleting: that is a choice",
    **{
        ("pods.eks", action): "the guide lists it, and nobody needs it to write a log"
        for action in LOG_ACTIONS
        if action not in WRITE_LOGS
    },
}
"""Service and action of a permission that no rule misses, with the reason."""


def everything() -> Template:
    """A cluster on EKS with every feature that takes permissions."""
    stack = Stack(App(), "Whole", env=Environment(account="123456789012", region="us-west-2"))
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4")
    subnets: list[ec2.ISubnet] = [
        network.add_control_plane_subnet(f"Control{zone}", cidr=f"10.0.{zone}.0/28", availability_zone_id=f"usw2-az{zone}")
        for zone in (1, 2)
    ]
    layer = lambda_.LayerVersion.from_layer_version_arn(stack, "Layer", LAYER)
    control_plane = EksControlPlane(stack, "ControlPlane", network=network, subnets=subnets, kubectl_layer=layer)
    HyperPodDependencies(stack, "Dependencies", control_plane=control_plane, chart=HyperPodChart.stand_in())
    for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
        Addon(stack, name, control_plane=control_plane, name=name)
    key = kms.Key(stack, "Key", removal_policy=KEPT)
    alarm = cloudwatch.Alarm(
        stack, "Errors", metric=cloudwatch.Metric(namespace="n", metric_name="m"), threshold=1, evaluation_periods=1
    )
    policy = RollingUpdatePolicy(maximum_batch_size=CapacitySizeConfig(type=CapacitySizeType.INSTANCE_COUNT, value=1))
    deployment = DeploymentConfiguration(
        rolling_update_policy=policy, wait_interval_in_seconds=60, auto_rollback_configuration=[alarm]
    )
    workers = InstanceGroup(
        name="workers",
        instance_type=ClusterInstanceType.P5_48XLARGE,
        count=2,
        ebs_volumes=[EbsVolume(size_gb=500, kms_key=key)],
        scheduled_update_config=ScheduledUpdateConfig(schedule_expression="cron(0 3 ? * SUN *)", deployment_config=deployment),
    )
    cluster = HyperPodCluster(
        stack,
        "HyperPod",
        network=network,
        orchestrator=Orchestrator.eks(control_plane),
        instance_groups=[workers],
        lifecycle_scripts=LifecycleScripts.from_asset(bucket=_bucket(stack, "Scripts")),
        auto_scaling=AutoScaling(),
    )
    ready = ReadinessGate(stack, "Ready", cluster=cluster)
    Addon(stack, "Certificates", control_plane=control_plane, name="cert-manager", after=[ready])
    Addon.training_operator(stack, "Operator", control_plane=control_plane, after=[ready])
    workspace = aps.CfnWorkspace(stack, "Workspace")
    workspace.apply_removal_policy(KEPT)
    Addon.observability(stack, "Observability", control_plane=control_plane, workspace=workspace, after=[ready], logging=True)
    Addon.fsx_csi(stack, "Fsx", control_plane=control_plane)
    Addon.ebs_csi(stack, "Ebs", control_plane=control_plane, keys=[key])
    Addon.s3_csi(stack, "S3", control_plane=control_plane, buckets=[_bucket(stack, "Data")])
    return synthesize(stack)


def _bucket(stack: Stack, id: str) -> s3.Bucket:
    key = kms.Key(stack, f"{id}Key", removal_policy=KEPT)
    return s3.Bucket(stack, id, encryption_key=key, encryption=s3.BucketEncryption.KMS, removal_policy=KEPT)


@dataclass(frozen=True)
class Permission:
    """An action of a role, or one of its managed policies; `service` may assume the role."""

    service: str
    role: str
    action: str

    @property
    def key(self) -> tuple[str, str]:
        return self.service.removesuffix(".amazonaws.com"), self.action


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def _documents(template: Template, role: str) -> Iterator[Template]:
    """The documents of a role's policies, wherever they are."""
    for one in template["Resources"][role]["Properties"].get("Policies", ()):
        yield one["PolicyDocument"]
    for other in template["Resources"].values():
        if other["Type"] == "AWS::IAM::Policy" and {"Ref": role} in other["Properties"].get("Roles", ()):
            yield other["Properties"]["PolicyDocument"]


def _managed(arn: Any) -> str:
    return str(arn["Fn::Join"][1][-1]).rpartition("policy/")[2]


def permissions(template: Template) -> Iterator[Permission]:
    for role, resource in template["Resources"].items():
        if resource["Type"] != "AWS::IAM::Role":
            continue
        trust = resource["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]["Principal"].get("Service")
        if trust not in JUDGED:
            continue
        actions = (
            action for document in _documents(template, role) for one in document["Statement"] for action in _listed(one["Action"])
        )
        managed = (_managed(arn) for arn in resource["Properties"].get("ManagedPolicyArns", ()))
        yield from (Permission(trust, role, what) for what in dict.fromkeys((*actions, *managed)))


def lacking(template: Template, permission: Permission) -> Template:
    """The template without a permission."""
    changed = deepcopy(template)
    for document in _documents(changed, permission.role):
        for one in document["Statement"]:
            left = [action for action in _listed(one["Action"]) if action != permission.action]
            one["Action"] = left or ["none:None"]
    properties = changed["Resources"][permission.role]["Properties"]
    if "ManagedPolicyArns" in properties:
        properties["ManagedPolicyArns"] = [arn for arn in properties["ManagedPolicyArns"] if _managed(arn) != permission.action]
    return changed


@pytest.fixture(scope="module")
def template() -> Template:
    return everything()


def test_the_whole_is_clean(template: Template) -> None:
    assert [(one.rule, one.message) for one in findings(template)] == []


def test_every_kind_of_role_is_there(template: Template) -> None:
    assert {one.service for one in permissions(template)} == JUDGED


def test_no_other_role_is_forgotten(template: Template) -> None:
    roles = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::IAM::Role"]
    trusted = {role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]["Service"] for role in roles}
    assert trusted == JUDGED | ELSEWHERE.keys()


def test_without_any_permission_a_rule_names_it(template: Template) -> None:
    unnamed = set()
    for one in permissions(template):
        found = [item for item in findings(lacking(template, one)) if one.action.rpartition("/")[2].rstrip("*") in item.message]
        if not found:
            unnamed.add(one.key)
    assert sorted(unnamed) == sorted(UNNOTICED)
