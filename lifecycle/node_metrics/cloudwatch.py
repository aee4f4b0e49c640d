"""Sends the figures to CloudWatch by the image's `aws` command, in one request."""

from __future__ import annotations

import json
import time
from typing import Sequence

from node_health.bounds import shown
from node_health.checks.context import Context
from node_setup.software import CloudWatch

from node_metrics.figures import Figure
from node_metrics.identity import Identity

SECONDS = 20.0


def put(context: Context, settings: CloudWatch, who: Identity, figures: Sequence[Figure]) -> str | None:
    """Send the figures; the reason of a failure, or `None`."""
    if not figures:
        return None
    request = json.dumps(document(settings, who, figures, context.system.now()))
    # The command reads a file of input twice, so that a pipe would be empty the second time.
    command = ["aws", "cloudwatch", "put-metric-data", "--region", settings.region, "--cli-input-json", request]
    answer = context.system.run(command, SECONDS)
    if answer.code == 0:
        return None
    return f"aws cloudwatch put-metric-data: {shown(answer.last_line, 300) or 'no answer'}"


def document(settings: CloudWatch, who: Identity, figures: Sequence[Figure], now: float) -> dict[str, object]:
    names = {"ClusterId": who.cluster, "InstanceGroup": who.group, **({"InstanceId": who.instance_id} if settings.per_node else {})}
    dimensions = [{"Name": name, "Value": value} for name, value in names.items()]
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    data = [
        {"MetricName": figure.name, "Dimensions": dimensions, "Timestamp": moment, "Value": figure.value, "Unit": figure.unit}
        for figure in figures
    ]
    return {"Namespace": settings.namespace, "MetricData": data}
