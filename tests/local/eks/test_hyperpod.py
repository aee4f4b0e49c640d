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
