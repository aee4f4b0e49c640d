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
