"""Demands on networks, names and file systems that neither a schema nor a model of a request has."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.analysis.schema.violation import Kind
from hyperpod_constructs.facts.property_schemas import property_schema, request_limits
from tests.facts.demands import check_demand

LIST, TUNNEL, CONTROL = "AWS::EC2::PrefixList", "AWS::EC2::VPNConnection", "AWS::EKS::Cluster"
ENVIRONMENT = "AWS::Batch::ComputeEnvironment"
DATABASE, KEY = "AWS::RDS::DBInstance", "arn:aws:kms:us-west-2:123456789012:key/0f1d2c3b-4a59-4687-8796-a5b4c3d2e1f0"
NEW = {"Engine": "postgres", "DBInstanceClass": "db.t4g.micro", "AllocatedStorage": "20", "MasterUsername": "slurm"}
FILES, BUCKET = "AWS::FSx::FileSystem", "AWS::S3::Bucket"
ZFS = {"DeploymentType": "SINGLE_AZ_HA_2", "ThroughputCapacity": 320}
HOMES = {"FileSystemType": "OPENZFS", "StorageCapacity": 1024, "OpenZFSConfiguration": ZFS}
ATTACHED, VOLUME, AIR = "AWS::EC2::TransitGatewayAttachment", "AWS::FSx::Volume", "AWS::Backup::LogicallyAirGappedBackupVault"
JOINED = {"TransitGatewayId": "tgw-0123456789abcdef0", "VpcId": "vpc-0123456789abcdef0", "SubnetIds": ("subnet-0123456789abcdef0",)}
FORWARD = {"RuleType": "FORWARD", "ResolverEndpointId": "rslvr-out-1", "TargetIps": ({"Ip": "10.0.0.2"},)}
GAPPED = {"BackupVaultName": "air", "MinRetentionDays": 7, "MaxRetentionDays": 30}
CACHE = {"ReadCacheConfiguration": {"SizingMode": "NO_CACHE"}}
FLOWS = {"ResourceType": "VPC", "LogGroupName": "flows", "DeliverLogsPermissionArn": "role", "TrafficType": "ALL"}
OPTIONS = {"EngineName": "mysql", "OptionGroupDescription": "audit"}
FAST = {"AccelerateConfiguration": {"AccelerationStatus": "Enabled"}}
GATE = {"VpcId": "vpc-0123456789abcdef0", "VpcEndpointType": "Gateway", "ServiceName": "com.amazonaws.us-west-2.s3"}
MADE = {**NEW, "ManageMasterUserPassword": True}
OFFICE = {"AddressFamily": "IPv4", "MaxEntries": 1, "Entries": ({"Cidr": "192.168.64.0/18"},)}
EVENTS, CLUSTER = "AWS::RDS::EventSubscription", "AWS::SageMaker::Cluster"
SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-a1b2c3"


def told_of(source: str, category: str) -> dict[str, Any]:
    return {"SourceType": source, "EventCategories": (category,)}


def accounting(endpoint: str, *, secret: str = SECRET) -> dict[str, Any]:
    return {"Orchestrator": {"Slurm": {"AccountingDatabase": {"Endpoint": endpoint, "SecretArn": secret}}}}


def tunnel(block: str) -> dict[str, Any]:
    return {"VpnTunnelOptionsSpecifications": ({"TunnelInsideCidr": block},)}


def tunnels(block: str) -> dict[str, Any]:
    return {"VpnTunnelOptionsSpecifications": ({"TunnelInsideCidr": "169.254.60.0/30"}, {"TunnelInsideCidr": block})}


def remote(block: str) -> dict[str, Any]:
    return {"RemoteNetworkConfig": {"RemoteNodeNetworks": ({"Cidrs": (block,)},)}}


def shared(key: str) -> dict[str, Any]:
    return {"VpnTunnelOptionsSpecifications": ({"PreSharedKey": key},)}


def cached(storage: str) -> dict[str, Any]:
    lustre = {"DeploymentType": "PERSISTENT_1", "DriveCacheType": "READ"}
    return {"FileSystemType": "LUSTRE", "StorageType": storage, "StorageCapacity": 6000, "LustreConfiguration": lustre}


def zfs(option: str) -> dict[str, Any]:
    own = {"ParentVolumeId": "fsvol-0123456789abcdef0", "Options": (option,)}
    return {"Name": "papers", "VolumeType": "OPENZFS", "OpenZFSConfiguration": own}


PEOPLE, STACK = "AWS::EKS::IdentityProviderConfig", "AWS::CloudFormation::Stack"
STEPS, PASS = "AWS::StepFunctions::StateMachine", {"DefinitionString": "{}"}


def issued(address: str) -> dict[str, Any]:
    return {"Type": "oidc", "ClusterName": "a", "Oidc": {"ClientId": "kubernetes", "IssuerUrl": address}}


def told(*names: str, value: str = "a") -> dict[str, Any]:
    rules = tuple({"Name": name, "Value": value} for name in names)
    queue = {"Event": "s3:ObjectCreated:*", "Queue": "queue", "Filter": {"S3Key": {"Rules": rules}}}
    return {"NotificationConfiguration": {"QueueConfigurations": (queue,)}}


ROTATION, RELEASE = "AWS::SecretsManager::RotationSchedule", "AWS::CodePipeline::Pipeline"


def rotated(kind: str) -> dict[str, Any]:
    return {"SecretId": SECRET, "HostedRotationLambda": {"RotationType": kind}}


def planned(rule: str) -> dict[str, Any]:
    return {"BackupPlan": {"BackupPlanName": "nightly", "BackupPlanRule": ({"RuleName": rule, "TargetBackupVault": "vault"},)}}


def staged(name: str) -> dict[str, Any]:
    return {"ArtifactStore": {"Type": "S3", "Location": "artifacts"}, "Stages": ({"Name": "source"}, {"Name": name})}


@pytest.mark.parametrize(
    ("kind", "wrong", "right"),
    [
        (LIST, {**OFFICE, "AddressFamily": "IPv6"}, OFFICE),
        (LIST, {**OFFICE, "Entries": ({"Cidr": "10.1.0.0/16"}, {"Cidr": "10.2.0.0/16"})}, OFFICE),
        (TUNNEL, tunnel("10.0.0.0/30"), tunnel("169.254.10.0/30")),
        (TUNNEL, tunnel("169.254.0.0/30"), tunnel("169.254.6.0/30")),
        (CONTROL, remote("203.0.113.0/24"), remote("10.200.0.0/16")),
        ("AWS::EFS::FileSystem", {"ThroughputMode": "elastic", "PerformanceMode": "maxIO"}, {"ThroughputMode": "elastic"}),
        (
            "AWS::DynamoDB::Table",
            {"BillingMode": "PAY_PER_REQUEST", "TableName": "a/b"},
            {"BillingMode": "PAY_PER_REQUEST", "TableName": "a.b"},
        ),
        ("AWS::EC2::SecurityGroup", {"GroupName": "sg-home"}, {"GroupName": "home-sg-a"}),
        (PEOPLE, issued("http://login.example.com"), issued("https://login.example.com")),
        (STACK, {"TemplateURL": "https://github.com/a/b/blob/main/t.yaml"}, {"TemplateURL": "https://s3.amazonaws.com/a/t.yaml"}),
        ("AWS::SecretsManager::Secret", {"Name": "the password"}, {"Name": "slurm/accounting"}),
        (ROTATION, rotated("PostgresSingleUser"), rotated("PostgreSQLSingleUser")),
        (ROTATION, rotated("mysqlSingleUser"), rotated("MySQLSingleUser")),
        ("AWS::Backup::BackupPlan", planned("each night"), planned("each-night.2")),
        ("AWS::Backup::BackupPlan", planned("n" * 51), planned("n" * 50)),
        (RELEASE, staged("to production"), staged("to-production@eu")),
        (STEPS, {**PASS, "StateMachineName": "all checks"}, {**PASS, "StateMachineName": "all.checks-(2)"}),
        (STEPS, {**PASS, "StateMachineName": "all/checks"}, {**PASS, "StateMachineName": "prüfung"}),
        ("AWS::Events::EventBus", {"Name": "default"}, {"Name": "defaults"}),
        ("AWS::Events::EventBus", {"Name": "aws.partner/a/b"}, {"Name": "aws.partner/a/b", "EventSourceName": "aws.partner/a/b"}),
        (CONTROL, {"EncryptionConfig": ({"Provider": {}},)}, {"EncryptionConfig": ({"Provider": {"KeyArn": KEY}},)}),
        (DATABASE, NEW, {**NEW, "MasterUserPassword": "{{resolve:ssm-secure:/db:1}}"}),
        (DATABASE, {**NEW, "MasterUserAuthenticationType": "password"}, {**NEW, "MasterUserAuthenticationType": "iam-db-auth"}),
        ("AWS::SSM::Parameter", {"Name": "/the cluster"}, {"Name": "/lab/cluster"}),
        ("AWS::EC2::CustomerGateway", {"Type": "ipsec.1", "BgpAsn": 0}, {"Type": "ipsec.1", "BgpAsn": 65010}),
        ("AWS::EC2::CustomerGateway", {"Type": "ipsec.1", "BgpAsn": 7224}, {"Type": "ipsec.1", "BgpAsn": 7225}),
        ("AWS::RDS::OptionGroup", {**OPTIONS, "MajorEngineVersion": "8.4.8"}, {**OPTIONS, "MajorEngineVersion": "8.4"}),
        ("AWS::EC2::VPNConnection", tunnels("169.254.60.0/30"), tunnels("169.254.61.0/30")),
        ("AWS::EC2::FlowLog", {**FLOWS, "ResourceType": "TransitGateway"}, FLOWS),
        ("AWS::S3::Bucket", {**FAST, "BucketName": "own.data"}, {**FAST, "BucketName": "own-data"}),
        (TUNNEL, shared("0123456789"), shared("a.123456789")),
        (TUNNEL, shared("short"), shared("long_enough")),
        ("AWS::Route53Resolver::FirewallRuleGroupAssociation", {"Priority": 100}, {"Priority": 101}),
        ("AWS::Route53Resolver::FirewallRuleGroupAssociation", {"Priority": 9900}, {"Priority": 9899}),
        (FILES, {**HOMES, "FileSystemTypeVersion": "2.15"}, HOMES),
        (FILES, cached("SSD"), cached("HDD")),
        (ATTACHED, {**JOINED, "SubnetIds": ()}, JOINED),
        ("AWS::Route53Resolver::ResolverRule", {**FORWARD, "DomainName": "*.lab.org"}, {**FORWARD, "DomainName": "lab.org"}),
        ("AWS::Route53Resolver::FirewallDomainList", {"Domains": ("*.*.org",)}, {"Domains": ("*.lab.org", "*", "lab.org")}),
        ("AWS::Route53Resolver::FirewallDomainList", {"Domains": ("*lab.org",)}, {"Domains": ("*.org",)}),
        (VOLUME, zfs("DELETE_CHILDREN"), zfs("DELETE_CHILD_VOLUMES_AND_SNAPSHOTS")),
        (FILES, {**HOMES, "StorageType": "SSD", "OpenZFSConfiguration": {**ZFS, **CACHE}}, {**HOMES, "StorageType": "SSD"}),
        ("AWS::ElasticLoadBalancingV2::LoadBalancer", {"Name": "internal-web"}, {"Name": "internal"}),
        ("AWS::EC2::FlowLog", {**FLOWS, "DestinationOptions": {"FileFormat": "parquet"}}, FLOWS),
        ("AWS::EC2::VPCEndpoint", {**GATE, "RouteTableIds": ()}, {**GATE, "RouteTableIds": ("rtb-0123456789abcdef0",)}),
        (AIR, {**GAPPED, "MinRetentionDays": 3}, GAPPED),
        (DATABASE, {**MADE, "CACertificateIdentifier": "rds-ca-2019"}, {**MADE, "CACertificateIdentifier": "rds-ca-rsa2048-g1"}),
        (BUCKET, told("prefix", "suffix", "suffix"), told("prefix", "suffix")),
        (BUCKET, told("suffix", value="*.json"), told("suffix", value=".json")),
        (EVENTS, told_of("db-instance", "crash"), told_of("db-instance", "failure")),
        (EVENTS, told_of("db-instance", "global failover"), told_of("db-instance", "serverless")),
        (EVENTS, told_of("db-instance", "low-storage"), told_of("db-instance", "global database")),
        (EVENTS, told_of("db-snapshot", "backup"), told_of("db-snapshot", "restoration")),
        (EVENTS, told_of("db-parameter-group", "failure"), told_of("db-parameter-group", "configuration change")),
        (EVENTS, told_of("db-security-group", "security"), told_of("db-security-group", "failure")),
        (EVENTS, told_of("db-cluster", "failing over"), told_of("db-cluster", "global-failover")),
        (EVENTS, told_of("db-shard-group", "shard"), told_of("db-shard-group", "maintenance")),
        (EVENTS, told_of("db-cluster-snapshot", "snapshot"), told_of("db-cluster-snapshot", "backup")),
        (EVENTS, told_of("db-proxy", "low storage"), told_of("blue-green-deployment", "notification")),
        (CLUSTER, accounting("mysql://db.lab.org"), accounting("db.lab.org")),
        (CLUSTER, accounting("db.lab.org", secret="slurm/accounting"), accounting("db.lab.org")),
    ],
)
def test_a_demand_refuses_one_thing_and_takes_the_nearest_right_one(
    kind: str, wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    check_demand(kind, wrong, right)


def test_batch_takes_its_words_in_either_case() -> None:
    for schema in (property_schema(ENVIRONMENT), request_limits(ENVIRONMENT)):
        assert schema is not None
        found = violations(schema, {"Type": "managed", "ComputeResources": {"Type": "FARGATE"}})
        assert [one for one in found if one.kind is Kind.VALUE] == []


def test_the_code_of_a_message_stands_anywhere_in_its_text() -> None:
    schema = property_schema("AWS::Cognito::UserPool")
    assert schema is not None
    assert list(violations(schema, {"SmsVerificationMessage": "The code is {####}."})) == []
    assert len(list(violations(schema, {"SmsVerificationMessage": "The code is lost."}))) == 1
