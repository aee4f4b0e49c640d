"""Resources that listen in a VPC and open no connections there: their security groups and ports (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/efs/latest/ug/network-access.html,
https://docs.aws.amazon.com/sdk-for-kotlin/api/latest/rds/aws.sdk.kotlin.services.rds.model/-create-db-instance-request/port.html,
https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html,
https://docs.aws.amazon.com/documentdb/latest/developerguide/API_CreateDBCluster.html,
https://docs.aws.amazon.com/AmazonElastiCache/latest/APIReference/API_CreateReplicationGroup.html,
https://docs.aws.amazon.com/opensearch-service/latest/developerguide/vpc.html,
https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-update-security-groups.html and
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
    :param own_port: the property with another port than the usual one, if there is one.
    :param protocols: the protocols on which it listens.
    :param when: a property and the value with which it listens; empty for always.
    """

    groups: str
    name: str
    port: int | None = None
    own_port: str = ""
    protocols: tuple[str, ...] = ("tcp",)
    when: tuple[str, ...] = ()


LISTENERS: Mapping[str, Listener] = {
    "AWS::DocDB::DBCluster": Listener(groups="VpcSecurityGroupIds", name="the database", port=27017, own_port="Port"),
    "AWS::EC2::VPCEndpoint": Listener(
        groups="SecurityGroupIds", name="an endpoint", port=443, when=("VpcEndpointType", "Interface")
    ),
    "AWS::EFS::MountTarget": Listener(groups="SecurityGroups", name="EFS", port=2049),
    "AWS::ElastiCache::ReplicationGroup": Listener(groups="SecurityGroupIds", name="the cache", port=6379, own_port="Port"),
    "AWS::OpenSearchService::Domain": Listener(groups="VPCOptions/SecurityGroupIds", name="the domain", port=443),
    "AWS::RDS::DBCluster": Listener(groups="VpcSecurityGroupIds", name="the database"),
    "AWS::RDS::DBInstance": Listener(groups="VPCSecurityGroups", name="the database"),
    "AWS::Route53Resolver::ResolverEndpoint": Listener(
        groups="SecurityGroupIds", name="the resolver", port=53, protocols=("tcp", "udp"), when=("Direction", "INBOUND")
    ),
}
"""Types that listen, and that nobody is let in by means of."""

SUBNETS: Mapping[str, str] = {"AWS::EC2::VPCEndpoint": "SubnetIds", "AWS::EFS::MountTarget": "SubnetId"}
"""The property with the subnets of those that listen on one port and are in each of their subnets."""

BALANCER = Listener(groups="SecurityGroups", name="the load balancer")
"""A load balancer, which waits at the ports of its listeners."""
BALANCERS = ("AWS::ElasticLoadBalancing::LoadBalancer", "AWS::ElasticLoadBalancingV2::LoadBalancer")
HOSTS = (
    *("ConfigurationEndPoint.Address", "ConfigurationEndpoint.Address", "DNSName", "Endpoint", "Endpoint.Address"),
    *("PrimaryEndPoint.Address", "ReadEndpoint.Address", "ReaderEndPoint.Address", "RedisEndpoint.Address"),
)
"""The attributes with names of hosts."""
PLAIN, SECURE = ("HTTP",), ("HTTPS", "TLS")
"""The protocols of listeners that speak in clear, and over TLS."""
USUAL_PORTS: Mapping[str, int] = {"http": 80, "https": 443}
"""The port of an address without one, by its scheme."""
PROTOCOLS_OF_BALANCERS: Mapping[str, tuple[str, ...]] = {
    "HTTP": ("tcp",),
    "HTTPS": ("tcp",),
    "TCP": ("tcp",),
    "TCP_UDP": ("tcp", "udp"),
    "TLS": ("tcp",),
    "UDP": ("udp",),
}
"""The protocols of the network by that of a listener."""
