"""What the describe and list operations of HyperPod show of its state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperpod_constructs.local.hyperpod import restricted
from hyperpod_constructs.local.hyperpod.eks_nodes import why_outside
from hyperpod_constructs.local.hyperpod.state import Cluster, Event, LiveGroup, Node, Software, instance_types
from hyperpod_constructs.local.times import moment

AS_GIVEN = (
    "InstanceType",
    "LifeCycleConfig",
    "ExecutionRole",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "OnStartDeepHealthChecks",
    "TrainingPlanArn",
    "OverrideVpcConfig",
    "ScheduledUpdateConfig",
    "CapacityRequirements",
    "SlurmConfig",
    "NetworkInterface",
)
"""Members of a group's specification that its description repeats."""


def describe_cluster(cluster: Cluster) -> dict[str, Any]:
    """The answer of DescribeCluster."""
    answer = {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "ClusterStatus": cluster.status,
        "CreationTime": moment(cluster.created),
        "InstanceGroups": [_describe_group(group) for group in cluster.groups.values() if not group.restricted],
        **cluster.settings,
        **restricted.describe_shared(cluster),
    }
    if found := [_describe_restricted(group) for group in cluster.groups.values() if group.restricted]:
        answer["RestrictedInstanceGroups"] = found
    if cluster.failure:
        answer["FailureMessage"] = cluster.failure
    if "AutoScaling" in answer:
        failure = {"FailureMessage": cluster.auto_scaling.failure} if cluster.auto_scaling.failure else {}
        answer["AutoScaling"] = {**answer["AutoScaling"], "Status": cluster.auto_scaling.status, **failure}
    return answer


def summarize_cluster(cluster: Cluster) -> dict[str, Any]:
    """The cluster in ListClusters."""
    plans = sorted({group.spec["TrainingPlanArn"] for group in cluster.groups.values() if "TrainingPlanArn" in group.spec})
    return {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "CreationTime": moment(cluster.created),
        "ClusterStatus": cluster.status,
        **({"TrainingPlanArns": plans} if plans else {}),
    }


def summarize_node(cluster: Cluster, node: Node, logical_ids: bool) -> dict[str, Any]:
    """The node in ListClusterNodes."""
    summary = {
        "InstanceGroupName": node.group,
        "InstanceId": node.instance_id,
        "InstanceType": node.instance_type or instance_types(node.spec)[0],
        "LaunchTime": moment(node.launched or node.created),
        "InstanceStatus": _status(cluster, node),
        **_software(node),
        **_host_name(cluster, node),
    }
    return summary | ({"NodeLogicalId": node.logical_id} if logical_ids else {})


def describe_node(cluster: Cluster, node: Node) -> dict[str, Any]:
    """The answer of DescribeClusterNode."""
    repeated = ("LifeCycleConfig", "OverrideVpcConfig", "ThreadsPerCore", "InstanceStorageConfigs", "NetworkInterface")
    details = {
        **summarize_node(cluster, node, logical_ids=True),
        "CapacityType": "Spot" if "Spot" in node.spec.get("CapacityRequirements", {}) else "OnDemand",
        **{member: node.spec[member] for member in repeated if member in node.spec},
        **_images(node.software, cluster.groups[node.group].wanted),
    }
    if node.interface is not None:
        details["PrivatePrimaryIp"] = node.interface.address
    if node.placement is not None:
        details["Placement"] = {"AvailabilityZone": node.placement.zone, "AvailabilityZoneId": node.placement.zone_id}
    if "KubernetesConfig" in node.spec:
        details["KubernetesConfig"] = _current_and_desired(node.spec["KubernetesConfig"], ("Labels", "Taints"))
    return {"NodeDetails": details}


def summarize_event(cluster: Cluster, event: Event) -> dict[str, Any]:
    """The event in ListClusterEvents."""
    summary = {
        "EventId": event.event_id,
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "ResourceType": event.resource_type,
        "EventTime": moment(event.time),
        "Description": event.description,
        "EventLevel": event.level,
    }
    optional = {"InstanceGroupName": event.group, "InstanceId": event.instance_id}
    return summary | {key: value for key, value in optional.items() if value is not None}


