"""Properties of a resource of every type of EKS that the embedded AWS provides, and other values of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.local.update_values import TAGS, Properties, Values, World, one, pair, plain

_VIEW = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy"
_SESSION = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}'


def _cluster(world: World) -> Properties:
    return {
        "Version": "1.33",
        "RoleArn": world.eks.roles[0],
        "ResourcesVpcConfig": {"SubnetIds": world.eks.subnets},
        "AccessConfig": {"AuthenticationMode": "API_AND_CONFIG_MAP"},
    }


def _node_group(world: World) -> Properties:
    return {
        "ClusterName": world.eks.clusters[0],
        "NodeRole": world.eks.node_roles[0],
        "Subnets": world.eks.subnets,
        "Version": "1.32",
    }


def _association(world: World) -> Properties:
    return {
        "ClusterName": world.eks.clusters[0],
        "Namespace": "team",
        "ServiceAccount": "runner",
        "RoleArn": world.eks.pod_roles[0],
    }


BASES: dict[str, Callable[[World], Properties]] = {
    "AWS::EKS::AccessEntry": lambda world: {"ClusterName": world.eks.clusters[0], "PrincipalArn": world.eks.node_roles[0]},
    "AWS::EKS::Addon": lambda world: {"ClusterName": world.eks.clusters[0], "AddonName": "coredns"},
    "AWS::EKS::Cluster": _cluster,
    "AWS::EKS::Nodegroup": _node_group,
    "AWS::EKS::PodIdentityAssociation": _association,
}

_CLOSED = {"ResourcesVpcConfig/EndpointPublicAccess": False, "ResourcesVpcConfig/EndpointPrivateAccess": True}
_AUTO_MODE = {
    "ComputeConfig": {"Enabled": True},
    "StorageConfig": {"BlockStorage": {"Enabled": True}},
    "KubernetesNetworkConfig/ElasticLoadBalancing": {"Enabled": True},
}

VALUES: dict[str, dict[str, Values]] = {
    "AWS::EKS::AccessEntry": plain(
        AccessPolicies=[{"PolicyArn": _VIEW, "AccessScope": {"Type": "cluster"}}],
        ClusterName=lambda world: world.eks.clusters[1],
        KubernetesGroups=["team"],
        PrincipalArn=lambda world: world.eks.node_roles[1],
        Tags=TAGS,
        Type="HYPERPOD_LINUX",
        Username="somebody",
    ),
    "AWS::EKS::Addon": plain(
        AddonName="kube-proxy",
        AddonVersion="v1.12.4-eksbuild.1",
        ClusterName=lambda world: world.eks.clusters[1],
        ConfigurationValues='{"replicaCount": 3}',
        NamespaceConfig={"Namespace": "dns"},
        PodIdentityAssociations=lambda world: [{"ServiceAccount": "coredns", "RoleArn": world.eks.pod_roles[0]}],
        PreserveOnDelete=True,
        ResolveConflicts="OVERWRITE",
        ServiceAccountRoleArn=lambda world: world.eks.pod_roles[0],
        Tags=TAGS,
    ),
    "AWS::EKS::Cluster": {
        **plain(
            BootstrapSelfManagedAddons=False,
            ControlPlaneScalingConfig={"Tier": "tier-xl"},
            EncryptionConfig=lambda world: [{"Resources": ["secrets"], "Provider": {"KeyArn": world.eks.key}}],
            Force=True,
            KubeApiServerConfig={"EventTtl": "30m"},
            KubeControllerManagerConfig={"PodGcControllerConfig": {"TerminatedPodGcThreshold": 100}},
            KubeSchedulerConfig={"NodeResourcesFit": {"ScoringStrategy": {"Type": "MostAllocated"}}},
            Logging={"ClusterLogging": {"EnabledTypes": [{"Type": "audit"}]}},
            Name="another",
            RoleArn=lambda world: world.eks.roles[1],
            Tags=TAGS,
            UpgradePolicy={"SupportType": "STANDARD"},
            Version="1.34",
        ),
        **pair("DeletionProtection", True, False),
        "ResourcesVpcConfig/EndpointPublicAccess": Values(new=lambda world: _CLOSED),
        **{path: Values(new=lambda world: _AUTO_MODE) for path in _AUTO_MODE},
        **{
            path: one(path, value)
            for path, value in (
                ("AccessConfig/AuthenticationMode", "API"),
                ("AccessConfig/BootstrapClusterCreatorAdminPermissions", False),
                ("KubernetesNetworkConfig/IpFamily", "ipv4"),
                ("KubernetesNetworkConfig/ServiceIpv4Cidr", "10.200.0.0/16"),
                ("ResourcesVpcConfig/ControlPlaneEgressMode", "CUSTOMER_ROUTED"),
                ("ResourcesVpcConfig/EndpointPrivateAccess", True),
                ("ResourcesVpcConfig/PublicAccessCidrs", ["203.0.113.0/24"]),
                ("ResourcesVpcConfig/SecurityGroupIds", lambda world: [world.eks.group]),
                ("ResourcesVpcConfig/SubnetIds", lambda world: world.eks.other_subnets),
            )
        },
    },
    "AWS::EKS::Nodegroup": {
        **plain(
            CapacityType="SPOT",
            ClusterName=lambda world: world.eks.clusters[1],
            DiskSize=50,
            ForceUpdateEnabled=True,
            InstanceTypes=["m5.large"],
            Labels={"a": "2"},
            NodeRepairConfig={"Enabled": True},
            NodeRole=lambda world: world.eks.node_roles[1],
            NodegroupName="another",
            ReleaseVersion="1.32.9-20251120",
            RemoteAccess={"Ec2SshKey": "mine"},
            ScalingConfig={"MinSize": 1, "DesiredSize": 2, "MaxSize": 3},
            Subnets=lambda world: world.eks.subnets[:1],
            Tags={"a": "2"},
            Taints=[{"Key": "a", "Value": "2", "Effect": "NO_SCHEDULE"}],
            UpdateConfig={"MaxUnavailable": 2},
            Version="1.33",
        ),
        **pair("AmiType", None, "AL2023_ARM_64_STANDARD", NodegroupName="stays"),
        **pair("LaunchTemplate", {"Name": "nodes", "Version": "1"}, {"Name": "nodes", "Version": "2"}),
    },
    "AWS::EKS::PodIdentityAssociation": {
        **plain(
            ClusterName=lambda world: world.eks.clusters[1],
            DisableSessionTags=True,
            Namespace="others",
            RoleArn=lambda world: world.eks.pod_roles[1],
            ServiceAccount="others",
            Tags=TAGS,
            TargetRoleArn="arn:aws:iam::210987654321:role/theirs",
        ),
        **pair("Policy", None, _SESSION, DisableSessionTags=True),
    },
}

UNSERVED: dict[tuple[str, str], Callable[[World], Any]] = {
    ("AWS::EKS::Cluster", "OutpostConfig"): lambda world: {
        "OutpostArns": ["arn:aws:outposts:us-west-2:123456789012:outpost/op-0123456789abcdef0"],
        "ControlPlaneInstanceType": "m5.large",
    },
    ("AWS::EKS::Cluster", "RemoteNetworkConfig"): lambda world: {"RemoteNodeNetworks": [{"Cidrs": ["10.20.0.0/16"]}]},
    ("AWS::EKS::Cluster", "ZonalShiftConfig"): lambda world: {"Enabled": True},
    ("AWS::EKS::Nodegroup", "WarmPoolConfig"): lambda world: {"Enabled": True},
}
"""Values of properties that the embedded AWS reads in order to refuse them."""


SECOND: list[tuple[str, str, Values]] = [
    ("AWS::EKS::Cluster", "two versions up", one("Version", "1.35")),
    ("AWS::EKS::Cluster", "an authentication mode back", one("AccessConfig/AuthenticationMode", "CONFIG_MAP")),
    (
        "AWS::EKS::Cluster",
        "a role beside a name",
        Values(old=lambda world: {"Name": "k"}, new=lambda world: {"RoleArn": world.eks.roles[1]}),
    ),
    (
        "AWS::EKS::Cluster",
        "a network of services beside a name",
        Values(old=lambda world: {"Name": "k"}, new=lambda world: {"KubernetesNetworkConfig/ServiceIpv4Cidr": "10.200.0.0/16"}),
    ),
    (
        "AWS::EKS::Nodegroup",
        "a role beside a name",
        Values(old=lambda world: {"NodegroupName": "n"}, new=lambda world: {"NodeRole": world.eks.node_roles[1]}),
    ),
]
"""Other values of properties that have one above."""
