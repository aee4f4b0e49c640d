"""The foundation of the reference app, closed and with a key of its own, on the embedded AWS."""

from __future__ import annotations

import json
from typing import Any

from hyperpod_constructs.local.server import LocalAws
from tests.local.stacks import wait
from tests.presets import build, templates


def test_a_closed_and_encrypted_foundation_comes_and_goes(fresh: LocalAws) -> None:
    app = build("announcement", internet="false", customer_managed_key="true", retain_data="false", confirm_data_loss="true")
    found = templates(app)["Foundation"]["Resources"]
    name = "HyperPod-Foundation"
    fresh.client("cloudformation").create_stack(
        StackName=name, TemplateBody=json.dumps({"Resources": found}), Capabilities=["CAPABILITY_IAM"]
    )
    made = wait(fresh, name)
    assert made.status == "CREATE_COMPLETE", made.reasons

    ec2, physical = fresh.client("ec2"), made.resources
    endpoints = ec2.describe_vpc_endpoints()["VpcEndpoints"]
    interfaces = [one for one in endpoints if one["VpcEndpointType"] == "Interface"]
    (vpc,) = {one["VpcId"] for one in endpoints}
    mine: list[dict[str, Any]] = [{"Name": "vpc-id", "Values": [vpc]}]
    assert len(interfaces) == 10
    assert all(one["PrivateDnsEnabled"] and len(one["NetworkInterfaceIds"]) == 1 for one in interfaces)
    routes = [route for table in ec2.describe_route_tables(Filters=mine)["RouteTables"] for route in table["Routes"]]
    assert {route["GatewayId"].partition("-")[0] for route in routes} == {"local", "vpce"}
    assert not ec2.describe_nat_gateways(Filters=mine)["NatGateways"]

    key = fresh.client("kms").describe_key(KeyId=next(id for name, id in physical.items() if name.startswith("Key")))
    arn = key["KeyMetadata"]["Arn"]
    (lustre,) = fresh.client("fsx").describe_file_systems()["FileSystems"]
    (group,) = fresh.client("logs").describe_log_groups()["logGroups"]
    assert (lustre["KmsKeyId"], group["kmsKeyId"]) == (arn, arn)

    stack_id = fresh.client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]["StackId"]
    fresh.client("cloudformation").delete_stack(StackName=name)
    assert wait(fresh, stack_id).status == "DELETE_COMPLETE"
    assert not ec2.describe_network_interfaces(Filters=mine)["NetworkInterfaces"]
