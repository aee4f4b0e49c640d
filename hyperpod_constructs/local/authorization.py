"""Which resource a request of our services is about, and what else it takes: IAM evaluates policies against both.

Resource types follow the Service Authorization Reference of SageMaker, FSx and Systems Manager (parameters and sessions); an
operation without one is evaluated against `*`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from hyperpod_constructs.facts.node_permissions import ADMISSION_ACTIONS, NODES_PRINCIPAL
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.clients import partition
from hyperpod_constructs.local.session_manager import document_arn, target_arn

Parameters = Mapping[str, Any]


class ResourceNames:
    """Knows the ARNs behind a cluster's name and behind the ids of volumes and snapshots, from what was created."""

    def __init__(self) -> None:
        self._arns: dict[tuple[str, str, str], str] = {}

    def learn(self, parameters: Parameters, result: Parameters, caller: Caller) -> None:
        """Remember the name or the id of an answered request, with the ARN in the answer."""
        name, arn = parameters.get("ClusterName"), result.get("ClusterArn")
        if isinstance(name, str) and isinstance(arn, str) and not name.startswith("arn:"):
            self._arns[caller.account, caller.region, name] = arn
        for identifier, arn in _of_openzfs(result):
            self._arns[caller.account, caller.region, identifier] = arn

    def arn(self, service: str, operation: str, body: bytes, caller: Caller) -> str | None:
        """The ARN of the resource that the request is about; None if it is about none, or the body cannot be read."""
        try:
            parameters = json.loads(body or b"{}")
        except ValueError:
            return None
        if not isinstance(parameters, dict):
            return None
        if isinstance(given := parameters.get("ResourceArn", parameters.get("ResourceARN")), str):
            return given
        prefix = f"arn:{partition(caller.region)}:{service}:{caller.region}:{caller.account}"
        if isinstance(plan := parameters.get("TrainingPlanName"), str) and service == "sagemaker":
            return plan if plan.startswith("arn:") else f"{prefix}:training-plan/{plan}"
        if service == "sagemaker" and (policy := _policy(parameters, operation, prefix)) is not None:
            return policy
        if operation in _LISTS:
            return None
        if isinstance(extension := parameters.get("ExtensionArn", parameters.get("ClusterArn")), str) and service == "sagemaker":
            return extension
        if service == "sagemaker":
            return self._cluster(parameters.get("ClusterName"), operation, prefix, caller)
        if service == "ssm" and operation == "StartSession":
            return target_arn(parameters.get("Target"), caller)
        if service == "ssm":
            return _session_or_parameter(parameters, prefix)
        if service == "fsx":
            for key, kind in (("SnapshotId", "snapshot"), ("VolumeId", "volume")):
                if isinstance(known := parameters.get(key), str):
                    return self._arns.get((caller.account, caller.region, known), f"{prefix}:{kind}/*/{known}")
        return _file_system(parameters, operation, prefix) if service == "fsx" else None

    def _cluster(self, name: Any, operation: str, prefix: str, caller: Caller) -> str | None:
        if not isinstance(name, str):
            return None
        if operation == "CreateCluster":
            return f"{prefix}:cluster/*"
        return (
            name if name.startswith("arn:") else self._arns.get((caller.account, caller.region, name), f"{prefix}:cluster/{name}")
        )


class Dependent(NamedTuple):
    """An action that a request takes beside its own, in the caller's name."""

    action: str
    resource: str
    context: Mapping[str, str] = MappingProxyType({})


