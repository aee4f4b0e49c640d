"""CloudFormation providers: route tables and routes, addresses, NAT gateways, endpoints, flow logs."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.clients import ignoring
from hyperpod_constructs.local.ec2.provider import (
    GONE,
    Ec2Provider,
    Properties,
    boolean,
    document,
    given,
    refuse_update,
    retag,
    tag_specifications,
)
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.waiting import wait

STABLE_SECONDS = 60.0


class RouteTable(Ec2Provider):
    """AWS::EC2::RouteTable."""

    type_name = "AWS::EC2::RouteTable"
    creation, deletion = "create_route_table", "delete_route_table"
    arguments = ("VpcId",)
    found_at = ("RouteTable", "RouteTableId")
    id_attribute = "RouteTableId"
    tagged_as = "route-table"


class SubnetRouteTableAssociation(Ec2Provider):
    """AWS::EC2::SubnetRouteTableAssociation."""

    type_name = "AWS::EC2::SubnetRouteTableAssociation"
    creation, deletion = "associate_route_table", "disassociate_route_table"
    arguments = ("SubnetId", "RouteTableId")
    found_at = ("AssociationId",)
    update = Ec2Provider.remade


class Route(Ec2Provider):
    """AWS::EC2::Route."""

    type_name = "AWS::EC2::Route"
    _TARGETS = ("GatewayId", "NatGatewayId", "VpcEndpointId", "NetworkInterfaceId", "TransitGatewayId", "VpcPeeringConnectionId")

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the route."""
        self.ec2(caller).create_route(**self._place(properties), **given(properties, *self._TARGETS))
        return self._provisioned(properties)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Send the destination elsewhere."""
        self.ec2(caller).replace_route(**self._place(new), **given(new, *self._TARGETS))
        return self._provisioned(new)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the route."""
        with ignoring(*GONE):
            self.ec2(caller).delete_route(**self._place(properties))

    def _place(self, properties: Properties) -> dict[str, Any]:
        return given(properties, "RouteTableId", "DestinationCidrBlock", "DestinationPrefixListId")

    def _provisioned(self, properties: Properties) -> Provisioned:
        destination = properties.get("DestinationCidrBlock") or properties["DestinationPrefixListId"]
        return Provisioned(f"{properties['RouteTableId']}|{destination}", {"CidrBlock": destination})


class Eip(Ec2Provider):
    """AWS::EC2::EIP, an address that is not associated with an instance."""

    type_name = "AWS::EC2::EIP"
    tagged_as = "elastic-ip"

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Allocate the address."""
        tags = tag_specifications(self.tagged_as, properties.get("Tags", ()))
        answer = self.ec2(caller).allocate_address(Domain=properties.get("Domain", "vpc"), **tags)
        return self._provisioned(answer["PublicIp"], answer["AllocationId"])

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the tags; an address is always for a VPC."""
        if new.get("Domain", "vpc") != "vpc":
            raise refuse_update(self.type_name, "Domain")
        ec2 = self.ec2(caller)
        allocation = ec2.describe_addresses(PublicIps=[physical_id])["Addresses"][0]["AllocationId"]
        retag(ec2, allocation, old, new)
        return self._provisioned(physical_id, allocation)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Release the address; refused while a NAT gateway uses it."""
        ec2 = self.ec2(caller)
        for address in ec2.describe_addresses()["Addresses"]:
            if address["PublicIp"] == physical_id:
                ec2.release_address(AllocationId=address["AllocationId"])

    def _provisioned(self, address: str, allocation: str) -> Provisioned:
        return Provisioned(address, {"PublicIp": address, "AllocationId": allocation})


class NatGateway(Ec2Provider):
    """AWS::EC2::NatGateway."""

    type_name = "AWS::EC2::NatGateway"
    creation = "create_nat_gateway"
    arguments = ("SubnetId", "AllocationId", "ConnectivityType")
    found_at = ("NatGateway", "NatGatewayId")
    tagged_as = "natgateway"

    def _configure(self, ec2: Any, physical_id: str, properties: Properties) -> None:
        self._await(ec2, physical_id, "available")

    def _attributes(self, ec2: Any, physical_id: str) -> dict[str, str]:
        gateway = ec2.describe_nat_gateways(NatGatewayIds=[physical_id])["NatGateways"][0]
        return {"NatGatewayId": physical_id, "EniId": gateway["NatGatewayAddresses"][0]["NetworkInterfaceId"]}

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the gateway and wait until it is gone."""
        ec2 = self.ec2(caller)
        if self._state(ec2, physical_id) == "deleted":
            return
        ec2.delete_nat_gateway(NatGatewayId=physical_id)
        self._await(ec2, physical_id, "deleted")

    def _await(self, ec2: Any, gateway_id: str, state: str) -> None:
        wait(lambda: self._state(ec2, gateway_id) == state or None, STABLE_SECONDS, f"nat gateway {gateway_id}")

    def _state(self, ec2: Any, gateway_id: str) -> str:
        found = ec2.describe_nat_gateways(NatGatewayIds=[gateway_id])["NatGateways"]
        return str(found[0]["State"]) if found else "deleted"


