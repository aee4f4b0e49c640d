"""Who receives messages, events and alarms, and which references give an ARN (not measured)."""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.facts.arn_forms import FORMS

ADDRESS = r"[^@\s]{1,64}@[^@\s.]{1,63}(?:\.[^@\s.]{1,63})+"
PROTOCOLS: Mapping[str, tuple[str, str, str]] = {
    "http": ("", r"http://\S+", "an address that begins with http://"),
    "https": ("", r"https://\S+", "an address that begins with https://"),
    "email": ("", ADDRESS, "an address such as team@example.com"),
    "email-json": ("", ADDRESS, "an address such as team@example.com"),
    "sms": ("", r"\+?[\d\s()-]{5,20}", "a telephone number such as +14155550100"),
    "sqs": ("sqs", "", "the ARN of a queue"),
    "lambda": ("lambda", "", "the ARN of a function"),
    "firehose": ("firehose", "", "the ARN of a delivery stream"),
    "application": ("sns", "", "the ARN of an endpoint of a mobile application"),
}
"""Protocols of subscriptions: the service of the ARN, or the form of the endpoint, and both in words.

Source: https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
"""

ENDPOINTS: Mapping[str, tuple[str, ...]] = {
    "http": ("http://example.com", "http://hooks.example.com/alerts", "http://example.com:8080/a?b=c"),
    "https": ("https://example.com", "https://hooks.example.com/alerts", "https://example.com:8443/a?b=c"),
    "email": ("team@example.com", "a.b+c@mail.example.org", "team@example.internal"),
    "email-json": ("team@example.com", "a.b+c@mail.example.org", "team@example.internal"),
    "sms": ("+14155550100", "+442071838750", "+919876543210"),
    "sqs": ("arn:aws:sqs:us-west-2:123456789012:alerts", "arn:aws:sqs:eu-west-1:123456789012:alerts.fifo"),
    "lambda": ("arn:aws:lambda:us-west-2:123456789012:function:alerts", "arn:aws:lambda:eu-west-1:123456789012:function:a:live"),
    "firehose": ("arn:aws:firehose:us-west-2:123456789012:deliverystream/alerts",),
    "application": ("arn:aws:sns:us-west-2:123456789012:endpoint/GCM/alerts/1234",),
}
"""Endpoints of each protocol, as they are written: what a parameter for one of them takes.

Source: https://docs.aws.amazon.com/sns/latest/api/API_Subscribe.html
"""

EVENT_TARGETS = (
    "lambda",
    "sns",
    "sqs",
    "states",
    "logs",
    "kinesis",
    "firehose",
    "ecs",
    "batch",
    "events",
    "ssm",
    "ssm-incidents",
    "codebuild",
    "codepipeline",
    "execute-api",
    "sagemaker",
    "redshift",
    "redshift-serverless",
    "inspector",
    "automate",
    "appsync",
    "glue",
    "imagebuilder",
)
"""Services that receive events.

Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-targets.html (as of 2026-11-28)
"""

ALARM_ACTIONS = ("sns", "autoscaling", "ssm", "ssm-incidents", "lambda", "automate", "swf", "aiops")
"""Services that an alarm calls.

Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
"""

EVENT_SOURCE_SERVICES = ("sqs", "kinesis", "dynamodb", "kafka", "mq", "rds", "docdb-elastic")
"""Services whose queues and streams call functions.

Source: https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html (as of 2026-11-28)
"""

RECEIVERS = ("sqs", "sns", "lambda", "events", "s3")
"""Services that get what a function returned, or could not do.

Source: https://docs.aws.amazon.com/lambda/latest/api/API_PutFunctionEventInvokeConfig.html (as of 2026-11-28)
"""

LOG_SUBSCRIBERS = ("kinesis", "firehose", "lambda", "logs", "es", "opensearch")
"""Services that get filtered logs; the console makes a function for the last two.

Source: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutSubscriptionFilter.html (as of 2026-11-28)
"""

ARN_SOURCES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    type_: (form.service, form.given) for type_, form in FORMS.items() if form.given
}
"""By type: the service in its ARN, and the references that give it; others give another value."""

NAMESPACES: Mapping[str, tuple[str, ...]] = {
    "aiops": ("AWS::AIOps::",),
    "automate": (),
    "autoscaling": ("AWS::ApplicationAutoScaling::", "AWS::AutoScaling::", "AWS::AutoScalingPlans::"),
    "events": ("AWS::Events::",),
    "lambda": ("AWS::Lambda::", "AWS::Serverless::"),
    "s3": ("AWS::S3",),
    "sns": (),
    "sqs": (),
    "ssm": ("AWS::SSM",),
    "ssm-incidents": ("AWS::SSM",),
    "swf": (),
}
"""Services with the namespaces of the types whose ARNs may be theirs, beside those of `ARN_SOURCES` (as of 2026-11-28).

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-template-resource-type-ref.html
"""

HANDED_ON = ("AWS::CloudFormation::", "AWS::ServiceCatalog::")
"""Namespaces of types whose attributes are what others chose."""

THINGS: Mapping[str, str] = {
    "autoscaling": "a scaling policy",
    "cloudwatch": "an alarm",
    "dynamodb": "a table or its stream",
    "events": "an event bus or rule",
    "firehose": "a delivery stream",
    "iam": "a role or policy",
    "kinesis": "a stream",
    "kms": "a key",
    "lambda": "a function",
    "logs": "a log group or destination",
    "s3": "a bucket",
    "secretsmanager": "a secret",
    "sns": "a topic",
    "sqs": "a queue",
    "states": "a state machine",
}
"""Services of ARNs in words."""
