"""Add-ons of the embedded EKS: names, versions, configuration, states."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.facts.addons import prerequisites
from hyperpod_constructs.local.eks.addons import NODE_SECONDS
from tests.local.eks.conftest import EksCloud
from tests.local.eks.test_clusters import refused

INFERENCE = "amazon-sagemaker-hyperpod-inference"
OPERATOR, AGENT = "amazon-sagemaker-hyperpod-training-operator", "eks-pod-identity-agent"


def create(eks: EksCloud, name: str, **members: Any) -> dict[str, Any]:
    """An add-on after its creation."""
    eks("CreateAddon", clusterName="demo", addonName=name, **members)
    eks.tick()
    return described(eks, name)


def described(eks: EksCloud, name: str) -> dict[str, Any]:
    found: dict[str, Any] = eks("DescribeAddon", clusterName="demo", addonName=name)["addon"]
    return found


def test_an_add_on_is_created_updated_and_deleted(eks: EksCloud) -> None:
    eks.cluster()
    made = eks("CreateAddon", clusterName="demo", addonName="vpc-cni", resolveConflicts="OVERWRITE", tags={"a": "1"})["addon"]
    assert made["status"] == "CREATING"
    assert made["addonVersion"] == "v1.20.1-eksbuild.3"
    eks.tick()
    assert described(eks, "vpc-cni")["status"] == "ACTIVE"
    assert eks("ListAddons", clusterName="demo")["addons"] == ["vpc-cni"]
    refused(eks, "CreateAddon", "ResourceInUseException", clusterName="demo", addonName="vpc-cni")
    change = {"addonVersion": "v1.21.0-eksbuild.1", "configurationValues": '{"a": 1}', "resolveConflicts": "PRESERVE"}
    update = eks("UpdateAddon", clusterName="demo", addonName="vpc-cni", **change)["update"]
    assert update["type"] == "AddonUpdate"
    assert described(eks, "vpc-cni")["status"] == "UPDATING"
    refused(eks, "UpdateAddon", "ResourceInUseException", clusterName="demo", addonName="vpc-cni")
    eks.tick()
    found = described(eks, "vpc-cni")
    assert (found["status"], found["addonVersion"], found["configurationValues"]) == ("ACTIVE", "v1.21.0-eksbuild.1", '{"a": 1}')
    assert eks("DescribeUpdate", name="demo", addonName="vpc-cni", updateId=update["id"])["update"]["status"] == "Successful"
    assert eks("ListTagsForResource", resourceArn=found["addonArn"])["tags"] == {"a": "1"}
    assert eks("DeleteAddon", clusterName="demo", addonName="vpc-cni")["addon"]["status"] == "DELETING"
    eks.tick()
    refused(eks, "DescribeAddon", "ResourceNotFoundException", clusterName="demo", addonName="vpc-cni")


@pytest.mark.parametrize(
    ("name", "members", "words"),
    [
        ("kueue", {}, "vpc-cni"),
        ("vpc-cni", {"addonVersion": "1.20"}, "v1.20.1-eksbuild.3"),
        ("vpc-cni", {"addonVersion": "v1.17.0-eksbuild.1"}, "v1.18.3"),
        ("kube-proxy", {"addonVersion": "v1.31.3-eksbuild.2"}, "v1.33"),
        (OPERATOR, {"configurationValues": '{"manager": {}}'}, "hpTrainingControllerManager"),
        (OPERATOR, {"configurationValues": "manager: {}"}, "JSON"),
        (OPERATOR, {"configurationValues": "[]"}, "JSON object"),
    ],
)
def test_a_wrong_add_on_is_refused(eks: EksCloud, name: str, members: dict[str, Any], words: str) -> None:
    eks.cluster()
    assert words in refused(eks, "CreateAddon", clusterName="demo", addonName=name, **members)
    assert eks("ListAddons", clusterName="demo")["addons"] == []


def test_a_wrong_update_is_refused(eks: EksCloud) -> None:
    eks.cluster()
    create(eks, "kube-proxy")
    refused(eks, "UpdateAddon", clusterName="demo", addonName="kube-proxy", addonVersion="v1.32.0-eksbuild.1")
    assert described(eks, "kube-proxy")["status"] == "ACTIVE"


def test_task_governance_takes_no_step_over_a_version(eks: EksCloud) -> None:
    name = "amazon-sagemaker-hyperpod-taskgovernance"
    eks.cluster()
    eks.control_planes.only.api.add("v1", "Node", "hyperpod-i-1")
    create(eks, name, addonVersion="v1.3.0-eksbuild.1")
    message = refused(eks, "UpdateAddon", clusterName="demo", addonName=name, addonVersion="v1.5.0-eksbuild.1")
    assert "from v1.3.0-eksbuild.1 to v1.5.0-eksbuild.1" in message
    assert "each minor version in between" in message
    for version in ("v1.4.0-eksbuild.1", "v1.5.0-eksbuild.1"):
        eks("UpdateAddon", clusterName="demo", addonName=name, addonVersion=version)
        eks.tick()
    assert described(eks, name)["addonVersion"] == "v1.5.0-eksbuild.1"


def test_task_governance_brings_the_kinds_of_its_queues(eks: EksCloud) -> None:
    eks.cluster()
    api = eks.control_planes.only.api
    create(eks, "vpc-cni")
    assert api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition") == []
    create(eks, "amazon-sagemaker-hyperpod-taskgovernance")
    found = {
        one["metadata"]["name"]: one["spec"]["scope"] for one in api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    }
    assert found == {
        "clusterqueues.kueue.x-k8s.io": "Cluster",
        "cohorts.kueue.x-k8s.io": "Cluster",
        "localqueues.kueue.x-k8s.io": "Namespaced",
        "resourceflavors.kueue.x-k8s.io": "Cluster",
        "workloads.kueue.x-k8s.io": "Namespaced",
        "workloadpriorityclasses.kueue.x-k8s.io": "Cluster",
    }


def test_coredns_is_degraded_until_nodes_come(eks: EksCloud) -> None:
    eks.cluster()
    found = create(eks, "coredns")
    assert found["status"] == "DEGRADED"
    assert found["health"]["issues"][0]["code"] == "InsufficientNumberOfReplicas"
    eks.control_planes.only.api.add("v1", "Node", "hyperpod-i-1")
    assert described(eks, "coredns")["status"] == "ACTIVE"


def test_an_add_on_that_needs_nodes_fails_without_them(eks: EksCloud) -> None:
    eks.cluster()
    assert create(eks, "cert-manager")["status"] == "CREATING"
    eks.cloud.clock.tick(NODE_SECONDS)
    assert described(eks, "cert-manager")["status"] == "CREATE_FAILED"
    eks.control_planes.only.api.add("v1", "Node", "hyperpod-i-1")
    assert create(eks, "metrics-server")["status"] == "ACTIVE"


def test_an_add_on_waits_a_little_for_the_first_node(eks: EksCloud) -> None:
    eks.cluster()
    assert create(eks, "cert-manager")["status"] == "CREATING"
    eks.control_planes.only.api.add("v1", "Node", "hyperpod-i-1")
    assert described(eks, "cert-manager")["status"] == "ACTIVE"


def test_an_add_on_fails_without_its_prerequisites(eks: EksCloud) -> None:
    eks.cluster()
    eks.control_planes.only.api.add("v1", "Node", "hyperpod-i-1")
    found = create(eks, OPERATOR)
    assert found["status"] == "CREATE_FAILED"
    assert set(found["health"]["issues"][0]["resourceIds"]) == {"cert-manager", AGENT}


@pytest.mark.parametrize(
    ("addon", "api_version", "kind", "name"),
    [
        ("cert-manager", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "certificates.cert-manager.io"),
        ("eks-pod-identity-agent", "apps/v1", "DaemonSet", "eks-pod-identity-agent"),
        ("metrics-server", "apiregistration.k8s.io/v1", "APIService", "v1beta1.metrics.k8s.io"),
        ("aws-fsx-csi-driver", "storage.k8s.io/v1", "CSIDriver", "fsx.csi.aws.com"),
        ("aws-mountpoint-s3-csi-driver", "storage.k8s.io/v1", "CSIDriver", "s3.csi.aws.com"),
    ],
)
def test_a_chart_brings_a_prerequisite(eks: EksCloud, addon: str, api_version: str, kind: str, name: str) -> None:
    eks.cluster()
    api = eks.control_planes.only.api
    api.add("v1", "Node", "hyperpod-i-1")
    dependent = next(one for one in (OPERATOR, INFERENCE) if addon in prerequisites(one))
    for other in set(prerequisites(dependent)) - {addon}:
        create(eks, other)
    api.add(api_version, kind, f"another-{name}")
    found = create(eks, dependent)
    assert (found["status"], found["health"]["issues"][0]["resourceIds"]) == ("CREATE_FAILED", [addon])
    api.add(api_version, kind, name, "kube-system" if kind == "DaemonSet" else "")
    assert described(eks, dependent)["status"] == "ACTIVE"


def test_the_training_operator_takes_no_identity_inside(eks: EksCloud) -> None:
    eks.cluster()
    inside = [{"serviceAccount": "hp-training-operator-controller-manager", "roleArn": eks.pods}]
    asked: dict[str, Any] = {"clusterName": "demo", "addonName": OPERATOR, "podIdentityAssociations": inside}
    message = refused(eks, "CreateAddon", **asked, addonVersion="v1.2.1-eksbuild.1")
    assert "Pod Identity feature is not supported for addon version" in message
    assert eks("ListPodIdentityAssociations", clusterName="demo")["associations"] == []


def test_identities_inside_an_add_on_belong_to_it(eks: EksCloud) -> None:
    eks.cluster()
    inside = [{"serviceAccount": "some-account", "roleArn": eks.pods}]
    made = create(eks, "external-dns", podIdentityAssociations=inside)
    (summary,) = eks("ListPodIdentityAssociations", clusterName="demo")["associations"]
    assert made["podIdentityAssociations"] == [summary["associationArn"]]
    assert summary["ownerArn"] == made["addonArn"]
    named = {"clusterName": "demo", "associationId": summary["associationId"]}
    refused(eks, "DeletePodIdentityAssociation", "InvalidRequestException", **named)
    eks("UpdateAddon", clusterName="demo", addonName="external-dns", podIdentityAssociations=[])
    eks.tick()
    assert described(eks, "external-dns")["podIdentityAssociations"] == []
    assert eks("ListPodIdentityAssociations", clusterName="demo")["associations"] == []


def test_versions_and_schemas_are_told(eks: EksCloud) -> None:
    (info,) = eks("DescribeAddonVersions", addonName="kube-proxy", kubernetesVersion="1.31")["addons"]
    (version,) = info["addonVersions"]
    assert version["addonVersion"] == "v1.31.3-eksbuild.2"
    assert version["compatibilities"] == [{"clusterVersion": "1.31", "defaultVersion": True}]
    assert "coredns" in [item["addonName"] for item in eks("DescribeAddonVersions")["addons"]]
    refused(eks, "DescribeAddonVersions", addonName="kueue")
    told = eks("DescribeAddonConfiguration", addonName=OPERATOR, addonVersion="v1.2.1-eksbuild.1")
    assert "hpTrainingControllerManager" in json.loads(told["configurationSchema"])["properties"]
    assert told["podIdentityConfiguration"][0]["serviceAccount"] == "hp-training-operator-controller-manager"
