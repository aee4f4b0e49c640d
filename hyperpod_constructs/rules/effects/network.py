"""Updates of networks, where the resource schemas do not tell the whole."""

from __future__ import annotations

from hyperpod_constructs.rules.effects.effect import Change, Effect, Row

_SUBNETS = "https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html"


def _same_block(change: Change) -> bool:
    """The new subnet is made before the old one goes, in the same VPC with the same block."""
    return {"VpcId", "CidrBlock"} <= change.unchanged


SUBNET: tuple[Row, ...] = (
    *(
        row
        for name in ("AvailabilityZone", "AvailabilityZoneId")
        for row in (
            Row(
                path=name,
                effect=Effect.REFUSED,
                why="the zone is fixed, and the subnet that is to replace this one has the same CIDR block while both exist",
                when=_same_block,
                avoid="add a subnet with another block in the other zone, and move what is in this one",
                source=_SUBNETS,
            ),
            Row(
                path=name, effect=Effect.REPLACE, why="the zone is fixed: a new subnet is made, and everything in this one with it"
            ),
        )
    ),
    Row(
        path="CidrBlock",
        effect=Effect.REPLACE,
        why="the block is fixed: a new subnet is made, and everything that lives in this one is replaced with it",
        avoid="choose the block once, large enough for the largest cluster",
        source=_SUBNETS,
    ),
)

VPC: tuple[Row, ...] = (
    Row(
        path="CidrBlock",
        effect=Effect.REPLACE,
        why="the primary block is fixed: a new VPC is made, and everything in it with it",
        avoid="add a secondary block (AWS::EC2::VPCCidrBlock) instead",
    ),
)

SECURITY_GROUP: tuple[Row, ...] = (
    Row(
        path="SecurityGroupIngress", effect=Effect.NO_INTERRUPTION, why="rules change in place; open connections are checked again"
    ),
    Row(path="SecurityGroupEgress", effect=Effect.NO_INTERRUPTION, why="rules change in place; open connections are checked again"),
    Row(
        path="GroupDescription",
        effect=Effect.REPLACE,
        why="the description is fixed: a new group is made, and what holds the old one has to change to it",
        avoid="keep the description",
    ),
)
