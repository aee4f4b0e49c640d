"""Words of documents, records and endpoints (read at the sources below, not measured)."""

from __future__ import annotations

from collections.abc import Mapping

SSM_VERSIONS: Mapping[str, tuple[str, ...]] = {
    "Automation": ("0.3",),
    "Command": ("1.2", "2.0", "2.2"),
    "Session": ("1.0",),
    "Policy": ("2.0", "2.2"),
    "Package": ("2.0",),
}
"""Versions of the schema by the type of a document.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-schemas-features.html
"""

SSM_PLUGINS = (
    "aws:applications",
    "aws:cloudWatch",
    "aws:configureDocker",
    "aws:configurePackage",
    "aws:domainJoin",
    "aws:downloadContent",
    "aws:psModule",
    "aws:refreshAssociation",
    "aws:runDockerAction",
    "aws:runDocument",
    "aws:runPowerShellScript",
    "aws:runShellScript",
    "aws:softwareInventory",
    "aws:updateAgent",
    "aws:updateSsmAgent",
)
"""Actions of documents of the type Command.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-command-ssm-plugin-reference.html
"""

SSM_TYPES = ("String", "StringList", "Integer", "Boolean", "MapList", "StringMap")
"""Types of parameters and outputs of documents.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-syntax-data-elements-parameters.html
"""

_RUN = ("commands", "executionTimeout", "workingDirectory")
SSM_PUBLIC: Mapping[str, tuple[str, ...]] = {
    "AWS-ApplyAnsiblePlaybooks": (
        "Check", "ExtraVariables", "InstallDependencies", "PlaybookFile", "SourceInfo", "SourceType", "TimeoutSeconds", "Verbose",
    ),
    "AWS-ConfigureAWSPackage": ("action", "additionalArguments", "installationType", "name", "version"),
    "AWS-RunPatchBaseline": (
        "AssociationId", "BaselineOverride", "InstallOverrideList", "Operation", "RebootOption", "SnapshotId",
    ),
    "AWS-RunPowerShellScript": _RUN,
    "AWS-RunRemoteScript": ("commandLine", "executionTimeout", "sourceInfo", "sourceType", "workingDirectory"),
    "AWS-RunShellScript": _RUN,
    "AWS-UpdateSSMAgent": ("allowDowngrade", "version"),
    "AmazonCloudWatch-ManageAgent": (
        "action", "mode", "optionalConfigurationLocation", "optionalConfigurationSource",
        "optionalOpenTelemetryCollectorConfigurationLocation", "optionalOpenTelemetryCollectorConfigurationSource",
        "optionalRestart",
    ),
}  # fmt: skip
"""Parameters of documents of AWS; a name that is near one of them is meant for it.

Sources: https://docs.aws.amazon.com/systems-manager/latest/userguide/patch-manager-aws-runpatchbaseline.html,
https://docs.aws.amazon.com/systems-manager/latest/userguide/integration-remote-scripts.html,
https://docs.aws.amazon.com/systems-manager/latest/userguide/distributor-working-with-packages-uninstall.html and, of playbooks and
of the agent of CloudWatch, public commands that run them (as of 2026-11-28)
"""
SSM_NEEDED: Mapping[str, str] = dict.fromkeys(("AWS-RunPowerShellScript", "AWS-RunShellScript"), "commands")
"""The parameter without which a document of AWS does nothing."""

SSM_INPUTS: Mapping[str, tuple[str, ...]] = {
    "aws:approve": ("Approvers",),
    "aws:assertAwsResourceProperty": ("Service", "Api", "PropertySelector", "DesiredValues"),
    "aws:branch": ("Choices",),
    "aws:changeInstanceState": ("InstanceIds", "DesiredState"),
    "aws:configurePackage": ("name", "action"),
    "aws:copyImage": ("SourceRegion", "SourceImageId", "ImageName"),
    "aws:createImage": ("InstanceId", "ImageName"),
    "aws:createStack": ("StackName",),
    "aws:deleteImage": ("ImageId",),
    "aws:deleteStack": ("StackName",),
    "aws:downloadContent": ("sourceType", "sourceInfo"),
    "aws:executeAutomation": ("DocumentName",),
    "aws:executeAwsApi": ("Service", "Api"),
    "aws:executeScript": ("Runtime",),
    "aws:invokeLambdaFunction": ("FunctionName",),
    "aws:runCommand": ("DocumentName",),
    "aws:runPowerShellScript": ("runCommand",),
    "aws:runShellScript": ("runCommand",),
    "aws:waitForAwsResourceProperty": ("Service", "Api", "PropertySelector", "DesiredValues"),
}
"""The inputs that each step with an action needs (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/systems-manager/latest/userguide/automation-actions.html and
https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-command-ssm-plugin-reference.html
"""