class VpcEndpoint(Ec2Provider):
    """AWS::EC2::VPCEndpoint, of type Gateway or Interface."""

    type_name = "AWS::EC2::VPCEndpoint"
    creation = "create_vpc_endpoint"
    arguments = ("VpcId", "ServiceName", "VpcEndpointType", "RouteTableIds", "SubnetIds", "SecurityGroupIds")
    found_at = ("VpcEndpoint", "VpcEndpointId")
    tagged_as = "vpc-endpoint"

    def _wanted(self, properties: Properties, logical_id: str, stack: str) -> dict[str, Any]:
        private_dns = boolean(properties.get("PrivateDnsEnabled", False))
        return {**super()._wanted(properties, logical_id, stack), "PrivateDnsEnabled": private_dns, **_policy(properties)}

    def _change(self, ec2: Any, physical_id: str, old: Properties, new: Properties) -> None:
        """Change route tables, subnets, groups, policy and private DNS."""
        arguments: dict[str, Any] = _policy(new) or ({"ResetPolicy": True} if "PolicyDocument" in old else {})
        for plural in ("RouteTableIds", "SubnetIds", "SecurityGroupIds"):
            before, after = list(old.get(plural) or ()), list(new.get(plural) or ())
            arguments |= {f"Add{plural}": added} if (added := [one for one in after if one not in before]) else {}
            arguments |= {f"Remove{plural}": gone} if (gone := [one for one in before if one not in after]) else {}
        private_dns = boolean(new.get("PrivateDnsEnabled", False))
        if private_dns != boolean(old.get("PrivateDnsEnabled", False)):
            arguments["PrivateDnsEnabled"] = private_dns
        if arguments:
            ec2.modify_vpc_endpoint(VpcEndpointId=physical_id, **arguments)

    def _configure(self, ec2: Any, physical_id: str, properties: Properties) -> None:
        what = f"vpc endpoint {physical_id}"
        wait(lambda: self._describe(ec2, physical_id)["State"] == "available" or None, STABLE_SECONDS, what)

    def _attributes(self, ec2: Any, physical_id: str) -> dict[str, str]:
        return {"Id": physical_id, "CreationTimestamp": self._describe(ec2, physical_id)["CreationTimestamp"].isoformat()}

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the endpoint with its interfaces and routes."""
        failed = self.ec2(caller).delete_vpc_endpoints(VpcEndpointIds=[physical_id])["Unsuccessful"]
        for failure in failed:
            if not failure["Error"]["Code"].endswith("NotFound"):
                raise AwsError(failure["Error"]["Code"], failure["Error"]["Message"])

    def _describe(self, ec2: Any, endpoint_id: str) -> dict[str, Any]:
        endpoint: dict[str, Any] = ec2.describe_vpc_endpoints(VpcEndpointIds=[endpoint_id])["VpcEndpoints"][0]
        return endpoint


class FlowLog(Ec2Provider):
    """AWS::EC2::FlowLog. Replaced by every change but that of its tags."""

    type_name = "AWS::EC2::FlowLog"
    tagged_as = "vpc-flow-log"
    arguments = (
        "DeliverLogsPermissionArn",
        "LogDestination",
        "LogDestinationType",
        "LogFormat",
        "LogGroupName",
        "MaxAggregationInterval",
        "ResourceType",
        "TrafficType",
    )

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the flow log; its log group or bucket must exist."""
        ec2 = self.ec2(caller)
        self._check_destination(properties, caller)
        tags = tag_specifications(self.tagged_as, properties.get("Tags", ()))
        answer = ec2.create_flow_logs(ResourceIds=[properties["ResourceId"]], **given(properties, *self.arguments), **tags)
        for failure in answer["Unsuccessful"]:
            raise AwsError(failure["Error"]["Code"], failure["Error"]["Message"])
        flow_log = str(answer["FlowLogIds"][0])
        return Provisioned(flow_log, {"Id": flow_log})

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the flow log."""
        ec2 = self.ec2(caller)
        if ec2.describe_flow_logs(Filters=[{"Name": "flow-log-id", "Values": [physical_id]}])["FlowLogs"]:
            ec2.delete_flow_logs(FlowLogIds=[physical_id])

    def _check_destination(self, properties: Properties, caller: Caller) -> None:
        role = properties.get("DeliverLogsPermissionArn")
        if role is not None:
            self._clients("iam", caller).get_role(RoleName=role.rpartition("/")[2])
        name = properties.get("LogGroupName")
        if name is not None:
            groups = self._clients("logs", caller).describe_log_groups(logGroupNamePrefix=name)["logGroups"]
            if name not in [group["logGroupName"] for group in groups]:
                raise AwsError("InvalidParameter", f"LogDestination: the log group {name} does not exist")


def _policy(properties: Properties) -> dict[str, Any]:
    policy = properties.get("PolicyDocument")
    return {} if policy is None else {"PolicyDocument": document(policy)}
