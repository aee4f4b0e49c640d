"""Deliveries of services: whether the receiver's policy lets them in."""

from __future__ import annotations

import pytest

from hyperpod_constructs.analysis.deliveries import Delivery, Refused, deliveries, refused
from hyperpod_constructs.templates.model import Model
from tests.templates.models import model_of

ACCOUNT = "123456789012"


def policy(service: str, action: str, resource: str, effect: str = "Allow", condition: str = "{}") -> str:
    principal = service if service.startswith(("{", "!")) else f"{{Service: {service}}}"
    return f"""PolicyDocument: {{Statement: [
      {{Effect: {effect}, Principal: {principal}, Action: '{action}', Resource: {resource}, Condition: {condition}}}]}}"""


def with_bucket(sender: str, statement: str | None, bucket: str = "{}") -> Model:
    admitted = (
        "" if statement is None else f"Policy: {{Type: AWS::S3::BucketPolicy, Properties: {{Bucket: !Ref Logs, {statement}}}}},"
    )
    return model_of(f"""{{Resources: {{
      Own: {{Type: AWS::S3::Bucket, Properties: {{BucketName: data-{ACCOUNT}}}}},
      Logs: {{Type: AWS::S3::Bucket, Properties: {bucket}}}, {admitted} Sender: {sender}}}}}""")


def places(model: Model) -> list[tuple[str, str]]:
    return [(one.place.logical_id, one.delivery.facts.service) for one in refused(model)]


def balancer(kind: str, prefix: str | None = None) -> str:
    second = "" if prefix is None else f", {{Key: access_logs.s3.prefix, Value: '{prefix}'}}"
    return f"""{{Type: AWS::ElasticLoadBalancingV2::LoadBalancer, Properties: {{{kind} LoadBalancerAttributes: [
      {{Key: access_logs.s3.enabled, Value: 'true'}}, {{Key: access_logs.s3.bucket, Value: !Ref Logs}}{second}]}}}}"""


ALB, NLB = "logdelivery.elasticloadbalancing.amazonaws.com", "delivery.logs.amazonaws.com"
OBJECTS = f"!Sub '${{Logs.Arn}}/AWSLogs/{ACCOUNT}/*'"
BELOW = f"!Sub '${{Logs.Arn}}/web/AWSLogs/{ACCOUNT}/*'"


@pytest.mark.parametrize(
    ("sender", "service", "resource", "expected"),
    [
        (balancer(""), ALB, OBJECTS, []),
        (balancer(""), NLB, OBJECTS, [("Policy", ALB)]),
        (balancer("Type: application,"), ALB, OBJECTS, []),
        (balancer("Type: application,"), NLB, OBJECTS, [("Policy", ALB)]),
        (balancer("Type: network,"), NLB, OBJECTS, []),
        (balancer("Type: network,"), ALB, OBJECTS, [("Policy", NLB)]),
        (balancer("", "web"), ALB, BELOW, []),
        (balancer("", "web"), ALB, OBJECTS, [("Policy", ALB)]),
        (balancer(""), ALB, BELOW, [("Policy", ALB)]),
        (balancer("", ""), ALB, OBJECTS, []),
        (balancer(""), "{AWS: 'arn:aws:iam::797873946194:root'}", OBJECTS, []),
        (balancer(""), "{AWS: '*'}", OBJECTS, []),
    ],
)
def test_access_logs_are_written_below_their_prefix_by_the_service_of_the_balancer(
    sender: str, service: str, resource: str, expected: list[tuple[str, str]]
) -> None:
    assert places(with_bucket(sender, policy(service, "s3:PutObject", resource))) == expected


TRAIL = "{Type: AWS::CloudTrail::Trail, Properties: {S3BucketName: !Ref Logs}}"
FLOWS = "{Type: AWS::EC2::FlowLog, Properties: {LogDestination: !GetAtt Logs.Arn}}"
CHANNEL = "{Type: AWS::Config::DeliveryChannel, Properties: {S3BucketName: !Ref Logs}}"
ANY = "!Sub '${Logs.Arn}/*'"


def test_fails_a_bucket_without_a_policy_at_the_sender_and_once() -> None:
    assert places(with_bucket(TRAIL, None)) == [("Sender", "cloudtrail.amazonaws.com")]


def test_a_bucket_with_an_acl_may_be_open_by_other_means() -> None:
    assert places(with_bucket(TRAIL, None, "{AccessControl: LogDeliveryWrite}")) == []


def test_a_bucket_with_a_name_has_its_policy_beside_its_sender() -> None:
    assert places(with_bucket(TRAIL, None, "{BucketName: trails}")) == [("Sender", "cloudtrail.amazonaws.com")]


