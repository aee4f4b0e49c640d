"""A cluster of `aws_eks_v2`, as the CDK makes it, with a manifest, a chart, an add-on, access and a pod identity: the real CDK CLI,
kubectl and Helm, and IAM is evaluated. The control plane is whichever is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as assets
from aws_cdk.lambda_layer_kubectl_v35 import KubectlV35Layer

from hyperpod_constructs.eks.awaiting import await_definition, await_namespace
from tests.deploy.conftest import Cloud, running_cloud
from tests.deploy.people import kubectl

NAME = "Kubernetes"
CHART = Path(__file__).parent / "chart"
WRONG = "Not_A_Name"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "greetings.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"kind": "Greeting", "plural": "greetings"},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}],
    },
}
GREETING = {"apiVersion": "example.com/v1", "kind": "Greeting", "metadata": {"name": "hello"}}


def assembly(cloud: Cloud, name: str) -> Path:
    """The assembly of the stack; `name` is that of a ConfigMap in it.

    The namespace and the kind are made side by side with the waits for them: without a wait, the objects behind it would fail.
    """
    directory = cloud.directory / name
    app = App(outdir=str(directory))
    stack = Stack(app, NAME, env=Environment(account=cloud.aws.account, region=cloud.aws.region))
    vpc = ec2.Vpc(
        stack,
        "Vpc",
        availability_zones=[f"{cloud.aws.region}a", f"{cloud.aws.region}b"],
        nat_gateways=0,
        subnet_configuration=[ec2.SubnetConfiguration(name="Public", subnet_type=ec2.SubnetType.PUBLIC)],
    )
    cluster = eks.Cluster(
        stack,
        "Cluster",
        cluster_name="demo",
        version=eks.KubernetesVersion.V1_35,
        vpc=vpc,
        vpc_subnets=[ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC)],
        default_capacity_type=eks.DefaultCapacityType.NODEGROUP,
        default_capacity=0,
        kubectl_provider_options=eks.KubectlProviderOptions(kubectl_layer=KubectlV35Layer(stack, "Layer")),
    )
    team = iam.Role(stack, "Team", role_name="team", assumed_by=iam.AccountRootPrincipal())
    cluster.grant_access(
        "TeamAccess",
        team.role_arn,
        [
            eks.AccessPolicy.from_access_policy_name(
                "AmazonEKSEditPolicy", access_scope_type=eks.AccessScopeType.NAMESPACE, namespaces=["team"]
            )
        ],
    )
    cluster.add_manifest("Namespace", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "team"}, "data": {"a": "1"}}
    control_plane = cluster.node.default_child
    assert control_plane is not None
    there = await_namespace(stack, "TeamIsThere", cluster=cluster, name="team", after=control_plane)  # type: ignore[arg-type]
    cluster.add_manifest("Settings", settings).node.add_dependency(there)
    kind = cluster.add_manifest("Kind", DEFINITION)
    known = await_definition(stack, "KindIsThere", cluster=cluster, name="greetings.example.com", after=kind)  # type: ignore[arg-type]
    cluster.add_manifest("Greeting", GREETING).node.add_dependency(known)
    cluster.add_helm_chart(
        "Chart", chart_asset=assets.Asset(stack, "Greeting", path=str(CHART)), release="hello", values={"words": "good day"}
    )
    eks.CfnAddon(stack, "Cni", cluster_name=cluster.cluster_name, addon_name="vpc-cni")
    pods = iam.Role(stack, "Pods", assumed_by=iam.ServicePrincipal("pods.eks.amazonaws.com").with_session_tags())
    eks.CfnPodIdentityAssociation(
        stack, "Identity", cluster_name=cluster.cluster_name, namespace="team", service_account="runner", role_arn=pods.role_arn
    )
    app.synth()
    return directory


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    with running_cloud(tmp_path_factory.mktemp("kubernetes"), auth=True) as found:
        yield found


@pytest.fixture(scope="module")
def right(cloud: Cloud) -> Path:
    return assembly(cloud, "settings")


def team(cloud: Cloud) -> str:
    return str(cloud.client("iam").get_role(RoleName="team")["Role"]["Arn"])


def test_the_stack_deploys(cloud: Cloud, right: Path) -> None:
    done = cloud.deploy(right, NAME)
    assert done.code == 0, done.output
    found: dict[str, Any] = cloud.client("eks").describe_cluster(name="demo")["cluster"]
    assert found["status"] == "ACTIVE"
    assert cloud.client("eks").list_addons(clusterName="demo")["addons"] == ["vpc-cni"]
    (association,) = cloud.client("eks").list_pod_identity_associations(clusterName="demo")["associations"]
    assert association["serviceAccount"] == "runner"


def test_a_team_works_in_its_namespace_only(cloud: Cloud) -> None:
    done = kubectl(cloud, "demo", "get", "configmaps", "-n", "team", "-o", "json", role=team(cloud))
    assert done.code == 0, done.output
    assert "settings" in [item["metadata"]["name"] for item in json.loads(done.output)["items"]]
    made = kubectl(cloud, "demo", "create", "configmap", "mine", "-n", "team", role=team(cloud))
    assert made.code == 0, made.output
    elsewhere = kubectl(cloud, "demo", "create", "configmap", "mine", "-n", "default", role=team(cloud))
    assert elsewhere.code == 1
    assert "forbidden" in elsewhere.output


def test_a_wrong_key_is_unauthorized(cloud: Cloud) -> None:
    done = kubectl(cloud, "demo", "get", "configmaps", "-n", "team", role=team(cloud), secret="wrong")
    assert done.code == 1
    assert "Unauthorized" in done.output


def test_a_wrong_object_rolls_back_with_the_words_of_the_api(cloud: Cloud) -> None:
    done = cloud.deploy(assembly(cloud, WRONG), NAME)
    assert done.code == 1
    assert cloud.status(NAME) == "UPDATE_ROLLBACK_COMPLETE"
    assert f'ConfigMap \\"{WRONG}\\" is invalid' in cloud.cause(NAME) or f'ConfigMap "{WRONG}" is invalid' in cloud.cause(NAME)


def test_nothing_is_left_after_destroy(cloud: Cloud, right: Path) -> None:
    done = cloud.destroy(right, NAME)
    assert done.code == 0, done.output
    assert cloud.client("eks").list_clusters()["clusters"] == []
    assert cloud.left().keys() <= {"bucket", "log group"}
