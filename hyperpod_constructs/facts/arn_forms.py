"""ARNs of resources: their form, and the attributes of CloudFormation that are the ARN or the name in it (as of 2026-11-24).

Source: https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArnForm:
    """The ARN of a type of resource.

    :param form: the ARN around `{name}`, with `{place}` for region and account.
    :param arns: the attributes with the ARN; `None` is `Ref`.
    :param names: the attributes with the name.
    :param property: the property with the name, if it can be chosen.
    :param suffixed: whether AWS adds characters to a chosen name.
    """

    form: str = "{name}"
    arns: frozenset[str | None] = frozenset()
    names: frozenset[str | None] = frozenset()
    property: str | None = None
    suffixed: bool = False


def _form(form: str, arns: str, names: str, property: str | None = None, *, suffixed: bool = False) -> ArnForm:
    """A form, with its attributes as words; `Ref` is one of them."""
    return ArnForm(form, _attributes(arns), _attributes(names), property, suffixed)


def _attributes(words: str) -> frozenset[str | None]:
    return frozenset(None if one == "Ref" else one for one in words.split())


FORMS: Mapping[str, ArnForm] = {
    "AWS::APS::Workspace": _form("arn:aws:aps:{place}:workspace/{name}", "Arn Ref", "WorkspaceId"),
    "AWS::CloudWatch::Alarm": _form("arn:aws:cloudwatch:{place}:alarm:{name}", "Arn", "Ref", "AlarmName"),
    "AWS::EC2::SecurityGroup": _form("arn:aws:ec2:{place}:security-group/{name}", "", "Ref GroupId"),
    "AWS::EC2::Subnet": _form("arn:aws:ec2:{place}:subnet/{name}", "", "Ref SubnetId"),
    "AWS::EC2::VPC": _form("arn:aws:ec2:{place}:vpc/{name}", "", "Ref VpcId"),
    "AWS::EC2::VPCEndpoint": _form("arn:aws:ec2:{place}:vpc-endpoint/{name}", "", "Ref Id"),
    "AWS::ECR::Repository": _form("arn:aws:ecr:{place}:repository/{name}", "Arn", "Ref", "RepositoryName"),
    "AWS::EKS::Cluster": _form("arn:aws:eks:{place}:cluster/{name}", "Arn", "Ref", "Name"),
    "AWS::Events::Rule": _form("arn:aws:events:{place}:rule/{name}", "Arn", "Ref", "Name"),
    "AWS::FSx::FileSystem": _form("arn:aws:fsx:{place}:file-system/{name}", "ResourceARN", "Ref"),
    "AWS::IAM::ManagedPolicy": _form("arn:aws:iam::{account}:policy/{name}", "PolicyArn Ref", "", "ManagedPolicyName"),
    "AWS::IAM::Role": _form("arn:aws:iam::{account}:role/{name}", "Arn", "Ref", "RoleName"),
    "AWS::KMS::Key": _form("arn:aws:kms:{place}:key/{name}", "Arn", "Ref KeyId"),
    "AWS::Lambda::Function": _form("arn:aws:lambda:{place}:function:{name}", "Arn", "Ref", "FunctionName"),
    "AWS::Logs::LogGroup": _form("arn:aws:logs:{place}:log-group:{name}:*", "Arn", "Ref", "LogGroupName"),
    "AWS::S3::Bucket": _form("arn:aws:s3:::{name}", "Arn", "Ref", "BucketName"),
    "AWS::SNS::Topic": _form("arn:aws:sns:{place}:{name}", "TopicArn Ref", "TopicName", "TopicName"),
    "AWS::SQS::Queue": _form("arn:aws:sqs:{place}:{name}", "Arn", "QueueName", "QueueName"),
    "AWS::SageMaker::Cluster": _form("arn:aws:sagemaker:{place}:cluster/{name}", "ClusterArn Ref", ""),
    "AWS::SecretsManager::Secret": _form("arn:aws:secretsmanager:{place}:secret:{name}", "Id Ref", "", "Name", suffixed=True),
    "AWS::StepFunctions::StateMachine": _form("arn:aws:states:{place}:stateMachine:{name}", "Arn Ref", "Name", "StateMachineName"),
}
"""The ARNs of types that policies name. A resource without a chosen name has one that CloudFormation makes."""
