"""Writes `property_schemas.tsv`, `more_property_schemas.tsv`, `regions_without.tsv`, `attributes.tsv` and `ec2_types.tsv` of
`hyperpod_constructs/facts`.

They say what CloudFormation takes as properties, and what it gives as attributes. Services that are seldom beside a cluster have a
file of their own, which is read only for a template with one of their types.

The schemas are cfn-lint's for us-east-1 (MIT-0), with its extensions: types that the schema leaves out are of other services.
Descriptions go; patterns become Python's; what says the same in many words is said in few (`_compact`). A type whose schema has
no limits gets those of the service's request, from botocore's newest model, in a row of its own (`TYPE limits`).

    python tools/generate_property_schemas.py           # writes the facts
    python tools/generate_property_schemas.py --check   # exits 1 if the facts are stale
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tools.generate_update_facts import (
    CFN_LINT_VERSION,
    EMITTED,
    FACTS,
    MODEL_VERSION,
    MODELS,
    REGION,
    check_version,
    package,
    read,
    service_model,
    shape_words,
    write_or_check,
)

SCHEMAS = FACTS.with_name("property_schemas.tsv")
REGIONS = FACTS.with_name("regions_without.tsv")
ATTRIBUTES = FACTS.with_name("attributes.tsv")
MORE = FACTS.with_name("more_property_schemas.tsv")
EC2_TYPES = FACTS.with_name("ec2_types.tsv")
SERVICES = (
    "APS", "AutoScaling", "Backup", "Budgets", "CertificateManager", "CloudFormation", "CloudTrail", "CloudWatch",
    "CodeBuild", "DLM", "DataSync", "DynamoDB", "EC2", "ECR", "EFS", "EKS", "ElasticLoadBalancingV2", "Events", "FSx",
    "Grafana", "IAM", "KMS", "Kinesis", "KinesisFirehose", "Lambda", "Logs", "Pipes", "RDS", "Route53", "Route53Resolver",
    "S3", "SNS", "SQS", "SSM", "SageMaker", "Scheduler", "SecretsManager", "ServiceDiscovery", "StepFunctions",
)  # fmt: skip

MORE_SERVICES = (
    "ACMPCA", "AIOps", "AccessAnalyzer", "AmazonMQ", "ApiGateway", "ApiGatewayV2", "AppConfig", "ApplicationAutoScaling",
    "ApplicationInsights", "ApplicationSignals", "Athena", "BCMDataExports", "Batch", "Bedrock", "CE", "CUR", "Chatbot",
    "CloudFront", "CodeArtifact", "CodeCommit", "CodeConnections", "CodeDeploy", "CodePipeline", "CodeStarConnections",
    "CodeStarNotifications", "Cognito", "ComputeOptimizer", "Config", "DAX", "Detective", "DirectoryService", "DocDB", "ECS",
    "EMR", "EMRContainers", "EMRServerless", "ElastiCache", "ElasticLoadBalancing", "EventSchemas", "FIS",
    "GlobalAccelerator", "Glue", "GuardDuty", "IdentityStore", "ImageBuilder", "InspectorV2", "InternetMonitor",
    "LakeFormation", "MSK", "MWAA", "Macie", "MemoryDB", "Neptune", "NetworkFirewall", "NetworkFlowMonitor", "NetworkManager",
    "NetworkMonitor", "Notifications", "NotificationsContacts", "OSIS", "Oam", "ObservabilityAdmin", "OpenSearchServerless",
    "OpenSearchService", "Organizations", "PCS", "RAM", "Rbin", "Redshift", "RedshiftServerless", "ResourceExplorer2",
    "ResourceGroups", "RolesAnywhere", "Route53Profiles", "Route53RecoveryControl", "S3Express", "S3Files", "S3Tables",
    "S3Vectors", "SES", "SSMContacts", "SSMIncidents", "SSMQuickSetup", "SSO", "SecurityHub", "SecurityLake",
    "ServiceCatalog", "ServiceCatalogAppRegistry", "Shield", "Signer", "Synthetics", "Timestream", "Transfer", "VpcLattice",
    "WAFv2", "XRay",
)  # fmt: skip
#: Types that take any property, which their makers name.
OPEN = ("AWS::CloudFormation::CustomResource",)

#: Types whose schema has no limits: the request that has them, in botocore's models.
REQUESTS = {
    "AWS::EC2::Subnet": ("ec2", "ModifySubnetAttribute"),
    "AWS::EKS::Addon": ("eks", "CreateAddon"),
    "AWS::FSx::FileSystem": ("fsx", "CreateFileSystem"),
}
#: Services whose names in botocore are other than theirs in small letters.
MODELS_OF = {
    "APS": "amp", "ApplicationAutoScaling": "application-autoscaling", "BCMDataExports": "bcm-data-exports", "CE": "ce",
    "CertificateManager": "acm", "ACMPCA": "acm-pca", "ApplicationInsights": "application-insights",
    "ApplicationSignals": "application-signals", "CodeConnections": "codeconnections",
    "CodeStarConnections": "codestar-connections", "CodeStarNotifications": "codestar-notifications",
    "Cognito": "cognito-idp", "ComputeOptimizer": "compute-optimizer", "DirectoryService": "ds",
    "EMRContainers": "emr-containers", "EMRServerless": "emr-serverless", "ElasticLoadBalancing": "elb",
    "ElasticLoadBalancingV2": "elbv2", "InspectorV2": "inspector2", "KinesisFirehose": "firehose", "MSK": "kafka",
    "NetworkFirewall": "network-firewall", "OpenSearchService": "opensearch", "RedshiftServerless": "redshift-serverless",
    "ResourceExplorer2": "resource-explorer-2", "ResourceGroups": "resource-groups", "SSMContacts": "ssm-contacts",
    "SSMIncidents": "ssm-incidents", "SSMQuickSetup": "ssm-quicksetup", "SSO": "sso-admin",
    "ServiceCatalogAppRegistry": "servicecatalog-appregistry", "StepFunctions": "stepfunctions", "VpcLattice": "vpc-lattice",
}  # fmt: skip
#: Services whose requests CloudFormation writes in words of its own.
_OWN_WORDS = ("CloudFormation", "RDS", "S3", "SNS", "SQS")
#: Services that take their words in either case: CDK writes those of Batch in small letters.
_EITHER_CASE = ("Batch",)
#: Requests of other names.
OTHER_REQUESTS = {
    "AWS::AutoScaling::LifecycleHook": ("autoscaling", "PutLifecycleHook"),
    "AWS::AutoScaling::ScalingPolicy": ("autoscaling", "PutScalingPolicy"),
    "AWS::CloudWatch::Alarm": ("cloudwatch", "PutMetricAlarm"),
    "AWS::EC2::FlowLog": ("ec2", "CreateFlowLogs"),
    "AWS::EC2::Instance": ("ec2", "RunInstances"),
    "AWS::EC2::VPCEndpoint": ("ec2", "CreateVpcEndpoint"),
    "AWS::EFS::MountTarget": ("efs", "CreateMountTarget"),
    "AWS::Events::Rule": ("events", "PutRule"),
    "AWS::Lambda::EventInvokeConfig": ("lambda", "PutFunctionEventInvokeConfig"),
    "AWS::Logs::LogGroup": ("logs", "CreateLogGroup"),
    "AWS::Logs::MetricFilter": ("logs", "PutMetricFilter"),
    "AWS::Logs::SubscriptionFilter": ("logs", "PutSubscriptionFilter"),
    "AWS::SSM::Parameter": ("ssm", "PutParameter"),
}
#: Longer lists of words grow every month, such as those of instance types: a new word is no mistake.
_LONGEST_LIST = 100
_ENDLESS = 2**31 - 1
_NUMBERS = ("double", "float", "integer", "long")
_DIGITS = r"-?\d+(\.\d+)?"
#: The form of a pattern that says of which characters a name is, and how many.
_OF_NAMES = re.compile(r"\^?\[(?=[^\]]*a-z)(?=[^\]]*0-9)[^\]]+\](\{\d+,\d+\}|\+)\$?")
#: Names of a request that CloudFormation calls otherwise.
RENAMED = {"PrivateDnsHostnameTypeOnLaunch": "PrivateDnsNameOptionsOnLaunch/HostnameType"}

_VPC = {
    "Subnets/*": {"format": "AWS::EC2::Subnet.Id"},
    "SecurityGroupIds/*": {"format": "AWS::EC2::SecurityGroup.Id"},
}
#: What the schemas leave out or say wrong, by type and path; `None` takes a word away.
CORRECTIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    # A path until `aws cloudformation package` has uploaded the code.
    "AWS::Lambda::Function": {"Code": {"type": ["object", "string"]}},
    "AWS::Lambda::LayerVersion": {"Content": {"type": ["object", "string"]}},
    "AWS::FSx::FileSystem": {"SubnetIds/*": {"format": "AWS::EC2::Subnet.Id"}},
    # The model of the service, and the words of the page, have underscores too.
    "AWS::SageMaker::FeatureGroup": {
        path: {"pattern": "^[a-zA-Z0-9]([_-]*[a-zA-Z0-9]){0,63}"}
        for path in ("RecordIdentifierFeatureName", "EventTimeFeatureName", "FeatureDefinitions/*/FeatureName")
    },
    "AWS::SageMaker::Cluster": {
        # "default" is an image too.
        "InstanceGroups/*/ImageId": {"format": None},
        **{
            f"{place}/{path}": limit
            for place in ("VpcConfig", "InstanceGroups/*/OverrideVpcConfig")
            for path, limit in _VPC.items()
        },
    },
}

#: The extensions that are taken over, with the demand in words.
EXTENSIONS = {
    "E3045": "an ACL needs OwnershipControls that leave ACLs on",
    "E3501": "only a FIFO queue takes deduplication, and its name ends with .fifo",
    "E3615": "a metric has a period of 10 or 30 seconds, or of a multiple of 60",
    "E3633": "a stream as event source needs StartingPosition",
    "E3634": "a queue as event source takes no StartingPosition",
    "E3661": "a health check of an alarm names it",
    "E3663": "the name is reserved by Lambda",
    "E3671": "volumes take Iops only with io1, io2 and gp3, and io1 and io2 need it",
    "E3674": "a primary address is given once",
    "E3676": "HTTPS and TLS have a certificate",
    "E3677": "code in the template is for Python and Node.js",
    "E3678": "code in the template needs Runtime",
    "E3680": "an application load balancer is in two zones",
    "E3681": "targets that are a function have no protocol, port or VPC, and others have all three",
    "E3682": "Aurora keeps storage, backups and credentials at its cluster",
    "E3684": "a check of TCP has no path and no answer",
    "E3685": "a function of an image has its handler, runtime and layers in the image",
    "E3686": "a cluster with the engine mode serverless takes none of these",
    "E3687": "TCP and UDP take FromPort and ToPort",
    "E3688": "ICMP with all types has -1 as both ports",
    "E3689": "monitoring has an interval and a role together",
    "E3692": "a Multi-AZ cluster has a class, storage and IOPS of its own",
    "E3693": "Aurora takes no storage of its own",
    "E3696": "SystemLogLevel is for logs in JSON",
    "E3717": "a function runs 900 seconds at most",
    "E3719": "backups are kept 0 to 35 days",
    "E3720": "an own key needs StorageEncrypted: true",
    "E3721": "ReplicaMode is for Oracle and Db2",
    "E3725": "each kind of file system has a smallest size",
}

#: Properties with classes of machines, by type: the file of cfn-lint that lists them.
CLASSES = {
    "AWS::DAX::Cluster": {"NodeType": "aws_dax_cluster/nodetype_enum"},
    "AWS::DocDB::DBInstance": {"DBInstanceClass": "aws_docdb_dbinstance/dbinstanceclass_enum"},
    "AWS::ElastiCache::CacheCluster": {"CacheNodeType": "aws_elasticache_cachecluster/cachenodetype_enum"},
    "AWS::ElastiCache::ReplicationGroup": {"CacheNodeType": "aws_elasticache_cachecluster/cachenodetype_enum"},
    "AWS::Neptune::DBInstance": {"DBInstanceClass": "aws_neptune_dbinstance/dbinstanceclass_enum"},
    "AWS::OpenSearchService::Domain": {
        "ClusterConfig/DedicatedMasterType": "aws_opensearchservice_domain/clusterconfig_instancetype_enum",
        "ClusterConfig/InstanceType": "aws_opensearchservice_domain/clusterconfig_instancetype_enum",
    },
    "AWS::Redshift::Cluster": {"NodeType": "aws_redshift_cluster/nodetype_enum"},
}

#: Types whose attributes are the outputs of a template or of a function.
_FREE = (
    "AWS::CloudFormation::CustomResource",
    "AWS::CloudFormation::Stack",
    "AWS::ServiceCatalog::CloudFormationProvisionedProduct",
)

#: Kept words of a schema; the others say nothing about a value.
_WORDS = (
    "$ref", "additionalProperties", "allOf", "anyOf", "const", "dependentExcluded", "dependentRequired", "else", "enum",
    "enumCaseInsensitive", "format", "if", "items", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength",
    "minProperties", "minimum", "not", "oneOf", "pattern", "patternProperties", "properties", "propertyNames", "required",
    "requiredOr", "requiredXor", "then", "type", "uniqueItems",
)  # fmt: skip
_NESTED = ("additionalProperties", "else", "if", "items", "not", "propertyNames", "then")
_LISTED = ("allOf", "anyOf", "oneOf")
_NAMED = ("patternProperties", "properties")
#: Words that limit nothing with this value.
_IDLE = (("uniqueItems", False), ("minLength", 0), ("minItems", 0), ("minProperties", 0))

#: Patterns that mean a beginning, although those of a service mean the whole text.
_BEGINNINGS = re.compile(
    r"\^?\[[^\]]*\]|(?:.*:)?(?:\\S|\[[^\]]*\])|.*[/:]$|.*/\\\*|.*/\*"
    r"|\^\(\?!aws:\.\*\)|\^\.\?P\.\*|\^\(\(\?!\[:\*\$\].*|\^\(https:.*"
)
_ARN = r"arn:[-\w+=\/,.@]+:[-\w+=\/,.@]+:[-\w+=\/,.@]*:[0-9]+:"
_HOLE = r"\$\{[A-Za-z]+(?:\.[A-Za-z]+){1,2}\}"
#: Patterns that a text can keep busy for ever, or that refuse what the service takes: the same in other words, or `None`.
_REWRITTEN: Mapping[str, str | None] = {
    _ARN + r"([\w+=\/,.@:-]+)*": _ARN + r"[\w+=\/,.@:-]*",
    r"^[0-9a-z]+[0-9a-z\.\-]*[0-9a-z]+$": r"^[0-9a-z][0-9a-z.\-]*[0-9a-z]$",
    r"^(?:[\._\-/#A-Za-z0-9]+|" + _HOLE + ")+$": r"^(?:[\._\-/#A-Za-z0-9]|" + _HOLE + ")+$",
    r"\{####\}": r"^[\s\S]*\{####\}[\s\S]*$",
    # A range that lacks the hyphen, which every name may have.
    "[0-z]*": None,
    "[A-z][0-z]*": None,
    r"(\w|\d|\s|\\|-|\.:=+-)*": None,
    r"(?:[ \r\n\t].*)*$": None,
    r"^([^:*\/]+\/?)*[^:*\/]+$": r"^[^:*\/]+(\/[^:*\/]+)*$",
    r"^https://([.\-_a-zA-Z0-9]+/?){3,1016}$": r"^https://[.\-_a-zA-Z0-9]+(/[.\-_a-zA-Z0-9]+)*/?$",
    r"arn:aws(-[a-z0-9-]+)*:ssm:[a-z0-9-]+:[0-9]{12}:parameter/.+": r"arn:aws[a-z0-9-]*:ssm:[a-z0-9-]+:[0-9]{12}:parameter/.+",
    r"^[a-zA-Z](?:-?[a-zA-Z0-9]+)*$": r"^[a-zA-Z](?:-?[a-zA-Z0-9])*$",
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9]){0,39}?$": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    r"^https://[A-Za-z0-9]((.|-+)?[A-Za-z0-9]){0,252}/[a-z0-9](-?[a-z0-9]){2,62}$": r"^https://[A-Za-z0-9][^/]*/[a-z0-9](-?[a-z0-9]){2,62}$",
    r"^[a-z0-9*](?:[._\-/a-z0-9*]?[a-z0-9*]+)*$": r"^[a-z0-9*](?:[._\-/]?[a-z0-9*])*$",
    r"^[ \t]*[^\x00-\x1F\x7F]+([ \t]+[^\x00-\x1F\x7F]+)*[ \t]*$": None,
    r"^[ \t]*[\x20-\x7E]+([ \t]+[\x20-\x7E]+)*[ \t]*|(\$(\.[\w/_-]+(\[(\d+|\*)\])*)*)$": None,
    r"^[ \t]*[\x20-\x7E]+([ \t]+[\x20-\x7E]+)*[ \t]*$": None,
    r"^([A-Za-z0-9]+[A-Za-z0-9-.]*)*[A-Za-z0-9-]*[A-Za-z0-9]$": r"^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$",
}
_CLASSES = {
    "C": r"\x00-\x1f\x7f",
    "L": r"a-zA-Z\u0080-\U0010ffff",
    "M": "",
    "N": "0-9",
    "P": r"!\"#%&'()*,\-./:;?@\[\\\]_{}",
    "S": "$+<=>^`|~",
    "Z": " ",
}
_ANY = {"", ".*", "^.*$", r"[\s\S]*", r"[\S\s]*", r"^[\s\S]*$", r"^[\S\s]*$"}


def render() -> dict[Path, str]:
    """The texts of the tables."""
    check_version()
    folder = package("cfnlint") / "data" / "schemas"
    provided: dict[str, dict[str, str]] = {
        file.stem: read(file) for file in sorted((folder / "providers").glob("*.json")) if file.stem != "sam"
    }
    names = [name for name in sorted(provided[REGION]) if name in EMITTED or name.split("::")[1] in SERVICES]
    names = [name for name in names if name not in OPEN]
    more = [name for name in sorted(provided[REGION]) if name.split("::")[1] in MORE_SERVICES]
    extensions = _extensions()
    cluster_types = {
        region: words["enum"]
        for region, words in read(folder / "extensions" / "aws_sagemaker_cluster" / "instancetype_enum.json").items()
        if region in provided
    }
    rows, others = (
        [row for name in of for row in _rows(name, read(folder / "resources" / f"{provided[REGION][name]}.json"), extensions)]
        for of in (names, more)
    )
    head = [
        f"# CloudFormation resource schemas of {REGION}, as cfn-lint {CFN_LINT_VERSION} ships them (MIT-0);",
        f"# rows of limits: models of botocore {MODEL_VERSION} (Apache-2.0). tools/generate_property_schemas.py writes this file.",
    ]
    without = [f"{name}\t{','.join(region for region in provided if name not in provided[region])}" for name in names]
    without += [f"{kind}\t{','.join(sorted(set(cluster_types) - offered))}" for kind, offered in _offered(cluster_types)]
    source = [
        f"# Types of resources, and of nodes, with the regions that lack them, as cfn-lint {CFN_LINT_VERSION} knows them (MIT-0).",
        f"# regions\t{','.join(sorted(provided))}",
        f"# regions of nodes\t{','.join(sorted(cluster_types))}",
    ]
    return {
        SCHEMAS: _lines([*head, *rows]),
        MORE: _lines([*head, *others]),
        EC2_TYPES: _lines(
            [f"# Families of EC2 with their sizes, from the model of botocore {MODEL_VERSION} (Apache-2.0).", *_families()]
        ),
        REGIONS: _lines([*source, *(row for row in without if not row.endswith("\t"))]),
        ATTRIBUTES: _lines(
            [
                f"# Types with the attributes that Fn::GetAtt takes, as cfn-lint {CFN_LINT_VERSION} knows them (MIT-0).",
                *(f"{name}\t{','.join(_attributes(schema))}" for name, schema in _attributed(folder, provided[REGION])),
            ]
        ),
    }


def _rows(name: str, schema: Mapping[str, Any], extensions: Mapping[str, list[list[Any]]]) -> Iterator[str]:
    """The row of a type, and that of its limits."""
    found = _schema_of(name, schema, extensions.get(name, []))
    limits = _limits(name, found)
    for key, node in [(name, found), *([(f"{name} limits", limits)] if limits else [])]:
        yield f"{key}\t{json.dumps(node, separators=(',', ':'), sort_keys=True)}"


def _families() -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for kind in sorted(_model("ec2")["shapes"]["InstanceType"]["enum"]):
        family, _, size = kind.partition(".")
        found.setdefault(family, []).append(size)
    return (f"{family}\t{','.join(sizes)}" for family, sizes in found.items())


def _attributed(folder: Path, provided: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """The types with their schemas, without those whose attributes are free."""
    return ((name, read(folder / "resources" / f"{digest}.json")) for name, digest in sorted(provided.items()) if name not in _FREE)


def _attributes(schema: Mapping[str, Any]) -> list[str]:
    """The attributes that `Fn::GetAtt` takes: those that only the service sets, and of some types every property."""
    getatts = importlib.import_module("cfnlint.schema._getatts")
    schemas = importlib.import_module("cfnlint.schema")
    found: Mapping[str, str] = getatts.GetAtts(schemas.Schema(dict(schema))).attrs.data
    return sorted(found)


def _schema_of(name: str, schema: Mapping[str, Any], extensions: Sequence[list[Any]]) -> dict[str, Any]:
    found: dict[str, Any] = _compact(schema, closed=True)
    found["definitions"] = {key: _compact(node, closed=True) for key, node in schema.get("definitions", {}).items()}
    for path in schema.get("readOnlyProperties", ()):
        for node in _at(found, found, path.removeprefix("/properties/").split("/")):
            node["readOnly"] = True
    for path, words in CORRECTIONS.get(name, {}).items():
        for node in _at(found, found, path.split("/") if path else []):
            node.update(words)
            for word in [word for word, value in words.items() if value is None]:
                del node[word]
    found["definitions"] |= _STATEMENTS
    used = set(re.findall(r'"\$ref": "(\w+)"', json.dumps([found, extensions])))
    found["definitions"] = {key: node for key, node in found["definitions"].items() if key in used}
    identifier = schema.get("primaryIdentifier", ())
    if len(identifier) == 1:
        found["ref"] = identifier[0].removeprefix("/properties/")
    if extensions:
        found["extensions"] = sorted(extensions, key=json.dumps)
    return found


def _compact(node: Any, *, closed: bool) -> Any:
    """A schema in few words.

    :param closed: whether its patterns mean the whole text, and its objects take no other properties where it says so.
    """
    if not isinstance(node, dict):
        return node
    found: dict[str, Any] = {}
    for word in _WORDS:
        if word not in node or (word, node[word]) in _IDLE:
            continue
        value = node[word]
        if word in _NAMED:
            found[word] = {key: _compact(child, closed=closed) for key, child in value.items()}
        elif word in _NESTED:
            found[word] = _compact(value, closed=closed)
        elif word in _LISTED:
            found[word] = [_compact(child, closed=closed) for child in value]
        elif word == "$ref":
            found |= {word: value.removeprefix("#/definitions/")} if value.startswith("#/definitions/") else {}
        elif word == "pattern":
            found |= _pattern(value, whole=closed)
        elif word != "format" or "." in value or value.endswith("-network"):
            found[word] = value
    if "patternProperties" in found:
        found["patternProperties"] = {_translated(key, whole=False): child for key, child in found["patternProperties"].items()}
    named = "properties" in found or "patternProperties" in found
    if named and found.get("additionalProperties", True) is False:
        del found["additionalProperties"]
    elif named:
        found["additionalProperties"] = found.get("additionalProperties", True)
    elif found.get("additionalProperties") in (True, False):
        del found["additionalProperties"]
    return _alternatives(found)


def _alternatives(node: dict[str, Any]) -> dict[str, Any]:
    """One or any of several, as properties that exclude or complete each other, so that a mistake has a place."""
    for word, meaning in (("oneOf", "requiredXor"), ("anyOf", "requiredOr")):
        branches = node.get(word)
        if branches and all(set(one) == {"required"} and len(one["required"]) == 1 for one in branches):
            node[meaning] = [one["required"][0] for one in node.pop(word)]
        elif branches and all(_is_single(one) for one in branches):
            for one in node.pop(word):
                node.setdefault("properties", {}).update(one["properties"])
            node["requiredXor"] = sorted(node["properties"])
        elif branches and not all(branches):
            del node[word]
    refused = node.get("not")
    if isinstance(refused, dict) and "anyOf" not in refused and "requiredOr" in refused:
        node["properties"] = node.get("properties", {}) | dict.fromkeys(refused["requiredOr"], False)
        node.setdefault("additionalProperties", True)
        del node["not"]
    return node


def _is_single(branch: Mapping[str, Any]) -> bool:
    """Whether a branch is an object with one property."""
    return set(branch) <= {"properties", "required", "type"} and len(branch.get("properties", ())) == 1


def _pattern(pattern: str, *, whole: bool) -> dict[str, str]:
    translated = None if pattern in _ANY else _translated(_REWRITTEN.get(pattern, pattern), whole=whole)
    return {} if translated is None else {"pattern": translated}


def _translated(pattern: str | None, *, whole: bool) -> str | None:
    """A pattern of ECMA in Python's words, for a match of the whole text; `None` for one that Python cannot say.

    A class of letters is wider here: every character beyond ASCII counts as a letter.
    """
    if pattern is None:
        return None
    text = re.sub(r"\\p\{(\w)\}", lambda match: _CLASSES[match[1]], pattern).replace("\\Z", "$")
    if not whole or _BEGINNINGS.fullmatch(pattern):
        begins, ends = pattern.startswith("^"), pattern.endswith("$")
        text = f"{'' if begins else '[^]*'}(?:{text}){'' if ends else '[^]*'}".replace("[^]", "[\\s\\S]")
    try:
        re.compile(text, re.ASCII)
    except re.error:
        return None
    return text


def _at(schema: Mapping[str, Any], node: dict[str, Any], path: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The nodes at a path; `*` is an item of a list. A definition that others use too is copied to its place."""
    if not path:
        yield node
        return
    if "$ref" in node:
        node.update(json.loads(json.dumps(schema["definitions"][node.pop("$ref")])))
    parent, key = (node, "items") if path[0] == "*" else (node.get("properties", {}), path[0])
    if isinstance(parent.get(key), dict):
        child = parent[key]
        if "$ref" in child:
            child.update(json.loads(json.dumps(schema["definitions"][child.pop("$ref")])))
        yield from _at(schema, child, path[1:])


