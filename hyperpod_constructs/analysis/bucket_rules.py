"""Data that rules and policies delete: buckets that file systems read, the objects of their rules, and what is kept otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.answered_values import answered
from hyperpod_constructs.analysis.arns import s3_uri_arns, s3_uri_prefix
from hyperpod_constructs.analysis.ends import ends
from hyperpod_constructs.analysis.links import links
from hyperpod_constructs.analysis.node_places import BUCKET, bucket_at
from hyperpod_constructs.facts.data_holders import (
    DATA_WORDS,
    DELETED_BY_DEFAULT,
    HELD_BY_DATA,
    KEEPING_POLICIES,
    READ_AT_ANY_TIME,
)
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_items, as_str, at, parts_of

_LIMITS = ("ObjectSizeGreaterThan", "ObjectSizeLessThan", "TagFilters")
"""The properties of a rule without which it is for all objects of its prefix."""


@dataclass(frozen=True, slots=True)
class DataBucket:
    """A bucket with data that nobody deletes by age.

    :param why: what tells so, in words.
    :param read: the prefixes that a file system imports, or from which somebody else reads, where they are known.
    """

    resource: Resource
    why: str
    read: Sequence[str]


class Read(NamedTuple):
    """Objects of a bucket that something reads at any time.

    :param reader: it, in words.
    :param prefix: of their keys.
    :param always: whether they surely are larger than what the rules of a bucket leave where it is by default.
    """

    bucket: Resource
    reader: str
    prefix: str
    always: bool

    def is_under(self, rule: Value) -> bool:
        """Whether a rule is for all of them."""
        prefix = prefix_of(rule)
        return prefix is not None and self.prefix.startswith(prefix)


def linked(model: Model) -> dict[Resource, list[str]]:
    """The buckets that a file system is linked to, with the known prefixes that it imports."""
    found: dict[Resource, list[str]] = {}
    for link in links(model):
        found.setdefault(link.bucket, []).extend([link.prefix] if link.imports and link.prefix is not None else ())
    return found


def read_objects(model: Model) -> Iterator[tuple[Resource, list[Read]]]:
    """The buckets with objects that file systems, nodes or models read at any time."""
    return iter(grouped((one.bucket, one) for one in _read(model)).items())


def _read(model: Model) -> Iterator[Read]:
    yield from (Read(bucket, "a file system imports", one, always=True) for bucket, found in linked(model).items() for one in found)
    for type_, (words, ways, always) in READ_AT_ANY_TIME.items():
        for resource in model.resources(type_):
            for uri in (answered(one.value) for way in ways for one in ends(resource, way)):
                arns = s3_uri_arns(uri)
                bucket = None if arns is None else bucket_at(model, arns[0]) or resource_of(parts_of(arns[0])[-1], BUCKET)
                if bucket is not None:
                    yield Read(bucket, words, s3_uri_prefix(uri) or "", always)


def data_buckets(model: Model) -> Iterator[DataBucket]:
    """Buckets that a file system is linked to, or from which nodes or models read, and kept ones with a name of data."""
    found = linked(model)
    for bucket, imported in found.items():
        yield DataBucket(bucket, "a file system is linked to it", imported)
    read = {bucket: reads for bucket, reads in read_objects(model) if bucket not in found}
    for bucket, reads in read.items():
        yield DataBucket(bucket, f"{reads[0].reader} from it", [one.prefix for one in reads])
    for bucket in model.resources(BUCKET):
        kept = as_str(bucket.deletion_policy) in KEEPING_POLICIES
        if kept and bucket not in (*found, *read) and DATA_WORDS.search(bucket.logical_id) and not _by_condition(bucket):
            yield DataBucket(bucket, "its stack keeps it", ())


def _by_condition(bucket: Resource) -> bool:
    """Whether a condition decides on a rule with an age: somebody means it for some deployments."""
    rules = raw_at(bucket, ("LifecycleConfiguration", "Rules"))
    chosen = [one for one in rules if isinstance(one, dict) and "Fn::If" in one] if isinstance(rules, list) else []
    return any('"Expiration' in json.dumps(one) for one in chosen)


def deletable(model: Model) -> Iterator[Resource]:
    """What would not go with its stack by itself, and is told to."""
    there = linked(model)
    for resource in model.resources(*dict.fromkeys((*HELD_BY_DATA, *DELETED_BY_DEFAULT))):
        kept = as_str(resource.update_replace_policy) in (*KEEPING_POLICIES, "Snapshot")
        told = resource.type in HELD_BY_DATA and as_str(resource.deletion_policy) == "Delete"
        silent = resource.type in DELETED_BY_DEFAULT and resource.deletion_policy is ABSENT and kept
        if silent or (told and (kept or resource in there)):
            yield resource


def contradiction(resource: Resource) -> str:
    """What should stay, and goes with its stack, in words."""
    reason = "a file system is linked to it" if resource in linked(resource.template.model) else "its UpdateReplacePolicy keeps it"
    by_default = " by default" if resource.deletion_policy is ABSENT else ""
    return f"{reason}, and its DeletionPolicy is Delete{by_default}"


def rules_of(bucket: Resource) -> Iterator[tuple[int, Value]]:
    """The rules of a bucket's lifecycle, each with its index."""
    return enumerate(as_items(bucket.get("LifecycleConfiguration", "Rules")) or ())


def prefix_of(rule: Value) -> str | None:
    """The prefix whose objects an enabled rule is for; `None` if the rule is off, not for all of them, or not known."""
    limited = any(at(rule, key) is not ABSENT for key in _LIMITS)
    prefix = at(rule, "Prefix")
    return None if limited or as_str(at(rule, "Status")) != "Enabled" else "" if prefix is ABSENT else as_str(prefix)
