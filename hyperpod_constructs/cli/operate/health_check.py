"""`hyperpod health-check`: deep health checks of nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.batches import CODES, Nodes, Operation, Send, WholeGroup, Yes, carry_out
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Output
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.reading import Cluster, Node
from hyperpod_constructs.facts import health_checks as facts
from hyperpod_constructs.facts.clusters import CHECK_TIME

app = typer.Typer(add_completion=False)


class Check(StrEnum):
    """A deep health check, by its short name."""

    STRESS = "stress"
    CONNECTIVITY = "connectivity"
    MULTI_NODE = "multi-node"


_NAMES = {Check.STRESS: facts.STRESS, Check.CONNECTIVITY: facts.CONNECTIVITY, Check.MULTI_NODE: facts.MULTI_NODE}
_LOSES = (
    f"The nodes take no new jobs while they are checked, which takes {CHECK_TIME}. "
    f"On Slurm a node waits {facts.JOB_WAIT_SECONDS // 60} minutes for the end of its jobs and is left out then; the jobs go on. "
    "On Kubernetes end the pods first. "
    "A node that fails is rebooted or replaced, if the cluster recovers nodes automatically; a replacement loses its volumes."
)


@app.command(
    "health-check",
    epilog="Examples: `hyperpod health-check i-0123456789abcdef0`, `hyperpod health-check --group workers --check stress "
    f"--check connectivity`. {CODES}",
)
@placed
def health_check(
    place: Place,
    nodes: Nodes = None,
    group: WholeGroup = None,
    checks: Annotated[
        list[Check] | None,
        typer.Option(
            "--check", help="Hardware under load, the network between nodes, or training over several; repeatable; stress."
        ),
    ] = None,
    cluster: ClusterName = None,
    yes: Yes = False,
    output: As = Output.TABLE,
) -> None:
    """Start deep health checks of nodes with accelerators; the results are in `hyperpod logs --kind deep-check`."""
    names = [_NAMES[check] for check in dict.fromkeys(checks or (Check.STRESS,))]
    operation = Operation(
        verb="health-check",
        summary="",
        call="start_cluster_health_check",
        most=facts.MOST_CONFIGURATIONS * facts.MOST_INSTANCES,
        loses=_LOSES,
        spares_controllers=False,
        send=_sender(names),
        objection=_objection,
        check=_checker(names),
    )
    carry_out(operation, place, cluster=cluster, names=nodes or (), group=group, yes=yes, output=output)


def _objection(cluster: Cluster, node: Node) -> str | None:
    return facts.why_not(cluster.group(node.group).node_type, node.instance_type)


def _checker(checks: Sequence[str]) -> Callable[[Sequence[Node]], None]:
    def check(nodes: Sequence[Node]) -> None:
        for group, count in Counter(node.group for node in nodes).items():
            mistake = next(filter(None, (facts.connectivity_mistake(name, count) for name in checks)), None)
            if mistake is not None:
                raise CliError(f"instance group {group}: {mistake}")

    return check


def _sender(checks: Sequence[str]) -> Send:
    """Make the one request: the service takes one at a time, so batches would refuse each other."""

    def send(client: Any, cluster: Cluster, nodes: Sequence[Node]) -> Mapping[str, Any]:
        items: list[dict[str, Any]] = []
        for group, members in grouped((node.group, node.id) for node in nodes).items():
            for first in range(0, len(members), facts.MOST_INSTANCES):
                ids = members[first : first + facts.MOST_INSTANCES]
                items.append({"InstanceGroupName": group, "InstanceIds": ids, "DeepHealthChecks": list(checks)})
        asked, beyond = items[: facts.MOST_CONFIGURATIONS], items[facts.MOST_CONFIGURATIONS :]
        answer: Mapping[str, Any] = client.start_cluster_health_check(ClusterName=cluster.arn, DeepHealthCheckConfigurations=asked)
        names = [name for item in beyond for name in item["InstanceIds"]]
        why = {"ErrorCode": "not asked for", "Message": "one request does not take so many; ask again when it is done"}
        return {**answer, "Failed": [{"NodeId": name, **why} for name in names]}

    return send
