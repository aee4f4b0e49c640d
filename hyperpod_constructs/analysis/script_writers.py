"""Pods that can replace what runs as root on the nodes of a cluster: their role writes where the lifecycle scripts lie.

Where one bucket is for all, its prefixes are often left open; who has another one for data writes there alone.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm-slurm-base-config.html
"""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_constructs._support.grouping import grouped
from hyperpod_constructs.analysis.answered_values import answered
from hyperpod_constructs.analysis.arns import s3_uri_arns
from hyperpod_constructs.analysis.clusters import Cluster, clusters
from hyperpod_constructs.analysis.iam import RoleFacts, role_facts
from hyperpod_constructs.analysis.policy_document import Call
from hyperpod_constructs.analysis.powers import Power, administers
from hyperpod_constructs.analysis.refusals import refusal
from hyperpod_constructs.analysis.trust import assumptions
from hyperpod_constructs.facts.kubernetes import PODS_PRINCIPAL
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Model, Resource, target_of
from hyperpod_constructs.templates.values import UNKNOWN, Reference, Value, as_str, joined, parts_of

_WRITE, _BUCKET, _POD = "s3:PutObject", "AWS::S3::Bucket", "AWS::EKS::PodIdentityAssociation"


def script_writers(model: Model) -> Iterator[Power]:
    """The statements by which pods surely may replace the scripts of nodes; one for each statement."""
    given = (one for one in assumptions(model) if one.user.type == _POD and one.asked.service == PODS_PRINCIPAL)
    places = list(dict.fromkeys(_places(model)))
    for role, found in grouped((one.role, one.user) for one in given).items() if places else ():
        yield from _of_role(role_facts(role), tuple(dict.fromkeys(found)), places)


def _of_role(facts: RoleFacts, users: tuple[Resource, ...], places: list[tuple[Resource, Value]]) -> Iterator[Power]:
    calls = [(cluster, Call(_WRITE, arn)) for cluster, arn in places if facts.may(_WRITE, arn) and _has_another(facts, arn)]
    open_ = [(cluster, call) for cluster, call in calls if refusal(facts, call) is None]
    for policy in facts.policies:
        for index, statement in enumerate(policy.statements):
            found = [cluster for cluster, call in open_ if statement.effect == "Allow" and statement.applies(call)]
            if found and not administers(facts, statement):
                words = f"replace the scripts that run as root on the nodes of {found[0].logical_id}: the statement allows it"
                yield Power(policy.resource, (*policy.path, "Statement", index), facts.role, users, words)


def _has_another(facts: RoleFacts, scripts: Value) -> bool:
    """Whether a role may write to another bucket of the templates than that of the scripts."""
    buckets = facts.role.template.model.resources(_BUCKET)
    others = [one for one in buckets if one not in references(scripts) and as_str(one.get("BucketName")) not in _names(scripts)]
    return any(facts.may(_WRITE, _objects(one)) for one in others)


def _names(arn: Value) -> tuple[str, ...]:
    """The name of the bucket of objects, if it is known."""
    first = parts_of(arn)[0]
    return (first.rpartition(":")[2].partition("/")[0],) if isinstance(first, str) else ()


def _objects(bucket: Resource) -> Value:
    return joined(["arn:aws:s3:::", Reference(bucket), "/", UNKNOWN])


def _places(model: Model) -> Iterator[tuple[Resource, Value]]:
    """Where the scripts of clusters lie, as the ARNs of objects."""
    for cluster in clusters(model):
        for uri in (group.get("LifeCycleConfig", "SourceS3Uri") for group in cluster.groups):
            arns = s3_uri_arns(answered(uri))
            yield from ((cluster.resource, arns[1]),) if arns is not None else _somewhere(cluster, uri)


def _somewhere(cluster: Cluster, uri: Value) -> Iterator[tuple[Resource, Value]]:
    """The only bucket that a custom resource names which gives the place: the scripts lie anywhere in it."""
    custom = target_of(uri) if isinstance(uri, Reference) else None
    buckets = [] if custom is None else [one for one in dict.fromkeys(references(custom.get())) if one.type == _BUCKET]
    if len(buckets) == 1:
        yield cluster.resource, _objects(buckets[0])
