"""Our settings for Slurm, beside those of the service's agent."""

from __future__ import annotations

from node_setup.node import HOME, Node

HEALTH_CHECK = f"{HOME}/bin/health_check"
PROLOG = "hyperpod_prolog"
EPILOG = "hyperpod_epilog"
EXPANSION = "permit_job_expansion"
REQUEUE_SECONDS = 30


def wanted_settings(node: Node) -> dict[str, str]:
    """The keys of `slurm.conf` with their values.

    Prolog and epilog have no path: slurmctld sends them to the nodes, so no node is drained for a missing file. Steps take slurmd's
    limits instead of the submitting shell's. A requeued job may start again after the life of a credential, by default two minutes.
    A job that lost a node gets another one by expansion. Where the scripts own the node, nobody else declares GPUs: without
    `GresTypes`, Slurm refuses jobs that ask for them.
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
    if node.mode == "on_create" and any(group.gpus for group in node.config.groups.values()):
        settings["GresTypes"] = "gpu"
        if node.software.accounting is not None:
            settings["AccountingStorageTRES"] = "gres/gpu"
    return {**settings, **node.config.scheduling.slurm_conf}
