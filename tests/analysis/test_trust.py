"""Roles that resources give to services: whether the trust of the role lets the service in."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.trust import Assumption, assumptions
from tests.templates.models import model_of

ACCOUNT, PLACE = "123456789012", "us-west-2:123456789012"


def given(service: str, condition: str, resources: str, actions: str = "sts:AssumeRole") -> list[Assumption]:
    return list(
        assumptions(
            model_of(f"""{{
              Resources: {{
                Role: {{Type: AWS::IAM::Role, Properties: {{AssumeRolePolicyDocument: {{Statement: [
                  {{Effect: Allow, Principal: {{Service: {service}}}, Action: {actions}, Condition: {condition}}}]}}}}}},
                Own: {{Type: AWS::S3::Bucket, Properties: {{BucketName: data-{ACCOUNT}}}}},
                {resources}}}}}""")
        )
    )


def lacking(service: str, condition: str, resources: str, actions: str = "sts:AssumeRole") -> list[list[str]]:
    return [one.lacking for one in given(service, condition, resources, actions)]


def source(arn: str, operator: str = "ArnLike") -> str:
    return f"{{{operator}: {{'aws:SourceArn': {arn}}}}}"


STREAM = "Stream: {Type: AWS::CloudWatch::MetricStream, Properties: {Name: samples, RoleArn: !GetAtt Role.Arn}}"
UNNAMED = "Stream: {Type: AWS::CloudWatch::MetricStream, Properties: {RoleArn: !GetAtt Role.Arn}}"
METRICS = "streams.metrics.cloudwatch.amazonaws.com"
FIREHOSE = """Stream: {Type: AWS::KinesisFirehose::DeliveryStream, Properties: {
  ExtendedS3DestinationConfiguration: {RoleARN: !GetAtt Role.Arn}}}"""
RULE = "Rule: {Type: AWS::Events::Rule, Properties: {Targets: [{Id: a, RoleArn: !GetAtt Role.Arn}]}}"
LINES = "Lines: {Type: AWS::Logs::SubscriptionFilter, Properties: {RoleArn: !GetAtt Role.Arn}}"
MODEL = "Model: {Type: AWS::SageMaker::Model, Properties: {ExecutionRoleArn: !GetAtt Role.Arn}}"
CLUSTER = """Cluster: {Type: AWS::SageMaker::Cluster, Properties: {InstanceGroups: [
  {InstanceGroupName: a}, {InstanceGroupName: b, ExecutionRole: !GetAtt Role.Arn}]}}"""
PODS = """Control: {Type: AWS::EKS::Cluster, Properties: {Name: one}}, Other: {Type: AWS::EKS::Cluster, Properties: {Name: two}},
  Account: {Type: AWS::EKS::PodIdentityAssociation, Properties: {ClusterName: !Ref Control, RoleArn: !GetAtt Role.Arn}}"""
SCHEDULE = "Night: {Type: AWS::Scheduler::Schedule, Properties: {Target: {RoleArn: !GetAtt Role.Arn}}}"
GROUP = f"arn:aws:scheduler:{PLACE}:schedule-group"
OF_PODS = "pods.eks.amazonaws.com"
TAGGED = """Account: {Type: AWS::EKS::PodIdentityAssociation, Properties: {
  Namespace: team, ServiceAccount: job, RoleArn: !GetAtt Role.Arn}}"""
UNTAGGED = TAGGED.replace("Namespace", "DisableSessionTags: true, Namespace")
POD_ACTIONS = "['sts:AssumeRole', 'sts:TagSession']"
REFUSED = [["sts:AssumeRole"]]
BOTH = [["sts:AssumeRole", "sts:TagSession"]]


def tag(name: str, value: str) -> str:
    return f"{{StringEquals: {{'aws:RequestTag/{name}': {value}}}}}"


@pytest.mark.parametrize(
    ("service", "condition", "resources", "expected"),
    [
        (OF_PODS, tag("kubernetes-namespace", "team"), TAGGED, [["sts:TagSession"]]),
        (OF_PODS, tag("kubernetes-namespace", "others"), TAGGED, BOTH),
        (OF_PODS, tag("kubernetes-service-account", "others"), TAGGED, BOTH),
        (OF_PODS, tag("kubernetes-pod-name", "others"), TAGGED, [["sts:TagSession"]]),
        (OF_PODS, tag("kubernetes-namespace", "team"), UNTAGGED, BOTH),
        ("scheduler.amazonaws.com", source(f"{GROUP}/nights"), SCHEDULE, REFUSED),
        ("scheduler.amazonaws.com", source(f"{GROUP}/default"), SCHEDULE, [[]]),
        ("scheduler.amazonaws.com", source(f"{GROUP}/nights"), SCHEDULE.replace("Target", "GroupName: nights, Target"), [[]]),
        (METRICS, "{}", STREAM, [[]]),
        ("firehose.amazonaws.com", "{}", STREAM, REFUSED),
        (METRICS, source(f"'arn:aws:cloudwatch:{PLACE}:metric-stream/samples'"), STREAM, [[]]),
        (METRICS, source(f"'arn:aws:cloudwatch:{PLACE}:metric-stream/*'"), STREAM, [[]]),
        (METRICS, source(f"'arn:aws:cloudwatch:{PLACE}:metric-stream/others'"), STREAM, REFUSED),
        (METRICS, source(f"'arn:aws:cloudwatch:{PLACE}:alarm:*'"), STREAM, REFUSED),
        (METRICS, source("!GetAtt Stream.Arn", "ArnEquals"), UNNAMED, [[]]),
        (METRICS, source(f"'arn:aws:cloudwatch:{PLACE}:alarm:*'"), UNNAMED, REFUSED),
        (METRICS, source(f"'arn:aws:cloudwatch:{PLACE}:metric-stream/?*'"), UNNAMED, [[]]),
        ("events.amazonaws.com", source(f"'arn:aws:events:{PLACE}:rule/nightly'"), RULE, [[]]),
        ("events.amazonaws.com", source(f"'arn:aws:events:{PLACE}:archive/nightly'"), RULE, REFUSED),
        ("logs.amazonaws.com", source(f"'arn:aws:logs:{PLACE}:log-group:*'"), LINES, [[]]),
        ("logs.amazonaws.com", source(f"'arn:aws:firehose:{PLACE}:*'"), LINES, REFUSED),
        ("sagemaker.amazonaws.com", source(f"'arn:aws:sagemaker:{PLACE}:model/*'"), MODEL, [[]]),
        (METRICS, "{StringEquals: {'aws:SourceAccount': !Ref 'AWS::AccountId'}}", STREAM, [[]]),
        (METRICS, "{StringEquals: {'aws:SourceAccount': '999999999999'}}", STREAM, REFUSED),
        (METRICS, "{StringEquals: {'aws:SourceVpc': 'vpc-0123456789abcdef0'}}", STREAM, REFUSED),
        (METRICS, "{StringEquals: {'aws:PrincipalOrgID': 'o-abcdefghij'}}", STREAM, REFUSED),
        (METRICS, "{StringEquals: {'sts:ExternalId': !Ref 'AWS::AccountId'}}", STREAM, REFUSED),
        (METRICS, "{StringEquals: {'aws:SourceOrgID': 'o-abcdefghij'}}", STREAM, [[]]),
        ("firehose.amazonaws.com", "{StringEquals: {'sts:ExternalId': !Ref 'AWS::AccountId'}}", FIREHOSE, [[]]),
        ("firehose.amazonaws.com", "{StringEquals: {'sts:ExternalId': another}}", FIREHOSE, REFUSED),
        ("sagemaker.amazonaws.com", source(f"'arn:aws:sagemaker:{PLACE}:cluster/*'"), CLUSTER, [[]]),
        ("sagemaker.amazonaws.com", source(f"'arn:aws:sagemaker:{PLACE}:training-job/*'"), CLUSTER, REFUSED),
        ("pods.eks.amazonaws.com", source("!GetAtt Control.Arn"), PODS, [["sts:TagSession"]]),
    ],
)
def test_the_trust_is_judged_by_the_call_of_the_service(
    service: str, condition: str, resources: str, expected: list[list[str]]
) -> None:
    assert lacking(service, condition, resources) == expected


def test_pods_assume_a_role_for_their_cluster() -> None:
    assert lacking("pods.eks.amazonaws.com", source("!GetAtt Control.Arn"), PODS, POD_ACTIONS) == [[]]
    refused = [["sts:AssumeRole", "sts:TagSession"]]
    assert lacking("pods.eks.amazonaws.com", source("!GetAtt Other.Arn"), PODS, POD_ACTIONS) == refused
    imported = PODS.replace("!Ref Control", "imported")
    assert lacking("pods.eks.amazonaws.com", source("!GetAtt Other.Arn"), imported, POD_ACTIONS) == [[]]


def test_an_assumption_names_who_gives_the_role_and_where() -> None:
    (one,) = given("sagemaker.amazonaws.com", "{}", CLUSTER)
    assert (one.role.logical_id, one.user.logical_id, one.path) == ("Role", "Cluster", ("InstanceGroups", 1, "ExecutionRole"))


def test_a_role_that_is_elsewhere_is_not_judged() -> None:
    assert given(METRICS, "{}", STREAM.replace("!GetAtt Role.Arn", f"'arn:aws:iam::{ACCOUNT}:role/other'")) == []


API = "Api: {Type: AWS::ApiGatewayV2::Integration, Properties: {CredentialsArn: !GetAtt Role.Arn}}"
DEPLOYMENT = """Pipeline: {Type: AWS::CodePipeline::Pipeline, Properties: {Stages: [{Name: s, Actions: [{Name: a,
  ActionTypeId: {Provider: CloudFormation}, Configuration: {RoleArn: !GetAtt Role.Arn}}]}]}}"""


@pytest.mark.parametrize(
    ("resources", "service"), [(API, "apigateway.amazonaws.com"), (DEPLOYMENT, "cloudformation.amazonaws.com")]
)
def test_a_role_is_of_the_service_that_its_property_says(resources: str, service: str) -> None:
    assert lacking(service, "{}", resources) == [[]]
    assert lacking("codepipeline.amazonaws.com", "{}", resources) == REFUSED


@pytest.mark.parametrize(
    ("others", "lets"),
    [
        ("Service: events.amazonaws.com", True),
        ("Service: [events.amazonaws.com, scheduler.amazonaws.com]", True),
        ("AWS: '*'", False),
    ],
)
def test_a_denial_for_all_but_some_is_for_the_service_too(others: str, lets: bool) -> None:
    denial = f"{{Effect: Deny, NotPrincipal: {{{others}}}, Action: 'sts:AssumeRole'}}"
    trust = f"[{{Effect: Allow, Principal: {{Service: events.amazonaws.com}}, Action: 'sts:AssumeRole'}}, {denial}]"
    model = model_of(f"""{{Resources: {{
      Role: {{Type: AWS::IAM::Role, Properties: {{AssumeRolePolicyDocument: {{Statement: {trust}}}}}}}, {RULE}}}}}""")
    assert [one.lacking == [] for one in assumptions(model)] == [lets]


@pytest.mark.parametrize(
    ("profile", "more", "idle"),
    [
        ("Roles: [!Ref Role]", "", True),
        ("Roles: [!Ref Role], InstanceProfileName: hosts", "", False),
        ("Roles: [!Ref Role]", ", Host: {Type: AWS::EC2::Instance, Properties: {IamInstanceProfile: !Ref Profile}}", False),
    ],
)
def test_a_profile_that_nothing_has_is_of_no_service(profile: str, more: str, idle: bool) -> None:
    """Old templates make one for the role of a function too."""
    unused = f"Profile: {{Type: AWS::IAM::InstanceProfile, Properties: {{{profile}}}}}{more}"
    code = "Code: {Type: AWS::Lambda::Function, Properties: {Role: !GetAtt Role.Arn}}"
    assert lacking("lambda.amazonaws.com", "{}", f"{unused}, {code}") == ([[]] if idle else [*REFUSED, []])
    assert lacking("lambda.amazonaws.com", "{}", unused) == REFUSED
