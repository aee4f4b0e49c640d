"""ARNs of resources: their form, and the attributes of CloudFormation that are the ARN or the name in it (as of 2026-11-24).

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache


@dataclass(frozen=True, slots=True)
class ArnForm:
    """The ARN of a type of resource.

    :param form: the ARN around `{name}`, with `{place}` for region and account, `{path}` for the path of an identity, `{/name}` for
        a name with a slash before it, and `{any}` for what AWS chooses.
    :param arns: the attributes with the ARN; `None` is `Ref`.
    :param names: the attributes with the name.
    :param chosen: the place of the name in the properties, if it can be chosen.
    :param suffixed: whether AWS adds characters to a chosen name.
    :param others: the forms of other ARNs, by their attributes.
    """

    form: str = "{name}"
    arns: frozenset[str | None] = frozenset()
    names: frozenset[str | None] = frozenset()
    chosen: str | None = None
    suffixed: bool = False
    others: Mapping[str | None, str] = field(default_factory=dict)

    @property
    def service(self) -> str:
        """The service in the ARN."""
        return self.form.split(":")[2]

    @property
    def given(self) -> tuple[str, ...]:
        """The attributes that are ARNs of its service, the usual one first."""
        others = {one for one, form in self.others.items() if form.split(":")[2] == self.service}
        found = sorted("" if one is None else one for one in {*self.arns, *others})
        return tuple(one or "Ref" for one in found)


def _form(
    form: str,
    arns: str,
    names: str,
    chosen: str | None = None,
    *,
    suffixed: bool = False,
    others: Mapping[str | None, str] | None = None,
) -> ArnForm:
    """A form, with its attributes as words; `Ref` is one of them."""
    return ArnForm(form, _attributes(arns), _attributes(names), chosen, suffixed, others or {})


def _attributes(words: str) -> frozenset[str | None]:
    return frozenset(None if one == "Ref" else one for one in words.split())


FORMS: Mapping[str, ArnForm] = {
    "AWS::APS::Workspace": _form("arn:aws:aps:{place}:workspace/{name}", "Arn Ref", "WorkspaceId"),
    "AWS::ApiGateway::RestApi": _form("arn:aws:execute-api:{place}:{name}", "", "Ref RestApiId"),
    "AWS::ApiGatewayV2::Api": _form("arn:aws:execute-api:{place}:{name}", "", "Ref ApiId"),
    "AWS::AutoScaling::AutoScalingGroup": _form(
        "arn:aws:autoscaling:{place}:autoScalingGroup:{any}:autoScalingGroupName/{name}",
        "AutoScalingGroupARN",
        "Ref",
        "AutoScalingGroupName",
    ),
    "AWS::Backup::BackupPlan": _form("arn:aws:backup:{place}:backup-plan:{name}", "BackupPlanArn", "Ref BackupPlanId"),
    "AWS::Backup::BackupVault": _form(
        "arn:aws:backup:{place}:backup-vault:{name}", "BackupVaultArn", "Ref BackupVaultName", "BackupVaultName"
    ),
    "AWS::Batch::ComputeEnvironment": _form(
        "arn:aws:batch:{place}:compute-environment/{name}", "Ref ComputeEnvironmentArn", "", "ComputeEnvironmentName"
    ),
    "AWS::Batch::JobDefinition": _form(
        "arn:aws:batch:{place}:job-definition/{name}:{any}", "Ref JobDefinitionArn", "", "JobDefinitionName"
    ),
    "AWS::Batch::JobQueue": _form("arn:aws:batch:{place}:job-queue/{name}", "Ref JobQueueArn", "", "JobQueueName"),
    "AWS::CertificateManager::Certificate": _form("arn:aws:acm:{place}:certificate/{name}", "Ref", ""),
    "AWS::CloudTrail::Trail": _form("arn:aws:cloudtrail:{place}:trail/{name}", "Arn", "Ref", "TrailName"),
    "AWS::CloudWatch::Alarm": _form("arn:aws:cloudwatch:{place}:alarm:{name}", "Arn", "Ref", "AlarmName"),
    "AWS::CloudWatch::CompositeAlarm": _form("arn:aws:cloudwatch:{place}:alarm:{name}", "Arn", "Ref", "AlarmName"),
    "AWS::CloudWatch::MetricStream": _form("arn:aws:cloudwatch:{place}:metric-stream/{name}", "Arn", "Ref", "Name"),
    "AWS::CodeBuild::Project": _form("arn:aws:codebuild:{place}:project/{name}", "Arn", "Ref", "Name"),
    "AWS::CodePipeline::Pipeline": _form("arn:aws:codepipeline:{place}:{name}", "", "Ref", "Name"),
    "AWS::DataSync::LocationS3": _form("arn:aws:datasync:{place}:location/{name}", "Ref LocationArn", ""),
    "AWS::DataSync::Task": _form("arn:aws:datasync:{place}:task/{name}", "Ref TaskArn", ""),
    "AWS::DynamoDB::GlobalTable": _form(
        "arn:aws:dynamodb:{place}:table/{name}",
        "Arn",
        "Ref",
        "TableName",
        others={"StreamArn": "arn:aws:dynamodb:{place}:table/{name}/stream/{any}"},
    ),
    "AWS::DynamoDB::Table": _form(
        "arn:aws:dynamodb:{place}:table/{name}",
        "Arn",
        "Ref",
        "TableName",
        others={"StreamArn": "arn:aws:dynamodb:{place}:table/{name}/stream/{any}"},
    ),
    "AWS::EC2::Instance": _form("arn:aws:ec2:{place}:instance/{name}", "", "Ref InstanceId"),
    "AWS::EC2::NetworkInterface": _form("arn:aws:ec2:{place}:network-interface/{name}", "", "Ref Id"),
    "AWS::EC2::SecurityGroup": _form("arn:aws:ec2:{place}:security-group/{name}", "", "Ref GroupId"),
    "AWS::EC2::Subnet": _form("arn:aws:ec2:{place}:subnet/{name}", "", "Ref SubnetId"),
    "AWS::EC2::TransitGateway": _form("arn:aws:ec2:{place}:transit-gateway/{name}", "TransitGatewayArn", "Ref Id"),
    "AWS::EC2::VPC": _form("arn:aws:ec2:{place}:vpc/{name}", "", "Ref VpcId"),
    "AWS::EC2::VPCEndpoint": _form("arn:aws:ec2:{place}:vpc-endpoint/{name}", "", "Ref Id"),
    "AWS::EC2::Volume": _form("arn:aws:ec2:{place}:volume/{name}", "", "Ref VolumeId"),
    "AWS::ECR::Repository": _form("arn:aws:ecr:{place}:repository/{name}", "Arn", "Ref", "RepositoryName"),
    "AWS::ECS::Cluster": _form("arn:aws:ecs:{place}:cluster/{name}", "Arn", "Ref", "ClusterName"),
    "AWS::ECS::TaskDefinition": _form("arn:aws:ecs:{place}:task-definition/{name}:{any}", "Ref TaskDefinitionArn", "", "Family"),
    "AWS::EFS::AccessPoint": _form("arn:aws:elasticfilesystem:{place}:access-point/{name}", "Arn", "Ref AccessPointId"),
    "AWS::EFS::FileSystem": _form("arn:aws:elasticfilesystem:{place}:file-system/{name}", "Arn", "Ref FileSystemId"),
    "AWS::EKS::Cluster": _form("arn:aws:eks:{place}:cluster/{name}", "Arn", "Ref", "Name"),
    "AWS::Events::ApiDestination": _form(
        "arn:aws:events:{place}:api-destination/{name}/{any}",
        "Arn",
        "Ref",
        "Name",
        others={"ArnForPolicy": "arn:aws:events:{place}:api-destination/{name}"},
    ),
    "AWS::Events::Archive": _form("arn:aws:events:{place}:archive/{name}", "Arn", "Ref", "ArchiveName"),
    "AWS::Events::Connection": _form(
        "arn:aws:events:{place}:connection/{name}/{any}",
        "Arn",
        "Ref",
        "Name",
        others={"ArnForPolicy": "arn:aws:events:{place}:connection/{name}"},
    ),
    "AWS::Events::EventBus": _form("arn:aws:events:{place}:event-bus/{name}", "Arn", "Ref Name", "Name"),
    "AWS::Events::Rule": _form("arn:aws:events:{place}:rule/{name}", "Arn", "Ref", "Name"),
    "AWS::FSx::FileSystem": _form("arn:aws:fsx:{place}:file-system/{name}", "ResourceARN", "Ref"),
    "AWS::FSx::Volume": _form("arn:aws:fsx:{place}:volume/{any}/{name}", "ResourceARN", "Ref VolumeId"),
    "AWS::Glue::Crawler": _form("arn:aws:glue:{place}:crawler/{name}", "", "Ref", "Name"),
    "AWS::Glue::Database": _form("arn:aws:glue:{place}:database/{name}", "", "Ref", "DatabaseInput/Name"),
    "AWS::Glue::Job": _form("arn:aws:glue:{place}:job/{name}", "", "Ref", "Name"),
    "AWS::Glue::Table": _form("arn:aws:glue:{place}:table/{any}/{name}", "", "Ref", "TableInput/Name"),
    "AWS::Grafana::Workspace": _form("arn:aws:grafana:{place}:/workspaces/{name}", "", "Ref Id"),
    "AWS::IAM::InstanceProfile": _form("arn:aws:iam::{account}:instance-profile/{path}{name}", "Arn", "Ref", "InstanceProfileName"),
    "AWS::IAM::ManagedPolicy": _form("arn:aws:iam::{account}:policy/{path}{name}", "PolicyArn Ref", "", "ManagedPolicyName"),
    "AWS::IAM::Role": _form("arn:aws:iam::{account}:role/{path}{name}", "Arn", "Ref", "RoleName"),
    "AWS::IAM::User": _form("arn:aws:iam::{account}:user/{path}{name}", "Arn", "Ref", "UserName"),
    "AWS::KMS::Alias": _form("arn:aws:kms:{place}:{name}", "", "Ref", "AliasName"),
    "AWS::KMS::Key": _form("arn:aws:kms:{place}:key/{name}", "Arn", "Ref KeyId"),
    "AWS::Kinesis::Stream": _form("arn:aws:kinesis:{place}:stream/{name}", "Arn", "Ref", "Name"),
    "AWS::KinesisFirehose::DeliveryStream": _form(
        "arn:aws:firehose:{place}:deliverystream/{name}", "Arn", "Ref", "DeliveryStreamName"
    ),
    "AWS::Lambda::Alias": _form("arn:aws:lambda:{place}:function:{any}", "Ref AliasArn", ""),
    "AWS::Lambda::Function": _form("arn:aws:lambda:{place}:function:{name}", "Arn", "Ref", "FunctionName"),
    "AWS::Lambda::Version": _form("arn:aws:lambda:{place}:function:{any}", "Ref FunctionArn", ""),
    "AWS::Logs::Destination": _form("arn:aws:logs:{place}:destination:{name}", "Arn", "Ref", "DestinationName"),
    "AWS::Logs::LogGroup": _form("arn:aws:logs:{place}:log-group:{name}:*", "Arn", "Ref", "LogGroupName"),
    "AWS::OpenSearchService::Domain": _form("arn:aws:es:{place}:domain/{name}", "Arn DomainArn", "Ref", "DomainName"),
    "AWS::Pipes::Pipe": _form("arn:aws:pipes:{place}:pipe/{name}", "Arn", "Ref", "Name"),
    "AWS::RDS::DBCluster": _form(
        "arn:aws:rds:{place}:cluster:{name}",
        "DBClusterArn",
        "Ref",
        "DBClusterIdentifier",
        others={"MasterUserSecret.SecretArn": "arn:aws:secretsmanager:{place}:secret:rds!cluster-{any}"},
    ),
    "AWS::RDS::DBInstance": _form(
        "arn:aws:rds:{place}:db:{name}",
        "DBInstanceArn",
        "Ref",
        "DBInstanceIdentifier",
        others={"MasterUserSecret.SecretArn": "arn:aws:secretsmanager:{place}:secret:rds!db-{any}"},
    ),
    "AWS::RDS::DBProxy": _form("arn:aws:rds:{place}:db-proxy:{any}", "DBProxyArn", ""),
    "AWS::Route53::HostedZone": _form("arn:aws:route53:::hostedzone/{name}", "", "Ref Id"),
    "AWS::S3::AccessPoint": _form("arn:aws:s3:{place}:accesspoint/{name}", "Arn", "Ref Name", "Name"),
    "AWS::S3::Bucket": _form("arn:aws:s3:::{name}", "Arn", "Ref", "BucketName"),
    "AWS::SNS::Topic": _form("arn:aws:sns:{place}:{name}", "TopicArn Ref", "TopicName", "TopicName"),
    "AWS::SQS::Queue": _form("arn:aws:sqs:{place}:{name}", "Arn", "QueueName", "QueueName"),
    "AWS::SSM::Document": _form("arn:aws:ssm:{place}:document/{name}", "", "Ref", "Name"),
    "AWS::SSM::Parameter": _form("arn:aws:ssm:{place}:parameter{/name}", "Arn", "Ref Name", "Name"),
    "AWS::SageMaker::Cluster": _form("arn:aws:sagemaker:{place}:cluster/{name}", "ClusterArn Ref", ""),
    "AWS::SageMaker::Domain": _form("arn:aws:sagemaker:{place}:domain/{name}", "DomainArn", "Ref DomainId"),
    "AWS::SageMaker::Endpoint": _form(
        "arn:aws:sagemaker:{place}:endpoint/{name}", "EndpointArn Ref", "EndpointName", "EndpointName"
    ),
    "AWS::SageMaker::MlflowTrackingServer": _form(
        "arn:aws:sagemaker:{place}:mlflow-tracking-server/{name}", "TrackingServerArn", "Ref", "TrackingServerName"
    ),
    "AWS::SageMaker::Model": _form("arn:aws:sagemaker:{place}:model/{name}", "ModelArn Ref", "ModelName", "ModelName"),
    "AWS::SageMaker::Pipeline": _form("arn:aws:sagemaker:{place}:pipeline/{name}", "", "Ref", "PipelineName"),
    "AWS::Scheduler::Schedule": _form("arn:aws:scheduler:{place}:schedule/{any}/{name}", "Arn", "Ref", "Name"),
    "AWS::Scheduler::ScheduleGroup": _form("arn:aws:scheduler:{place}:schedule-group/{name}", "Arn", "Ref", "Name"),
    "AWS::SecretsManager::Secret": _form("arn:aws:secretsmanager:{place}:secret:{name}", "Id Ref", "", "Name", suffixed=True),
    "AWS::StepFunctions::Activity": _form("arn:aws:states:{place}:activity:{name}", "Arn Ref", "Name", "Name"),
    "AWS::StepFunctions::StateMachine": _form("arn:aws:states:{place}:stateMachine:{name}", "Arn Ref", "Name", "StateMachineName"),
}
"""The ARNs of types that policies name. A resource without a chosen name has one that CloudFormation makes."""


@cache
def kinds_of(service: str) -> frozenset[str]:
    """The words before the names in the ARNs of a service, such as `file-system`; there may be more."""
    forms = (re.fullmatch(rf"arn:aws:{service}:[^:]*:[^:]*:([A-Za-z-]+)[/:].*", _placed(form)) for form in FORMS.values())
    return frozenset(found[1] for found in forms if found)


def _placed(form: ArnForm) -> str:
    return form.form.replace("{place}", ":").replace("{account}", "")
