"""AWS CDK constructs for Amazon SageMaker HyperPod.

Names are resolved when they are first used, so that importing the package starts no jsii.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperpod_constructs.cluster import ExistingCluster, HyperPodCluster, NodeProvisioningMode, NodeRecovery
    from hyperpod_constructs.custom_resources.readiness_gate import ReadinessGate
    from hyperpod_constructs.data_loss import allow_data_loss
    from hyperpod_constructs.data_repository import DataRepositoryAssociation, RepositoryEvent
    from hyperpod_constructs.execution_role import ExecutionRole
    from hyperpod_constructs.grants import ClusterGrants
    from hyperpod_constructs.instance_group import (
        DeepHealthCheck,
        EbsVolume,
        InstanceGroup,
        LifecycleMode,
        LustreMount,
        OpenZfsMount,
        SlurmNodeType,
    )
    from hyperpod_constructs.instance_type import ClusterInstanceType
    from hyperpod_constructs.lifecycle_scripts import LifecycleScripts
    from hyperpod_constructs.network import ClusterNetwork, ExistingNetwork
    from hyperpod_constructs.node_software import ExternalAccounting, NodeHealth, NodeSoftware, NodeUser
    from hyperpod_constructs.orchestrator import Orchestrator, SlurmConfigStrategy
    from hyperpod_constructs.patterns.slurm import SlurmCluster
    from hyperpod_constructs.storage import CompressionType, ExistingLustre, LustreStorage

_MODULES = {
    "ClusterGrants": "grants",
    "ClusterInstanceType": "instance_type",
    "ClusterNetwork": "network",
    "CompressionType": "storage",
    "DataRepositoryAssociation": "data_repository",
    "DeepHealthCheck": "instance_group",
    "EbsVolume": "instance_group",
    "ExecutionRole": "execution_role",
    "ExistingCluster": "cluster",
    "ExistingLustre": "storage",
    "ExistingNetwork": "network",
    "ExternalAccounting": "node_software",
    "HyperPodCluster": "cluster",
    "InstanceGroup": "instance_group",
    "LifecycleMode": "instance_group",
    "LifecycleScripts": "lifecycle_scripts",
    "LustreMount": "instance_group",
    "LustreStorage": "storage",
    "NodeHealth": "node_software",
    "NodeProvisioningMode": "cluster",
    "NodeRecovery": "cluster",
    "NodeSoftware": "node_software",
    "NodeUser": "node_software",
    "OpenZfsMount": "instance_group",
    "Orchestrator": "orchestrator",
    "ReadinessGate": "custom_resources.readiness_gate",
    "RepositoryEvent": "data_repository",
    "SlurmCluster": "patterns.slurm",
    "SlurmConfigStrategy": "orchestrator",
    "SlurmNodeType": "instance_group",
    "allow_data_loss": "data_loss",
}

__all__ = [
    "ClusterGrants",
    "ClusterInstanceType",
    "ClusterNetwork",
    "CompressionType",
    "DataRepositoryAssociation",
    "DeepHealthCheck",
    "EbsVolume",
    "ExecutionRole",
    "ExistingCluster",
    "ExistingLustre",
    "ExistingNetwork",
    "ExternalAccounting",
    "HyperPodCluster",
    "InstanceGroup",
    "LifecycleMode",
    "LifecycleScripts",
    "LustreMount",
    "LustreStorage",
    "NodeHealth",
    "NodeProvisioningMode",
    "NodeRecovery",
    "NodeSoftware",
    "NodeUser",
    "OpenZfsMount",
    "Orchestrator",
    "ReadinessGate",
    "RepositoryEvent",
    "SlurmCluster",
    "SlurmConfigStrategy",
    "SlurmNodeType",
    "allow_data_loss",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