SESSION_TYPES = ("Standard_Stream", "InteractiveCommands", "NonInteractiveCommands", "Port")
SESSION_INPUTS = (
    "s3BucketName",
    "s3KeyPrefix",
    "s3EncryptionEnabled",
    "cloudWatchLogGroupName",
    "cloudWatchEncryptionEnabled",
    "cloudWatchStreamingEnabled",
    "kmsKeyId",
    "runAsEnabled",
    "runAsDefaultUser",
    "idleSessionTimeout",
    "maxSessionDuration",
    "shellProfile",
)
"""Preferences of sessions.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-schema.html
"""

SESSION_FORMS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("s3EncryptionEnabled", "cloudWatchEncryptionEnabled", "cloudWatchStreamingEnabled", "runAsEnabled"),
        (r"(?i:true|false)", "true or false"),
    ),
    "s3BucketName": (r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "the name of a bucket"),
    "cloudWatchLogGroupName": (r"[.\-_/#A-Za-z0-9]{1,512}", "the name of a log group"),
    "kmsKeyId": (r"(arn:[^:]*:kms:[^:]*:[^:]*:)?(key/|alias/)?[A-Za-z0-9/_-]+", "the id, the alias or the ARN of a key"),
}
"""The forms of the preferences of sessions that are not empty, and the same in words (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-schema.html and
https://docs.aws.amazon.com/systems-manager/latest/userguide/session-preferences-enable-encryption.html
"""
SESSION_SYSTEMS = ("linux", "windows")
"""The systems of which `shellProfile` has the commands, each as a text."""
SESSION_REFERENCES: Mapping[str, tuple[tuple[str, ...], tuple[str | None, ...]]] = {
    "s3BucketName": (("AWS::S3::Bucket",), (None,)),
    "cloudWatchLogGroupName": (("AWS::Logs::LogGroup",), (None,)),
    "kmsKeyId": (("AWS::KMS::Alias", "AWS::KMS::Key"), (None, "Arn", "KeyId")),
}
"""The types of what a preference names, and the attributes with the name; `None` is that of `Ref`."""
SESSION_PLACES: Mapping[str, str] = {
    "s3KeyPrefix": "s3BucketName",
    "runAsDefaultUser": "runAsEnabled",
}
"""Preferences that only do something with another one.

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-schema.html
"""

RECORD_TYPES = (
    "A",
    "AAAA",
    "CAA",
    "CNAME",
    "DS",
    "HTTPS",
    "MX",
    "NAPTR",
    "NS",
    "PTR",
    "SOA",
    "SPF",
    "SRV",
    "SSHFP",
    "SVCB",
    "TLSA",
    "TXT",
)
"""Source: https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/ResourceRecordTypes.html"""

