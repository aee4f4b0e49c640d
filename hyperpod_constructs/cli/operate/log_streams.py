"""What nodes wrote to the log group of their cluster, by the kind of stream."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import SAME_PAGE, Cluster
from hyperpod_constructs.facts.log_groups import DEEP_HEALTH_CHECKS, HEALTH_AGENT, LIFECYCLE


class Kind(StrEnum):
    """The writer of a log."""

    LIFECYCLE = "lifecycle"
    HEALTH = "health"
    DEEP_CHECK = "deep-check"

    @property
    def prefix(self) -> str:
        """The beginning of the names of its streams."""
        return f"{_STREAMS[self]}/"


_STREAMS = {Kind.LIFECYCLE: LIFECYCLE, Kind.HEALTH: HEALTH_AGENT, Kind.DEEP_CHECK: DEEP_HEALTH_CHECKS}


def written(place: Place, cluster: Cluster, prefix: str, start: int) -> Iterator[Mapping[str, Any]]:
    """The events of streams, the oldest first; one call for each megabyte.

    :param prefix: the beginning of the streams' names.
    :param start: milliseconds since 1970.
    :raises CliError: if there is no log group, and if the service repeats a page.
    """
    client = place.client("logs")
    request: dict[str, Any] = {"logGroupName": cluster.log_group, "logStreamNamePrefix": prefix, "startTime": start}
    while True:
        try:
            answer = client.filter_log_events(**request)
        except client.exceptions.ResourceNotFoundException:
            raise CliError(f"there is no log group {cluster.log_group}: no node has written anything yet") from None
        yield from (event for event in answer["events"] if event["logStreamName"].startswith(prefix))
        token = answer.get("nextToken")
        if not token:
            return
        if token == request.get("nextToken"):
            raise CliError(SAME_PAGE)
        request["nextToken"] = token
