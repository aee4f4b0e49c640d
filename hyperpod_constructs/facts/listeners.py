"""Resources that listen in a VPC and open no connections there: their security groups and ports (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/efs/latest/ug/network-access.html,
https://docs.aws.amazon.com/sdk-for-kotlin/api/latest/rds/aws.sdk.kotlin.services.rds.model/-create-db-instance-request/port.html,
https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html and
https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-getting-started.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NFS = range(2049, 2050)
"""The TCP port of EFS."""

DATABASE_PORTS: Mapping[str, int] = {
    "aurora-mysql": 3306,
    "db2-ae": 50000,
    "db2-se": 50000,
    "mariadb": 3306,
    "mysql": 3306,
    "oracle-ee": 1521,
    "oracle-ee-cdb": 1521,
    "oracle-se2": 1521,
    "oracle-se2-cdb": 1521,
    "postgres": 5432,
    "sqlserver-ee": 1433,
    "sqlserver-ex": 1433,
    "sqlserver-se": 1433,
    "sqlserver-web": 1433,
}
"""The port of a database without one of its own, by engine; pages differ on that of Aurora PostgreSQL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """A type that listens.

    :param groups: the property with its security groups.
    :param name: the service in a sentence.
    :param port: its port; `None` where its engine decides.
    :param protocols: the protocols on which it listens.
    :param when: a property and the value with which it listens; empty for always.
    """

    groups: str
    name: str
    port: int | None = None
    protocols: tuple[str, ...] = ("tcp",)
    when: tuple[str, ...] = ()


LISTENERS: Mapping[str, Listener] = {
    "AWS::EC2::VPCEndpoint": Listener(
        groups="SecurityGroupIds", name="an endpoint", port=443, when=("VpcEndpointType", "Interface")
    ),
    "AWS::EFS::MountTarget": Listener(groups="SecurityGroups", name="EFS", port=2049),
    "AWS::RDS::DBCluster": Listener(groups="VpcSecurityGroupIds", name="the database"),
    "AWS::RDS::DBInstance": Listener(groups="VPCSecurityGroups", name="the database"),
    "AWS::Route53Resolver::ResolverEndpoint": Listener(
        groups="SecurityGroupIds", name="the resolver", port=53, protocols=("tcp", "udp"), when=("Direction", "INBOUND")
    ),
}
"""Types that listen, and that nobody is let in by means of."""
