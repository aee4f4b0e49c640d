"""Correct templates to break: two that are written by hand, as other tools write them, and those of the presets.

Every call yields a fresh one, so that a test can change what it got.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

from hyperpod_constructs.facts.creation import OPENING
from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.rules.finding import Finding
from hyperpod_constructs.templates.model import Model

Template = dict[str, Any]


def slurm() -> Template:
    """A Slurm cluster with its network, a Lustre file system that is linked to a bucket, and a role; in YAML style, with `Ref`."""
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            **_network(),
            **_file_system(),
            "Scripts": {
                "Type": "AWS::S3::Bucket",
                "Properties": {"BucketName": {"Fn::Sub": "sagemaker-scripts-${AWS::AccountId}"}},
            },
            "Role": _role("ec2:DetachNetworkInterface", "fsx:DescribeFileSystems"),
            "Cluster": {
                "Type": "AWS::SageMaker::Cluster",
                "DependsOn": [*WAYS],
                "Properties": {
                    "ClusterName": "research",
                    "NodeRecovery": "Automatic",
                    "NodeProvisioningMode": "Continuous",
                    "Orchestrator": {"Slurm": {}},
                    "VpcConfig": {
                        "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
                        "Subnets": [{"Ref": "NodeSubnet"}],
                    },
                    "InstanceGroups": [
                        _slurm_group("controller", "ml.m5.2xlarge", 1, {"NodeType": "Controller"}),
                        _slurm_group("login", "ml.m5.xlarge", 1, {"NodeType": "Login"}),
                        _slurm_group("workers", "ml.p5.48xlarge", 4, {"NodeType": "Compute", "PartitionNames": ["train"]}),
                    ],
                },
            },
        },
    }


WAYS = ("NodeAssociation", "NodeDefaultRoute", "NodeSelfEgress", "NodeSelfIngress", "S3Endpoint")
"""What opens the ways of nodes, which a cluster awaits."""

CHART: Template = {
    "Type": "Custom::AWSCDK-EKS-HelmChart",
    "Properties": {
        "ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:kubectl",
        "ClusterName": {"Ref": "Control"},
        "Release": "hyperpod-dependencies",
        "Namespace": "kube-system",
    },
}


def eks() -> Template:
    """A Kubernetes cluster with its network, its control plane in two zones, the chart that HyperPod needs, and a role."""
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {
            **_network(),
            **{f"ControlSubnet{zone}": _subnet(f"10.0.{zone}.0/24", f"us-west-2{'ab'[zone - 1]}") for zone in (1, 2)},
            "ControlRole": {
                "Type": "AWS::IAM::Role",
                "Properties": {
                    "AssumeRolePolicyDocument": _trust("eks.amazonaws.com"),
                    "ManagedPolicyArns": [{"Fn::Sub": "arn:${AWS::Partition}:iam::aws:policy/AmazonEKSClusterPolicy"}],
                },
            },
            "Control": {
                "Type": "AWS::EKS::Cluster",
                "Properties": {
                    "Version": "1.33",
                    "RoleArn": {"Fn::GetAtt": ["ControlRole", "Arn"]},
                    "AccessConfig": {"AuthenticationMode": "API_AND_CONFIG_MAP"},
                    "ResourcesVpcConfig": {
                        "SubnetIds": [{"Ref": "ControlSubnet1"}, {"Ref": "ControlSubnet2"}],
                        "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
                        "EndpointPrivateAccess": True,
                        "EndpointPublicAccess": True,
                    },
                },
            },
            **{
                addon: {"Type": "AWS::EKS::Addon", "Properties": {"AddonName": name, "ClusterName": {"Ref": "Control"}}}
                for addon, name in (("Cni", "vpc-cni"), ("Proxy", "kube-proxy"), ("PodIdentity", "eks-pod-identity-agent"))
            },
            "Chart": deepcopy(CHART),
            "Scripts": {
                "Type": "AWS::S3::Bucket",
                "Properties": {"BucketName": {"Fn::Sub": "sagemaker-scripts-${AWS::AccountId}"}},
            },
            "Role": _role(*_EKS_ACTIONS),
            "Cluster": {
                "Type": "AWS::SageMaker::Cluster",
                "DependsOn": ["Chart", "Cni", "Proxy", "PodIdentity", *WAYS],
                "Properties": {
                    "ClusterName": "research",
                    "NodeRecovery": "Automatic",
                    "NodeProvisioningMode": "Continuous",
                    "Orchestrator": {"Eks": {"ClusterArn": {"Fn::GetAtt": ["Control", "Arn"]}}},
                    "Tags": [{"Key": "SageMaker", "Value": "true"}],
                    "VpcConfig": {
                        "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
                        "Subnets": [{"Ref": "NodeSubnet"}],
                    },
                    "InstanceGroups": [
                        _group("system", "ml.m5.2xlarge", 2, {"OnCreate": "on_create.sh", "SourceS3Uri": _SCRIPTS}),
                        _group("accelerated", "ml.p5.48xlarge", 2, {"OnCreate": "on_create.sh", "SourceS3Uri": _SCRIPTS}),
                    ],
                },
            },
        },
    }


UNUSED = "HP-DEP-006"


def preset(name: str) -> dict[str, Template]:
    """The templates of a preset of the reference app, by stack."""
    return deepcopy(_preset(name))


def findings(*templates: Template, rules: str = "HP-", settle: bool = True) -> list[Finding]:
    """The catalogue's findings in templates of one deployment, by rules with this prefix.

    :param settle: whether clusters await all that opens a way in their template, whatever an edit added or took away.
    """
    named = {f"t{index}": settled(one) if settle else one for index, one in enumerate(templates)}
    return findings_by_name(named, rules=rules)


def settled(template: Template) -> Template:
    """A template whose clusters await the ways of their nodes, and nothing that is gone."""
    resources = {id: dict(one) if isinstance(one, dict) else one for id, one in template.get("Resources", {}).items()}
    opening = [id for id, one in resources.items() if isinstance(one, dict) and one.get("Type") in OPENING]
    for one in resources.values():
        if isinstance(one, dict) and one.get("Type") == "AWS::SageMaker::Cluster":
            written = one.get("DependsOn", [])
            awaited = [written] if isinstance(written, str) else written
            left = [id for id in awaited if id in resources or id not in WAYS]
            one["DependsOn"] = [*left, *(id for id in opening if id not in left)]
    return {**template, "Resources": resources}


def findings_by_name(templates: dict[str, Template], *, rules: str = "HP-") -> list[Finding]:
    """The same for templates that have names.

    They are parts of deployments: what nothing uses is found only where it is asked for.
    """
    left_out = () if rules == UNUSED else (UNUSED,)
    return [one for one in check(Model.of(templates)) if one.rule.startswith(rules) and one.rule not in left_out]


def rules_of(*templates: Template, rules: str = "HP-") -> list[str]:
    """The ids of the rules with findings in templates of one deployment."""
    return [finding.rule for finding in findings(*templates, rules=rules)]


def properties(template: Template, logical_id: str) -> Template:
    """The properties of a resource, to be changed."""
    found: Template = template["Resources"][logical_id].setdefault("Properties", {})
    return found


def workers(template: Template) -> Template:
    """The last instance group of the cluster, which has EFA; to be changed."""
    found: Template = properties(template, "Cluster")["InstanceGroups"][-1]
    return found


_SCRIPTS = {"Fn::Sub": "s3://${Scripts}/lifecycle/"}
_EKS_ACTIONS = (
    "cloudwatch:DescribeAlarms",
    "ec2:AssignPrivateIpAddresses",
    "ec2:AttachNetworkInterface",
    "ec2:DescribeInstances",
    "ec2:DescribeInstanceTypes",
    "ec2:DescribeTags",
    "ec2:DetachNetworkInterface",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
    "eks-auth:AssumeRoleForPodIdentity",
)


@cache
def _preset(name: str) -> dict[str, Template]:
    from tests import presets

    return presets.templates(presets.build(name))


def _group(name: str, instance_type: str, count: int, scripts: Template) -> Template:
    return {
        "InstanceGroupName": name,
        "InstanceType": instance_type,
        "InstanceCount": count,
        "ExecutionRole": {"Fn::GetAtt": ["Role", "Arn"]},
        "LifeCycleConfig": scripts,
        "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
    }


def _slurm_group(name: str, instance_type: str, count: int, slurm: Template) -> Template:
    group = _group(name, instance_type, count, {"OnInitComplete": "on_init_complete.sh", "SourceS3Uri": _SCRIPTS})
    mount = {
        "DnsName": {"Fn::GetAtt": ["FileSystem", "DNSName"]},
        "MountName": {"Fn::GetAtt": ["FileSystem", "LustreMountName"]},
        "MountPath": "/fsx",
    }
    group["InstanceStorageConfigs"].append({"FsxLustreConfig": mount})
    return {**group, "SlurmConfig": slurm}


def _trust(service: str) -> Template:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _role(*actions: str) -> Template:
    network = (
        "ec2:CreateNetworkInterface",
        "ec2:CreateNetworkInterfacePermission",
        "ec2:DeleteNetworkInterface",
        "ec2:DeleteNetworkInterfacePermission",
        "ec2:DescribeDhcpOptions",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcs",
    )
    interfaces = {"Fn::Sub": "arn:${AWS::Partition}:ec2:*:*:network-interface/*"}
    statements = [
        {"Effect": "Allow", "Action": [*network, *actions], "Resource": "*"},
        {"Effect": "Allow", "Action": "ec2:CreateTags", "Resource": interfaces},
        {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": {"Fn::GetAtt": ["Scripts", "Arn"]}},
        {"Effect": "Allow", "Action": "s3:GetObject", "Resource": {"Fn::Sub": "${Scripts.Arn}/*"}},
    ]
    policy = "arn:${AWS::Partition}:iam::aws:policy/AmazonSageMakerClusterInstanceRolePolicy"
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": _trust("sagemaker.amazonaws.com"),
            "ManagedPolicyArns": [{"Fn::Sub": policy}],
            "Policies": [
                {"PolicyName": "nodes", "PolicyDocument": {"Version": "2012-10-17", "Statement": statements}},
            ],
        },
    }


def _subnet(block: str, zone: str) -> Template:
    properties = {"VpcId": {"Ref": "Vpc"}, "CidrBlock": block, "AvailabilityZone": zone}
    return {"Type": "AWS::EC2::Subnet", **KEPT, "Properties": properties}


def _routed(name: str, target: Template) -> Template:
    """A subnet's own table with a default route."""
    route = {"RouteTableId": {"Ref": f"{name}Routes"}, "DestinationCidrBlock": "0.0.0.0/0", **target}
    association = {"SubnetId": {"Ref": f"{name}Subnet"}, "RouteTableId": {"Ref": f"{name}Routes"}}
    return {
        f"{name}Routes": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
        f"{name}DefaultRoute": {"Type": "AWS::EC2::Route", "DependsOn": "Attachment", "Properties": route},
        f"{name}Association": {"Type": "AWS::EC2::SubnetRouteTableAssociation", "Properties": association},
    }


