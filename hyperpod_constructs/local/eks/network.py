"""What EKS leaves in the user's network: the cluster's security group, and interfaces of the control plane."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.local.clients import ignoring
from hyperpod_constructs.local.eks.cluster_checks import Network
from hyperpod_constructs.local.eks.records import Cluster


def open_security_group(ec2: Any, cluster: Cluster, vpc: str) -> str:
    """Create the security group of the cluster, whose members reach each other; returns its id."""
    group = str(
        ec2.create_security_group(
            GroupName=f"eks-cluster-sg-{cluster.name}-{cluster.oidc[:10].lower()}",
            Description="EKS created security group applied to ENI that is attached to EKS Control Plane master nodes",
            VpcId=vpc,
            TagSpecifications=[
                {
                    "ResourceType": "security-group",
                    "Tags": [
                        {"Key": "Name", "Value": f"eks-cluster-sg-{cluster.name}"},
                        {"Key": f"kubernetes.io/cluster/{cluster.name}", "Value": "owned"},
                    ],
                }
            ],
        )["GroupId"]
    )
    itself = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[itself])
    return group


def open_interfaces(ec2: Any, cluster: Cluster, network: Network) -> list[str]:
    """Give the control plane an interface in two zones; returns their ids."""
    config = cluster.body["resourcesVpcConfig"]
    by_zone = {zone: subnet for subnet, zone in network.zones.items()}
    groups = [config["clusterSecurityGroupId"], *config["securityGroupIds"]]
    made = []
    for zone in sorted(by_zone)[:2]:
        answer = ec2.create_network_interface(
            SubnetId=by_zone[zone], Groups=groups, Description=f"[embedded AWS] Amazon EKS {cluster.name}"
        )
        made.append(str(answer["NetworkInterface"]["NetworkInterfaceId"]))
    return made


def close_network(ec2: Any, cluster: Cluster) -> None:
    """Delete the interfaces and the security group. A group that others still name stays, as on AWS."""
    for interface in cluster.interfaces:
        with ignoring("InvalidNetworkInterfaceID.NotFound"):
            ec2.delete_network_interface(NetworkInterfaceId=interface)
    with ignoring("InvalidGroup.NotFound", "DependencyViolation"):
        ec2.delete_security_group(GroupId=cluster.body["resourcesVpcConfig"]["clusterSecurityGroupId"])
