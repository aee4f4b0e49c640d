"""Objects of Kubernetes: their versions, names, labels and fields, and fields that go together.

>>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": {"containers": []}}}}
>>> list(object_mistakes(job, lambda value: False))
["spec.template.spec.restartPolicy is 'Always'; allowed for Job: Never, OnFailure"]

Sources: https://kubernetes.io/docs/reference/kubernetes-api/, https://kubernetes.io/docs/concepts/workloads/ and the pages below
them (as of 2026-11-28)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperpod_constructs.facts.kubernetes_kinds import field_mistakes, pod_mistakes, versions_of
from hyperpod_constructs.facts.pod_settings import setting_mistakes
from hyperpod_constructs.facts.shapes import Unknown

_OF_PODS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet"), ("spec", "template")),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "Pod": (),
}
"""The place of the pods in an object."""
_SELECTING = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
_ENDING = ("CronJob", "Job")
_AWS_DRIVERS = ("ebs.csi.aws.com", "efs.csi.aws.com", "fsx.csi.aws.com", "s3.csi.aws.com")
"""The drivers of volumes that AWS offers as add-ons.

Source: https://docs.aws.amazon.com/eks/latest/userguide/storage.html (as of 2026-11-28)
"""
_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {"fsx.csi.aws.com": ("dnsname", "mountname"), "s3.csi.aws.com": ("bucketName",)}
"""What the volumes of a driver need in `volumeAttributes`.

Sources: https://github.com/kubernetes-sigs/aws-fsx-csi-driver and https://github.com/awslabs/mountpoint-s3-csi-driver
(as of 2026-11-28)
"""
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_HIGHEST_PRIORITY = 1_000_000_000
_Object = Mapping[str, Any]


def pods_in(found: _Object) -> tuple[tuple[str, ...], _Object] | None:
    """The template of the pods of an object with its place, or the object itself for a pod."""
    place = _OF_PODS.get(str(found.get("kind")))
    inner = None if place is None else _at(found, *place)
    return (place, inner) if place is not None and isinstance(inner, Mapping) else None


def containers_in(pods: _Object) -> Iterator[tuple[tuple[str, ...], _Object]]:
    """The containers of pods with their places."""
    for key in ("initContainers", "containers"):
        for index, one in enumerate(_list(_at(pods, "spec", key))):
            if isinstance(one, Mapping):
                yield ("spec", key, str(index)), one


def object_mistakes(found: _Object, unknown: Unknown) -> Iterator[str]:
    """What Kubernetes refuses about an object, in words.

    :param unknown: whether a value is known only at the deployment.
    """
    kind, version = found.get("kind"), found.get("apiVersion")
    own = versions_of(kind) if isinstance(kind, str) else ()
    of_others = isinstance(version, str) and "." in version and not version.partition("/")[0].endswith(".k8s.io")
    if own and version not in own and not unknown(version) and not of_others:
        yield f"apiVersion is {version!r}; {kind} is of {' and '.join(own)}"
    yield from _names(_mapping(found.get("metadata")), kind in _COLON_NAMED, unknown)
    if version in own:
        yield from field_mistakes(str(version), str(kind), found, unknown)
        yield from _together(found, unknown)
    elif str(version).partition("/")[0] in _WITH_PODS:
        for place, pods in pods_anywhere(found):
            yield from pod_mistakes(pods, unknown, place)
    yield from setting_mistakes(found, unknown)


_WITH_PODS = ("kubeflow.org", "sagemaker.amazonaws.com")
"""API groups of jobs whose pods have Kubernetes' own form.

