"""What services write to log groups: the fields of their lines (as of 2026-11-29; read, not measured).

Sources: https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/,
https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-event-reference-record-contents.html,
https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html,
https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-query-logs-format.html,
https://docs.aws.amazon.com/codebuild/latest/userguide/view-build-details.html and
https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager-logging-cloudwatch-logs.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Content(NamedTuple):
    """What a service writes.

    :param name: in words.
    :param writers: the types of what writes it, each with the place of its group; an empty place for a group by its name.
    :param begin: how the names of groups begin that only this service fills; empty for none.
    :param telling: the fields that nothing else has at the top of its lines.
    :param fields: all fields at the top of its lines; none if there may be others.
    """

    name: str
    writers: Mapping[str, str]
    begin: str = ""
    telling: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()


_AUDIT_ONLY = (
    *("annotations", "auditID", "impersonatedUser", "objectRef", "requestReceivedTimestamp", "requestURI", "responseStatus"),
    *("sourceIPs", "stageTimestamp", "verb"),
)
_TRAIL_ONLY = (
    *("awsRegion", "errorCode", "eventCategory", "eventID", "eventName", "eventSource", "eventType", "eventVersion"),
    *("recipientAccountId", "requestParameters", "responseElements", "sourceIPAddress", "userIdentity"),
)
AUDIT = Content(
    "the audit of a Kubernetes control plane",
    {"AWS::EKS::Cluster": ""},
    begin="/aws/eks/",
    telling=frozenset(_AUDIT_ONLY),
    fields=frozenset(
        (
            *(*_AUDIT_ONLY, "apiVersion", "authenticationMetadata", "kind", "level", "requestObject", "responseObject", "stage"),
            *("user", "userAgent"),
        )
    ),
)
TRAIL = Content(
    "the calls of a trail",
    {"AWS::CloudTrail::Trail": "CloudWatchLogsLogGroupArn"},
    telling=frozenset(_TRAIL_ONLY),
    fields=frozenset(
        (
            *(*_TRAIL_ONLY, "addendum", "additionalEventData", "annotation", "apiVersion", "edgeDeviceDetails", "errorMessage"),
            *("eventContext", "eventTime", "insightContext", "insightDetails", "managementEvent", "readOnly", "requestID"),
            *("resources", "serviceEventDetails", "sessionCredentialFromConsole", "sharedEventID", "tlsDetails", "userAgent"),
            *("vpcEndpointAccountId", "vpcEndpointId"),
        )
    ),
)
MACHINE = Content(
    "the steps of a state machine",
    {"AWS::StepFunctions::StateMachine": "LoggingConfiguration/Destinations/*/CloudWatchLogsLogGroup/LogGroupArn"},
    telling=frozenset(("execution_arn", "previous_event_id", "redrive_count")),
)
QUERIES = Content(
    "the queries of a resolver",
    {"AWS::Route53Resolver::ResolverQueryLoggingConfig": "DestinationArn"},
    telling=frozenset(("query_class", "query_name", "query_timestamp", "query_type", "rcode")),
)
BUILD = Content("the lines of builds", {"AWS::CodeBuild::Project": "LogsConfig/CloudWatchLogs/GroupName"}, begin="/aws/codebuild/")
SESSIONS = Content("the lines of sessions", {"AWS::SSM::Document": "Content/inputs/cloudWatchLogGroupName"})
DATABASE = Content("the lines of a database", {}, begin="/aws/rds/")
FLOWS = Content("the records of flows", {"AWS::EC2::FlowLog": "LogGroupName"})
CONTENTS = (AUDIT, TRAIL, MACHINE, QUERIES, BUILD, SESSIONS, DATABASE, FLOWS)
"""Functions, containers and agents write what their programs say, and are in none of them."""
