"""`hyperpod connect`: a shell on a node. The node is looked up at each call, because a replaced node has another id."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from hyperpod_constructs.cli import kubeconfig, kubectl
from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.cli.deployed import deployed_cluster
from hyperpod_constructs.cli.kubeconfig import kubernetes_name
from hyperpod_constructs.cli.target import Target, TargetName, running_virtual_nodes

# A node cannot use the terminal of the host, so the shell gets a terminal on the node.
IN_TERMINAL = ("script", "--quiet", "--return", "--command", "bash -l", "/dev/null")


def nodes_of(target: Target, cluster: str) -> list[dict[str, Any]]:
    """The current nodes of a cluster (name or ARN), by ListClusterNodes."""
    paginator = target.client("sagemaker").get_paginator("list_cluster_nodes")
    return [node for page in paginator.paginate(ClusterName=cluster) for node in page["ClusterNodeSummaries"]]


def controller_group(cluster: Mapping[str, Any]) -> str | None:
    """The instance group of the Slurm controller. None if the service names no such group (Kubernetes, own scripts)."""
    for group in cluster.get("InstanceGroups", []):
        if group.get("SlurmConfig", {}).get("NodeType") == "Controller":
            return str(group["InstanceGroupName"])
    return None


def command(cluster_arn: str, group: str, nodes: Sequence[Mapping[str, Any]], region: str) -> list[str]:
    """The AWS CLI command that opens a shell on the first running node of a group.

    :raises CliError: if no node of the group is Running.
    """
    members = [node for node in nodes if node["InstanceGroupName"] == group]
    running = [node for node in members if node["InstanceStatus"]["Status"] == "Running"]
    if not running:
        states = ", ".join(sorted({node["InstanceStatus"]["Status"] for node in members})) or "no nodes"
        raise CliError(f"no node of instance group {group!r} is Running (found: {states}): wait until one is, or name another")
    instance_id = running[0]["InstanceId"]
    cluster_id = cluster_arn.rsplit("/", 1)[-1]
    session_target = f"sagemaker-cluster:{cluster_id}_{group}-{instance_id}"
    return ["aws", "ssm", "start-session", "--target", session_target, "--region", region]


def connect(target: Target, where: TargetName, *, cluster: str | None, group: str | None, only_print: bool) -> None:
    """Open a shell on a node, or print the command. On Kubernetes, without a group, it is a shell of this machine with kubectl.

    :param target: the account of the cluster.
    :param where: the same by name.
    :param cluster: name or ARN; the deployed one unless given.
    :param group: the instance group; the controller's unless given.
    :param only_print: print the command, do not run it.
    :raises CliError: if the cluster, the group or a running node is not found.
    """
    description = target.client("sagemaker").describe_cluster(ClusterName=cluster or deployed_cluster(target, where))
    kubernetes = kubernetes_name(description)
    if kubernetes is not None and group is None:
        _enter_kubernetes(target, where, kubernetes, only_print=only_print)
        return
    chosen = group if group is not None else controller_group(description)
    groups = [*description.get("InstanceGroups", []), *description.get("RestrictedInstanceGroups", [])]
    names = [entry["InstanceGroupName"] for entry in groups]
    if chosen is None or chosen not in names:
        cause = "the service names no controller group" if group is None else f"there is no instance group {group!r}"
        raise CliError(f"{cause} in {description['ClusterName']}: name one with --group ({', '.join(names)})")
    arguments = command(description["ClusterArn"], chosen, nodes_of(target, description["ClusterArn"]), target.region)
    if only_print:
        say(shlex.join(arguments))
        return
    if where is TargetName.LOCAL:
        _enter(arguments[arguments.index("--target") + 1].rpartition("_")[2].removeprefix(f"{chosen}-"))
    _replace_process(arguments, target)


def _enter_kubernetes(target: Target, where: TargetName, name: str, *, only_print: bool) -> None:
    file = kubeconfig.write(target, where, name, kubeconfig.administrators(target, where))
    kubectl.enter(file, target.environment(), where.assembly.parent, only_print=only_print)


def _enter(instance_id: str) -> NoReturn:
    """Become a shell on a virtual node. Standard input is run as commands, unless it is a terminal."""
    nodes = {node["InstanceId"]: node for node in running_virtual_nodes()}
    if instance_id not in nodes:
        raise CliError(
            "this embedded AWS boots no nodes, so there is no shell to open: start one with nodes "
            "(hyperpod local stop; hyperpod deploy --nodes), see the command with --print, or use a real cluster with --target aws"
        )
    command = [*nodes[instance_id]["Command"], *(IN_TERMINAL if sys.stdin.isatty() else ("bash", "-s"))]
    os.execvp(command[0], command)


def _replace_process(arguments: Sequence[str], target: Target) -> None:
    for program in ("aws", "session-manager-plugin"):
        if shutil.which(program) is None:
            raise CliError(
                f"{program} is not installed, and a session needs the AWS CLI with its Session Manager plugin: "
                "install it, or see the command with --print"
            )
    os.execvpe(arguments[0], list(arguments), target.environment())
