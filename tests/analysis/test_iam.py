"""What roles may do."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.arns import arn_matches, bucket_arn, s3_uri_arns
from hyperpod_constructs.analysis.iam import RoleFacts, role_facts
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Text, Value, shown
from tests.templates.models import by_id, model_of

NODES = "AmazonSageMakerClusterInstanceRolePolicy"


def facts_of(policies: str = "[]", properties: str = "", resources: str = "", sections: str = "") -> RoleFacts:
    model = model_of(f"""{{
        Resources: {{
          Role: {{Type: AWS::IAM::Role, Properties: {{Policies: {policies} {properties}}}}},
          Bucket: {{Type: AWS::S3::Bucket}}, Named: {{Type: AWS::S3::Bucket, Properties: {{BucketName: sagemaker-x}}}}
          {resources}
        }},
        Parameters: {{P: {{Type: String}}}}
        {sections}
    }}""")
    return role_facts(by_id(model, "Role"))


def statement(text: str, **more: str) -> RoleFacts:
    return facts_of(f"[{{PolicyName: p, PolicyDocument: {{Statement: {text}}}}}]", **more)


def bucket(facts: RoleFacts, name: str = "Bucket", key: str | None = None) -> Value:
    return bucket_arn(Reference(facts.role.template.by_id[name]), key)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("{Effect: Allow, Action: 's3:GetObject', Resource: '*'}", True),
        ("[{Effect: Allow, Action: ['a:B', 'S3:get*'], Resource: ['*']}]", True),
        ("{Effect: Allow, Action: 's3:PutObject', Resource: '*'}", False),
        ("{Effect: Allow, NotAction: 's3:Put*', Resource: '*'}", True),
        ("{Effect: Allow, NotAction: 's3:*', Resource: '*'}", False),
        ("{Effect: Allow, Action: '*', Resource: '*', Condition: {Bool: {x: true}}}", None),
        ("{Effect: Allow, Action: '*', Resource: '*', Condition: {}}", True),
        ("{Effect: Allow, Action: !Ref P, Resource: '*'}", None),
        ("{Effect: !Ref P, Action: '*', Resource: '*'}", None),
        ("!Ref P", None),
        ("[{Effect: Allow, Action: '*', Resource: '*'}, {Effect: Deny, Action: 's3:Get*', Resource: '*'}]", False),
        ("[{Effect: Allow, Action: '*', Resource: '*'}, {Effect: Deny, Action: '*', Resource: '*', Condition: {a: b}}]", None),
        ("{Effect: Allow, Action: '*', Resource: !GetAtt Bucket.Arn}", False),
        ("{Effect: Allow, Action: '*', Resource: !Sub '${Bucket.Arn}/*'}", True),
        ("{Effect: Allow, Action: '*', Resource: !Sub 'arn:aws:s3:::${Bucket}/*'}", True),
        ("{Effect: Allow, Action: '*', Resource: !Sub 'arn:${AWS::Partition}:s3:::${Bucket}/*'}", True),
        ("{Effect: Allow, Action: '*', Resource: !Sub '${Named.Arn}/*'}", False),
        ("{Effect: Allow, Action: '*', Resource: !Sub '${Bucket.Arn}/other/*'}", False),
        ("{Effect: Allow, Action: '*', Resource: !Sub '${Bucket.Arn}/${P}*'}", None),
        ("{Effect: Allow, Action: '*', NotResource: !Sub '${Bucket.Arn}/*'}", False),
        ("{Effect: Allow, Action: '*', NotResource: !Sub '${Named.Arn}/*'}", True),
        ("{Effect: Allow, Action: '*', Resource: 'arn:aws:s3:::sagemaker-*'}", None),
    ],
)
def test_may_read_an_object(text: str, answer: bool | None) -> None:
    facts = statement(text)
    assert facts.may("s3:GetObject", bucket(facts, key="key")) is answer


def test_a_bucket_by_its_name() -> None:
    facts = statement("{Effect: Allow, Action: 's3:GetObject', Resource: 'arn:aws:s3:::sagemaker-*'}")
    assert facts.may("s3:GetObject", bucket(facts, "Named", "key")) is True
    assert facts.may("s3:GetObject", "arn:aws:s3:::other/key") is False
    assert facts.may("s3:GetObject", "*") is False
    assert facts.may("s3:GetObject") is True
    assert facts.may("s3:PutObject") is False


@pytest.mark.parametrize(
    ("pattern", "answer"),
    [
        ("data-${AWS::AccountId}/*", True),
        ("data-????????????/*", True),
        ("data-123456789012/*", None),
        ("data-${AWS::AccountId}", False),
        ("data-${AWS::AccountId}-x/*", False),
        ("lake-${AWS::AccountId}/*", False),
        ("data-12345/*", False),
        ("data-x${AWS::AccountId}/*", False),
    ],
)
def test_the_account_is_twelve_digits_that_are_the_same_everywhere(pattern: str, answer: bool | None) -> None:
    own = "Own: {Type: AWS::S3::Bucket, Properties: {BucketName: !Sub 'data-${AWS::AccountId}'}}"
    facts = statement(f"{{Effect: Allow, Action: '*', Resource: !Sub 'arn:aws:s3:::{pattern}'}}", resources=f", {own}")
    assert facts.may("s3:GetObject", bucket(facts, "Own", "key")) is answer


def test_statements_of_managed_policies_are_known() -> None:
    backups = "arn:aws:iam::aws:policy/service-role/AWSBackupServiceRolePolicyFor"
    assert facts_of("[]", f", ManagedPolicyArns: ['{backups}Backup']").may("fsx:CreateBackup") is True
    assert facts_of("[]", f", ManagedPolicyArns: ['{backups}Restores']").may("elasticfilesystem:Backup") is False


def test_policies_from_everywhere() -> None:
    document = "PolicyDocument: {Statement: {Effect: Allow, Action: %s, Resource: '*'}}"
    facts = facts_of(
        f"[{{PolicyName: p, {document % '1:x'}}}]",
        f", ManagedPolicyArns: [!Ref Managed, !Sub 'arn:${{AWS::Partition}}:iam::aws:policy/{NODES}']",
        f""",
        Separate: {{Type: AWS::IAM::Policy, Properties: {{Roles: [!Ref Role], {document % "2:x"}}}}},
        Attached: {{Type: AWS::IAM::ManagedPolicy, Properties: {{Roles: [!Ref Role], {document % "3:x"}}}}},
        Managed: {{Type: AWS::IAM::ManagedPolicy, Properties: {{{document % "4:x"}}}}},
        Single: {{Type: AWS::IAM::RolePolicy, Properties: {{RoleName: !Ref Role, {document % "5:x"}}}}},
        Foreign: {{Type: AWS::IAM::Policy, Properties: {{Roles: [somebody], {document % "6:x"}}}}},
        Waiting: {{Type: X, DependsOn: [Separate, Attached, Managed]}}
        """,
    )
    assert [facts.may(f"{number}:x") for number in range(1, 7)] == [True, True, True, True, True, False]
    assert facts.may("ssmmessages:OpenDataChannel", "*") is True
    assert facts.may("s3:GetObject", "arn:aws:s3:::sagemaker-us/x") is True
    assert facts.managed_policies == (NODES,)
    assert facts.identity.complete
    waiting = by_id(facts.role.template.model, "Waiting")
    assert [policy.resource.logical_id for policy in facts.unawaited_by(waiting)] == ["Single"]


@pytest.mark.parametrize(
    ("properties", "resources", "sections"),
    [
        (", ManagedPolicyArns: ['arn:aws:iam::aws:policy/AmazonBraketFullAccess']", "", ""),
        (", ManagedPolicyArns: !Ref P", "", ""),
        ("", ", Other: {Type: AWS::IAM::Policy, Properties: {Roles: [!Ref P], PolicyDocument: {Statement: []}}}", ""),
        ("", ", Other: {Type: AWS::IAM::Policy, Properties: {Roles: !Ref P, PolicyDocument: {Statement: []}}}", ""),
        ("", ", 'Fn::ForEach::Policies': [x, [y], {}]", ", Transform: AWS::LanguageExtensions"),
    ],
)
def test_possible_further_permissions_make_the_answer_unknown(properties: str, resources: str, sections: str) -> None:
    facts = facts_of("[]", properties, resources, sections)
    assert facts.may("s3:GetObject") is None
    assert not facts.identity.complete


def test_a_role_that_surely_may_not() -> None:
    assert facts_of().may("s3:GetObject") is False


def test_a_boundary_can_take_away() -> None:
    policies = "[{PolicyName: p, PolicyDocument: {Statement: {Effect: Allow, Action: '*', Resource: '*'}}}]"
    assert facts_of(policies, ", PermissionsBoundary: 'arn:x'").may("s3:GetObject") is None


@pytest.mark.parametrize(
    ("document", "answer"),
    [
        ("{Effect: Allow, Principal: {Service: sagemaker.amazonaws.com}, Action: 'sts:AssumeRole'}", True),
        ("{Effect: Allow, Principal: {Service: [a, sagemaker.amazonaws.com]}, Action: ['sts:*']}", True),
        ("{Effect: Allow, Principal: {Service: ec2.amazonaws.com}, Action: 'sts:AssumeRole'}", False),
        ("{Effect: Allow, Principal: {AWS: '*'}, Action: 'sts:AssumeRole'}", False),
        ("{Effect: Allow, Principal: '*', Action: 'sts:AssumeRole'}", True),
        ("{Effect: Deny, Principal: {Service: sagemaker.amazonaws.com}, Action: 'sts:AssumeRole'}", False),
        ("{Effect: Allow, Principal: {Service: sagemaker.amazonaws.com}, Action: 'sts:TagSession'}", False),
        ("{Effect: Allow, Principal: {Service: !Sub 'sagemaker.${AWS::URLSuffix}'}, Action: 'sts:AssumeRole'}", None),
        ("{Effect: Allow, Principal: {Service: !Sub 'ec2.${AWS::URLSuffix}'}, Action: 'sts:AssumeRole'}", False),
        ("{Effect: Allow, Principal: {Service: !Ref P}, Action: 'sts:AssumeRole'}", None),
        ("{Effect: Allow, NotPrincipal: {Service: x}, Action: 'sts:AssumeRole'}", None),
        ("{Effect: Allow, Principal: {Service: sagemaker.amazonaws.com}, Action: 'sts:AssumeRole', Condition: {a: b}}", None),
        ("!Ref P", None),
    ],
)
def test_trust(document: str, answer: bool | None) -> None:
    facts = facts_of("[]", f", AssumeRolePolicyDocument: {{Statement: {document}}}")
    assert facts.trusts("sagemaker.amazonaws.com") is answer


def test_the_arns_behind_an_s3_uri() -> None:
    reference = Reference(facts_of().role.template.by_id["Bucket"])
    bucket_and_objects = ["arn:aws:s3:::${Bucket}", "arn:aws:s3:::${Bucket}/a/b/${?}"]
    assert shown(s3_uri_arns(Text(("s3://", reference, "/a/b"))) or ()) == bucket_and_objects
    assert shown(s3_uri_arns("s3://name") or ()) == ["arn:aws:s3:::name", "arn:aws:s3:::name/${?}"]
    assert shown(s3_uri_arns("s3://name/a/") or ()) == ["arn:aws:s3:::name", "arn:aws:s3:::name/a/${?}"]
    assert s3_uri_arns(UNKNOWN) is None
    assert s3_uri_arns("https://name") is None


def test_one_arn_under_two_names() -> None:
    model = model_of("Resources: {S: {Type: AWS::SecretsManager::Secret}, T: {Type: AWS::SecretsManager::Secret}}")
    secret, other = by_id(model, "S"), by_id(model, "T")
    assert arn_matches(Reference(secret), Reference(secret, "Id")) is True
    assert arn_matches(Reference(secret), Reference(other)) is False