Sources: https://www.kubeflow.org/docs/components/trainer/legacy-v1/reference/ and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-usage.html (as of 2026-11-28)
"""


def pods_anywhere(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], _Object]]:
    """The specifications of pods in an object of any kind, which have containers, with their places."""
    if isinstance(found, Mapping) and isinstance(found.get("containers"), list):
        yield path, found
    elif isinstance(found, Mapping | list):
        parts = found.items() if isinstance(found, Mapping) else enumerate(found)
        yield from (one for key, part in parts for one in pods_anywhere(part, (*path, str(key))))


_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_COLON_NAMED = ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
"""Kinds whose names may have colons and capital letters."""
_KEY = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def _names(metadata: _Object, is_free: bool, unknown: Unknown) -> Iterator[str]:
    """Names and labels of another form."""
    for key in ("name", "namespace"):
        text = metadata.get(key)
        if isinstance(text, str) and not unknown(text) and not (is_free and key == "name") and not _NAME.fullmatch(text):
            yield f"metadata.{key} is {text!r}; allowed: small letters, digits, '-' and '.'"
    for key, text in _mapping(metadata.get("labels")).items():
        if not unknown(text) and not (isinstance(text, str) and _KEY.fullmatch(str(key)) and _VALUE.fullmatch(text)):
            yield f"metadata.labels has {key}: {text!r}; allowed: texts of 63 letters, digits, '-', '_' and '.'"


def _together(found: _Object, unknown: Unknown) -> Iterator[str]:
    """What does not go together in an object."""
    pods = pods_in(found)
    if pods is not None:
        yield from _of_pods(str(found.get("kind")), *pods, unknown)
    judge = _JUDGES.get(str(found.get("kind")))
    if judge is not None:
        yield from judge(found, unknown)


def _of_pods(kind: str, place: tuple[str, ...], pods: _Object, unknown: Unknown) -> Iterator[str]:
    policy = _at(pods, "spec", "restartPolicy") or "Always"
    at = ".".join((*place, "spec"))
    if not unknown(policy) and kind in (*_SELECTING, *_ENDING) and (policy == "Always") is (kind in _ENDING):
        allowed = "Never, OnFailure" if kind in _ENDING else "Always"
        if policy in ("Always", "Never", "OnFailure"):
            yield f"{at}.restartPolicy is {policy!r}; allowed for {kind}: {allowed}"
    names = [_text(_at(one, "name"), unknown) for _, one in containers_in(pods)]
    yield from (f"{at} has two containers with the name {name!r}" for name in _twice(names))
    for inner, container in containers_in(pods):
        yield from _of_container(".".join((*place, *inner)), container, unknown)
    yield from _of_mounts(kind, place, pods, unknown)


def _of_container(at: str, container: _Object, unknown: Unknown) -> Iterator[str]:
    asked, limits = (_mapping(_at(container, "resources", key)) for key in ("requests", "limits"))
    for name in (one for one in dict.fromkeys((*limits, *asked)) if "/" in str(one)):
        first, most = asked.get(name), limits.get(name)
        if unknown(first) or unknown(most):
            continue
        if most is None:
            yield f"{at}.resources.limits has no {name}, and requests have; devices need a limit"
        elif not str(most).isdecimal():
            yield f"{at}.resources.limits.{name} is {most!r}; allowed: a whole number, as devices are not divided"
        elif first is not None and str(first) != str(most):
            yield f"{at}.resources.requests.{name} is {first!r}; allowed: {most!r}, its limit"
    ports = [_text(_at(one, "name"), unknown) for one in _list(container.get("ports"))]
    yield from (f"{at}.ports has the name {name!r} twice" for name in _twice(ports))
    yield from (f"{at}.ports has the name {name!r}; allowed: 15 characters" for name in ports if name and len(name) > 15)


def _of_mounts(kind: str, place: tuple[str, ...], pods: _Object, unknown: Unknown) -> Iterator[str]:
    """Mounts of volumes that the pods do not have; the sets of pods with state bring some themselves."""
    volumes = [_text(_at(one, "name"), unknown) for one in _list(_at(pods, "spec", "volumes"))]
    if kind == "StatefulSet" or None in volumes:
        return
    yield from (f"{'.'.join((*place, 'spec'))} has two volumes with the name {name!r}" for name in _twice(volumes))
    for inner, container in containers_in(pods):
        for index, mount in enumerate(_list(container.get("volumeMounts"))):
            name = _text(_at(mount, "name"), unknown)
            if name is not None and name not in volumes:
                yield f"{'.'.join((*place, *inner, 'volumeMounts', str(index)))} names the volume {name!r}, which the pods lack"


def _selector(found: _Object, unknown: Unknown) -> Iterator[str]:
    wanted = _mapping(_at(found, "spec", "selector", "matchLabels"))
    labels = _at(found, "spec", "template", "metadata", "labels")
    labels = {} if labels is None else labels
    if isinstance(labels, Mapping) and not any(map(unknown, (*wanted.values(), *labels.values()))):
        lost = next((key for key, value in wanted.items() if labels.get(key) != value), None)
        if lost is not None:
            yield f"spec.selector.matchLabels has {lost}: {wanted[lost]}, and the labels of its pods have not"


def _service(found: _Object, unknown: Unknown) -> Iterator[str]:
    ports = _list(_at(found, "spec", "ports"))
    names = [_at(one, "name") for one in ports]
    if len(ports) > 1 and None in names:
        yield f"spec.ports.{names.index(None)}.name is missing; a service with several ports names each"
    yield from (f"spec.ports has the name {name!r} twice" for name in _twice([_text(name, unknown) for name in names]))
    numbers = [f"{_at(one, 'port')}/{_at(one, 'protocol') or 'TCP'}" for one in ports if not unknown(_at(one, "port"))]
    yield from (f"spec.ports has {number} twice" for number in _twice([*numbers]))
    is_plain = _at(found, "spec", "type") in (None, "ClusterIP", "LoadBalancer", "NodePort")
    if not ports and is_plain and _at(found, "spec", "clusterIP") != "None":
        yield "spec.ports is missing"


def _volume(found: _Object, unknown: Unknown) -> Iterator[str]:
    driver = _text(_at(found, "spec", "csi", "driver"), unknown)
    yield from _driver("spec.csi.driver", driver)
    attributes = _mapping(_at(found, "spec", "csi", "volumeAttributes"))
    for key in _ATTRIBUTES.get(driver or "", ()):
        if key not in attributes:
            yield f"spec.csi.volumeAttributes.{key} is missing; the driver {driver} needs it"
    modes = _list(_at(found, "spec", "accessModes"))
    if driver == "ebs.csi.aws.com" and "ReadWriteMany" in modes and _at(found, "spec", "volumeMode") != "Block":
        yield "spec.accessModes has 'ReadWriteMany', and a volume of EBS is of one node"


_PARAMETERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ebs.csi.aws.com": {"type": ("gp2", "gp3", "io1", "io2", "sbp1", "sbg1", "sc1", "st1", "standard")},
    "efs.csi.aws.com": {"provisioningMode": ("efs-ap",)},
    "fsx.csi.aws.com": {"deploymentType": ("PERSISTENT_1", "PERSISTENT_2", "SCRATCH_1", "SCRATCH_2")},
}
"""The words that parameters of classes take, by driver.

