"""CloudFormation providers: route tables and routes, addresses, NAT gateways, endpoints, flow logs."""

from __future__ import annotations

import json
from typing import Any

from hyperpod_constructs.local.ec2.provider import (
    Ec2Provider,
    Properties,
    boolean,
    given,
    retag,
    tag_specifications,
    unless_gone,
    until,
)
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.service import AwsError, Caller


class RouteTable(Ec2Provider):
    """AWS::EC2::RouteTable."""

    type_name = "AWS::EC2::RouteTable"
    create_only = frozenset({"VpcId"})

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the table."""
        tags = tag_specifications("route-table", properties.get("Tags", ()))
        answer = self.ec2(caller).create_route_table(VpcId=properties["VpcId"], **tags)
        table = str(answer["RouteTable"]["RouteTableId"])
        return Provisioned(table, {"RouteTableId": table})

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the tags."""
        retag(self.ec2(caller), physical_id, old, new)
        return Provisioned(physical_id, {"RouteTableId": physical_id})

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the table; refused while a subnet uses it."""
        unless_gone(lambda: self.ec2(caller).delete_route_table(RouteTableId=physical_id))


class SubnetRouteTableAssociation(Ec2Provider):
    """AWS::EC2::SubnetRouteTableAssociation."""

    type_name = "AWS::EC2::SubnetRouteTableAssociation"
    create_only = frozenset({"SubnetId"})

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Associate the table with the subnet."""
        answer = self.ec2(caller).associate_route_table(**given(properties, "SubnetId", "RouteTableId"))
        association = str(answer["AssociationId"])
        return Provisioned(association, {"Id": association})

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Give the subnet another table; the association gets a new id."""
        answer = self.ec2(caller).replace_route_table_association(AssociationId=physical_id, RouteTableId=new["RouteTableId"])
        association = str(answer["NewAssociationId"])
        return Provisioned(association, {"Id": association})

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Disassociate the table."""
        unless_gone(lambda: self.ec2(caller).disassociate_route_table(AssociationId=physical_id))


class Route(Ec2Provider):
    """AWS::EC2::Route."""

    type_name = "AWS::EC2::Route"
    create_only = frozenset({"RouteTableId", "DestinationCidrBlock", "DestinationPrefixListId"})
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
        unless_gone(lambda: self.ec2(caller).delete_route(**self._place(properties)))

    def _place(self, properties: Properties) -> dict[str, Any]:
        return given(properties, "RouteTableId", "DestinationCidrBlock", "DestinationPrefixListId")

    def _provisioned(self, properties: Properties) -> Provisioned:
        destination = properties.get("DestinationCidrBlock") or properties["DestinationPrefixListId"]
        return Provisioned(f"{properties['RouteTableId']}|{destination}", {"CidrBlock": destination})