KEPT = {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}


def _network() -> Template:
    endpoint = {
        "VpcId": {"Ref": "Vpc"},
        "VpcEndpointType": "Gateway",
        "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.s3"},
        "RouteTableIds": [{"Ref": "NodeRoutes"}],
    }
    nat = {"SubnetId": {"Ref": "PublicSubnet"}, "AllocationId": {"Fn::GetAtt": ["NatAddress", "AllocationId"]}}
    itself = {"Fn::GetAtt": ["NodeGroup", "GroupId"]}
    outwards = [{"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "CidrIp": "0.0.0.0/0"} for port in (443, 80)]
    return {
        "Vpc": {
            "Type": "AWS::EC2::VPC",
            **KEPT,
            "Properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": True, "EnableDnsHostnames": True},
        },
        "Gateway": {"Type": "AWS::EC2::InternetGateway"},
        "Attachment": {
            "Type": "AWS::EC2::VPCGatewayAttachment",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "InternetGatewayId": {"Ref": "Gateway"}},
        },
        "PublicSubnet": _subnet("10.0.0.0/24", "us-west-2b"),
        **_routed("Public", {"GatewayId": {"Ref": "Gateway"}}),
        "NatAddress": {"Type": "AWS::EC2::EIP", "DependsOn": "Attachment", "Properties": {"Domain": "vpc"}},
        "Nat": {"Type": "AWS::EC2::NatGateway", "Properties": nat},
        "NodeSubnet": _subnet("10.0.64.0/18", "us-west-2b"),
        **_routed("Node", {"NatGatewayId": {"Ref": "Nat"}}),
        "S3Endpoint": {"Type": "AWS::EC2::VPCEndpoint", "Properties": endpoint},
        "NodeGroup": {
            "Type": "AWS::EC2::SecurityGroup",
            **KEPT,
            "Properties": {"GroupDescription": "nodes", "VpcId": {"Ref": "Vpc"}, "SecurityGroupEgress": outwards},
        },
        "NodeSelfIngress": {
            "Type": "AWS::EC2::SecurityGroupIngress",
            **KEPT,
            "Properties": {"GroupId": itself, "SourceSecurityGroupId": itself, "IpProtocol": "-1"},
        },
        "NodeSelfEgress": {
            "Type": "AWS::EC2::SecurityGroupEgress",
            **KEPT,
            "Properties": {"GroupId": itself, "DestinationSecurityGroupId": itself, "IpProtocol": "-1"},
        },
    }