def test_a_service_that_writes_the_policy_itself_is_only_denied() -> None:
    assert places(with_bucket(FLOWS, None)) == []
    assert places(with_bucket(FLOWS, policy("other.amazonaws.com", "s3:PutObject", ANY))) == []
    assert places(with_bucket(FLOWS, policy("{AWS: '*'}", "s3:*", ANY, "Deny"))) == [("Policy", NLB)]
    secure = "{Bool: {'aws:SecureTransport': false}}"
    assert places(with_bucket(FLOWS, policy("{AWS: '*'}", "s3:*", ANY, "Deny", secure))) == []


def test_a_service_that_may_have_a_role_counts_where_the_policy_is_meant_for_it() -> None:
    assert places(with_bucket(CHANNEL, policy("other.amazonaws.com", "s3:PutObject", ANY))) == []
    elsewhere = "!Sub '${Logs.Arn}/elsewhere/*'"
    found = places(with_bucket(CHANNEL, policy("config.amazonaws.com", "s3:PutObject", elsewhere)))
    assert found == [("Policy", "config.amazonaws.com")]


def test_a_policy_for_the_account_of_another_source_lets_nobody_in() -> None:
    other = "{StringEquals: {'aws:SourceAccount': '999999999999'}}"
    own = "{StringEquals: {'aws:SourceAccount': !Ref 'AWS::AccountId'}}"
    for condition, expected in ((other, [("Policy", ALB)]), (own, [])):
        assert places(with_bucket(balancer(""), policy(ALB, "s3:PutObject", OBJECTS, condition=condition))) == expected


def of_logs(statement: str | None, more: str = "", zone: str = "") -> Model:
    admitted = (
        "" if statement is None else f"Policy: {{Type: AWS::Logs::ResourcePolicy, Properties: {{PolicyName: p, {statement}}}}},"
    )
    return model_of(f"""{{Parameters: {{Document: {{Type: String}}}}, Resources: {{
      Lines: {{Type: AWS::Logs::LogGroup}}, Other: {{Type: AWS::Logs::LogGroup}}, {admitted} {more}
      Zone: {{Type: AWS::Route53::HostedZone, {zone} Properties: {{
        Name: a.example, QueryLoggingConfig: {{CloudWatchLogsLogGroupArn: !GetAtt Lines.Arn}}}}}}}}}}""")


ROUTE53, WRITE = "route53.amazonaws.com", "logs:PutLogEvents"
LINES = "!Sub 'arn:aws:logs:*:*:log-group:${Lines}:*'"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (None, []),
        (policy(ROUTE53, WRITE, LINES), []),
        (policy(ROUTE53, WRITE, "!GetAtt Lines.Arn"), []),
        (policy(ROUTE53, WRITE, "'*'"), []),
        (policy(ROUTE53, WRITE, "!Sub 'arn:aws:logs:*:*:log-group:${Other}:*'"), []),
        (policy(ROUTE53, WRITE, "'arn:aws:logs:us-west-2:123456789012:log-group:/aws/others:*'"), [("Policy", ROUTE53)]),
        (policy("!Ref Document", WRITE, LINES), []),
        (policy("es.amazonaws.com", WRITE, LINES), [("Policy", ROUTE53)]),
        (policy(ROUTE53, "logs:CreateLogStream", LINES), [("Policy", ROUTE53)]),
        (policy(ROUTE53, WRITE, LINES, "Deny"), [("Policy", ROUTE53)]),
    ],
)
def test_a_policy_of_log_groups_is_one_of_those_that_it_covers(statement: str | None, expected: list[tuple[str, str]]) -> None:
    assert places(of_logs(statement)) == expected


def early(model: Model) -> list[str | None]:
    return [None if (one := found.comes_early) is None else one.logical_id for found in deliveries(model)]


def test_a_policy_comes_before_what_is_tried_at_once() -> None:
    statement = policy(ROUTE53, WRITE, LINES)
    assert early(of_logs(statement)) == ["Policy"]
    assert early(of_logs(statement, zone="DependsOn: Policy,")) == [None]
    assert early(of_logs(None)) == [None]


UNKNOWN = "Second: {Type: AWS::Logs::ResourcePolicy, Properties: {PolicyName: q, PolicyDocument: !Ref Document}},"


def test_a_policy_of_log_groups_that_is_not_known_may_let_the_service_in() -> None:
    assert places(of_logs(policy("es.amazonaws.com", WRITE, LINES), UNKNOWN)) == []


def test_one_of_several_policies_that_may_let_a_service_in_is_enough_before_it() -> None:
    statement = policy(ROUTE53, WRITE, LINES)
    assert early(of_logs(statement, UNKNOWN)) == ["Policy"]
    assert early(of_logs(statement, UNKNOWN, zone="DependsOn: Second,")) == [None]


