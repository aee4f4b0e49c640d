"""Effects of a changed property: it replaces the resource, the service refuses it, or it can only grow.

Paths are such as `InstanceGroups/*/InstanceType`; `*` stands for any item.
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.facts.scaling_targets import MONITORS
from hyperpod_constructs.facts.schema import type_facts

BEYOND_SCHEMA: Mapping[str, frozenset[str]] = {
    "AWS::EC2::EIP": frozenset({"Domain"}),
    "AWS::Events::Rule": frozenset({"EventBusName"}),
    "AWS::Route53::RecordSet": frozenset({"Name"}),
    "AWS::FSx::FileSystem": frozenset(
        {
            "FileSystemTypeVersion",
            "StorageType",
            *(
                f"LustreConfiguration/{name}"
                for name in (
                    "CopyTagsToBackups",
                    "DeploymentType",
                    "DriveCacheType",
                    "EfaEnabled",
                    "ExportPath",
                    "ImportPath",
                    "ImportedFileChunkSize",
                )
            ),
            *(
                f"OpenZFSConfiguration/{name}"
                for name in ("DeploymentType", "EndpointIpAddressRange", "PreferredSubnetId", "RootVolumeConfiguration")
            ),
        }
    ),
}
"""Properties that replace the resource when they change, although its schema does not say so (as of 2026-11-26).

`AWS::FSx::FileSystem` has no handlers in the registry. CloudFormation updates it by its resource specification (UpdateType
Immutable) and by the pages of its properties; of the others the pages alone say it.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-fsx-filesystem-lustreconfiguration.html
and the pages of the types, such as https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-events-rule.html
"""

FIXED: Mapping[str, frozenset[str]] = {
    "AWS::CloudFormation::CustomResource": frozenset({"ServiceToken"}),
    "AWS::KMS::Key": frozenset({"KeySpec", "KeyUsage", "MultiRegion", "Origin"}),
    "AWS::Logs::LogGroup": frozenset({"LogGroupClass"}),
    "AWS::SageMaker::Cluster": frozenset(
        {
            "NodeProvisioningMode",
            "InstanceGroups/*/CapacityRequirements",
            "InstanceGroups/*/ExecutionRole",
            "InstanceGroups/*/InstanceType",
            "InstanceGroups/*/OverrideVpcConfig",
            "InstanceGroups/*/SlurmConfig/NodeType",
            "InstanceGroups/*/ThreadsPerCore",
            "RestrictedInstanceGroups/*/ExecutionRole",
            "RestrictedInstanceGroups/*/InstanceType",
            "RestrictedInstanceGroups/*/OverrideVpcConfig",
            "RestrictedInstanceGroups/*/ThreadsPerCore",
        }
    ),
    "AWS::Scheduler::Schedule": frozenset({"GroupName"}),
}
"""Properties that the service does not change after it created the resource or the item (as of 2026-11-27).

