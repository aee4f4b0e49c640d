"""What Slurm is told beside what the service's agent writes."""

from __future__ import annotations

from node_setup.node import HOME, Node

HEALTH_CHECK = f"{HOME}/bin/health_check"
PROLOG = "hyperpod_prolog"
EPILOG = "hyperpod_epilog"
EXPANSION = "permit_job_expansion"
REQUEUE_SECONDS = 30


def wanted_settings(node: Node) -> dict[str, str]:
    """Keys of ``slurm.conf`` with their values.

    Prolog and epilog have no path: slurmctld then sends them to the nodes, and no node is drained for a file that it lacks.
    Steps take slurmd's limits, not those of the shell that submits. A requeued job may start again after the life of a
    credential, by default two minutes. A job that lost a node gets another by expansion.
    """
    settings = {
        "Prolog": PROLOG,
        "Epilog": EPILOG,
        "PropagateResourceLimitsExcept": "MEMLOCK,NOFILE",
        "AuthInfo": f"cred_expire={REQUEUE_SECONDS}",
        "SchedulerParameters": EXPANSION,
    }
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
