"""An embedded EKS in process, with a network and roles; control planes and the authenticator are fakes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.eks.service import Eks
from tests.local.eks.fakes import FakeAccess, FakeControlPlanes
from tests.local.hyperpod_requests import checked, model
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud

Call = Callable[..., dict[str, Any]]
PREFIX = "arn:aws:eks::aws:cluster-access-policy/"


class EksCloud:
    """An account with subnets in two zones, roles, and an EKS."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        cloud.faults.slow_creation = 1.0
        ec2 = cloud.client("ec2")
        self.subnets = [
            ec2.create_subnet(VpcId=cloud.vpc, CidrBlock=f"10.1.{number}.0/24", AvailabilityZone=f"us-west-2{zone}")["Subnet"][
                "SubnetId"
            ]
            for number, zone in ((10, "a"), (11, "b"))
        ]
        self.role = cloud.new_role("control", "eks.amazonaws.com")
        self.node_role = cloud.new_role("node-group", "ec2.amazonaws.com")
        self.pods = self.new_pod_role("pods")
        self.control_planes = FakeControlPlanes()
        self.access = FakeAccess()
        self.eks = Eks(cloud.faults, cloud.client, self.control_planes, self.access, cloud.clock)
        self._call = checked(self.eks)

    def __call__(self, operation: str, **parameters: Any) -> dict[str, Any]:
        """One call; an error must be one that the model has for the operation."""
        try:
            return self._call(operation, **parameters)
        except AwsError as error:
            if error.code not in {shape.name for shape in model("eks").operation_model(operation).error_shapes}:
                pytest.fail(f"{operation} does not answer {error.code}")
            raise

    def new_pod_role(self, name: str, *actions: str) -> str:
        statement = {
            "Effect": "Allow",
            "Principal": {"Service": "pods.eks.amazonaws.com"},
            "Action": list(actions or ("sts:AssumeRole", "sts:TagSession")),
        }
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        return str(self.cloud.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=policy)["Role"]["Arn"])

    def request(self, **members: Any) -> dict[str, Any]:
        """A CreateCluster request."""
        request: dict[str, Any] = {
            "name": "demo",
            "version": "1.33",
            "roleArn": self.role,
            "resourcesVpcConfig": {"subnetIds": self.subnets},
            "accessConfig": {"authenticationMode": "API_AND_CONFIG_MAP"},
        }
        return {key: value for key, value in (request | members).items() if value is not None}

    def cluster(self, **members: Any) -> dict[str, Any]:
        """A cluster that is ACTIVE."""
        self("CreateCluster", **self.request(**members))
        self.tick()
        return self.described()

    def described(self) -> dict[str, Any]:
        found: dict[str, Any] = self("DescribeCluster", name="demo")["cluster"]
        return found

    def tick(self) -> None:
        """Let every transition end."""
        self.cloud.clock.tick(2.0)


@pytest.fixture
def eks() -> Iterator[EksCloud]:
    with moto_cloud() as cloud:
        yield EksCloud(cloud)


__all__ = ["CALLER"]
