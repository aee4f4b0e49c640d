"""`hyperpod update-software`: the newest image for the nodes of groups, and a look at how it goes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from hyperpod_constructs.cli.console import CliError, if_interrupted, say
from hyperpod_constructs.cli.operate.batches import Yes, agree, show_jobs, somebody_is_there
from hyperpod_constructs.cli.operate.completion import group_names
from hyperpod_constructs.cli.operate.jobs import jobs_on
from hyperpod_constructs.cli.operate.listing import As, ClusterName, Column, Output, show
from hyperpod_constructs.cli.operate.place import Place, placed
from hyperpod_constructs.cli.operate.progress import Progress, watch
from hyperpod_constructs.cli.operate.reading import Cluster, Group, Node, read_cluster, read_members
from hyperpod_constructs.cli.operate.watch import Every
from hyperpod_constructs.cli.tables import paragraph
from hyperpod_constructs.facts import software_updates as facts

app = typer.Typer(add_completion=False)

EVERY = 10.0
"""Seconds between two looks at an update, which takes half an hour and more."""

_SIZE = re.compile(r"([1-9][0-9]{0,3})(%?)")
_VERSION = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_IMAGE = re.compile(r"ami-[0-9a-f]{8,17}|default")
_LOST_COLUMNS = (Column("group", "group"), Column("role", "role"), Column("lost", "lost"), Column("nodes", "nodes", number=True))
_RESULT_COLUMNS = (
    Column("group", "group"),
    Column("result", "result"),
    Column("updated", "updated", number=True),
    Column("nodes", "nodes", number=True),
)

Groups = Annotated[
    list[str] | None,
    typer.Option("--group", help="Only this instance group; repeatable; all unless given.", autocompletion=group_names),
]
BatchSize = Annotated[
    str | None, typer.Option("--batch-size", metavar="COUNT", help="Nodes at a time, such as 2 or 25%; all unless given. EKS only.")
]
Wait = Annotated[
    int | None,
    typer.Option("--wait", metavar="SECONDS", min=0, max=facts.MOST_WAIT_SECONDS, help="Seconds between two batches. EKS only."),
]
Alarms = Annotated[
    list[str] | None,
    typer.Option("--alarm", metavar="NAME", help="A CloudWatch alarm that rolls the update back; repeatable. EKS only."),
]
Release = Annotated[
    str | None, typer.Option("--release", metavar="X.Y.Z", help="Release of HyperPod's image; the newest unless given. EKS only.")
]
Image = Annotated[
    str | None,
    typer.Option("--image", metavar="AMI", help="An image of your own, or default for HyperPod's."),
]


@app.command(
    "update-software",
    epilog="Examples: `hyperpod update-software`, `hyperpod update-software --group workers --batch-size 25% --wait 600 "
    "--alarm errors`. Exit codes: 0 updated, or started with --no-watch, 1 refused, failed or rolled back, 130 interrupted; "
    "an interruption does not stop the update.",
)
@placed
def update_software(
    place: Place,
    groups: Groups = None,
    batch_size: BatchSize = None,
    wait: Wait = None,
    alarms: Alarms = None,
    release: Release = None,
    image: Image = None,
    cluster: ClusterName = None,
    yes: Yes = False,
    watching: Annotated[bool, typer.Option("--watch/--no-watch", help="Follow the update until it ends.")] = True,
    every: Every = EVERY,
    output: As = Output.TABLE,
) -> None:
    """Give the nodes of groups a root volume with the newest image, and follow it."""
    found = read_cluster(place, cluster)
    chosen = _chosen(found, groups)
    deployment = _deployment(found, batch_size, wait, alarms or ())
    request = _request(found, groups, deployment, release, image, chosen)
    names = {group.name for group in chosen}
    nodes = read_members(place, found, names)
    if not yes:
        _ask(place, found, chosen, nodes, batch_size)
    see = f"hyperpod status --watch --cluster {found.name}"
    with if_interrupted(f"no answer came, so perhaps the update goes on: {see}"):
        place.client("sagemaker").update_cluster_software(ClusterName=found.arn, **request)
    with if_interrupted(f"the update goes on: {see}"):
        if watching:
            _follow(place, found, Progress.begin(names, nodes), every, output)
        else:
            say(f"The update of {found.name} goes on; follow it with: {see}")


def _chosen(cluster: Cluster, groups: Sequence[str] | None) -> list[Group]:
    if cluster.status != "InService":
        raise CliError(f"{cluster.name} is {cluster.status}, and its software is updated only InService: wait, and ask again")
    return [cluster.group(name) for name in dict.fromkeys(groups)] if groups else list(cluster.groups)


def _deployment(cluster: Cluster, batch_size: str | None, wait: int | None, alarms: Sequence[str]) -> dict[str, Any]:
    """The members of a DeploymentConfig.

    :raises CliError: for what the service does not take, or what would have no effect.
    """
    config: dict[str, Any] = {}
    if batch_size is not None:
        config["RollingUpdatePolicy"] = {"MaximumBatchSize": _size(batch_size)}
    if wait is not None:
        config["WaitIntervalInSeconds"] = wait
    if alarms:
        config["AutoRollbackConfiguration"] = [{"AlarmName": name} for name in dict.fromkeys(alarms)]
    if config and cluster.kubernetes is None:
        raise CliError(
            f"{facts.BATCHES_ON_SLURM.message}: leave out --batch-size, --wait and --alarm; "
            "update group by group with --group, if not all nodes may go at a time"
        )
    if len(config.get("AutoRollbackConfiguration", ())) > facts.MOST_ALARMS:
        raise CliError(f"{len(alarms)} alarms are given; the service takes {facts.MOST_ALARMS}")
    if alarms and (batch_size is None or not wait):
        raise CliError(f"{facts.UNSEEN_ALARMS.message}: add --batch-size and --wait, or leave --alarm out")
    if wait and batch_size is None:
        raise CliError("--wait is the time between two batches, and there is one batch: add --batch-size, or leave --wait out")
    return config


def _size(given: str) -> dict[str, Any]:
    match = _SIZE.fullmatch(given)
    if match is None:
        raise CliError(f"--batch-size {given}: write a number of nodes such as 2, or a part of each group such as 25%")
    value = int(match[1])
    if match[2] and value > facts.MOST_PERCENT:
        raise CliError(f"--batch-size: {facts.percentage_above_all(value)}")
    return {"Type": "CAPACITY_PERCENTAGE" if match[2] else "INSTANCE_COUNT", "Value": value}


def _request(
    cluster: Cluster,
    groups: Sequence[str] | None,
    deployment: Mapping[str, Any],
    release: str | None,
    image: str | None,
    chosen: Sequence[Group],
) -> dict[str, Any]:
    if release is not None and _VERSION.fullmatch(release) is None:
        raise CliError(f"--release {release}: write three numbers, such as 1.0.12")
    if release is not None and cluster.kubernetes is None:
        raise CliError("--release is for clusters on Kubernetes; a Slurm cluster takes the newest release: leave it out")
    if image is not None and _IMAGE.fullmatch(image) is None:
        raise CliError(f"--image {image}: write the id of an image, such as ami-0123456789abcdef0, or default")
    request: dict[str, Any] = {"DeploymentConfig": deployment} if deployment else {}
    if image is not None:
        request["ImageId"] = image
    if groups or release is not None:
        version = {} if release is None else {"ImageReleaseVersion": release}
        request["InstanceGroups"] = [{"InstanceGroupName": group.name, **version} for group in chosen]
    return request


def _ask(place: Place, cluster: Cluster, groups: Sequence[Group], nodes: Sequence[Node], batch_size: str | None) -> None:
    counted = f"{len(nodes)} node{'' if len(nodes) == 1 else 's'} of {cluster.name}"
    if not somebody_is_there():
        raise CliError(f"this would renew the root volumes of {counted}, and nobody is there to ask: add --yes")
    own_database = bool(cluster.description.get("Orchestrator", {}).get("Slurm", {}).get("AccountingDatabase"))
    rows = [
        {
            "group": group.name,
            "role": group.node_type,
            "lost": facts.lost_with_root_volume(group.node_type, own_database=own_database),
            "nodes": sum(node.group == group.name for node in nodes),
        }
        for group in groups
    ]
    show(_LOST_COLUMNS, rows, Output.TABLE)
    say()
    show_jobs(jobs_on(place, cluster, nodes))
    way = "All of them at a time" if batch_size is None else f"At most {batch_size} of a group at a time"
    paragraph(f"{way} get a new root volume and run the lifecycle scripts again. {facts.JOBS_ARE_NOT_DRAINED}")
    agree(f"Update the software of {counted}?")


def _follow(place: Place, cluster: Cluster, progress: Progress, every: float, output: Output) -> None:
    watch(place, cluster, progress, every, quiet=output is not Output.TABLE)
    show(_RESULT_COLUMNS, progress.rows(), output)
    if not progress.seen and output is Output.TABLE:
        say("No node changed so far: perhaps all have this image. See: hyperpod status")
    if progress.cause is not None:
        word = "was rolled back" if progress.rolled_back else "failed"
        raise CliError(f"the update {word}: {progress.cause}")
