"""What CloudFormation takes in a template outside of properties (as of 2026-11-27).

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-creationpolicy.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/transform-reference.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.facts.property_schemas import Schema

VERSION = "2010-09-09"
LONGEST_DESCRIPTION = 1024
"""Bytes of the description of a template."""
TRANSFORMS = (
    "AWS::CodeDeployBlueGreen",
    "AWS::Include",
    "AWS::LanguageExtensions",
    "AWS::SecretsManager-2020-07-23",
    "AWS::SecretsManager-2024-09-16",
    "AWS::Serverless-2016-10-31",
    "AWS::ServiceCatalog",
)
"""The macros of AWS; those of accounts have other names."""
SERVERLESS = "AWS::Serverless-"
TRANSFORMED = {
    "AWS::SecretsManager-": ("AWS::SecretsManager::RotationSchedule", "HostedRotationLambda"),
    SERVERLESS: ("AWS::Serverless::", None),
}
"""The types, or beginnings of types, that a macro of AWS makes, by its name before the date, and the property that asks for it."""
FUNCTIONS = tuple(
    f"Fn::{name}"
    for name in [
        "And",
        "Base64",
        "Cidr",
        "Contains",
        "EachMemberEquals",
        "EachMemberIn",
        "Equals",
        "FindInMap",
        "GetAZs",
        "GetAtt",
        "GetStackOutput",
        "If",
        "ImportValue",
        "Join",
        "Length",
        "Not",
        "Or",
        "RefAll",
        "Select",
        "Split",
        "Sub",
        "ToJsonString",
        "Transform",
        "ValueOf",
        "ValueOfAll",
    ]
)
"""The functions of templates, those of rules among them.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
"""
NOT_IN_CONDITIONS = frozenset({"Fn::Cidr", "Fn::GetAtt", "Fn::GetAZs", "Fn::ImportValue"})
"""Functions that conditions and rules do not take: both are computed before there is any resource."""
EXTENSIONS = "AWS::LanguageExtensions"
OF_EXTENSIONS = ("Fn::Length", "Fn::ToJsonString")
LOOP = "Fn::ForEach"
"""The transform without which these functions are none, nor loops, nor the default of `Fn::FindInMap`.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/transform-aws-languageextensions.html
"""

PAIRS: Mapping[tuple[str, str], str] = {
    ("AWS::EC2::VPCEndpoint", "DnsEntries"): "HOSTED_ZONE:NAME",
    ("AWS::NetworkFirewall::Firewall", "EndpointIds"): "ZONE:ENDPOINT",
}
"""Attributes whose items are two things with a colon between them.

Sources: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-ec2-vpcendpoint.html and
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-networkfirewall-firewall.html
"""

ADDRESSES: Mapping[tuple[str, str | None], str] = {
    ("AWS::EKS::Cluster", "OpenIdConnectIssuerUrl"): "https://HOST/id/ID",
    ("AWS::SQS::Queue", None): "https://HOST/ACCOUNT/NAME",
    ("AWS::SQS::Queue", "QueueUrl"): "https://HOST/ACCOUNT/NAME",
}
"""Attributes, and what `Ref` gives, that are addresses of a known form; the words in it have no slash and no colon.

Sources: https://docs.aws.amazon.com/eks/latest/userguide/enable-iam-roles-for-service-accounts.html and
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-queue-message-identifiers.html (as of 2026-11-28)
"""

_BOOLEAN: Schema = {"type": "boolean"}
_PERCENT: Schema = {"type": "integer", "minimum": 0, "maximum": 100}
_SHORT = {"pattern": r"PT(?=\d)(0*[0-5]?\dM)?(\d+S)?|PT1H"}
_TIMEOUT = {"pattern": r"PT(?=\d)((0?\d|1[01])H)?(\d+M)?(\d+S)?|PT12H|PT(\d+M)?(\d+S)?"}
_SIGNAL: Schema = {"properties": {"Count": {"type": "integer", "minimum": 0}, "Timeout": _TIMEOUT}}
_SIGNALLED: Schema = {"properties": {"ResourceSignal": _SIGNAL}}
_ROLLING: Schema = {
    "properties": {
        "MaxBatchSize": {"type": "integer", "minimum": 1},
        "MinActiveInstancesPercent": _PERCENT,
        "MinInstancesInService": {"type": "integer", "minimum": 0},
        "MinSuccessfulInstancesPercent": _PERCENT,
        "PauseTime": _SHORT,
        "SuspendProcesses": {"type": "array"},
        "WaitOnResourceSignals": _BOOLEAN,
    }
}
CREATION_POLICIES: Mapping[str, Schema] = {
    "AWS::AppStream::Fleet": {"properties": {"StartFleet": {"type": ["boolean", "object"]}}},
    "AWS::AutoScaling::AutoScalingGroup": {
        "properties": {
            "AutoScalingCreationPolicy": {"properties": {"MinSuccessfulInstancesPercent": _PERCENT}},
            "ResourceSignal": _SIGNAL,
        }
    },
    "AWS::CloudFormation::WaitCondition": _SIGNALLED,
    "AWS::EC2::Instance": _SIGNALLED,
}
"""The creation policies by type; other types have none."""
UPDATE_POLICIES: Mapping[str, Schema] = {
    "AWS::AppStream::Fleet": {"properties": {"StartAfterUpdate": {"type": "object"}, "StopBeforeUpdate": {"type": "object"}}},
    "AWS::AutoScaling::AutoScalingGroup": {
        "dependentExcluded": {"AutoScalingInstanceRefresh": ["AutoScalingRollingUpdate"]},
        "properties": {
            "AutoScalingInstanceRefresh": {"type": "object"},
            "AutoScalingReplacingUpdate": {"properties": {"WillReplace": _BOOLEAN}},
            "AutoScalingRollingUpdate": _ROLLING,
            "AutoScalingScheduledAction": {"properties": {"IgnoreUnmodifiedGroupSizeProperties": _BOOLEAN}},
        },
    },
    "AWS::ElastiCache::ReplicationGroup": {"properties": {"UseOnlineResharding": _BOOLEAN}},
    "AWS::Elasticsearch::Domain": {"properties": {"EnableVersionUpgrade": _BOOLEAN}},
    "AWS::Lambda::Alias": {"properties": {"CodeDeployLambdaAliasUpdate": {"type": "object"}}},
    "AWS::OpenSearchService::Domain": {"properties": {"EnableVersionUpgrade": _BOOLEAN}},
}
"""The update policies by type; other types have none."""

_TEXT: Schema = {"type": ["string", "object", "array", "boolean", "number"]}
_OBJECT: Schema = {"type": "object"}
CONFIG: Schema = {
    "properties": {
        "commands": {
            "type": "object",
            "additionalProperties": {
                "properties": dict.fromkeys(("command", "cwd", "env", "ignoreErrors", "test", "waitAfterCompletion"), _TEXT),
                "required": ["command"],
            },
        },
        "files": {
            "type": "object",
            "additionalProperties": {
                "properties": dict.fromkeys(
                    ("authentication", "content", "context", "encoding", "group", "mode", "owner", "source"), _TEXT
                ),
                "dependentExcluded": {"content": ["source"]},
            },
        },
        "groups": _OBJECT,
        "packages": _OBJECT,
        "services": {"properties": dict.fromkeys(("systemd", "sysvinit", "windows"), _OBJECT)},
        "sources": _OBJECT,
        "users": _OBJECT,
    }
}
"""A config of cfn-init.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-init.html
"""