Sources: https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/docs/parameters.md,
https://github.com/kubernetes-sigs/aws-efs-csi-driver and https://github.com/kubernetes-sigs/aws-fsx-csi-driver (as of 2026-11-28)
"""


def _storage_class(found: _Object, unknown: Unknown) -> Iterator[str]:
    driver = _text(found.get("provisioner"), unknown)
    yield from _driver("provisioner", driver)
    for key, allowed in _PARAMETERS.get(driver or "", {}).items():
        value = _text(_at(found, "parameters", key), unknown)
        if value is not None and value not in allowed:
            yield f"parameters.{key} is {value!r}; allowed: {', '.join(allowed)}"


def _secret(found: _Object, unknown: Unknown) -> Iterator[str]:
    for key, value in _mapping(found.get("data")).items():
        text = _text(value, unknown)
        if text is not None and not _BASE64.fullmatch("".join(text.split())):
            yield f"data.{key} is not in base64; stringData takes plain texts"


def _driver(at: str, name: str | None) -> Iterator[str]:
    """A name that is nearly that of a driver of AWS."""
    if name is None or name in _AWS_DRIVERS or not {"csi", "aws", "amazonaws"} & set(name.split(".")):
        return
    from difflib import get_close_matches  # only a strange name needs it

    near = get_close_matches(name, _AWS_DRIVERS, n=1, cutoff=0.75)
    if near:
        yield f"{at} is {name!r}; the nearest driver is {near[0]!r}"


def _cron(found: _Object, unknown: Unknown) -> Iterator[str]:
    schedule = _text(_at(found, "spec", "schedule"), unknown)
    if schedule is None or schedule.startswith("@"):
        return
    fields = schedule.split()
    if len(fields) != 5 or not all(map(_is_within, fields, _RANGES)):
        yield f"spec.schedule is {schedule!r}; allowed: minute, hour, day, month and day of the week, such as '0 3 * * 1'"


_RANGES = (range(60), range(24), range(1, 32), range(1, 13), range(8))


def _is_within(field: str, allowed: range) -> bool:
    """Whether the numbers of a field of a schedule are in a range; a step is any number, and names of days and months count."""
    ends = [end for part in field.split(",") for end in part.partition("/")[0].split("-")]
    return all(end in ("*", "?") or end.isalpha() or (end.isdecimal() and len(end) < 4 and int(end) in allowed) for end in ends)


def _binding(found: _Object, unknown: Unknown) -> Iterator[str]:
    for index, one in enumerate(_list(found.get("subjects"))):
        if _at(one, "kind") == "ServiceAccount" and not _at(one, "namespace"):
            yield f"subjects.{index}.namespace is missing; a service account has one"
        group = _text(_at(one, "apiGroup"), unknown)
        if _at(one, "kind") in ("Group", "User") and group not in (None, "rbac.authorization.k8s.io"):
            yield f"subjects.{index}.apiGroup is {group!r}; allowed: rbac.authorization.k8s.io"


_CORE = (
    *("configmaps", "endpoints", "events", "limitranges", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes"),
    *("pods", "replicationcontrollers", "resourcequotas", "secrets", "serviceaccounts", "services"),
)
_GROUPS: Mapping[str, str] = {
    **dict.fromkeys(_CORE, ""),
    **dict.fromkeys(("daemonsets", "deployments", "replicasets", "statefulsets"), "apps"),
    **dict.fromkeys(("cronjobs", "jobs"), "batch"),
    "horizontalpodautoscalers": "autoscaling",
    "poddisruptionbudgets": "policy",
    "storageclasses": "storage.k8s.io",
    **dict.fromkeys(("clusterrolebindings", "clusterroles", "rolebindings", "roles"), "rbac.authorization.k8s.io"),
}
"""The API groups of Kubernetes' own resources."""
_OWN_GROUPS = frozenset(_GROUPS.values()) | {"extensions", "networking.k8s.io"}


