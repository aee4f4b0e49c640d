"""CloudFormation providers: VPC, its CIDR blocks, subnets, and the internet gateway."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.local.ec2.provider import (
    Ec2Provider,
    Properties,
    boolean,
    given,
    refuse_update,
    retag,
    tag_specifications,
    unless_gone,
)
from hyperpod_constructs.local.provider import Provisioned
from hyperpod_constructs.local.service import Caller


class Vpc(Ec2Provider):
    """AWS::EC2::VPC."""

    type_name = "AWS::EC2::VPC"
    create_only = frozenset({"CidrBlock", "Ipv4IpamPoolId", "Ipv4NetmaskLength"})

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the VPC with its DNS settings."""
        ec2 = self.ec2(caller)
        tags = tag_specifications("vpc", properties.get("Tags", ()))
        vpc_id = str(ec2.create_vpc(**given(properties, "CidrBlock", "InstanceTenancy"), **tags)["Vpc"]["VpcId"])
        self._set_dns(ec2, vpc_id, properties)
        return self._provisioned(ec2, vpc_id)

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change DNS settings and tags."""
        ec2 = self.ec2(caller)
        if new.get("InstanceTenancy", "default") != old.get("InstanceTenancy", "default"):
            raise refuse_update(self.type_name, "InstanceTenancy")
        self._set_dns(ec2, physical_id, new)
        retag(ec2, physical_id, old, new)
        return self._provisioned(ec2, physical_id)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the VPC; refused while anything is in it."""
        unless_gone(lambda: self.ec2(caller).delete_vpc(VpcId=physical_id))

    def _set_dns(self, ec2: Any, vpc_id: str, properties: Properties) -> None:
        support = boolean(properties.get("EnableDnsSupport", True))
        hostnames = boolean(properties.get("EnableDnsHostnames", False))
        ec2.modify_vpc_attribute(VpcId=vpc_id, EnableDnsSupport={"Value": support})
        ec2.modify_vpc_attribute(VpcId=vpc_id, EnableDnsHostnames={"Value": hostnames})

    def _provisioned(self, ec2: Any, vpc_id: str) -> Provisioned:
        mine = [{"Name": "vpc-id", "Values": [vpc_id]}]
        vpc = ec2.describe_vpcs(VpcIds=[vpc_id])["Vpcs"][0]
        group = ec2.describe_security_groups(Filters=[*mine, {"Name": "group-name", "Values": ["default"]}])
        acl = ec2.describe_network_acls(Filters=[*mine, {"Name": "default", "Values": ["true"]}])
        attributes = {
            "VpcId": vpc_id,
            "CidrBlock": vpc["CidrBlock"],
            "DefaultSecurityGroup": group["SecurityGroups"][0]["GroupId"],
            "DefaultNetworkAcl": acl["NetworkAcls"][0]["NetworkAclId"],
        }
        return Provisioned(vpc_id, attributes)


class VpcCidrBlock(Ec2Provider):
    """AWS::EC2::VPCCidrBlock, IPv4."""

    type_name = "AWS::EC2::VPCCidrBlock"
    create_only = frozenset({"VpcId", "CidrBlock"})

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Associate the block."""
        answer = self.ec2(caller).associate_vpc_cidr_block(**given(properties, "VpcId", "CidrBlock"))
        association = str(answer["CidrBlockAssociation"]["AssociationId"])
        return Provisioned(association, {"Id": association})

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Every property replaces it."""
        raise refuse_update(self.type_name, "the association")

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Disassociate the block; refused while a subnet lies in it."""
        unless_gone(lambda: self.ec2(caller).disassociate_vpc_cidr_block(AssociationId=physical_id))


class Subnet(Ec2Provider):
    """AWS::EC2::Subnet, by zone name or zone id, from any CIDR block of the VPC."""

    type_name = "AWS::EC2::Subnet"
    create_only = frozenset({"VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId"})

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the subnet."""
        ec2 = self.ec2(caller)
        arguments = given(properties, "VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId")
        tags = tag_specifications("subnet", properties.get("Tags", ()))
        subnet = ec2.create_subnet(**arguments, **tags)["Subnet"]
        self._set_public_addresses(ec2, subnet["SubnetId"], properties)
        return self._provisioned(ec2, subnet["SubnetId"])

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change whether instances get public addresses, and the tags."""
        ec2 = self.ec2(caller)
        self._set_public_addresses(ec2, physical_id, new)
        retag(ec2, physical_id, old, new)
        return self._provisioned(ec2, physical_id)

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the subnet; refused while an interface is in it."""
        unless_gone(lambda: self.ec2(caller).delete_subnet(SubnetId=physical_id))

    def _set_public_addresses(self, ec2: Any, subnet_id: str, properties: Properties) -> None:
        public = boolean(properties.get("MapPublicIpOnLaunch", False))
        ec2.modify_subnet_attribute(SubnetId=subnet_id, MapPublicIpOnLaunch={"Value": public})

    def _provisioned(self, ec2: Any, subnet_id: str) -> Provisioned:
        subnet = ec2.describe_subnets(SubnetIds=[subnet_id])["Subnets"][0]
        acls = ec2.describe_network_acls(Filters=[{"Name": "association.subnet-id", "Values": [subnet_id]}])["NetworkAcls"]
        association = next(one for acl in acls for one in acl["Associations"] if one["SubnetId"] == subnet_id)
        names = ("SubnetId", "VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId")
        attributes = {name: str(subnet[name]) for name in names}
        return Provisioned(subnet_id, {**attributes, "NetworkAclAssociationId": association["NetworkAclAssociationId"]})


class InternetGateway(Ec2Provider):
    """AWS::EC2::InternetGateway."""

    type_name = "AWS::EC2::InternetGateway"

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Create the gateway."""
        tags = tag_specifications("internet-gateway", properties.get("Tags", ()))
        gateway = str(self.ec2(caller).create_internet_gateway(**tags)["InternetGateway"]["InternetGatewayId"])
        return Provisioned(gateway, {"InternetGatewayId": gateway})

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Change the tags."""
        retag(self.ec2(caller), physical_id, old, new)
        return Provisioned(physical_id, {"InternetGatewayId": physical_id})

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Delete the gateway; refused while it is attached."""
        unless_gone(lambda: self.ec2(caller).delete_internet_gateway(InternetGatewayId=physical_id))


class VpcGatewayAttachment(Ec2Provider):
    """AWS::EC2::VPCGatewayAttachment of an internet gateway."""

    type_name = "AWS::EC2::VPCGatewayAttachment"
    create_only = frozenset({"VpcId", "InternetGatewayId"})

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Attach the gateway."""
        gateway, vpc = properties["InternetGatewayId"], properties["VpcId"]
        self.ec2(caller).attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        return Provisioned(f"IGW|{vpc}", {"AttachmentType": "IGW"})

    def update(self, physical_id: str, old: Properties, new: Properties, stack: str, caller: Caller) -> Provisioned:
        """Every property replaces it."""
        raise refuse_update(self.type_name, "the attachment")

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Detach the gateway; refused while public addresses are mapped."""
        gateway, vpc = properties["InternetGatewayId"], properties["VpcId"]
        unless_gone(lambda: self.ec2(caller).detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc))
