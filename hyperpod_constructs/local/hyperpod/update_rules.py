"""What is wrong with the members of a request that are about software updates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_constructs.facts import software_updates
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.local.hyperpod.state import Cluster, Spec

SIZES = ("MaximumBatchSize", "RollbackMaximumBatchSize")
Config = Mapping[str, Any]


def deployments(spec: Spec) -> Iterator[tuple[str, Config]]:
    """The DeploymentConfigs of a group, with the members that hold them."""
    for member in ("ScheduledUpdateConfig", "AutoPatchConfig"):
        if "DeploymentConfig" in spec.get(member, {}):
            yield f"{member}.DeploymentConfig", spec[member]["DeploymentConfig"]


def group_mistake(spec: Spec, eks: bool) -> str | Mistake | None:
    """The first mistake of a group."""
    if "ImageReleaseVersion" in spec and not eks:
        return "ImageReleaseVersion is only supported for clusters that EKS orchestrates"
    if "ScheduledUpdateConfig" in spec:
        found = software_updates.schedule_mistake(spec["ScheduledUpdateConfig"]["ScheduleExpression"])
        if found is not None:
            return found
    patch = _patch_mistake(spec.get("AutoPatchConfig", {}), eks)
    found_in = (deployment_mistake(where, config, eks) for where, config in deployments(spec))
    return patch or next(filter(None, found_in), None)


def software_mistake(cluster: Cluster, request: Mapping[str, Any], eks: bool) -> str | Mistake | None:
    """The first mistake of an UpdateClusterSoftware request."""
    named = [item["InstanceGroupName"] for item in request.get("InstanceGroups", ())]
    unknown = [name for name in named if name not in cluster.groups]
    if unknown:
        return f"InstanceGroups names {', '.join(unknown)}; cluster {cluster.name} has {', '.join(cluster.groups)}"
    twice = [name for name, count in Counter(named).items() if count > 1]
    if twice:
        return f"InstanceGroups names {', '.join(twice)} more than once"
    for item in request.get("InstanceGroups", ()):
        if "ImageReleaseVersion" in item and not eks:
            return f"ImageReleaseVersion of {item['InstanceGroupName']} is only supported for clusters that EKS orchestrates"
    for name in named or cluster.groups:
        image = cluster.groups[name].spec.get("ImageId", "")
        if image.startswith(software_updates.CUSTOM_IMAGE) and "ImageId" not in request:
            return f"instance group {name} has the image {image}; give an ImageId, or default for the newest image of HyperPod"
    return deployment_mistake("DeploymentConfig", request.get("DeploymentConfig", {}), eks)


def deployment_mistake(where: str, config: Config, eks: bool) -> str | None:
    """The first mistake of a DeploymentConfig; `where` names it."""
    policy = config.get("RollingUpdatePolicy")
    if config and not eks:
        return f"{where}: {software_updates.BATCHES_ON_SLURM}"
    if policy is None and "AutoRollbackConfiguration" in config:
        return f"{where}.AutoRollbackConfiguration: alarms are watched between batches, and there is no RollingUpdatePolicy"
    for size in SIZES:
        found = (policy or {}).get(size, {})
        if found.get("Type") == "CAPACITY_PERCENTAGE" and found["Value"] > software_updates.MOST_PERCENT:
            return f"{where}.RollingUpdatePolicy.{size}: {software_updates.percentage_above_all(found['Value'])}"
    return None


def _patch_mistake(config: Config, eks: bool) -> str | None:
    draining = config.get("PatchingStrategy") == "DrainFirst"
    if draining and not eks:
        return "PatchingStrategy DrainFirst is only supported for clusters that EKS orchestrates; write WhenIdle or WhenAllIdle"
    if draining and "MaximumBatchSize" not in config.get("DeploymentConfig", {}).get("RollingUpdatePolicy", {}):
        return "PatchingStrategy DrainFirst needs MaximumBatchSize in DeploymentConfig.RollingUpdatePolicy"
    if "DrainPolicy" in config and not draining:
        return f"DrainPolicy is valid only with PatchingStrategy DrainFirst; found {config['PatchingStrategy']}"
    return None
