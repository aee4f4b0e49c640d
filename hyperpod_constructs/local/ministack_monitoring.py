"""CloudWatch, its logs and EventBridge in ministack, where they differ from AWS. Like `ministack.py`, it names private parts."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ministack.core.responses import request_scope  # type: ignore[import-untyped]
from ministack.services import cloudwatch, cloudwatch_logs, eventbridge, sns  # type: ignore[import-untyped]
from ministack.services.cloudformation import provisioners  # type: ignore[import-untyped]

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.judging import Request, Response, answered, target
from hyperpod_constructs.local.monitoring import alarms
from hyperpod_constructs.local.monitoring.patterns import Match, PatternError, compiled

log = logging.getLogger(__name__)

Points = alarms.Points
_TOPIC, _DASHBOARD = "AWS::SNS::Topic", "AWS::CloudWatch::Dashboard"
_evaluating = threading.RLock()


def evaluate_alarms_as_aws() -> None:
    """Evaluate alarms by dimensions, periods and missing data; ministack looks at all points of a metric as one."""
    cloudwatch._evaluate_alarm = _evaluate


def _evaluate(alarm: Mapping[str, Any]) -> None:
    """Evaluate one alarm of the current account and region."""
    if not alarm.get("MetricName"):
        return
    dimensions = cloudwatch._dims_key(cloudwatch._dims_from_list(alarm.get("Dimensions") or []))
    points = list(cloudwatch._metrics.get((alarm["Namespace"], alarm["MetricName"], dimensions), ()))
    name = alarm.get("ExtendedStatistic") or alarm["Statistic"]
    with _evaluating:
        state = alarms.evaluated(alarm, points, time.time(), lambda period: _statistic(name, period))
        if state is not None and state.value != alarm["StateValue"]:
            moved = {"AlarmName": alarm["AlarmName"], "StateValue": state.value, "StateReason": state.reason}
            cloudwatch._set_alarm_state({}, moved, True)


def _statistic(name: str, points: Points) -> float | None:
    found: float | None = cloudwatch._stat_value(cloudwatch._calc_stats(points), name, points) if points else None
    return found


def tend_alarms() -> None:
    """Evaluate every alarm now: time alone changes the state of some."""
    for account, region in dict.fromkeys(key[:2] for key, _ in cloudwatch._alarms.all_items()):
        with request_scope(account, region):
            cloudwatch._evaluate_all_alarms()


def announce_alarms() -> None:
    """Send an event when an alarm changes its state, as CloudWatch does."""
    native = cloudwatch._dispatch_alarm_actions

    def dispatch(alarm: Mapping[str, Any], old_state: str, new_state: str, reason: str) -> None:
        native(alarm, old_state, new_state, reason)
        detail = {
            "alarmName": alarm["AlarmName"],
            "state": {"value": new_state, "reason": reason},
            "previousState": {"value": old_state},
            "configuration": {"description": alarm.get("AlarmDescription", "")},
        }
        _put_event("aws.cloudwatch", "CloudWatch Alarm State Change", detail, [alarm["AlarmArn"]])

    cloudwatch._dispatch_alarm_actions = dispatch


def send_event(caller: Caller, detail_type: str, detail: Mapping[str, Any], resources: Sequence[str]) -> None:
    """Send an event of SageMaker to the caller's default bus; only services may send one whose source is theirs."""
    with request_scope(caller.account, caller.region):
        _put_event("aws.sagemaker", detail_type, detail, resources)


def _put_event(source: str, detail_type: str, detail: Mapping[str, Any], resources: Sequence[str]) -> None:
    entry = {"Source": source, "DetailType": detail_type, "Detail": json.dumps(detail, default=str), "Resources": list(resources)}
    eventbridge._put_events({"Entries": [entry]}, allow_aws_source=True)


def count_invocations() -> None:
    """Count the invocations of each rule's targets, as a metric of EventBridge."""
    native = eventbridge._invoke_target

    def invoke(target: Mapping[str, Any], event: Mapping[str, Any], rule: Mapping[str, Any], view: Any = None) -> None:
        native(target, event, rule, view)
        cloudwatch.record_metric("AWS/Events", "Invocations", 1, dimensions={"RuleName": rule["Name"]})
        cloudwatch._evaluate_all_alarms()

    eventbridge._invoke_target = invoke