def _file_system() -> Template:
    """In the group of the nodes, as most templates have it."""
    return {
        "Data": {
            "Type": "AWS::S3::Bucket",
            **KEPT,
            "Properties": {"VersioningConfiguration": {"Status": "Enabled"}},
        },
        "FileSystem": {
            "Type": "AWS::FSx::FileSystem",
            "DependsOn": ["NodeSelfIngress", "NodeSelfEgress"],
            **KEPT,
            "Properties": {
                "FileSystemType": "LUSTRE",
                "FileSystemTypeVersion": "2.15",
                "StorageType": "SSD",
                "StorageCapacity": 4800,
                "SubnetIds": [{"Ref": "NodeSubnet"}],
                "SecurityGroupIds": [{"Fn::GetAtt": ["NodeGroup", "GroupId"]}],
                "LustreConfiguration": {
                    "DeploymentType": "PERSISTENT_2",
                    "PerUnitStorageThroughput": 250,
                    "DataCompressionType": "LZ4",
                    "MetadataConfiguration": {"Mode": "AUTOMATIC"},
                },
            },
        },
        "Link": {
            "Type": "AWS::FSx::DataRepositoryAssociation",
            "Properties": {
                "FileSystemId": {"Ref": "FileSystem"},
                "FileSystemPath": "/data",
                "DataRepositoryPath": {"Fn::Sub": "s3://${Data}/datasets/"},
                "S3": {
                    "AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]},
                    "AutoExportPolicy": {"Events": ["NEW", "CHANGED"]},
                },
            },
        },
    }
