"""Calls that policies elsewhere refuse: conditions, boundaries, buckets, keys, secrets, endpoints, and roles without a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.catalogue.cases import REMOVED, Case, edited
from tests.rules.catalogue.templates import KEPT, Template, eks, findings, rules_of, slurm
from tests.rules.catalogue.test_network import OPERATION, closed

FATAL, FEATURE = "HP-PERM-001", "HP-PERM-002"
STATEMENTS = "Role/Policies/0/PolicyDocument/Statement"
ROOT = {"AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}}
NODES = {"Fn::GetAtt": ["Role", "Arn"]}
OBJECTS = {"Fn::Sub": "${Scripts.Arn}/*"}
SLURM, CLOSED = slurm(), closed(slurm(), *OPERATION)


def allow(action: Any, resource: Any = "*", **more: Any) -> Template:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def deny(action: Any, resource: Any = "*", **more: Any) -> Template:
    return {**allow(action, resource, **more), "Effect": "Deny"}


def when(operator: str, key: str, value: Any) -> Template:
    return {"Condition": {operator: {key: value}}}


def of_everybody(statement: Template) -> Template:
    return {**statement, "Principal": "*"}


def on_bucket(*statements: Template) -> Template:
    document = {"Version": "2012-10-17", "Statement": list(statements)}
    return {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": {"Ref": "Scripts"}, "PolicyDocument": document}}


def boundary(*statements: Template) -> Template:
    document = {"Version": "2012-10-17", "Statement": list(statements)}
    return {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": document}}


def key(*statements: Template) -> Template:
    document = {"Version": "2012-10-17", "Statement": list(statements)}
    return {"Type": "AWS::KMS::Key", **KEPT, "Properties": {"EnableKeyRotation": True, "KeyPolicy": document}}


def encrypted(by: Template) -> Template:
    """Scripts in a bucket with a key that the nodes may use by their own policy."""
    default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": {"Fn::GetAtt": ["Key", "Arn"]}}
    rule = {"ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": default}]}
    own = allow("kms:Decrypt", {"Fn::GetAtt": ["Key", "Arn"]})
    return edited(SLURM, {"Key": by, "Scripts/BucketEncryption": rule, f"{STATEMENTS}/4": own})


REGION = "aws:RequestedRegion"
ZONE = {"NodeSubnet/AvailabilityZone": "us-west-2a"}
ENDPOINT = "S3Endpoint/PolicyDocument"
BOUND = {"Role/PermissionsBoundary": {"Ref": "Limit"}}
MANAGED = "Role/PermissionsBoundary"
BOUNDED = edited(SLURM, {**BOUND, "Limit": boundary(allow("*"))})
WITH_KEY = encrypted(key(allow("kms:*", Principal=ROOT)))
KEY_POLICY, OWN_KEY = "Key/KeyPolicy/Statement", f"{STATEMENTS}/4/Condition"
BUCKET_KEY = edited(WITH_KEY, {"Scripts/BucketEncryption/ServerSideEncryptionConfiguration/0/BucketKeyEnabled": True})
OF_OBJECT = "kms:EncryptionContext:aws:s3:arn"


def conditional(operator: str, name: str, value: Any) -> Template:
    return {f"{STATEMENTS}/0/Condition": {operator: {name: value}}}


CASES = [
    Case(
        FATAL, SLURM, conditional("Bool", "aws:MultiFactorAuthPresent", "true"), conditional("Bool", "aws:ViaAWSService", "false")
    ),
    Case(FATAL, SLURM, conditional("StringEquals", REGION, "eu-west-1"), conditional("StringLike", REGION, "us-*")),
    Case(FATAL, SLURM, conditional("Null", "aws:PrincipalArn", "true"), conditional("Null", "aws:PrincipalArn", "false")),
    Case(
        FATAL,
        SLURM,
        conditional("ArnLike", "aws:PrincipalArn", "arn:aws:iam::*:user/*"),
        conditional("ArnLike", "aws:PrincipalArn", "arn:aws:iam::*:role/*"),
    ),
    Case(FATAL, BOUNDED, {"Limit/PolicyDocument/Statement/0/Action": "s3:*"}, {}),
    Case(FEATURE, BOUNDED, {"Limit/PolicyDocument/Statement/1": deny("logs:*")}, {}),
    Case(FATAL, SLURM, {MANAGED: "arn:aws:iam::aws:policy/ReadOnlyAccess"}, {MANAGED: "arn:aws:iam::123456789012:policy/x"}),
    Case(FATAL, SLURM, {"Access": on_bucket(of_everybody(deny("s3:*", OBJECTS)))}, {}),
    Case(
        FATAL,
        SLURM,
        {"Access": on_bucket({**deny("s3:GetObject", OBJECTS), "Principal": {"AWS": NODES}})},
        {"Access": on_bucket({**deny("s3:GetObject", OBJECTS), "Principal": {"AWS": "arn:aws:iam::123456789012:role/people"}})},
    ),
    Case(
        FATAL,
        SLURM,
        {"Access": on_bucket(of_everybody(deny("s3:*", OBJECTS, **when("Bool", "aws:SecureTransport", "true"))))},
        {"Access": on_bucket(of_everybody(deny("s3:*", OBJECTS, **when("Bool", "aws:SecureTransport", "false"))))},
    ),
    Case(
        FATAL,
        CLOSED,
        {"Access": on_bucket(of_everybody(deny("s3:*", OBJECTS, **when("NotIpAddress", "aws:SourceIp", "203.0.113.0/24"))))},
        {"Access": on_bucket(of_everybody(deny("s3:*", OBJECTS, **when("StringEquals", "aws:SourceVpc", "vpc-1"))))},
    ),
    Case(
        FATAL,
        CLOSED,
        {"Access": on_bucket(of_everybody(deny("s3:*", OBJECTS, **when("StringNotEquals", "aws:SourceVpce", "vpce-1"))))},
        {
            "Access": on_bucket(
                of_everybody(deny("s3:*", OBJECTS, **when("StringNotEquals", "aws:SourceVpce", {"Ref": "S3Endpoint"})))
            )
        },
    ),
    Case(
        FATAL,
        SLURM,
        {"Access": on_bucket({**deny("s3:GetObject", OBJECTS), "NotPrincipal": {"AWS": "arn:aws:iam::123456789012:role/people"}})},
        {"Access": on_bucket({**deny("s3:GetObject", OBJECTS), "NotPrincipal": {"AWS": NODES}})},
    ),
    Case(FATAL, WITH_KEY, {f"{KEY_POLICY}/0/Principal": {"AWS": "arn:aws:iam::123456789012:role/admins"}}, {}),
    Case(
        FATAL,
        WITH_KEY,
        {f"{KEY_POLICY}/1": of_everybody(deny("kms:Decrypt", **when("StringNotLike", "kms:ViaService", "rds.*")))},
        {f"{KEY_POLICY}/1": of_everybody(deny("kms:Decrypt", **when("StringNotLike", "kms:ViaService", "s3.*")))},
    ),
    Case(FATAL, WITH_KEY, {OWN_KEY: when("StringEquals", "kms:ViaService", "s3.us-east-1.amazonaws.com")["Condition"]}, {}),
    Case(
        FATAL,
        BUCKET_KEY,
        {OWN_KEY: when("StringLike", OF_OBJECT, {"Fn::Sub": "${Scripts.Arn}/*"})["Condition"]},
        {OWN_KEY: when("StringLike", OF_OBJECT, {"Fn::Sub": "${Scripts.Arn}"})["Condition"]},
    ),
    Case(
        FATAL,
        WITH_KEY,
        {OWN_KEY: when("StringEquals", OF_OBJECT, {"Fn::Sub": "${Scripts.Arn}"})["Condition"]},
        {OWN_KEY: when("StringLike", OF_OBJECT, {"Fn::Sub": "${Scripts.Arn}/*"})["Condition"]},
    ),
    Case(
        FATAL,
        WITH_KEY,
        {f"{STATEMENTS}/4": REMOVED, f"{KEY_POLICY}/1": of_everybody(allow("kms:*", **when("StringLike", "aws:userid", "*:FSx")))},
        {f"{STATEMENTS}/4": REMOVED, f"{KEY_POLICY}/1": of_everybody(allow("kms:*", **when("StringLike", "aws:userid", "*:i-*")))},
    ),
    Case(FATAL, CLOSED, {ENDPOINT: {"Statement": [of_everybody(allow("s3:GetObject"))]}}, {}),
    Case(FATAL, CLOSED, {ENDPOINT: {"Statement": [of_everybody(allow("s3:*")), of_everybody(deny("s3:ListBucket"))]}}, {}),
    Case(FEATURE, SLURM, {f"{STATEMENTS}/1/Resource": "arn:aws:ec2:*:*:security-group/*"}, {}),
    Case(FEATURE, SLURM, {f"{STATEMENTS}/4": {"Effect": "Deny", "NotAction": ["ec2:*", "s3:*", "fsx:*"], "Resource": "*"}}, {}),
]


@pytest.mark.parametrize("case", CASES)
def test_rule(case: Case) -> None:
    case.check()


def test_the_finding_is_at_the_policy_that_refuses() -> None:
    (found,) = findings(edited(BOUNDED, {"Limit/PolicyDocument/Statement/1": deny("logs:*")}))
    assert (found.resource, found.path) == ("Limit", "Properties/PolicyDocument")
    assert "its permissions boundary denies logs:CreateLogGroup" in found.message


def test_a_document_that_iam_refuses_says_nothing_of_permissions() -> None:
    assert FATAL not in rules_of(edited(SLURM, {f"{STATEMENTS}/0/Resource": REMOVED}))


ROLE = SLURM["Resources"]["Role"]
ALONE: Template = {"Resources": {"Role": ROLE, "Scripts": SLURM["Resources"]["Scripts"]}}


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({}, []),
        ({f"{STATEMENTS}/0/Action": ["ec2:CreateNetworkInterface"]}, [FATAL]),
        ({f"{STATEMENTS}/0/Action": ["fsx:DescribeFileSystems"]}, []),
        ({f"{STATEMENTS}/4": deny("ssmmessages:*")}, [FEATURE]),
        ({"Role/AssumeRolePolicyDocument/Statement/0/Principal/Service": "ec2.amazonaws.com"}, ["HP-ROL-001"]),
        ({"Book": {"Type": "AWS::SageMaker::NotebookInstance", "Properties": {}}, f"{STATEMENTS}/0/Action": ["ec2:A"]}, None),
    ],
    ids=["whole", "a part of the network", "no network", "no sessions", "another trust", "a role for notebooks"],
)
def test_a_role_for_nodes_is_known_without_its_cluster(changes: dict[str, Any], rules: list[str] | None) -> None:
    found = [one for one in rules_of(edited(ALONE, changes)) if one.startswith(("HP-PERM", "HP-ROL"))]
    assert found == (rules or [])


def in_vpc(*actions: str) -> Template:
    """A function in a VPC with a role of these permissions."""
    document = {"Version": "2012-10-17", "Statement": [allow(list(actions))]}
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    role = {
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
        "Policies": [{"PolicyName": "p", "PolicyDocument": document}],
    }
    function = {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Code": {"ZipFile": "def handler(event, context): pass"},
        "Role": {"Fn::GetAtt": ["FunctionRole", "Arn"]},
        "VpcConfig": {"SubnetIds": [{"Ref": "NodeSubnet"}], "SecurityGroupIds": [{"Ref": "NodeGroup"}]},
    }
    return edited(
        SLURM,
        {
            "FunctionRole": {"Type": "AWS::IAM::Role", "Properties": role},
            "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
        },
    )


INTERFACES = ("ec2:CreateNetworkInterface", "ec2:DeleteNetworkInterface", "ec2:DescribeNetworkInterfaces")


@pytest.mark.parametrize(("actions", "rules"), [(INTERFACES, []), (INTERFACES[:1], [FATAL]), (("ec2:*",), [])])
def test_functions_in_a_vpc_make_interfaces(actions: tuple[str, ...], rules: list[str]) -> None:
    assert rules_of(in_vpc(*actions, "logs:*")) == rules


def test_another_service_s_trust_is_one_finding_at_the_role() -> None:
    trust = "FunctionRole/AssumeRolePolicyDocument/Statement/0/Principal/Service"
    (found,) = findings(edited(in_vpc(*INTERFACES, "logs:*"), {trust: "ec2.amazonaws.com"}))
    assert (found.rule, found.resource) == ("HP-ROL-001", "FunctionRole")
    assert "the role of Function cannot be assumed by lambda.amazonaws.com" in found.message


TRUST = "Role/AssumeRolePolicyDocument/Statement"
SERVICE = {"Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({f"{TRUST}/1": {"Effect": "Deny", **SERVICE}}, ["HP-ROL-001"]),
        ({f"{TRUST}/0/Condition": {"StringEquals": {"sts:ExternalId": "x"}}}, ["HP-ROL-001"]),
        ({f"{TRUST}/0/Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:sagemaker:*:*:notebook-instance/*"}}}, ["HP-ROL-001"]),
        ({f"{TRUST}/0/Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:sagemaker:*:*:cluster/*"}}}, []),
        ({f"{TRUST}/0/Condition": {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}}, []),
        ({f"{TRUST}/1": {"Effect": "Deny", **SERVICE, "Principal": {"AWS": "*"}}}, []),
    ],
)
def test_denials_and_conditions_of_a_trust_count(changes: dict[str, Any], rules: list[str]) -> None:
    assert rules_of(edited(SLURM, changes)) == rules


def test_an_endpoint_under_a_condition_may_let_everybody_through() -> None:
    limited = of_everybody(allow("*", **when("StringEquals", "aws:PrincipalOrgID", "o-1234567890")))
    assert rules_of(edited(CLOSED, {ENDPOINT: {"Statement": [limited]}})) == []


def test_a_policy_that_names_nobody_is_the_only_mistake() -> None:
    (inline,) = SLURM["Resources"]["Role"]["Properties"]["Policies"]
    apart = {"Type": "AWS::IAM::Policy", "Properties": {"PolicyName": "p", "PolicyDocument": inline["PolicyDocument"]}}
    template = edited(SLURM, {"Role/Policies": REMOVED, "Apart": apart})
    assert not any(rule.startswith("HP-PERM") for rule in rules_of(template))
    assert FATAL in rules_of(edited(template, {"Apart/Roles": ["somebody"]}))


def delivering(resource: Any) -> Template:
    """Flow logs by a role that may write to these log groups."""
    trust = {"Effect": "Allow", "Principal": {"Service": "vpc-flow-logs.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = {"Statement": [allow(["logs:CreateLogStream", "logs:PutLogEvents"], resource)]}
    role = {
        "AssumeRolePolicyDocument": {"Statement": [trust]},
        "Policies": [{"PolicyName": "deliver", "PolicyDocument": document}],
    }
    log = {
        "ResourceId": {"Ref": "Vpc"},
        "ResourceType": "VPC",
        "TrafficType": "REJECT",
        "LogGroupName": {"Ref": "Rejected"},
        "DeliverLogsPermissionArn": {"Fn::GetAtt": ["LogRole", "Arn"]},
    }
    return edited(
        SLURM,
        {
            "Rejected": {"Type": "AWS::Logs::LogGroup", "Properties": {"RetentionInDays": 30}},
            "LogRole": {"Type": "AWS::IAM::Role", "Properties": role},
            "FlowLog": {"Type": "AWS::EC2::FlowLog", "Properties": log},
        },
    )


@pytest.mark.parametrize(
    ("resource", "rules"),
    [
        ({"Fn::GetAtt": ["Rejected", "Arn"]}, []),
        ("arn:aws:logs:*:*:*", []),
        ("arn:aws:logs:us-west-2:123456789012:log-group:another:*", [FEATURE]),
    ],
)
def test_flow_logs_are_delivered_to_their_own_log_group(resource: Any, rules: list[str]) -> None:
    assert rules_of(delivering(resource)) == rules


DATA = {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {}}
READS = allow("s3:GetObject", {"Fn::Sub": "${Data.Arn}/*"})


@pytest.mark.parametrize(("actions", "rules"), [("*", []), (["s3:GetObject", "s3:ListBucket"], []), (["s3:ListBucket"], [FEATURE])])
def test_a_boundary_lets_through_what_a_role_is_allowed_by_name(actions: Any, rules: list[str]) -> None:
    others = ["ec2:*", "fsx:*", "kms:*", "logs:*", "ssmmessages:*", "cloudwatch:*", "sagemaker:*"]
    scripts = allow("s3:*", [{"Fn::GetAtt": ["Scripts", "Arn"]}, {"Fn::Sub": "${Scripts.Arn}/*"}])
    limit = boundary(allow(others), scripts, allow(actions, {"Fn::Sub": "${Data.Arn}*"} if actions != "*" else "*"))
    assert rules_of(edited(SLURM, {**BOUND, "Data": DATA, "Limit": limit, f"{STATEMENTS}/4": READS})) == rules


def sessions(**inputs: Any) -> Template:
    content = {"schemaVersion": "1.0", "description": "sessions", "sessionType": "Standard_Stream", "inputs": inputs}
    return {"Type": "AWS::SSM::Document", "Properties": {"DocumentType": "Session", "Content": content}}


@pytest.mark.parametrize(
    ("inputs", "rules"),
    [
        ({"idleSessionTimeout": "20"}, []),
        ({"s3BucketName": ""}, []),
        ({"s3BucketName": {"Ref": "Data"}}, [FEATURE]),
    ],
)
def test_nodes_write_down_the_sessions_of_documents(inputs: dict[str, Any], rules: list[str]) -> None:
    assert rules_of(edited(SLURM, {"Data": DATA, "Sessions": sessions(**inputs)})) == rules


def test_the_lines_of_sessions_take_permissions_of_their_own() -> None:
    (found,) = findings(edited(SLURM, {"Sessions": sessions(cloudWatchLogGroupName="/sessions")}))
    assert (found.rule, found.resource) == (FEATURE, "Role")
    assert "logs:DescribeLogGroups" in found.message


def test_a_service_among_people_explains_a_closed_key() -> None:
    people = {"AWS": ["cloudwatch.amazonaws.com"]}
    statement = {**allow(["kms:Decrypt", "kms:GenerateDataKey"]), "Principal": people}
    topic = {"Type": "AWS::SNS::Topic", "Properties": {"KmsMasterKeyId": {"Ref": "Own"}}}
    alarm = {
        "Namespace": "Team",
        "MetricName": "Jobs",
        "ComparisonOperator": "LessThanThreshold",
        "EvaluationPeriods": 1,
        "Period": 300,
        "Statistic": "Sum",
        "Threshold": 1,
        "AlarmActions": [{"Ref": "News"}],
    }
    own = key(allow("kms:*", Principal=ROOT), statement)
    changes = {"Own": own, "News": topic, "Quiet": {"Type": "AWS::CloudWatch::Alarm", "Properties": alarm}}
    assert rules_of(edited(SLURM, changes)) == ["HP-POL-001"]


PARTNER = {"AWS": "arn:aws:iam::210987654321:role/partner"}


@pytest.mark.parametrize(
    ("does", "takes", "rules"),
    [
        ("s3:GetObject", "kms:Decrypt", []),
        ("s3:GetObject", "kms:Encrypt", ["HP-KEY-004"]),
        ("s3:PutObject", "kms:*", []),
        ("s3:PutObject", "kms:Decrypt", ["HP-KEY-004"]),
        ("s3:ReplicateObject", "kms:Encrypt", []),
        ("s3:ReplicateObject", "kms:Decrypt", ["HP-KEY-004"]),
    ],
)
def test_a_guest_of_a_bucket_uses_its_key(does: str, takes: str, rules: list[str]) -> None:
    guest = {**allow(takes), "Principal": PARTNER}
    objects = {**allow(does, {"Fn::Sub": "${Scripts.Arn}/*"}), "Principal": PARTNER}
    template = encrypted(key(allow("kms:*", Principal=ROOT), guest))
    assert rules_of(edited(template, {"ScriptsPolicy": on_bucket(objects)})) == rules


OTHERS = {"AWS": "arn:aws:iam::210987654321:role/another"}
COMPANY = {"AWS": "arn:aws:iam::210987654321:root"}
HERE = {"AWS": "arn:aws:iam::123456789012:role/reader"}


@pytest.mark.parametrize(
    ("principal", "lets", "rules"),
    [
        (PARTNER, [], ["HP-KEY-004"]),
        (PARTNER, [allow("kms:Decrypt", Principal=COMPANY)], []),
        (PARTNER, [allow("kms:Decrypt", Principal=OTHERS)], []),
        (
            PARTNER,
            [allow("kms:Decrypt", Principal={"AWS": "*"}, Condition={"StringEquals": {"kms:CallerAccount": "210987654321"}})],
            [],
        ),
        (HERE, [], []),
    ],
)
def test_a_guest_of_another_account_is_named_by_the_key_too(principal: Template, lets: list[Any], rules: list[str]) -> None:
    """The name of the bucket tells the own account."""
    objects = {**allow("s3:GetObject", {"Fn::Sub": "${Scripts.Arn}/*"}), "Principal": principal}
    template = encrypted(key(allow("kms:*", Principal=ROOT), *lets))
    changes = {"ScriptsPolicy": on_bucket(objects), "Scripts/BucketName": "sagemaker-scripts-123456789012"}
    assert rules_of(edited(template, changes)) == rules


@pytest.mark.parametrize(("operator", "rules"), [("StringEquals", ["HP-PERM-001"]), ("StringNotEquals", [])])
def test_interfaces_are_made_from_outside_the_network(operator: str, rules: list[str]) -> None:
    assert rules_of(edited(SLURM, {f"{STATEMENTS}/0/Condition": {operator: {"aws:SourceVpc": {"Ref": "Vpc"}}}})) == rules


@pytest.mark.parametrize(("denied", "rules"), [("s3:PutObject", ["HP-PERM-002"]), ("s3:DeleteObject", [])])
def test_a_role_that_denies_what_it_allows(denied: str, rules: list[str]) -> None:
    writes = {f"{STATEMENTS}/4": allow("s3:PutObject", OBJECTS), f"{STATEMENTS}/5": {**allow(denied, OBJECTS), "Effect": "Deny"}}
    assert rules_of(edited(SLURM, writes)) == rules


def names(group: str) -> list[Template]:
    """What nodes may do with the lines of sessions, in a group."""
    logs = [
        {"Fn::Sub": f"arn:aws:logs:${{AWS::Region}}:${{AWS::AccountId}}:log-group:{group}:{end}"} for end in ("*", "log-stream:*")
    ]
    writing = allow(["logs:CreateLogStream", "logs:PutLogEvents", "logs:DescribeLogStreams"], logs)
    return [writing, allow("logs:DescribeLogGroups")]


@pytest.mark.parametrize(
    ("group", "rules"), [("/sessions", []), ("/ses*", []), ("/aws/sagemaker/Clusters/*", [FEATURE]), ("/session", [FEATURE])]
)
def test_the_lines_of_sessions_are_those_of_their_group(group: str, rules: list[str]) -> None:
    changes = {f"{STATEMENTS}/{4 + index}": one for index, one in enumerate(names(group))}
    logs = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": "/sessions", "RetentionInDays": 30}}
    sessions_ = sessions(cloudWatchLogGroupName={"Ref": "Lines"})
    assert rules_of(edited(SLURM, {**changes, "Lines": logs, "Sessions": sessions_}), rules="HP-PERM") == rules


WITH_FACTOR = {"Condition": {"Bool": {"aws:MultiFactorAuthPresent": "true"}}}


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        ([], ["People"]),
        ([allow("kms:Decrypt", {"Fn::GetAtt": ["Key", "Arn"]})], ["People"]),
        ([allow("kms:GenerateDataKey", {"Fn::GetAtt": ["Other", "Arn"]})], ["People"]),
        ([allow("kms:GenerateDataKey", {"Fn::GetAtt": ["Key", "Arn"]})], []),
        ([allow("kms:GenerateDataKey*", {"Fn::GetAtt": ["Key", "Arn"]}, **WITH_FACTOR)], []),
    ],
)
def test_who_starts_encrypted_sessions_makes_a_data_key(statements: list[Template], found: list[str]) -> None:
    document = {"Fn::Sub": "arn:aws:ssm:${AWS::Region}:${AWS::AccountId}:document/${Sessions}"}
    start = allow("ssm:StartSession", [{"Fn::GetAtt": ["Cluster", "ClusterArn"]}, document], **WITH_FACTOR)
    trust = {"Effect": "Allow", "Principal": ROOT, "Action": "sts:AssumeRole"}
    people = {
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
        "Policies": [{"PolicyName": "start", "PolicyDocument": {"Version": "2012-10-17", "Statement": [start, *statements]}}],
    }
    own = {**allow("kms:*"), "Principal": ROOT}
    changes = {
        "Key": key(own),
        "Other": key(own),
        "Sessions": sessions(kmsKeyId={"Fn::GetAtt": ["Key", "Arn"]}),
        "People": {"Type": "AWS::IAM::Role", "Properties": people},
        f"{STATEMENTS}/4": allow("kms:Decrypt", {"Fn::GetAtt": ["Key", "Arn"]}),
    }
    assert [one.resource for one in findings(edited(SLURM, changes)) if one.rule.startswith("HP-PERM")] == found


OF_KEY = {"Fn::GetAtt": ["Key", "Arn"]}


@pytest.mark.parametrize(
    ("statements", "more", "found"),
    [
        ([allow("kms:Decrypt", OF_KEY)], [], ["Start"]),
        ([allow(["kms:Decrypt", "kms:GenerateDataKey"], OF_KEY)], [], []),
        ([allow("kms:Decrypt", OF_KEY), allow("kms:*", **WITH_FACTOR)], [], []),
        ([], [], []),
        ([allow("kms:Decrypt", OF_KEY)], [{**allow("kms:GenerateDataKey*"), "Principal": {"AWS": "*"}}], []),
    ],
    ids=["decrypts", "begins", "all keys", "elsewhere", "by the key"],
)
def test_users_who_start_encrypted_sessions_make_a_data_key(
    statements: list[Template], more: list[Template], found: list[str]
) -> None:
    """A policy that does not name the key leaves it to another policy of the users."""
    document = {"Fn::Sub": "arn:aws:ssm:${AWS::Region}:${AWS::AccountId}:document/${Sessions}"}
    start = allow("ssm:StartSession", [{"Fn::GetAtt": ["Cluster", "ClusterArn"]}, document])
    policy = {"PolicyDocument": {"Version": "2012-10-17", "Statement": [start, *statements]}, "Groups": [{"Ref": "People"}]}
    changes = {
        "Key": key({**allow("kms:*"), "Principal": ROOT}, *more),
        "Sessions": sessions(kmsKeyId=OF_KEY),
        "People": {"Type": "AWS::IAM::Group", "Properties": {}},
        "Start": {"Type": "AWS::IAM::ManagedPolicy", "Properties": policy},
        f"{STATEMENTS}/4": allow("kms:Decrypt", OF_KEY),
    }
    assert [one.resource for one in findings(edited(SLURM, changes)) if one.rule.startswith("HP-PERM")] == found


@pytest.mark.parametrize(
    ("actions", "rules"),
    [
        (["aps:GetSeries", "aps:GetLabels"], [FEATURE]),
        (["aps:GetLabels"], [FEATURE]),
        (["aps:Get*", "aps:QueryMetrics"], []),
        (["aps:QueryMetrics"], []),
    ],
)
def test_who_looks_at_the_labels_of_metrics_queries_them(actions: list[str], rules: list[str]) -> None:
    assert rules_of(edited(SLURM, {f"{STATEMENTS}/4": allow(actions)}), rules="HP-PERM") == rules


def of_pods(**trust: Any) -> Template:
    """A role of pods that queries and writes metrics, past an endpoint with a policy."""
    metrics = {"Fn::GetAtt": ["Metrics", "Arn"]}
    document = {"Version": "2012-10-17", "Statement": [allow(["aps:QueryMetrics", "aps:RemoteWrite"], metrics)]}
    trusted = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **trust}]}
    endpoint = {
        "VpcId": {"Ref": "Vpc"},
        "VpcEndpointType": "Interface",
        "ServiceName": {"Fn::Sub": "com.amazonaws.${AWS::Region}.aps-workspaces"},
        "SubnetIds": [{"Ref": "NodeSubnet"}],
        "PrivateDnsEnabled": True,
        "PolicyDocument": {"Version": "2012-10-17", "Statement": [of_everybody(allow("aps:*"))]},
    }
    role = {"AssumeRolePolicyDocument": trusted, "Policies": [{"PolicyName": "metrics", "PolicyDocument": document}]}
    identity = {
        "ClusterName": {"Ref": "Control"},
        "Namespace": "tools",
        "ServiceAccount": "scaler",
        "RoleArn": {"Fn::GetAtt": ["Pods", "Arn"]},
    }
    url = {"Fn::GetAtt": ["Control", "OpenIdConnectIssuerUrl"]}
    return edited(
        eks(),
        {
            "Metrics": {"Type": "AWS::APS::Workspace", **KEPT, "Properties": {}},
            "MetricsEndpoint": {"Type": "AWS::EC2::VPCEndpoint", "Properties": endpoint},
            "Issuer": {"Type": "AWS::IAM::OIDCProvider", "Properties": {"Url": url, "ClientIdList": ["sts.amazonaws.com"]}},
            "Pods": {"Type": "AWS::IAM::Role", "Properties": role},
            "Identity": {"Type": "AWS::EKS::PodIdentityAssociation", "Properties": identity},
        },
    )


def nodes(subnet: Any, cluster: Any = None) -> Template:
    """A group of nodes that EKS manages."""
    given = {"ClusterName": cluster or {"Ref": "Control"}, "NodeRole": "arn:aws:iam::123456789012:role/a", "Subnets": [subnet]}
    return {"Type": "AWS::EKS::Nodegroup", "Properties": given}


BY_TOKEN = {"Action": "sts:AssumeRoleWithWebIdentity", "Principal": {"Federated": {"Ref": "Issuer"}}}
BY_AGENT = {"Action": ["sts:AssumeRole", "sts:TagSession"], "Principal": {"Service": "pods.eks.amazonaws.com"}}
BY_SERVICE = {"Action": "sts:AssumeRole", "Principal": {"Service": "grafana.amazonaws.com"}}
PAST = "MetricsEndpoint/PolicyDocument/Statement/0"


@pytest.mark.parametrize(
    ("trust", "changes", "refused"),
    [
        (BY_TOKEN, {f"{PAST}/Action": "aps:RemoteWrite"}, "does not allow aps:QueryMetrics"),
        (BY_AGENT, {f"{PAST}/Action": "aps:QueryMetrics"}, "does not allow aps:RemoteWrite"),
        (BY_TOKEN, {f"{PAST}/Resource": "arn:aws:aps:*:*:workspace/ws-0"}, "does not allow aps:QueryMetrics, aps:RemoteWrite"),
        (BY_TOKEN, {}, ""),
        (BY_AGENT, {PAST: of_everybody(allow("*"))}, ""),
        (BY_SERVICE, {f"{PAST}/Action": "aps:RemoteWrite"}, ""),
        (BY_TOKEN, {f"{PAST}/Action": "aps:RemoteWrite", "Issuer/Url": "https://oidc.example.com"}, ""),
        (
            BY_TOKEN,
            {f"{PAST}/Action": "aps:RemoteWrite", "Others": nodes({"Ref": "NodeSubnet"})},
            "does not allow aps:QueryMetrics",
        ),
        (BY_TOKEN, {f"{PAST}/Action": "aps:RemoteWrite", "Others": nodes({"Fn::ImportValue": "subnet"})}, ""),
        (BY_TOKEN, {f"{PAST}/Action": "aps:RemoteWrite", "Others": nodes({"Ref": "NodeSubnet"}, "others")}, ""),
    ],
)
def test_pods_use_what_their_roles_name_past_the_endpoints_of_their_nodes(trust: Template, changes: Template, refused: str) -> None:
    found = [one.message for one in findings(edited(of_pods(**trust), changes)) if "MetricsEndpoint does" in one.message]
    assert any(refused in one for one in found) if refused else found == []


@pytest.mark.parametrize(
    ("principal", "rules"),
    [
        ({"AWS": NODES}, [FATAL]),
        ({"AWS": {"Fn::Sub": "arn:aws:sts::${AWS::AccountId}:assumed-role/${Role}/session"}}, []),
        ({"AWS": "*"}, []),
    ],
)
def test_the_policy_of_a_bucket_for_the_arn_of_a_role_is_limited_by_its_boundary(principal: Any, rules: list[str]) -> None:
    """A policy for everybody or for a session of the role lets it read whatever its boundary lacks."""
    limit = boundary({"Effect": "Allow", "NotAction": "s3:*", "Resource": "*"})
    read = {**allow(["s3:GetObject", "s3:ListBucket"], [{"Fn::GetAtt": ["Scripts", "Arn"]}, OBJECTS]), "Principal": principal}
    shared = {**read, **when("StringEquals", "aws:PrincipalAccount", {"Ref": "AWS::AccountId"})}
    assert rules_of(edited(SLURM, {**BOUND, "Limit": limit, "Policy": on_bucket(shared)}), rules="HP-PERM") == rules


MOUNT = "elasticfilesystem:ClientMount"


@pytest.mark.parametrize(
    ("statements", "own", "rules"),
    [
        ([{**allow("elasticfilesystem:ClientWrite"), "Principal": {"AWS": "*"}}], [], [FEATURE]),
        ([{**allow(MOUNT), "Principal": {"Service": "sagemaker.amazonaws.com"}}], [], [FEATURE]),
        ([{**deny("*"), "Principal": {"AWS": "*"}, **when("Bool", "aws:SecureTransport", "false")}], [], [FEATURE]),
        ([{**allow("elasticfilesystem:Client*"), "Principal": {"AWS": "*"}}], [], []),
        ([{**allow("elasticfilesystem:ClientWrite"), "Principal": {"AWS": "*"}}], [allow(MOUNT)], []),
    ],
)
def test_the_policy_of_a_file_system_lets_somebody_mount_it(
    statements: list[Template], own: list[Template], rules: list[str]
) -> None:
    system = {"Encrypted": True, "FileSystemPolicy": {"Version": "2012-10-17", "Statement": statements}}
    target = {"FileSystemId": {"Ref": "Homes"}, "SubnetId": {"Ref": "NodeSubnet"}, "SecurityGroups": [{"Ref": "NodeGroup"}]}
    changes = {
        "Homes": {"Type": "AWS::EFS::FileSystem", **KEPT, "Properties": system},
        "Target": {"Type": "AWS::EFS::MountTarget", "Properties": target},
        **{f"{STATEMENTS}/{4 + index}": one for index, one in enumerate(own)},
    }
    assert rules_of(edited(SLURM, changes), rules="HP-PERM") == rules


def test_a_trust_that_refuses_is_no_boundary() -> None:
    action = {
        "Name": "Source",
        "ActionTypeId": {"Category": "Source", "Owner": "AWS", "Provider": "S3", "Version": "1"},
        "RoleArn": {"Fn::GetAtt": ["Deployer", "Arn"]},
    }
    trust = {"Effect": "Allow", "Principal": {"Service": "codepipeline.amazonaws.com"}, "Action": "sts:AssumeRole"}
    resources = {
        "Deployer": {
            "Type": "AWS::IAM::Role",
            "Properties": {
                "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
                "Policies": [{"PolicyName": "a", "PolicyDocument": {"Statement": [allow("sts:AssumeRole")]}}],
            },
        },
        "Pipeline": {
            "Type": "AWS::CodePipeline::Pipeline",
            "Properties": {
                "RoleArn": {"Fn::GetAtt": ["Deployer", "Arn"]},
                "Stages": [{"Name": "Source", "Actions": [action]}],
            },
        },
    }
    (found,) = [one for one in findings({"Resources": resources}) if one.path.endswith("AssumeRolePolicyDocument")]
    assert "the policy of Deployer does not allow sts:AssumeRole" in found.message
