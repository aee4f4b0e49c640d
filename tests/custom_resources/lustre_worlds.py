"""File systems for the cases of FSx: the world's security group lacks the rule that FSx asks for."""

from __future__ import annotations

from tests.custom_resources.world import World


def file_systems(world: World, *names: str) -> None:
    """Make file systems, and keep their ids in the world's names."""
    group = world.security_group
    rule = {"IpProtocol": "tcp", "FromPort": 988, "ToPort": 988, "UserIdGroupPairs": [{"GroupId": group}]}
    world.client("ec2").authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
    for name in names:
        world.names[name] = world.file_system()
