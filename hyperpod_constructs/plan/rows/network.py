"""Updates of networks, where the resource schemas tell too little."""

from __future__ import annotations

from hyperpod_constructs.facts import updates
from hyperpod_constructs.plan.row import Row, in_place, replaced

_SUBNETS = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"


SUBNET: tuple[Row, ...] = (
    *(
        replaced(
            name,
            "the zone is fixed: a new subnet is created, and everything in this one is replaced too",
            avoid="add a subnet with another block in the other zone, and move the resources of this one",
        )
        for name in ("AvailabilityZone", "AvailabilityZoneId")
    ),
    replaced(
        "CidrBlock",
        "the block is fixed: a new subnet is created, and everything in this one is replaced too",
        avoid="choose the block once, large enough for the largest cluster",
        source=_SUBNETS,
    ),
)

VPC: tuple[Row, ...] = (
    in_place(
        "InstanceTenancy",
        "new instances share hardware; running ones stay where they are",
        when=lambda change: not updates.needs_new(change.type, "InstanceTenancy", change.old, change.new),
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-vpc.html",
    ),
    replaced(
        "CidrBlock",
        "the primary block is fixed: a new VPC is created, and everything in this one is replaced too",
        avoid="add a secondary block (AWS::EC2::VPCCidrBlock) instead",
    ),
)

SECURITY_GROUP: tuple[Row, ...] = (
    in_place("SecurityGroupIngress", "rules change in place; open connections are checked again"),
    in_place("SecurityGroupEgress", "rules change in place; open connections are checked again"),
    replaced(
        "GroupDescription",
        "the description is fixed: a new group is created, and every user of the old one must change to it",
        avoid="keep the description",
    ),
)

NAT_GATEWAY: tuple[Row, ...] = (
    replaced(
        "SubnetId",
        "the subnet is fixed: a new gateway is created, and open connections through the old one end",
        avoid="add a gateway with an address of its own in the other subnet, and change the routes",
    ),
)
