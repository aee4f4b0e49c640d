from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_aps as aps
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_constructs import (
    Addon,
    ClusterNetwork,
    EksControlPlane,
    ExistingControlPlane,
    GrafanaWorkspace,
    KubernetesVersion,
    LustreStorage,
    LustreVolume,
    MetricsCategory,
    MetricsLevel,
    PodIdentity,
)
from tests.conftest import only, resources
from tests.eks.conftest import MakeControlPlane

Factory = Callable[..., Addon]


@pytest.fixture
def existing(stack: Stack, layer: lambda_.ILayerVersion) -> ExistingControlPlane:
    """A control plane with add-ons that this app does not know; the cheapest one."""
    role = iam.Role.from_role_arn(stack, "Kubectl", "arn:aws:iam::123456789012:role/kubectl")
    return ExistingControlPlane(
        stack, "ControlPlane", cluster_name="there", version=KubernetesVersion.V1_33, kubectl_role=role, kubectl_layer=layer
    )


def addons(stack: Stack) -> dict[str, dict[str, Any]]:
    """Each add-on by its name, with the names of what it depends on."""
    found = resources(stack, "AWS::EKS::Addon")
    names = {id: one["Properties"]["AddonName"] for id, one in found.items()}
    return {
        names[id]: {**one["Properties"], "after": sorted(names.get(other, other) for other in one.get("DependsOn", ()))}
        for id, one in found.items()
    }


def errors(stack: Stack) -> list[str]:
    app = stack.node.root
    assert isinstance(app, App)
    messages = app.synth(force=True).get_stack_artifact(stack.artifact_id).messages
    return [f"{message.id}: {message.entry.data}" for message in messages if message.level.name == "ERROR"]


def statements(stack: Stack, service_account: str) -> list[dict[str, Any]]:
    """The inline statements of a service account's role."""
    template = resources(stack)
    named = [one["Properties"] for one in template.values() if one.get("Properties", {}).get("ServiceAccount") == service_account]
    (association,) = named
    role = template[association["RoleArn"]["Fn::GetAtt"][0]]["Properties"]
    found: list[dict[str, Any]] = role["Policies"][0]["PolicyDocument"]["Statement"]
    return found


def test_an_unknown_add_on_is_taken_as_it_is(stack: Stack, existing: ExistingControlPlane) -> None:
    Addon(stack, "Adot", control_plane=existing, name="adot", version="v0.141.0", configuration={"any": {"key": [1]}})
    found = addons(stack)["adot"]
    assert (found["ClusterName"], found["AddonVersion"], found["ResolveConflicts"]) == ("there", "v0.141.0", "OVERWRITE")
    assert json.loads(found["ConfigurationValues"]) == {"any": {"key": [1]}}
    assert "Tags" not in found
    assert resources(stack, "AWS::EKS::PodIdentityAssociation") == {}


def test_pods_of_a_known_add_on_have_a_role_before_it_starts(stack: Stack, existing: ExistingControlPlane) -> None:
    Addon.training_operator(stack, "Operator", control_plane=existing, after=[])
    (id, association), *_ = resources(stack, "AWS::EKS::PodIdentityAssociation").items()
    assert addons(stack)["amazon-sagemaker-hyperpod-training-operator"]["after"] == [id]
    properties = association["Properties"]
    assert (properties["ClusterName"], properties["Namespace"]) == ("there", "aws-hyperpod")
    assert properties["ServiceAccount"] == "hp-training-operator-controller-manager"
    (role,) = [one for name, one in resources(stack, "AWS::IAM::Role").items() if name.startswith("Operator")]
    assert role["Properties"]["ManagedPolicyArns"][0]["Fn::Join"][1][-1] == (
        ":iam::aws:policy/AmazonSageMakerHyperPodTrainingOperatorAccess"
    )
    assert "PodIdentityAssociations" not in addons(stack)["amazon-sagemaker-hyperpod-training-operator"]


