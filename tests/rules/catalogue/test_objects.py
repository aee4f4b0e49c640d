from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import CHART, Template, eks, rules_of

SPACE = "hyperpod-ns-research"
ARN = {"Fn::GetAtt": ["Cluster", "ClusterArn"]}
GOVERNANCE = {"AddonName": "amazon-sagemaker-hyperpod-taskgovernance", "ClusterName": {"Ref": "Control"}}
QUOTA = {
    "Name": "research",
    "ClusterArn": ARN,
    "ComputeQuotaTarget": {"TeamName": "research"},
    "ComputeQuotaConfig": {"ComputeQuotaResources": [{"InstanceType": "ml.p5.48xlarge", "Count": 1}]},
}
CLASSES = {"PriorityClasses": [{"Name": "high", "Weight": 90}], "FairShare": "Enabled"}


def applied(*objects: Any, type_: str = "KubernetesResource") -> Template:
    properties = {"ServiceToken": "arn", "ClusterName": {"Ref": "Control"}, "Manifest": json.dumps(objects)}
    return {"Type": f"Custom::AWSCDK-EKS-{type_}", "DependsOn": "Quota", "Properties": properties}


def role(namespace: str = SPACE) -> dict[str, Any]:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "jobs", "namespace": namespace}}


def binding(kind: str = "Role", name: str = "jobs", group: str = f"{SPACE}-namespace-level-group") -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "jobs", "namespace": SPACE},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
        "subjects": [{"kind": "Group", "name": group}],
    }


def volume(claim: str | None = "fsx", name: str = "fsx-research") -> dict[str, Any]:
    spec = {"capacity": {"storage": "1Gi"}, **({} if claim is None else {"claimRef": {"namespace": SPACE, "name": claim}})}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "fsx", "namespace": SPACE},
    "spec": {"volumeName": "fsx-research", "resources": {"requests": {"storage": "1Gi"}}},
}


def job(queue: str = f"{SPACE}-localqueue", priority: str = "high-priority", namespace: str = SPACE) -> dict[str, Any]:
    labels = {"kueue.x-k8s.io/queue-name": queue, "kueue.x-k8s.io/priority-class": priority}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": namespace, "labels": labels}}


def torch(kind: str = "HyperPodPyTorchJob", **spec: Any) -> dict[str, Any]:
    metadata = {"name": "train", "namespace": SPACE}
    replicas = [{"name": "workers", "replicas": 2, "template": {"spec": {"containers": []}}}]
    return {
        "apiVersion": "sagemaker.amazonaws.com/v1",
        "kind": kind,
        "metadata": metadata,
        "spec": {"replicaSpecs": replicas, **spec},
    }


STEPS = {"minReplicas": 1, "maxReplicas": 4, "replicaIncrementStep": 1}
OPERATOR = {
    "Type": "AWS::EKS::Addon",
    "DependsOn": ["Cluster", "Certificates", "PodIdentity"],
    "Properties": {
        "AddonName": "amazon-sagemaker-hyperpod-training-operator",
        "ClusterName": {"Ref": "Control"},
        "ServiceAccountRoleArn": "arn:aws:iam::123456789012:role/operator",
    },
}
CERTIFICATES = {
    "Type": "AWS::EKS::Addon",
    "DependsOn": "Cluster",
    "Properties": {"AddonName": "cert-manager", "ClusterName": {"Ref": "Control"}},
}