def test_a_policy_of_what_is_tried_later_is_never_early() -> None:
    assert set(early(with_bucket(FLOWS, policy(NLB, "s3:PutObject", ANY)))) == {None}


def test_a_refusal_knows_the_delivery() -> None:
    (one,) = refused(with_bucket(balancer("Type: network,"), policy(ALB, "s3:PutObject", OBJECTS)))
    assert isinstance(one, Refused)
    assert isinstance(one.delivery, Delivery)
    assert one.delivery.path == ("LoadBalancerAttributes", 1, "Value")
    assert one.path == ("PolicyDocument",)


SENDERS = """
    Own: {Type: AWS::S3::Bucket, Properties: {BucketName: data-123456789012}},
    Function: {Type: AWS::Lambda::Function}, Topic: {Type: AWS::SNS::Topic}, Queue: {Type: AWS::SQS::Queue},
    Files: {Type: AWS::S3::Bucket}, Lines: {Type: AWS::Logs::LogGroup}, Others: {Type: AWS::Logs::LogGroup},"""


def sent(*resources: str) -> list[tuple[str, str]]:
    model = model_of(f"{{Parameters: {{Arn: {{Type: String}}}}, Resources: {{{SENDERS} {', '.join(resources)}}}}}")
    return [(one.place.logical_id, one.delivery.receiver.logical_id) for one in refused(model)]


def permission(service: str, condition: str, function: str = "!Ref Function") -> str:
    properties = f"FunctionName: {function}, Action: 'lambda:InvokeFunction', Principal: {service}, {condition}"
    return f"Permission: {{Type: AWS::Lambda::Permission, Properties: {{{properties}}}}}"


FILTER = """Filter: {Type: AWS::Logs::SubscriptionFilter, Properties: {
  LogGroupName: !Ref Lines, DestinationArn: !GetAtt Function.Arn}}"""
SHUT = [("Permission", "Function")]


@pytest.mark.parametrize(
    ("admitted", "expected"),
    [
        (permission("logs.amazonaws.com", "SourceArn: !GetAtt Lines.Arn"), []),
        (permission("logs.us-west-2.amazonaws.com", "SourceArn: !GetAtt Lines.Arn"), []),
        (permission("logs.amazonaws.com", "SourceArn: !GetAtt Others.Arn"), SHUT),
        (permission("logs.amazonaws.com", "SourceAccount: !Ref 'AWS::AccountId'"), []),
        (permission("logs.amazonaws.com", "SourceAccount: '999999999999'"), SHUT),
        (permission("!Ref Arn", "SourceAccount: !Ref 'AWS::AccountId'"), []),
        (permission("sns.amazonaws.com", "SourceArn: !Ref Topic"), [("Filter", "Function")]),
        (permission("logs.amazonaws.com", "SourceArn: !GetAtt Lines.Arn", "!Sub '${Function.Arn}:live'"), []),
        (permission("logs.amazonaws.com", "SourceArn: !GetAtt Lines.Arn", "!Ref Arn"), []),
        (permission("logs.amazonaws.com", "SourceArn: !GetAtt Lines.Arn", "another"), [("Filter", "Function")]),
        ("Nothing: {Type: AWS::SNS::Topic}", [("Filter", "Function")]),
    ],
)
def test_a_function_is_called_by_the_service_of_its_permission(admitted: str, expected: list[tuple[str, str]]) -> None:
    assert sent(FILTER, admitted) == expected


def test_a_subscription_is_judged_by_its_protocol() -> None:
    of_queue = (
        "Kind: {{Type: AWS::SNS::Subscription, Properties: {{TopicArn: !Ref Topic, Protocol: {}, Endpoint: !GetAtt Queue.Arn}}}}"
    )
    assert sent(of_queue.format("sqs")) == [("Kind", "Queue")]
    assert sent(of_queue.format("lambda")) == []


def test_a_permission_of_the_source_for_another_service_is_the_place() -> None:
    called = (
        "Kind: {Type: AWS::SNS::Subscription, Properties: {TopicArn: !Ref Topic, Protocol: lambda, Endpoint: !GetAtt Function.Arn}}"
    )
    assert sent(called, permission("sns.amazonaws.com", "SourceArn: !Ref Topic")) == []
    assert sent(called, permission("sqs.amazonaws.com", "SourceArn: !Ref Topic")) == SHUT
    assert sent(called, permission("sqs.amazonaws.com", "SourceArn: !GetAtt Queue.Arn")) == [("Kind", "Function")]