def test_the_role_is_for_pods_of_this_cluster(stack: Stack, existing: ExistingControlPlane) -> None:
    Addon.fsx_csi(stack, "Fsx", control_plane=existing)
    (role,) = [one for name, one in resources(stack, "AWS::IAM::Role").items() if name.startswith("Fsx")]
    (trust,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert (trust["Action"], trust["Principal"]) == (["sts:AssumeRole", "sts:TagSession"], {"Service": "pods.eks.amazonaws.com"})
    assert trust["Condition"] == {
        "StringEquals": {
            "aws:SourceAccount": {"Ref": "AWS::AccountId"},
            "aws:SourceArn": stack.resolve(existing.cluster_arn),
        }
    }


def test_a_role_of_one_s_own_takes_the_place_of_a_new_one(stack: Stack, existing: ExistingControlPlane) -> None:
    role = iam.Role.from_role_arn(stack, "Own", "arn:aws:iam::123456789012:role/own")
    identity = PodIdentity(namespace="kube-system", service_account="fsx-csi-controller-sa", role=role)
    Addon(stack, "Fsx", control_plane=existing, name="aws-fsx-csi-driver", identities=[identity])
    found = only(stack, "AWS::EKS::PodIdentityAssociation")["Properties"]
    assert found["RoleArn"] == "arn:aws:iam::123456789012:role/own"


def test_add_ons_of_sagemaker_have_its_tag(stack: Stack, existing: ExistingControlPlane) -> None:
    Addon.task_governance(stack, "Governance", control_plane=existing, after=[])
    Addon(stack, "Cni", control_plane=existing, name="vpc-cni")
    found = addons(stack)
    assert found["amazon-sagemaker-hyperpod-taskgovernance"]["Tags"] == [{"Key": "SageMaker", "Value": "true"}]
    assert "Tags" not in found["vpc-cni"]


@pytest.mark.parametrize("reverse", [False, True])
def test_add_ons_come_after_those_that_they_need(stack: Stack, control_plane: EksControlPlane, reverse: bool) -> None:
    ready = Construct(stack, "Ready")
    made: list[Callable[[], Addon]] = [
        lambda: Addon(stack, "Agent", control_plane=control_plane, name="eks-pod-identity-agent"),
        lambda: Addon(stack, "Certificates", control_plane=control_plane, name="cert-manager", after=[ready]),
        lambda: Addon.training_operator(stack, "Operator", control_plane=control_plane, after=[ready]),
    ]
    for make in reversed(made) if reverse else made:
        make()
    after = addons(stack)["amazon-sagemaker-hyperpod-training-operator"]["after"]
    assert {"cert-manager", "eks-pod-identity-agent"} < set(after)
    assert errors(stack) == []


def test_only_what_needs_no_node_is_awaited(control_plane: EksControlPlane, stack: Stack) -> None:
    names = ["vpc-cni", "coredns", "kube-proxy", "metrics-server", "eks-pod-identity-agent"]
    made = {name: Addon(stack, name, control_plane=control_plane, name=name).resource for name in names}
    assert list(control_plane.awaited) == [made["vpc-cni"], made["kube-proxy"], made["eks-pod-identity-agent"]]


def test_an_add_on_waits_for_nodes(stack: Stack, existing: ExistingControlPlane) -> None:
    gate = Addon(stack, "Gate", control_plane=existing, name="adot")
    Addon(stack, "Certificates", control_plane=existing, name="cert-manager", after=[gate])
    assert addons(stack)["cert-manager"]["after"] == ["adot"]


def test_an_add_on_waits_for_the_nodes_of_eks(stack: Stack, make_control_plane: MakeControlPlane) -> None:
    control_plane = make_control_plane(default_capacity=2)
    Addon(stack, "Certificates", control_plane=control_plane, name="cert-manager")
    Addon(stack, "Cni", control_plane=control_plane, name="vpc-cni")
    (nodes,) = resources(stack, "AWS::EKS::Nodegroup")
    found = addons(stack)
    assert nodes in found["cert-manager"]["after"]
    assert nodes not in found["vpc-cni"]["after"]


def test_a_chart_can_bring_what_an_add_on_needs(stack: Stack, control_plane: EksControlPlane) -> None:
    ready = Construct(stack, "Ready")
    first, second = (Addon(stack, f"Other{number}", control_plane=control_plane, name=f"other{number}") for number in (1, 2))
    control_plane.add_provided("cert-manager", first)
    Addon.training_operator(stack, "Operator", control_plane=control_plane, after=[ready])
    control_plane.add_provided("eks-pod-identity-agent", second)
    assert {"other1", "other2"} < set(addons(stack)["amazon-sagemaker-hyperpod-training-operator"]["after"])
    assert errors(stack) == []


def test_fails_without_a_prerequisite(stack: Stack, control_plane: EksControlPlane) -> None:
    Addon.training_operator(stack, "Operator", control_plane=control_plane, after=[Construct(stack, "Ready")])
    expected = [
        f"/Stack/Operator: the add-on amazon-sagemaker-hyperpod-training-operator needs the add-on {name}, which this control "
        f'plane does not have; write Addon(..., name="{name}"), or control_plane.add_provided("{name}", ...) if a chart brings it'
        for name in ("cert-manager", "eks-pod-identity-agent")
    ]
    assert errors(stack) == expected


def test_add_ons_of_an_existing_cluster_are_not_missed(stack: Stack, existing: ExistingControlPlane) -> None:
    Addon.training_operator(stack, "Operator", control_plane=existing, after=[])
    assert errors(stack) == []


def listed(stack: Stack, layer: lambda_.ILayerVersion, *names: str) -> ExistingControlPlane:
    """A control plane whose add-ons are known."""
    role = iam.Role.from_role_arn(stack, "Kubectl", "arn:aws:iam::123456789012:role/kubectl")
    return ExistingControlPlane(stack, "ControlPlane", cluster_name="there", addons=names, kubectl_role=role, kubectl_layer=layer)


def test_add_ons_that_are_there_are_not_missed(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    control_plane = listed(stack, layer, "cert-manager", "eks-pod-identity-agent")
    Addon.training_operator(stack, "Operator", control_plane=control_plane, after=[])
    assert errors(stack) == []


def test_fails_without_a_prerequisite_where_all_add_ons_are_known(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    control_plane = listed(stack, layer, "eks-pod-identity-agent")
    Addon.training_operator(stack, "Operator", control_plane=control_plane, after=[])
    (error,) = errors(stack)
    assert "needs the add-on cert-manager, which this control plane does not have" in error


def test_fails_for_an_add_on_that_is_there(stack: Stack, layer: lambda_.ILayerVersion) -> None:
    control_plane = listed(stack, layer, "vpc-cni")
    text = (
        "Stack/Cni: the control plane has the add-on vpc-cni already, as its argument addons says; a cluster has each add-on once"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        Addon(stack, "Cni", control_plane=control_plane, name="vpc-cni")


def test_fails_beside_a_version_that_is_too_low(stack: Stack, existing: ExistingControlPlane) -> None:
    Addon.task_governance(stack, "Governance", control_plane=existing, after=[], version="v1.2.9-eksbuild.1")
    Addon.training_operator(stack, "Operator", control_plane=existing, after=[])
    assert errors(stack) == [
        "/Stack/Operator: the add-on amazon-sagemaker-hyperpod-training-operator needs amazon-sagemaker-hyperpod-taskgovernance "
        "v1.3.0 or newer; Stack/Governance has v1.2.9-eksbuild.1; raise its version, or leave it out for the default of EKS"
    ]


def test_fails_before_there_are_nodes(stack: Stack, control_plane: EksControlPlane) -> None:
    text = (
        "Stack/Certificates: the add-on cert-manager fails without a node, and Stack/ControlPlane has none of its own; "
        "write after=[readiness], with the ReadinessGate of the HyperPod cluster, or give the control plane default_capacity=2"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Addon(stack, "Certificates", control_plane=control_plane, name="cert-manager")


def test_fails_twice(stack: Stack, existing: ExistingControlPlane) -> None:
    Addon(stack, "One", control_plane=existing, name="vpc-cni")
    text = (
        "Stack/Two: the add-on vpc-cni is in Stack/One already; a cluster has each add-on once: take that construct, or remove it"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Addon(stack, "Two", control_plane=existing, name="vpc-cni")


INSTEAD = "; take a version from aws eks describe-addon-versions, or leave the version out for the default of EKS"


@pytest.mark.parametrize(
    ("name", "version", "allowed"),
    [
        (
            "vpc-cni",
            "v1.18.2-eksbuild.1",
            "v1.18.3 and newer (https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html)",
        ),
        (
            "kube-proxy",
            "v1.31.3-eksbuild.2",
            "v1.33 beside Kubernetes 1.33 (https://docs.aws.amazon.com/eks/latest/userguide/managing-kube-proxy.html)",
        ),
    ],
)
def test_fails_with_a_version_that_the_cluster_cannot_have(
    stack: Stack, existing: ExistingControlPlane, name: str, version: str, allowed: str
) -> None:
    text = f"Stack/Addon: version {version!r} of the add-on {name}; allowed: {allowed}{INSTEAD}"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Addon(stack, "Addon", control_plane=existing, name=name, version=version)


def test_fails_with_a_version_of_another_form(stack: Stack, existing: ExistingControlPlane) -> None:
    text = (
        "Stack/Addon: version is '1.20.1'; allowed: v, three numbers and the build, such as v1.20.1-eksbuild.3 "
        '(aws eks describe-addon-versions prints those on offer); write version="v1.20.1-eksbuild.3"'
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Addon(stack, "Addon", control_plane=existing, name="vpc-cni", version="1.20.1")


@pytest.mark.parametrize(
    ("configuration", "refused"),
    [
        ({"controller": {}}, "controller is unknown; allowed: hpTrainingControllerManager"),
        (
            {"hpTrainingControllerManager": {"manager": {"resources": {"requests": {"gpu": "1"}}}}},
            "hpTrainingControllerManager.manager.resources.requests.gpu is unknown; allowed: cpu, memory",
        ),
        (
            {"hpTrainingControllerManager": {"nodeSelector": "all"}},
            "hpTrainingControllerManager.nodeSelector is 'all'; allowed: object",
        ),
    ],
)
def test_fails_with_an_unknown_configuration(
    stack: Stack, existing: ExistingControlPlane, configuration: dict[str, Any], refused: str
) -> None:
    name = "amazon-sagemaker-hyperpod-training-operator"
    text = (
        f"Stack/Operator: the configuration of the add-on {name}: {refused}; "
        f"see aws eks describe-addon-configuration --addon-name {name}"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Addon.training_operator(stack, "Operator", control_plane=existing, after=[], configuration=configuration)


def test_fails_without_the_permissions_that_an_add_on_needs(stack: Stack, existing: ExistingControlPlane) -> None:
    text = (
        "Stack/S3: the add-on aws-mountpoint-s3-csi-driver needs permissions for your resources; "
        "write Addon.s3_csi(...), or give policy or identities"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Addon(stack, "S3", control_plane=existing, name="aws-mountpoint-s3-csi-driver")


def test_fails_with_permissions_for_nobody(stack: Stack, existing: ExistingControlPlane) -> None:
    text = "Stack/Adot: policy for the add-on adot, whose service accounts are unknown; give identities"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        Addon(stack, "Adot", control_plane=existing, name="adot", policy=iam.PolicyDocument())


def test_tokens_are_taken(stack: Stack, existing: ExistingControlPlane) -> None:
    version = CfnParameter(stack, "Version").value_as_string
    cpu = CfnParameter(stack, "Cpu").value_as_string
    configuration = {"hpTrainingControllerManager": {"manager": {"resources": {"requests": {"cpu": cpu}}}}}
    Addon.training_operator(stack, "Operator", control_plane=existing, after=[], version=version, configuration=configuration)
    found = addons(stack)["amazon-sagemaker-hyperpod-training-operator"]
    assert found["AddonVersion"] == {"Ref": "Version"}
    assert {"Ref": "Cpu"} in found["ConfigurationValues"]["Fn::Join"][1]


def test_pods_stay_on_request(stack: Stack, existing: ExistingControlPlane) -> None:
    Addon(stack, "Cni", control_plane=existing, name="vpc-cni", preserve_on_delete=True)
    assert addons(stack)["vpc-cni"]["PreserveOnDelete"] is True


@pytest.fixture
def workspace(stack: Stack) -> aps.CfnWorkspace:
    return aps.CfnWorkspace(stack, "Workspace")


def observed(stack: Stack) -> dict[str, Any]:
    """The configuration of observability, with a mark for each reference."""
    values = addons(stack)["amazon-sagemaker-hyperpod-observability"]["ConfigurationValues"]
    parts = values["Fn::Join"][1] if isinstance(values, dict) else [values]
    found: dict[str, Any] = json.loads("".join(part if isinstance(part, str) else "<reference>" for part in parts))
    return found


def test_observability_sends_metrics_to_the_workspace(
    stack: Stack, existing: ExistingControlPlane, workspace: aps.CfnWorkspace
) -> None:
    Addon.observability(stack, "Observability", control_plane=existing, workspace=workspace, after=[])
    found = observed(stack)
    assert set(found) == {"ampWorkspace", "metricsProvider", "logging"}
    assert found["ampWorkspace"]["arn"] == "<reference>"
    assert found["ampWorkspace"]["prometheusEndpoint"].startswith("https://aps-workspaces.<reference>.<reference>/workspaces/")
    assert {name: one["level"] for name, one in found["metricsProvider"].items()} == {
        "trainingMetrics": "BASIC",
        "inferenceMetrics": "BASIC",
        "taskGovernanceMetrics": "DISABLED",
        "scalingMetrics": "DISABLED",
        "customMetrics": "BASIC",
        "nodeMetrics": "BASIC",
        "acceleratedComputeMetrics": "BASIC",
        "networkMetrics": "DISABLED",
    }
    assert found["metricsProvider"]["nodeMetrics"]["scrapeInterval"] == 30


def test_observability_writes_to_that_workspace_only(
    stack: Stack, existing: ExistingControlPlane, workspace: aps.CfnWorkspace
) -> None:
    Addon.observability(stack, "Observability", control_plane=existing, workspace=workspace, after=[])
    metrics, logs = statements(stack, "hyperpod-observability-operator-otel-collector")
    assert (metrics["Action"], metrics["Resource"]) == ("aps:RemoteWrite", {"Ref": "Workspace"})
    assert logs["Resource"][0]["Fn::Join"][1][-1] == ":log-group:/aws/sagemaker/Clusters/*"


def test_observability_shows_metrics_in_grafana(stack: Stack, existing: ExistingControlPlane, workspace: aps.CfnWorkspace) -> None:
    grafana = GrafanaWorkspace(name="boards", arn="arn:aws:grafana:us-west-2:123456789012:/workspaces/g-1")
    Addon.observability(
        stack,
        "Observability",
        control_plane=existing,
        workspace=workspace,
        after=[],
        grafana=grafana,
        levels={MetricsCategory.NETWORK: MetricsLevel.ADVANCED},
        logging=True,
    )
    found = observed(stack)
    assert found["amgWorkspace"] == {"arn": grafana.arn, "workspaceName": "boards"}
    assert found["metricsProvider"]["networkMetrics"]["level"] == "ADVANCED"
    assert found["logging"] == {"enabled": True}


def test_volumes_are_attached_to_hyperpod_s_nodes(stack: Stack, existing: ExistingControlPlane) -> None:
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-west-2:123456789012:key/1")
    Addon.ebs_csi(stack, "Ebs", control_plane=existing, keys=[key])
    found = statements(stack, "ebs-csi-controller-sa")
    assert [one["Action"] for one in found] == [
        ["sagemaker:AttachClusterNodeVolume", "sagemaker:DetachClusterNodeVolume"],
        "eks:DescribeCluster",
        ["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKeyWithoutPlaintext", "kms:ReEncrypt*"],
        "kms:CreateGrant",
    ]
    assert found[0]["Resource"]["Fn::Join"][1][-1] == ":cluster/*"
    assert found[3]["Condition"] == {"Bool": {"kms:GrantIsForAWSResource": "true"}}


def test_the_managed_policy_of_a_driver_stays(stack: Stack, existing: ExistingControlPlane) -> None:
    Addon.ebs_csi(stack, "Ebs", control_plane=existing)
    (role,) = [one for name, one in resources(stack, "AWS::IAM::Role").items() if name.startswith("Ebs")]
    assert "service-role/AmazonEBSCSIDriverPolicy" in str(role["Properties"]["ManagedPolicyArns"])


@pytest.mark.parametrize(
    ("read_only", "objects", "keys"),
    [
        (True, "s3:GetObject", "kms:Decrypt"),
        (
            False,
            ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"],
            ["kms:Decrypt", "kms:GenerateDataKey"],
        ),
    ],
)
def test_buckets_are_mounted(stack: Stack, existing: ExistingControlPlane, read_only: bool, objects: object, keys: object) -> None:
    bucket = s3.Bucket(stack, "Bucket", encryption=s3.BucketEncryption.KMS)
    Addon.s3_csi(stack, "S3", control_plane=existing, buckets=[bucket], read_only=read_only)
    listing, access, encryption = statements(stack, "s3-csi-driver-sa")
    assert (listing["Action"], listing["Resource"]) == ("s3:ListBucket", stack.resolve(bucket.bucket_arn))
    assert (access["Action"], encryption["Action"]) == (objects, keys)
    assert access["Resource"]["Fn::Join"][1][-1] == "/*"


def test_fails_without_a_bucket(stack: Stack, existing: ExistingControlPlane) -> None:
    with pytest.raises(ValueError, match=r"^Stack/S3: buckets is empty; give the buckets that pods mount, such as \[bucket\]$"):
        Addon.s3_csi(stack, "S3", control_plane=existing, buckets=[])


def manifests(stack: Stack) -> list[dict[str, Any]]:
    """The objects of all manifests, with a mark for each reference."""
    found: list[dict[str, Any]] = []
    for one in resources(stack, "Custom::AWSCDK-EKS-KubernetesResource").values():
        text = one["Properties"]["Manifest"]
        parts = text["Fn::Join"][1] if isinstance(text, dict) else [text]
        found += json.loads("".join(part if isinstance(part, str) else next(iter(part.values()))[-1] for part in parts))
    return found


def test_a_file_system_is_a_volume_with_a_claim_in_each_namespace(
    stack: Stack, existing: ExistingControlPlane, lustre: LustreStorage
) -> None:
    Addon.fsx_csi(stack, "Fsx", control_plane=existing, file_system=lustre, namespaces=["a", "b"], claim_name="data")
    found = manifests(stack)
    volumes = [one for one in found if one["kind"] == "PersistentVolume"]
    claims = [one for one in found if one["kind"] == "PersistentVolumeClaim"]
    assert [one["metadata"]["name"] for one in volumes] == ["data-a", "data-b"]
    assert [(one["metadata"]["namespace"], one["spec"]["volumeName"]) for one in claims] == [("a", "data-a"), ("b", "data-b")]
    assert {one["metadata"]["name"] for one in claims} == {"data"}
    spec = volumes[0]["spec"]
    assert spec["claimRef"] == {"name": "data", "namespace": "a"}
    assert (spec["persistentVolumeReclaimPolicy"], spec["accessModes"]) == ("Retain", ["ReadWriteMany"])
    assert spec["csi"]["driver"] == "fsx.csi.aws.com"
    assert spec["csi"]["volumeAttributes"] == {"dnsname": "DNSName", "mountname": "LustreMountName"}


def test_an_existing_file_system_is_a_volume(stack: Stack, existing: ExistingControlPlane) -> None:
    there = LustreStorage.from_attributes(file_system_id="fs-0123456789abcdef0", mount_name="abcdefgh")
    LustreVolume(stack, "Volume", control_plane=existing, file_system=there, capacity_gib=2400)
    volume, claim = manifests(stack)
    assert (volume["metadata"]["name"], claim["metadata"]["name"]) == ("fsx-default", "fsx")
    assert volume["spec"]["csi"]["volumeHandle"] == "fs-0123456789abcdef0"
    assert volume["spec"]["capacity"] == {"storage": "2400Gi"}
    assert claim["spec"]["resources"]["requests"] == {"storage": "1Gi"}, "the size of a claim cannot change"


def test_fails_for_a_second_claim_of_a_name(stack: Stack, existing: ExistingControlPlane) -> None:
    there = LustreStorage.from_attributes(file_system_id="fs-11111111", mount_name="m")
    LustreVolume(stack, "One", control_plane=existing, file_system=there)
    LustreVolume(stack, "Elsewhere", control_plane=existing, file_system=there, namespace="other")
    text = "Stack/Two: the claim 'fsx' in the namespace 'default' is that of Stack/One already; give another claim_name"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        LustreVolume(stack, "Two", control_plane=existing, file_system=there)


def test_tokens_of_volumes_are_taken(stack: Stack, existing: ExistingControlPlane) -> None:
    text = CfnParameter(stack, "Text").value_as_string
    number: Any = CfnParameter(stack, "Number", type="Number").value_as_number
    there = LustreStorage.from_attributes(file_system_id=text, mount_name=text)
    LustreVolume(stack, "Volume", control_plane=existing, file_system=there, namespace=text, claim_name=text, capacity_gib=number)
    Addon.fsx_csi(stack, "Fsx", control_plane=existing, file_system=there, claim_name=text)
    found = manifests(stack)
    assert [one["metadata"]["name"] for one in found] == ["t-t", "t", "t-default", "t"], "t is the last letter of Text"
    assert found[0]["spec"]["capacity"] == {"storage": "rGi"}, "r is that of Number"


def test_fails_with_a_namespace_that_names_no_volume(stack: Stack, existing: ExistingControlPlane) -> None:
    there = LustreStorage.from_attributes(file_system_id="fs-11111111", mount_name="m")
    text = CfnParameter(stack, "Text").value_as_string
    with pytest.raises(ValueError, match=r"^Stack/Fsx: namespaces has one that is known only in the deployment, .* LustreVolume\("):
        Addon.fsx_csi(stack, "Fsx", control_plane=existing, file_system=there, namespaces=["default", text])


def test_a_driver_without_a_file_system_has_no_volume(stack: Stack, existing: ExistingControlPlane) -> None:
    Addon.fsx_csi(stack, "Fsx", control_plane=existing)
    assert manifests(stack) == []
    (statement,) = statements(stack, "fsx-csi-controller-sa")
    assert statement["Action"] == "fsx:DescribeFileSystems"


def test_fails_with_another_thing_as_control_plane(stack: Stack, network: ClusterNetwork) -> None:
    with pytest.raises(TypeError, match=r"^Stack/Cni: control_plane is a ClusterNetwork; allowed: an EksControlPlane, or "):
        Addon(stack, "Cni", control_plane=network, name="vpc-cni")  # type: ignore[arg-type]