ENDPOINT_SERVICES = (
    "autoscaling",
    "aps",
    "aps-workspaces",
    "athena",
    "backup",
    "batch",
    "bedrock-runtime",
    "cloudformation",
    "cloudtrail",
    "codebuild",
    "codeartifact.api",
    "codeartifact.repositories",
    "ds-data",
    "dynamodb",
    "ebs",
    "ec2",
    "ec2messages",
    "ecr.api",
    "ecr.dkr",
    "ecs",
    "ecs-agent",
    "ecs-telemetry",
    "eks",
    "eks-auth",
    "elasticache",
    "elasticfilesystem",
    "elasticloadbalancing",
    "events",
    "execute-api",
    "fsx",
    "git-codecommit",
    "glue",
    "grafana",
    "grafana-workspace",
    "guardduty-data",
    "kinesis-firehose",
    "kinesis-streams",
    "kms",
    "lambda",
    "license-manager",
    "logs",
    "monitoring",
    "rds",
    "rds-data",
    "s3",
    "s3express",
    "sagemaker.api",
    "sagemaker.api-fips",
    "sagemaker.featurestore-runtime",
    "sagemaker.metrics",
    "sagemaker.runtime",
    "sagemaker.runtime-fips",
    "scheduler",
    "secretsmanager",
    "servicecatalog",
    "sns",
    "sqs",
    "ssm",
    "ssm-contacts",
    "ssm-incidents",
    "ssmmessages",
    "states",
    "sts",
    "sync-states",
    "synthetics",
    "xray",
)
"""Services that endpoints lead to, behind the region. Another one is believed, unless it is one of these with a letter wrong.

Source: https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
"""

SSM_ACTIONS = (
    "aws:approve",
    "aws:assertAwsResourceProperty",
    "aws:branch",
    "aws:changeInstanceState",
    "aws:copyImage",
    "aws:createImage",
    "aws:createStack",
    "aws:createTags",
    "aws:deleteImage",
    "aws:deleteStack",
    "aws:executeAutomation",
    "aws:executeAwsApi",
    "aws:executeScript",
    "aws:executeStateMachine",
    "aws:invokeLambdaFunction",
    "aws:invokeWebhook",
    "aws:loop",
    "aws:pause",
    "aws:runCommand",
    "aws:runInstances",
    "aws:sleep",
    "aws:updateVariable",
    "aws:waitForAwsResourceProperty",
)
"""Actions of documents of the type Automation (as of 2026-11-27).

Source: https://docs.aws.amazon.com/systems-manager/latest/userguide/automation-actions.html
"""

ENDPOINTS_APART = {
    "notebook": "aws.sagemaker.REGION.notebook",
    "sagemaker.notebook": "aws.sagemaker.REGION.notebook",
    "sagemaker.studio": "aws.sagemaker.REGION.studio",
    "studio": "aws.sagemaker.REGION.studio",
}
"""Endpoints that do not begin with com.amazonaws, by how they would be called if they did (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/notebook-interface-endpoint.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/studio-interface-endpoint.html
"""

ENDPOINT_FAMILIES = {"ecr": ("ecr.dkr", "ecr.api")}
"""All endpoints of a service with several, by the beginning of their names (as of 2026-11-28).

Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
"""

ENDPOINT_NAMES = {
    "amp": "aps-workspaces",
    "cloudwatch": "monitoring",
    "cloudwatch-events": "events",
    "cloudwatch-logs": "logs",
    "cloudwatch-metrics": "monitoring",
    "cloudwatchlogs": "logs",
    "container-registry": "ecr.dkr",
    "dkr": "ecr.dkr",
    "dkr.ecr": "ecr.dkr",
    "docker": "ecr.dkr",
    "ecr": "ecr.api",
    "ecr-docker": "ecr.dkr",
    "efs": "elasticfilesystem",
    "elb": "elasticloadbalancing",
    "elbv2": "elasticloadbalancing",
    "eventbridge": "events",
    "firehose": "kinesis-firehose",
    "key-management": "kms",
    "key-management-service": "kms",
    "kinesis": "kinesis-streams",
    "lustre": "fsx",
    "metrics": "monitoring",
    "parameter-store": "ssm",
    "prometheus": "aps-workspaces",
    "registry": "ecr.dkr",
    "sagemaker": "sagemaker.api",
    "sagemaker-runtime": "sagemaker.runtime",
    "secrets": "secretsmanager",
    "session-manager": "ssmmessages",
    "session-messages": "ssmmessages",
    "sessionmanager": "ssmmessages",
    "sfn": "states",
    "ssm-sessions": "ssmmessages",
    "step-functions": "states",
    "stepfunctions": "states",
    "systems-manager": "ssm",
    "systemsmanager": "ssm",
}
"""Names of services elsewhere, as of clients in the SDK, and their names as endpoints (as of 2026-11-27).

Source: https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
"""