def dependents(service: str, operation: str, body: bytes, caller: Caller) -> Iterator[Dependent]:
    """The actions that a request takes beside its own, or on a second resource; the service needs them of who asks.

    Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html, the permissions of the
    handler in the resource schema of `AWS::SageMaker::Cluster` (as of 2026-11-24), and for documents of sessions
    https://docs.aws.amazon.com/systems-manager/latest/userguide/getting-started-specify-session-document.html
    """
    try:
        parameters = json.loads(body or b"{}")
    except ValueError:
        return
    if not isinstance(parameters, dict):
        return
    if (service, operation) == ("ssm", "StartSession"):
        yield Dependent("ssm:StartSession", document_arn(parameters.get("DocumentName"), caller))
    if service == "sagemaker" and operation in ("CreateCluster", "UpdateCluster"):
        yield from _of_cluster(operation, parameters)


def _of_cluster(operation: str, parameters: Parameters) -> Iterator[Dependent]:
    for role in dict.fromkeys(_roles(parameters)):
        yield Dependent("iam:PassRole", role, {"iam:PassedToService": NODES_PRINCIPAL})
    arn = _member(_member(parameters, "Orchestrator"), "Eks").get("ClusterArn")
    if operation == "CreateCluster" and isinstance(arn, str):
        entries = arn.replace(":cluster/", ":access-entry/", 1) + "/*"
        for action, resource in ADMISSION_ACTIONS.items():
            yield Dependent(action, arn if resource == "cluster" else entries)


def _roles(parameters: Parameters) -> Iterator[str]:
    groups = [parameters.get(name) for name in ("InstanceGroups", "RestrictedInstanceGroups")]
    specs = [spec for found in groups if isinstance(found, list) for spec in found if isinstance(spec, dict)]
    for role in (*(spec.get("ExecutionRole") for spec in specs), parameters.get("ClusterRole")):
        if isinstance(role, str):
            yield role


def _member(value: Parameters, name: str) -> Parameters:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


_POLICIES = {"ClusterSchedulerConfig": "cluster-scheduler-config", "ComputeQuota": "compute-quota"}
_LISTS = frozenset(f"List{noun}s" for noun in _POLICIES)


def _policy(parameters: Parameters, operation: str, prefix: str) -> str | None:
    """The scheduling policy or the quota; a new one by the form of its ARN."""
    for noun, resource in _POLICIES.items():
        if operation == f"Create{noun}":
            return f"{prefix}:{resource}/*"
        if isinstance(found := parameters.get(f"{noun}Id"), str):
            return f"{prefix}:{resource}/{found}"
    return None


def _session_or_parameter(parameters: Parameters, prefix: str) -> str | None:
    """The session; else the parameter, the path, or the first of several parameters."""
    if isinstance(session := parameters.get("SessionId"), str):
        return f"{prefix}:session/{session}"
    names = parameters.get("Names")
    name = parameters.get("Name", parameters.get("Path", names[0] if isinstance(names, list) and names else None))
    if not isinstance(name, str):
        return None
    return name if name.startswith("arn:") else f"{prefix}:parameter/{name.removeprefix('/')}"


def _of_openzfs(result: Parameters) -> Iterator[tuple[str, str]]:
    """The ids in an answer with their ARNs: of a snapshot, and of the root volume of a file system."""
    snapshot, made = result.get("Snapshot", {}), result.get("FileSystem", {})
    if "SnapshotId" in snapshot:
        yield snapshot["SnapshotId"], snapshot["ResourceARN"]
    volume = made.get("OpenZFSConfiguration", {}).get("RootVolumeId")
    if volume is not None:
        yield volume, f"{made['ResourceARN'].replace(':file-system/', ':volume/')}/{volume}"


def _file_system(parameters: Parameters, operation: str, prefix: str) -> str | None:
    if operation == "CreateFileSystem":
        return f"{prefix}:file-system/*"
    if operation.startswith("Describe"):
        return None
    if isinstance(association := parameters.get("AssociationId"), str):
        return f"{prefix}:association/*/{association}"
    if isinstance(task := parameters.get("TaskId"), str):
        return f"{prefix}:task/{task}"
    file_system = parameters.get("FileSystemId")
    return f"{prefix}:file-system/{file_system}" if isinstance(file_system, str) else None