def _role(found: _Object, unknown: Unknown) -> Iterator[str]:
    for index, rule in enumerate(_list(found.get("rules"))):
        groups, names = ([str(one) for one in _list(_at(rule, key))] for key in ("apiGroups", "resources"))
        if not groups or not set(groups) <= _OWN_GROUPS:
            continue
        for name in names:
            own = _GROUPS.get(name.partition("/")[0])
            if own is not None and own not in groups:
                others = ", ".join(map(repr, groups))
                yield f"rules.{index}.resources has {name!r}, which is in the group {own!r}; apiGroups has {others}"


def _priority(found: _Object, unknown: Unknown) -> Iterator[str]:
    value = found.get("value")
    if isinstance(value, int) and value > _HIGHEST_PRIORITY:
        yield f"value is {value}; allowed: {_HIGHEST_PRIORITY} at most"


def _budget(found: _Object, unknown: Unknown) -> Iterator[str]:
    if {"maxUnavailable", "minAvailable"} <= set(_mapping(found.get("spec"))):
        yield "spec has minAvailable and maxUnavailable; allowed: one of both"


_JUDGES: Mapping[str, Callable[[_Object, Unknown], Iterator[str]]] = {
    **dict.fromkeys(_SELECTING, _selector),
    **dict.fromkeys(("ClusterRoleBinding", "RoleBinding"), _binding),
    **dict.fromkeys(("ClusterRole", "Role"), _role),
    "CronJob": _cron,
    "PersistentVolume": _volume,
    "PodDisruptionBudget": _budget,
    "PriorityClass": _priority,
    "Secret": _secret,
    "Service": _service,
    "StorageClass": _storage_class,
}


def _at(found: object, *path: str) -> Any:
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _mapping(found: object) -> _Object:
    return found if isinstance(found, Mapping) else {}


def _list(found: object) -> list[Any]:
    return list(found) if isinstance(found, list | tuple) else []


def _text(found: object, unknown: Unknown) -> str | None:
    return found if isinstance(found, str) and not unknown(found) else None


def _twice(names: list[str | None]) -> list[str]:
    return [name for name, count in Counter(names).items() if name is not None and count > 1]