class Eip(Ec2Provider):
    """AWS::EC2::EIP, an address that is not associated with an instance."""

    type_name = "AWS::EC2::EIP"
    create_only = frozenset({"Domain", "NetworkBorderGroup"})

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Allocate the address."""
        tags = tag_specifications("elastic-ip", properties.get("Tags", ()))
        answer = self.ec2(caller).allocate_address(Domain=properties.get("Domain", "vpc"), **tags)
        return self._provisioned(answer["PublicIp"], answer["AllocationId"])

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the tags."""
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
    create_only = frozenset({"SubnetId", "AllocationId", "ConnectivityType"})

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the gateway and wait until it is available."""
        ec2 = self.ec2(caller)
        tags = tag_specifications("natgateway", properties.get("Tags", ()))
        arguments = given(properties, "SubnetId", "AllocationId", "ConnectivityType")
        gateway = ec2.create_nat_gateway(**arguments, **tags)["NatGateway"]
        gateway_id = str(gateway["NatGatewayId"])
        until(lambda: self._state(ec2, gateway_id) == "available", f"nat gateway {gateway_id}")
        interface = gateway["NatGatewayAddresses"][0]["NetworkInterfaceId"]
        return Provisioned(gateway_id, {"NatGatewayId": gateway_id, "EniId": interface})

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the tags."""
        ec2 = self.ec2(caller)
        retag(ec2, physical_id, old, new)
        gateway = ec2.describe_nat_gateways(NatGatewayIds=[physical_id])["NatGateways"][0]
        interface = gateway["NatGatewayAddresses"][0]["NetworkInterfaceId"]
        return Provisioned(physical_id, {"NatGatewayId": physical_id, "EniId": interface})

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the gateway and wait until it is gone."""
        ec2 = self.ec2(caller)
        if self._state(ec2, physical_id) == "deleted":
            return
        ec2.delete_nat_gateway(NatGatewayId=physical_id)
        until(lambda: self._state(ec2, physical_id) == "deleted", f"nat gateway {physical_id}")

    def _state(self, ec2: Any, gateway_id: str) -> str:
        found = ec2.describe_nat_gateways(NatGatewayIds=[gateway_id])["NatGateways"]
        return str(found[0]["State"]) if found else "deleted"


class VpcEndpoint(Ec2Provider):
    """AWS::EC2::VPCEndpoint, of type Gateway or Interface."""

    type_name = "AWS::EC2::VPCEndpoint"
    create_only = frozenset({"VpcId", "ServiceName", "VpcEndpointType"})
    _LISTS = ("RouteTableIds", "SubnetIds", "SecurityGroupIds")

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the endpoint and wait until it is available."""
        ec2 = self.ec2(caller)
        arguments = given(properties, "VpcId", "ServiceName", "VpcEndpointType", *self._LISTS)
        arguments["PrivateDnsEnabled"] = boolean(properties.get("PrivateDnsEnabled", False))
        arguments |= _policy(properties)
        tags = tag_specifications("vpc-endpoint", properties.get("Tags", ()))
        endpoint_id = str(ec2.create_vpc_endpoint(**arguments, **tags)["VpcEndpoint"]["VpcEndpointId"])
        until(lambda: self._describe(ec2, endpoint_id)["State"] == "available", f"vpc endpoint {endpoint_id}")
        return self._provisioned(ec2, endpoint_id)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change route tables, subnets, groups, policy, private DNS and tags."""
        ec2 = self.ec2(caller)
        arguments: dict[str, Any] = _policy(new) or ({"ResetPolicy": True} if "PolicyDocument" in old else {})
        for singular, plural in (("RouteTable", "RouteTableIds"), ("Subnet", "SubnetIds"), ("SecurityGroup", "SecurityGroupIds")):
            before, after = list(old.get(plural) or ()), list(new.get(plural) or ())
            arguments |= {f"Add{singular}Ids": added} if (added := [one for one in after if one not in before]) else {}
            arguments |= {f"Remove{singular}Ids": gone} if (gone := [one for one in before if one not in after]) else {}
        private_dns = boolean(new.get("PrivateDnsEnabled", False))
        if private_dns != boolean(old.get("PrivateDnsEnabled", False)):
            arguments["PrivateDnsEnabled"] = private_dns
        if arguments:
            ec2.modify_vpc_endpoint(VpcEndpointId=physical_id, **arguments)
        retag(ec2, physical_id, old, new)
        return self._provisioned(ec2, physical_id)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the endpoint with its interfaces and routes."""
        failed = self.ec2(caller).delete_vpc_endpoints(VpcEndpointIds=[physical_id])["Unsuccessful"]
        for failure in failed:
            if not failure["Error"]["Code"].endswith("NotFound"):
                raise AwsError(failure["Error"]["Code"], failure["Error"]["Message"])

    def _describe(self, ec2: Any, endpoint_id: str) -> dict[str, Any]:
        endpoint: dict[str, Any] = ec2.describe_vpc_endpoints(VpcEndpointIds=[endpoint_id])["VpcEndpoints"][0]
        return endpoint

    def _provisioned(self, ec2: Any, endpoint_id: str) -> Provisioned:
        created = self._describe(ec2, endpoint_id)["CreationTimestamp"]
        return Provisioned(endpoint_id, {"Id": endpoint_id, "CreationTimestamp": created.isoformat()})


class FlowLog(Ec2Provider):
    """AWS::EC2::FlowLog. Replaced by every change but that of its tags."""

    type_name = "AWS::EC2::FlowLog"
    _CREATE = (
        "DeliverLogsPermissionArn",
        "LogDestination",
        "LogDestinationType",
        "LogFormat",
        "LogGroupName",
        "MaxAggregationInterval",
        "ResourceType",
        "TrafficType",
    )
    create_only = frozenset({"ResourceId", *_CREATE})

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the flow log; its log group or bucket must exist."""
        ec2 = self.ec2(caller)
        arguments = given(properties, *self._CREATE)
        self._check_destination(properties, caller)
        tags = tag_specifications("vpc-flow-log", properties.get("Tags", ()))
        answer = ec2.create_flow_logs(ResourceIds=[properties["ResourceId"]], **arguments, **tags)
        for failure in answer["Unsuccessful"]:
            raise AwsError(failure["Error"]["Code"], failure["Error"]["Message"])
        flow_log = str(answer["FlowLogIds"][0])
        return Provisioned(flow_log, {"Id": flow_log})

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the tags."""
        retag(self.ec2(caller), physical_id, old, new)
        return Provisioned(physical_id, {"Id": physical_id})

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
    document = properties.get("PolicyDocument")
    if document is None:
        return {}
    return {"PolicyDocument": document if isinstance(document, str) else json.dumps(document)}
