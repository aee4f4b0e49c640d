"""The handlers of the sample's custom resource: they look at the network and the bucket through the endpoint."""

from __future__ import annotations

import time
from typing import Any

import boto3


def on_event(event: dict[str, Any], context: object) -> dict[str, Any]:
    properties = event["ResourceProperties"]
    if event["RequestType"] != "Delete" and properties["Fail"]:
        raise RuntimeError(properties["Fail"])
    return {"PhysicalResourceId": event.get("PhysicalResourceId", "waiter"), "Data": {"Started": str(time.time())}}


def is_complete(event: dict[str, Any], context: object) -> dict[str, Any]:
    if event["RequestType"] == "Delete":
        return {"IsComplete": True}
    properties = event["ResourceProperties"]
    if time.time() - float(event["Data"]["Started"]) < 1:
        return {"IsComplete": False}
    subnet = boto3.client("ec2").describe_subnets(SubnetIds=[properties["Subnet"]])["Subnets"][0]
    keys = [item["Key"] for item in boto3.client("s3").list_objects_v2(Bucket=properties["Bucket"])["Contents"]]
    return {
        "IsComplete": True,
        "Data": {"Rounds": properties["Round"], "Seen": f"{subnet['AvailabilityZoneId']} {' '.join(sorted(keys))}"},
    }