def space(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def wait(name: str) -> Template:
    properties = {"ServiceToken": "arn", "ClusterName": {"Ref": "Control"}, "ObjectType": "namespace", "ObjectName": name}
    return {"Type": "Custom::AWSCDK-EKS-KubernetesObjectValue", "DependsOn": "Quota", "Properties": properties}


def entry(*namespaces: str) -> Template:
    policy = {"Fn::Sub": "arn:${AWS::Partition}:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"}
    scope = {"Type": "namespace", "Namespaces": list(namespaces)}
    properties = {
        "ClusterName": {"Ref": "Control"},
        "PrincipalArn": "arn:aws:iam::123456789012:role/people",
        "AccessPolicies": [{"PolicyArn": policy, "AccessScope": scope}],
    }
    return {"Type": "AWS::EKS::AccessEntry", "Properties": properties}


def other_chart(release: str = "storage") -> Template:
    return {**CHART, "Properties": {**CHART["Properties"], "Release": release}}


GOVERNED = edited(
    eks(),
    {
        "Governance": {"Type": "AWS::EKS::Addon", "DependsOn": "Cluster", "Properties": GOVERNANCE},
        "Policy": {
            "Type": "AWS::SageMaker::ClusterSchedulerConfig",
            "DependsOn": "Governance",
            "Properties": {"Name": "policy", "ClusterArn": ARN, "SchedulerConfig": CLASSES},
        },
        "Quota": {"Type": "AWS::SageMaker::ComputeQuota", "DependsOn": "Governance", "Properties": QUOTA},
        "Objects": applied(role(), binding(), volume(), CLAIM, job()),
    },
)


def identity(namespace: str) -> Template:
    properties = {"ClusterName": {"Ref": "Control"}, "Namespace": namespace, "ServiceAccount": "trainer"}
    return {
        "Type": "AWS::EKS::PodIdentityAssociation",
        "Properties": {**properties, "RoleArn": "arn:aws:iam::123456789012:role/pods"},
    }


CASES = [
    Case("HP-OBJ-001", GOVERNED, {"Objects": applied(binding())}, {"Objects": applied(binding("ClusterRole", "edit"))}),
    Case(
        "HP-OBJ-001",
        GOVERNED,
        {"Objects": applied(role("default"), binding())},
        {"Objects": applied(role()), "More": applied(binding())},
    ),
    Case("HP-OBJ-001", GOVERNED, {"Objects": applied(binding())}, {"Objects": applied(binding()), "Other": other_chart()}),
    Case("HP-OBJ-002", GOVERNED, {"Objects": applied(CLAIM)}, {"Objects": applied(CLAIM, volume(None))}),
    Case(
        "HP-OBJ-002", GOVERNED, {"Objects": applied(CLAIM, volume("other"))}, {"Objects": applied(CLAIM), "More": applied(volume())}
    ),
    Case("HP-OBJ-003", GOVERNED, {"Wait": wait("hyperpod-ns-product")}, {"Wait": wait(SPACE)}),
    Case("HP-OBJ-003", GOVERNED, {"More": applied(role("hyperpod-ns-product")), "Wait": wait("hyperpod-ns-product")}, {}),
    Case("HP-OBJ-003", GOVERNED, {"Entry": entry("default", "hyperpod-ns-products")}, {"Entry": entry(SPACE, "hyperpod-ns-*")}),
    Case("HP-OBJ-007", GOVERNED, {"More": applied({**space("own"), "apiVersion": "apps/v1"})}, {"More": applied(space("own"))}),
    Case("HP-OBJ-003", GOVERNED, {"Pods": identity("hyperpod-ns-products")}, {"Pods": identity(SPACE)}),
    Case("HP-OBJ-003", GOVERNED, {"Pods": identity("research")}, {"Pods": identity("products")}),
    Case("HP-OBJ-003", GOVERNED, {"Objects": applied(role(), binding(group="hyperpod-ns-x-namespace-level-group"))}, {}),
    Case(
        "HP-OBJ-003",
        GOVERNED,
        {"More": applied(role("hyperpod-ns-own"))},
        {"More": applied(space("hyperpod-ns-own"), role("hyperpod-ns-own"))},
    ),
    Case("HP-OBJ-004", GOVERNED, {"More": applied(job("hyperpod-ns-product-localqueue"))}, {"More": applied(job("own-queue"))}),
    Case("HP-OBJ-004", GOVERNED, {"More": applied(job(namespace="default"))}, {}),
    Case(
        "HP-OBJ-004",
        GOVERNED,
        {"More": applied(job(priority="high"))},
        {"Policy/SchedulerConfig/PriorityClasses": {"Fn::ImportValue": "X"}},
    ),
]
CASES += [
    Case("HP-OBJ-005", GOVERNED, {"More": applied(torch(kind="HyperPodPytorchJob"))}, {"More": applied(torch())}),
    Case("HP-OBJ-005", GOVERNED, {"More": applied(torch(nprocPerNode=8))}, {"More": applied(torch(nprocPerNode="8"))}),
    Case("HP-OBJ-005", GOVERNED, {"More": applied(torch(elasticPolicy={**STEPS, "replicaDiscreteValues": [1, 2]}))}, {}),
    Case("HP-OBJ-005", GOVERNED, {"More": applied(torch(runPolicy={"cleanPodPolicy": "Running"}))}, {}),
    Case("HP-OBJ-005", GOVERNED, {"More": applied(torch(replicas=2))}, {}),
    Case(
        "HP-OBJ-006",
        edited(GOVERNED, {"Operator": OPERATOR, "Certificates": CERTIFICATES, "More": applied(torch(elasticPolicy=STEPS))}),
        {"Operator/AddonVersion": "v1.1.0-eksbuild.1"},
        {"Operator/AddonVersion": "v1.2.1-eksbuild.1"},
    ),
]


def by_hand(**properties: Any) -> Template:
    """A custom resource of a user that applies objects."""
    given = {"ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:apply", "ClusterName": {"Ref": "Control"}}
    return {"Type": "Custom::Objects", "DependsOn": "Quota", "Properties": {**given, **properties}}


def web(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}], **spec}}


TWO = """
apiVersion: v1
kind: Namespace
metadata: {name: tools}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: tools}
spec:
  type: %s
  ports: [{port: 80}]
"""


def pods(kind: str = "Job", gpus: int = 8, **spec: Any) -> dict[str, Any]:
    container = {"name": "a", "image": "trainer:1", "resources": {"limits": {"nvidia.com/gpu": gpus}}}
    template = {"template": {"spec": {"restartPolicy": "Never", "containers": [container], **spec}}}
    whole = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": template}
    return whole if kind == "Job" else {**torch(), "spec": {"replicaSpecs": [{"name": "workers", "replicas": 2, **template}]}}