def _extensions() -> dict[str, list[list[Any]]]:
    """cfn-lint's schemas of single places, by type, each with its path and demand."""
    resources = importlib.import_module("cfnlint.rules.resources")
    kinds = importlib.import_module("cfnlint.rules.jsonschema.CfnLintJsonSchema")

    found: dict[str, list[list[Any]]] = {}
    for module in pkgutil.walk_packages(resources.__path__, f"{resources.__name__}."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if kind.__module__ != module.name or not issubclass(kind, kinds.CfnLintJsonSchema):
                continue
            rule: Any = kind()
            for place in dict.fromkeys(rule.keywords if rule.id in EXTENSIONS else ()):
                name, _, path = place.removeprefix("Resources/").partition("/Properties")
                found.setdefault(name, []).append([path.strip("/"), EXTENSIONS[rule.id], _compact(rule.schema, closed=False)])
    for name, places in CLASSES.items():
        found.setdefault(name, []).extend([path, "", {"classes": _classes(file)}] for path, file in places.items())
    for name, place, statement in _POLICIES:
        found.setdefault(name, []).append([place, "", _policy(statement)])
    return found


def _classes(file: str) -> dict[str, Any]:
    """The classes of machines of a service, those of all regions, without what all their names have in common."""
    listed = read(package("cfnlint") / "data" / "schemas" / "extensions" / f"{file}.json").values()
    names = sorted({name for region in listed if isinstance(region, dict) for name in region["enum"]})
    parts = [name.split(".") for name in names]
    begins, ends = {one[0] for one in parts}, {one[-1] for one in parts}
    before = f"{min(begins)}." if len(begins) == 1 else ""
    behind = f".{min(ends)}" if len(ends) == 1 else ""
    found: dict[str, list[str]] = {}
    for name in names:
        family, _, size = name.removeprefix(before).removesuffix(behind).partition(".")
        found.setdefault(family, []).append(size)
    return {"before": before, "behind": behind, "families": found}


def _offered(cluster_types: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, set[str]]]:
    for kind in sorted({kind for kinds in cluster_types.values() for kind in kinds}):
        yield kind, {region for region, kinds in cluster_types.items() if kind in kinds}


