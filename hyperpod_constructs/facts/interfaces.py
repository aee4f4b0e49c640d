"""What has interfaces in a VPC beside nodes, and the endpoints of the services that it calls (as of 2026-11-24)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Interfaces:
    """The places of subnets, security groups and the role in a type."""

    subnets: tuple[str, ...]
    groups: tuple[str, ...]
    role: str


INTERFACES: Mapping[str, Interfaces] = {
    "AWS::CodeBuild::Project": Interfaces(
        subnets=("VpcConfig", "Subnets"), groups=("VpcConfig", "SecurityGroupIds"), role="ServiceRole"
    ),
    "AWS::Lambda::Function": Interfaces(subnets=("VpcConfig", "SubnetIds"), groups=("VpcConfig", "SecurityGroupIds"), role="Role"),
}
"""Their interfaces have no public address.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc-internet.html and
https://docs.aws.amazon.com/codebuild/latest/userguide/vpc-support.html
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hosted(Interfaces):
    """What SageMaker runs with interfaces in a VPC.

    :param when: ways in its properties; it uses the services by the VPC if one leads to something.
    :param services: those without which it does not start, beside S3 for a role that reads a bucket.
    :param inner: ports on which its interfaces reach each other over TCP.
    """

    when: tuple[str, ...]
    services: tuple[str, ...] = ()
    inner: range = range(0)


_ROTATION = "HostedRotationLambda"
HOSTED_ROTATION = Interfaces(subnets=(_ROTATION, "VpcSubnetIds"), groups=(_ROTATION, "VpcSecurityGroupIds"), role="")
"""Those of the function that CloudFormation makes for the rotation of a secret.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-secretsmanager-rotationschedule-hostedrotationlambda.html
"""

HOSTED: Mapping[str, Hosted] = {
    "AWS::SageMaker::Domain": Hosted(
        subnets=("SubnetIds",),
        groups=("DefaultUserSettings", "SecurityGroups"),
        role="DefaultUserSettings/ExecutionRole",
        when=("[AppNetworkAccessType=VpcOnly]",),
        services=("sagemaker.api", "sagemaker.runtime"),
        inner=range(8192, 65536),
    ),
    "AWS::SageMaker::Model": Hosted(
        subnets=("VpcConfig", "Subnets"),
        groups=("VpcConfig", "SecurityGroupIds"),
        role="ExecutionRoleArn",
        when=tuple(f"{at}/{key}" for at in ("PrimaryContainer", "Containers/*") for key in ("ModelDataUrl", "ModelDataSource")),
        services=("s3",),
    ),
    "AWS::SageMaker::NotebookInstance": Hosted(
        subnets=("SubnetId",), groups=("SecurityGroupIds",), role="RoleArn", when=("[DirectInternetAccess=Disabled]",)
    ),
}
"""The apps of domains of Studio, models, and notebooks.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/studio-notebooks-and-internet-access.html,
https://docs.aws.amazon.com/sagemaker/latest/dg/host-vpc.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/appendix-notebook-and-internet-access.html
"""

ENDPOINTS: Mapping[str, str] = {
    "aps": "aps-workspaces",
    "cloudwatch": "monitoring",
    "codebuild": "codebuild",
    "codepipeline": "codepipeline",
    "dynamodb": "dynamodb",
    "ecr": "ecr.api",
    "eks": "eks",
    "events": "events",
    "firehose": "kinesis-firehose",
    "fsx": "fsx",
    "kinesis": "kinesis-streams",
    "lambda": "lambda",
    "s3": "s3",
    "sagemaker": "sagemaker.api",
    "secretsmanager": "secretsmanager",
    "sns": "sns",
    "sqs": "sqs",
    "ssm": "ssm",
    "states": "states",
}
"""The endpoints of services by the prefix of their actions.

Source: https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
"""

GRANTED = {prefix: ENDPOINTS[prefix] for prefix in ("aps", "dynamodb", "kinesis", "secretsmanager", "sns", "sqs", "states")}
"""Those that programs call by themselves, by the prefix of their actions. Buckets and images have uses of their own, and keys are
used by the services that encrypt with them.

Source: https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html (as of 2026-11-30)
"""

BY_SERVICE = frozenset(
    {
        "codebuild:batchputcodecoverages",
        "codebuild:batchputtestcases",
        "codebuild:createreport",
        "codebuild:createreportgroup",
        "codebuild:updatereport",
        "dynamodb:describestream",
        "dynamodb:getrecords",
        "dynamodb:getsharditerator",
        "dynamodb:liststreams",
        "kinesis:getrecords",
        "kinesis:getsharditerator",
        "sqs:changemessagevisibility",
        "sqs:deletemessage",
        "sqs:getqueueattributes",
        "sqs:getqueueurl",
        "sqs:receivemessage",
    }
)
"""Actions that Lambda makes for a function, and CodeBuild for a build, from its own network, in small letters.

Sources: https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventsourcemapping.html and
https://docs.aws.amazon.com/codebuild/latest/userguide/test-permissions.html
"""

OF_APPLIERS = ("eks", "lambda", "s3")
"""The endpoints that functions with kubectl need.

Source: https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html
"""

CALLERS = frozenset(
    {
        "AWS::CodeBuild::Project",
        "AWS::EC2::Instance",
        "AWS::EC2::LaunchTemplate",
        "AWS::ECS::Service",
        "AWS::EKS::Cluster",
        "AWS::EKS::Nodegroup",
        "AWS::Lambda::Function",
        "AWS::SageMaker::Cluster",
        "AWS::SageMaker::Domain",
        "AWS::SageMaker::NotebookInstance",
    }
)
"""Types whose interfaces may call the Kubernetes API of a cluster.

Source: https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html
"""
