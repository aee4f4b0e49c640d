"""Demands of caches, searches, warehouses, file systems and copies: each refuses one thing, and takes the nearest right one."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.facts.property_schemas import property_schema, request_limits
from hyperpod_constructs.templates.values import ABSENT, UNKNOWN
from tests.facts.demands import check_demand

CACHE, SEARCH, WAREHOUSE = "AWS::ElastiCache::ReplicationGroup", "AWS::OpenSearchService::Domain", "AWS::Redshift::Cluster"
MEMORY, QUERIES, JOB, TRIGGER = "AWS::MemoryDB::Cluster", "AWS::Athena::WorkGroup", "AWS::Glue::Job", "AWS::Glue::Trigger"
FILES, VOLUME, COPY, TARGET = (
    "AWS::FSx::FileSystem",
    "AWS::FSx::Volume",
    "AWS::DataSync::Task",
    "AWS::ApplicationAutoScaling::ScalableTarget",
)
DATABASE, TABLE, POLICY = "AWS::RDS::DBInstance", "AWS::DynamoDB::Table", "AWS::ApplicationAutoScaling::ScalingPolicy"
MADE: dict[str, Any] = {
    "DBInstanceClass": "db.m7g.large",
    "Engine": "mysql",
    "MasterUsername": "a",
    "ManageMasterUserPassword": True,
    "AllocatedStorage": "100",
}
UNITS = {"ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}
TARGETED = {"ScalingTargetId": "target"}
TEMPLATE, BUCKET, ROLE = "AWS::EC2::LaunchTemplate", "AWS::S3::Bucket", "arn:aws:iam::123456789012:role/one"
PYTHON = {"Handler": "index.handler", "Runtime": "python3.14"}
SECRET = "AWS::SecretsManager::Secret"
TLS = {"TransitEncryptionEnabled": True, "CacheSubnetGroupName": "cache"}
FAILING = {"AutomaticFailoverEnabled": True, "NumNodeGroups": 1}
ENCRYPTED = {
    "EncryptionAtRestOptions": {"Enabled": True},
    "NodeToNodeEncryptionOptions": {"Enabled": True},
    "DomainEndpointOptions": {"EnforceHTTPS": True},
    "AdvancedSecurityOptions": {"Enabled": True},
}
USER = {"MasterUserName": "admin", "MasterUserPassword": "{{resolve:ssm-secure:/search:1}}"}


def tracked(value: float) -> dict[str, Any]:
    metric = {"PredefinedMetricType": "DynamoDBReadCapacityUtilization"}
    configuration = {"TargetValue": value, "PredefinedMetricSpecification": metric}
    return {"PolicyType": "TargetTrackingScaling", "TargetTrackingScalingPolicyConfiguration": configuration, **TARGETED}


SERVERLESS = {"MemorySizeInMB": 2048, "MaxConcurrency": 5}


def stored(kind: str, key: str) -> dict[str, Any]:
    source = {"S3DataType": kind, "S3Uri": f"s3://models/{key}", "CompressionType": "None"}
    return {"PrimaryContainer": {"Image": "image", "ModelDataSource": {"S3DataSource": source}}}


def monitored(schedule: str) -> dict[str, Any]:
    config = {"MonitoringJobDefinitionName": "daily", "ScheduleConfig": {"ScheduleExpression": schedule}}
    return {"MonitoringScheduleConfig": config}


def shifted(**size: int) -> dict[str, Any]:
    sizes = {name: {"Type": "CAPACITY_PERCENT", "Value": value} for name, value in size.items()}
    routing: dict[str, Any] = {"Type": "CANARY" if "CanarySize" in size else "LINEAR", "WaitIntervalInSeconds": 300, **sizes}
    return routed(**routing)


def routed(**routing: Any) -> dict[str, Any]:
    return {"DeploymentConfig": {"BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": routing}}}


def managed(least: int, most: int) -> dict[str, Any]:
    scaling = {"Status": "ENABLED", "MinInstanceCount": least, "MaxInstanceCount": most}
    return {"ProductionVariants": ({"VariantName": "all", "ManagedInstanceScaling": scaling},)}


def hosted(instance: str) -> dict[str, Any]:
    return {"KmsKeyId": "key", "ProductionVariants": ({"VariantName": "all", "InstanceType": instance, "VolumeSizeInGB": 60},)}


def scaled(service: str) -> dict[str, Any]:
    return {"ServiceNamespace": service, "ResourceId": "x", "ScalableDimension": f"{service}:a:b"}


def exported(clients: str) -> dict[str, Any]:
    exports = ({"ClientConfigurations": ({"Clients": clients, "Options": ("rw",)},)},)
    return zfs(RootVolumeConfiguration={"NfsExports": exports})


def zfs(**more: Any) -> dict[str, Any]:
    configuration = {"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 320, **more}
    return {"FileSystemType": "OPENZFS", "StorageCapacity": 1024, "OpenZFSConfiguration": configuration}


def launched(**more: Any) -> dict[str, Any]:
    return {"LaunchTemplateData": {"BlockDeviceMappings": ({"DeviceName": "/dev/xvda", "Ebs": more},)}}


BALANCER, TARGETS = "AWS::ElasticLoadBalancingV2::LoadBalancer", "AWS::ElasticLoadBalancingV2::TargetGroup"


TEMPLATES = "AWS::ECR::RepositoryCreationTemplate"
KEYED = {"EncryptionType": "KMS"}


def created(**more: Any) -> dict[str, Any]:
    return {"Prefix": "docker-hub", "AppliedFor": ("PULL_THROUGH_CACHE",), **more}


CHART = "Custom::AWSCDK-EKS-HelmChart"
SWITCH = {"Key": "load_balancing.cross_zone.enabled", "Value": "yes"}


def idle(seconds: str) -> dict[str, Any]:
    return {"LoadBalancerAttributes": ({"Key": "idle_timeout.timeout_seconds", "Value": seconds},)}


def drained(seconds: str) -> dict[str, Any]:
    return {**targets("TCP"), "TargetGroupAttributes": ({"Key": "deregistration_delay.timeout_seconds", "Value": seconds},)}


def tainted(*effects: str) -> dict[str, Any]:
    return {"Taints": tuple({"Key": "pool", "Value": str(index), "Effect": effect} for index, effect in enumerate(effects))}


def exposed(block: str) -> dict[str, Any]:
    return {"ResourcesVpcConfig": {"SubnetIds": ("subnet-1",), "PublicAccessCidrs": (block,)}}


def pools(*names: str, role: str | None = None) -> dict[str, Any]:
    found = {"Enabled": True, "NodePools": names, "NodeRoleArn": role}
    return {"ComputeConfig": {key: value for key, value in found.items() if value is not None}}


def balancer(kind: str, key: str) -> dict[str, Any]:
    return {"Type": kind, "LoadBalancerAttributes": ({"Key": key, "Value": "true"},)}


def targets(protocol: str, *keys: str) -> dict[str, Any]:
    attributes = tuple({"Key": key, "Value": "true" if key.endswith("enabled") else "60"} for key in keys)
    return {"Protocol": protocol, "Port": 80, "VpcId": "vpc-1", "TargetType": "ip", "TargetGroupAttributes": attributes}


def copied(**more: Any) -> dict[str, Any]:
    rules = ({"Status": "Enabled", "Priority": 1, **more},)
    return {"VersioningConfiguration": {"Status": "Enabled"}, "ReplicationConfiguration": {"Role": ROLE, "Rules": rules}}


def generated(**more: bool) -> dict[str, Any]:
    return {"GenerateSecretString": {"ExcludeLowercase": True, "ExcludeUppercase": True, "ExcludeNumbers": True, **more}}


def zones(subnets: int, **config: Any) -> dict[str, Any]:
    ids = tuple(f"subnet-0123456789abcdef{index}" for index in range(subnets))
    return {"ClusterConfig": config, "VPCOptions": {"SubnetIds": ids}}


def security(**options: Any) -> dict[str, Any]:
    return {**ENCRYPTED, "AdvancedSecurityOptions": {"Enabled": True, **options}}


def results(**encryption: Any) -> dict[str, Any]:
    return {"WorkGroupConfiguration": {"ResultConfiguration": {"EncryptionConfiguration": encryption}}}


def ontap(kind: str, **settings: Any) -> dict[str, Any]:
    return {"OntapConfiguration": {"DeploymentType": kind, **settings}}


def volume(**settings: Any) -> dict[str, Any]:
    whole = {"StorageEfficiencyEnabled": "true", "SizeInBytes": "1099511627776", "JunctionPath": "/data", **settings}
    return {"OntapConfiguration": {key: value for key, value in whole.items() if value is not None}}


UPLOAD = "Custom::CDKBucketDeployment"


def upload(archives: int, buckets: int, **more: Any) -> dict[str, Any]:
    lists = {"SourceBucketNames": ("assets",) * buckets, "SourceObjectKeys": ("a.zip",) * archives}
    return {"ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:a", "DestinationBucketName": "b", **lists, **more}


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        (UPLOAD, upload(2, 1), upload(2, 2)),
        (UPLOAD, upload(1, 2), upload(1, 1)),
        (UPLOAD, upload(2, 2, SourceMarkers=({},)), upload(2, 2, SourceMarkers=({}, {}))),
        (UPLOAD, {**upload(1, 1), "DestinationBucketName": ABSENT}, {**upload(1, 1), "SourceObjectKeys": UNKNOWN}),
        (UPLOAD, upload(3, 2), upload(2, 1, SourceBucketNames=("assets", UNKNOWN))),
        (CACHE, {**FAILING, "ReplicasPerNodeGroup": 0}, {**FAILING, "ReplicasPerNodeGroup": 1}),
        (CACHE, {"AutomaticFailoverEnabled": True, "NumCacheClusters": 1}, {"NumCacheClusters": 1}),
        (CACHE, {"MultiAZEnabled": True}, {"MultiAZEnabled": True, "AutomaticFailoverEnabled": True}),
        (CACHE, {"NumNodeGroups": 3}, {"NumNodeGroups": 3, "AutomaticFailoverEnabled": True}),
        (
            CACHE,
            {"AuthToken": "a-long-auth-token"},
            {"AuthToken": "a-long-auth-token", "TransitEncryptionEnabled": True, "CacheSubnetGroupName": "data"},
        ),
        (CACHE, {"AtRestEncryptionEnabled": False, "KmsKeyId": "alias/data"}, {"KmsKeyId": "alias/data"}),
        (CACHE, {"Engine": "memcached"}, {"Engine": "Valkey"}),
        (CACHE, {"NumCacheClusters": 2, "ReplicasPerNodeGroup": 1}, {"NumCacheClusters": 2}),
        (CACHE, {"CacheNodeType": "cache.r6gd.xlarge"}, {"CacheNodeType": "cache.r6gd.xlarge", "DataTieringEnabled": True}),
        ("AWS::ElastiCache::ServerlessCache", {"MajorEngineVersion": "8.0"}, {"MajorEngineVersion": "8"}),
        (MEMORY, {"NumReplicasPerShard": 6}, {"NumReplicasPerShard": 5}),
        ("AWS::MemoryDB::User", {"AuthenticationMode": {"Type": "password"}}, {"AuthenticationMode": {"Type": "iam"}}),
        (SEARCH, {"DomainName": "Search"}, {"DomainName": "search"}),
        (SEARCH, {"EngineVersion": "2.17"}, {"EngineVersion": "OpenSearch_2.17"}),
        (SEARCH, {"ClusterConfig": {"DedicatedMasterCount": 4}}, {"ClusterConfig": {"DedicatedMasterCount": 5}}),
        (SEARCH, zones(1, ZoneAwarenessEnabled=True), zones(2, ZoneAwarenessEnabled=True)),
        (SEARCH, zones(2, ZoneAwarenessEnabled=False), zones(1, ZoneAwarenessEnabled=False)),
        (
            SEARCH,
            zones(3, ZoneAwarenessEnabled=True, ZoneAwarenessConfig={"AvailabilityZoneCount": 2}),
            zones(3, ZoneAwarenessEnabled=True, ZoneAwarenessConfig={"AvailabilityZoneCount": 3}),
        ),
        (SEARCH, {"EBSOptions": {"VolumeType": "gp2", "Iops": 3000}}, {"EBSOptions": {"VolumeType": "gp3", "Iops": 3000}}),
        (SEARCH, {**ENCRYPTED, "NodeToNodeEncryptionOptions": {"Enabled": False}}, ENCRYPTED),
        (SEARCH, security(InternalUserDatabaseEnabled=True), security(InternalUserDatabaseEnabled=True, MasterUserOptions=USER)),
        (SEARCH, security(InternalUserDatabaseEnabled=False, MasterUserOptions=USER), security(InternalUserDatabaseEnabled=False)),
        (WAREHOUSE, {"ClusterType": "multi-node", "NumberOfNodes": 1}, {"ClusterType": "multi-node", "NumberOfNodes": 2}),
        (WAREHOUSE, {"ClusterType": "single-node", "NumberOfNodes": 2}, {"ClusterType": "single-node"}),
        (WAREHOUSE, {"DBName": "Lake"}, {"DBName": "lake"}),
        (WAREHOUSE, {"ManageMasterPassword": True, "MasterUserPassword": "a"}, {"ManageMasterPassword": True}),
        (WAREHOUSE, {"NodeType": "ra3.large", "Port": 5430}, {"NodeType": "ra3.large", "Port": 8200}),
        ("AWS::RedshiftServerless::Workgroup", {"BaseCapacity": 32, "MaxCapacity": 16}, {"BaseCapacity": 32, "MaxCapacity": 32}),
        ("AWS::RedshiftServerless::Workgroup", {"SubnetIds": ("a", "b")}, {"SubnetIds": ("a", "b", "c")}),
        (QUERIES, results(EncryptionOption="SSE_KMS"), results(EncryptionOption="SSE_KMS", KmsKey="alias/data")),
        (QUERIES, results(EncryptionOption="SSE_S3", KmsKey="alias/data"), results(EncryptionOption="SSE_S3")),
        (JOB, {"WorkerType": "G.1X", "NumberOfWorkers": 2, "MaxCapacity": 2}, {"MaxCapacity": 2}),
        (JOB, {"WorkerType": "G.1X"}, {"WorkerType": "G.1X", "NumberOfWorkers": 2}),
        (TRIGGER, {"Type": "SCHEDULED"}, {"Type": "SCHEDULED", "Schedule": "cron(0 4 * * ? *)"}),
        (TRIGGER, {"Type": "ON_DEMAND", "StartOnCreation": True}, {"Type": "ON_DEMAND"}),
        ("AWS::KMS::Alias", {"TargetKeyId": "alias/other"}, {"TargetKeyId": "0f1d2c3b-4a59-4687-8796-a5b4c3d2e1f0"}),
        (
            COPY,
            {"Options": {"TransferMode": "ALL", "PreserveDeletedFiles": "REMOVE"}},
            {"Options": {"TransferMode": "CHANGED", "PreserveDeletedFiles": "REMOVE"}},
        ),
        (
            "AWS::ECR::RegistryScanningConfiguration",
            {"ScanType": "BASIC", "Rules": ({"ScanFrequency": "CONTINUOUS_SCAN"},)},
            {"ScanType": "ENHANCED", "Rules": ({"ScanFrequency": "CONTINUOUS_SCAN"},)},
        ),
        (
            "AWS::RDS::DBProxyTargetGroup",
            {"ConnectionPoolConfigurationInfo": {"MaxConnectionsPercent": 50, "MaxIdleConnectionsPercent": 60}},
            {"ConnectionPoolConfigurationInfo": {"MaxConnectionsPercent": 60, "MaxIdleConnectionsPercent": 50}},
        ),
        (
            "AWS::EFS::FileSystem",
            {"ThroughputMode": "bursting", "LifecyclePolicies": ({"TransitionToArchive": "AFTER_90_DAYS"},)},
            {"ThroughputMode": "elastic", "LifecyclePolicies": ({"TransitionToArchive": "AFTER_90_DAYS"},)},
        ),
        (FILES, ontap("SINGLE_AZ_1", ThroughputCapacity=320), ontap("SINGLE_AZ_1", ThroughputCapacity=256)),
        (FILES, ontap("SINGLE_AZ_1", HAPairs=2), ontap("SINGLE_AZ_2", HAPairs=2)),
        (FILES, ontap("MULTI_AZ_2"), ontap("MULTI_AZ_2", PreferredSubnetId="subnet-0123456789abcdef0")),
        (FILES, {"FileSystemType": "WINDOWS"}, {"FileSystemType": "WINDOWS", "WindowsConfiguration": {"ThroughputCapacity": 32}}),
        (VOLUME, volume(JunctionPath="data"), volume()),
        (VOLUME, volume(SizeInMegabytes="1024"), volume(SizeInMegabytes="1024", SizeInBytes=None)),
        (VOLUME, volume(TieringPolicy={"Name": "NONE", "CoolingPeriod": 31}), volume(TieringPolicy={"Name": "NONE"})),
        (VOLUME, {"VolumeType": "ONTAP", "Name": "vol-1"}, {"VolumeType": "ONTAP", "Name": "vol_1"}),
        (
            TARGET,
            {"ServiceNamespace": "dynamodb", "ScalableDimension": "rds:cluster:ReadReplicaCount"},
            {"ServiceNamespace": "rds", "ScalableDimension": "rds:cluster:ReadReplicaCount"},
        ),
        (
            TARGET,
            {"ScalableDimension": "rds:cluster:ReadReplicaCount", "MaxCapacity": 16},
            {"ScalableDimension": "rds:cluster:ReadReplicaCount", "MaxCapacity": 15},
        ),
        (
            "AWS::S3::Bucket",
            {"ObjectLockEnabled": False, "ObjectLockConfiguration": {"ObjectLockEnabled": "Enabled"}},
            {"ObjectLockEnabled": True, "ObjectLockConfiguration": {"ObjectLockEnabled": "Enabled"}},
        ),
        (
            FILES,
            {"LustreConfiguration": {"MetadataConfiguration": {"Mode": "USER_PROVISIONED"}}},
            {"LustreConfiguration": {"MetadataConfiguration": {"Mode": "AUTOMATIC"}}},
        ),
        (DATABASE, {**MADE, "LicenseModel": "bring-your-own-license"}, {**MADE, "LicenseModel": "general-public-license"}),
        (DATABASE, {**MADE, "Timezone": "UTC"}, {**MADE, "CharacterSetName": "utf8"}),
        (
            DATABASE,
            {**MADE, "StorageType": "io1", "AllocatedStorage": "100", "Iops": 6000},
            {**MADE, "StorageType": "io1", "AllocatedStorage": "100", "Iops": 5000},
        ),
        (TABLE, {**UNITS, "GlobalSecondaryIndexes": ({},)}, {**UNITS, "GlobalSecondaryIndexes": (UNITS,)}),
        (POLICY, {"PolicyType": "TargetTrackingScaling"} | TARGETED, tracked(70)),
        (POLICY, tracked(95), tracked(90)),
        (
            POLICY,
            {"PolicyType": "StepScaling", "StepScalingPolicyConfiguration": {}, **scaled("dynamodb")},
            {"PolicyType": "StepScaling", "StepScalingPolicyConfiguration": {}, **scaled("ecs")},
        ),
        (
            "AWS::Glue::Crawler",
            {
                "RecrawlPolicy": {"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"},
                "SchemaChangePolicy": {"UpdateBehavior": "UPDATE_IN_DATABASE"},
            },
            {"RecrawlPolicy": {"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"}, "SchemaChangePolicy": {"UpdateBehavior": "LOG"}},
        ),
        (
            "AWS::LakeFormation::PrincipalPermissions",
            {"Principal": {"DataLakePrincipalIdentifier": "glue.amazonaws.com"}},
            {"Principal": {"DataLakePrincipalIdentifier": "IAM_ALLOWED_PRINCIPALS"}},
        ),
        (FILES, exported("10.0.0.0/16 10.1.0.0/16"), exported("10.0.0.0/16")),
        (FILES, exported("nodes.local"), exported("*")),
        ("AWS::RDS::EventSubscription", {"SourceType": "db-instances"}, {"SourceType": "db-instance"}),
        ("AWS::RDS::EventSubscription", {"SourceIds": ("books",)}, {"SourceIds": ("books",), "SourceType": "db-instance"}),
        ("AWS::RDS::DBSubnetGroup", {"DBSubnetGroupName": "Default"}, {"DBSubnetGroupName": "defaults"}),
        (SECRET, generated(ExcludePunctuation=True), generated()),
        (SECRET, {"ReplicaRegions": ({"Region": "us-east-2"},) * 2}, {"ReplicaRegions": ({"Region": "us-east-2"},)}),
        (
            "AWS::SecretsManager::RotationSchedule",
            {"HostedRotationLambda": {"RotationType": "MySQLMultiUser"}},
            {"HostedRotationLambda": {"RotationType": "MySQLSingleUser"}},
        ),
        (
            "AWS::Backup::BackupVault",
            {"Notifications": {"BackupVaultEvents": ("BACKUP_JOB_FAILURE",)}},
            {"Notifications": {"BackupVaultEvents": ("ACCESS_POINT_EXPIRED", "EKS_RESTORE_MODIFICATION_FAILED")}},
        ),
        (
            "AWS::ElastiCache::ServerlessCache",
            {"CacheUsageLimits": {"DataStorage": {"Minimum": 9, "Maximum": 5}}},
            {"CacheUsageLimits": {"DataStorage": {"Minimum": 5, "Maximum": 9}}},
        ),
        (CACHE, {**TLS, "AuthToken": "short"}, {**TLS, "AuthToken": "a-long-auth-token"}),
        (SEARCH, {"LogPublishingOptions": {"ERROR_LOGS": {}}}, {"LogPublishingOptions": {"AUDIT_LOGS": {}}}),
        (
            SEARCH,
            {"DomainEndpointOptions": {"CustomEndpointEnabled": True}},
            {"DomainEndpointOptions": {"CustomEndpointEnabled": False}},
        ),
        (WAREHOUSE, {"IamRoles": ("lake",)}, {"IamRoles": ("arn:aws:iam::123456789012:role/lake",)}),
        ("AWS::Backup::BackupSelection", {"BackupSelection": {}}, {"BackupSelection": {"Resources": ("*",)}}),
        (FILES, zfs(RootVolumeConfiguration={"UserAndGroupQuotas": ({"Type": "USER", "Id": 0},)}), zfs()),
        (FILES, zfs(ThroughputCapacity=None), zfs()),
        (FILES, {"FileSystemType": "OPENZFS", "StorageCapacity": 64}, zfs()),
        (FILES, {"FileSystemType": "LUSTRE", "StorageType": "SSD"}, {"FileSystemType": "LUSTRE", "BackupId": "backup-1"}),
        (DATABASE, {**MADE, "DBInstanceClass": None}, {"DBSnapshotIdentifier": "last"}),
        (DATABASE, {**MADE, "MonitoringRoleArn": ROLE}, {**MADE, "MonitoringRoleArn": ROLE, "MonitoringInterval": 60}),
        ("AWS::RDS::DBCluster", {"MasterUsername": "a", "ManageMasterUserPassword": True}, {"SnapshotIdentifier": "last"}),
        ("AWS::Lambda::Function", {**PYTHON, "Code": {}}, {**PYTHON, "Code": {"ZipFile": "..."}}),
        ("AWS::Lambda::EventSourceMapping", {"FunctionName": "f"}, {"FunctionName": "f", "EventSourceArn": ROLE}),
        ("AWS::IAM::OIDCProvider", {"ClientIdList": ("sts.amazonaws.com",)}, {"Url": "https://example.com"}),
        ("AWS::IAM::RolePolicy", {}, {"PolicyDocument": {}}),
        ("AWS::SageMaker::Endpoint", shifted(CanarySize=60), shifted(CanarySize=50)),
        ("AWS::SageMaker::Endpoint", shifted(LinearStepSize=5), shifted(LinearStepSize=10)),
        (
            "AWS::SageMaker::Endpoint",
            routed(Type="CANARY", WaitIntervalInSeconds=60),
            routed(Type="ALL_AT_ONCE", WaitIntervalInSeconds=60),
        ),
        (
            "AWS::SageMaker::Endpoint",
            routed(Type="LINEAR", WaitIntervalInSeconds=60),
            shifted(LinearStepSize=10),
        ),
        (
            "AWS::SageMaker::Endpoint",
            {"DeploymentConfig": {"BlueGreenUpdatePolicy": {}, "RollingUpdatePolicy": {}}},
            {"DeploymentConfig": {"RollingUpdatePolicy": {}}},
        ),
        (
            "AWS::SageMaker::UserProfile",
            {"UserSettings": {"JupyterServerAppSettings": {"LifecycleConfigArns": ["arn:a"]}}},
            {"UserSettings": {"JupyterServerAppSettings": {"LifecycleConfigArns": ["arn:a"], "DefaultResourceSpec": {}}}},
        ),
        (
            "AWS::SageMaker::EndpointConfig",
            {"ProductionVariants": ({"VariantName": "a", "ServerlessConfig": SERVERLESS},), "DataCaptureConfig": {}},
            {"ProductionVariants": ({"VariantName": "a", "ServerlessConfig": SERVERLESS},)},
        ),
        (
            "AWS::SageMaker::EndpointConfig",
            {
                "ProductionVariants": ({"VariantName": "a"}, {"VariantName": "b"}),
                "ShadowProductionVariants": ({"VariantName": "c"},),
            },
            {"ProductionVariants": ({"VariantName": "a"},), "ShadowProductionVariants": ({"VariantName": "c"},)},
        ),
        (
            "AWS::EC2::Route",
            {"RouteTableId": "rtb-1", "DestinationPrefixListId": "sg-1", "NatGatewayId": "nat-1"},
            {"RouteTableId": "rtb-1", "DestinationPrefixListId": "pl-1", "NatGatewayId": "nat-1"},
        ),
        (
            "AWS::SageMaker::FeatureGroup",
            {"FeatureDefinitions": ({"FeatureName": "a"}, {"FeatureName": "a"}), "OnlineStoreConfig": {}},
            {"FeatureDefinitions": ({"FeatureName": "a"}, {"FeatureName": "b"}), "OnlineStoreConfig": {}},
        ),
        ("AWS::SageMaker::FeatureGroup", {}, {"OfflineStoreConfig": {}, "RoleArn": "arn:a"}),
        (
            "AWS::SageMaker::FeatureGroup",
            {"OnlineStoreConfig": {"EnableOnlineStore": False}},
            {"OnlineStoreConfig": {"EnableOnlineStore": True}},
        ),
        ("AWS::SageMaker::Model", stored("S3Prefix", "llm"), stored("S3Prefix", "llm/")),
        ("AWS::SageMaker::Model", stored("S3Object", "llm/"), stored("S3Object", "llm.bin")),
        (
            "AWS::SageMaker::Model",
            {"PrimaryContainer": {"Image": "image", "ModelDataUrl": "s3://a/b/"}},
            {"PrimaryContainer": {"Image": "image", "ModelDataUrl": "s3://a/b.tar.gz"}},
        ),
        ("AWS::SageMaker::MonitoringSchedule", monitored("cron(*/5 * ? * * *)"), monitored("cron(0 17/12 ? * * *)")),
        ("AWS::SageMaker::MonitoringSchedule", monitored("rate(1 hour)"), monitored("cron(0 * ? * * *)")),
        (
            "AWS::SageMaker::ModelPackage",
            {"ModelPackageGroupName": "llms", "ModelPackageName": "llm"},
            {"ModelPackageGroupName": "llms"},
        ),
        (
            "AWS::SageMaker::UserProfile",
            {"UserSettings": {"DefaultLandingUri": "studio"}},
            {"UserSettings": {"DefaultLandingUri": "app:JupyterServer:"}},
        ),
        (
            "AWS::SageMaker::Space",
            {"SpaceSettings": {"AppType": "JupyterLab", "CodeEditorAppSettings": {}}},
            {"SpaceSettings": {"AppType": "JupyterLab", "JupyterLabAppSettings": {}}},
        ),
        (
            "AWS::EC2::VPCEndpoint",
            {"VpcEndpointType": "Gateway", "ServiceName": "com.amazonaws.us-west-2.s3"},
            {"VpcEndpointType": "Gateway", "ServiceName": "com.amazonaws.us-west-2.s3", "RouteTableIds": ["rtb-1"]},
        ),
        ("AWS::SageMaker::EndpointConfig", managed(6, 4), managed(1, 4)),
        ("AWS::SageMaker::EndpointConfig", hosted("ml.g5.xlarge"), hosted("ml.m5.xlarge")),
        (
            "AWS::SageMaker::EndpointConfig",
            {"ProductionVariants": ({"VariantName": "all"}, {"VariantName": "all"})},
            {"ProductionVariants": ({"VariantName": "all"}, {"VariantName": "new"})},
        ),
        ("AWS::SageMaker::Domain", {"VpcId": "vpc-1"}, {"DomainSettings": {"UnifiedStudioSettings": {}}}),
        (TEMPLATE, launched(KmsKeyId="key"), launched(KmsKeyId="key", Encrypted=True)),
        (TEMPLATE, launched(VolumeSize=0), launched(VolumeSize=100)),
        (DATABASE, {**MADE, "MaxAllocatedStorage": 70000}, {**MADE, "MaxAllocatedStorage": 65536}),
        (TEMPLATE, launched(Throughput=250), launched(Throughput=250, VolumeType="gp3")),
        (BUCKET, {"LifecycleConfiguration": {"Rules": ({},)}}, {"LifecycleConfiguration": {"Rules": ({"ExpirationInDays": 3},)}}),
        (BUCKET, copied(Filter={"Prefix": "a"}), copied(Filter={"Prefix": "a"}, DeleteMarkerReplication={"Status": "Enabled"})),
        (BUCKET, copied(DeleteMarkerReplication={"Status": "Enabled"}), copied()),
        ("AWS::SNS::TopicPolicy", {"Topics": ()}, {"Topics": ("topic",)}),
        ("AWS::SQS::QueuePolicy", {"Queues": ()}, {"Queues": ("queue",)}),
        ("AWS::EKS::FargateProfile", {"Selectors": ()}, {"Selectors": ({"Namespace": "tools"},)}),
        ("AWS::EKS::Cluster", pools("general", role="arn:aws:iam::1:role/a"), pools("system", role="arn:aws:iam::1:role/a")),
        ("AWS::EKS::Cluster", pools("system"), pools()),
        ("AWS::EKS::Nodegroup", {"AmiType": "CUSTOM"}, {"AmiType": "CUSTOM", "LaunchTemplate": {"Id": "lt-1"}}),
        (BALANCER, balancer("network", "waf.fail_open.enabled"), balancer("network", "dns_record.client_routing_policy")),
        (
            BALANCER,
            balancer("application", "secondary_ips.auto_assigned.per_subnet"),
            balancer("application", "routing.http2.enabled"),
        ),
        (TARGETS, targets("TCP", "slow_start.duration_seconds"), targets("TCP", "preserve_client_ip.enabled")),
        (TARGETS, targets("HTTP", "proxy_protocol_v2.enabled"), targets("HTTP", "stickiness.lb_cookie.duration_seconds")),
        (
            TARGETS,
            {**targets("TCP"), "HealthCheckTimeoutSeconds": 45},
            {**targets("TCP"), "HealthCheckTimeoutSeconds": 45, "HealthCheckIntervalSeconds": 60},
        ),
        (CHART, {"ServiceToken": "a", "Timeout": "1800s"}, {"ServiceToken": "a", "Timeout": "900s"}),
        (BALANCER, {"LoadBalancerAttributes": (SWITCH,)}, {"LoadBalancerAttributes": ({**SWITCH, "Value": "true"},)}),
        (BALANCER, idle("5000"), idle("4000")),
        (TARGETS, drained("7200"), drained("3600")),
        (TARGETS, {**targets("TCP"), "HealthCheckPort": "traffic"}, {**targets("TCP"), "HealthCheckPort": "traffic-port"}),
        ("AWS::EKS::Nodegroup", tainted("NO_SCHEDULE", "NO_SCHEDULE"), tainted("NO_SCHEDULE", "NO_EXECUTE")),
        (TEMPLATES, created(EncryptionConfiguration=KEYED), created(EncryptionConfiguration=KEYED, CustomRoleArn="arn:a")),
        (TEMPLATES, created(ResourceTags=({"Key": "a", "Value": "b"},)), created(ResourceTags=())),
        ("AWS::EKS::Cluster", exposed("203.0.113.0"), exposed("203.0.113.0/24")),
        ("AWS::Grafana::Workspace", {"GrafanaVersion": "11.2"}, {"GrafanaVersion": "12.4"}),
    ],
)
def test_a_demand_refuses_one_thing_and_takes_the_nearest_right_one(
    kind: str, wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    check_demand(kind, wrong, right)


@pytest.mark.parametrize(
    ("kind", "path", "wrong", "right"),
    [
        (CACHE, "CacheNodeType", "db.r7g.large", "cache.r7g.large"),
        (CACHE, "CacheNodeType", "cache.r7g.huge", "cache.r99.huge"),
        (WAREHOUSE, "NodeType", "ra3.medium", "ra3.xlplus"),
        (SEARCH, "ClusterConfig/InstanceType", "r6g.large", "r6g.large.search"),
    ],
)
def test_a_class_is_of_the_service_and_a_new_family_is_believed(kind: str, path: str, wrong: str, right: str) -> None:
    schema = property_schema(kind)
    assert schema is not None
    outer, _, inner = path.partition("/")

    def found(value: str) -> list[str]:
        whole = {outer: {inner: value} if inner else value}
        return [one.message for one in violations({"extensions": schema["extensions"]}, whole)]

    assert len(found(wrong)) == 1
    assert found(right) == []


@pytest.mark.parametrize("kind", ["AWS::ElastiCache::User", "AWS::MemoryDB::User"])
def test_a_pattern_of_one_character_means_anywhere_in_the_text(kind: str) -> None:
    schema = property_schema(kind)
    assert schema is not None
    assert [one.path for one in violations(schema, {"AccessString": "on ~* +@all"}) if one.path == ("AccessString",)] == []
    assert [one.path for one in violations(schema, {"AccessString": "  "}) if one.path == ("AccessString",)] == [("AccessString",)]


def test_a_key_stands_beside_instances_with_local_disks() -> None:
    schema = request_limits("AWS::SageMaker::EndpointConfig")
    assert schema is not None
    config: dict[str, Any] = {
        "KmsKeyId": "key",
        "ProductionVariants": ({"VariantName": "all", "InstanceType": "ml.g5.xlarge"},),
    }
    assert list(violations(schema, config)) == []