def keep_keys_of_topics() -> None:
    """Note the key of a topic in a template as its attribute; it encrypts nothing."""
    native = provisioners._RESOURCE_HANDLERS[_TOPIC]

    def keep(result: tuple[str, dict[str, str]], properties: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
        sns._topics[result[0]]["attributes"]["KmsMasterKeyId"] = properties.get("KmsMasterKeyId", "")
        return result

    def create(logical_id: str, properties: dict[str, Any], stack: str) -> tuple[str, dict[str, str]]:
        return keep(native["create"](logical_id, properties, stack), properties)

    def update(physical_id: str, old: Any, new: dict[str, Any], stack: str, logical_id: str) -> tuple[str, dict[str, str]]:
        return keep(native["update"](physical_id, old, new, stack, logical_id), new)

    provisioners._RESOURCE_HANDLERS[_TOPIC] = {**native, "create": create, "update": update}


def keep_tags_of_dashboards() -> None:
    """Note the tags of a dashboard in a template, which ministack does not read."""
    native = provisioners._RESOURCE_HANDLERS[_DASHBOARD]

    def keep(result: tuple[str, dict[str, str]], properties: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
        arn = cloudwatch._dashboards[result[0]]["DashboardArn"]
        cloudwatch._resource_tags[arn] = {tag["Key"]: tag["Value"] for tag in properties.get("Tags") or ()}
        return result

    def create(logical_id: str, properties: dict[str, Any], stack: str) -> tuple[str, dict[str, str]]:
        return keep(native["create"](logical_id, properties, stack), properties)

    def update(physical_id: str, old: Any, new: dict[str, Any], stack: str) -> tuple[str, dict[str, str]]:
        return keep(native["update"](physical_id, old, new, stack), new)

    provisioners._RESOURCE_HANDLERS[_DASHBOARD] = {**native, "create": create, "update": update}


def filter_log_events_as_aws() -> None:
    """Let filters read their patterns by CloudWatch's grammar, and let metric filters publish their metrics."""
    fan_out = cloudwatch_logs._fanout_to_subscription_filters

    def publish_and_fan_out(group: str, stream: str, events: Sequence[Mapping[str, Any]]) -> None:
        _publish(group, events)
        fan_out(group, stream, events)

    cloudwatch_logs._fanout_to_subscription_filters = publish_and_fan_out
    cloudwatch_logs._subscription_pattern_matches = lambda pattern, message: _match(pattern, message) is not None
    cloudwatch_logs._compile_filter_pattern = lambda pattern: lambda message: _match(pattern, message) is not None


class LogKeys:
    """The operations on keys of log groups, which ministack lacks. A key is noted, and encrypts nothing."""

    OPERATIONS = frozenset({"AssociateKmsKey", "DisassociateKmsKey"})

    def operation(self, request: Request) -> str | None:
        """The operation of a request."""
        return target(request[2])

    def answer(self, request: Request) -> Response:
        """Note or forget the key of a log group."""
        asked = json.loads(request[3])
        group = cloudwatch_logs._log_groups.get(asked.get("logGroupName"))
        if group is None:
            return answered("json", AwsError("ResourceNotFoundException", "The specified log group does not exist."))
        group["kmsKeyId"] = asked.get("kmsKeyId")
        return 200, {"Content-Type": "application/x-amz-json-1.1"}, b"{}"


def _match(pattern: str | None, message: str | None) -> Match | None:
    try:
        return compiled(pattern or "")(message or "")
    except PatternError as error:
        log.warning("a filter matches nothing: %s", error)
        return None


def _publish(group: str, events: Sequence[Mapping[str, Any]]) -> None:
    """Publish the metrics of a log group's filters for new events."""
    filters = [one for (name, _), one in cloudwatch_logs._metric_filters.items() if name == group]
    for one in filters:
        matches = [match for event in events if (match := _match(one["filterPattern"], event.get("message"))) is not None]
        for transformation in one["metricTransformations"]:
            _transform(transformation, matches)
    if filters:
        cloudwatch._evaluate_all_alarms()


def _transform(transformation: Mapping[str, Any], matches: Sequence[Match]) -> None:
    place = transformation["metricNamespace"], transformation["metricName"]
    unit = transformation.get("unit", "None")
    for match in matches:
        named = {name: match.value(reference) for name, reference in transformation.get("dimensions", {}).items()}
        dimensions = {name: value for name, value in named.items() if value is not None}
        with suppress(TypeError, ValueError):  # what is no number is no value of the metric
            cloudwatch.record_metric(*place, float(str(match.value(str(transformation["metricValue"])))), unit, dimensions)
    if not matches and transformation.get("defaultValue") is not None:
        cloudwatch.record_metric(*place, transformation["defaultValue"], unit)
