"""Settings of a cluster and its groups that exclude each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from hyperpod_constructs.cluster.capacity import CapacityRequirements
from hyperpod_constructs.cluster.instance_group import InstanceGroup
from hyperpod_constructs.cluster.orchestrator import Orchestrator
from hyperpod_constructs.cluster.restricted_group import RestrictedInstanceGroup, SharedEnvironmentConfig
from hyperpod_constructs.cluster.storage_configs import LustreMount
from hyperpod_constructs.facts import accounting as accounting_facts
from hyperpod_constructs.facts import clusters as cluster_facts
from hyperpod_constructs.facts import orchestration
from hyperpod_constructs.facts import restricted_groups as restricted_facts
from hyperpod_constructs.facts import scheduling as scheduling_facts
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.node_software.lifecycle_mode import LifecycleMode
from hyperpod_constructs.node_software.lifecycle_scripts import LifecycleScripts
from hyperpod_constructs.node_software.node_type import SlurmNodeType
from hyperpod_constructs.node_software.software import NodeSoftware


@dataclass(frozen=True, kw_only=True)
class Compatibility:
    """What a cluster allows its groups.

    :param continuous: whether nodes are provisioned continuously.
    :param has_network: whether the cluster has a network of its own.
    """

    orchestrator: Orchestrator
    scripts: LifecycleScripts
    continuous: bool
    has_network: bool

    def of_cluster(self) -> Mistake | None:
        """A mistake of the cluster itself; `None` without one."""
        if self.orchestrator.on_eks:
            return None if self.has_network else orchestration.WITHOUT_NETWORK
        strategy = self.orchestrator.slurm_config_strategy
        if strategy is not None and self.continuous:
            return cluster_facts.strategy_with_continuous(strategy.value)
        if self.orchestrator.accounting_database is not None and not self.continuous:
            return accounting_facts.WITHOUT_CONTINUOUS
        scheduling = self.orchestrator.scheduling.given
        return scheduling_facts.without_scripts(", ".join(scheduling)) if scheduling and not self.scripts.ours else None

    def of_features(self, features: Collection[str], shared: SharedEnvironmentConfig | None) -> Mistake | None:
        """A feature of EKS on a Slurm cluster; `None` without one.

        :param features: the properties that the cluster has.
        :param shared: the environment that restricted groups share.
        """
        if self.orchestrator.on_eks:
            return None
        if shared is not None:
            return restricted_facts.ON_SLURM
        return next((orchestration.feature_of_eks(feature) for feature in sorted(features)), None)

    def of_group(self, group: InstanceGroup, others: Collection[InstanceGroup], restricted: Collection[str] = ()) -> Mistake | None:
        """A mistake of a new group beside the existing ones; `None` without one.

        :param restricted: the names of the restricted groups.
        """
        if group.name in restricted:
            return cluster_facts.repeated_name(group.name)
        return next(self._of_group(group, others), None)

    def of_restricted(
        self, group: RestrictedInstanceGroup, names: Collection[str], shared: SharedEnvironmentConfig | None
    ) -> Mistake | None:
        """A mistake of a new restricted group beside groups of these names; `None` without one."""
        if not self.orchestrator.on_eks:
            return restricted_facts.ON_SLURM
        if group.name in names:
            return cluster_facts.repeated_name(group.name)
        if group.environment_config is None and shared is None:
            return restricted_facts.without_file_system(group.name)
        network = group.override_vpc_config
        return (
            None
            if network is None or len(network.subnets) == 1
            else restricted_facts.several_subnets(group.name, len(network.subnets))
        )

    def of_software(self) -> str | None:
        """Settings of the scripts that set up Slurm only; `None` without any."""
        software, steps = self.scripts.software, self.scripts.steps
        if not self.orchestrator.on_eks or not self.scripts.ours or software is None:
            return None
        if software != NodeSoftware(containers=software.containers):
            return (
                "NodeSoftware sets up the nodes of Slurm clusters; on EKS this library's scripts take containers alone: "
                "write NodeSoftware(containers=...), or leave it out"
            )
        typed = [step.step_name for step in steps if step.node_types]
        return (
            f"own steps {', '.join(typed)} name roles of Slurm; on EKS every node runs them: leave node_types out"
            if typed
            else None
        )

    def _of_group(self, group: InstanceGroup, others: Collection[InstanceGroup]) -> Iterator[Mistake]:
        if any(group.name == other.name for other in others):
            yield cluster_facts.repeated_name(group.name)
        if len(others) == cluster_facts.MOST_GROUPS:
            yield cluster_facts.group_beyond_limit(group.name)
        yield from self._on_eks(group) if self.orchestrator.on_eks else self._on_slurm(group, others)
        if group.override_vpc_config is not None and not self.has_network:
            yield cluster_facts.override_without_network(group.name)
        if group.file_systems and not self.has_network:
            yield cluster_facts.mount_without_network(group.name, group.file_systems[0].mount_path)
        if len(group.instance_types) > 1 and not self.continuous:
            yield cluster_facts.types_without_continuous(group.name, len(group.instance_types))
        if group.volume_keys and not self.continuous:
            yield cluster_facts.key_without_continuous(group.name)

    def _on_eks(self, group: InstanceGroup) -> Iterator[Mistake]:
        if group.node_type is not SlurmNodeType.COMPUTE:
            yield orchestration.slurm_on_eks(group.name, f"node_type {group.node_type.value}")
        if group.partition is not None:
            yield orchestration.slurm_on_eks(group.name, f"partition {group.partition!r}")
        for mount in group.file_systems:
            kind = "FsxLustreConfig" if isinstance(mount, LustreMount) else "FsxOpenZfsConfig"
            yield orchestration.mount_on_eks(group.name, kind)
        if group.lifecycle_mode is LifecycleMode.ON_INIT_COMPLETE:
            yield orchestration.completed_on_eks(group.name)
        if group.capacity_requirements is CapacityRequirements.SPOT and not self.continuous:
            yield cluster_facts.spot_without(group.name, ["continuous provisioning"])

    def _on_slurm(self, group: InstanceGroup, others: Collection[InstanceGroup]) -> Iterator[Mistake]:
        for other in others:
            if group.node_type is not SlurmNodeType.COMPUTE and other.node_type is group.node_type:
                yield cluster_facts.second_of_node_type(group.node_type.value, other.name, group.name)
        if group.kubernetes_config is not None:
            yield cluster_facts.setting_of_eks(group.name, "kubernetes_config")
        if group.image_release_version is not None:
            yield cluster_facts.setting_of_eks(group.name, "image_release_version")
        if group.capacity_requirements is CapacityRequirements.SPOT:
            yield cluster_facts.spot_without(group.name, ["EKS"])
        if self.orchestrator.accounting_database is not None and self.scripts.ours and _sets_accounting_up(group):
            yield accounting_facts.beside_scripts(group.name)
        scheduling = self.orchestrator.scheduling.given
        if scheduling and group.node_type is SlurmNodeType.CONTROLLER and group.lifecycle_mode is LifecycleMode.NONE:
            yield scheduling_facts.without_scripts(", ".join(scheduling))


def _sets_accounting_up(group: InstanceGroup) -> bool:
    """Whether the scripts of this library, not the image, set Slurm's accounting up on a group."""
    return group.node_type is SlurmNodeType.CONTROLLER and group.lifecycle_mode is LifecycleMode.ON_CREATE
