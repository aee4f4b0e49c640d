"""The log group to which a file system writes: FSx refuses one that is missing or has another name than its own."""

from __future__ import annotations

from typing import Any

from hyperpod_constructs.facts import lustre
from hyperpod_constructs.local.fsx.checks import refusal


def check_log_group(logs: Any, destination: str, home: str) -> None:
    """Refuse a destination of logs.

    :param destination: the ARN of a log group, with or without `:*` at its end.
    :param home: the beginning of ARNs of CloudWatch Logs in the file system's partition, region and account.
    :raises AwsError: with the cause of the refusal.
    """
    arn = destination.removesuffix(":*")
    start, _, name = arn.partition("log-group:")
    if start != home or not name:
        raise refusal(f"Destination {destination}: allowed are log groups of this account and region, {home}log-group:...")
    if not name.startswith(lustre.LOG_GROUPS):
        raise refusal(str(lustre.strange_log_group("Destination", name)))
    found = logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    if name not in [group["logGroupName"] for group in found]:
        raise refusal(f"Destination {destination}: the log group {name} does not exist")