def selecting(**labels: str) -> dict[str, Any]:
    return pods(nodeSelector=labels)


def in_group(name: str) -> dict[str, Any]:
    return pods(nodeSelector={"sagemaker.amazonaws.com/instance-group-name": name})


def of_type(name: str) -> dict[str, Any]:
    return pods(nodeSelector={"node.kubernetes.io/instance-type": name})


LABELS = {"Cluster/InstanceGroups/0/KubernetesConfig": {"Labels": {"pool": "train"}}}
TAINTS = [{"Key": "pool", "Value": "train", "Effect": "NoSchedule"}]
TAINTED = {"Cluster/InstanceGroups/0/KubernetesConfig": {"Taints": TAINTS}}
TOLERANT = pods(tolerations=[{"key": "pool", "operator": "Exists"}])
ONLY = edited(GOVERNED, {"Cluster/InstanceGroups": [eks()["Resources"]["Cluster"]["Properties"]["InstanceGroups"][1]]})
CASES += [
    Case("HP-NGR-003", ONLY, {"More": applied(in_group("accelerate"))}, {"More": applied(in_group("accelerated"))}),
    Case("HP-NGR-003", ONLY, {"More": applied(of_type("ml.p5.4xlarge"))}, {"More": applied(of_type("ml.p5.48xlarge"))}),
    Case("HP-NGR-003", ONLY, {"More": applied(pods(gpus=16))}, {"More": applied(pods(gpus=8))}),
    Case("HP-NGR-003", GOVERNED, {"More": applied(pods(gpus=16))}, {"More": applied(pods(gpus=8))}),
    Case("HP-NGR-003", ONLY, {"More": applied(pods("HyperPod", gpus=16))}, {"More": applied(pods("HyperPod"))}),
    Case("HP-NGR-003", ONLY, {"More": applied(selecting(pool="train"))}, {**LABELS, "More": applied(selecting(pool="train"))}),
    Case("HP-NGR-003", ONLY, {**TAINTED, "More": applied(pods())}, {**TAINTED, "More": applied(TOLERANT)}),
    Case(
        "HP-NGR-003",
        ONLY,
        {"More": applied(in_group("accelerate"))},
        {"More": applied(in_group("accelerate")), "Other": other_chart()},
    ),
]
WRONG, RIGHT = {"type": "LoadBalancers"}, {"type": "LoadBalancer"}
CASES += [
    Case("HP-OBJ-007", GOVERNED, {"More": by_hand(Manifest=web(**WRONG))}, {"More": by_hand(Manifest=web(**RIGHT))}),
    Case("HP-OBJ-007", GOVERNED, {"More": by_hand(Objects=[web(**WRONG)])}, {"More": by_hand(Objects=[web(**RIGHT)])}),
    Case("HP-OBJ-007", GOVERNED, {"More": by_hand(Manifest=TWO % "Balancer")}, {"More": by_hand(Manifest=TWO % "LoadBalancer")}),
    Case(
        "HP-OBJ-007",
        GOVERNED,
        {"More": by_hand(Yaml={"Fn::Sub": TWO % "Balancer"})},
        {"More": by_hand(Yaml={"Fn::Sub": TWO % "${AWS::StackName}"})},
    ),
    Case("HP-TXT-007", GOVERNED, {"Objects/Manifest": "[{]"}, {}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


def test_teams_of_another_app_are_not_known() -> None:
    """A quota of a cluster from elsewhere may be one of this cluster."""
    arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefgh1234"
    product = {**QUOTA, "Name": "product", "ClusterArn": arn, "ComputeQuotaTarget": {"TeamName": "product"}}
    other = {"Type": "AWS::SageMaker::ComputeQuota", "DependsOn": "Governance", "Properties": product}
    assert rules_of(edited(GOVERNED, {"Other": other, "Wait": wait("hyperpod-ns-third")})) == []


def test_a_manifest_that_only_the_deployment_knows_may_hold_the_rest() -> None:
    assert (
        rules_of(
            edited(GOVERNED, {"Objects": applied(binding(), CLAIM), "More": applied(), "More/Manifest": {"Fn::ImportValue": "X"}})
        )
        == []
    )


def test_numbers_in_the_template_are_texts_for_a_custom_resource_and_not_judged() -> None:
    assert (
        rules_of(edited(GOVERNED, {"More": by_hand(Manifest=web(ports=[{"port": "80"}], publishNotReadyAddresses="true"))})) == []
    )


def test_a_custom_resource_that_may_bring_roles_makes_them_unknown() -> None:
    """Its chart may have the role that a binding names."""
    assert rules_of(edited(GOVERNED, {"Objects": applied(binding()), "More": by_hand(Chart="teams", Release="teams")})) == []


def test_a_number_that_only_the_deployment_knows_leaves_the_rest_of_a_manifest_known() -> None:
    text = json.dumps([web(**WRONG)]).replace("80", "${Port}")
    template = edited(GOVERNED, {"Objects": applied(), "Objects/Manifest": {"Fn::Sub": text}})
    assert rules_of({**template, "Parameters": {"Port": {"Type": "Number"}}}) == ["HP-OBJ-007"]