def _limits(name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """What the request for a type demands beyond its schema: of a type that was read closely with its patterns."""
    if name in REQUESTS:
        return _request(*REQUESTS[name], schema)
    _, service, kind = name.split("::")
    model = OTHER_REQUESTS[name][0] if name in OTHER_REQUESTS else MODELS_OF.get(service, service.lower())
    if service in _OWN_WORDS or not (MODELS / model).is_dir():
        return {}
    operations = [OTHER_REQUESTS[name][1]] if name in OTHER_REQUESTS else [f"{verb}{kind}" for verb in ("Create", "Put")]
    found: dict[str, Any] = {}
    for operation in [one for one in operations if one in _model(model)["operations"]][:1]:
        found = _sure(_request(model, operation, schema))
    limits = _deep(found, _sure(_of_shapes(_model(model)["shapes"], schema, schema, ())))
    left_out = {"enum": service in _EITHER_CASE, "required": service not in SERVICES}
    return _without([word for word, leaves in left_out.items() if leaves], limits)


def _without(words: Sequence[str], node: Mapping[str, Any]) -> dict[str, Any]:
    """Limits without some words, and without what is empty then."""
    found = {word: value for word, value in node.items() if word not in (*words, "items", "properties", "additionalProperties")}
    children = {name: child for name, one in node.get("properties", {}).items() if (child := _without(words, one))}
    items = _without(words, node["items"]) if "items" in node else None
    nested = {"properties": children, "additionalProperties": True} if children else {}
    return found | nested | ({"items": items} if items else {})


def _deep(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two limits as one; the first counts where both say something."""
    nested = {
        name: _deep(value, other[name])
        for name, value in one.items()
        if isinstance(value, dict) and isinstance(other.get(name), dict)
    }
    return {**other, **one, **nested}


def _of_shapes(shapes: Mapping[str, Any], schema: Mapping[str, Any], node: Mapping[str, Any], above: tuple[str, ...]) -> Any:
    """The limits of the definitions of a schema that the model has by the same name, with most of its members.

    :param above: the definitions around the node; one that is within itself ends there.
    """
    name = node.get("$ref")
    if name is not None:
        if name in above:
            return {}
        node, above = schema["definitions"][name], (*above, name)
    found: dict[str, Any] = {}
    for key, child in node.get("properties", {}).items():
        limits = _of_shapes(shapes, schema, child, above) if isinstance(child, dict) else {}
        if limits:
            found[key] = limits
    own = {"properties": found, "additionalProperties": True} if found else {}
    items = _of_shapes(shapes, schema, node["items"], above) if isinstance(node.get("items"), dict) else {}
    if items:
        own["items"] = items
    members = _members(shapes, name, node)
    return own if members is None else _deep(own, _request_limits(shapes, members, schema, node, ()))


def _members(shapes: Mapping[str, Any], name: str | None, node: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The members of the structure that is a definition, by its name."""
    for spelled in () if name is None else _spellings(name):
        shape = shapes.get(spelled, {"type": ""})
        if shape["type"] == "structure" and _is_alike(shape, node):
            found: Mapping[str, Any] = shape["members"]
            return found
    return None


def _spellings(name: str) -> Iterator[str]:
    """The names of a definition in a model: of one or of several, of what goes in, without what only templates add."""
    for one in dict.fromkeys((name, name.removesuffix("ResourceType"))):
        yield from (one, one.removesuffix("s"), f"{one}s", f"{one}Input")


def _is_alike(shape: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    """Whether a shape has most of the properties of a definition."""
    names, members = {one.casefold() for one in node.get("properties", ())}, {one.casefold() for one in shape["members"]}
    return len(names) > 1 and len(names & members) * 3 >= len(names) * 2


def _sure(node: Any, of: str = "") -> Any:
    """Limits without long lists of words and without patterns other than those of names, and without what is empty then.

    :param of: the property.
    """
    if not isinstance(node, dict):
        return node
    found = {word: value for word, value in node.items() if _is_sure(word, value, of)}
    children = {name: child for name, one in node.get("properties", {}).items() if (child := _sure(one, name))}
    items = _sure(node.get("items"))
    nested = {"properties": children, "additionalProperties": True} if children else {}
    return found | nested | ({"items": items} if items else {})


def _is_sure(word: str, value: Any, of: str) -> bool:
    if word == "pattern":
        return bool(value == _DIGITS or (of.endswith("Name") and _OF_NAMES.fullmatch(value)))
    if word in ("additionalProperties", "items", "properties") or value == _ENDLESS:
        return False
    return word != "enum" or len(value) <= _LONGEST_LIST


@cache
def _model(service: str) -> dict[str, Any]:
    return service_model(service)


def _request(service: str, operation: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The limits of a request, at the places of a schema that has none there."""
    shapes = _model(service)
    members: dict[str, Any] = dict(shapes["shapes"][shapes["operations"][operation]["input"]["shape"]]["members"])
    for name, member in list(members.items()):
        shape = shapes["shapes"][member["shape"]]
        if shape["type"] == "structure" and name not in schema["properties"] and _is_alike(shape, schema):
            members |= shape["members"]
    renamed = {RENAMED.get(name, name): member for name, member in members.items()}
    found: dict[str, Any] = {}
    for name, member in renamed.items():
        *parents, last = name.split("/")
        for node in _at(schema, json.loads(json.dumps(schema)), parents):
            own = {"properties": {last: member}}
            limits = _request_limits(shapes["shapes"], own["properties"], schema, node, ())
            for parent in reversed(parents):
                limits = {"properties": {parent: limits}, "additionalProperties": True} if limits else {}
            found = _merged(found, limits)
    return found


def _merged(one: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, **other, "properties": {**one.get("properties", {}), **other.get("properties", {})}} if other else one


def _request_limits(
    shapes: Mapping[str, Any],
    members: Mapping[str, Any],
    schema: Mapping[str, Any],
    node: Mapping[str, Any],
    above: tuple[str, ...],
) -> dict[str, Any]:
    """The limits of members, for properties of these names; a name may begin with another case.

    :param above: the shapes around the members; one that is within itself ends there.
    """
    own = {name.casefold(): name for name in node.get("properties", {})}
    found = {}
    for name, member in members.items():
        if name.casefold() in own and member["shape"] not in above:
            child = node["properties"][own[name.casefold()]]
            limits = _shape_limits(shapes, member["shape"], schema, child, above)
            if limits:
                found[own[name.casefold()]] = limits
    return {"properties": found, "additionalProperties": True} if found else {}


def _shape_limits(
    shapes: Mapping[str, Any], name: str, schema: Mapping[str, Any], node: Mapping[str, Any], above: tuple[str, ...]
) -> Any:
    shape, above = shapes[name], (*above, name)
    if "$ref" in node:
        node = schema["definitions"][node["$ref"]]
    if node.get("readOnly") or "format" in node:
        return {}
    if shape["type"] == "structure":
        return _request_limits(shapes, shape["members"], schema, node, above) | _required(shape, node) | _union(shape, node)
    if shape["type"] in ("blob", "map"):
        return {}
    words = shape_words(shape)
    if "enum" in node or not _is_same_list(words.get("enum", ()), node.get("enumCaseInsensitive")):
        words.pop("enum", None)
    if "pattern" in words:
        words |= {"pattern": None} | _pattern(words["pattern"], whole=True)
    if shape["type"] in _NUMBERS and node.get("type") == "string":
        words["pattern"] = _DIGITS
    found = {word: value for word, value in words.items() if word not in node and value is not None and (word, value) not in _IDLE}
    if shape["type"] == "list" and isinstance(node.get("items"), dict):
        inner = shape["member"]["shape"]
        items = _shape_limits(shapes, inner, schema, node["items"], above) if inner not in above else {}
        if items:
            found["items"] = items
    return found


def _required(shape: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    """The members that a structure of a request must have, of those that the schema leaves open."""
    own = {name.casefold(): name for name, child in node.get("properties", {}).items() if not child.get("readOnly")}
    wanted = {own[name.casefold()] for name in shape.get("required", ()) if name.casefold() in own} - {*node.get("required", ())}
    wanted = {name for name in wanted if not name.endswith("Name")}  # CloudFormation makes some of them
    return {"required": sorted(wanted), "additionalProperties": True} if wanted and _is_alike(shape, node) else {}


def _union(shape: Mapping[str, Any], node: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a structure of a request of which each has just one, unless the schema says so."""
    own = {name.casefold(): name for name in node.get("properties", {})}
    members = [own.get(name.casefold()) for name in shape["members"]] if shape.get("union") else []
    said = any(word in node for word in ("requiredXor", "requiredOr", "oneOf", "anyOf"))
    return {} if said or len(members) < 2 or None in members else {"requiredXor": sorted(map(str, members))}


def _is_same_list(enum: Iterable[str], folded: Iterable[str] | None) -> bool:
    """Whether a list of words is that of a schema, which leaves the case open."""
    return folded is None or {one.casefold() for one in enum} == {one.casefold() for one in folded}


_TEXTS = {"type": ["string", "array"], "items": {"type": "string"}}


def _statement(principal: bool) -> dict[str, Any]:
    """A statement of a policy. Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html"""
    statement: dict[str, Any] = {
        "type": "object",
        "properties": {
            "Sid": {"type": "string"},
            "Effect": {"type": "string", "enum": ["Allow", "Deny"]},
            "Condition": {"type": "object"},
            "Principal": {"type": ["object", "string"]},
            "NotPrincipal": {"type": ["object", "string"]},
            **dict.fromkeys(("Action", "NotAction", "Resource", "NotResource"), _TEXTS),
        },
        "required": ["Effect"],
        "allOf": [{"requiredXor": ["Action", "NotAction"]}],
    }
    if principal:
        statement["allOf"].append({"requiredXor": ["NotPrincipal", "Principal"]})
    else:
        statement["allOf"].append({"requiredXor": ["NotResource", "Resource"]})
        statement["properties"] |= {"Principal": False, "NotPrincipal": False}
    return statement


def _policy(name: str) -> dict[str, Any]:
    """A policy document.

    :param name: the definition of its statements.
    """
    return {
        "type": ["object", "string"],
        "properties": {
            "Id": {"type": "string"},
            "Version": {"type": "string", "enum": ["2008-10-17", "2012-10-17"]},
            "Statement": {"type": ["object", "array"], "items": {"$ref": name}, "if": {"type": "object"}, "then": {"$ref": name}},
        },
        "required": ["Statement"],
    }


#: Definitions of statements, by whether they name principals.
_STATEMENTS = {"StatementOfIdentity": _statement(False), "StatementOfResource": _statement(True)}
#: Places of policy documents, with the definition of their statements.
_POLICIES = (
    ("AWS::IAM::ManagedPolicy", "PolicyDocument", "StatementOfIdentity"),
    ("AWS::IAM::Policy", "PolicyDocument", "StatementOfIdentity"),
    ("AWS::IAM::Role", "AssumeRolePolicyDocument", "StatementOfResource"),
    ("AWS::IAM::Role", "Policies/*/PolicyDocument", "StatementOfIdentity"),
    ("AWS::KMS::Key", "KeyPolicy", "StatementOfResource"),
    ("AWS::S3::BucketPolicy", "PolicyDocument", "StatementOfResource"),
)


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    return write_or_check(render, "write the schemas of properties", Path(__file__), arguments)


if __name__ == "__main__":
    sys.exit(main())
