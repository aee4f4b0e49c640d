"""Policy documents that IAM refuses, statements that do nothing, and policies of buckets for others."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from hyperpod_constructs.analysis.started import unfinished
from hyperpod_constructs.facts.iam_actions import is_service, service_actions
from hyperpod_constructs.facts.managed_policies import managed_policy, policy_names
from hyperpod_constructs.facts.permissions import KARPENTER, NODES, Task
from hyperpod_constructs.facts.pod_permissions import PODS
from hyperpod_constructs.facts.role_calls import role_calls
from hyperpod_constructs.templates.model import Model
from tests.rules.catalogue.cases import Case, edited
from tests.rules.catalogue.templates import KEPT, findings, rules_of, slurm
from tests.rules.catalogue.test_refused_calls import OBJECTS, ROOT, STATEMENTS, TRUST, ZONE, allow, of_everybody, on_bucket

TRUSTED = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
REFUSED, IDLE, NEVER = "HP-POL-001", "HP-POL-002", "HP-POL-006"
BUCKET = {"Fn::GetAtt": ["Scripts", "Arn"]}
OTHER = f"{STATEMENTS}/4"
GITHUB = "token.actions.githubusercontent.com"


def condition(operator: str, key: str = "aws:PrincipalTag/a", value: Any = "y", action: str = "sqs:SendMessage") -> dict[str, Any]:
    return {OTHER: allow(action, Condition={operator: {key: value}})}


def homes() -> dict[str, Any]:
    """A statement for what lies below the name of the caller."""
    return {OTHER: allow("s3:PutObject", "arn:aws:s3:::homes/${aws:userid}/*")}


def passed(service: str) -> dict[str, Any]:
    """A statement that lets the role of the nodes be passed to a service."""
    role = {"Fn::GetAtt": ["Role", "Arn"]}
    statement = allow("iam:PassRole", role, Condition={"StringEquals": {"iam:PassedToService": service}})
    document = {"Version": "2012-10-17", "Statement": [statement]}
    return {"Deployer": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": document}}}


def repository(action: str = "ecr:BatchGetImage", **more: Any) -> dict[str, Any]:
    """A repository with a policy for another account."""
    statement = {"Effect": "Allow", "Principal": {"AWS": "111122223333"}, "Action": action, **more}
    text = {"Version": "2012-10-17", "Statement": [statement]}
    return {"Type": "AWS::ECR::Repository", "Properties": {"RepositoryPolicyText": text}}


def test_actions_that_only_look_may_stand_beside_others() -> None:
    """Guides of AWS name kms:DescribeKey beside kms:CreateGrant, under a condition on grants."""
    statement = allow(["kms:CreateGrant", "kms:DescribeKey"], Condition={"Bool": {"kms:GrantIsForAWSResource": "true"}})
    assert rules_of(edited(slurm(), {OTHER: statement})) == []


@pytest.mark.parametrize(
    ("holder", "by", "given"),
    [
        ("AWS::IAM::Group", "holder", True),
        ("AWS::IAM::User", "holder", True),
        ("AWS::IAM::Group", "policy", True),
        ("AWS::IAM::Role", "holder", False),
        ("AWS::IAM::Group", "nobody", False),
    ],
)
def test_users_with_access_keys_pass_an_optional_second_factor(holder: str, by: str, given: bool) -> None:
    """A policy that is attached outside of the template may be of sessions of single sign-on."""
    factor = {"Condition": {"BoolIfExists": {"aws:MultiFactorAuthPresent": "true"}}}
    document = {"Version": "2012-10-17", "Statement": [allow("sagemaker:ListClusters", **factor)]}
    policy: dict[str, Any] = {"PolicyDocument": document, **({"Groups": [{"Ref": "People"}]} if by == "policy" else {})}
    people: dict[str, Any] = {"ManagedPolicyArns": [{"Ref": "Operators"}]} if by == "holder" else {}
    if holder == "AWS::IAM::Role":
        trust = [{"Effect": "Allow", "Principal": {"AWS": ROOT}, "Action": "sts:AssumeRole"}]
        people["AssumeRolePolicyDocument"] = {"Version": "2012-10-17", "Statement": trust}
    new = {
        "Operators": {"Type": "AWS::IAM::ManagedPolicy", "Properties": policy},
        "People": {"Type": holder, "Properties": people},
    }
    found = [one.message for one in findings(edited(slurm(), new)) if one.rule == NEVER]
    assert bool(found) is given
    assert not found or "access keys have no aws:MultiFactorAuthPresent" in found[0]


def test_policies_of_a_group_are_read() -> None:
    document = {"Version": "2012-10-17", "Statement": [allow("s3:GetObjekt", "arn:aws:s3:::data/*")]}
    group = {"Type": "AWS::IAM::Group", "Properties": {"Policies": [{"PolicyName": "read", "PolicyDocument": document}]}}
    assert IDLE in rules_of(edited(slurm(), {"People": group}))


def test_streams_of_a_table_may_be_listed_as_the_guide_allows_it() -> None:
    """A grant of the CDK has the action in a statement of its own."""
    table = "arn:aws:dynamodb:us-west-2:123456789012:table/Runs"
    assert rules_of(edited(slurm(), {OTHER: allow("dynamodb:ListStreams", f"{table}/stream/*")})) == []
    assert rules_of(edited(slurm(), {OTHER: allow("dynamodb:ListTables", table)})) == [IDLE]


@pytest.mark.parametrize(("kind", "rules"), [("stateMachine:nightly", []), ("activity:label", []), ("mapRun:nightly/a:b", [IDLE])])
def test_who_answers_a_task_may_do_so_for_one_machine(kind: str, rules: list[str]) -> None:
    statement = allow(["states:SendTaskSuccess", "states:SendTaskFailure"], f"arn:aws:states:us-west-2:123456789012:{kind}")
    assert rules_of(edited(slurm(), {OTHER: statement})) == rules


def test_a_document_may_be_a_text() -> None:
    trust = json.dumps(
        {"Version": "2012-10-17", "Statement": [{**TRUSTED, "Condition": {"StringEquals": {"aws:SourceArn": "arn:*"}}}]}
    )
    assert rules_of(edited(slurm(), {"Role/AssumeRolePolicyDocument": {"Fn::Sub": trust}})) == [NEVER]


def test_tasks_that_lack_the_same_are_one_finding() -> None:
    """Whoever pulls and pushes images asks for one token."""
    pulls = ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:BatchCheckLayerAvailability"]
    pushes = ["ecr:InitiateLayerUpload", "ecr:UploadLayerPart", "ecr:CompleteLayerUpload", "ecr:PutImage"]
    assert rules_of(edited(slurm(), {OTHER: allow([*pulls, *pushes])})) == ["HP-PERM-002"]


def topic_of(**more: Any) -> dict[str, Any]:
    statement = of_everybody(allow("sns:Publish", {"Ref": "News"}, **more))
    document = {"Version": "2012-10-17", "Statement": [statement]}
    policy = {"Type": "AWS::SNS::TopicPolicy", "Properties": {"Topics": [{"Ref": "News"}], "PolicyDocument": document}}
    return {"News": {"Type": "AWS::SNS::Topic", "Properties": {}}, "NewsPolicy": policy}


PUSH = ["InitiateLayerUpload", "UploadLayerPart", "CompleteLayerUpload", "PutImage", "BatchCheckLayerAvailability"]


@pytest.mark.parametrize(
    ("actions", "missing"),
    [
        (PUSH, []),
        (["*"], []),
        (["PutImage"], []),
        ([one for one in PUSH if one != "CompleteLayerUpload"], ["ecr:CompleteLayerUpload"]),
        (["InitiateLayerUpload", "Complete*"], ["ecr:UploadLayerPart", "ecr:BatchCheckLayerAvailability", "ecr:PutImage"]),
    ],
)
def test_who_begins_to_push_an_image_ends_it(actions: list[str], missing: list[str]) -> None:
    statement = allow([f"ecr:{one}" for one in actions], "arn:aws:ecr:us-west-2:123456789012:repository/trainer")
    login = allow("ecr:GetAuthorizationToken")
    model = Model.of({"t": edited(slurm(), {OTHER: statement, f"{STATEMENTS}/5": login})})
    assert [list(one.missing) for one in unfinished(model)] == ([missing] if missing else [])


@pytest.mark.parametrize(
    ("action", "resource", "rules"),
    [
        ("sagemaker:DescribeCluster", "arn:aws:sagemaker:us-west-2:123456789012:cluster/abc/*", [IDLE]),
        ("sagemaker:DescribeCluster", "arn:aws:sagemaker:us-west-2:123456789012:cluster/abc*", []),
        ("sagemaker:DescribeCluster", "arn:aws:sagemaker:*:*:cluster/*", []),
        ("sagemaker:DescribeCluster", "arn:aws:sagemaker:*:*:*/*", []),
        ("dynamodb:Query", "arn:aws:dynamodb:us-west-2:123456789012:table/runs/index/*", []),
        ("sqs:SendMessage", "arn:aws:sqs:us-west-2:123456789012:runs/*", [IDLE]),
        ("ssm:DescribeDocument", "arn:aws:ssm:us-west-2:123456789012:document/AWS-RunShellScript", [IDLE]),
        ("ssm:DescribeDocument", "arn:aws:ssm:us-west-2::document/AWS-RunShellScript", []),
        ("ssm:DescribeDocument", "arn:aws:ssm:us-west-2:*:document/AWS-RunShellScript", []),
        ("ssm:DescribeDocument", "arn:aws:ssm:us-west-2:123456789012:document/SSM-SessionManagerRunShell", []),
        ("ssm:GetParameter", "arn:aws:ssm:us-west-2:123456789012:parameter/aws/service/ami-amazon-linux-latest/*", [IDLE]),
        ("ssm:GetParameter", "arn:aws:ssm:us-west-2::parameter/aws/service/ami-amazon-linux-latest/*", []),
        ("ssm:GetParameter", "arn:aws:ssm:us-west-2:123456789012:parameter/aws/reference/secretsmanager/slurm", []),
        ("ssm:DescribeDocument", "arn:aws:ssm:us-west-2:123456789012:document/AmazonCloudWatch-ManageAgent", [IDLE]),
        ("ssm:DescribeDocument", "arn:aws:ssm:us-west-2:123456789012:document/AWSQuickSetup-PatchPolicy", []),
    ],
)
def test_nothing_lies_below_a_name_without_a_slash(action: str, resource: str, rules: list[str]) -> None:
    assert rules_of(edited(slurm(), {OTHER: allow(action, resource)})) == rules


def managed(account: str) -> dict[str, Any]:
    role = slurm()["Resources"]["Role"]["Properties"]
    return {"Role/ManagedPolicyArns": [*role.get("ManagedPolicyArns", []), f"arn:aws:iam::{account}:policy/AmazonS3ReadOnlyAccess"]}


OF_TOKENS = {"Images": repository("ecr:GetAuthorizationToken")}
QUEUE = {"Queue": {"Type": "AWS::SQS::Queue", "Properties": {}}}
CASES = [
    Case(NEVER, slurm(), condition("StringEquals", "aws:RequestedRegon"), condition("StringLike", "aws:RequestedRegion", "us-*")),
    Case(
        NEVER,
        slurm(),
        condition("StringEquals", "s3:prefix", "a", "s3:GetObject"),
        condition("StringEquals", "s3:prefix", "a", "s3:ListBucket"),
    ),
    Case(NEVER, slurm(), condition("Bool", "aws:RequestedRegion", "true"), condition("Bool", "aws:SecureTransport", "true")),
    Case(
        NEVER,
        slurm(),
        condition("NumericLessThan", "s3:max-keys", "ten", "s3:ListBucket"),
        condition("NumericLessThan", "s3:max-keys", 10, "s3:ListBucket"),
    ),
    Case(
        NEVER, slurm(), condition("StringEquals", "aws:PrincipalTag/a", "y*"), condition("StringLike", "aws:PrincipalTag/a", "y*")
    ),
    Case(
        NEVER,
        slurm(),
        condition("IpAddress", "aws:SourceIp", "10.0.0.0/8"),
        condition("IpAddress", "aws:VpcSourceIp", "10.0.0.0/8"),
    ),
    Case(
        NEVER,
        slurm(),
        condition("StringEquals", "aws:SourceVpc", {"Ref": "S3Endpoint"}),
        condition("StringEquals", "aws:SourceVpce", {"Ref": "S3Endpoint"}),
    ),
    Case(
        NEVER,
        slurm(),
        condition("StringEquals", "aws:ResourceAccount", "12"),
        condition("StringEquals", "aws:ResourceAccount", "123456789012"),
    ),
    Case(
        NEVER,
        slurm(),
        condition("Bool", "aws:MultiFactorAuthPresent", "true"),
        condition("BoolIfExists", "aws:MultiFactorAuthPresent", "true"),
    ),
    Case(
        NEVER,
        slurm(),
        condition("StringEquals", "aws:RequestTag/a", "y", "s3:GetObject"),
        condition("StringEqualsIfExists", "aws:RequestTag/a", "y", "s3:GetObject"),
    ),
    Case(
        NEVER,
        slurm(),
        condition("StringEquals", "sagemaker:VpcSubnets", {"Ref": "Vpc"}, "sagemaker:CreateTrainingJob"),
        condition("StringEquals", "sagemaker:VpcSubnets", {"Ref": "NodeSubnet"}, "sagemaker:CreateTrainingJob"),
    ),
    Case(NEVER, slurm(), condition("Null", "aws:SecureTransport", "true"), condition("Null", "aws:PrincipalTag/a", "true")),
    Case(
        NEVER,
        slurm(),
        condition("StringEquals", "states:StateMachineQualifier", "a", "states:InvokeHTTPEndpoint"),
        condition("StringEquals", "states:HTTPMethod", "GET", "states:InvokeHTTPEndpoint"),
    ),
    Case(
        NEVER,
        slurm(),
        condition("StringEquals", "kms:EncryptionContext:aws:logs:arn", "arn:aws:logs:us-west-2:111122223333:*", "kms:Decrypt"),
        condition("ArnLike", "kms:EncryptionContext:aws:logs:arn", "arn:aws:logs:us-west-2:111122223333:*", "kms:Decrypt"),
    ),
    Case(
        NEVER,
        slurm(),
        condition(
            "StringEquals", "kms:EncryptionContext:SecretARN", "arn:aws:secretsmanager:us-west-2:111122223333:*", "kms:Decrypt"
        ),
        condition(
            "StringLike", "kms:EncryptionContext:SecretARN", "arn:aws:secretsmanager:us-west-2:111122223333:*", "kms:Decrypt"
        ),
    ),
    Case(
        NEVER,
        slurm(),
        condition("StringEquals", "kms:ViaService", "s3.*", "kms:Decrypt"),
        condition("StringEquals", "kms:EncryptionContext:SourceArn", "arn:aws:logs:us-west-2:111122223333:*", "kms:Decrypt"),
    ),
    Case(
        NEVER,
        slurm(),
        condition("StringEquals", "s3:x-amz-server-side-encryption", "false", "s3:PutObject"),
        condition("Null", "s3:x-amz-server-side-encryption", "false", "s3:PutObject"),
    ),
    Case(
        NEVER,
        slurm(),
        condition("DateLessThan", "aws:CurrentTime", "2024-12-31T00:00:00Z"),
        condition("DateGreaterThan", "aws:CurrentTime", "2024-12-31T00:00:00Z"),
    ),
    Case(
        REFUSED,
        slurm(),
        {OTHER: allow("s3:PutObject", {"Fn::Sub": "arn:aws:s3:us-west-2:123456789012:${Scripts}/*"})},
        {OTHER: allow("s3:PutObject", {"Fn::Sub": "arn:aws:s3:::${Scripts}/*"})},
    ),
    Case(
        IDLE,
        slurm(),
        {**homes(), "Role/Policies/0/PolicyDocument/Version": "2008-10-17"},
        homes(),
    ),
    Case(NEVER, slurm(), passed("ec2.amazonaws.com"), passed("sagemaker.amazonaws.com")),
    Case(
        REFUSED,
        slurm(),
        {"Images": repository(Resource="*")},
        {"Images": repository()},
    ),
    Case(IDLE, slurm(), {"Images": repository("s3:GetObject")}, {"Images": repository("ecr:*")}),
    Case(
        REFUSED,
        slurm(),
        {"Images": repository(Principal={"AWS": {"Ref": "Role"}})},
        {"Images": repository(Principal={"AWS": {"Fn::GetAtt": ["Role", "Arn"]}})},
    ),
    Case(REFUSED, slurm(), condition("StringEqual"), condition("ForAnyValue:StringEqualsIfExists")),
    Case(REFUSED, slurm(), condition("Any:StringEquals"), condition("DateLessThan", "aws:CurrentTime", "2030-01-01T00:00:00Z")),
    Case(REFUSED, slurm(), {OTHER: allow("sqs:SendMessage", "s3://data/*")}, {OTHER: allow("sqs:SendMessage", "arn:aws:sqs:*")}),
    Case(
        REFUSED, slurm(), {OTHER: allow("s3:PutObject", {"Fn::Sub": "s3://${Scripts}/*"})}, {OTHER: allow("s3:PutObject", OBJECTS)}
    ),
    Case(
        REFUSED,
        slurm(),
        {OTHER: allow("s3:PutObject", {"Fn::Sub": "arn:${AWS::Partition}:s3:::${Scripts.Arn}/*"})},
        {OTHER: allow("s3:PutObject", OBJECTS)},
    ),
    Case(
        REFUSED,
        slurm(),
        {OTHER: allow("s3:PutObject", "arn:aws:s3:::s3://research-data/*")},
        {OTHER: allow("s3:PutObject", "arn:aws:s3:::research-data/*")},
    ),
    Case(REFUSED, slurm(), {OTHER: allow("s3:ListBucket", {"Ref": "Scripts"})}, {OTHER: allow("s3:ListBucket", BUCKET)}),
    Case(
        REFUSED,
        slurm(),
        {**ZONE, f"{STATEMENTS}/1/Resource": "arn:aws-cn:ec2:*:*:network-interface/*"},
        {**ZONE, f"{STATEMENTS}/1/Resource": "arn:aws:ec2:*:*:network-interface/*"},
    ),
    Case(
        REFUSED,
        slurm(),
        {**QUEUE, OTHER: allow("sqs:*", {"Ref": "Queue"})},
        {**QUEUE, OTHER: allow("sqs:*", {"Fn::GetAtt": ["Queue", "Arn"]})},
    ),
    Case(IDLE, slurm(), OF_TOKENS, {"Images": repository()}),
    Case(REFUSED, slurm(), {OTHER: allow("SendMessage")}, {OTHER: allow("sqs:SendMessage")}),
    Case(
        REFUSED,
        slurm(),
        {OTHER: allow("sqs:SendMessage", Sid="a"), f"{STATEMENTS}/5": allow("sqs:ListQueues", Sid="a")},
        {OTHER: allow("sqs:SendMessage", Sid="a"), f"{STATEMENTS}/5": allow("sqs:ListQueues", Sid="b")},
    ),
    Case(
        REFUSED,
        slurm(),
        {"Access": on_bucket({**allow("s3:GetObject", OBJECTS), "Principal": {"AWS": "role/x"}})},
        {"Access": on_bucket({**allow("s3:GetObject", OBJECTS), "Principal": {"AWS": "123456789012"}})},
    ),
    Case(REFUSED, slurm(), {f"{TRUST}/0/Resource": "*"}, {}),
    Case(REFUSED, slurm(), {OTHER: allow("sqs:SendMessage", Sid="to queues")}, {OTHER: allow("sqs:SendMessage", Sid="ToQueues")}),
    Case(
        REFUSED,
        slurm(),
        {"S3Endpoint/PolicyDocument": {"Statement": [{**allow("s3:*"), "Principal": "*", "Effect": "allow"}]}},
        {"S3Endpoint/PolicyDocument": {"Statement": [{**allow("s3:*"), "Principal": "*"}]}},
    ),
    Case(
        REFUSED,
        slurm(),
        {"S3Endpoint/PolicyDocument": {"Statement": [allow("s3:*")]}},
        {"S3Endpoint/PolicyDocument": {"Statement": [of_everybody(allow("s3:*"))]}},
    ),
    Case(IDLE, slurm(), {OTHER: allow("s3:PutObjects", OBJECTS)}, {OTHER: allow("s3:putobject", OBJECTS)}),
    Case(IDLE, slurm(), {OTHER: allow("s33:PutObject")}, {OTHER: allow("personalize:Anything")}),
    Case(IDLE, slurm(), {OTHER: allow("s3:Putt*")}, {OTHER: allow("s3:Put*", "arn:aws:s3:::data*")}),
    Case(IDLE, slurm(), {OTHER: allow("s3:ListBucketVersions", OBJECTS)}, {OTHER: allow("s3:ListBucketVersions", BUCKET)}),
    Case(IDLE, slurm(), {OTHER: allow("s3:PutObject", BUCKET)}, {OTHER: allow("s3:PutObject", "arn:aws:s3:::data*")}),
    Case(
        IDLE,
        slurm(),
        {OTHER: allow("ec2:DescribeVolumes", "arn:aws:ec2:*:*:volume/*")},
        {OTHER: allow(["ec2:DescribeVolumes", "ec2:AttachVolume"], "arn:aws:ec2:*:*:volume/*")},
    ),
    Case(
        "HP-POL-003",
        slurm(),
        {"Role/ManagedPolicyArns/1": "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCor"},
        {"Role/ManagedPolicyArns/1": "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"},
    ),
    Case(
        "HP-POL-003",
        slurm(),
        {"Role/ManagedPolicyArns/1": "arn:aws:iam::aws:policy/AWSLambdaBasicExecutionRole"},
        {"Role/ManagedPolicyArns/1": "arn:aws:iam::aws:policy/SomethingThatComesLater"},
    ),
    Case(
        "HP-POL-004",
        slurm(),
        {"Access": on_bucket({**allow("s3:GetObject", "arn:aws:s3:::another/*"), "Principal": {"AWS": "123456789012"}})},
        {"Access": on_bucket({**allow("s3:*", [BUCKET, OBJECTS]), "Principal": {"AWS": "123456789012"}})},
    ),
    Case(
        "HP-POL-005",
        slurm(),
        {"Access": on_bucket(of_everybody(allow("s3:GetObject", OBJECTS, Condition={"Bool": {"aws:SecureTransport": "true"}})))},
        {
            "Access": on_bucket(
                of_everybody(allow("s3:GetObject", OBJECTS, Condition={"StringEquals": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}}))
            )
        },
    ),
    Case("HP-POL-007", slurm(), topic_of(), topic_of(Condition={"StringEquals": {"aws:SourceAccount": "123456789012"}})),
    Case("HP-POL-003", slurm(), managed("123456789012"), managed("aws")),
    Case(
        "HP-POL-005",
        slurm(),
        {"Access": on_bucket(of_everybody(allow("s3:GetObject", OBJECTS)))},
        {
            "Access": on_bucket(of_everybody(allow("s3:GetObject", OBJECTS))),
            "Scripts/PublicAccessBlockConfiguration": {"BlockPublicPolicy": False},
            "Scripts/WebsiteConfiguration": {"IndexDocument": "index.html"},
        },
    ),
]


def topic_policy(condition: Any = None, principal: Any = "*", effect: str = "Allow") -> dict[str, Any]:
    statement = {"Effect": effect, "Principal": principal, "Action": "sns:Publish", "Resource": {"Ref": "Alerts"}}
    document = {"Statement": [statement if condition is None else {**statement, "Condition": condition}]}
    policy = {"Type": "AWS::SNS::TopicPolicy", "Properties": {"Topics": [{"Ref": "Alerts"}], "PolicyDocument": document}}
    return {"Alerts": {"Type": "AWS::SNS::Topic"}, "Access": policy}


def permission(**properties: Any) -> dict[str, Any]:
    given = {"FunctionName": "f", "Action": "lambda:InvokeFunction", "Principal": "*", **properties}
    return {"Access": {"Type": "AWS::Lambda::Permission", "Properties": given}}


OPEN = "HP-POL-007"
OWN_ACCOUNT = {"StringEquals": {"AWS:SourceOwner": {"Ref": "AWS::AccountId"}}}
TAGGED = {"StringEquals": {"aws:PrincipalTag/team": "vision"}}
SECURE = {"Bool": {"aws:SecureTransport": "true"}}
CASES += [
    Case(OPEN, slurm(), topic_policy(), topic_policy(OWN_ACCOUNT)),
    Case(OPEN, slurm(), topic_policy(SECURE, {"AWS": "*"}), topic_policy({**SECURE, **OWN_ACCOUNT}, {"AWS": "*"})),
    Case(OPEN, slurm(), topic_policy(SECURE), topic_policy({"Bool": {"aws:SecureTransport": "false"}}, effect="Deny")),
    Case(
        OPEN,
        slurm(),
        topic_policy(TAGGED),
        topic_policy({"StringEquals": {**TAGGED["StringEquals"], "aws:PrincipalOrgID": "o-a1b2c3d4e5"}}),
    ),
    Case(OPEN, slurm(), permission(), permission(SourceAccount="123456789012")),
    Case(OPEN, slurm(), permission(), permission(Principal="123456789012")),
    Case(
        OPEN,
        slurm(),
        permission(Principal="s3.amazonaws.com"),
        permission(Principal="s3.amazonaws.com", SourceAccount="123456789012"),
    ),
    Case(OPEN, slurm(), permission(Principal="events.amazonaws.com"), permission(PrincipalOrgID="o-a1b2c3d4e5")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_rule(case: Case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("pattern", "rules"),
    [
        ("${Scripts.Arn}checkpoints/*", [IDLE]),
        ("arn:${AWS::Partition}:s3:::${Scripts}checkpoints/*", [IDLE]),
        ("${Scripts.Arn}/checkpoints/*", []),
        ("${Scripts.Arn}-copies/*", []),
    ],
)
def test_a_slash_is_between_a_bucket_and_its_objects(pattern: str, rules: list[str]) -> None:
    assert rules_of(edited(slurm(), {OTHER: allow("s3:PutObject", {"Fn::Sub": pattern})}), rules="HP-POL") == rules


def test_a_bucket_may_have_the_longer_name() -> None:
    copies = {"Type": "AWS::S3::Bucket", **KEPT, "Properties": {"BucketName": {"Fn::Sub": "${Scripts}2"}}}
    changes = {OTHER: allow("s3:PutObject", {"Fn::Sub": "arn:${AWS::Partition}:s3:::${Scripts}2/*"})}
    assert rules_of(edited(slurm(), changes), rules="HP-POL") == [IDLE]
    assert rules_of(edited(slurm(), {**changes, "Copies": copies}), rules="HP-POL") == []


SESSION = {
    "Type": "AWS::SSM::Document",
    "Properties": {"DocumentType": "Session", "Content": {"schemaVersion": "1.0", "sessionType": "Standard_Stream", "inputs": {}}},
}


def starting(target: str, document: str = "${Session}", **changes: Any) -> dict[str, Any]:
    """A policy for sessions on a target."""
    place = "${AWS::Region}:${AWS::AccountId}"
    resources = [{"Fn::Sub": f"arn:aws:{target.format(place)}"}, {"Fn::Sub": f"arn:aws:ssm:{place}:document/{document}"}]
    statements = [allow("ssm:StartSession", resources)]
    given = {"PolicyDocument": {"Version": "2012-10-17", "Statement": statements}}
    return {"Session": deepcopy(SESSION), "People": {"Type": "AWS::IAM::ManagedPolicy", "Properties": given}, **changes}


CLUSTERS, DEFAULT = "sagemaker:{}:cluster/*", "SSM-SessionManagerRunShell"
PLAIN = {"Session": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": "a"}}}
OF_PEOPLE, TAGGED = "People/PolicyDocument/Statement", {"StringEquals": {"ssm:resourceTag/team": "jumps"}}
OF_CLUSTER = {f"{OF_PEOPLE}/1": allow("sagemaker:DescribeCluster", {"Fn::GetAtt": ["Cluster", "ClusterArn"]})}


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        (starting(CLUSTERS, DEFAULT), [IDLE]),
        (starting(CLUSTERS, DEFAULT, Session={"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": "a"}}), []),
        (starting(CLUSTERS, DEFAULT, **{"Session/Name": DEFAULT}), []),
        (starting(CLUSTERS, DEFAULT, **{"Session/Content/sessionType": "Port"}), []),
        (starting(CLUSTERS, DEFAULT, **{OTHER: allow("ssm:StartSession", "arn:aws:ssm:*:*:document/*")}), []),
        (starting(CLUSTERS, "of-others"), []),
        (starting(CLUSTERS, "*"), []),
    ],
)
def test_shells_are_those_of_the_document_that_is_there_for_them(changes: dict[str, Any], rules: list[str]) -> None:
    assert rules_of(edited(slurm(), changes), rules="HP-POL") == rules


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        (starting("ec2:{}:instance/*"), [IDLE]),
        (starting("sagemaker:{}:cluster/*"), []),
        (starting("ec2:{}:instance/*", DEFAULT, **{"Session/Name": DEFAULT}), [IDLE]),
        (starting("ec2:{}:instance/*", DEFAULT, **PLAIN), []),
        (starting("ec2:{}:instance/*", DEFAULT, **PLAIN, **OF_CLUSTER), [IDLE]),
        (starting("ec2:{}:instance/i-0123456789abcdef0", DEFAULT, **PLAIN, **OF_CLUSTER), []),
        (starting("ec2:{}:instance/*", DEFAULT, **PLAIN, **OF_CLUSTER, **{f"{OF_PEOPLE}/0/Condition": TAGGED}), []),
        (starting("ec2:{}:instance/*", Jump={"Type": "AWS::EC2::Instance", "Properties": {}}), []),
    ],
)
def test_sessions_on_nodes_are_for_their_cluster(changes: dict[str, Any], rules: list[str]) -> None:
    assert rules_of(edited(slurm(), changes), rules="HP-POL") == rules


def test_a_refused_permission_says_it_once() -> None:
    """The typo of a needed action is the reason of the refusal, and no finding of its own."""
    assert rules_of(edited(slurm(), {f"{STATEMENTS}/1/Action": "ec2:CreateTag"})) == ["HP-PERM-002"]


def _tasks() -> list[Task]:
    return [*NODES, *KARPENTER, *(task for found in PODS.values() for task in found)]


def _of_services() -> list[str]:
    return [name for found in role_calls().values() for one in found for action in one.actions for name in action.split("|")]


@pytest.mark.parametrize("action", sorted({*(action for task in _tasks() for action in task.actions), *_of_services()}))
def test_the_actions_of_the_facts_are_actions(action: str) -> None:
    service = action.partition(":")[0]
    assert is_service(service)
    assert action.lower() in (service_actions(service) or {})


def test_the_names_of_policies_are_those_of_aws() -> None:
    assert {"AdministratorAccess", "service-role/AWSLambdaBasicExecutionRole", "ReadOnlyAccess"} <= set(policy_names())
    assert managed_policy("ReadOnlyAccess")
    assert managed_policy("AmazonBraketFullAccess") is None


BUS = {"Type": "AWS::Events::EventBus", "Properties": {"Name": "jobs"}}


def bus_policy(resource: Any, **more: Any) -> dict[str, Any]:
    statement = {
        "Effect": "Allow",
        "Action": "events:PutEvents",
        "Resource": resource,
        "Principal": {"AWS": "123456789012"},
        **more,
    }
    properties = {"EventBusName": {"Ref": "Bus"}, "StatementId": "team", "Statement": statement}
    return {"Bus": BUS, "BusPolicy": {"Type": "AWS::Events::EventBusPolicy", "Properties": properties}}


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        (bus_policy({"Fn::GetAtt": ["Bus", "Arn"]}), []),
        (bus_policy({"Fn::Sub": "arn:aws:events:${AWS::Region}:${AWS::AccountId}:event-bus/jobs"}), []),
        (bus_policy({"Fn::Sub": "arn:aws:events:${AWS::Region}:${AWS::AccountId}:event-bus/default"}), [IDLE]),
        (bus_policy({"Fn::GetAtt": ["Bus", "Arn"]}, Principal="*"), ["HP-POL-007"]),
        (
            bus_policy(
                {"Fn::GetAtt": ["Bus", "Arn"]}, Principal="*", Condition={"StringEquals": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}}
            ),
            [],
        ),
    ],
)
def test_a_policy_is_for_its_resource(changes: dict[str, Any], rules: list[str]) -> None:
    assert rules_of(edited(slurm(), changes)) == rules


def test_a_role_for_everybody_is_one_mistake() -> None:
    everybody = {f"{TRUST}/0/Principal": {"AWS": "*"}}
    assert rules_of(edited(slurm(), everybody)) == ["HP-POL-007"]


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({"Action": "s3:GetObject"}, [IDLE]),
        ({"Action": "s3:ListBucket"}, []),
        ({"Action": ["s3:ListBucket", "s3:GetObject"]}, [IDLE]),
        ({"Action": "s3:*", "Effect": "Deny", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}, []),
    ],
)
def test_statements_for_a_bucket_are_of_actions_on_it(changes: dict[str, Any], rules: list[str]) -> None:
    statement = {"Effect": "Allow", "Principal": {"AWS": "123456789012"}, "Resource": BUCKET, **changes}
    assert rules_of(edited(slurm(), {"ScriptsPolicy": on_bucket(statement)})) == rules


@pytest.mark.parametrize(
    ("condition", "is_open"),
    [
        ({"StringNotEquals": {"aws:PrincipalAccount": "123456789012"}}, True),
        ({"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::123456789012:role/a"}}, True),
        ({"StringNotLikeIfExists": {"aws:PrincipalOrgID": "o-a1b2c3d4e5"}, "Bool": {"aws:SecureTransport": "true"}}, True),
        ({"StringNotEquals": {"aws:PrincipalArn": "a"}, "StringEquals": {"aws:PrincipalAccount": "123456789012"}}, False),
        ({"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::123456789012:role/a"}}, False),
    ],
)
def test_whose_principals_are_not_lets_everybody_else_in(condition: dict[str, Any], is_open: bool) -> None:
    changes = {"News": {"Type": "AWS::SNS::Topic", "Properties": {}}, **topic_of(Condition=condition)}
    assert (["HP-POL-007"] if is_open else []) == [one for one in rules_of(edited(slurm(), changes)) if one == "HP-POL-007"]


@pytest.mark.parametrize(("over_tls", "rules"), [("true", [NEVER]), ("false", [])])
def test_a_denial_is_not_of_everything(over_tls: str, rules: list[str]) -> None:
    statement = of_everybody(allow("sns:Publish", {"Ref": "News"}, Condition={"Bool": {"aws:SecureTransport": over_tls}}))
    document = {"Version": "2012-10-17", "Statement": [{**statement, "Effect": "Deny"}]}
    policy = {"Type": "AWS::SNS::TopicPolicy", "Properties": {"Topics": [{"Ref": "News"}], "PolicyDocument": document}}
    assert rules_of(edited(slurm(), {"News": {"Type": "AWS::SNS::Topic", "Properties": {}}, "NewsPolicy": policy})) == rules


@pytest.mark.parametrize(
    ("actions", "missing"),
    [
        (["GetDownloadUrlForLayer", "BatchGetImage", "GetAuthorizationToken"], []),
        (["BatchGetImage"], []),
        (["GetDownloadUrlForLayer", "BatchGetImage"], ["ecr:GetAuthorizationToken"]),
        (["GetDownloadUrlForLayer", "GetAuthorizationToken"], ["ecr:BatchGetImage"]),
        (["GetAuthorizationToken", "DescribeImages", "ListImages"], ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]),
        (["GetAuthorizationToken", "PutImage"], []),
        (["GetAuthorizationToken", "Batch*", "Get*"], []),
    ],
)
def test_who_reads_the_layers_of_an_image_pulls_it(actions: list[str], missing: list[str]) -> None:
    model = Model.of({"t": edited(slurm(), {OTHER: allow([f"ecr:{one}" for one in actions])})})
    assert [list(one.missing) for one in unfinished(model)] == ([missing] if missing else [])


@pytest.mark.parametrize(("own", "found"), [({}, 1), ({"RepositoryPolicyText": {"Version": "2012-10-17"}}, 0)])
def test_the_policy_of_a_repository_may_let_its_images_be_pulled(own: dict[str, Any], found: int) -> None:
    images = {"Type": "AWS::ECR::Repository", "Properties": {"RepositoryName": "trainer", **own}}
    model = Model.of({"t": edited(slurm(), {OTHER: allow("ecr:GetAuthorizationToken"), "Images": images})})
    assert len([*unfinished(model)]) == found


@pytest.mark.parametrize(
    ("action", "resource", "rules"),
    [
        ("logs:PutResourcePolicy", "arn:aws:logs:us-west-2:123456789012:*", []),
        ("logs:DescribeLogGroups", "arn:aws:logs:us-west-2:123456789012:log-group:*", []),
        ("logs:PutResourcePolicy", "arn:aws:logs:us-west-2:123456789012:delivery:*", ["HP-POL-002"]),
        ("ec2:DescribeSubnets", "arn:aws:ec2:us-west-2:123456789012:*", ["HP-POL-002"]),
    ],
)
def test_an_action_without_resources_and_a_pattern_for_all(action: str, resource: str, rules: list[str]) -> None:
    assert rules_of(edited(slurm(), {OTHER: allow(action, resource)})) == rules


def test_the_first_policy_of_a_topic_has_an_action_that_no_list_has() -> None:
    own = topic_of(Condition={"StringEquals": {"AWS:SourceOwner": {"Ref": "AWS::AccountId"}}})
    own["NewsPolicy"]["Properties"]["PolicyDocument"]["Statement"][0]["Action"] = ["SNS:Publish", "SNS:Receive"]
    assert rules_of(edited(slurm(), own)) == []


@pytest.mark.parametrize(
    ("resource", "rules"),
    [
        ("arn:${AWS::Partition}:s3:::prod-${AWS::Region}-layers/*", []),
        ("arn:${AWS::Partition}:s3:::prod-${AWS::Region}-layers", ["HP-POL-002"]),
        ("arn:${AWS::Partition}:s3:::prod-${AWS::Region}", []),
        ("arn:aws:s3:${AWS::Region}:${AWS::AccountId}:accesspoint/nodes/object/*", []),
        ("arn:aws:s3:${AWS::Region}:${AWS::AccountId}:accesspoint/nodes/*", []),
        ("arn:aws:s3:${AWS::Region}:${AWS::AccountId}:accesspoint/nodes", ["HP-POL-002"]),
    ],
)
def test_what_is_read_are_objects_of_a_bucket_or_of_an_access_point(resource: str, rules: list[str]) -> None:
    assert rules_of(edited(slurm(), {OTHER: allow("s3:GetObject", {"Fn::Sub": resource})})) == rules


def test_a_role_that_does_not_trust_its_user_is_one_finding() -> None:
    """The trust lacks a service: whoever passes the role to this service passes it rightly."""
    edits = {
        **passed("sagemaker.amazonaws.com"),
        "Role/AssumeRolePolicyDocument/Statement/0/Principal/Service": "ec2.amazonaws.com",
    }
    assert rules_of(edited(slurm(), edits)) == ["HP-ROL-001"]
    assert rules_of(edited(slurm(), passed("sagemaker.amazonaws.com"))) == []


@pytest.mark.parametrize(
    ("audience", "taken", "rules"),
    [
        ("sts.amazonaws.com", ["sts.amazonaws.com"], []),
        ("https://github.com/team", ["sts.amazonaws.com"], ["HP-WID-005"]),
        ("https://github.com/*", ["https://github.com/team"], []),
        ("sts.amazonaws.com", [], []),
    ],
)
def test_a_trust_is_for_an_audience_of_its_provider(audience: str, taken: list[str], rules: list[str]) -> None:
    claims = {f"{GITHUB}:aud": audience, f"{GITHUB}:sub": "repo:team/jobs:ref:refs/heads/main"}
    statement = {
        "Effect": "Allow",
        "Principal": {"Federated": {"Ref": "Tokens"}},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringLike": claims},
    }
    trust = {"Version": "2012-10-17", "Statement": [statement]}
    edits = {
        "Tokens": {"Type": "AWS::IAM::OIDCProvider", "Properties": {"Url": f"https://{GITHUB}", "ClientIdList": taken}},
        "Publisher": {"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": trust}},
    }
    assert rules_of(edited(slurm(), edits)) == rules


def when(key: str, value: Any, operator: str = "StringEquals") -> dict[str, Any]:
    return {operator: {key: value}}


SPACE, STORE = {"Type": "AWS::APS::Workspace"}, {"Type": "AWS::S3::Bucket", **KEPT}


@pytest.mark.parametrize(
    ("condition", "mistaken"),
    [
        (when("aws:SourceAccount", {"Ref": "AWS::Region"}), True),
        (when("aws:SourceAccount", ["123456789012", {"Ref": "AWS::StackName"}]), True),
        (when("aws:SourceAccount", {"Fn::GetAtt": ["Space", "Arn"]}), True),
        (when("aws:SourceAccount", {"Ref": "Store"}), True),
        (when("aws:PrincipalOrgID", {"Ref": "AWS::AccountId"}), True),
        (when("aws:SourceArn", {"Ref": "AWS::AccountId"}, "ArnLike"), True),
        (when("aws:SourceArn", {"Fn::GetAtt": ["Space", "PrometheusEndpoint"]}, "ArnEquals"), True),
        (when("aws:SourceAccount", {"Ref": "AWS::AccountId"}), False),
        (when("aws:SourceAccount", {"Ref": "Given"}), False),
        (when("aws:SourceAccount", {"Ref": "Made"}), False),
        (when("aws:SourceArn", {"Fn::GetAtt": ["Space", "Arn"]}, "ArnEquals"), False),
        (when("aws:SourceArn", {"Ref": "AWS::StackId"}, "ArnEquals"), False),
        (when("aws:ResourceTag/place", {"Ref": "AWS::Region"}), False),
    ],
)
def test_conditions_compare_with_values_of_the_kind_of_their_key(condition: dict[str, Any], *, mistaken: bool) -> None:
    made = {"Type": "Custom::Account", "Properties": {"ServiceToken": "arn:aws:lambda:us-west-2:123456789012:function:f"}}
    given = {**topic_policy(condition, {"Service": "aps.amazonaws.com"}), "Space": SPACE, "Store": STORE, "Made": made}
    template = edited({**slurm(), "Parameters": {"Given": {"Type": "String", "Default": "123456789012"}}}, given)
    assert ("HP-POL-006" in rules_of(template, rules="HP-POL")) is mistaken


def queues(owners: list[str], *named: str) -> dict[str, Any]:
    """A policy of some queues whose statements name others."""
    statements = [
        {
            "Effect": "Allow",
            "Principal": ROOT,
            "Action": "sqs:SendMessage",
            "Resource": [{"Fn::GetAtt": [one, "Arn"]} for one in named],
        }
        for _ in range(2)
    ]
    given = {"Queues": [{"Ref": one} for one in owners], "PolicyDocument": {"Version": "2012-10-17", "Statement": statements}}
    return {"Access": {"Type": "AWS::SQS::QueuePolicy", "Properties": given}, **{one: {"Type": "AWS::SQS::Queue"} for one in "AB"}}


@pytest.mark.parametrize(
    ("owners", "named", "found"), [(["A"], "AB", 1), (["A"], "B", 1), (["A", "B"], "AB", 0), (["A", "B"], "A", 0), (["A"], "A", 0)]
)
def test_the_policy_of_a_queue_speaks_of_no_other_queue(owners: list[str], named: str, found: int) -> None:
    assert len([one for one in findings(edited(slurm(), queues(owners, *named))) if one.rule == IDLE]) == found


@pytest.mark.parametrize(("named", "rules"), [("shell", [IDLE]), ("other", [])])
def test_sessions_are_those_of_a_document_that_is_written_by_its_name(named: str, rules: list[str]) -> None:
    changes = {**starting("ec2:{}:instance/*", named), "Session/Name": "shell"}
    assert rules_of(edited(slurm(), changes), rules="HP-POL") == rules


@pytest.mark.parametrize(
    ("action", "arn", "mistaken"),
    [
        ("sns:Publish", "arn:aws:sns:us-west-2::alerts", True),
        ("sqs:SendMessage", "arn:aws:sqs::123456789012:jobs", True),
        ("sagemaker:DescribeCluster", "arn:aws:sagemaker:*::cluster/*", True),
        ("iam:PassRole", "arn:aws:iam:us-west-2:123456789012:role/nodes", True),
        ("ssm:StartSession", "arn:aws:ssm:us-west-2::document/${Session}", True),
        ("route53:ListResourceRecordSets", "arn:aws:route53:us-west-2::hostedzone/Z1", True),
        ("sns:Publish", "arn:aws:sns:*:*:alerts", False),
        ("iam:GetPolicy", "arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess", False),
        ("iam:GetRole", "arn:aws:iam::*:role/nodes", False),
        ("ssm:StartSession", "arn:aws:ssm:us-west-2::document/AWS-StartSSHSession", False),
        ("ssm:GetParameter", "arn:aws:ssm:us-west-2::parameter/aws/service/eks/x", False),
        ("eks:*", "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy", False),
        ("route53:ListResourceRecordSets", "arn:aws:route53:::hostedzone/Z1", False),
    ],
)
def test_an_arn_has_a_region_and_an_account_as_its_type_has(action: str, arn: str, *, mistaken: bool) -> None:
    document = {"Version": "2012-10-17", "Statement": [allow(action, {"Fn::Sub": arn})]}
    people = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": document}}
    template = edited(slurm(), {"Session": SESSION, "People": people})
    assert [one.resource for one in findings(template) if one.rule == IDLE] == (["People"] if mistaken else [])


BOTH = ["s3:GetObject", "s3:ListBucket"]


def of(name: str, key: str = "") -> dict[str, Any]:
    return {"Fn::Sub": f"${{{name}.Arn}}{key}"}


@pytest.mark.parametrize(
    ("actions", "resources", "more", "mistaken"),
    [
        (BOTH, [of("Scripts"), of("Scripts", "/*"), of("Store", "/*")], [], True),
        (BOTH, [of("Scripts"), of("Scripts", "/*"), of("Store")], [], True),
        (["s3:PutObject", "s3:ListBucket"], [of("Scripts"), of("Store"), of("Store", "/runs/*")], [], True),
        (BOTH, [of("Scripts"), of("Scripts", "/*"), of("Store", "/*")], [allow("s3:List*", of("Store"))], False),
        (BOTH, [of("Scripts"), of("Scripts", "/*"), of("Store"), of("Store", "/*")], [], False),
        (["s3:GetObject"], [of("Scripts", "/*"), of("Store", "/*")], [], False),
        (BOTH, [of("Scripts"), of("Scripts", "/*"), of("Store", "/runs/*")], [], False),
        (BOTH, [of("Scripts"), of("Scripts", "/*"), of("Store", "/runs/*"), of("Store", "/*")], [], True),
        (BOTH, [of("Scripts"), of("Scripts", "/*"), "arn:aws:s3:::elsewhere/*"], [], False),
    ],
)
def test_a_statement_names_its_buckets_and_their_objects(
    actions: list[str], resources: list[Any], more: list[dict[str, Any]], *, mistaken: bool
) -> None:
    changes = {f"{STATEMENTS}/{4 + index}": one for index, one in enumerate([allow(actions, resources), *more])}
    found = [one for one in findings(edited(slurm(), {"Store": STORE, **changes})) if one.rule == IDLE]
    assert bool(found) is mistaken


@pytest.mark.parametrize(
    ("resource", "rules"),
    [
        ("arn:aws:ssm:*:*:sessions/${aws:userid}-*", [IDLE]),
        ("arn:aws:ssm:*:*:session/${aws:userid}-*", []),
        ("arn:aws:ssm:*:*:${aws:PrincipalTag/kind}/*", []),
    ],
)
def test_a_variable_hides_no_mistake_before_it(resource: str, rules: list[str]) -> None:
    document = {"Version": "2012-10-17", "Statement": [allow(["ssm:TerminateSession", "ssm:ResumeSession"], resource)]}
    people = {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": document}}
    assert rules_of(edited(slurm(), {"People": people}), rules="HP-POL") == rules


@pytest.mark.parametrize(
    ("name", "used", "wrong"),
    [
        ("team-shell", False, True),
        ("team-session", False, False),
        ("team-*", False, False),
        ("ops-shell", False, False),
        ("team-shell", True, False),
    ],
)
@pytest.mark.parametrize(
    ("type_", "key", "service", "action", "before"),
    [
        ("AWS::SSM::Document", "Name", "ssm", "ssm:StartSession", "document/"),
        ("AWS::SQS::Queue", "QueueName", "sqs", "sqs:SendMessage", ""),
        ("AWS::Lambda::Function", "FunctionName", "lambda", "lambda:InvokeFunction", "function:"),
    ],
)
def test_a_statement_for_nothing_leaves_one_resource_to_nobody(
    name: str, used: bool, wrong: bool, type_: str, key: str, service: str, action: str, before: str
) -> None:
    arn = {"Fn::Sub": f"arn:${{AWS::Partition}}:{service}:${{AWS::Region}}:${{AWS::AccountId}}:{before}{name}"}
    statement = {"Effect": "Allow", "Action": action, "Resource": arn}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    resources = {
        "Thing": {"Type": type_, "Properties": {key: "team-session"}},
        "May": {"Type": "AWS::IAM::ManagedPolicy", "Properties": {"PolicyDocument": document}},
        **({"Other": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": {"Ref": "Thing"}}}} if used else {}),
    }
    found = findings({"Resources": resources}, rules="HP-POL")
    assert ["and nothing names Thing" in one.message for one in found] == [True] * wrong


@pytest.mark.parametrize(
    ("resources", "actions", "idle"),
    [
        ([BUCKET, "arn:aws:states:::amazon-ssm-us-west-2/*"], ["s3:GetObject", "s3:ListBucket"], True),
        ([OBJECTS, "arn:aws:sqs:us-west-2:123456789012:a"], ["s3:GetObject"], True),
        ([OBJECTS, "arn:aws:s3:::other/*"], ["s3:GetObject"], False),
        (
            [OBJECTS, "arn:aws:kms:us-west-2:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"],
            ["s3:GetObject", "kms:Decrypt"],
            False,
        ),
        ([OBJECTS, "arn:aws:sqs:us-west-2:123456789012:a"], ["s3:GetObject", "sqs:*"], False),
        ([OBJECTS, "arn:aws:*:*:*:a"], ["s3:GetObject"], False),
    ],
)
def test_each_resource_is_of_a_service_of_the_actions(resources: list[Any], actions: list[str], idle: bool) -> None:
    said = [one for one in rules_of(edited(slurm(), {OTHER: allow(actions, resources)})) if one == IDLE]
    assert said == ([IDLE] if idle else [])


@pytest.mark.parametrize(
    ("changes", "shut"),
    [
        ({}, True),
        ({"Action": "*"}, True),
        ({"Condition": {}}, True),
        ({"Action": "sns:Publish"}, False),
        ({"Condition": {"Bool": {"aws:SecureTransport": "false"}}}, False),
        ({"Principal": {"AWS": "arn:aws:iam::123456789012:role/a"}}, False),
        ({"Effect": "Allow", "Condition": {"StringEquals": {"aws:PrincipalAccount": "123456789012"}}}, False),
    ],
)
def test_a_policy_does_not_deny_everybody_everything(changes: dict[str, Any], shut: bool) -> None:
    statement = {**of_everybody(allow("sns:*", {"Ref": "News"})), "Effect": "Deny", **changes}
    policy = {"Topics": [{"Ref": "News"}], "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
    things = {"News": {"Type": "AWS::SNS::Topic", "Properties": {}}, "P": {"Type": "AWS::SNS::TopicPolicy", "Properties": policy}}
    assert [one for one in rules_of(edited(slurm(), things)) if one == "HP-POL-008"] == (["HP-POL-008"] if shut else [])


POINT = "arn:aws:s3:us-west-2:123456789012:accesspoint/papers"


@pytest.mark.parametrize(
    ("resources", "count"),
    [
        ([POINT, f"{POINT}/object/*"], 0),
        ([{"Fn::GetAtt": ["Point", "Arn"]}, {"Fn::Sub": "${Point.Arn}/object/*"}], 0),
        ([{"Ref": "Given"}, POINT], 0),
        ([{"Fn::GetAtt": ["Papers", "Arn"]}, f"{POINT}/object/*"], 1),
        ([POINT, {"Fn::Sub": "${Papers.Arn}/*"}], 1),
    ],
)
def test_the_policy_of_an_access_point_speaks_of_the_point_alone(resources: list[Any], count: int) -> None:
    statement = {"Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": resources}
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    point = {"Name": "papers", "Bucket": {"Ref": "Papers"}, "Policy": policy}
    template = {
        "Parameters": {"Given": {"Type": "String"}},
        "Resources": {
            "Papers": {"Type": "AWS::S3::Bucket"},
            "Point": {"Type": "AWS::S3::AccessPoint", "Properties": point},
        },
    }
    assert len([one for one in findings(template, rules="HP-POL-002") if "the policy is of Point" in one.message]) == count


@pytest.mark.parametrize(
    ("resources", "count"),
    [
        ([{"Ref": "Alerts"}], 0),
        ([{"Ref": "Alerts"}, "*"], 0),
        ([{"Ref": "Alerts"}, {"Fn::GetAtt": ["Jobs", "Arn"]}], 1),
        ([{"Ref": "Alerts"}, "arn:aws:sqs:us-west-2:123456789012:elsewhere"], 1),
    ],
)
def test_the_policy_of_a_topic_speaks_of_topics_alone(resources: list[Any], count: int) -> None:
    service = {"Service": "events.amazonaws.com"}
    statement = {"Effect": "Allow", "Principal": service, "Action": "sns:Publish", "Resource": resources}
    policy = {"Topics": [{"Ref": "Alerts"}], "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
    template = {
        "Resources": {
            "Alerts": {"Type": "AWS::SNS::Topic"},
            "Jobs": {"Type": "AWS::SQS::Queue"},
            "Policy": {"Type": "AWS::SNS::TopicPolicy", "Properties": policy},
        }
    }
    assert len([one for one in findings(template, rules="HP-POL-002") if "speaks of" in one.message]) == count
