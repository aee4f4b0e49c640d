"""Clusters, nodes and file systems after a deployment, as the services describe them. Templates are not read."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.cli.kubeconfig import administrators
from hyperpod_constructs.cli.operate.choosing import controller_group, first_running
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import RUNNING, Cluster, Node, read_cluster, read_nodes
from hyperpod_constructs.cli.operate.sessions import SessionManager
from hyperpod_constructs.cli.readback_kubernetes import show_kubernetes
from hyperpod_constructs.cli.stacks import CLUSTER_TYPE, Resource
from hyperpod_constructs.cli.tables import table
from hyperpod_constructs.cli.target import Target, TargetName
from hyperpod_constructs.custom_resources.handlers.redaction import one_line

FILE_SYSTEM_TYPE = "AWS::FSx::FileSystem"
MAX_NODES = 64

MESSAGE_CHARACTERS = 1000
"""Limit for a message of a node or of the service."""


def show(target: Target, resources: Sequence[Resource], *, shell: str | None = None, where: TargetName = TargetName.LOCAL) -> None:
    """Print clusters, nodes, file systems with their S3 links, and the command for a shell; on Kubernetes also add-ons, teams and
    queues.

    :param target: the account.
    :param resources: the resources of the deployed stacks.
    :param shell: the command for a shell; `aws ssm start-session` unless given.
    :param where: the same by name.
    """
    for resource in resources:
        if resource.type == CLUSTER_TYPE:
            _show_cluster(target, resource.physical_id, shell, where)
    file_systems = [resource.physical_id for resource in resources if resource.type == FILE_SYSTEM_TYPE]
    if file_systems:
        _show_file_systems(target, file_systems)


def _show_cluster(target: Target, name: str, shell: str | None, where: TargetName) -> None:
    place = Place(target, where)
    cluster = read_cluster(place, name)
    nodes = read_nodes(place, cluster)
    say()
    say(f"cluster  {cluster.name}", style="bold")
    say(f"arn      {cluster.arn}")
    say(f"status   {cluster.status}")
    if cluster.failure is not None:
        say(f"failure  {one_line(cluster.failure, MESSAGE_CHARACTERS)}")
    say()
    table(("instance group", "type", "nodes", "target", "status"), list(_group_rows(cluster, nodes)))
    say()
    table(("node", "instance group", "type", "state"), [_node_row(node) for node in nodes[:MAX_NODES]])
    if len(nodes) > MAX_NODES:
        listing = f"hyperpod nodes --cluster {cluster.name}"
        say(f"and {len(nodes) - MAX_NODES} more: {listing}")
    if cluster.kubernetes is not None:
        show_kubernetes(target, cluster.kubernetes, cluster.arn, administrators(target, where))
        say()
        say("a shell with kubectl:", style="bold")
        say("  hyperpod connect" if where is TargetName.LOCAL else f"  hyperpod connect --target {where}")
        return
    say()
    say("a shell on the controller:" if controller_group(cluster) is not None else "a shell on a node:", style="bold")
    say(f"  {shell or _shell_command(place, cluster, nodes)}")


def _group_rows(cluster: Cluster, nodes: Sequence[Node]) -> Iterable[tuple[str, ...]]:
    """One row for each group, with the number of its Running nodes."""
    for group in cluster.groups:
        running = sum(node.group == group.name and node.status == RUNNING for node in nodes)
        yield group.name, group.instance_type, f"{running} Running", str(group.target), group.status


def _node_row(node: Node) -> tuple[str, str, str, str]:
    message = one_line(node.message, MESSAGE_CHARACTERS)
    return node.id or "(none yet)", node.group, node.instance_type, f"{node.status}: {message}" if message else node.status


def _shell_command(place: Place, cluster: Cluster, nodes: Sequence[Node]) -> str:
    group = controller_group(cluster)
    if group is None:
        return "hyperpod connect --group NAME"
    try:
        node = first_running(group, [node for node in nodes if node.group == group])
    except CliError:
        return "hyperpod connect    (no controller node is Running yet)"
    return shlex.join(SessionManager.of(place, cluster, node).shell(None).program)


def _show_file_systems(target: Target, ids: Sequence[str]) -> None:
    client = target.client("fsx")
    for file_system in client.describe_file_systems(FileSystemIds=list(ids))["FileSystems"]:
        say()
        kind = file_system["FileSystemType"]
        details = file_system.get("LustreConfiguration", file_system.get("OpenZFSConfiguration", {}))
        say(f"file system  {file_system['FileSystemId']}", style="bold")
        say(f"kind         {kind} {details.get('DeploymentType', '')}, {file_system['StorageCapacity']} GiB")
        say(f"status       {file_system['Lifecycle']}")
        say(f"address      {file_system.get('DNSName', '')} {details.get('MountName', '')}".rstrip())
        for link in _links(client, file_system["FileSystemId"]):
            _show_link(link)


def _links(client: Any, file_system: str) -> list[dict[str, Any]]:
    request: dict[str, Any] = {"Filters": [{"Name": "file-system-id", "Values": [file_system]}]}
    found: list[dict[str, Any]] = []
    while True:
        page = client.describe_data_repository_associations(**request)
        found += page["Associations"]
        if "NextToken" not in page:
            return found
        request["NextToken"] = page["NextToken"]


def _show_link(link: Mapping[str, Any]) -> None:
    say(f"S3 link      {link.get('FileSystemPath', '')} = {link.get('DataRepositoryPath', '')}")
    say(f"  status     {link['Lifecycle']}")
    for direction, policy in (("import", "AutoImportPolicy"), ("export", "AutoExportPolicy")):
        events = link.get("S3", {}).get(policy, {}).get("Events", [])
        say(f"  {direction}     {', '.join(events) if events else 'not automatic'}")