def test_notifications_that_a_function_makes_come_from_the_bucket() -> None:
    notified = """Notices: {Type: Custom::S3BucketNotifications, Properties: {BucketName: !Ref Files, NotificationConfiguration: {
      LambdaFunctionConfigurations: [{LambdaFunctionArn: !GetAtt Function.Arn}]}}}"""
    assert sent(notified, permission("s3.amazonaws.com", "SourceArn: !GetAtt Files.Arn")) == []
    assert sent(notified, permission("s3.amazonaws.com", "SourceArn: !GetAtt Own.Arn")) == SHUT


def test_a_bucket_whose_acl_a_service_cannot_read_is_said_where_it_takes_its_objects() -> None:
    trail = policy("cloudtrail.amazonaws.com", "s3:PutObject", ANY)
    (one,) = refused(with_bucket(TRAIL, trail))
    assert (one.delivery.facts.to, one.delivery.call.action) == ("acl", "s3:GetBucketAcl")
    assert places(with_bucket(TRAIL, trail.replace("'s3:PutObject'", "'s3:*'").replace(ANY, f"[{ANY}, !GetAtt Logs.Arn]"))) == []


def test_a_topic_is_named_by_its_arn() -> None:
    rule = "Rule: {Type: AWS::Events::Rule, Properties: {Targets: [{Id: a, Arn: !Ref Topic}]}}"
    open_ = "Open: {{Type: AWS::SNS::TopicPolicy, Properties: {{Topics: [!Ref Topic], {}}}}}"
    assert sent(rule, open_.format(policy("events.amazonaws.com", "sns:Publish", "!Ref Topic"))) == []
    elsewhere = policy("events.amazonaws.com", "sns:Publish", "'arn:aws:sns:us-west-2:123456789012:others'")
    assert sent(rule, open_.format(elsewhere)) == [("Open", "Topic")]


def test_a_target_with_a_role_needs_no_policy() -> None:
    rule = """Rule: {Type: AWS::Events::Rule, Properties: {Targets: [
      {Id: a, Arn: !GetAtt Queue.Arn, RoleArn: a}, {Id: b, Arn: !Ref Topic}]}}"""
    shut = policy("s3.amazonaws.com", "sns:Publish", "!Ref Topic")
    assert sent(rule, f"Shut: {{Type: AWS::SNS::TopicPolicy, Properties: {{Topics: [!Ref Topic], {shut}}}}}") == [("Shut", "Topic")]


def test_the_principal_of_a_permission_is_the_place() -> None:
    model = model_of(f"{{Resources: {{{SENDERS} {FILTER}, {permission('logs.amazonaws.com', 'SourceArn: !GetAtt Others.Arn')}}}}}")
    assert [one.path for one in refused(model)] == [("Principal",)]


@pytest.mark.parametrize(
    ("principal", "expected"),
    [
        ("{Service: events.amazonaws.com}", []),
        ("{AWS: '*'}", []),
        ("{AWS: !Ref AWS::AccountId}", ["Policy"]),
        (f"{{AWS: {ACCOUNT}}}", ["Policy"]),
    ],
)
def test_no_account_stands_for_eventbridge(principal: str, expected: list[str]) -> None:
    model = model_of(f"""{{Resources: {{
      Queue: {{Type: AWS::SQS::Queue}},
      Policy: {{Type: AWS::SQS::QueuePolicy, Properties: {{Queues: [!Ref Queue], PolicyDocument: {{Statement: [
        {{Effect: Allow, Principal: {principal}, Action: 'sqs:SendMessage', Resource: !GetAtt Queue.Arn}}]}}}}}},
      Rule: {{Type: AWS::Events::Rule, Properties: {{Targets: [{{Id: a, Arn: !GetAtt Queue.Arn}}]}}}}}}}}""")
    assert [one.place.logical_id for one in refused(model)] == expected


@pytest.mark.parametrize("kind", ["Alarm", "CompositeAlarm"])
@pytest.mark.parametrize("actions", ["AlarmActions", "InsufficientDataActions", "OKActions"])
@pytest.mark.parametrize(
    ("service", "expected"),
    [("lambda.alarms.cloudwatch.amazonaws.com", []), ("cloudwatch.amazonaws.com", ["lambda.alarms.cloudwatch.amazonaws.com"])],
)
def test_alarms_of_both_kinds_call_functions_at_each_change(kind: str, actions: str, service: str, expected: list[str]) -> None:
    model = model_of(f"""{{Resources: {{
      Note: {{Type: AWS::Lambda::Function, Properties: {{}}}},
      Alarm: {{Type: AWS::CloudWatch::{kind}, Properties: {{{actions}: [!GetAtt Note.Arn]}}}},
      Invoke: {{Type: AWS::Lambda::Permission, Properties: {{
        FunctionName: !GetAtt Note.Arn, Action: 'lambda:InvokeFunction', Principal: {service}}}}}}}}}""")
    assert [service for _, service in places(model)] == expected
