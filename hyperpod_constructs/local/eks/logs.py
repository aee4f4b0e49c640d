"""The log group that EKS makes for a control plane whose logs are on. It outlives the cluster, as on AWS, and is empty here."""

from __future__ import annotations

from hyperpod_constructs.facts.log_groups import MADE_BY_SERVICES
from hyperpod_constructs.local.clients import Clients, ignoring
from hyperpod_constructs.local.eks.records import Cluster


def open_logs(clients: Clients, cluster: Cluster) -> None:
    """Make the log group if a kind of logs is on; one that is there is kept."""
    if any(setup["enabled"] for setup in cluster.body["logging"]["clusterLogging"]):
        with ignoring("ResourceAlreadyExistsException"):
            name = MADE_BY_SERVICES["AWS::EKS::Cluster"].format(cluster.name)
            clients("logs", cluster.caller).create_log_group(logGroupName=name)