The guide names `ExecutionRole`, `InstanceType` and `ThreadsPerCore` for Slurm and EKS, and no type with running nodes leaves the
list of `InstanceRequirements`.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-update-cluster.html,
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html,
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterSlurmConfig.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-kms-key.html,
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogGroup.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-group-create.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html.
"""

DEFAULTS: Mapping[tuple[str, str], object] = {
    ("AWS::KMS::Key", "KeySpec"): "SYMMETRIC_DEFAULT",
    ("AWS::KMS::Key", "KeyUsage"): "ENCRYPT_DECRYPT",
    ("AWS::KMS::Key", "MultiRegion"): False,
    ("AWS::KMS::Key", "Origin"): "AWS_KMS",
    ("AWS::Logs::LogGroup", "LogGroupClass"): "STANDARD",
    ("AWS::Scheduler::Schedule", "GroupName"): "default",
}
"""What fixed properties are without a value: an update that writes it, or leaves it out, changes nothing (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-kms-key.html,
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogGroup.html and
https://docs.aws.amazon.com/scheduler/latest/APIReference/API_UpdateSchedule.html
"""

ADDABLE: Mapping[str, frozenset[str]] = {
    "AWS::SageMaker::Cluster": frozenset({"NodeProvisioningMode", "InstanceGroups/*/SlurmConfig/NodeType"})
}
"""Fixed properties that an existing resource or item may still receive, once: so the API takes over a group's configuration.

Whether the service takes `NodeProvisioningMode` so is not known: see `clusters.MODE_ADDED_LATER`.
"""

KEPT: Mapping[str, frozenset[str]] = {
    "AWS::SageMaker::Cluster": frozenset({"NodeProvisioningMode", "Orchestrator/Slurm/AccountingDatabase"})
}
"""Properties that an update can add, and that no update takes away (as of 2026-11-22).

Sources: `clusters.MODE_TAKEN_AWAY` and `accounting.TAKEN_AWAY`.
"""

FIXED_WITH: Mapping[tuple[str, str], tuple[str, object]] = {
    ("AWS::FSx::FileSystem", "LustreConfiguration/PerUnitStorageThroughput"): ("LustreConfiguration/EfaEnabled", True),
    ("AWS::SageMaker::Cluster", "ClusterRole"): ("AutoScaling/Mode", "Enable"),
}
"""Changes that the service refuses beside a value of another property, by type and property (as of 2026-11-21).

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html.
"""

GROWING: Mapping[str, frozenset[str]] = {
    "AWS::EC2::Volume": frozenset({"Size"}),
    "AWS::FSx::FileSystem": frozenset(
        {"StorageCapacity", "LustreConfiguration/MetadataConfiguration/Iops", "LustreConfiguration/ThroughputCapacity"}
    ),
    "AWS::RDS::DBInstance": frozenset({"AllocatedStorage"}),
    "AWS::SageMaker::NotebookInstance": frozenset({"VolumeSizeInGB"}),
}
"""Numbers that an update can raise but never lower (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-storage-capacity.html,
https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystemLustreConfiguration.html,
https://docs.aws.amazon.com/ebs/latest/userguide/modify-volume-requirements.html,
https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_PIOPS.StorageTypes.html and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateNotebookInstance.html.
"""

RESTARTING: Mapping[str, frozenset[str]] = {
    "AWS::SageMaker::NotebookInstance": frozenset(
        {
            *("AcceleratorTypes", "AdditionalCodeRepositories", "DefaultCodeRepository", "InstanceType"),
            *("InstanceMetadataServiceConfiguration", "LifecycleConfigName", "RoleArn", "RootAccess", "VolumeSizeInGB"),
        }
    ),
}
"""Properties whose change stops the instance and starts it again (as of 2026-11-27).

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-sagemaker-notebookinstance.html
"""

IN_PLACE: Mapping[tuple[str, str], tuple[str, str]] = {("AWS::EC2::VPC", "InstanceTenancy"): ("dedicated", "default")}
"""The only change, old value and new value, that keeps the resource, by type and property (as of 2026-11-21).

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-vpc.html
"""

NAMED: Mapping[str, tuple[str, ...]] = {
    "AWS::APS::RuleGroupsNamespace": ("Workspace", "Name"),
    "AWS::AccessAnalyzer::Analyzer": ("AnalyzerName",),
    "AWS::AmazonMQ::Broker": ("BrokerName",),
    "AWS::Backup::Framework": ("FrameworkName",),
    "AWS::Backup::ReportPlan": ("ReportPlanName",),
    "AWS::Batch::JobQueue": ("JobQueueName",),
    "AWS::CloudFormation::Macro": ("Name",),
    "AWS::CodeArtifact::Domain": ("DomainName",),
    "AWS::CodeArtifact::Repository": ("DomainName", "RepositoryName"),
    "AWS::CodeBuild::Project": ("Name",),
    "AWS::CodeBuild::ReportGroup": ("Name",),
    "AWS::DAX::Cluster": ("ClusterName",),
    "AWS::EC2::LaunchTemplate": ("LaunchTemplateName",),
    "AWS::EC2::PlacementGroup": ("GroupName",),
    "AWS::EC2::SecurityGroup": ("VpcId", "GroupName"),
    "AWS::ECS::Service": ("Cluster", "ServiceName"),
    "AWS::EKS::Nodegroup": ("ClusterName", "NodegroupName"),
    "AWS::EKS::PodIdentityAssociation": ("ClusterName", "Namespace", "ServiceAccount"),
    "AWS::ElasticLoadBalancingV2::LoadBalancer": ("Name",),
    "AWS::ElasticLoadBalancingV2::TargetGroup": ("Name",),
    "AWS::Events::Rule": ("Name",),
    "AWS::IAM::ManagedPolicy": ("ManagedPolicyName",),
    "AWS::Kinesis::StreamConsumer": ("StreamARN", "ConsumerName"),
    "AWS::Lambda::Alias": ("FunctionName", "Name"),
    "AWS::MSK::Cluster": ("ClusterName",),
    "AWS::MSK::Configuration": ("Name",),
    "AWS::MSK::ServerlessCluster": ("ClusterName",),
    "AWS::NetworkFirewall::Firewall": ("FirewallName",),
    "AWS::NetworkFirewall::FirewallPolicy": ("FirewallPolicyName",),
    "AWS::NetworkFirewall::RuleGroup": ("Type", "RuleGroupName"),
    "AWS::SNS::Topic": ("TopicName",),
    "AWS::SQS::Queue": ("QueueName",),
    "AWS::SageMaker::ClusterSchedulerConfig": ("ClusterArn",),
    "AWS::SageMaker::CodeRepository": ("CodeRepositoryName",),
    "AWS::SageMaker::ComputeQuota": ("ClusterArn", "ComputeQuotaTarget/TeamName"),
    **{f"AWS::SageMaker::{job}JobDefinition": ("JobDefinitionName",) for job in MONITORS},
    "AWS::SageMaker::Endpoint": ("EndpointName",),
    "AWS::SageMaker::EndpointConfig": ("EndpointConfigName",),
    "AWS::SageMaker::InferenceComponent": ("InferenceComponentName",),
    "AWS::SageMaker::Model": ("ModelName",),
    "AWS::SageMaker::ModelPackageGroup": ("ModelPackageGroupName",),
    "AWS::SageMaker::MonitoringSchedule": ("MonitoringScheduleName",),
    "AWS::SageMaker::NotebookInstance": ("NotebookInstanceName",),
    "AWS::SageMaker::NotebookInstanceLifecycleConfig": ("NotebookInstanceLifecycleConfigName",),
    "AWS::SageMaker::Project": ("ProjectName",),
    "AWS::SageMaker::Space": ("DomainId", "SpaceName"),
    "AWS::SageMaker::UserProfile": ("DomainId", "UserProfileName"),
    "AWS::SageMaker::Workteam": ("WorkteamName",),
    "AWS::SecretsManager::Secret": ("Name",),
    "AWS::ServiceDiscovery::Service": ("NamespaceId", "Name"),
    "AWS::StepFunctions::StateMachine": ("StateMachineName",),
    "AWS::WAFv2::IPSet": ("Scope", "Name"),
    "AWS::WAFv2::RegexPatternSet": ("Scope", "Name"),
    "AWS::WAFv2::RuleGroup": ("Scope", "Name"),
    "AWS::WAFv2::WebACL": ("Scope", "Name"),
}
"""Properties that name a resource together, although its schema identifies it otherwise (as of 2026-11-28): a service account has
one association, a cluster one scheduling policy, and a team one quota on a cluster.

Sources: the pages of the calls that create them, such as
https://docs.aws.amazon.com/network-firewall/latest/APIReference/API_CreateRuleGroup.html,
https://docs.aws.amazon.com/waf/latest/APIReference/API_CreateWebACL.html,
https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html,
https://docs.aws.amazon.com/eks/latest/APIReference/API_CreatePodIdentityAssociation.html and
https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateClusterSchedulerConfig.html; that of teams is inferred from the
names of their queues.
"""

HELD: Mapping[str, tuple[str, ...]] = {
    "AWS::Budgets::Budget": ("Budget/BudgetName",),
    "AWS::EC2::Instance": ("SubnetId", "PrivateIpAddress"),
    "AWS::EC2::NatGateway": ("AllocationId",),
    "AWS::EC2::NetworkAclEntry": ("NetworkAclId", "Egress", "RuleNumber"),
    "AWS::EC2::NetworkInterface": ("SubnetId", "PrivateIpAddress"),
    "AWS::EC2::Route": ("RouteTableId", "DestinationCidrBlock"),
    "AWS::EC2::Subnet": ("VpcId", "CidrBlock"),
    "AWS::EC2::TransitGatewayAttachment": ("TransitGatewayId", "VpcId"),
    "AWS::EC2::TransitGatewayRouteTableAssociation": ("TransitGatewayAttachmentId",),
    "AWS::EC2::TransitGatewayVpcAttachment": ("TransitGatewayId", "VpcId"),
    "AWS::EC2::VPCCidrBlock": ("VpcId", "CidrBlock"),
    "AWS::EFS::MountTarget": ("FileSystemId", "SubnetId>AvailabilityZone"),
    "AWS::EKS::Capability": ("ClusterName", "Type"),
    "AWS::EKS::IdentityProviderConfig": ("ClusterName",),
    "AWS::ElasticLoadBalancingV2::Listener": ("LoadBalancerArn", "Port"),
    "AWS::ElasticLoadBalancingV2::ListenerRule": ("ListenerArn", "Priority"),
    "AWS::FSx::DataRepositoryAssociation": ("FileSystemId", "FileSystemPath"),
    "AWS::Route53Resolver::ResolverEndpoint": ("IpAddresses/0/SubnetId", "IpAddresses/0/Ip"),
}
"""Properties whose values only one resource can have at a time, for types without names (as of 2026-11-28).

`A>B` is the property B of the resource that A names: a file system has one mount target in a zone.

Sources: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_CreateBudget.html,
https://docs.aws.amazon.com/efs/latest/ug/accessing-fs.html,
https://github.com/hashicorp/terraform-provider-aws/issues/10852, https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-working-with.html,
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateNetworkAclEntry.html,
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateRoute.html,
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateNetworkInterface.html,
https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html,
https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateCapability.html,
https://docs.aws.amazon.com/eks/latest/userguide/authenticate-oidc-identity-provider.html,
https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateListener.html,
https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_CreateRule.html and
https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html.
"""

_RULE = ("GroupId", "IpProtocol", "FromPort?", "ToPort?", "CidrIp?", "CidrIpv6?")
PLACES: Mapping[str, tuple[str, ...]] = {
    "AWS::EC2::FlowLog": ("ResourceId", "TrafficType?", "LogGroupName?", "LogDestination?"),
    "AWS::EC2::SecurityGroupEgress": (*_RULE, "DestinationPrefixListId?", "DestinationSecurityGroupId?"),
    "AWS::EC2::SecurityGroupIngress": (*_RULE, "SourcePrefixListId?", "SourceSecurityGroupId?"),
    "AWS::EC2::VPCGatewayAttachment": ("VpcId", "InternetGatewayId?", "VpnGatewayId?"),
    "AWS::EC2::VPCPeeringConnection": ("VpcId", "PeerVpcId"),
    "AWS::Lambda::EventSourceMapping": ("EventSourceArn", "FunctionName"),
    "AWS::Lambda::Url": ("TargetFunctionArn", "Qualifier?"),
    "AWS::Route53::RecordSet": ("HostedZoneId", "Name", "Type", "SetIdentifier?"),
    "AWS::Route53Resolver::ResolverRuleAssociation": ("VPCId", "ResolverRuleId"),
    "AWS::ServiceDiscovery::PrivateDnsNamespace": ("Vpc", "Name"),
}
"""Properties that only one resource can have together at a time; one with `?` may be left out (as of 2026-11-28).

Rules of their own judge two in one template; for an update, each of them stands in the way of the next one.

Sources: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html (AlreadyAssociated, FlowLogAlreadyExists,
InvalidPermission.Duplicate, VpcPeeringConnectionAlreadyExists),
https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html,
https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunctionUrlConfig.html,
https://docs.aws.amazon.com/Route53/latest/APIReference/API_ChangeResourceRecordSets.html,
https://docs.aws.amazon.com/Route53/latest/APIReference/API_route53resolver_AssociateResolverRule.html and
https://docs.aws.amazon.com/cloud-map/latest/api/API_CreatePrivateDnsNamespace.html
"""

OF_ENDPOINTS: Mapping[str, tuple[str, ...]] = {
    "Gateway": ("VpcId", "ServiceName", "RouteTableIds"),
    "Interface": ("VpcId", "ServiceName", "PrivateDnsEnabled"),
}
"""The same of endpoints by their type: a table has one route to a service, and a VPC one endpoint with its private names.

Source: https://docs.aws.amazon.com/vpc/latest/privatelink/manage-dns-names.html
"""

MOVING: Mapping[str, tuple[str, str]] = {
    "AWS::EC2::LaunchTemplate": ("LaunchTemplateData", "LatestVersionNumber"),
    "AWS::SSM::Parameter": ("Value", "Value"),
}
"""Properties with an attribute that changes with them, although the resource stays (as of 2026-11-26).

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-launchtemplate.html
"""

ALONE: Mapping[str, tuple[str, ...]] = {
    "AWS::EC2::SubnetNetworkAclAssociation": ("SubnetId",),
    "AWS::EC2::SubnetRouteTableAssociation": ("SubnetId",),
    "AWS::EC2::VPCDHCPOptionsAssociation": ("VpcId",),
    "AWS::SecretsManager::RotationSchedule": ("SecretId",),
    "AWS::WAFv2::WebACLAssociation": ("ResourceArn",),
}
"""Properties that two resources cannot share, although a replacement takes them over in place (as of 2026-11-29).

The later association takes the place of the first one, or is refused.

Sources: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ReplaceRouteTableAssociation.html,
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ReplaceNetworkAclAssociation.html,
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AssociateDhcpOptions.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-secretsmanager-rotationschedule.html and
https://docs.aws.amazon.com/waf/latest/APIReference/API_AssociateWebACL.html
"""

ONCE = frozenset(
    {
        "AWS::Config::ConfigurationRecorder",
        "AWS::Config::DeliveryChannel",
        "AWS::ECR::RegistryPolicy",
        "AWS::ECR::RegistryScanningConfiguration",
        "AWS::ECR::ReplicationConfiguration",
        "AWS::GuardDuty::Detector",
        "AWS::Macie::Session",
        "AWS::SecurityHub::Hub",
    }
)
"""Types of which an account has one in a region (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_PutReplicationConfiguration.html,
https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_PutRegistryPolicy.html,
https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_PutRegistryScanningConfiguration.html,
https://docs.aws.amazon.com/config/latest/APIReference/API_PutConfigurationRecorder.html,
https://docs.aws.amazon.com/guardduty/latest/APIReference/API_CreateDetector.html,
https://docs.aws.amazon.com/macie/latest/APIReference/macie.html and
https://docs.aws.amazon.com/securityhub/1.0/APIReference/API_EnableSecurityHub.html
"""

BLOCKS = frozenset({"AWS::EC2::Subnet", "AWS::EC2::VPCCidrBlock"})
"""Types of `HELD` whose blocks must not even overlap in one VPC."""


def naming(resource_type: str) -> tuple[str, ...]:
    """The properties that name the resource, so that two with the same values cannot be; empty if the service names it."""
    facts = type_facts(resource_type)
    return NAMED.get(resource_type) or (() if facts is None else facts.identity)


def replacing(resource_type: str) -> frozenset[str]:
    """The properties that replace the resource when they change."""
    facts = type_facts(resource_type)
    return BEYOND_SCHEMA.get(resource_type, frozenset()) | (frozenset() if facts is None else facts.create_only)


def fixed(resource_type: str) -> frozenset[str]:
    """The properties that the service refuses to change."""
    return FIXED.get(resource_type, frozenset())


def default(resource_type: str, path: str) -> object:
    """What a fixed property is without a value; `None` where that is not known."""
    return DEFAULTS.get((resource_type, path))


def addable(resource_type: str) -> frozenset[str]:
    """The fixed properties that an update can add once."""
    return ADDABLE.get(resource_type, frozenset())


def kept(resource_type: str) -> frozenset[str]:
    """The properties that no update takes away."""
    return KEPT.get(resource_type, frozenset())


def fixed_with(resource_type: str, path: str) -> tuple[str, object] | None:
    """The other property, and its value, that makes this one fixed; `None` if there is no such value."""
    return FIXED_WITH.get((resource_type, path))


def growing(resource_type: str) -> frozenset[str]:
    """The numbers that can only grow."""
    return GROWING.get(resource_type, frozenset())


def fixed_in(resource_type: str, items: str) -> tuple[str, ...]:
    """The fixed properties of each item of a list, below the item, in alphabetical order."""
    prefix = f"{items}/*/"
    return tuple(sorted(path.removeprefix(prefix) for path in fixed(resource_type) if path.startswith(prefix)))


def needs_new(resource_type: str, name: str, old: object, new: object) -> bool:
    """Whether a change of a conditional property replaces the resource."""
    return IN_PLACE.get((resource_type, name)) != (old, new)
