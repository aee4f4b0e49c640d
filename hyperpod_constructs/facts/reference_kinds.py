"""What a property takes, by its name, and which references give it: ids, names and ARNs of types of resources (as of 2026-11-24).

Names of properties mean the same in all types of this library; `OF_TYPE` has the exceptions.

Source: the pages of the types, such as
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-natgateway.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache


@dataclass(frozen=True, slots=True)
class ReferenceKind:
    """What a reference gives.

    :param words: in words.
    :param sources: the attributes that give it, by type of resource; `None` is `Ref`.
    """

    words: str
    sources: Mapping[str, frozenset[str | None]] = field(default_factory=dict)

    @property
    def is_arn(self) -> bool | None:
        """Whether it is an ARN (true) or never one (false), by its words; `None` for a thing that has several names."""
        return True if self.words.startswith("the ARN of") else False if self.words.startswith("the ") else None


def _kind(words: str, **sources: tuple[str | None, ...]) -> ReferenceKind:
    return ReferenceKind(words, {f"AWS::{name.replace('_', '::')}": frozenset(found) for name, found in sources.items()})


_VPC = _kind("the id of a VPC", EC2_VPC=(None, "VpcId"))
_SUBNET = _kind("the id of a subnet", EC2_Subnet=(None, "SubnetId"))
_GROUP = _kind(
    "the id of a security group",
    EC2_SecurityGroup=(None, "GroupId", "Id"),
    EC2_VPC=("DefaultSecurityGroup",),
    EKS_Cluster=("ClusterSecurityGroupId",),
)
_TABLE = _kind("the id of a route table", EC2_RouteTable=(None, "RouteTableId"), EC2_NatGateway=("RouteTableId",))
_ROLE = _kind("the ARN of a role", IAM_Role=("Arn",))
_KEY = _kind(
    "a key", KMS_Key=(None, "Arn", "KeyId"), KMS_Alias=(None, "AliasName", "AliasArn"), KMS_ReplicaKey=(None, "Arn", "KeyId")
)
_EKS = _kind("the name of an EKS cluster", EKS_Cluster=(None,))
_FUNCTION = _kind(
    "a function",
    Lambda_Function=(None, "Arn"),
    Lambda_Alias=(None, "AliasArn"),
    Lambda_Version=(None, "FunctionArn"),
)
"""By its name, a part of its ARN or all of it, in `TargetFunctionArn` too.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-url.html and
https://docs.aws.amazon.com/lambda/latest/api/API_AddPermission.html (as of 2026-11-28)
"""
_SUBSCRIBER = _kind(
    "the ARN of a function, a stream or a destination of logs",
    Kinesis_Stream=("Arn",),
    KinesisFirehose_DeliveryStream=("Arn",),
    Lambda_Alias=(None, "AliasArn"),
    Lambda_Function=("Arn",),
    Lambda_Version=(None, "FunctionArn"),
    Logs_Destination=("Arn",),
)
_POLICY = _kind("the ARN of a managed policy", IAM_ManagedPolicy=(None, "PolicyArn"))
_SYSTEM = _kind("the id of an FSx file system", FSx_FileSystem=(None, "Id"))
_BUCKET = _kind("the name of a bucket", S3_Bucket=(None,))
_PREFIXES = _kind("the id of a prefix list", EC2_PrefixList=(None, "PrefixListId"))
_KEY_PAIR = _kind("the name of a pair of keys", EC2_KeyPair=(None,))
_DOMAIN = _kind("the id of a domain", SageMaker_Domain=(None, "DomainId"))
_MODEL = _kind("the name of a model", SageMaker_Model=("ModelName",))
_ENDPOINT = _kind("the name of an endpoint", SageMaker_Endpoint=("EndpointName",))
_MONITORS = ("DataQuality", "ModelBias", "ModelExplainability", "ModelQuality")
_REPOSITORY = _kind("the name of a repository", SageMaker_CodeRepository=("CodeRepositoryName",))
_ROLE_NAME = _kind("the name of a role", IAM_Role=(None,))
_SECRET = _kind("a secret", SecretsManager_Secret=(None, "Id"), SecretsManager_SecretTargetAttachment=(None, "Id"))
_LOGS = _kind("the name of a log group", Logs_LogGroup=(None,))
_HYPERPOD = _kind("the ARN of a HyperPod cluster", SageMaker_Cluster=(None, "ClusterArn"))
_TEMPLATE = _kind("the id of a launch template", EC2_LaunchTemplate=(None, "LaunchTemplateId"))
_VERSION = _kind(
    "a version of a launch template", EC2_LaunchTemplate=("DefaultVersionNumber", "LatestVersionNumber"), SSM_Parameter=("Value",)
)
_TEMPLATE_NAME = _kind("the name of a launch template as LaunchTemplateName says it, which no reference gives")

BY_NAME: Mapping[str, ReferenceKind] = {
    "AllocationId": _kind("the allocation id of an address", EC2_EIP=("AllocationId",)),
    "DBSubnetGroupName": _kind("the name of a subnet group", RDS_DBSubnetGroup=(None,)),
    "DestinationPrefixListId": _PREFIXES,
    "DestinationSecurityGroupId": _GROUP,
    "EgressOnlyInternetGatewayId": _kind("the id of an egress-only gateway", EC2_EgressOnlyInternetGateway=(None, "Id")),
    "ExecutionRole": _ROLE,
    "ExecutionRoleArn": _ROLE,
    "InternetGatewayId": _kind("the id of an internet gateway", EC2_InternetGateway=(None, "InternetGatewayId")),
    "KmsKeyId": _KEY,
    "LaunchTemplateId": _TEMPLATE,
    "LaunchTemplateName": _TEMPLATE_NAME,
    "ManagedPolicyArns": _POLICY,
    "NatGatewayId": _kind("the id of a NAT gateway", EC2_NatGateway=(None, "NatGatewayId")),
    "NetworkAclId": _kind("the id of a network ACL", EC2_NetworkAcl=(None, "Id"), EC2_VPC=("DefaultNetworkAcl",)),
    "PeerVpcId": _VPC,
    "PermissionsBoundary": _POLICY,
    "RoleArn": _ROLE,
    "RouteTableId": _TABLE,
    "RouteTableIds": _TABLE,
    "SecurityGroupIds": _GROUP,
    "SourcePrefixListId": _PREFIXES,
    "SourceSecurityGroupId": _GROUP,
    "SubnetId": _SUBNET,
    "SubnetIds": _SUBNET,
    "Subnets": _SUBNET,
    "TransitGatewayAttachmentId": _kind(
        "the id of an attachment to a transit gateway",
        EC2_TransitGatewayAttachment=(None, "Id"),
        EC2_TransitGatewayVpcAttachment=(None, "Id"),
        EC2_TransitGatewayConnect=(None, "TransitGatewayAttachmentId"),
        EC2_TransitGatewayPeeringAttachment=(None, "TransitGatewayAttachmentId"),
        EC2_VPNConcentrator=("TransitGatewayAttachmentId",),
        NetworkFirewall_Firewall=("TransitGatewayAttachmentId",),
    ),
    "TransitGatewayId": _kind("the id of a transit gateway", EC2_TransitGateway=(None, "Id")),
    "VpcId": _VPC,
    "VpcPeeringConnectionId": _kind("the id of a peering", EC2_VPCPeeringConnection=(None, "Id")),
}

_CACHE = {
    "CacheParameterGroupName": _kind("the name of a parameter group", ElastiCache_ParameterGroup=(None, "CacheParameterGroupName")),
    "CacheSubnetGroupName": _kind("the name of a subnet group", ElastiCache_SubnetGroup=(None, "CacheSubnetGroupName")),
}

_SOURCES_OF_DOCUMENTS = _kind("the identifier of a source of events", DocDB_DBCluster=(None,), DocDB_DBInstance=(None,))
_FILES = {
    "FileSystemId": _kind("the id of a file system", EFS_FileSystem=(None, "FileSystemId"), FSx_FileSystem=(None, "Id")),
}
OF_TYPE: Mapping[str, Mapping[str, ReferenceKind]] = {
    "AWS::EC2::Route": {
        "GatewayId": _kind(
            "the id of an internet gateway or a VPN gateway",
            EC2_InternetGateway=(None, "InternetGatewayId"),
            EC2_VPNGateway=(None, "VPNGatewayId"),
            EC2_CarrierGateway=(None, "CarrierGatewayId"),
        ),
    },
    "AWS::AutoScaling::AutoScalingGroup": {"Version": _VERSION},
    "AWS::Backup::BackupPlan": {
        "TargetBackupVault": _kind("the name of a vault", Backup_BackupVault=(None, "BackupVaultName")),
    },
    "AWS::Backup::BackupSelection": {
        "BackupPlanId": _kind("the id of a plan", Backup_BackupPlan=(None, "BackupPlanId")),
    },
    "AWS::APS::RuleGroupsNamespace": {"Workspace": _kind("the ARN of a workspace", APS_Workspace=(None, "Arn"))},
    "AWS::Batch::ComputeEnvironment": {"InstanceRole": _kind("an instance profile", IAM_InstanceProfile=(None, "Arn"))},
    "AWS::Batch::JobQueue": {
        "ComputeEnvironment": _kind("a compute environment", Batch_ComputeEnvironment=(None, "ComputeEnvironmentArn"))
    },
    "AWS::CE::AnomalySubscription": {"MonitorArnList": _kind("the ARN of a monitor", CE_AnomalyMonitor=(None, "MonitorArn"))},
    "AWS::CloudFormation::WaitCondition": {
        "Handle": _kind("the handle of the condition", CloudFormation_WaitConditionHandle=(None,))
    },
    "AWS::EC2::Instance": {
        "GroupName": _kind("the name of a placement group", EC2_PlacementGroup=(None, "GroupName")),
        "IamInstanceProfile": _kind("the name of an instance profile", IAM_InstanceProfile=(None,)),
        "KeyName": _KEY_PAIR,
    },
    "AWS::EC2::LaunchTemplate": {
        "Arn": _kind("the ARN of an instance profile", IAM_InstanceProfile=("Arn",)),
        "CapacityReservationId": _kind("the id of a reservation", EC2_CapacityReservation=(None, "Id", "CapacityReservationId")),
        "GroupName": _kind("the name of a placement group", EC2_PlacementGroup=(None, "GroupName")),
        "Groups": _GROUP,
        "KeyName": _KEY_PAIR,
        "Name": _kind("the name of an instance profile", IAM_InstanceProfile=(None,)),
    },
    "AWS::EC2::SecurityGroupEgress": {"GroupId": _GROUP},
    "AWS::EC2::SecurityGroupIngress": {"GroupId": _GROUP},
    "AWS::EKS::AccessEntry": {"ClusterName": _EKS},
    "AWS::EKS::Addon": {"ClusterName": _EKS, "ServiceAccountRoleArn": _ROLE},
    "AWS::EKS::Cluster": {"KeyArn": _kind("the ARN of a key", KMS_Key=("Arn",))},
    "AWS::EKS::FargateProfile": {"ClusterName": _EKS, "PodExecutionRoleArn": _ROLE},
    "AWS::EKS::Nodegroup": {
        "ClusterName": _EKS,
        "Id": _TEMPLATE,
        "Name": _TEMPLATE_NAME,
        "NodeRole": _ROLE,
        "Version": _VERSION,
    },
    "AWS::EKS::PodIdentityAssociation": {"ClusterName": _EKS},
    "AWS::ElastiCache::CacheCluster": _CACHE,
    "AWS::ElastiCache::ReplicationGroup": _CACHE,
    "AWS::FSx::DataRepositoryAssociation": {"FileSystemId": _SYSTEM},
    "AWS::FSx::Volume": {
        "ParentVolumeId": _kind("the id of a volume", FSx_FileSystem=("RootVolumeId",), FSx_Volume=(None, "VolumeId")),
    },
    "AWS::Glue::Job": {"Connections": _kind("the name of a connection", Glue_Connection=(None,))},
    "AWS::IAM::InstanceProfile": {"Roles": _ROLE_NAME},
    "AWS::IAM::ManagedPolicy": {"Roles": _ROLE_NAME},
    "AWS::IAM::OIDCProvider": {"Url": _kind("the issuer of a cluster", EKS_Cluster=("OpenIdConnectIssuerUrl",))},
    "AWS::IAM::Policy": {"Roles": _ROLE_NAME},
    "AWS::IAM::RolePolicy": {"RoleName": _ROLE_NAME},
    "AWS::ImageBuilder::ImagePipeline": {
        "ImageRecipeArn": _kind("the ARN of a recipe", ImageBuilder_ImageRecipe=(None, "Arn")),
        "InfrastructureConfigurationArn": _kind(
            "the ARN of an infrastructure", ImageBuilder_InfrastructureConfiguration=(None, "Arn")
        ),
    },
    "AWS::ImageBuilder::ImageRecipe": {"ComponentArn": _kind("the ARN of a component", ImageBuilder_Component=(None, "Arn"))},
    "AWS::ImageBuilder::InfrastructureConfiguration": {
        "InstanceProfileName": _kind("the name of an instance profile", IAM_InstanceProfile=(None,)),
    },
    "AWS::KMS::Alias": {"TargetKeyId": _kind("a key", KMS_Key=(None, "Arn", "KeyId"), KMS_ReplicaKey=(None, "Arn", "KeyId"))},
    "AWS::CodeBuild::Project": {"GroupName": _LOGS},
    "AWS::LakeFormation::PrincipalPermissions": {
        "DataLakePrincipalIdentifier": _kind("a user or a role, by its ARN", IAM_Role=("Arn",), IAM_User=("Arn",)),
    },
    "AWS::CodePipeline::Pipeline": {
        "Location": _BUCKET,
        "ProjectName": _kind("the name of a project", CodeBuild_Project=(None,)),
        "StateMachineArn": _kind("the ARN of a state machine", StepFunctions_StateMachine=(None, "Arn")),
    },
    "AWS::ECS::CapacityProvider": {
        "AutoScalingGroupArn": _kind("an Auto Scaling group", AutoScaling_AutoScalingGroup=(None, "AutoScalingGroupARN")),
    },
    "AWS::CloudFormation::LambdaHook": {"LambdaFunction": _FUNCTION},
    "AWS::CloudFormation::Macro": {"FunctionName": _FUNCTION},
    "AWS::Lambda::Alias": {"FunctionName": _FUNCTION},
    "AWS::Lambda::EventInvokeConfig": {"FunctionName": _FUNCTION},
    "AWS::Lambda::EventSourceMapping": {"FunctionName": _FUNCTION},
    "AWS::Lambda::Function": {"Role": _ROLE},
    "AWS::Lambda::Permission": {"FunctionName": _FUNCTION},
    "AWS::Lambda::Url": {"TargetFunctionArn": _FUNCTION},
    "AWS::Lambda::Version": {"FunctionName": _FUNCTION},
    "AWS::Logs::LogStream": {"LogGroupName": _LOGS},
    "AWS::Logs::MetricFilter": {"LogGroupName": _LOGS},
    "AWS::Logs::SubscriptionFilter": {"LogGroupName": _LOGS, "DestinationArn": _SUBSCRIBER},
    "AWS::NetworkFirewall::LoggingConfiguration": {"bucketName": _BUCKET, "logGroup": _LOGS},
    "AWS::DocDB::DBCluster": {"DBSubnetGroupName": _kind("the name of a subnet group", DocDB_DBSubnetGroup=(None,))},
    "AWS::Neptune::DBCluster": {"DBSubnetGroupName": _kind("the name of a subnet group", Neptune_DBSubnetGroup=(None,))},
    "AWS::RDS::DBInstance": {"VPCSecurityGroups": _GROUP, "MonitoringRoleArn": _ROLE},
    "AWS::RDS::DBCluster": {"VpcSecurityGroupIds": _GROUP, "MonitoringRoleArn": _ROLE},
    "AWS::DocDB::EventSubscription": {"SourceIds": _SOURCES_OF_DOCUMENTS},
    "AWS::RDS::EventSubscription": {
        "SourceIds": _kind(
            "the identifier of a source of events",
            RDS_CustomDBEngineVersion=(None,),
            RDS_DBCluster=(None, "DBClusterIdentifier"),
            RDS_DBInstance=(None, "DBInstanceIdentifier"),
            RDS_DBParameterGroup=(None, "DBParameterGroupName"),
            RDS_DBProxy=(None,),
            RDS_DBSecurityGroup=(None,),
            RDS_DBShardGroup=(None, "DBShardGroupIdentifier"),
        ),
    },
    "AWS::Redshift::EventSubscription": {
        "SourceIds": _kind(
            "the identifier of a source of events", Redshift_Cluster=(None,), Redshift_ClusterParameterGroup=(None,)
        ),
    },
    "AWS::Route53Resolver::ResolverRuleAssociation": {
        "ResolverRuleId": _kind("the id of a rule", Route53Resolver_ResolverRule=(None, "ResolverRuleId")),
    },
    "AWS::S3::AccessPoint": {"Bucket": _BUCKET},
    "AWS::S3::Bucket": {"Role": _ROLE},
    "AWS::S3::BucketPolicy": {"Bucket": _BUCKET},
    "AWS::SQS::QueuePolicy": {"Queues": _kind("the URL of a queue", SQS_Queue=(None, "QueueUrl"))},
    "AWS::SageMaker::Cluster": {
        "AlarmName": _kind("the name of an alarm", CloudWatch_Alarm=(None,), CloudWatch_CompositeAlarm=(None,)),
        "ClusterArn": _kind("the ARN of an EKS cluster", EKS_Cluster=("Arn",)),
        "ClusterRole": _ROLE,
        "DnsName": _kind("the host of a file system", FSx_FileSystem=("DNSName",)),
        "Endpoint": _kind(
            "the host of a database",
            EC2_Instance=("PrivateDnsName", "PrivateIp"),
            ElasticLoadBalancingV2_LoadBalancer=("DNSName",),
            RDS_DBCluster=("Endpoint.Address",),
            RDS_DBInstance=("Endpoint.Address",),
            RDS_DBProxy=("Endpoint",),
            RDS_DBProxyEndpoint=("Endpoint",),
            Route53_RecordSet=(None,),
        ),
        "MountName": _kind("the mount name of a Lustre file system", FSx_FileSystem=("LustreMountName",)),
    },
    "AWS::SageMaker::App": {"DomainId": _DOMAIN},
    "AWS::SageMaker::Domain": _FILES,
    "AWS::SageMaker::Endpoint": {
        "EndpointConfigName": _kind("the name of a configuration", SageMaker_EndpointConfig=("EndpointConfigName",)),
    },
    "AWS::SageMaker::EndpointConfig": {"ModelName": _MODEL},
    "AWS::SageMaker::InferenceComponent": {
        "EndpointName": _ENDPOINT,
        "ModelName": _MODEL,
    },
    "AWS::SageMaker::Model": {"Image": _kind("the address of an image", ECR_Repository=("RepositoryUri",))},
    **{f"AWS::SageMaker::{job}JobDefinition": {"EndpointName": _ENDPOINT} for job in _MONITORS},
    "AWS::SageMaker::MonitoringSchedule": {
        "EndpointName": _ENDPOINT,
        "MonitoringJobDefinitionName": _kind(
            "the name of a definition", **{f"SageMaker_{job}JobDefinition": ("JobDefinitionName",) for job in _MONITORS}
        ),
    },
    "AWS::SageMaker::NotebookInstance": {
        "AdditionalCodeRepositories": _REPOSITORY,
        "DefaultCodeRepository": _REPOSITORY,
        "LifecycleConfigName": _kind(
            "the name of a configuration", SageMaker_NotebookInstanceLifecycleConfig=("NotebookInstanceLifecycleConfigName",)
        ),
    },
    "AWS::SageMaker::Space": {"DomainId": _DOMAIN, **_FILES},
    "AWS::SageMaker::UserProfile": {"DomainId": _DOMAIN, **_FILES},
    "AWS::SageMaker::ClusterSchedulerConfig": {"ClusterArn": _HYPERPOD},
    "AWS::SageMaker::ComputeQuota": {"ClusterArn": _HYPERPOD},
    "AWS::SSM::Document": {
        "TopicArn": _kind("the ARN of a topic", SNS_Topic=(None, "TopicArn")),
        "assumeRole": _ROLE,
        "cloudWatchLogGroupName": _LOGS,
        "s3BucketName": _BUCKET,
    },
    "AWS::Scheduler::Schedule": {"GroupName": _kind("the name of a group", Scheduler_ScheduleGroup=(None,))},
    "AWS::SecretsManager::ResourcePolicy": {"SecretId": _SECRET},
    "AWS::SecretsManager::RotationSchedule": {"SecretId": _SECRET},
    "AWS::SecretsManager::SecretTargetAttachment": {
        "SecretId": _SECRET,
        "TargetId": _kind(
            "a database",
            RDS_DBInstance=(None, "DBInstanceIdentifier"),
            RDS_DBCluster=(None, "DBClusterIdentifier"),
            RDS_DBProxy=(None,),
            DocDB_DBCluster=(None, "Id"),
            DocDB_DBInstance=(None, "Id"),
            Redshift_Cluster=(None,),
        ),
    },
}


_METRICS = "the {} of a workspace of Prometheus"
IN_TEXTS: Mapping[str, ReferenceKind] = {
    "amgWorkspace.arn": _kind("the ARN of a workspace of Grafana", Grafana_Workspace=()),
    "ampWorkspace.arn": _kind(_METRICS.format("ARN"), APS_Workspace=(None, "Arn")),
    "ampWorkspace.prometheusEndpoint": _kind(_METRICS.format("endpoint"), APS_Workspace=("PrometheusEndpoint",)),
    "awsCertificateArn": _kind("the ARN of a certificate", CertificateManager_Certificate=(None,)),
    "hyperpodClusterArn": _HYPERPOD,
    "roleArn": _ROLE,
    "tlsCertificateS3Bucket": _BUCKET,
}
"""What a key in a text in JSON takes, by the ends of its path, such as the keys of the configuration of an add-on.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-observability-addon-setup.html (as of 2026-11-27)
"""


IN_CALLS: Mapping[tuple[str, str], ReferenceKind] = {
    ("ec2", "routetableid"): _TABLE,
    ("ec2", "subnetid"): _SUBNET,
    ("ec2", "vpcid"): _VPC,
    ("elasticfilesystem", "filesystemid"): _kind("the id of an EFS file system", EFS_FileSystem=(None, "FileSystemId")),
    ("fsx", "filesystemid"): _SYSTEM,
    ("kms", "keyid"): _KEY,
    ("rds", "dbclusteridentifier"): _kind("the identifier of a cluster", RDS_DBCluster=(None, "DBClusterArn")),
    ("rds", "dbinstanceidentifier"): _kind("the identifier of a database", RDS_DBInstance=(None, "DBInstanceArn")),
    ("secretsmanager", "secretid"): _SECRET,
}
"""What a parameter of a call takes, by the prefix of its action and the parameter in small letters (as of 2026-11-30).

Sources: the references of the calls, such as
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryTask.html and
https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBInstances.html
"""


def kind_in_text(path: str) -> ReferenceKind | None:
    """What a key in a text takes, by its path with dots; case does not count."""
    return next((kind for end, kind in IN_TEXTS.items() if path.lower().endswith(end.lower())), None)


def kind_of(resource_type: str, name: str) -> ReferenceKind | None:
    """What a property takes, by its name; `None` where anything can be right."""
    return OF_TYPE.get(resource_type, {}).get(name) or BY_NAME.get(name)


@cache
def _given() -> frozenset[tuple[str, str | None]]:
    kinds = (kind for names in (BY_NAME, *OF_TYPE.values()) for kind in names.values())
    return frozenset((source, one) for kind in kinds for source, attributes in kind.sources.items() for one in attributes)


def gives_a_kind(resource_type: str, attribute: str | None) -> bool:
    """Whether an attribute of a type gives what a property takes by its name, such as the id of a group."""
    return (resource_type, attribute) in _given()
