"""Clusters, nodes and file systems after a deployment, as the services describe them. Templates are not read."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperpod_constructs.cli.connect import command, controller_group, nodes_of
from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.cli.kubeconfig import administrators, kubernetes_name
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
    cluster = target.client("sagemaker").describe_cluster(ClusterName=name)
    nodes = nodes_of(target, name)
    say()
    say(f"cluster  {cluster['ClusterName']}", style="bold")
    say(f"arn      {cluster['ClusterArn']}")
    say(f"status   {cluster['ClusterStatus']}")
    if cluster.get("FailureMessage"):
        say(f"failure  {one_line(cluster['FailureMessage'], MESSAGE_CHARACTERS)}")
    say()
    table(("instance group", "type", "nodes", "target", "status"), list(_group_rows(cluster, nodes)))
    say()
    table(("node", "instance group", "type", "state"), [_node_row(node) for node in nodes[:MAX_NODES]])
    if len(nodes) > MAX_NODES:
        listing = f"aws sagemaker list-cluster-nodes --cluster-name {cluster['ClusterName']}"
        say(f"and {len(nodes) - MAX_NODES} more: {listing}")
    kubernetes = kubernetes_name(cluster)
    if kubernetes is not None:
        show_kubernetes(target, kubernetes, cluster["ClusterArn"], administrators(target, where))
        say()
        say("a shell with kubectl:", style="bold")
        say("  hyperpod connect" if where is TargetName.LOCAL else f"  hyperpod connect --target {where}")
        return
    say()
    say("a shell on the controller:" if controller_group(cluster) is not None else "a shell on a node:", style="bold")
    say(f"  {shell or _shell_command(cluster, nodes, target.region)}")


def _group_rows(cluster: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]]) -> Iterable[tuple[str, ...]]:
    """One row for each group, with the number of its Running nodes."""
    for group in [*cluster.get("InstanceGroups", []), *cluster.get("RestrictedInstanceGroups", [])]:
        name = group["InstanceGroupName"]
        running = sum(node["InstanceGroupName"] == name and node["InstanceStatus"]["Status"] == "Running" for node in nodes)
        yield name, _instance_type(group), f"{running} Running", str(group["TargetCount"]), group.get("Status", "")


def _instance_type(group: Mapping[str, Any]) -> str:
    if "InstanceType" in group:
        return str(group["InstanceType"])
    return ", ".join(group.get("InstanceRequirements", {}).get("CurrentInstanceTypes", []))


def _node_row(node: Mapping[str, Any]) -> tuple[str, str, str, str]:
    status = node["InstanceStatus"]
    message = one_line(status.get("Message") or "", MESSAGE_CHARACTERS)
    state = f"{status['Status']}: {message}" if message else status["Status"]
    return node.get("InstanceId", "(none yet)"), node["InstanceGroupName"], node.get("InstanceType", ""), state


def _shell_command(cluster: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], region: str) -> str:
    group = controller_group(cluster)
    if group is None:
        return "hyperpod connect --group NAME"
    try:
        return shlex.join(command(cluster["ClusterArn"], group, nodes, region))
    except CliError:
        return "hyperpod connect    (no controller node is Running yet)"


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
