"""The real CDK CLI against the embedded AWS, with the sample app: one stack through its whole life."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hyperpod_constructs.local import server
from hyperpod_constructs.local.server import LocalAws
from tests.local.conftest import Cdk


def outputs(aws: LocalAws) -> dict[str, str]:
    stack = aws.client("cloudformation").describe_stacks(StackName="Sample")["Stacks"][0]
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def status(aws: LocalAws) -> str:
    return str(aws.client("cloudformation").describe_stacks(StackName="Sample")["Stacks"][0]["StackStatus"])


def leftovers(aws: LocalAws) -> dict[str, list[Any]]:
    """The remains of the sample, without the bootstrap and the default VPC."""
    ec2 = aws.client("ec2")
    custom = [vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"] if not vpc["IsDefault"]]
    found = {
        "vpcs": custom,
        "nat gateways": [n["NatGatewayId"] for n in ec2.describe_nat_gateways()["NatGateways"] if n["State"] != "deleted"],
        "addresses": ec2.describe_addresses()["Addresses"],
        "flow logs": ec2.describe_flow_logs()["FlowLogs"],
        "interfaces": ec2.describe_network_interfaces()["NetworkInterfaces"],
        "functions": aws.client("lambda").list_functions()["Functions"],
        "state machines": aws.client("stepfunctions").list_state_machines()["stateMachines"],
        "buckets": [b["Name"] for b in aws.client("s3").list_buckets()["Buckets"] if b["Name"].startswith("sample")],
        "roles": [r["RoleName"] for r in aws.client("iam").list_roles()["Roles"] if r["RoleName"].startswith("Sample")],
    }
    return {what: things for what, things in found.items() if things}


def empty(aws: LocalAws, bucket: str) -> None:
    s3 = aws.client("s3")
    versions = s3.list_object_versions(Bucket=bucket)
    for item in (*versions.get("Versions", ()), *versions.get("DeleteMarkers", ())):
        s3.delete_object(Bucket=bucket, Key=item["Key"], VersionId=item["VersionId"])


def test_life_of_a_stack(cdk: Cdk, assemblies: Path) -> None:
    aws = cdk.aws
    first = assemblies / "first"
    created = cdk.deploy(first)
    assert created.returncode == 0, created.stdout
    values = outputs(aws)
    assert values["Seen"] == "usw2-az1 scripts/c.json scripts/greeting.txt"
    bucket, retained = values["BucketName"], values["RetainedName"]
    assert aws.client("s3").get_object(Bucket=bucket, Key="scripts/greeting.txt")["Body"].read() == b"hello"
    assert aws.client("s3").get_bucket_versioning(Bucket=bucket)["Status"] == "Enabled"

    again = cdk.deploy(first)
    assert again.returncode == 0, again.stdout
    assert "no changes" in again.stdout

    updated = cdk.deploy(assemblies / "second")
    assert updated.returncode == 0, updated.stdout
    assert outputs(aws) == {**values, "Rounds": "2"}
    tags = aws.client("ec2").describe_subnets(SubnetIds=[values["Subnet"]])["Subnets"][0]["Tags"]
    assert {"Key": "project", "Value": "other"} in tags

    failed = cdk.deploy(assemblies / "failing")
    assert failed.returncode == 1
    assert "out of luck" in failed.stdout
    assert status(aws) == "UPDATE_ROLLBACK_COMPLETE"
    assert outputs(aws) == {**values, "Rounds": "2"}
    tags = aws.client("ec2").describe_subnets(SubnetIds=[values["Subnet"]])["Subnets"][0]["Tags"]
    assert {"Key": "project", "Value": "other"} in tags

    refused = cdk.destroy(first)
    assert refused.returncode == 1
    assert status(aws) == "DELETE_FAILED"
    assert "BucketNotEmpty" in refused.stdout
    empty(aws, bucket)
    destroyed = cdk.destroy(first)
    assert destroyed.returncode == 0, destroyed.stdout
    assert leftovers(aws) == {"buckets": [retained]}


def test_failing_create(cdk: Cdk, assemblies: Path) -> None:
    failed = cdk.deploy(assemblies / "failing")
    assert failed.returncode == 1
    assert "out of luck" in failed.stdout
    assert status(cdk.aws) == "ROLLBACK_FAILED"  # the upload keeps its files: the bucket is not empty
    left = leftovers(cdk.aws)
    assert list(left) == ["buckets"]
    assert [name.split("-")[1][:6] for name in left["buckets"]] == ["bucket"]


def test_auth_lane(tmp_path: Path, assemblies: Path) -> None:
    directory = tmp_path / "aws"
    aws = server.start(directory, auth=True)
    try:
        server.reset(aws)
        cli = Cdk(aws, tmp_path)
        cli.bootstrap()
        refused = cli.deploy(assemblies / "unpermitted")
        assert refused.returncode == 1
        assert "not authorized to perform: ec2:DescribeSubnets" in refused.stdout
        server.reset(aws)
        cli.bootstrap()
        created = cli.deploy(assemblies / "first")
        assert created.returncode == 0, created.stdout
    finally:
        server.stop(directory)
