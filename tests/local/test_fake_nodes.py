"""Nodes of a HyperPod cluster on EKS through the real embedded AWS: its own process, its control plane in another."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from botocore.auth import SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from hyperpod_constructs.facts import chart, eks
from hyperpod_constructs.facts import kubernetes_nodes as facts
from hyperpod_constructs.local.kubernetes.client import HttpsApi
from hyperpod_constructs.local.server import LocalAws
from tests.patience import PATIENCE, until


class OnEks:
    """A HyperPod cluster of one group on an EKS cluster, and the API of the latter as its creator."""

    def __init__(self, aws: LocalAws) -> None:
        self.aws = aws
        ec2, self.sagemaker, self.eks = aws.client("ec2"), aws.client("sagemaker"), aws.client("eks")
        vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
        places = [(f"10.1.{number}.0/24", f"{aws.region}{zone}") for number, zone in enumerate("ab")]
        subnets = [ec2.create_subnet(VpcId=vpc, CidrBlock=block, AvailabilityZone=zone) for block, zone in places]
        self.subnets = [str(subnet["Subnet"]["SubnetId"]) for subnet in subnets]
        self.security_group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
        self.role = self._role("nodes", "sagemaker.amazonaws.com")
        made = self.eks.create_cluster(
            name="kubernetes",
            roleArn=self._role("control", eks.PRINCIPAL),
            resourcesVpcConfig={"subnetIds": self.subnets},
            accessConfig={"authenticationMode": "API"},
        )["cluster"]
        self.arn = str(made["arn"])
        self.eks.get_waiter("cluster_active").wait(name="kubernetes", WaiterConfig={"Delay": 1, "MaxAttempts": round(PATIENCE)})
        found = self.eks.describe_cluster(name="kubernetes")["cluster"]
        authority = base64.b64decode(found["certificateAuthority"]["data"])
        self.api = HttpsApi(found["endpoint"], authority, self._token())
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": chart.CREATED_NAMESPACE}})

    def _role(self, name: str, service: str) -> str:
        statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam = self.aws.client("iam")
        arn = str(iam.create_role(RoleName=name, AssumeRolePolicyDocument=policy)["Role"]["Arn"])
        allowed = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
        iam.put_role_policy(RoleName=name, PolicyName="all", PolicyDocument=json.dumps(allowed))
        return arn

    def _token(self) -> str:
        url = f"{self.aws.endpoint}/?Action=GetCallerIdentity&Version=2011-06-15"
        request = AWSRequest("GET", url, headers={"x-k8s-aws-id": "kubernetes"})
        key = Credentials(self.aws.access_key_id, self.aws.secret_access_key)
        SigV4QueryAuth(key, "sts", self.aws.region, expires=60).add_auth(request)
        return "k8s-aws-v1." + base64.urlsafe_b64encode(str(request.url).encode()).decode().rstrip("=")

    def group(self, count: int) -> dict[str, Any]:
        return {
            "InstanceGroupName": "workers",
            "InstanceType": "ml.p5.48xlarge",
            "InstanceCount": count,
            "ExecutionRole": self.role,
            "KubernetesConfig": {"Labels": {"team": "a"}},
        }

    def create(self, count: int) -> None:
        self.sagemaker.create_cluster(
            ClusterName="demo",
            InstanceGroups=[self.group(count)],
            Orchestrator={"Eks": {"ClusterArn": self.arn}},
            VpcConfig={"Subnets": self.subnets[:1], "SecurityGroupIds": [self.security_group]},
            NodeProvisioningMode="Continuous",
            NodeRecovery="Automatic",
        )

    def instances(self) -> set[str]:
        found = self.sagemaker.list_cluster_nodes(ClusterName="demo")["ClusterNodeSummaries"]
        return {node["InstanceId"] for node in found if node["InstanceStatus"]["Status"] == "Running"}

    def nodes(self) -> set[str]:
        """The instances whose nodes are ready."""
        return {
            node["metadata"]["name"].removeprefix("hyperpod-")
            for node in self.api.list("v1", "Node", label_selector="team=a")
            if any(one["type"] == "Ready" and one["status"] == "True" for one in node.get("status", {}).get("conditions", ()))
        }

    def until(self, what: Callable[[], bool]) -> None:
        """Wait; the test fails if it takes too long."""
        until(what, "instances and nodes", lambda: (self.instances(), self.nodes()))


@pytest.fixture
def on_eks(fresh: LocalAws) -> Iterator[OnEks]:
    on_eks = OnEks(fresh)
    yield on_eks
    on_eks.api.close()


def test_nodes_join_are_replaced_come_back_and_end(on_eks: OnEks) -> None:
    on_eks.create(2)
    on_eks.until(lambda: len(on_eks.instances()) == 2 and on_eks.nodes() == on_eks.instances())
    first, second = sorted(on_eks.instances())
    mark = {"metadata": {"labels": {facts.HEALTH: facts.PENDING_REPLACEMENT}}}
    on_eks.api.patch("v1", "Node", facts.node_name(first), mark)
    on_eks.until(lambda: first not in on_eks.instances() and len(on_eks.nodes()) == 2 and first not in on_eks.nodes())
    on_eks.api.delete("v1", "Node", facts.node_name(second))
    on_eks.until(lambda: second in on_eks.nodes())
    on_eks.sagemaker.update_cluster(ClusterName="demo", InstanceGroups=[on_eks.group(1)])
    on_eks.until(lambda: len(on_eks.instances()) == 1 and on_eks.nodes() == on_eks.instances())
    on_eks.sagemaker.delete_cluster(ClusterName="demo")
    on_eks.until(lambda: on_eks.nodes() == set())


def test_a_control_plane_that_is_deleted_takes_nothing_along(on_eks: OnEks) -> None:
    on_eks.create(1)
    on_eks.until(lambda: len(on_eks.nodes()) == 1)
    on_eks.eks.delete_cluster(name="kubernetes")
    on_eks.sagemaker.update_cluster_software(ClusterName="demo")
    until(lambda: on_eks.instances() or None, "an instance")
    assert on_eks.sagemaker.describe_cluster(ClusterName="demo")["ClusterStatus"] in ("InService", "SystemUpdating")
