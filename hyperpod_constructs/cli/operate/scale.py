"""`hyperpod scale`: another count of nodes for a group that no stack owns."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from hyperpod_constructs.cli.console import CliError, if_interrupted, say
from hyperpod_constructs.cli.operate.batches import Yes, agree, show_jobs, somebody_is_there
from hyperpod_constructs.cli.operate.completion import group_names
from hyperpod_constructs.cli.operate.group_requests import with_count
from hyperpod_constructs.cli.operate.jobs import jobs_on
from hyperpod_constructs.cli.operate.listing import ClusterName
from hyperpod_constructs.cli.operate.owner import Owner, Stated, owner_of, stated
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.progress import watch as follow
from hyperpod_constructs.cli.operate.reading import RUNNING, Cluster, Group, Node, read_cluster, read_nodes
from hyperpod_constructs.cli.operate.watch import EVERY, Every
from hyperpod_constructs.cli.tables import paragraph
from hyperpod_constructs.custom_resources.handlers.redaction import one_line
from hyperpod_constructs.facts import clusters as facts
from hyperpod_constructs.facts.addresses import node_addresses
from hyperpod_constructs.facts.instance_types import instance_type, is_instance_type
from hyperpod_constructs.facts.limits import property_limit

app = typer.Typer(add_completion=False)

LONG_SECONDS = 24 * 3600.0
"""Nodes that wait for capacity show nothing for long; the user ends it."""

_LIMIT = property_limit("AWS::SageMaker::Cluster/InstanceGroups/*/InstanceCount")
_SHORT_FORM = "workers"
_CHARACTERS = 1000


@app.command(
    epilog="Examples: `hyperpod scale workers 8`, `hyperpod scale workers 2 --yes --watch`. Exit codes: 0 accepted, or reached "
    "with --watch, 1 refused or failed, 130 interrupted; an interruption does not stop the scaling.",
)
@placed
def scale(
    place: Place,
    group: Annotated[str, typer.Argument(help="The instance group.", autocompletion=group_names)],
    count: Annotated[int, typer.Argument(help="Its nodes from now on.", min=0)],
    cluster: ClusterName = None,
    yes: Yes = False,
    watch: Annotated[bool, typer.Option("--watch", help="Follow the nodes until the count is reached.")] = False,
    every: Every = EVERY,
) -> None:
    """Give an instance group another count of nodes. A count that a stack owns is changed in the code."""
    found = read_cluster(place, cluster)
    chosen = found.group(group)
    if count == chosen.target:
        say(f"{group} has a count of {count} already; nothing was done")
        return
    _check(found, chosen, count)
    if (owner := owner_of(place, found)) is not None:
        raise CliError(_in_code(owner, stated(place, owner, group), chosen, count))
    nodes = read_nodes(place, found, group)
    running = sum(node.status == RUNNING for node in nodes)
    say(f"{group} ({chosen.instance_type}): count {chosen.target} -> {count}, {running} running")
    if count > chosen.target:
        _show_capacity(place, found, chosen, count - chosen.target)
    elif not yes:
        _ask(place, found, chosen, count, nodes)
    request = with_count(place, found, group, count, time.time())
    see = f"hyperpod status --watch --cluster {found.name}"
    with if_interrupted(f"no answer came, so perhaps {group} is scaled to {count}: {see}"):
        place.client("sagemaker").update_cluster(ClusterName=found.arn, **request)
    with if_interrupted(f"the scaling of {group} to {count} goes on: {see}"):
        say(f"The service scales {group} to {count}; follow it with: {see}")
        if watch:
            _follow(place, found, _Scaling(group, count), every)


def _check(cluster: Cluster, group: Group, count: int) -> None:
    """Refuse what the service would refuse, or undo.

    :raises CliError: with the cause and what to write instead.
    """
    if (mistake := _LIMIT.mistake("COUNT", count)) is not None:
        raise CliError(str(mistake))
    if cluster.status != "InService":
        raise CliError(f"{cluster.name} is {cluster.status}, and it is scaled only InService: wait, and ask again")
    if group.node_type == "Controller":
        raise CliError(str(facts.controller_count(count)))
    minimum = group.description.get("MinCount", 0)
    if minimum > count:
        raise CliError(f"{group.name}: {facts.minimum_above_count(minimum, count)}")
    if cluster.description.get("AutoScaling", {}).get("Mode") == "Enable":
        raise CliError(f"Karpenter scales the groups of {cluster.name} by its pods: change the pods, or the limits of its NodePool")


def _in_code(owner: Owner, place: Stated | None, group: Group, count: int) -> str:
    """What to change where the count is written."""
    where = "" if place is None else f", at {place.path}"
    written = "" if place is None or place.count in (None, group.target) else f" The template says {place.count}."
    short = f", or worker_count={count} where the pattern makes the group" if group.name == _SHORT_FORM else ""
    return (
        f"the stack {owner.stack} owns the count of {group.name}{where}, and its next deployment would take a change back; "
        f"nothing was done. The count is {group.target}.{written} "
        f"In the code write count={count} for InstanceGroup(name={group.name!r}){short}; then hyperpod deploy"
    )


def _show_capacity(place: Place, cluster: Cluster, group: Group, more: int) -> None:
    """Say what is there for more nodes, as far as one may look."""
    from botocore.exceptions import ClientError

    for look in (_plan, _addresses):
        try:
            said = look(place, cluster, group, more)
        except ClientError as error:
            said = f"not known ({one_line(str(error), _CHARACTERS)})"
        if said:
            paragraph(f"capacity: {said}", hanging=" " * 10)
    if group.plan is None:
        paragraph("capacity: on demand; whether the zone has instances shows itself when they are launched", hanging=" " * 10)


def _plan(place: Place, cluster: Cluster, group: Group, more: int) -> str:
    arn = group.description.get("TrainingPlanArn")
    if arn is None:
        return ""
    plan = place.client("sagemaker").describe_training_plan(TrainingPlanName=arn.rpartition("/")[2])
    free, all_ = plan.get("AvailableInstanceCount", "?"), plan.get("TotalInstanceCount", "?")
    return f"the training plan {group.plan} has {free} of {all_} instances free, {more} are wanted"


def _addresses(place: Place, cluster: Cluster, group: Group, more: int) -> str:
    if not group.subnets or not is_instance_type(group.instance_type):
        return ""
    interface = group.description.get("NetworkInterface", {}).get("InterfaceType")
    each = node_addresses(instance_type(group.instance_type), cluster.kubernetes is not None, interface)
    found = place.client("ec2").describe_subnets(SubnetIds=list(group.subnets))["Subnets"]
    free = sum(subnet.get("AvailableIpAddressCount", 0) for subnet in found)
    said = f"the subnets have {free} addresses free, the new nodes take {more * each}"
    return said if free >= more * each else f"{said}: {more - free // each} nodes too many"


def _ask(place: Place, cluster: Cluster, group: Group, count: int, nodes: Sequence[Node]) -> None:
    leaving = max(len(nodes) - count, 0)
    if not somebody_is_there():
        raise CliError(f"this would scale {group.name} down from {len(nodes)} to {count}, and nobody is there to ask: add --yes")
    say()
    show_jobs(jobs_on(place, cluster, nodes))
    paragraph(
        f"{leaving} of {len(nodes)} nodes end, and the service chooses which. Their jobs end, and all of their volumes are lost; "
        "file systems stay. To choose the nodes yourself, remove them: hyperpod remove"
    )
    agree(f"Scale {group.name} of {cluster.name} down to {count}?")


@dataclass(slots=True)
class _Scaling:
    """The nodes of a group on their way to a count."""

    group: str
    wanted: int
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    # A look must see the request at work before its end means anything: without continuous provisioning that takes a moment.
    seen: bool = False
    failed: int = 0
    cause: str | None = None
    what: str = "the scaling"

    @property
    def groups(self) -> tuple[str]:
        return (self.group,)

    @property
    def done(self) -> int:
        return self.counts.get(self.group, (0, 0))[0]

    @property
    def total(self) -> int:
        return self.wanted

    def look(self, cluster: Cluster, nodes: Sequence[Node]) -> bool:
        mine = [node for node in nodes if node.group == self.group]
        running = sum(node.status == RUNNING for node in mine)
        self.failed = sum(node.status == "Failure" for node in mine)
        self.counts = {self.group: (running, len(mine))}
        group: Mapping[str, Any] = {one.name: one for one in cluster.groups}
        if running == len(mine) == self.wanted:
            return False
        if self.group not in group or group[self.group].target != self.wanted:
            settled = cluster.status in ("InService", "Failed")
            self.seen = self.seen or not settled
            if settled and (self.seen or cluster.failure):
                self.cause = one_line(cluster.failure or f"another request changed the count of {self.group}", _CHARACTERS)
                return False
        else:
            self.seen = True
        return True

    def sentence(self) -> str:
        broken = f", {self.failed} in Failure" if self.failed else ""
        return f"{self.done} of {self.wanted} nodes run, {self.counts.get(self.group, (0, 0))[1]} are there{broken}"


def _follow(place: Place, cluster: Cluster, scaling: _Scaling, every: float) -> None:
    follow(place, cluster, scaling, every, most_unseen=LONG_SECONDS)
    if scaling.cause is not None:
        raise CliError(f"the count of {scaling.group} was not reached: {scaling.cause}")
