"""HyperPod on EKS: what it refuses about the Kubernetes cluster, and the access entries that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.eks.conftest import EksCloud
from tests.local.hyperpod_requests import checked, cluster, group
from tests.local.in_process import InProcess
from tests.local.moto_cloud import CALLER, moto_cloud


class OnEks:
    """A HyperPod beside an EKS cluster with the dependencies; both in process."""

    def __init__(self, account: EksCloud) -> None:
        self.account = account
        self.cloud = account.cloud
        self.clients = InProcess(account.cloud)
        self.service = HyperPod(self.cloud.faults, self.clients, self.cloud.clock, kubernetes=self.objects)
        self.call = checked(self.service)
        self.found: Callable[[], Any] = lambda: self.clients.control_planes.only.api

    def objects(self, arn: str, caller: Caller) -> Any:
        return self.found()

    def new_cluster(self, **members: Any) -> str:
        made = self.clients.eks.create_cluster(**self.account.request(**members))["cluster"]
        self.clients.control_planes.only.api.add("v1", "Namespace", "aws-hyperpod")
        return str(made["arn"])

    def request(self, arn: str, **members: Any) -> dict[str, Any]:
        groups = [group(self.cloud, "workers", None)]
        return cluster(self.cloud, Orchestrator={"Eks": {"ClusterArn": arn}}, InstanceGroups=groups, **members)

    def entries(self) -> list[str]:
        found: list[str] = self.clients.eks.list_access_entries(clusterName="demo")["accessEntries"]
        return found


@pytest.fixture
def hyperpod() -> Iterator[OnEks]:
    with moto_cloud() as cloud:
        yield OnEks(EksCloud(cloud))


def refused(hyperpod: OnEks, request: dict[str, Any]) -> str:
    with pytest.raises(AwsError) as caught:
        hyperpod.call("CreateCluster", **request)
    assert caught.value.code == "ValidationException"
    assert hyperpod.call("ListClusters")["ClusterSummaries"] == []
    return caught.value.message


def test_its_nodes_get_access_entries_that_go_with_it(hyperpod: OnEks) -> None:
    hyperpod.call("CreateCluster", **hyperpod.request(hyperpod.new_cluster()))
    assert hyperpod.entries() == [hyperpod.cloud.role]
    named = {"clusterName": "demo", "principalArn": hyperpod.cloud.role}
    assert hyperpod.clients.eks.describe_access_entry(**named)["accessEntry"]["type"] == "HYPERPOD_LINUX"
    for _ in range(20):
        hyperpod.cloud.clock.tick()
        hyperpod.call("ListClusters")
    other = hyperpod.cloud.new_role("other", "sagemaker.amazonaws.com")
    groups = [group(hyperpod.cloud, "workers", None), group(hyperpod.cloud, "more", None, ExecutionRole=other)]
    hyperpod.call("UpdateCluster", ClusterName="demo", InstanceGroups=groups)
    assert hyperpod.entries() == [hyperpod.cloud.role, other]
    for _ in range(20):
        hyperpod.cloud.clock.tick()
        hyperpod.call("ListClusters")
    hyperpod.call("DeleteCluster", ClusterName="demo")
    for _ in range(20):
        hyperpod.cloud.clock.tick()
        hyperpod.call("ListClusters")
    assert hyperpod.call("ListClusters")["ClusterSummaries"] == []
    assert hyperpod.entries() == []


def scaled(hyperpod: OnEks, arn: str) -> dict[str, Any]:
    role = hyperpod.cloud.new_role("scaler", "hyperpod.sagemaker.amazonaws.com")
    return hyperpod.request(arn, ClusterRole=role, AutoScaling={"Mode": "Enable", "AutoScalerType": "Karpenter"})


def definitions(hyperpod: OnEks) -> dict[str, str]:
    found = hyperpod.clients.control_planes.only.api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return {one["metadata"]["name"]: one["spec"]["names"]["kind"] for one in found}


KARPENTER = {"hyperpodnodeclasses.karpenter.sagemaker.amazonaws.com": "HyperpodNodeClass", "nodepools.karpenter.sh": "NodePool"}


def test_autoscaling_brings_the_kinds_of_karpenter(hyperpod: OnEks) -> None:
    hyperpod.call("CreateCluster", **scaled(hyperpod, hyperpod.new_cluster()))
    assert definitions(hyperpod) == KARPENTER
    assert hyperpod.call("DescribeCluster", ClusterName="demo")["AutoScaling"]["Status"] == "InService"


def test_autoscaling_that_is_enabled_later_brings_them_then(hyperpod: OnEks) -> None:
    request = scaled(hyperpod, hyperpod.new_cluster())
    scaling = {key: request.pop(key) for key in ("AutoScaling", "ClusterRole")}
    hyperpod.call("CreateCluster", **request)
    for _ in range(20):
        hyperpod.cloud.clock.tick()
        hyperpod.call("ListClusters")
    assert definitions(hyperpod) == {}
    hyperpod.call("UpdateCluster", ClusterName="demo", InstanceGroups=request["InstanceGroups"], **scaling)
    assert definitions(hyperpod) == KARPENTER


def test_a_control_plane_that_refuses_the_kinds_fails_autoscaling(hyperpod: OnEks, monkeypatch: pytest.MonkeyPatch) -> None:
    request = scaled(hyperpod, hyperpod.new_cluster())

    def refuse(manifest: Any) -> None:
        raise OSError("no answer" + "!" * 9000)

    monkeypatch.setattr(hyperpod.clients.control_planes.only.api, "apply", refuse)
    hyperpod.call("CreateCluster", **request)
    found = hyperpod.call("DescribeCluster", ClusterName="demo")["AutoScaling"]
    assert found["Status"] == "Failed"
    assert "kinds of Karpenter were not installed" in found["FailureMessage"]
    assert "no answer" in found["FailureMessage"]


def test_an_entry_of_somebody_else_stays(hyperpod: OnEks) -> None:
    arn = hyperpod.new_cluster()
    hyperpod.clients.eks.create_access_entry(clusterName="demo", principalArn=hyperpod.cloud.role, type="HYPERPOD_LINUX")
    hyperpod.call("CreateCluster", **hyperpod.request(arn))
    for _ in range(20):
        hyperpod.cloud.clock.tick()
        hyperpod.call("ListClusters")
    hyperpod.call("DeleteCluster", ClusterName="demo")
    for _ in range(20):
        hyperpod.cloud.clock.tick()
        hyperpod.call("ListClusters")
    assert hyperpod.entries() == [hyperpod.cloud.role]


def settle(hyperpod: OnEks) -> dict[str, Any]:
    """Let every transition end; the one node."""
    for _ in range(20):
        hyperpod.cloud.clock.tick()
        hyperpod.call("ListClusters")
    (found,) = hyperpod.call("ListClusterNodes", ClusterName="demo")["ClusterNodeSummaries"]
    return dict(found)


def joined(hyperpod: OnEks) -> list[str]:
    return [instance.instance_id for nodes in hyperpod.service.recover({}).values() for instance in nodes]


@pytest.mark.parametrize("kind", ["STANDARD", "EC2_LINUX"])
def test_nodes_with_another_access_entry_never_join(hyperpod: OnEks, kind: str) -> None:
    arn, eks = hyperpod.new_cluster(), hyperpod.clients.eks
    eks.create_access_entry(clusterName="demo", principalArn=hyperpod.cloud.role, type=kind)
    hyperpod.call("CreateCluster", **hyperpod.request(arn))
    found = settle(hyperpod)
    assert joined(hyperpod) == []
    message = found["InstanceStatus"]["Message"]
    assert f"{hyperpod.cloud.role} has an access entry of the type {kind}" in message
    assert "HYPERPOD_LINUX" in message
    described = hyperpod.call("DescribeClusterNode", ClusterName="demo", NodeId=found["InstanceId"])["NodeDetails"]
    assert described["InstanceStatus"] == found["InstanceStatus"]
    eks.delete_access_entry(clusterName="demo", principalArn=hyperpod.cloud.role)
    hyperpod.call("UpdateCluster", ClusterName="demo", InstanceGroups=[group(hyperpod.cloud, "workers", None)])
    assert settle(hyperpod)["InstanceStatus"] == {"Status": "Running"}
    assert joined(hyperpod) == [found["InstanceId"]]


def test_missing_dependencies_are_refused(hyperpod: OnEks) -> None:
    arn = hyperpod.new_cluster()
    hyperpod.clients.control_planes.only.api.delete("v1", "Namespace", "aws-hyperpod")
    assert "missing one or more required dependencies" in refused(hyperpod, hyperpod.request(arn))
    assert hyperpod.entries() == []


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"version": "1.36"}, "HyperPod supports 1.30"),
        ({"accessConfig": {"authenticationMode": "CONFIG_MAP"}}, "API or API_AND_CONFIG_MAP"),
    ],
)
def test_a_cluster_that_hyperpod_does_not_take(hyperpod: OnEks, members: dict[str, Any], words: str) -> None:
    assert words in refused(hyperpod, hyperpod.request(hyperpod.new_cluster(**members)))


def test_a_cluster_that_does_not_exist(hyperpod: OnEks) -> None:
    arn = f"arn:aws:eks:us-west-2:{CALLER.account}:cluster/nobody"
    assert "No cluster found" in refused(hyperpod, hyperpod.request(arn))


def test_nodes_in_another_vpc(hyperpod: OnEks) -> None:
    arn, ec2 = hyperpod.new_cluster(), hyperpod.cloud.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]
    network = {
        "Subnets": [hyperpod.cloud.new_subnet("10.8.0.0/24", vpc)],
        "SecurityGroupIds": [hyperpod.cloud.new_security_group("away", vpc)],
    }
    assert "VPC of the EKS cluster" in refused(hyperpod, hyperpod.request(arn, VpcConfig=network))


def test_settings_of_slurm(hyperpod: OnEks) -> None:
    request = hyperpod.request(hyperpod.new_cluster())
    request["InstanceGroups"] = [group(hyperpod.cloud, "workers", "Compute")]
    assert "SlurmConfig" in refused(hyperpod, request)


def test_a_role_that_cannot_join(hyperpod: OnEks) -> None:
    arn = hyperpod.new_cluster()
    hyperpod.cloud.client("iam").delete_role(RoleName="nodes")
    with pytest.raises((AwsError, ClientError)):
        hyperpod.call("CreateCluster", **hyperpod.request(arn))
    assert hyperpod.entries() == []
