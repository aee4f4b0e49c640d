"""The row of a property: ours where we know more than the resource schema, else what the schema says."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from hyperpod_constructs.rules.effects import cluster, file_systems, network, others
from hyperpod_constructs.rules.effects.effect import Change, Effect, Row
from hyperpod_constructs.rules.effects.schema import type_facts

OURS: Mapping[str, tuple[Row, ...]] = {
    "AWS::EC2::SecurityGroup": network.SECURITY_GROUP,
    "AWS::EC2::Subnet": network.SUBNET,
    "AWS::EC2::VPC": network.VPC,
    "AWS::EKS::Cluster": others.KUBERNETES,
    "AWS::FSx::DataRepositoryAssociation": file_systems.ASSOCIATION,
    "AWS::FSx::FileSystem": file_systems.FILE_SYSTEM,
    "AWS::KMS::Key": others.KEY,
    "AWS::Lambda::Function": others.FUNCTION,
    "AWS::Logs::LogGroup": others.LOG_GROUP,
    "AWS::S3::Bucket": others.BUCKET,
    "AWS::SageMaker::Cluster": cluster.ROWS,
    "Custom::HyperPodReadinessGate": others.READINESS_GATE,
    "Custom::HyperPodScriptsUpload": others.SCRIPTS_UPLOAD,
}

_CREATE_ONLY = "can be set only when the resource is made: a new one takes its place"


def row_of(change: Change) -> Row:
    """The row for a change. The deepest path counts; of rows with the same path, the first that is meant for the change."""
    candidates = [row for row in _ours(change.type) if _covers(row.path, change.path) and row.applies(change)]
    schema = _of_schema(change)
    if candidates:
        deepest = max(candidates, key=lambda row: row.path.count("/"))
        if schema is None or schema.path.count("/") <= deepest.path.count("/"):
            return deepest
    return _unknown(change) if schema is None else schema


def has_row(resource_type: str, path: tuple[str, ...]) -> bool:
    """Whether something is written down about a property: a row of ours, or its name in the schema of a type that we list."""
    if any(_covers(row.path, path) for row in _ours(resource_type)):
        return True
    facts = type_facts(resource_type)
    return facts is not None and path[0] in facts.properties


def is_branch(resource_type: str, path: tuple[str, ...]) -> bool:
    """Whether rows tell of what is inside a property, so that a change is looked for there."""
    facts = type_facts(resource_type)
    known = [row.path for row in _ours(resource_type)]
    if facts is not None:
        known += [*facts.create_only, *facts.conditional]
    return any(
        len(parts := known_path.split("/")) > len(path) and _covers("/".join(parts[: len(path)]), path) for known_path in known
    )


def _covers(pattern: str, path: tuple[str, ...]) -> bool:
    parts = pattern.split("/")
    return len(parts) <= len(path) and all(part in ("*", name) for part, name in zip(parts, path, strict=False))


def _ours(resource_type: str) -> tuple[Row, ...]:
    if resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource":
        return OURS.get(resource_type, others.CUSTOM_RESOURCE)
    return OURS.get(resource_type, ())


def _of_schema(change: Change) -> Row | None:
    facts = type_facts(change.type)
    if facts is None:
        return None
    for paths, effect, why in (
        (facts.create_only, Effect.REPLACE, _CREATE_ONLY),
        (facts.conditional, Effect.REPLACE, "some changes of it need a new resource, which its documentation tells"),
    ):
        for path in sorted(paths):
            if _covers(path, change.path):
                return _schema_row(path, effect, why)
    return _schema_row(change.path[0], Effect.NO_INTERRUPTION, "changes in place")


@cache
def _schema_row(path: str, effect: Effect, why: str) -> Row:
    return Row(path=path, effect=effect, why=why)


def _unknown(change: Change) -> Row:
    if change.type.startswith("Custom::") or change.type == "AWS::CloudFormation::CustomResource":
        why = "the resource's own function decides"
    else:
        why = f"nothing is known of {change.type} here: read its documentation"
    return _schema_row(change.path[0], Effect.NO_INTERRUPTION, why)
