"""What a software update looks at while it goes on: CloudWatch alarms, and the jobs of the nodes. Both looks are tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.clients import Clients
from hyperpod_constructs.local.hyperpod.background import Task, Tasks
from hyperpod_constructs.local.hyperpod.fleet import Fleet
from hyperpod_constructs.local.hyperpod.state import Cluster, Node


class Watch:
    """Looks at alarms and jobs."""

    def __init__(self, clients: Clients, fleet: Fleet, tasks: Tasks) -> None:
        self._clients = clients
        self._fleet = fleet
        self._tasks = tasks

    def alarms(self, cluster: Cluster, names: Sequence[str], raised: list[str]) -> Task:
        """Look at the alarms; `raised` takes a sentence for each that ends an update: in ALARM, gone or not readable."""

        def look() -> None:
            try:
                states = alarm_states(names, self._clients, cluster.caller)
            except (ClientError, BotoCoreError) as error:
                raised.append(f"the alarms {', '.join(names)} cannot be read: {error}")
                return
            for name in names:
                if (state := states.get(name, "gone")) in ("ALARM", "gone"):
                    raised.append(f"the alarm {name} is {'gone' if state == 'gone' else 'in ALARM'}")

        return self._tasks.begin(look)

    def jobs(self, nodes: Iterable[Node], busy: set[Node]) -> Task:
        """Look which nodes have jobs; `busy` takes them."""

        def look() -> None:
            names = self._fleet.busy()
            busy.update(node for node in nodes if node.instance_id in names)

        return self._tasks.begin(look)


def alarm_states(names: Sequence[str], clients: Clients, caller: Caller) -> dict[str, str]:
    """The states of the alarms that exist, by name."""
    answer: dict[str, Any] = clients("cloudwatch", caller).describe_alarms(
        AlarmNames=list(names), AlarmTypes=["MetricAlarm", "CompositeAlarm"]
    )
    alarms = [*answer.get("MetricAlarms", ()), *answer.get("CompositeAlarms", ())]
    return {alarm["AlarmName"]: alarm["StateValue"] for alarm in alarms}
