"""Finds the row of a property: our own where it tells more than the resource schema, else one made from the schema."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache

from hyperpod_constructs.facts import updates
from hyperpod_constructs.facts.schema import type_facts
from hyperpod_constructs.plan.change import Change, shrinks
from hyperpod_constructs.plan.effect import Effect
from hyperpod_constructs.plan.row import Row
from hyperpod_constructs.plan.rows import cluster, databases, file_systems, kubernetes, metrics, network, others
from hyperpod_constructs.templates.values import ABSENT, Either, Unknown, Value, alternatives_of, at, is_known, shown

OURS: Mapping[str, tuple[Row, ...]] = {
    "AWS::APS::RuleGroupsNamespace": metrics.RULES,
    "AWS::APS::Workspace": metrics.PROMETHEUS,
    "AWS::Budgets::Budget": others.BUDGET,
    "AWS::EC2::NatGateway": network.NAT_GATEWAY,
    "AWS::EC2::SecurityGroup": network.SECURITY_GROUP,
    "AWS::EC2::Subnet": network.SUBNET,
    "AWS::EC2::VPC": network.VPC,
    "AWS::EKS::AccessEntry": kubernetes.ACCESS_ENTRY,
    "AWS::EKS::Addon": kubernetes.ADDON,
    "AWS::EKS::Cluster": kubernetes.CLUSTER,
    "AWS::EKS::Nodegroup": kubernetes.NODE_GROUP,
    "AWS::EKS::PodIdentityAssociation": kubernetes.POD_IDENTITY,
    "AWS::FSx::DataRepositoryAssociation": file_systems.ASSOCIATION,
    "AWS::FSx::FileSystem": file_systems.FILE_SYSTEM,
    "AWS::Grafana::Workspace": metrics.GRAFANA,
    "AWS::KMS::Key": others.KEY,
    "AWS::Lambda::Function": others.FUNCTION,
    "AWS::Logs::LogGroup": others.LOG_GROUP,
    "AWS::Logs::MetricFilter": others.METRIC_FILTER,
    "AWS::Logs::SubscriptionFilter": others.SUBSCRIPTION_FILTER,
    "AWS::RDS::DBCluster": databases.CLUSTER,
    "AWS::RDS::DBInstance": databases.INSTANCE,
    "AWS::S3::Bucket": others.BUCKET,
    "AWS::SNS::Subscription": others.SUBSCRIPTION,
    "AWS::SSM::Document": others.DOCUMENT,
    "AWS::SageMaker::Cluster": cluster.ROWS,
    "AWS::SageMaker::ClusterSchedulerConfig": kubernetes.SCHEDULER_CONFIG,
    "AWS::SageMaker::ComputeQuota": kubernetes.COMPUTE_QUOTA,
    "AWS::SageMaker::NotebookInstance": others.NOTEBOOK,
    "AWS::SecretsManager::Secret": others.SECRET,
    "AWS::Scheduler::Schedule": kubernetes.SCHEDULE,
    "Custom::AWSCDK-EKS-HelmChart": kubernetes.HELM_CHART,
    "Custom::AWSCDK-EKS-KubernetesObjectValue": kubernetes.KUBERNETES_OBJECT_VALUE,
    "Custom::AWSCDK-EKS-KubernetesResource": kubernetes.KUBERNETES_OBJECTS,
    "Custom::HyperPodDataRepositoryTask": others.DATA_REPOSITORY_TASK,
    "Custom::HyperPodFileSystemFields": others.FILE_SYSTEM_FIELDS,
    "Custom::HyperPodClusterExtension": others.EXTENSION,
    "Custom::HyperPodClusterFields": others.CLUSTER_FIELDS,
    "Custom::HyperPodClusterLogGroup": others.CLUSTER_LOG_GROUP,
    "Custom::HyperPodNodeInventory": others.NODE_INVENTORY,
    "Custom::HyperPodOpenZfsQuotas": others.OPENZFS_QUOTAS,
    "Custom::HyperPodPreflight": others.PREFLIGHT,
    "Custom::HyperPodReadinessGate": others.READINESS_GATE,
    "Custom::HyperPodScriptsUpload": others.SCRIPTS_UPLOAD,
    "Custom::HyperPodTrainingPlan": others.TRAINING_PLAN,
}

_CREATE_ONLY = "is fixed at creation: a new resource replaces this one"
_FIXED = "is fixed at creation: the service refuses the change"
_GROWS = "grows, and never shrinks: the service refuses the change"
_KEPT = "stays once it is set: the service does not take it away"


def row_of(change: Change) -> Row:
    """The row of a change: of the applicable rows the one with the deepest path, and of equal paths the first."""
    if is_branch(change.type, change.path) and not (_is_spelled_out(change.old) and _is_spelled_out(change.new)):
        fixed = _fixed_inside(change)
        if fixed:
            why = f"its content is unknown here, and part of it is fixed at creation: {', '.join(fixed)}"
            return _schema_row("/".join(change.path), Effect.REPLACE, why)
    if _says_default(change):
        return _schema_row(change.path[0], Effect.NO_INTERRUPTION, "has this value by default, so nothing changes")
    candidates = [
        row for row in _ours(change.type) if _covers(row.path, change.path) and row.applies(change) and _holds(row, change)
    ]
    stated = _of_facts(change)
    if not candidates:
        return _unknown(change) if stated is None else stated
    deepest = max(candidates, key=lambda row: row.path.count("/"))
    return deepest if stated is None or not _overrules(stated, deepest) else stated


def _holds(row: Row, change: Change) -> bool:
    """Whether the facts say of the property what an unconditional row says."""
    if row.part or row.when is not None or type_facts(change.type) is None:
        return True
    if row.effect is Effect.REPLACE:
        return row.path in updates.replacing(change.type)
    return row.effect is not Effect.REFUSED or row.path in updates.fixed(change.type)


def _overrules(stated: Row, ours: Row) -> bool:
    """The deeper path counts; of the same one ours, unless it promises more than the facts."""
    depth, known = stated.path.count("/"), ours.path.count("/")
    return depth > known or (
        depth == known and stated.why in (_CREATE_ONLY, _FIXED, _GROWS, _KEPT) and ours.effect.severity < stated.effect.severity
    )


def has_row(resource_type: str, path: tuple[str, ...]) -> bool:
    """Whether a property has a row of its own or appears in the schema of its type."""
    if any(_covers(row.path, path) for row in _ours(resource_type)):
        return True
    facts = type_facts(resource_type)
    return facts is not None and path[0] in facts.properties


def is_branch(resource_type: str, path: tuple[str, ...]) -> bool:
    """Whether there are rows for parts of a property, so that changes are compared part by part."""
    facts = type_facts(resource_type)
    known = [row.path for row in _ours(resource_type)]
    if facts is not None:
        known += [*updates.replacing(resource_type), *updates.fixed(resource_type), *facts.conditional]
    return any(
        len(parts := known_path.split("/")) > len(path) and _covers("/".join(parts[: len(path)]), path) for known_path in known
    )


def _is_spelled_out(value: Value) -> bool:
    return not isinstance(value, Either | Unknown)


def _fixed_inside(change: Change) -> list[str]:
    """The parts of a property that may differ and whose change replaces the resource."""
    rows = [row.path for row in _ours(change.type) if row.effect is Effect.REPLACE and not row.part and _holds(row, change)]
    paths = dict.fromkeys((*rows, *sorted(updates.replacing(change.type))))
    depth = len(change.path)
    inside = [parts[depth:] for parts in (path.split("/") for path in paths) if _covers("/".join(parts[:depth]), change.path)]
    return ["/".join(parts) for parts in inside if parts and _can_differ(change, parts)]


def _can_differ(change: Change, path: list[str]) -> bool:
    """Whether the value at a path may differ between any alternative before and any after."""
    pairs = itertools.product(alternatives_of(change.old), alternatives_of(change.new))
    found = [(at(old, *path), at(new, *path)) for old, new in pairs]
    return "*" in path or any(not is_known(one) or not is_known(other) or shown(one) != shown(other) for one, other in found)


def _covers(pattern: str, path: tuple[str, ...]) -> bool:
    parts = pattern.split("/")
    return len(parts) <= len(path) and all(part in ("*", name) for part, name in zip(parts, path, strict=False))


def _ours(resource_type: str) -> tuple[Row, ...]:
    if resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource":
        return OURS.get(resource_type, others.CUSTOM_RESOURCE)
    return OURS.get(resource_type, ())


def _of_facts(change: Change) -> Row | None:
    facts = type_facts(change.type)
    if facts is None:
        return None
    added = updates.addable(change.type) if change.old is ABSENT else frozenset()
    kept = updates.kept(change.type) if change.new is ABSENT else frozenset()
    growing = updates.growing(change.type) if shrinks(change) else frozenset()
    for paths, effect, why in (
        (kept, Effect.REFUSED, _KEPT),
        (growing, Effect.REFUSED, _GROWS),
        (updates.fixed(change.type) - added, Effect.REFUSED, _FIXED),
        (updates.replacing(change.type), Effect.REPLACE, _CREATE_ONLY),
        (facts.conditional, Effect.REPLACE, "some changes of it need a new resource; its documentation says which"),
    ):
        for path in sorted(paths):
            if _covers(path, change.path):
                return _schema_row(path, effect, why)
    return _schema_row(change.path[0], Effect.NO_INTERRUPTION, "changes in place")


@cache
def _schema_row(path: str, effect: Effect, why: str) -> Row:
    return Row(effect, path, why)


def _says_default(change: Change) -> bool:
    """Whether a fixed property only gains or loses the value that it has by default."""
    written = change.new if change.old is ABSENT else change.old
    default = updates.default(change.type, "/".join(change.path))
    return default is not None and ABSENT in (change.old, change.new) and str(shown(written)).lower() == str(default).lower()


def _unknown(change: Change) -> Row:
    if change.type.startswith("Custom::") or change.type == "AWS::CloudFormation::CustomResource":
        why = "the custom resource's function decides"
    else:
        why = f"{change.type} is unknown here: read its documentation"
    return _schema_row(change.path[0], Effect.NO_INTERRUPTION, why)
