"""The row of a property: ours where we know more than the resource schema, else what the schema says."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache

from hyperpod_constructs.rules.effects import cluster, file_systems, network, others
from hyperpod_constructs.rules.effects.effect import Change, Effect, Row
from hyperpod_constructs.rules.effects.schema import type_facts
from hyperpod_constructs.rules.template.values import Either, Unknown, Value, alternatives_of, at, is_known, shown

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
    if is_branch(change.type, change.path) and not (_is_spelled_out(change.old) and _is_spelled_out(change.new)):
        fixed = _fixed_inside(change)
        if fixed:
            why = f"what is in it cannot be known here, and some of that is fixed at creation: {', '.join(fixed)}"
            return _schema_row("/".join(change.path), Effect.REPLACE, why)
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


def _is_spelled_out(value: Value) -> bool:
    return not isinstance(value, Either | Unknown)


def _fixed_inside(change: Change) -> list[str]:
    """The properties inside a property that can be others than before, and whose change replaces the resource."""
    facts = type_facts(change.type)
    rows = [row.path for row in _ours(change.type) if row.effect is Effect.REPLACE and not row.part]
    paths = dict.fromkeys((*rows, *(() if facts is None else sorted(facts.create_only))))
    depth = len(change.path)
    inside = [parts[depth:] for parts in (path.split("/") for path in paths) if _covers("/".join(parts[:depth]), change.path)]
    return ["/".join(parts) for parts in inside if parts and _can_differ(change, parts)]


def _can_differ(change: Change, path: list[str]) -> bool:
    """Whether what is at a path differs between any value that there can have been and any that there can be."""
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
