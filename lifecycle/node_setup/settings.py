"""What Slurm is told beside what the service's agent writes."""

from __future__ import annotations

from node_setup.node import HOME, Node

HEALTH_CHECK = f"{HOME}/bin/health_check"
PROLOG = "hyperpod_prolog"
EPILOG = "hyperpod_epilog"


def wanted_settings(node: Node) -> dict[str, str]:
    """Keys of ``slurm.conf`` with their values.

    Prolog and epilog have no path: slurmctld then sends them to the nodes, and no node is drained for a file that it lacks.
    Without the last key, steps would take the limits of the shell that submits instead of slurmd's.
    """
    settings = {"Prolog": PROLOG, "Epilog": EPILOG, "PropagateResourceLimitsExcept": "MEMLOCK,NOFILE"}
    health = node.software.health
    if health is not None:
        settings["HealthCheckProgram"] = HEALTH_CHECK
        settings["HealthCheckInterval"] = str(health.interval_seconds)
        settings["HealthCheckNodeState"] = "ANY"
    if node.mode == "on_create" and node.software.accounting is not None:
        settings["AccountingStorageType"] = "accounting_storage/slurmdbd"
        settings["AccountingStorageHost"] = node.role.address or node.name
        settings["JobAcctGatherType"] = "jobacct_gather/linux"
    return settings
