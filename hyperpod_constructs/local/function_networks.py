"""Lambda functions in a VPC: their subnets, security groups and role must be as AWS asks. They run on this machine all the same.

Source: https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import Clients

INTERFACES = ("ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DeleteNetworkInterface")
"""What the role of a function in a VPC is allowed."""


def place(config: Mapping[str, Any], role: str, clients: Clients, caller: Caller) -> dict[str, Any]:
    """The `VpcConfig` of a function as Lambda describes it, with the VPC; empty for a function outside of every VPC.

    :param config: the property `VpcConfig`.
    :param role: ARN of the function's role.
    :raises AwsError: for a subnet or group that does not exist or lies in another VPC, and for a role without permissions.
    """
    subnets, groups = list(config.get("SubnetIds") or ()), list(config.get("SecurityGroupIds") or ())
    dual = str(config.get("Ipv6AllowedForDualStack", False)).lower() == "true"  # a parameter's value is a text
    if not subnets and not groups:
        return {"SubnetIds": [], "SecurityGroupIds": [], "VpcId": "", "Ipv6AllowedForDualStack": dual}
    if not subnets or not groups:
        raise _refusal(f"VpcConfig needs subnets and security groups; found the subnets {subnets} and the groups {groups}")
    ec2 = clients("ec2", caller)
    try:
        found = [
            *ec2.describe_subnets(SubnetIds=subnets)["Subnets"],
            *ec2.describe_security_groups(GroupIds=groups)["SecurityGroups"],
        ]
    except ClientError as error:
        raise _refusal(
            f"Error occurred while DescribeSubnets or DescribeSecurityGroups: {error.response['Error']['Message']}"
        ) from error
    vpcs = {item["VpcId"]: item.get("SubnetId", item.get("GroupId")) for item in found}
    if len(vpcs) > 1:
        places = ", ".join(f"{name} in {vpc}" for vpc, name in vpcs.items())
        raise _refusal(f"the subnets and security groups of a function must be in one VPC; found {places}")
    _check_role(role, clients("iam", caller))
    return {"SubnetIds": subnets, "SecurityGroupIds": groups, "VpcId": next(iter(vpcs)), "Ipv6AllowedForDualStack": dual}


def _check_role(role: str, iam: Any) -> None:
    # The simulator of the embedded AWS finds a role by its name alone; the path of the ARN is no part of it.
    source = f"{role.partition(':role/')[0]}:role/{role.rpartition('/')[2]}"
    answer = iam.simulate_principal_policy(PolicySourceArn=source, ActionNames=list(INTERFACES), ResourceArns=["*"])
    denied = [item["EvalActionName"] for item in answer["EvaluationResults"] if item["EvalDecision"] != "allowed"]
    if denied:
        calls = ", ".join(action.partition(":")[2] for action in denied)
        raise _refusal(f"The provided execution role does not have permissions to call {calls} on EC2: {role}")


def _refusal(message: str) -> AwsError:
    return AwsError("InvalidParameterValueException", message)
