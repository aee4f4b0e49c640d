"""What resources of EKS need in an account, two of everything: subnets in two zones, roles, a key, clusters."""

from __future__ import annotations

import json
from functools import cached_property

from hyperpod_constructs.facts import eks, kubernetes
from tests.local.in_process import InProcess
from tests.local.moto_cloud import Cloud


class EksAccount:
    """Everything is made when it is first asked for."""

    def __init__(self, cloud: Cloud, clients: InProcess) -> None:
        self._cloud = cloud
        self._clients = clients

    @cached_property
    def subnets(self) -> list[str]:
        ec2 = self._cloud.client("ec2")
        blocks = (("10.1.20.0/24", "us-west-2a"), ("10.1.21.0/24", "us-west-2b"))
        made = [ec2.create_subnet(VpcId=self._cloud.vpc, CidrBlock=block, AvailabilityZone=zone) for block, zone in blocks]
        return [str(item["Subnet"]["SubnetId"]) for item in made]

    @cached_property
    def other_subnets(self) -> list[str]:
        """Another subnet in the zone of the first one, and the second one."""
        block, zone = "10.1.22.0/24", "us-west-2a"
        made = self._cloud.client("ec2").create_subnet(VpcId=self._cloud.vpc, CidrBlock=block, AvailabilityZone=zone)
        return [str(made["Subnet"]["SubnetId"]), self.subnets[1]]

    @cached_property
    def group(self) -> str:
        ec2 = self._cloud.client("ec2")
        return str(ec2.create_security_group(GroupName="control", Description="control", VpcId=self._cloud.vpc)["GroupId"])

    @cached_property
    def roles(self) -> list[str]:
        return [self._cloud.new_role(name, eks.PRINCIPAL) for name in ("control", "control2")]

    @cached_property
    def node_roles(self) -> list[str]:
        return [self._cloud.new_role(name, eks.NODES_PRINCIPAL) for name in ("node-group", "node-group2")]

    @cached_property
    def pod_roles(self) -> list[str]:
        principal = {"Service": kubernetes.PODS_PRINCIPAL}
        statement = {"Effect": "Allow", "Principal": principal, "Action": list(kubernetes.PODS_ACTIONS)}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        iam = self._cloud.client("iam")
        made = [iam.create_role(RoleName=name, AssumeRolePolicyDocument=policy) for name in ("pods", "pods2")]
        return [str(item["Role"]["Arn"]) for item in made]

    @cached_property
    def key(self) -> str:
        return str(self._cloud.client("kms").create_key()["KeyMetadata"]["Arn"])

    @cached_property
    def clusters(self) -> list[str]:
        names = ["kubernetes", "kubernetes2"]
        for name in names:
            self._clients.eks.create_cluster(
                name=name,
                version="1.33",
                roleArn=self.roles[0],
                resourcesVpcConfig={"subnetIds": self.subnets},
                accessConfig={"authenticationMode": "API"},
            )
        return names
