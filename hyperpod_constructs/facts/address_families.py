"""What asks for addresses of IPv6 in its subnets, which need a block of them (as of 2026-11-28)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Asking:
    """A type that may ask for addresses of IPv6.

    :param setting: the place that asks.
    :param words: the words there that ask, in small letters.
    :param subnets: the way to the subnets, past what names them.
    """

    setting: str
    words: tuple[str, ...]
    subnets: str


_DATABASE = Asking(setting="NetworkType", words=("dual",), subnets="DBSubnetGroupName>SubnetIds/*")
_CACHE = Asking(setting="NetworkType", words=("dual_stack", "ipv6"), subnets="CacheSubnetGroupName>SubnetIds/*")

ASKING: Mapping[str, Asking] = {
    "AWS::EC2::VPCEndpoint": Asking(setting="IpAddressType", words=("dualstack", "ipv6"), subnets="SubnetIds/*"),
    "AWS::EFS::MountTarget": Asking(setting="IpAddressType", words=("dual_stack", "ipv6_only"), subnets="SubnetId"),
    "AWS::EKS::Cluster": Asking(
        setting="KubernetesNetworkConfig/IpFamily", words=("ipv6",), subnets="ResourcesVpcConfig/SubnetIds/*"
    ),
    "AWS::ElastiCache::ReplicationGroup": _CACHE,
    "AWS::ElasticLoadBalancingV2::LoadBalancer": Asking(
        setting="IpAddressType", words=("dualstack", "dualstack-without-public-ipv4"), subnets="Subnets/*"
    ),
    "AWS::Lambda::Function": Asking(setting="VpcConfig/Ipv6AllowedForDualStack", words=("true",), subnets="VpcConfig/SubnetIds/*"),
    "AWS::RDS::DBCluster": _DATABASE,
    "AWS::RDS::DBInstance": _DATABASE,
    "AWS::Route53Resolver::ResolverEndpoint": Asking(
        setting="ResolverEndpointType", words=("dualstack", "ipv6"), subnets="IpAddresses/*/SubnetId"
    ),
}
"""Sources: https://docs.aws.amazon.com/vpc/latest/privatelink/create-interface-endpoint.html,
https://docs.aws.amazon.com/efs/latest/ug/manage-fs-access.html,
https://docs.aws.amazon.com/eks/latest/userguide/cni-ipv6.html,
https://docs.aws.amazon.com/AmazonElastiCache/latest/dg/network-type.html,
https://docs.aws.amazon.com/elasticloadbalancing/latest/application/application-load-balancers.html,
https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html,
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_VPC.WorkingWithRDSInstanceinaVPC.html and
https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-overview-forward-vpc-to-network.html
"""
