"""Restricted instance groups, whose nodes nobody reaches, and the file systems that the service makes for them.

A file system is a record: DescribeCluster shows it, and events tell of it. It lies in the service's account, so FSx does not list
it. A group's own goes with its group, and stays with a group of no nodes; the shared one follows its deletion policy.

The documentation does not settle these, so they are decided here: a size only grows, as with any file system for Lustre; a group
keeps its kind; `S3OutputPath` is left out, because no page tells how it reads.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/nova-hp-cluster.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.hyperpod.state import Cluster, Spec

KINDS = {"InstanceGroups": False, "RestrictedInstanceGroups": True}
"""The lists of groups in a request, and whether their groups are restricted."""
CONFIG, SHARED, LUSTRE = "RestrictedInstanceGroupsConfig", "SharedEnvironmentConfig", "FSxLustreConfig"
DETAILS = (
    "InstanceType",
    "ExecutionRole",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "OnStartDeepHealthChecks",
    "TrainingPlanArn",
    "OverrideVpcConfig",
    "ScheduledUpdateConfig",
    "EnvironmentConfig",
)
"""Members of a restricted group's specification that its description repeats."""
_OF_ALL = ""


def specs_of(request: Mapping[str, Any]) -> list[Spec]:
    """The groups of a request, of both kinds."""
    return [spec for kind in KINDS for spec in request.get(kind, ())]


def restricted_in(request: Mapping[str, Any]) -> frozenset[str]:
    """The names of the restricted groups of a request."""
    return frozenset(
        spec["InstanceGroupName"] for kind, restricted in KINDS.items() if restricted for spec in request.get(kind, ())
    )


def check_restricted(specs: Iterable[Spec], settings: Mapping[str, Any], *, eks: bool) -> None:
    """Refuse restricted groups in a cluster of Slurm, and those without a file system.

    :param specs: the restricted groups that the cluster will have.
    :raises AwsError: with the cause of the refusal.
    """
    specs = list(specs)
    if not eks and (specs or CONFIG in settings):
        member = "RestrictedInstanceGroups" if specs else CONFIG
        raise _refusal(f"{member} is only supported for clusters that EKS orchestrates")
    alone = [spec["InstanceGroupName"] for spec in specs if _own(spec) is None]
    if alone and CONFIG not in settings:
        raise _refusal(
            f"EnvironmentConfig of restricted instance group {alone[0]} needs an {LUSTRE}, or the cluster a {CONFIG} with a"
            " shared one"
        )


def check_sizes(cluster: Cluster, specs: Iterable[Spec], settings: Mapping[str, Any]) -> None:
    """Refuse a file system that would shrink.

    :raises AwsError: with both sizes.
    """
    wanted = {spec["InstanceGroupName"]: _own(spec) for spec in specs} | {_OF_ALL: _shared(settings)}
    for name, before in cluster.lustre.items():
        after = wanted.get(name)
        if after is not None and after["SizeInGiB"] < before[LUSTRE]["SizeInGiB"]:
            raise _refusal(
                f"SizeInGiB of {_words(name)} cannot shrink: it is {before[LUSTRE]['SizeInGiB']}, found {after['SizeInGiB']}"
            )


def settle_files(cluster: Cluster, second: float) -> None:
    """Bring the file systems to what the groups and the cluster want: make, change and delete them."""
    restricted = {name: group for name, group in cluster.groups.items() if group.restricted}
    own = {name: _own(group.spec) for name, group in restricted.items()}
    wanted: dict[str, Mapping[str, Any]] = {name: {LUSTRE: config} for name, config in own.items() if config is not None}
    shared = cluster.settings.get(CONFIG, {}).get(SHARED)
    if shared is not None and (restricted or shared["FSxLustreDeletionPolicy"] == "Keep"):
        wanted[_OF_ALL] = shared
    for name in [*wanted, *(name for name in cluster.lustre if name not in wanted)]:
        before, after = cluster.lustre.get(name), wanted.get(name)
        if before != after:
            what = "created" if before is None else "deleted" if after is None else "updated"
            kind = "Cluster" if name == _OF_ALL else "InstanceGroup"
            cluster.record(second, kind, f"FSx for Lustre file system of {_words(name)} {what} successfully", group=name or None)
    cluster.lustre = wanted


def describe_shared(cluster: Cluster) -> dict[str, Any]:
    """The member RestrictedInstanceGroupsConfig of a description; empty without one."""
    desired = cluster.settings.get(CONFIG, {}).get(SHARED)
    if desired is None:
        return {}
    current = cluster.lustre.get(_OF_ALL, {})
    states = {"Current": current, "Desired": desired}
    return {CONFIG: {SHARED: {f"{when}{member}": value for when, config in states.items() for member, value in config.items()}}}


def _own(spec: Spec) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = spec.get("EnvironmentConfig", {}).get(LUSTRE)
    return found


def _shared(settings: Mapping[str, Any]) -> Mapping[str, Any] | None:
    found: Mapping[str, Any] | None = settings.get(CONFIG, {}).get(SHARED, {}).get(LUSTRE)
    return found


def _words(name: str) -> str:
    return "the shared environment" if name == _OF_ALL else f"restricted instance group {name}"


def _refusal(message: str) -> AwsError:
    return AwsError("ValidationException", message)
