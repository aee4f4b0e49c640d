"""The interpreter of schemas: what it refuses, in which words, and where it is silent because a deployment decides."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.schema.judge import violations
from hyperpod_constructs.analysis.schema.resources import request_violations, schema_violations
from hyperpod_constructs.analysis.schema.violation import Kind, Violation, meant
from hyperpod_constructs.templates.model import Model

ROLE = {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": {"Statement": []}}}
VPC = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
PARAMETERS = {
    "Sizes": {"Type": "CommaDelimitedList", "Default": "10.0.0.0/24,10.0.1.0/99"},
    "Open": {"Type": "String"},
    "Later": {"Type": "String", "Default": ""},
    "Zone": {"Type": "String", "AllowedValues": ["", "us-west-2a"]},
}
CONDITIONS = {"Unknown": {"Fn::Equals": [{"Ref": "Open"}, "x"]}, "Always": {"Fn::Equals": ["x", "x"]}}
NOTHING = {"Ref": "AWS::NoValue"}


def judged(resource_type: str, properties: Any) -> list[Violation]:
    """The violations of one resource, in a template with a role, a VPC, parameters and conditions."""
    resources = {"Subject": {"Type": resource_type, "Properties": properties}, "Role": ROLE, "Vpc": VPC}
    mappings = {"Sizes": {"us-east-1": {"Block": "10.0.0.0/8", "Wrong": "10.0.0.0/40"}}}
    model = Model.of({"t": {"Parameters": PARAMETERS, "Conditions": CONDITIONS, "Mappings": mappings, "Resources": resources}})
    return [one for resource, one in (*schema_violations(model), *request_violations(model)) if resource.logical_id == "Subject"]


def said(resource_type: str, properties: Any) -> list[str]:
    return [f"{one.kind} {'/'.join(map(str, one.path))}: {one.message}" for one in judged(resource_type, properties)]


SUBNET, GROUP, BUCKET, FUNCTION = "AWS::EC2::Subnet", "AWS::EC2::SecurityGroup", "AWS::S3::Bucket", "AWS::Lambda::Function"
PEERED = {"VpcId": {"Ref": "Vpc"}, "PeerVpcId": "vpc-0123456789abcdef0"}
VAULT = "AWS::Backup::BackupVault"
FSX = "arn:aws:fsx:us-west-2:123456789012"
SELECTION: dict[str, Any] = {
    "BackupPlanId": "plan-1",
    "BackupSelection": {"SelectionName": "files", "IamRoleArn": "arn:aws:iam::123456789012:role/b"},
}
BUILD = {
    "Artifacts": {"Type": "NO_ARTIFACTS"},
    "Environment": {"Type": "LINUX_CONTAINER", "ComputeType": "BUILD_GENERAL1_SMALL", "Image": "aws/codebuild/standard:7.0"},
    "Source": {"Type": "NO_SOURCE", "BuildSpec": "version: 0.2"},
}
ROLE_ARN = {"Fn::GetAtt": ["Role", "Arn"]}
COPIED = {"BucketAccessRoleArn": "arn:aws:iam::123456789012:role/copies"}
ENTRY = {"NetworkAclId": "acl-0123456789abcdef0", "RuleNumber": 1, "Protocol": -1, "CidrBlock": "10.0.0.0/8", "Egress": True}
CODE = {"Code": {"ZipFile": "x"}, "Runtime": "python3.12", "Handler": "h.h", "Role": {"Fn::GetAtt": ["Role", "Arn"]}}


def subnet(**given: Any) -> dict[str, Any]:
    return {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24", **given}


@pytest.mark.parametrize(
    ("days", "near"), [(31, "; the nearest is 30"), (100, "; the nearest is 90"), (5000, "; the nearest is 3653"), ("month", "")]
)
def test_of_numbers_the_nearest_one_is_meant(days: int | str, near: str) -> None:
    assert meant(str(days), [1, 30, 90, 731, 3653]) == near


@pytest.mark.parametrize(
    ("resource_type", "properties", "expected"),
    [
        (
            SUBNET,
            subnet(MapPublicIPOnLaunch=True),
            "name MapPublicIPOnLaunch: MapPublicIPOnLaunch is not a property of this type; the ",
        ),
        (SUBNET, subnet(SubnetId="x"), "name SubnetId: SubnetId is set by the service"),
        (SUBNET, {"CidrBlock": "10.0.0.0/24"}, "missing VpcId: VpcId is missing"),
        (SUBNET, {"VpcId": {"Ref": "Vpc"}}, "missing : the resource has none of CidrBlock, Ipv4IpamPoolId,"),
        (SUBNET, subnet(MapPublicIpOnLaunch="yes"), "type MapPublicIpOnLaunch: MapPublicIpOnLaunch is 'yes', not true or false"),
        (SUBNET, subnet(Tags={"a": "b"}), "type Tags: Tags is {'a': 'b'}, not a list"),
        (SUBNET, subnet(CidrBlock="10.0.0.0/33"), "value CidrBlock: CidrBlock is '10.0.0.0/33'"),
        (SUBNET, subnet(VpcId="vpc-1"), "value VpcId: VpcId is 'vpc-1'"),
        (SUBNET, subnet(VpcId={"Ref": "Role"}), "reference VpcId: VpcId is a reference to AWS::IAM::Role, ${Role}"),
        (SUBNET, subnet(AvailabilityZone="a", AvailabilityZoneId="b"), "together AvailabilityZoneId: AvailabilityZone and Availab"),
        (SUBNET, subnet(Ipv6IpamPoolId="x"), "missing Ipv6NetmaskLength: Ipv6NetmaskLength is missing beside Ipv6IpamPoolId"),
        (
            SUBNET,
            subnet(PrivateDnsNameOptionsOnLaunch={"HostnameType": "ip"}),
            "value PrivateDnsNameOptionsOnLaunch/HostnameType: ",
        ),
        (
            BUCKET,
            {"VersioningConfiguration": {"Status": "enabled"}},
            "value VersioningConfiguration/Status: Status is 'enabled'; the nea",
        ),
        (BUCKET, {"BucketName": "My_Bucket"}, "value BucketName: BucketName is 'My_Bucket'"),
        (BUCKET, {"BucketName": ""}, "value BucketName: BucketName is ''"),
        (BUCKET, {"Tags": [{"Key": "a" * 129, "Value": ""}]}, "value Tags/0/Key: Key has 129 characters"),
        (FUNCTION, {**CODE, "Timeout": "901"}, "value Timeout: Timeout is '901'; the nearest is 900"),
        (FUNCTION, {**CODE, "MemorySize": 64}, "value MemorySize: MemorySize is 64; the nearest is 128"),
        (FUNCTION, {**CODE, "Architectures": ["arm64", "arm64"]}, "value Architectures: Architectures has "),
        (FUNCTION, {**CODE, "Role": {"Ref": "Role"}}, "reference Role: Role is the Ref of Role, which is not an ARN"),
        (
            "AWS::DataSync::LocationS3",
            {"S3BucketArn": ROLE_ARN, "S3Config": COPIED},
            "reference S3BucketArn: S3BucketArn is Arn of Role",
        ),
        (
            VAULT,
            {"BackupVaultName": "v1", "EncryptionKeyArn": ROLE_ARN},
            "reference EncryptionKeyArn: EncryptionKeyArn is the ARN of",
        ),
        (
            VAULT,
            {"BackupVaultName": "v1", "EncryptionKeyArn": {"Fn::Sub": "arn:aws:iam::${AWS::AccountId}:role/x"}},
            "value EncryptionKeyArn: EncryptionKeyArn is",
        ),
        (
            "AWS::CodeBuild::Project",
            {**BUILD, "ServiceRole": "arn:aws:iam::12345:role/b"},
            "value ServiceRole: ServiceRole is 'arn:aws:",
        ),
        (
            "AWS::CodeBuild::Project",
            {**BUILD, "ServiceRole": "arn:aws:iam::123456789012:user/b"},
            "value ServiceRole: ServiceRole is",
        ),
        ("AWS::SageMaker::Model", {"PrimaryContainer": {"ModelDataUrl": ROLE_ARN}}, "reference PrimaryContainer/ModelDataUrl: Mo"),
        (
            "AWS::SageMaker::Model",
            {"PrimaryContainer": {"ModelDataUrl": {"Fn::Sub": "arn:aws:s3:::${Open}/model"}}},
            "value PrimaryContainer/ModelDataUrl: ModelDataUrl is",
        ),
        (
            "AWS::Backup::BackupSelection",
            {**SELECTION, "BackupSelection": {**SELECTION["BackupSelection"], "Resources": [f"{FSX}:filesystem/fs-1"]}},
            "value BackupSelection/Resources/0: fsx has no filesystem; the nearest is file-system",
        ),
        (
            "AWS::CodeBuild::Project",
            {**BUILD, "ServiceRole": "arn:aws:iam::123456789012:roles/b"},
            "value ServiceRole: iam has no roles; the nearest is role",
        ),
        (
            BUCKET,
            {"Tags": [{"key": "a", "value": "b"}]},
            "name Tags/0/key: key is not a property of Tags/0; the nearest is Key; so is value",
        ),
        (
            FUNCTION,
            {**{key: one for key, one in CODE.items() if key != "Role"}, "RoleArn": "x"},
            "name RoleArn: RoleArn is not a pro",
        ),
        (
            "AWS::Backup::BackupPlan",
            {"BackupPlan": {"BackupPlanName": "p", "Rules": [{"RuleName": "r", "TargetBackupVault": "v"}]}},
            "name BackupPlan/Rules: Rules is not a property of BackupPlan; the nearest is BackupPlanRule",
        ),
        (
            "AWS::EFS::AccessPoint",
            {"FileSystemId": "fs-0123456789abcdef0", "PosixUser": {"Uid": "me", "Gid": "1"}},
            "value PosixUser/Uid:",
        ),
        (
            "AWS::EC2::NetworkAclEntry",
            {**ENTRY, "RuleAction": "Allow"},
            "value RuleAction: RuleAction is 'Allow'; the nearest is allow",
        ),
        (
            "AWS::Config::ConfigRule",
            {"Source": {"Owner": "AWS", "SourceIdentifier": "X"}, "MaximumExecutionFrequency": "Daily"},
            "value MaximumExecutionFrequency: MaximumExecutionFrequency is 'Daily'",
        ),
        (
            FUNCTION,
            {**CODE, "Runtime": "java21"},
            "value Runtime: Runtime is 'java21' (code in the template is for Python and Node.js)",
        ),
        (
            FUNCTION,
            {**CODE, "Environment": {"Variables": {"AWS_REGION": "x"}}},
            "value Environment/Variables/AWS_REGION: AWS_REGION is",
        ),
        (
            GROUP,
            {"GroupDescription": "x", "SecurityGroupIngress": [{"IpProtocol": "tcp", "CidrIp": "10.0.0.0/8"}]},
            "missing SecurityGroupIngress/0/FromPort: FromPort and ToPort are missing in SecurityGroupIngress/0 (TCP and UDP take ",
        ),
        (
            "AWS::EC2::SecurityGroupIngress",
            {"GroupId": "sg-0123456789abcdef0", "CidrIp": "10.0.0.0/8", "IpProtocol": "tcp", "FromPort": 1, "ToPort": 70000},
            "value ToPort: ToPort is 70000; the nearest is 65535",
        ),
        (
            GROUP,
            {
                "GroupDescription": "x",
                "VpcId": {"Ref": "Vpc"},
                "SecurityGroupEgress": [{"IpProtocol": "-1", "CidrIp": "10.0.0.0/8", "CidrIpv6": "::/0"}],
            },
            "together SecurityGroupEgress/0/CidrIpv6: CidrIp and CidrIpv6 exclude each other",
        ),
        (
            "AWS::IAM::Role",
            {"AssumeRolePolicyDocument": {"Statement": {"Effect": "Alow", "Principal": "*", "Action": "sts:AssumeRole"}}},
            "value AssumeRolePolicyDocument/Statement/Effect: Effect is 'Alow'; the nearest is Allow",
        ),
        (
            "AWS::IAM::Policy",
            {
                "PolicyName": "p",
                "Roles": [{"Ref": "Role"}],
                "PolicyDocument": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Principal": "*"}]},
            },
            "missing PolicyDocument/Statement/0: Statement/0 has none of NotResource, Resource",
        ),
        (
            "AWS::IAM::Policy",
            {"PolicyName": "p", "PolicyDocument": {"Statement": []}},
            "missing : the resource has none of Users, ",
        ),
        (
            "AWS::KMS::Key",
            {"KeyPolicy": {"Statement": []}, "PendingWindowInDays": 31},
            "value PendingWindowInDays: PendingWindowInDa",
        ),
        (
            "AWS::FSx::FileSystem",
            {"FileSystemType": "Lustre", "SubnetIds": ["subnet-01234567"]},
            "value FileSystemType: FileSystemTy",
        ),
        (
            "AWS::SageMaker::Cluster",
            {"Orchestrator": {"Slurm": {}, "Eks": {"ClusterArn": {"Ref": "Open"}}}},
            "together Orchestrator/Slurm: Eks and Slurm exclude each other",
        ),
        (BUCKET, {"BucketName": {"Fn::Sub": "Own-Data-${Open}"}}, "value BucketName: BucketName is 'Own-Data-"),
        ("AWS::EKS::Addon", {"AddonName": "x", "ClusterName": "-x"}, "value ClusterName: ClusterName is '-x'"),
    ],
)
def test_what_a_schema_refuses(resource_type: str, properties: Any, expected: str) -> None:
    found = said(resource_type, properties)
    assert found
    assert found[0].startswith(expected), found
    assert len({one.partition(":")[0] for one in found}) == len(found)
    assert all(one.allowed for one in judged(resource_type, properties))


@pytest.mark.parametrize(
    ("block", "wrong"),
    [
        ({"Fn::Select": [1, {"Ref": "Sizes"}]}, "10.0.1.0/99"),
        ({"Fn::Select": [1, {"Fn::Split": ["|", "10.0.0.0/24|10.0.1.0/99"]}]}, "10.0.1.0/99"),
        ({"Fn::FindInMap": ["Sizes", "us-east-1", "Wrong"]}, "10.0.0.0/40"),
        ({"Fn::Sub": ["10.0.0.0/${Bits}", {"Bits": 40}]}, "10.0.0.0/40"),
        ({"Fn::Join": ["/", ["10.0.0.0", "40"]]}, "10.0.0.0/40"),
        ({"Fn::If": ["Unknown", "10.0.0.0/24", "10.0.0.0/40"]}, "10.0.0.0/40"),
        ({"Fn::If": ["Always", "10.0.0.0/40", "10.0.0.0/24"]}, "10.0.0.0/40"),
        ({"Fn::If": ["Always", "10.0.0.0/24", "10.0.0.0/40"]}, None),
        ({"Fn::Select": [0, {"Fn::Cidr": ["10.0.0.0/16", 4, 8]}]}, None),
        ({"Fn::Select": [0, {"Fn::Cidr": [{"Fn::GetAtt": ["Vpc", "CidrBlock"]}, 4, 8]}]}, None),
        ({"Fn::ImportValue": "elsewhere"}, None),
        ({"Fn::Sub": "${Open}/99"}, None),
        ("{{resolve:ssm:/block}}", None),
        ({"Fn::Transform": {"Name": "Macro"}}, None),
        ({"Ref": "Open"}, None),
        ({"Ref": "Later"}, None),
    ],
)
def test_a_value_is_judged_as_it_resolves(block: Any, wrong: str | None) -> None:
    found = judged(SUBNET, subnet(CidrBlock=block))
    assert [one.found for one in found] == ([] if wrong is None else [wrong])


@pytest.mark.parametrize(
    ("resource_type", "properties"),
    [
        (SUBNET, {"Fn::If": ["Unknown", subnet(), {"Fn::Transform": {"Name": "Macro"}}]}),
        (SUBNET, {"VpcId": {"Fn::If": ["Unknown", {"Ref": "Vpc"}, NOTHING]}, "CidrBlock": "10.0.0.0/24"}),
        (SUBNET, subnet(AvailabilityZone={"Fn::If": ["Unknown", "us-west-2a", NOTHING]}, AvailabilityZoneId="b")),
        (SUBNET, subnet(VpcId={"Fn::GetAtt": ["Custom", "Id"]})),
        (SUBNET, subnet(AvailabilityZone={"Ref": "Zone"}, VpcId={"Fn::If": ["Unknown", {"Ref": "Vpc"}, {"Ref": "Later"}]})),
        (SUBNET, subnet(MapPublicIpOnLaunch="true", Tags=[])),
        (SUBNET, subnet(OldName=NOTHING)),
        (BUCKET, None),
        (BUCKET, {"BucketName": {"Fn::Sub": "${AWS::AccountId}-data"}}),
        (BUCKET, {"BucketName": {"Fn::Sub": "data-${AWS::AccountId}-${Open}"}}),
        (BUCKET, {"Tags": [{"Key": "größe", "Value": "é ü"}]}),
        (GROUP, {"GroupDescription": "x", "VpcId": {"Ref": "Vpc"}, "SecurityGroupIngress": {"Fn::If": ["Unknown", [], NOTHING]}}),
        (GROUP, {"GroupDescription": "x", "SecurityGroupIngress": [{"IpProtocol": {"Ref": "Open"}, "CidrIp": "10.0.0.0/8"}]}),
        (FUNCTION, {**CODE, "Code": "./source"}),
        (FUNCTION, {**CODE, "Timeout": {"Ref": "Open"}, "MemorySize": "128"}),
        ("AWS::KMS::Alias", {"AliasName": "alias/x", "TargetKeyId": "arn:aws-cn:kms:cn-north-1:123456789012:key/x"}),
        ("AWS::EKS::Cluster", {"RoleArn": "arn:aws-cn:iam::123456789012:role/x", "ResourcesVpcConfig": {"SubnetIds": ["a", "b"]}}),
        (
            "AWS::CloudWatch::Alarm",
            {
                "ComparisonOperator": "GreaterThanThreshold",
                "EvaluationPeriods": 1,
                "Threshold": 1,
                "Dimensions": [],
                "Metrics": [{"Id": "a"}],
            },
        ),
        ("AWS::IoT::Thing", {"Anything": 1}),
        ("AWS::EC2::VPCPeeringConnection", {**PEERED, "PeerRegion": {"Ref": "AWS::Region"}}),
        ("AWS::EC2::VPCPeeringConnection", {**PEERED, "PeerRegion": "eu-north-1"}),
        (VAULT, {"BackupVaultName": "v1", "EncryptionKeyArn": {"Fn::Sub": "arn:aws:${Open}:us-west-2:123456789012:key/x"}}),
        (VAULT, {"BackupVaultName": "v1", "EncryptionKeyArn": "arn:aws:kms:us-west-2:123456789012:key/x"}),
        ("AWS::CodeBuild::Project", {**BUILD, "ServiceRole": {"Fn::Sub": "arn:aws:iam::${Open}:${Open}"}}),
        ("AWS::CodeBuild::Project", {**BUILD, "ServiceRole": ROLE_ARN, "EncryptionKey": "alias/aws/s3"}),
        ("Custom::Thing", {"ServiceToken": "x"}),
        *(
            ("AWS::Backup::BackupSelection", {**SELECTION, "BackupSelection": {**SELECTION["BackupSelection"], "Resources": [one]}})
            for one in (f"{FSX}:file-system/*", f"{FSX}:storage-virtual-machine/svm-1", "arn:aws:rds:*:*:db:*", "*")
        ),
    ],
)
def test_what_is_unknown_is_no_mistake(resource_type: str, properties: Any) -> None:
    assert said(resource_type, properties) == []


@pytest.mark.parametrize(("other", "count"), [("10.0.0.0/24", 0), ("10.0.1.0/99", 2)])
def test_a_condition_of_the_resource_may_rule_a_branch_out(other: str, count: int) -> None:
    block = {"Fn::If": ["Unknown", other, "10.0.0.0/40"]}
    resources = {"A": {"Type": SUBNET, "Condition": "Unknown", "Properties": subnet(CidrBlock=block)}, "Vpc": VPC}
    model = Model.of({"t": {"Parameters": PARAMETERS, "Conditions": CONDITIONS, "Resources": resources}})
    assert len(schema_violations(model)) == count


ROUTE = {"RouteTableId": "rtb-0123456789abcdef0", "GatewayId": "igw-0123456789abcdef0"}
STATEMENT = {"Effect": "Allow", "Actions": "s3:GetObject", "Resource": "*"}


@pytest.mark.parametrize(
    ("resource_type", "properties"),
    [
        ("AWS::EC2::Route", {**ROUTE, "DestinationCidr": "0.0.0.0/0"}),
        (
            "AWS::EC2::SecurityGroupIngress",
            {"GroupId": "sg-0123456789abcdef0", "IpProtocol": "-1", "SourceSecurityGroup": "sg-0123456789abcdef0"},
        ),
        (
            "AWS::EC2::SecurityGroupEgress",
            {"GroupId": "sg-0123456789abcdef0", "IpProtocol": "-1", "SourcePrefixListId": "pl-0123456789abcdef0"},
        ),
        (
            "AWS::EC2::SecurityGroupEgress",
            {"GroupId": "sg-0123456789abcdef0", "IpProtocol": "-1", "SourceSecurityGroupId": "sg-0123456789abcdef0"},
        ),
        ("AWS::IAM::Policy", {"PolicyName": "p", "Roles": ["r"], "PolicyDocument": {"Statement": [STATEMENT]}}),
        ("AWS::SageMaker::Cluster", {"Orchestrator": {"SLURM": {}}}),
    ],
)
def test_what_only_a_misspelled_name_lacks_is_not_missing(resource_type: str, properties: Any) -> None:
    assert [one.partition(" ")[0] for one in said(resource_type, properties)] == ["name"]


@pytest.mark.parametrize(
    ("beside", "hint"), [({}, ""), ({"LustreConfiguration": {"PerUnitStorageThroughput": 250}}, "; LustreConfiguration has it")]
)
def test_a_property_that_belongs_below_another_one(beside: dict[str, Any], hint: str) -> None:
    given = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-0123456789abcdef0"], "DeploymentType": "PERSISTENT_2", **beside}
    found = [one for one in said("AWS::FSx::FileSystem", given) if one.startswith("name")]
    assert found == [f"name DeploymentType: DeploymentType is not a property of this type{hint}"]


def test_of_several_that_are_missing_the_one_that_another_property_needs_is_said() -> None:
    assert said(SUBNET, {"VpcId": {"Ref": "Vpc"}, "Ipv4NetmaskLength": 24}) == [
        "missing Ipv4IpamPoolId: Ipv4IpamPoolId is missing beside Ipv4NetmaskLength"
    ]


@pytest.mark.parametrize(
    ("resource_type", "properties", "missing"),
    [
        (
            "AWS::RDS::DBCluster",
            {"Engine": "aurora-mysql"},
            [": the resource has none of MasterUsername", "none of ManageMasterUserPassword"],
        ),
        (
            "AWS::EC2::SubnetRouteTableAssociation",
            {"SubnetId": "subnet-0123456789abcdef0", "Tags": []},
            ["RouteTableId is missing"],
        ),
        (
            "AWS::AutoScaling::ScalingPolicy",
            {"AutoScalingGroupName": "a", "StepAdjustments": [{"ScalingAdjustment": 1}]},
            ["PolicyType is missing"],
        ),
    ],
)
def test_what_is_missing_hides_nothing_else_that_is(resource_type: str, properties: dict[str, Any], missing: list[str]) -> None:
    told = "\n".join(one for one in said(resource_type, properties) if one.startswith("missing"))
    assert [one for one in missing if one not in told] == []


DATABASE = {"Engine": "mariadb", "DBInstanceClass": "db.t4g.small", "AllocatedStorage": "20"}


@pytest.mark.parametrize(
    ("given", "lacking"),
    [
        ({}, "MasterUsername is missing; the resource has none of MasterUserPassword, ManageMasterUserPassword"),
        ({"MasterUsername": "own"}, "the resource has none of MasterUserPassword, ManageMasterUserPassword"),
        ({"ManageMasterUserPassword": True}, "MasterUsername is missing"),
        ({"MasterUsername": "own", "ManageMasterUserPassword": True}, None),
        ({"DBSnapshotIdentifier": "before"}, None),
        ({"SourceDBInstanceIdentifier": {"Ref": "Later"}}, None),
    ],
)
def test_a_new_database_has_a_user(given: dict[str, Any], lacking: str | None) -> None:
    of = " (a database that is not made of another has a user of its own, with a password)"
    assert [one.message for one in judged("AWS::RDS::DBInstance", {**DATABASE, **given})] == ([lacking + of] if lacking else [])


def test_one_place_is_one_violation() -> None:
    """The schema and an extension of it both refuse the port."""
    properties = {"GroupDescription": "x", "SecurityGroupIngress": [{"IpProtocol": "tcp", "CidrIp": "x", "FromPort": "a"}]}
    paths = [one.path for one in judged(GROUP, properties)]
    assert len(set(paths)) == len(paths)


def test_a_long_text_is_not_matched() -> None:
    schema = {"properties": {"Name": {"type": "string", "pattern": "a+"}}}
    assert list(violations(schema, {"Name": "a" * 5000 + "b"})) == []
    assert len(list(violations(schema, {"Name": "b"}))) == 1


def test_deep_values_end() -> None:
    deep: Any = "x"
    for _ in range(35):
        deep = {"Statement": [deep]}
    assert said("AWS::IAM::Policy", {"PolicyName": "p", "Roles": ["r"], "PolicyDocument": deep})


RESOLVED = {"Fn::Join": ["", ["{{resolve:secretsmanager:", {"Ref": "Role"}, ":SecretString:password::}}"]]}


@pytest.mark.parametrize(
    ("password", "wrong"),
    [(RESOLVED, 1), ({"Fn::If": ["Unknown", RESOLVED, NOTHING]}, 0), ({"Fn::Join": ["", [{"Ref": "Later"}, {"Ref": "Open"}]]}, 0)],
)
def test_a_dynamic_reference_with_a_function_in_it_is_there(password: Any, wrong: int) -> None:
    database = {"Engine": "mysql", "DBInstanceClass": "db.m6g.large", "AllocatedStorage": "20", "MasterUsername": "slurm"}
    found = judged("AWS::RDS::DBInstance", {**database, "ManageMasterUserPassword": True, "MasterUserPassword": password})
    assert [one.path for one in found] == [("MasterUserPassword",)] * wrong


ZONES = {"Fn::Split": [",", {"Fn::ImportValue": "zones"}]}


@pytest.mark.parametrize(
    ("resource_type", "properties", "wrong"),
    [
        (SUBNET, subnet(AvailabilityZone={"Fn::GetAZs": ""}), ["AvailabilityZone"]),
        (SUBNET, subnet(AvailabilityZone=ZONES), ["AvailabilityZone"]),
        (SUBNET, subnet(AvailabilityZone={"Fn::Select": [0, ZONES]}), []),
        (SUBNET, subnet(AvailabilityZone={"Fn::GetAtt": ["Vpc", "CidrBlockAssociations"]}), ["AvailabilityZone"]),
        ("AWS::RDS::DBSubnetGroup", {"DBSubnetGroupDescription": "a", "SubnetIds": ZONES}, []),
        (
            "AWS::RDS::DBSubnetGroup",
            {"DBSubnetGroupDescription": "a", "SubnetIds": {"Fn::GetAtt": ["Vpc", "VpcId"]}},
            ["SubnetIds"],
        ),
    ],
)
def test_a_list_is_no_text_and_a_text_no_list(resource_type: str, properties: Any, wrong: list[str]) -> None:
    assert [one.path[0] for one in judged(resource_type, properties) if one.kind is Kind.TYPE] == wrong
