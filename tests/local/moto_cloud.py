"""An account in moto with the surroundings of a cluster and a file system, and clients for the services under test."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import boto3
from botocore.exceptions import ClientError
from moto import mock_aws
from moto.core.exceptions import JsonRESTError
from moto.logs.models import logs_backends

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.faults import Faults

CALLER = Caller("123456789012", "us-west-2", "http://127.0.0.1:1")


class Iam:
    """moto's IAM plus the policy simulator, which it lacks: everything is allowed but `denied`."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.denied: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def simulate_principal_policy(self, **asked: Any) -> dict[str, Any]:
        results = [
            {"EvalActionName": name, "EvalDecision": "implicitDeny" if name in self.denied else "allowed"}
            for name in asked["ActionNames"]
        ]
        return {"EvaluationResults": results}


class Eks:
    """The EKS clusters that a HyperPod cluster may name: each is there, in the account's VPC, and lets every role in."""

    def __init__(self, vpc: str) -> None:
        self._vpc = vpc

    def describe_cluster(self, name: str) -> dict[str, Any]:
        found = {
            "arn": f"arn:aws:eks:{CALLER.region}:{CALLER.account}:cluster/{name}",
            "status": "ACTIVE",
            "version": "1.34",
            "accessConfig": {"authenticationMode": "API"},
            "resourcesVpcConfig": {"vpcId": self._vpc},
        }
        return {"cluster": found}

    def create_access_entry(self, **entry: str) -> dict[str, Any]:
        return {"accessEntry": entry}

    def delete_access_entry(self, **entry: str) -> dict[str, Any]:
        return {}


class Logs:
    """moto's CloudWatch Logs. What each new node of each test writes goes past botocore, which takes most of the time."""

    def __getattr__(self, name: str) -> Any:
        return getattr(client_of("logs"), name)

    def create_log_stream(self, **stream: str) -> None:
        self._write("CreateLogStream", "create_log_stream", stream["logGroupName"], stream["logStreamName"])

    def associate_kms_key(self, **wanted: str) -> None:  # moto lacks it
        logs_backends[CALLER.account][CALLER.region].groups[wanted["logGroupName"]].kms_key_id = wanted["kmsKeyId"]

    def put_log_events(self, **events: Any) -> None:
        self._write("PutLogEvents", "put_log_events", events["logGroupName"], events["logStreamName"], events["logEvents"])

    def _write(self, operation: str, method: str, *arguments: Any) -> None:
        try:
            getattr(logs_backends[CALLER.account][CALLER.region], method)(*arguments)
        except JsonRESTError as error:
            raise ClientError({"Error": {"Code": error.error_type, "Message": error.message}}, operation) from None


@cache
def client_of(service: str) -> Any:
    """A client, made once: moto's state is by test, not by client."""
    make: Any = boto3.client
    return make(service, region_name="us-west-2", aws_access_key_id="test", aws_secret_access_key="test")


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    def tick(self, seconds: float = 1.0) -> None:
        self.now += seconds


class Cloud:
    """The account: a VPC with a /24 subnet and two groups, a role, and a bucket with scripts."""

    def __init__(self, subnet: str = "10.1.0.0/24") -> None:
        self.clock = Clock()
        self.faults = Faults(slow_creation=1.0)
        self.iam, self.logs = Iam(client_of("iam")), Logs()
        ec2, s3 = client_of("ec2"), client_of("s3")
        self.vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
        self.eks = Eks(self.vpc)
        self.subnet = self.new_subnet(subnet)
        self.security_group = self.new_security_group("nodes")
        self.role = self.new_role("nodes", "sagemaker.amazonaws.com")
        s3.create_bucket(Bucket="sagemaker-scripts", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        s3.put_object(Bucket="sagemaker-scripts", Key="v1/on_create.sh", Body=b"#!/bin/bash\n")

    def client(self, service: str, caller: Caller = CALLER) -> Any:
        """The factory of clients for the services."""
        own = {"iam": self.iam, "eks": self.eks, "logs": self.logs}
        return own[service] if service in own else client_of(service)

    def new_subnet(self, cidr: str, vpc: str | None = None) -> str:
        """A subnet in the account's zone; moto would choose one by chance."""
        made = self.client("ec2").create_subnet(VpcId=vpc or self.vpc, CidrBlock=cidr, AvailabilityZone="us-west-2b")
        return str(made["Subnet"]["SubnetId"])

    def new_security_group(self, name: str, vpc: str | None = None) -> str:
        answer = self.client("ec2").create_security_group(GroupName=name, Description=name, VpcId=vpc or self.vpc)
        return str(answer["GroupId"])

    def new_role(self, name: str, service: str) -> str:
        statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        return str(self.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument=policy)["Role"]["Arn"])

    def interfaces(self) -> list[Mapping[str, Any]]:
        """The interfaces in the subnet."""
        filters = [{"Name": "subnet-id", "Values": [self.subnet]}]
        found: list[Mapping[str, Any]] = self.client("ec2").describe_network_interfaces(Filters=filters)["NetworkInterfaces"]
        return found


@contextmanager
def moto_cloud(subnet: str = "10.1.0.0/24") -> Iterator[Cloud]:
    """A fresh account for one test."""
    with mock_aws():
        yield Cloud(subnet)
