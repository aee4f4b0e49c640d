"""CloudFormation providers: VPC, its CIDR blocks, subnets, and the internet gateway."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.clients import ignoring
from hyperpod_constructs.local.ec2.provider import GONE, Ec2Provider, Properties, boolean, refuse_update
from hyperpod_constructs.local.provider import Provisioned


class Vpc(Ec2Provider):
    """AWS::EC2::VPC."""

    type_name = "AWS::EC2::VPC"
    creation, deletion = "create_vpc", "delete_vpc"
    arguments = ("CidrBlock", "InstanceTenancy")
    found_at = ("Vpc", "VpcId")
    tagged_as = "vpc"

    def _change(self, ec2: Any, physical_id: str, old: Properties, new: Properties) -> None:
        if (tenancy := new.get("InstanceTenancy", "default")) != old.get("InstanceTenancy", "default"):
            ec2.modify_vpc_tenancy(VpcId=physical_id, InstanceTenancy=tenancy)

    def _configure(self, ec2: Any, physical_id: str, properties: Properties) -> None:
        support = boolean(properties.get("EnableDnsSupport", True))
        hostnames = boolean(properties.get("EnableDnsHostnames", False))
        ec2.modify_vpc_attribute(VpcId=physical_id, EnableDnsSupport={"Value": support})
        ec2.modify_vpc_attribute(VpcId=physical_id, EnableDnsHostnames={"Value": hostnames})

    def _attributes(self, ec2: Any, physical_id: str) -> dict[str, str]:
        mine = [{"Name": "vpc-id", "Values": [physical_id]}]
        vpc = ec2.describe_vpcs(VpcIds=[physical_id])["Vpcs"][0]
        group = ec2.describe_security_groups(Filters=[*mine, {"Name": "group-name", "Values": ["default"]}])
        acl = ec2.describe_network_acls(Filters=[*mine, {"Name": "default", "Values": ["true"]}])
        return {
            "VpcId": physical_id,
            "CidrBlock": vpc["CidrBlock"],
            "DefaultSecurityGroup": group["SecurityGroups"][0]["GroupId"],
            "DefaultNetworkAcl": acl["NetworkAcls"][0]["NetworkAclId"],
        }


class VpcCidrBlock(Ec2Provider):
    """AWS::EC2::VPCCidrBlock, IPv4."""

    type_name = "AWS::EC2::VPCCidrBlock"
    creation, deletion = "associate_vpc_cidr_block", "disassociate_vpc_cidr_block"
    arguments = ("VpcId", "CidrBlock")
    found_at = ("CidrBlockAssociation", "AssociationId")

    def _change(self, ec2: Any, physical_id: str, old: Properties, new: Properties) -> None:
        raise refuse_update(self.type_name, "the association")


class Subnet(Ec2Provider):
    """AWS::EC2::Subnet, by zone name or zone id, from any CIDR block of the VPC."""

    type_name = "AWS::EC2::Subnet"
    creation, deletion = "create_subnet", "delete_subnet"
    arguments = ("VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId")
    found_at = ("Subnet", "SubnetId")
    tagged_as = "subnet"

    def _configure(self, ec2: Any, physical_id: str, properties: Properties) -> None:
        public = boolean(properties.get("MapPublicIpOnLaunch", False))
        ec2.modify_subnet_attribute(SubnetId=physical_id, MapPublicIpOnLaunch={"Value": public})

    def _attributes(self, ec2: Any, physical_id: str) -> dict[str, str]:
        subnet = ec2.describe_subnets(SubnetIds=[physical_id])["Subnets"][0]
        acls = ec2.describe_network_acls(Filters=[{"Name": "association.subnet-id", "Values": [physical_id]}])["NetworkAcls"]
        association = next(one for acl in acls for one in acl["Associations"] if one["SubnetId"] == physical_id)
        names = ("SubnetId", "VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId")
        attributes = {name: str(subnet[name]) for name in names}
        return {**attributes, "NetworkAclAssociationId": association["NetworkAclAssociationId"]}


class InternetGateway(Ec2Provider):
    """AWS::EC2::InternetGateway."""

    type_name = "AWS::EC2::InternetGateway"
    creation, deletion = "create_internet_gateway", "delete_internet_gateway"
    found_at = ("InternetGateway", "InternetGatewayId")
    id_attribute = "InternetGatewayId"
    tagged_as = "internet-gateway"


class VpcGatewayAttachment(Ec2Provider):
    """AWS::EC2::VPCGatewayAttachment of an internet gateway."""

    type_name = "AWS::EC2::VPCGatewayAttachment"
    update = Ec2Provider.remade

    def create(self, properties: Properties, logical_id: str, stack: str, caller: Caller) -> Provisioned:
        """Attach the gateway."""
        gateway, vpc = properties["InternetGatewayId"], properties["VpcId"]
        self.ec2(caller).attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        return Provisioned(f"IGW|{vpc}", {"AttachmentType": "IGW"})

    def delete(self, physical_id: str, properties: Properties, caller: Caller) -> None:
        """Detach the gateway; refused while public addresses are mapped."""
        gateway, vpc = properties["InternetGatewayId"], properties["VpcId"]
        with ignoring(*GONE):
            self.ec2(caller).detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
