"""The file system's place in the network: its interface, and the rules of its security groups that Lustre needs at creation.

One interface stands for all servers of a file system. It lives as long as the file system, so its subnet and its groups cannot be
deleted before it. With EFA, rules between the groups by id are required too; on AWS these show when a client connects.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.facts import lustre
from hyperpod_constructs.local.clients import ignoring
from hyperpod_constructs.local.fsx.checks import refusal

Rule = Mapping[str, Any]


def check_network(ec2: Any, request: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The VPC and the security groups of a new file system.

    :raises AwsError: with the code `InvalidNetworkSettings`.
    """
    try:
        subnets = ec2.describe_subnets(SubnetIds=request["SubnetIds"])["Subnets"]
        vpc = subnets[0]["VpcId"]
        groups = _security_groups(ec2, vpc, request.get("SecurityGroupIds"))
    except ClientError as error:
        raise refusal(error.response["Error"]["Message"], "InvalidNetworkSettings") from error
    strangers = [group["GroupId"] for group in groups if group["VpcId"] != vpc]
    if strangers:
        raise refusal(
            f"the security groups {', '.join(strangers)} are not in {vpc}, the VPC of the subnet", "InvalidNetworkSettings"
        )
    if request["FileSystemType"] == "LUSTRE":
        _check_lustre(subnets[0]["CidrBlock"], groups, bool(request.get("LustreConfiguration", {}).get("EfaEnabled")))
    return vpc, [group["GroupId"] for group in groups]


def open_interface(ec2: Any, subnet: str, groups: Sequence[str], owner: str) -> str:
    """Create the file system's interface in a subnet; returns its id."""
    answer = ec2.create_network_interface(SubnetId=subnet, Groups=list(groups), Description=f"[embedded AWS] Amazon FSx {owner}")
    return str(answer["NetworkInterface"]["NetworkInterfaceId"])


def close_interface(ec2: Any, interface: str) -> None:
    """Delete an interface; one that is gone is fine."""
    with ignoring("InvalidNetworkInterfaceID.NotFound"):
        ec2.delete_network_interface(NetworkInterfaceId=interface)


def _security_groups(ec2: Any, vpc: str, given: Sequence[str] | None) -> list[Mapping[str, Any]]:
    if given:
        return list(ec2.describe_security_groups(GroupIds=list(given))["SecurityGroups"])
    default = [{"Name": "vpc-id", "Values": [vpc]}, {"Name": "group-name", "Values": ["default"]}]
    return list(ec2.describe_security_groups(Filters=default)["SecurityGroups"])


def _check_lustre(subnet: str, groups: Sequence[Mapping[str, Any]], efa: bool) -> None:
    port = lustre.LNET_PORTS[0]
    ids = {group["GroupId"] for group in groups}
    for direction, key in (("inbound", "IpPermissions"), ("outbound", "IpPermissionsEgress")):
        rules = [rule for group in groups for rule in group[key]]
        if not any(_covers_port(rule) and (_names(rule, ids) or _holds(rule, subnet)) for rule in rules):
            raise refusal(
                "The file system cannot be created because the default security group in the subnet provided or the provided"
                f" security groups do not permit Lustre LNET network traffic on port {port}: {', '.join(sorted(ids))}"
                f" have no {direction} rule for it between themselves. Let the file system depend on that rule",
                "InvalidNetworkSettings",
            )
        if efa and not any(rule["IpProtocol"] == "-1" and _names(rule, ids) for rule in rules):
            raise refusal(
                f"EfaEnabled needs an {direction} rule for all traffic between the security groups"
                f" {', '.join(sorted(ids))}, by group id",
                "InvalidNetworkSettings",
            )


def _covers_port(rule: Rule) -> bool:
    if rule["IpProtocol"] == "-1":
        return True
    return rule["IpProtocol"] in ("tcp", "6") and rule["FromPort"] <= lustre.LNET_PORTS[0] <= rule["ToPort"]


def _names(rule: Rule, groups: Iterable[str]) -> bool:
    return any(pair["GroupId"] in groups for pair in rule.get("UserIdGroupPairs", ()))


def _holds(rule: Rule, subnet: str) -> bool:
    inner = ipaddress.IPv4Network(subnet)
    return any(inner.subnet_of(ipaddress.IPv4Network(item["CidrIp"], strict=False)) for item in rule.get("IpRanges", ()))
