"""The cluster of the last deployment."""

from __future__ import annotations

from hyperpod_constructs.cli.assembly import Assembly
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.stacks import CLUSTER_TYPE, deployed
from hyperpod_constructs.cli.target import Target, TargetName


def deployed_cluster(target: Target, where: TargetName) -> str:
    """The one cluster of the last deployment.

    :raises CliError: if there is none, or more than one.
    """
    try:
        assembly = Assembly.read(where.assembly)
    except FileNotFoundError:
        raise CliError(f"nothing was deployed from {where.assembly}: name the cluster with --cluster") from None
    stacks = [stack for entry in assembly.stacks if (stack := deployed(target, entry.name)) is not None]
    found = [entry.physical_id for stack in stacks for entry in stack.resources if entry.type == CLUSTER_TYPE]
    if len(found) != 1:
        cause = "no cluster is deployed" if not found else f"{len(found)} clusters are deployed ({', '.join(found)})"
        raise CliError(f"{cause}: deploy one (`hyperpod deploy`), or name the cluster with --cluster")
    return found[0]
