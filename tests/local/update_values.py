"""Properties of a resource of every type that the embedded AWS provides, and other values of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

from botocore import xform_name

from tests.local.eks.account import EksAccount
from tests.local.file_systems import lustre, lustre_group
from tests.local.hyperpod_requests import cluster, group, new_plan
from tests.local.in_process import InProcess
from tests.local.moto_cloud import Cloud

Properties = dict[str, Any]
TAGS = [{"Key": "a", "Value": "2"}]


class World:
    """An account with two of everything that a property can name."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self.clients = InProcess(cloud)
        self.ec2 = cloud.client("ec2")
        self.eks = EksAccount(cloud, self.clients)

    @cached_property
    def other_vpc(self) -> str:
        return str(self.ec2.create_vpc(CidrBlock="10.2.0.0/16")["Vpc"]["VpcId"])

    @cached_property
    def other_subnet(self) -> str:
        return self.cloud.new_subnet("10.1.1.0/24")

    @cached_property
    def tables(self) -> list[str]:
        return [self.ec2.create_route_table(VpcId=self.cloud.vpc)["RouteTable"]["RouteTableId"] for _ in range(2)]

    @cached_property
    def gateways(self) -> list[str]:
        return [self.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"] for _ in range(2)]

    @cached_property
    def nat(self) -> str:
        address = self.ec2.allocate_address(Domain="vpc")["AllocationId"]
        return str(self.ec2.create_nat_gateway(SubnetId=self.cloud.subnet, AllocationId=address)["NatGateway"]["NatGatewayId"])

    @cached_property
    def interface(self) -> str:
        return str(self.ec2.create_network_interface(SubnetId=self.cloud.subnet)["NetworkInterface"]["NetworkInterfaceId"])

    @cached_property
    def transit(self) -> str:
        return str(self.ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"])

    @cached_property
    def endpoint(self) -> str:
        service = "com.amazonaws.us-west-2.s3"
        return str(self.ec2.create_vpc_endpoint(VpcId=self.cloud.vpc, ServiceName=service)["VpcEndpoint"]["VpcEndpointId"])

    @cached_property
    def peering(self) -> str:
        made = self.ec2.create_vpc_peering_connection(VpcId=self.cloud.vpc, PeerVpcId=self.other_vpc)
        return str(made["VpcPeeringConnection"]["VpcPeeringConnectionId"])

    @property
    def addresses(self) -> list[str]:
        """New ones each time: moto does not give back the address of a NAT gateway that goes."""
        return [self.ec2.allocate_address(Domain="vpc")["AllocationId"] for _ in range(2)]

    @cached_property
    def groups(self) -> list[str]:
        return [self.cloud.new_security_group(name) for name in ("one", "two")]

    @cached_property
    def lists(self) -> list[str]:
        make = self.ec2.create_managed_prefix_list
        made = [make(PrefixListName=name, MaxEntries=1, AddressFamily="IPv4") for name in ("one", "two")]
        return [item["PrefixList"]["PrefixListId"] for item in made]

    @cached_property
    def lustre_groups(self) -> list[str]:
        groups = [lustre_group(self.cloud, name) for name in ("lustre-one", "lustre-two")]
        for name in groups:
            everything = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": name}]}]
            self.ec2.authorize_security_group_ingress(GroupId=name, IpPermissions=everything)
            self.ec2.authorize_security_group_egress(GroupId=name, IpPermissions=everything)
        return groups

    @cached_property
    def plan(self) -> str:
        client = self.clients.sagemaker
        return new_plan(lambda operation, **parameters: getattr(client, xform_name(operation))(**parameters))

    @cached_property
    def other_role(self) -> str:
        return self.cloud.new_role("others", "sagemaker.amazonaws.com")

    @cached_property
    def cluster_roles(self) -> list[str]:
        return [self.cloud.new_role(name, "hyperpod.sagemaker.amazonaws.com") for name in ("scaler", "scaler2")]

    @cached_property
    def logs(self) -> list[str]:
        names = ["flow-one", "flow-two"]
        for name in names:
            self.cloud.client("logs").create_log_group(logGroupName=name)
        return names

    @cached_property
    def buckets(self) -> list[str]:
        names = ["one-bucket", "two-bucket"]
        for name in names:
            where = {"LocationConstraint": "us-west-2"}
            self.cloud.client("s3").create_bucket(Bucket=name, CreateBucketConfiguration=where)
        return names

    @cached_property
    def file_systems(self) -> list[str]:
        request = lustre(self.cloud, self.lustre_groups[0])
        made = [self.clients.fsx.create_file_system(**request) for _ in range(2)]
        found = [item["FileSystem"]["FileSystemId"] for item in made]
        self.clients.fsx.describe_file_systems()
        return found

    @cached_property
    def governed(self) -> list[str]:
        made = []
        for name in ("governed", "governed2"):
            groups = [group(self.cloud, "workers", None)]
            wanted = cluster(self.cloud, ClusterName=name, Orchestrator=_ON_EKS, InstanceGroups=groups)
            made.append(str(self.clients.sagemaker.create_cluster(**wanted)["ClusterArn"]))
        return made

    @cached_property
    def boundaries(self) -> list[str]:
        document = json.dumps(_POLICY)
        iam = self.cloud.client("iam")
        return [iam.create_policy(PolicyName=name, PolicyDocument=document)["Policy"]["Arn"] for name in ("one", "two")]


_POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:Get*", "Resource": "*"}]}


def _trust(service: str) -> Properties:
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _bucket_policy(bucket: str, action: str) -> Properties:
    statement = {"Effect": "Allow", "Principal": "*", "Action": action, "Resource": f"arn:aws:s3:::{bucket}/*"}
    return {"Version": "2012-10-17", "Statement": [statement]}


def _slurm(world: World) -> Properties:
    return cluster(world.cloud, ClusterName=None, Tags=[{"Key": "a", "Value": "1"}])


_ON_EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/one"}}


def _eks(world: World) -> Properties:
    groups = [group(world.cloud, "workers", None, 2)]
    return cluster(world.cloud, ClusterName=None, Orchestrator=_ON_EKS, InstanceGroups=groups)


def _nova(world: World) -> Properties:
    """A cluster with a restricted group, which has a file system of its own."""
    workers = {
        "InstanceGroupName": "workers",
        "InstanceCount": 1,
        "InstanceType": "ml.p5.48xlarge",
        "ExecutionRole": world.cloud.role,
        "EnvironmentConfig": _files(1200),
    }
    return {**_eks(world), "InstanceGroups": [group(world.cloud, "system", None)], "RestrictedInstanceGroups": [workers]}


def _planned_nova(world: World) -> Properties:
    wanted = _nova(world)
    return {**wanted, "RestrictedInstanceGroups": [{**wanted["RestrictedInstanceGroups"][0], "InstanceType": "ml.p4d.24xlarge"}]}


def _files(size: int) -> Properties:
    return {"FSxLustreConfig": {"SizeInGiB": size, "PerUnitStorageThroughput": 250}}


def _shared(policy: str) -> Properties:
    return {"FSxLustreDeletionPolicy": policy, **_files(1200)}


def _quota(world: World) -> Properties:
    entries = [{"InstanceType": "ml.p5.48xlarge", "Count": 1}]
    return {
        "Name": "one",
        "ClusterArn": world.governed[0],
        "ComputeQuotaConfig": {"ComputeQuotaResources": entries},
        "ComputeQuotaTarget": {"TeamName": "one"},
    }


def _planned(world: World) -> Properties:
    workers = group(world.cloud, "workers", "Compute", InstanceType="ml.p4d.24xlarge")
    return cluster(world.cloud, ClusterName=None, InstanceGroups=[group(world.cloud, "controller", "Controller"), workers])


def _openzfs(world: World) -> Properties:
    configuration = {"DeploymentType": "SINGLE_AZ_1", "ThroughputCapacity": 64}
    request = {"FileSystemType": "OPENZFS", "StorageCapacity": 64, "SubnetIds": [world.cloud.subnet]}
    return {**request, "SecurityGroupIds": world.lustre_groups[:1], "OpenZFSConfiguration": configuration}


def _association(world: World) -> Properties:
    return {
        "FileSystemId": world.file_systems[0],
        "FileSystemPath": "/data",
        "DataRepositoryPath": "s3://sagemaker-scripts/data",
        "S3": {"AutoImportPolicy": {"Events": ["NEW"]}},
    }


def _flow_log(world: World) -> Properties:
    where = {"LogGroupName": world.logs[0], "DeliverLogsPermissionArn": world.cloud.role}
    return {"ResourceId": world.cloud.vpc, "ResourceType": "VPC", "TrafficType": "ALL", **where}


BASES: dict[str, Callable[[World], Properties]] = {
    "AWS::S3::Bucket": lambda world: {},
    "AWS::S3::BucketPolicy": lambda world: {
        "Bucket": world.buckets[0],
        "PolicyDocument": _bucket_policy(world.buckets[0], "s3:GetObject"),
    },
    "AWS::SageMaker::Cluster": _slurm,
    "AWS::SageMaker::ClusterSchedulerConfig": lambda world: {"Name": "one", "ClusterArn": world.governed[0], "SchedulerConfig": {}},
    "AWS::SageMaker::ComputeQuota": _quota,
    "AWS::FSx::DataRepositoryAssociation": _association,
    "AWS::FSx::FileSystem": lambda world: lustre(world.cloud, world.lustre_groups[0]),
    "AWS::IAM::Role": lambda world: {"AssumeRolePolicyDocument": _trust("sagemaker.amazonaws.com")},
    "AWS::EC2::VPC": lambda world: {"CidrBlock": "10.5.0.0/16"},
    "AWS::EC2::VPCCidrBlock": lambda world: {"VpcId": world.cloud.vpc, "CidrBlock": "10.6.0.0/16"},
    "AWS::EC2::Subnet": lambda world: {"VpcId": world.cloud.vpc, "CidrBlock": "10.1.8.0/24"},
    "AWS::EC2::RouteTable": lambda world: {"VpcId": world.cloud.vpc},
    "AWS::EC2::SubnetRouteTableAssociation": lambda world: {"SubnetId": world.cloud.subnet, "RouteTableId": world.tables[0]},
    "AWS::EC2::Route": lambda world: {
        "RouteTableId": world.tables[0],
        "DestinationCidrBlock": "10.9.0.0/16",
        "NatGatewayId": world.nat,
    },
    "AWS::EC2::InternetGateway": lambda world: {},
    "AWS::EC2::VPCGatewayAttachment": lambda world: {"VpcId": world.cloud.vpc, "InternetGatewayId": world.gateways[0]},
    "AWS::EC2::EIP": lambda world: {},
    "AWS::EC2::NatGateway": lambda world: {"SubnetId": world.cloud.subnet, "AllocationId": world.addresses[0]},
    "AWS::EC2::VPCEndpoint": lambda world: {
        "VpcId": world.cloud.vpc,
        "ServiceName": "com.amazonaws.us-west-2.logs",
        "VpcEndpointType": "Interface",
        "SubnetIds": [world.cloud.subnet],
        "SecurityGroupIds": world.groups[:1],
    },
    "AWS::EC2::SecurityGroup": lambda world: {"GroupDescription": "d", "VpcId": world.cloud.vpc},
    "AWS::EC2::SecurityGroupIngress": lambda world: {
        "GroupId": world.groups[0],
        "IpProtocol": "tcp",
        "FromPort": 80,
        "ToPort": 80,
        "CidrIp": "10.0.0.0/8",
    },
    "AWS::EC2::SecurityGroupEgress": lambda world: {
        "GroupId": world.groups[0],
        "IpProtocol": "tcp",
        "FromPort": 80,
        "ToPort": 80,
        "CidrIp": "10.0.0.0/8",
    },
    "AWS::EC2::FlowLog": _flow_log,
}


class Values(NamedTuple):
    """Two values of a property: `old` and `new` by path, over a resource of its own if it needs another one."""

    new: Callable[[World], Properties]
    old: Callable[[World], Properties] = lambda world: {}
    base: Callable[[World], Properties] | None = None


def one(path: str, value: Any) -> Values:
    """A new value of a property; a function of the account makes it if it is one."""
    return Values(lambda world: {path: value(world) if callable(value) else value})


def plain(**values: Any) -> dict[str, Values]:
    """New values of properties, by name."""
    return {name: one(name, value) for name, value in values.items()}


def _in(prefix: str, base: Callable[[World], Properties] | None = None, **values: Any) -> dict[str, Values]:
    found = {f"{prefix}/{name}": one(f"{prefix}/{name}", value) for name, value in values.items()}
    return {path: values._replace(base=base) for path, values in found.items()}


def pair(path: str, old: Any, new: Any, **others: Any) -> dict[str, Values]:
    """An old and a new value of a property, beside others that stay."""
    return {path: Values(new=lambda world: {path: new, **others}, old=lambda world: {path: old, **others})}


def _peer(name: str, both: str, values: Callable[[World], list[str]]) -> dict[str, Values]:
    return {
        name: Values(
            new=lambda world: {name: values(world)[1], both: None},
            old=lambda world: {name: values(world)[0], both: None},
        )
    }


_RULE = {
    **plain(GroupId=lambda world: world.groups[1], FromPort=79, ToPort=81, CidrIp="10.1.0.0/16", Description="d", IpProtocol="udp"),
    **pair("CidrIpv6", "2001:db8::/64", "2001:db8:1::/64", CidrIp=None),
}
_WORKERS = "InstanceGroups/workers"
_LUSTRE = "LustreConfiguration"
_ZFS = "OpenZFSConfiguration"


def _scripts(world: World) -> Properties:
    world.cloud.client("s3").put_object(Bucket="sagemaker-scripts", Key="v2/on_create.sh", Body=b"#!/bin/sh\n")
    return {"SourceS3Uri": "s3://sagemaker-scripts/v2/", "OnCreate": "on_create.sh"}


_CLUSTER = {
    **plain(
        ClusterName="another",
        Tags=TAGS,
        NodeRecovery="None",
        NodeProvisioningMode=None,
        VpcConfig=lambda world: {"Subnets": [world.other_subnet], "SecurityGroupIds": [world.cloud.security_group]},
    ),
    "ClusterRole": Values(
        new=lambda world: {"ClusterRole": world.cluster_roles[1]}, old=lambda world: {"ClusterRole": world.cluster_roles[0]}
    ),
    "AutoScaling": Values(
        new=lambda world: {"AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"}},
        old=lambda world: {"ClusterRole": world.cluster_roles[0]},
        base=_eks,
    ),
    "TieredStorageConfig": Values(
        new=lambda world: {"TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 30}}, base=_eks
    ),
    "Orchestrator/Eks": one("Orchestrator/Eks", {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/two"})._replace(
        base=_eks
    ),
    "Orchestrator/Slurm/AccountingDatabase": one(
        "Orchestrator/Slurm/AccountingDatabase",
        {
            "Endpoint": "db.example.us-west-2.rds.amazonaws.com",
            "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:db-AbCdEf",
        },
    ),
    "Orchestrator/Slurm/SlurmConfigStrategy": Values(
        new=lambda world: {"Orchestrator/Slurm/SlurmConfigStrategy": "Merge", "NodeProvisioningMode": None},
        old=lambda world: {"Orchestrator/Slurm/SlurmConfigStrategy": "Managed", "NodeProvisioningMode": None},
    ),
    **_in(
        _WORKERS,
        AutoPatchConfig={"PatchingStrategy": "WhenIdle"},
        ExecutionRole=lambda world: world.other_role,
        ImageId="ami-0123456789abcdef0",
        InstanceCount=3,
        InstanceGroupName="others",
        InstanceStorageConfigs=[{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
        InstanceType="ml.m5.2xlarge",
        LifeCycleConfig=_scripts,
        MinInstanceCount=1,
        NetworkInterface={"InterfaceType": "efa"},
        OnStartDeepHealthChecks=["InstanceStress"],
        OverrideVpcConfig=lambda world: {"Subnets": [world.other_subnet], "SecurityGroupIds": [world.cloud.security_group]},
        ScheduledUpdateConfig={"ScheduleExpression": "cron(0 12 ? * SUN *)"},
        ThreadsPerCore=2,
    ),
    **_in(_WORKERS, base=_planned, TrainingPlanArn=lambda world: world.plan),
    f"{_WORKERS}/SlurmConfig/NodeType": one(f"{_WORKERS}/SlurmConfig", {"NodeType": "Login"}),
    f"{_WORKERS}/SlurmConfig/PartitionNames": one(f"{_WORKERS}/SlurmConfig/PartitionNames", ["others"]),
    f"{_WORKERS}/InstanceRequirements": Values(
        new=lambda world: {
            f"{_WORKERS}/InstanceType": None,
            f"{_WORKERS}/InstanceRequirements": {"InstanceTypes": ["ml.m5.xlarge", "ml.m5.2xlarge"]},
        }
    ),
    **_in(
        _WORKERS,
        base=_eks,
        CapacityRequirements={"Spot": {}},
        ImageReleaseVersion="1.2.3",
        KubernetesConfig={"Labels": {"a": "b"}},
    ),
    **_in(
        f"Restricted{_WORKERS}",
        base=_nova,
        EnvironmentConfig=_files(2400),
        ExecutionRole=lambda world: world.other_role,
        InstanceCount=2,
        InstanceGroupName="others",
        InstanceStorageConfigs=[{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
        InstanceType="ml.p5en.48xlarge",
        OnStartDeepHealthChecks=["InstanceStress"],
        OverrideVpcConfig=lambda world: {"Subnets": [world.other_subnet], "SecurityGroupIds": [world.cloud.security_group]},
        ThreadsPerCore=2,
    ),
    **_in(f"Restricted{_WORKERS}", base=_planned_nova, TrainingPlanArn=lambda world: world.plan),
    "RestrictedInstanceGroupsConfig": Values(
        new=lambda world: {"RestrictedInstanceGroupsConfig": {"SharedEnvironmentConfig": _shared("DeleteIfNotUsed")}},
        old=lambda world: {"RestrictedInstanceGroupsConfig": {"SharedEnvironmentConfig": _shared("Keep")}},
        base=_nova,
    ),
    f"{_WORKERS}/NetworkInterface": one(f"{_WORKERS}/NetworkInterface", {"InterfaceType": "efa"})._replace(base=_planned),
}

VALUES: dict[str, dict[str, Values]] = {
    "AWS::SageMaker::ClusterSchedulerConfig": plain(
        Name="two",
        ClusterArn=lambda world: world.governed[1],
        SchedulerConfig={"FairShare": "Disabled"},
        Description="d",
        Tags=TAGS,
    ),
    "AWS::SageMaker::ComputeQuota": {
        **plain(
            Name="two",
            ClusterArn=lambda world: world.governed[1],
            ComputeQuotaConfig={"ComputeQuotaResources": [{"InstanceType": "ml.p5.48xlarge", "VCpu": 1.5}]},
            ActivationState="Disabled",
            Description="d",
            Tags=TAGS,
        ),
        **_in("ComputeQuotaTarget", TeamName="two", FairShareWeight=9),
    },
    "AWS::S3::Bucket": {
        **plain(BucketName="another-bucket", Tags=TAGS, AccessControl="LogDeliveryWrite"),
        **plain(VersioningConfiguration={"Status": "Enabled"}),
        **plain(
            BucketEncryption={"ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]}
        ),
        **plain(LifecycleConfiguration={"Rules": [{"Id": "a", "Status": "Enabled", "ExpirationInDays": 9}]}),
        **plain(OwnershipControls={"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}),
        **plain(PublicAccessBlockConfiguration={"BlockPublicAcls": True}),
        **plain(NotificationConfiguration={"EventBridgeConfiguration": {"EventBridgeEnabled": True}}),
        "LoggingConfiguration": Values(
            new=lambda world: {"LoggingConfiguration": {"LogFilePrefix": "logs/"}},
            old=lambda world: {"AccessControl": "LogDeliveryWrite"},
        ),
    },
    "AWS::S3::BucketPolicy": {
        **plain(Bucket=lambda world: world.buckets[1]),
        **plain(PolicyDocument=lambda world: _bucket_policy(world.buckets[0], "s3:PutObject")),
    },
    "AWS::SageMaker::Cluster": _CLUSTER,
    "AWS::FSx::DataRepositoryAssociation": {
        **plain(BatchImportMetaDataOnCreate=True, DataRepositoryPath="s3://sagemaker-scripts/more", FileSystemPath="/more"),
        **plain(FileSystemId=lambda world: world.file_systems[1], ImportedFileChunkSize=2048, Tags=TAGS),
        **plain(S3={"AutoImportPolicy": {"Events": ["NEW", "CHANGED"]}}),
    },
    "AWS::FSx::FileSystem": {
        **plain(
            KmsKeyId="arn:aws:kms:us-west-2:123456789012:key/00000000-0000-4000-8000-000000000000",
            SecurityGroupIds=lambda world: world.lustre_groups[1:],
            StorageCapacity=2400,
            SubnetIds=lambda world: [world.other_subnet],
            Tags=TAGS,
        ),
        "NetworkType": one("NetworkType", "DUAL")._replace(old=lambda world: {"NetworkType": "IPV4"}),
        "FileSystemType": Values(new=lambda world: {**_openzfs(world), _LUSTRE: None, "FileSystemTypeVersion": None}),
        "FileSystemTypeVersion": Values(
            new=lambda world: {"FileSystemTypeVersion": "2.15"},
            old=lambda world: {"FileSystemTypeVersion": "2.12", f"{_LUSTRE}/MetadataConfiguration": None},
        ),
        "StorageType": Values(
            new=lambda world: {"StorageType": "HDD", f"{_LUSTRE}/PerUnitStorageThroughput": 12, "StorageCapacity": 6000},
            old=lambda world: {
                "StorageType": "SSD",
                f"{_LUSTRE}/DeploymentType": "PERSISTENT_1",
                f"{_LUSTRE}/PerUnitStorageThroughput": 50,
                f"{_LUSTRE}/MetadataConfiguration": None,
                f"{_LUSTRE}/DriveCacheType": "NONE",
            },
        ),
        **_in(
            _LUSTRE,
            AutomaticBackupRetentionDays=7,
            CopyTagsToBackups=True,
            DailyAutomaticBackupStartTime="05:00",
            DataCompressionType="NONE",
            LogConfiguration={"Level": "DISABLED"},
            PerUnitStorageThroughput=500,
            WeeklyMaintenanceStartTime="1:05:00",
        ),
        f"{_LUSTRE}/DeploymentType": Values(
            new=lambda world: {f"{_LUSTRE}/DeploymentType": "SCRATCH_2", f"{_LUSTRE}/PerUnitStorageThroughput": None},
            old=lambda world: {f"{_LUSTRE}/MetadataConfiguration": None, "FileSystemTypeVersion": "2.12"},
        ),
        f"{_LUSTRE}/DriveCacheType": Values(
            new=lambda world: {f"{_LUSTRE}/DriveCacheType": "READ"},
            old=lambda world: {
                f"{_LUSTRE}/DriveCacheType": "NONE",
                f"{_LUSTRE}/DeploymentType": "PERSISTENT_1",
                f"{_LUSTRE}/PerUnitStorageThroughput": 12,
                f"{_LUSTRE}/MetadataConfiguration": None,
                "StorageType": "HDD",
                "StorageCapacity": 6000,
            },
        ),
        f"{_LUSTRE}/EfaEnabled": Values(
            new=lambda world: {f"{_LUSTRE}/EfaEnabled": True}, old=lambda world: {"StorageCapacity": 19200}
        ),
        **{
            f"{_LUSTRE}/{name}": Values(
                new=lambda world, name=name, new=new: {f"{_LUSTRE}/{name}": new},  # type: ignore[misc]
                old=lambda world, name=name, old=old: {  # type: ignore[misc]
                    f"{_LUSTRE}/ImportPath": "s3://sagemaker-scripts",
                    f"{_LUSTRE}/{name}": old,
                    f"{_LUSTRE}/DeploymentType": "SCRATCH_2",
                    f"{_LUSTRE}/PerUnitStorageThroughput": None,
                    f"{_LUSTRE}/MetadataConfiguration": None,
                    "FileSystemTypeVersion": "2.12",
                },
            )
            for name, old, new in (
                ("AutoImportPolicy", "NONE", "NEW"),
                ("ExportPath", "s3://sagemaker-scripts/a", "s3://sagemaker-scripts/b"),
                ("ImportPath", "s3://sagemaker-scripts/a", "s3://sagemaker-scripts/b"),
                ("ImportedFileChunkSize", 1024, 2048),
            )
        },
        f"{_LUSTRE}/MetadataConfiguration/Iops": Values(
            new=lambda world: {f"{_LUSTRE}/MetadataConfiguration/Iops": 3000},
            old=lambda world: {f"{_LUSTRE}/MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 1500}},
        ),
        f"{_LUSTRE}/MetadataConfiguration/Mode": one(f"{_LUSTRE}/MetadataConfiguration/Mode", "USER_PROVISIONED"),
        **{
            f"{_LUSTRE}/{name}": Values(
                new=lambda world, name=name, new=new: {f"{_LUSTRE}/{name}": new},  # type: ignore[misc]
                old=lambda world: {
                    "StorageType": "INTELLIGENT_TIERING",
                    "StorageCapacity": None,
                    f"{_LUSTRE}/PerUnitStorageThroughput": None,
                    f"{_LUSTRE}/MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 6000},
                    f"{_LUSTRE}/ThroughputCapacity": 4000,
                    f"{_LUSTRE}/DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
                },
            )
            for name, new in (
                ("ThroughputCapacity", 8000),
                ("DataReadCacheConfiguration", {"SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"}),
            )
        },
        **_in(
            _ZFS,
            base=_openzfs,
            AutomaticBackupRetentionDays=7,
            CopyTagsToBackups=True,
            CopyTagsToVolumes=True,
            DailyAutomaticBackupStartTime="05:00",
            DeploymentType="SINGLE_AZ_HA_1",
            DiskIopsConfiguration={"Mode": "USER_PROVISIONED", "Iops": 300},
            EndpointIpv6AddressRange="2001:db8::/64",
            Options=["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"],
            ReadCacheConfiguration={"SizingMode": "NO_CACHE"},
            RootVolumeConfiguration={"DataCompressionType": "LZ4"},
            ThroughputCapacity=128,
            WeeklyMaintenanceStartTime="1:05:00",
            EndpointIpAddressRange="198.19.255.0/24",
            RouteTableIds=lambda world: world.tables[:1],
        ),
        f"{_ZFS}/PreferredSubnetId": Values(
            new=lambda world: {f"{_ZFS}/PreferredSubnetId": world.other_subnet},
            old=lambda world: {
                f"{_ZFS}/DeploymentType": "MULTI_AZ_1",
                f"{_ZFS}/ThroughputCapacity": 160,
                f"{_ZFS}/PreferredSubnetId": world.cloud.subnet,
                "SubnetIds": [world.cloud.subnet, world.other_subnet],
            },
            base=_openzfs,
        ),
    },
    "AWS::IAM::Role": {
        **plain(
            AssumeRolePolicyDocument=_trust("ec2.amazonaws.com"),
            Description="d",
            ManagedPolicyArns=lambda world: world.boundaries[:1],
            MaxSessionDuration=7200,
            Path="/other/",
            PermissionsBoundary=lambda world: world.boundaries[0],
            Policies=[{"PolicyName": "p", "PolicyDocument": _POLICY}],
            RoleName="another",
            Tags=TAGS,
        )
    },
    "AWS::EC2::VPC": {
        **plain(CidrBlock="10.7.0.0/16", EnableDnsHostnames=True, EnableDnsSupport=False, Tags=TAGS),
        **pair("InstanceTenancy", "default", "dedicated"),
    },
    "AWS::EC2::VPCCidrBlock": plain(CidrBlock="10.7.0.0/16", VpcId=lambda world: world.other_vpc),
    "AWS::EC2::Subnet": {
        **plain(CidrBlock="10.1.9.0/24", MapPublicIpOnLaunch=True, Tags=TAGS),
        **pair("AvailabilityZone", "us-west-2a", "us-west-2b"),
        **pair("AvailabilityZoneId", "usw2-az1", "usw2-az2"),
        "VpcId": Values(new=lambda world: {"VpcId": world.other_vpc, "CidrBlock": "10.2.8.0/24"}),
    },
    "AWS::EC2::RouteTable": plain(Tags=TAGS, VpcId=lambda world: world.other_vpc),
    "AWS::EC2::SubnetRouteTableAssociation": plain(
        RouteTableId=lambda world: world.tables[1], SubnetId=lambda world: world.other_subnet
    ),
    "AWS::EC2::Route": {
        **plain(RouteTableId=lambda world: world.tables[1], DestinationCidrBlock="10.8.0.0/16"),
        **_peer("DestinationPrefixListId", "DestinationCidrBlock", lambda world: world.lists),
        "GatewayId": Values(new=lambda world: {"GatewayId": world.gateways[0], "NatGatewayId": None}),
        **{
            name: Values(new=lambda world, name=name, value=value: {name: value(world), "NatGatewayId": None})  # type: ignore[misc]
            for name, value in (
                ("NetworkInterfaceId", lambda world: world.interface),
                ("TransitGatewayId", lambda world: world.transit),
                ("VpcEndpointId", lambda world: world.endpoint),
                ("VpcPeeringConnectionId", lambda world: world.peering),
            )
        },
        "NatGatewayId": Values(
            new=lambda world: {"GatewayId": None, "NatGatewayId": world.nat},
            old=lambda world: {"GatewayId": world.gateways[0], "NatGatewayId": None},
        ),
    },
    "AWS::EC2::InternetGateway": plain(Tags=TAGS),
    "AWS::EC2::VPCGatewayAttachment": plain(InternetGatewayId=lambda world: world.gateways[1], VpcId=lambda world: world.other_vpc),
    "AWS::EC2::EIP": {**plain(Tags=TAGS), **pair("Domain", "vpc", None)},
    "AWS::EC2::NatGateway": {
        **plain(AllocationId=lambda world: world.addresses[1], Tags=TAGS),
        "SubnetId": Values(new=lambda world: {"SubnetId": world.other_subnet, "AllocationId": world.addresses[1]}),
        "ConnectivityType": Values(
            new=lambda world: {"ConnectivityType": "private", "AllocationId": None},
            old=lambda world: {"ConnectivityType": "public"},
        ),
    },
    "AWS::EC2::VPCEndpoint": {
        **plain(
            PolicyDocument={"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}]},
            PrivateDnsEnabled=True,
            SecurityGroupIds=lambda world: world.groups[1:],
            ServiceName="com.amazonaws.us-west-2.sts",
            SubnetIds=lambda world: [world.other_subnet],
            Tags=TAGS,
        ),
        "RouteTableIds": Values(
            new=lambda world: {"RouteTableIds": world.tables[1:]},
            old=lambda world: {
                "VpcEndpointType": "Gateway",
                "ServiceName": "com.amazonaws.us-west-2.s3",
                "RouteTableIds": world.tables[:1],
                "SubnetIds": None,
                "SecurityGroupIds": None,
            },
        ),
        "VpcEndpointType": Values(
            new=lambda world: {"VpcEndpointType": "Interface"},
            old=lambda world: {
                "VpcEndpointType": "Gateway",
                "ServiceName": "com.amazonaws.us-west-2.s3",
                "SubnetIds": None,
                "SecurityGroupIds": None,
            },
        ),
        "VpcId": Values(new=lambda world: {"VpcId": world.other_vpc, "SubnetIds": None, "SecurityGroupIds": None}),
    },
    "AWS::EC2::SecurityGroup": {
        **plain(GroupDescription="other", GroupName="another", Tags=TAGS, VpcId=lambda world: world.other_vpc),
        **plain(SecurityGroupEgress=[{"IpProtocol": "tcp", "FromPort": 1, "ToPort": 1, "CidrIp": "10.0.0.0/8"}]),
        **plain(SecurityGroupIngress=[{"IpProtocol": "tcp", "FromPort": 1, "ToPort": 1, "CidrIp": "10.0.0.0/8"}]),
    },
    "AWS::EC2::SecurityGroupIngress": {
        **_RULE,
        **_peer("SourcePrefixListId", "CidrIp", lambda world: world.lists),
        **_peer("SourceSecurityGroupId", "CidrIp", lambda world: world.groups),
        "SourceSecurityGroupOwnerId": Values(
            new=lambda world: {"SourceSecurityGroupId": world.groups[1], "SourceSecurityGroupOwnerId": "123456789012"},
            old=lambda world: {"SourceSecurityGroupId": world.groups[0], "CidrIp": None},
        ),
    },
    "AWS::EC2::SecurityGroupEgress": {
        **_RULE,
        **_peer("DestinationPrefixListId", "CidrIp", lambda world: world.lists),
        **_peer("DestinationSecurityGroupId", "CidrIp", lambda world: world.groups),
    },
    "AWS::EC2::FlowLog": {
        **plain(LogGroupName=lambda world: world.logs[1], ResourceId=lambda world: world.other_vpc, Tags=TAGS),
        **{
            name: Values(new=lambda world, name=name, value=value: {name: value(world), "LogGroupName": world.logs[1]})  # type: ignore[misc]
            for name, value in (
                ("DeliverLogsPermissionArn", lambda world: world.other_role),
                ("LogFormat", lambda world: "${version}"),
                ("MaxAggregationInterval", lambda world: 60),
                ("TrafficType", lambda world: "REJECT"),
            )
        },
        "ResourceType": Values(new=lambda world: {"ResourceType": "Subnet", "ResourceId": world.cloud.subnet}),
        "LogDestinationType": Values(
            new=lambda world: {
                "LogDestinationType": "s3",
                "LogDestination": f"arn:aws:s3:::{world.buckets[0]}",
                "LogGroupName": None,
                "DeliverLogsPermissionArn": None,
            },
        ),
        "LogDestination": Values(
            new=lambda world: {"LogDestination": f"arn:aws:s3:::{world.buckets[1]}"},
            old=lambda world: {
                "LogDestinationType": "s3",
                "LogDestination": f"arn:aws:s3:::{world.buckets[0]}",
                "LogGroupName": None,
                "DeliverLogsPermissionArn": None,
            },
        ),
    },
}

UNSERVED: dict[tuple[str, str], Callable[[World], Any]] = {
    ("AWS::FSx::FileSystem", "OntapConfiguration"): lambda world: {"DeploymentType": "SINGLE_AZ_1"},
    ("AWS::FSx::FileSystem", "WindowsConfiguration"): lambda world: {"ThroughputCapacity": 8},
}
"""Values of properties that the embedded AWS reads in order to refuse them."""
