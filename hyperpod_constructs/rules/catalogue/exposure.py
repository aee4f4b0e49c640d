"""Data and services that lie open: in clear, in public, behind a password in the template, or for every caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.networks import SUBNET, network_facts
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.secrets import password_in, password_of_program, secret_in
from hyperpod_constructs.analysis.service_ways import is_closed
from hyperpod_constructs.facts.exposure import (
    BLOCKS,
    ENCRYPTED,
    ENCRYPTED_BY_DEFAULT,
    KEYED,
    PASSWORDS,
    PROGRAMS,
    PROTECTIONS,
    VARIABLES,
    WAYS_OUT,
)
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import warning
from hyperpod_constructs.templates.dependencies import named_at, references
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_bool, as_str

_CLUSTER, _INSTANCE = "AWS::RDS::DBCluster", "AWS::RDS::DBInstance"


@warning(
    "HP-EXP-001",
    on=tuple(ENCRYPTED),
    title="databases, file systems, volumes and queues are encrypted",
    why="data, snapshots and backups lie in clear; for all but queues, only a new resource with a copy of the data can change that",
    fix="write StorageEncrypted: true, Encrypted: true for file systems and volumes, and SqsManagedSseEnabled: true for queues",
    allowed="true",
    source="https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/Overview.Encryption.html",
)
def data_is_encrypted(resource: Resource) -> Hit | None:
    key = ENCRYPTED[resource.type]
    value = resource.get(key)
    clear = (value is ABSENT and resource.type not in ENCRYPTED_BY_DEFAULT) or as_bool(value) is False
    member = resource.type == _INSTANCE and (as_str(resource.get("Engine")) or "").startswith("aurora")
    if not clear or member or any(resource.get(name) is not ABSENT for name in KEYED):
        return None
    return hit(resource, f"{resource.logical_id} is not encrypted", key)


@warning(
    "HP-EXP-002",
    on=("AWS::S3::AccessPoint", "AWS::S3::Bucket"),
    title="buckets and access points block public access",
    why="an ACL or a policy can make the objects public, by mistake too",
    fix="leave PublicAccessBlockConfiguration out, or write true for all four",
    allowed="true",
    source="https://docs.aws.amazon.com/AmazonS3/latest/userguide/access-control-block-public-access.html",
)
def buckets_block_public_access(bucket: Resource) -> Hit | None:
    """A site is public on purpose. What a configuration leaves out is false."""
    given = bucket.get("PublicAccessBlockConfiguration")
    values = {name: given.get(name, ABSENT) for name in BLOCKS} if isinstance(given, Mapping) else {}
    open_ = [name for name, value in values.items() if value is ABSENT or as_bool(value) is False]
    if not open_ or bucket.get("WebsiteConfiguration") is not ABSENT:
        return None
    return hit(bucket, f"{', '.join(open_)} {'is' if len(open_) == 1 else 'are'} false", "PublicAccessBlockConfiguration")


@warning(
    "HP-EXP-003",
    on=tuple(PASSWORDS),
    title="passwords do not stand in templates",
    why="everybody who can read the template, the stack or its repository has the password",
    fix="write ManageMasterUserPassword: true, or a reference to a secret: {{resolve:secretsmanager:...}}; for a secret, write "
    "GenerateSecretString",
    allowed="a reference to a secret, or a parameter with NoEcho and without a default",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/security-best-practices.html",
)
def passwords_are_not_written(resource: Resource) -> Iterator[Hit]:
    for place in PASSWORDS[resource.type]:
        for path, value in place_in(resource.get(), place):
            if value is not ABSENT and (said := password_in(resource, path)) is not None:
                yield Hit(resource, path, said)


_PUBLIC: Mapping[str, str] = {
    "AWS::AmazonMQ::Broker": "PubliclyAccessible",
    "AWS::DMS::ReplicationInstance": "PubliclyAccessible",
    _INSTANCE: "PubliclyAccessible",
    "AWS::Redshift::Cluster": "PubliclyAccessible",
    "AWS::RedshiftServerless::Workgroup": "PubliclyAccessible",
}
"""Services that can have a public address, by the property that gives them one."""


@warning(
    "HP-EXP-004",
    on=tuple(_PUBLIC),
    title="databases have no public address",
    why="everybody in the internet can try passwords, as soon as one rule of a group is too wide",
    fix="write PubliclyAccessible: false",
    allowed="false",
    source="https://docs.aws.amazon.com/securityhub/latest/userguide/rds-controls.html",
)
def databases_are_private(database: Resource) -> Hit | None:
    key = _PUBLIC[database.type]
    return hit(database, f"{database.logical_id} has a public address", key) if as_bool(database.get(key)) else None


_ROUTE, _API = "AWS::ApiGatewayV2::Route", "AWS::ApiGatewayV2::Api"
_URL = "AWS::Lambda::Url"


@warning(
    "HP-EXP-005",
    on=(_ROUTE, _URL),
    title="who calls an API or a function by its address is asked who it is",
    why="everybody in the internet may call it",
    fix="write AuthorizationType: AWS_IAM, JWT or CUSTOM for a route, and AuthType: AWS_IAM for the address of a function",
    allowed="an authorization",
    source="https://docs.aws.amazon.com/securityhub/latest/userguide/apigateway-controls.html",
)
def callers_are_asked(resource: Resource) -> Hit | None:
    """Of an API for HTTP; of one for WebSockets only the first request can be asked, and requests before CORS never are."""
    key = "AuthType" if resource.type == _URL else "AuthorizationType"
    value = resource.get(key)
    open_ = as_str(value) == "NONE" or (value is ABSENT and resource.type == _ROUTE)
    if not open_ or (resource.type == _ROUTE and not _is_of_http(resource)):
        return None
    return hit(resource, f"{resource.logical_id} is open to everybody", key)


def _is_of_http(route: Resource) -> bool:
    api = resource_of(route.get("ApiId"), _API)
    asks = as_str(route.get("RouteKey")) or ""
    return api is not None and as_str(api.get("ProtocolType")) == "HTTP" and not asks.startswith("OPTIONS ")


@warning(
    "HP-EXP-006",
    on=tuple(dict.fromkeys((*VARIABLES, *PROGRAMS))),
    title="secrets do not stand in variables and programs",
    why="everybody who may describe the resource, or read the template, has the secret",
    fix="give the ARN of the secret, and let the program read it; a container of ECS takes Secrets with ValueFrom",
    allowed="the ARN or the name of a secret",
    source="https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html",
)
def secrets_are_read_when_needed(resource: Resource) -> Iterator[Hit]:
    for place in VARIABLES.get(resource.type, ()):
        for path, value in place_in(resource.get(), place):
            if (said := secret_in(resource, path, value)) is not None:
                yield hit(resource, said, *path)
    for place in PROGRAMS.get(resource.type, ()):
        for path, _ in place_in(resource.get(), place):
            if (said := password_of_program(resource, path)) is not None:
                yield hit(resource, said, *path)


@warning(
    "HP-EXP-007",
    on=tuple(WAYS_OUT),
    title="notebooks and Studio stay in a closed network",
    why="they have an interface in a network of SageMaker's own too: what they read leaves the network without internet",
    fix="write DirectInternetAccess: Disabled for a notebook, and AppNetworkAccessType: VpcOnly for a domain",
    allowed="no way to the internet beside that of the VPC",
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/studio-notebooks-and-internet-access.html",
)
def notebooks_stay_inside(resource: Resource) -> Hit | None:
    way = WAYS_OUT[resource.type]
    value, subnets = resource.get(way.key), [*references(resource.get(way.subnets))] or named_at(resource, way.subnets)
    known = [network_facts(one.template.model).subnet(one) for one in subnets if one.type == SUBNET]
    is_open = value is ABSENT or as_str(value) not in (None, way.closed)
    if not known or not is_open or not all(map(is_closed, known)):
        return None
    return hit(
        resource, f"{resource.logical_id} leaves {known[0].resource.logical_id}, which has no route to the internet", way.key
    )


@warning(
    "HP-EXP-008",
    on=tuple(PROTECTIONS),
    title="protections of data and machines are not switched off",
    why="whoever comes near the data or the machine finds it unprotected",
    fix="leave the property out where the protection is the default, or switch it on",
    allowed="the protection",
    source="https://docs.aws.amazon.com/securityhub/latest/userguide/securityhub-controls-reference.html",
)
def protections_are_on(resource: Resource) -> Iterator[Hit]:
    for one in PROTECTIONS[resource.type]:
        for path, value in place_in(resource.get(), one.path):
            off = as_bool(value) is False if one.off is False else as_str(value) == one.off
            counts = all(resource.get(*key.split("/")) in (ABSENT, default) for key, default in one.only)
            if value is not ABSENT and off and counts:
                yield hit(resource, one.words, *path)