def describe_event(cluster: Cluster, event: Event) -> dict[str, Any]:
    """The answer of DescribeClusterEvent."""
    details = summarize_event(cluster, event)
    if event.metadata:
        details["EventDetails"] = {"EventMetadata": event.metadata}
    return {"EventDetails": details}


def _counts(group: LiveGroup) -> dict[str, Any]:
    counts = {"CurrentCount": group.running, "TargetCount": group.target}
    return {"InstanceGroupName": group.name, **counts, "Status": group.status}


def _describe_restricted(group: LiveGroup) -> dict[str, Any]:
    return _counts(group) | {member: group.spec[member] for member in restricted.DETAILS if member in group.spec}


def _describe_group(group: LiveGroup) -> dict[str, Any]:
    spec = group.spec
    details = _counts(group) | {member: spec[member] for member in AS_GIVEN if member in spec}
    if "MinInstanceCount" in spec:
        details["MinCount"] = spec["MinInstanceCount"]
    if "InstanceRequirements" in spec:
        types = spec["InstanceRequirements"]["InstanceTypes"]
        details["InstanceRequirements"] = {"CurrentInstanceTypes": types, "DesiredInstanceTypes": types}
        counts = {name: sum(node.instance_type == name and node.status == "Running" for node in group.nodes) for name in types}
        details["InstanceTypeDetails"] = [{"InstanceType": name, "CurrentCount": count} for name, count in counts.items()]
    details |= _images(group.software, group.wanted)
    details["TargetStateCount"] = sum(node.status == "Running" and node.software == group.wanted for node in group.nodes)
    if "KubernetesConfig" in spec:
        details["KubernetesConfig"] = _current_and_desired(spec["KubernetesConfig"], ("Labels", "Taints"))
    if "AutoPatchConfig" in spec:
        details["AutoPatchConfig"] = _auto_patch(spec["AutoPatchConfig"])
    if group.software_update is not None:
        details["SoftwareUpdateStatus"] = group.software_update
    if group.deployment:
        details["ActiveSoftwareUpdateConfig"] = group.deployment
    if group.status != "Deleting" and any(node.status in ("Pending", "ShuttingDown") for node in group.nodes):
        details["ActiveOperations"] = {"Scaling": 1}
    return details


def _auto_patch(given: Mapping[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in given.items() if key != "PatchSchedule"}
    if "PatchSchedule" not in given:
        return rest
    return rest | {"CurrentPatchSchedule": given["PatchSchedule"], "DesiredPatchSchedule": given["PatchSchedule"]}


def _current_and_desired(given: Mapping[str, Any], members: tuple[str, ...]) -> dict[str, Any]:
    return {f"{when}{member}": given[member] for member in members if member in given for when in ("Current", "Desired")}


def _status(cluster: Cluster, node: Node) -> dict[str, str]:
    message = node.message or why_outside(cluster, node)
    return {"Status": node.status} | ({"Message": message} if message else {})


def _images(current: Software | None, desired: Software) -> dict[str, str]:
    """The names of images, as far as they were given."""
    named = {
        "CurrentImageId": current.image_id if current is not None else None,
        "DesiredImageId": desired.image_id,
        "CurrentImageReleaseVersion": current.version if current is not None else None,
        "DesiredImageReleaseVersion": desired.version,
    }
    return {member: name for member, name in named.items() if name is not None}


def _software(node: Node) -> dict[str, Any]:
    known = {} if node.updated is None else {"LastSoftwareUpdateTime": moment(node.updated)}
    version = None if node.software is None else node.software.version
    return known | ({} if version is None else {"CurrentImageReleaseVersion": version})


def _host_name(cluster: Cluster, node: Node) -> dict[str, str]:
    if node.interface is None:
        return {}
    region = cluster.caller.region
    # The first region has a domain of its own.
    domain = "ec2.internal" if region == "us-east-1" else f"{region}.compute.internal"
    return {"PrivateDnsHostname": f"ip-{node.interface.address.replace('.', '-')}.{domain}"}
