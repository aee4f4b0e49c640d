"""Keys that AWS manages in an account, one for a service (as of 2026-11-27).

Source: https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html#aws-managed-cmk
"""

from __future__ import annotations

from collections.abc import Mapping

OF_AWS = "alias/aws/"
"""The beginning of their aliases. Their policies let everybody in the account use them through their service: no role needs a
permission for that.
"""

OWN_KEY: Mapping[str, str] = {
    "Backup": "backup",
    "DynamoDB": "dynamodb",
    "ECR": "ecr",
    "EFS": "elasticfilesystem",
    "FSx": "fsx",
    "Kinesis": "kinesis",
    "Lambda": "lambda",
    "RDS": "rds",
    "S3": "s3",
    "SNS": "sns",
    "SQS": "sqs",
    "SSM": "ssm",
    "SecretsManager": "secretsmanager",
}
"""The key of a service by its word in the types of CloudFormation, behind that beginning."""

OTHERS: Mapping[str, str] = {"MasterUserSecret": "secretsmanager"}
"""The key of properties that are of another service than their type.

Source: https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/rds-secrets-manager.html
"""

CUSTOMERS_ONLY = frozenset(
    {
        "AWS::APS::Workspace",
        "AWS::Events::Archive",
        "AWS::Events::Connection",
        "AWS::Events::EventBus",
        "AWS::Pipes::Pipe",
        "AWS::SageMaker::Cluster",
        "AWS::Scheduler::Schedule",
        "AWS::StepFunctions::Activity",
        "AWS::StepFunctions::StateMachine",
    }
)
"""Types that take a key of the customer only: what they encrypt without one has a key that AWS owns (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html,
https://docs.aws.amazon.com/prometheus/latest/userguide/encryption-at-rest-Amazon-Service-Prometheus.html,
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-encryption-at-rest-key-options.html,
https://docs.aws.amazon.com/scheduler/latest/UserGuide/encryption-rest.html and
https://docs.aws.amazon.com/step-functions/latest/dg/encryption-at-rest.html
"""
