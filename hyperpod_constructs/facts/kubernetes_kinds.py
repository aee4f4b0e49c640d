"""Kubernetes' own kinds: their fields, the forms and words that these take, and fields that go together.

`kubernetes_kinds.tsv` has the fields; `tools/generate_kubernetes_facts.py` writes it. A field that one version of Kubernetes knows
is a field here.

Source: https://kubernetes.io/docs/reference/kubernetes-api/ (as of 2026-11-28)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.pod_settings import QUANTITY
from hyperpod_constructs.facts.shapes import Unknown, shape_mistakes

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")
WORDS: Mapping[str, tuple[str, ...]] = {
    "Container.terminationMessagePolicy": ("File", "FallbackToLogsOnError"),
    "ContainerPort.protocol": _PROTOCOLS,
    "EmptyDirVolumeSource.medium": ("HugePages", "HugePages-1Gi", "HugePages-2Mi", "Memory"),
    "HTTPGetAction.scheme": ("HTTP", "HTTPS"),
    "LabelSelectorRequirement.operator": _OPERATORS,
    "LimitRangeItem.type": ("Container", "PersistentVolumeClaim", "Pod"),
    "NodeSelectorRequirement.operator": (*_OPERATORS, "Gt", "Lt"),
    "PersistentVolumeClaimSpec.volumeMode": ("Block", "Filesystem"),
    "PersistentVolumeSpec.volumeMode": ("Block", "Filesystem"),
    "PodOS.name": ("linux", "windows"),
    "PodSpec.dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    "PodSpec.preemptionPolicy": ("Never", "PreemptLowerPriority"),
    "PodSpec.restartPolicy": ("Always", "Never", "OnFailure"),
    "SeccompProfile.type": ("Localhost", "RuntimeDefault", "Unconfined"),
    "ServicePort.protocol": _PROTOCOLS,
    "ServiceSpec.externalTrafficPolicy": ("Cluster", "Local"),
    "ServiceSpec.internalTrafficPolicy": ("Cluster", "Local"),
    "ServiceSpec.sessionAffinity": ("ClientIP", "None"),
    "ServiceSpec.type": ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"),
    "TopologySpreadConstraint.whenUnsatisfiable": ("DoNotSchedule", "ScheduleAnyway"),
    "apps.v1.DaemonSetUpdateStrategy.type": ("OnDelete", "RollingUpdate"),
    "apps.v1.DeploymentStrategy.type": ("Recreate", "RollingUpdate"),
    "apps.v1.StatefulSetSpec.podManagementPolicy": ("OrderedReady", "Parallel"),
    "apps.v1.StatefulSetUpdateStrategy.type": ("OnDelete", "RollingUpdate"),
    "autoscaling.v2.MetricSpec.type": _METRICS,
    "autoscaling.v2.MetricTarget.type": ("AverageValue", "Utilization", "Value"),
    "batch.v1.CronJobSpec.concurrencyPolicy": ("Allow", "Forbid", "Replace"),
    "batch.v1.JobSpec.completionMode": ("Indexed", "NonIndexed"),
    "networking.v1.HTTPIngressPath.pathType": ("Exact", "ImplementationSpecific", "Prefix"),
    "networking.v1.NetworkPolicyPort.protocol": _PROTOCOLS,
    "networking.v1.NetworkPolicySpec.policyTypes": ("Egress", "Ingress"),
    "rbac.v1.RoleRef.kind": ("ClusterRole", "Role"),
    "rbac.v1.Subject.kind": ("Group", "ServiceAccount", "User"),
    "scheduling.v1.PriorityClass.preemptionPolicy": ("Never", "PreemptLowerPriority"),
    "storage.v1.StorageClass.reclaimPolicy": ("Delete", "Retain"),
}
"""The words that fields take, by definition and field."""

_PLAIN: Mapping[str, Mapping[str, Any]] = {
    "s": {"type": ["string", "null"], "words": "a text; numbers and true need quotes"},
    "i": {"type": ["integer", "null"], "words": "a whole number, without quotes"},
    "n": {"type": ["number", "null"], "words": "a number, without quotes"},
    "b": {"type": ["boolean", "null"], "words": "true or false, without quotes"},
    "q": {"type": ["string", "number", "null"], "pattern": f"None|{QUANTITY}", "words": "an amount such as 500m or 256Mi"},
    "x": {"type": ["string", "integer", "null"], "words": "a whole number, or a text"},
    "o": {"type": ["object", "null"], "words": "an object"},
}
_PORTS = ("containerPort", "hostPort", "nodePort", "port", "targetPort")
_PORT: Mapping[str, Any] = {"minimum": 1, "maximum": 65535}
_COUNTS = ("activeDeadlineSeconds", "backoffLimit", "completions", "minReadySeconds", "parallelism", "replicas")
_NUMBERS: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys(_PORTS, _PORT),
    **{key: {"minimum": 0} for key in (*_COUNTS, "terminationGracePeriodSeconds", "ttlSecondsAfterFinished")},
    "weight": {"minimum": 1, "maximum": 100},
}
"""The limits of numbers, by field."""


def versions_of(kind: str) -> tuple[str, ...]:
    """The API versions of a kind; none for a kind that the table does not have."""
    return tuple(version for version, name in _kinds() if name == kind)


def kinds_of(version: str) -> tuple[str, ...]:
    """The kinds of an API version that the table has."""
    return tuple(name for one, name in _kinds() if one == version)


def field_mistakes(version: str, kind: str, found: Mapping[str, Any], unknown: Unknown) -> Iterator[str]:
    """The fields of an object that its kind does not have or lacks, and values of another form, in words.

    :param unknown: whether a value is known only at the deployment.
    """
    definition = _kinds().get((version, kind))
    if definition is not None:
        yield from shape_mistakes(_schema(definition), found, unknown)


def pod_mistakes(found: Mapping[str, Any], unknown: Unknown, path: tuple[str, ...]) -> Iterator[str]:
    """The same for the specification of pods, as kinds of others have it too."""
    yield from shape_mistakes(_schema("PodSpec"), found, unknown, path)


@cache
def _kinds() -> Mapping[tuple[str, str], str]:
    named = ((*name.split(" "), inner) for name, inner in _table().items() if " " in name)
    return {(version, kind): definition for version, kind, definition in named}


@cache
def _table() -> Mapping[str, str]:
    return {row[0]: row[1] for row in rows("kubernetes_kinds.tsv")}


@cache
def _schema(definition: str) -> Mapping[str, Any]:
    """The schema of a definition; each one inside is made when it is first met."""
    fields = dict(one.split(":") for one in _table()[definition].split())
    return {
        "type": ["object", "null"],
        "words": "an object",
        "properties": {name: _of(form.removesuffix("!"), f"{definition}.{name}") for name, form in fields.items()},
        "required": [name for name, form in fields.items() if form.endswith("!")],
    }


def _of(form: str, place: str) -> Mapping[str, Any]:
    if form.startswith("["):
        return {"type": ["array", "null"], "items": _of(form[1:-1], place), "words": "a list"}
    if form.startswith("{"):
        return {"type": ["object", "null"], "values": _of(form[1:-1], place), "words": "names with values"}
    plain = _PLAIN.get(form)
    if plain is None:
        return _schema(form)
    words = {"enum": [None, "", *WORDS[place]]} if place in WORDS else {}
    return {**plain, **words, **_NUMBERS.get(place.rpartition(".")[2], {})}
