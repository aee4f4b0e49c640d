"""Objects of Kubernetes: their versions, names, labels and fields, and fields that go together.

>>> job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"spec": {"containers": []}}}}
>>> list(object_mistakes(job, lambda value: False))
["spec.template.spec.restartPolicy is 'Always'; allowed for Job: Never, OnFailure"]

Sources: https://kubernetes.io/docs/reference/kubernetes-api/, https://kubernetes.io/docs/concepts/workloads/ and the pages below
them (as of 2026-11-28)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperpod_constructs.facts.kubernetes_kinds import field_mistakes, kinds_of, pod_mistakes, versions_of
from hyperpod_constructs.facts.kubernetes_pods import SELECTING, pod_faults, pods_in
from hyperpod_constructs.facts.pod_settings import setting_mistakes
from hyperpod_constructs.facts.raw_parts import items, mapping, part, text, twice
from hyperpod_constructs.facts.shapes import Unknown

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
_BLOCK = re.compile(r"[0-9a-fA-F.:]+/\d{1,3}")
_HIGHEST_PRIORITY = 1_000_000_000
_Object = Mapping[str, Any]


def object_mistakes(found: _Object, unknown: Unknown) -> Iterator[str]:
    """What Kubernetes refuses about an object, in words.

    :param unknown: whether a value is known only at the deployment.
    """
    kind, version = found.get("kind"), found.get("apiVersion")
    own = versions_of(kind) if isinstance(kind, str) else ()
    of_others = isinstance(version, str) and "." in version and not version.partition("/")[0].endswith(".k8s.io")
    if own and version not in own and not unknown(version) and not of_others:
        yield f"apiVersion is {version!r}; {kind} is of {' and '.join(own)}"
    if isinstance(kind, str) and not own and (near := _near_kind(kind, version)) is not None:
        yield f"kind is {kind!r}; the nearest is {near}"
    metadata = mapping(found.get("metadata"))
    if own and not {"name", "generateName"} & set(metadata) and not unknown(found.get("metadata")):
        yield "metadata.name is missing"
    yield from _names(metadata, kind in _COLON_NAMED, unknown)
    if version in own:
        yield from field_mistakes(str(version), str(kind), found, unknown)
        yield from _together(found, unknown)
    elif str(version).partition("/")[0] in _WITH_PODS:
        for place, pods in pods_anywhere(found):
            yield from pod_mistakes(pods, unknown, place)
    yield from setting_mistakes(found, unknown)


def _near_kind(kind: str, version: object) -> str | None:
    """The kind of an API version that was probably meant; `None` for a kind that is like none."""
    from difflib import get_close_matches  # only an unknown kind needs it

    known = {one.casefold(): one for one in kinds_of(str(version))}
    near = [] if kind.endswith("List") else get_close_matches(kind.casefold(), known, n=1, cutoff=0.88)
    return known[near[0]] if near else None


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
    """Names and labels of another form, and words that known labels and annotations do not take."""
    for key in ("name", "namespace"):
        name = text(metadata.get(key), unknown)
        if name is not None and not (is_free and key == "name") and not _NAME.fullmatch(name):
            yield f"metadata.{key} is {name!r}; allowed: small letters, digits, '-' and '.'"
    for key, value in mapping(metadata.get("labels")).items():
        if not unknown(value) and not (isinstance(value, str) and _KEY.fullmatch(str(key)) and _VALUE.fullmatch(value)):
            yield f"metadata.labels has {key}: {value!r}; allowed: texts of 63 letters, digits, '-', '_' and '.'"
    for place in ("labels", "annotations"):
        for key, value in mapping(metadata.get(place)).items():
            known = text(value, unknown)
            form = WORDS_OF_KEYS.get(str(key))
            if known is not None and form is not None and not re.fullmatch(form, known):
                yield f"metadata.{place}.{key} is {known!r}; allowed: {form.replace('|', ', ')}"


OF_ROLE = "eks.amazonaws.com/role-arn"
"""The annotation of a service account with the role of its pods."""
_PROFILES = "privileged|baseline|restricted"
_OF_BALANCERS = "service.beta.kubernetes.io/aws-load-balancer-"
WORDS_OF_KEYS: Mapping[str, str] = {
    **{f"pod-security.kubernetes.io/{mode}": _PROFILES for mode in ("audit", "enforce", "warn")},
    f"{_OF_BALANCERS}scheme": "internal|internet-facing",
    f"{_OF_BALANCERS}nlb-target-type": "instance|ip",
    "alb.ingress.kubernetes.io/scheme": "internal|internet-facing",
    "alb.ingress.kubernetes.io/target-type": "instance|ip",
    OF_ROLE: "arn:[a-z-]+:iam::[0-9]{12}:role/.+",
}
"""The words of labels and annotations that programs in the cluster read.

Sources: https://kubernetes.io/docs/concepts/security/pod-security-admission/,
https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/guide/service/annotations/ and
https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html (as of 2026-11-28)
"""


def _together(found: _Object, unknown: Unknown) -> Iterator[str]:
    """What does not go together in an object."""
    pods = pods_in(found)
    if pods is not None:
        yield from pod_faults(str(found.get("kind")), *pods, unknown)
    judge = _JUDGES.get(str(found.get("kind")))
    if judge is not None:
        yield from judge(found, unknown)


def _selector(found: _Object, unknown: Unknown) -> Iterator[str]:
    wanted = mapping(part(found, "spec", "selector", "matchLabels"))
    labels = part(found, "spec", "template", "metadata", "labels")
    labels = {} if labels is None else labels
    if isinstance(labels, Mapping) and not any(map(unknown, (*wanted.values(), *labels.values()))):
        lost = next((key for key, value in wanted.items() if labels.get(key) != value), None)
        if lost is not None:
            yield f"spec.selector.matchLabels has {lost}: {wanted[lost]}, and the labels of its pods have not"


def _service(found: _Object, unknown: Unknown) -> Iterator[str]:
    ports = items(part(found, "spec", "ports"))
    names = [part(one, "name") for one in ports]
    if len(ports) > 1 and None in names:
        yield f"spec.ports.{names.index(None)}.name is missing; a service with several ports names each"
    yield from (f"spec.ports has the name {name!r} twice" for name in twice([text(name, unknown) for name in names]))
    numbers = [f"{part(one, 'port')}/{part(one, 'protocol') or 'TCP'}" for one in ports if not unknown(part(one, "port"))]
    yield from (f"spec.ports has {number} twice" for number in twice([*numbers]))
    is_plain = part(found, "spec", "type") in (None, "ClusterIP", "LoadBalancer", "NodePort")
    if not ports and is_plain and part(found, "spec", "clusterIP") != "None":
        yield "spec.ports is missing"


def _volume(found: _Object, unknown: Unknown) -> Iterator[str]:
    driver = text(part(found, "spec", "csi", "driver"), unknown)
    yield from _driver("spec.csi.driver", driver)
    attributes = mapping(part(found, "spec", "csi", "volumeAttributes"))
    for key in _ATTRIBUTES.get(driver or "", ()):
        if key not in attributes:
            yield f"spec.csi.volumeAttributes.{key} is missing; the driver {driver} needs it"
    if "storage" not in mapping(part(found, "spec", "capacity")) and not unknown(part(found, "spec", "capacity")):
        yield "spec.capacity.storage is missing"
    modes = items(part(found, "spec", "accessModes"))
    if driver == "ebs.csi.aws.com" and "ReadWriteMany" in modes and part(found, "spec", "volumeMode") != "Block":
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


def _claim(found: _Object, unknown: Unknown) -> Iterator[str]:
    if "storage" not in mapping(part(found, "spec", "resources", "requests")) and not unknown(part(found, "spec", "resources")):
        yield "spec.resources.requests.storage is missing"


def _storage_class(found: _Object, unknown: Unknown) -> Iterator[str]:
    driver = text(found.get("provisioner"), unknown)
    yield from _driver("provisioner", driver)
    if driver == "efs.csi.aws.com":
        lost = [key for key in ("provisioningMode", "fileSystemId", "directoryPerms") if part(found, "parameters", key) is None]
        yield from (f"parameters.{key} is missing; the driver {driver} needs it" for key in lost[:1])
    for key, allowed in _PARAMETERS.get(driver or "", {}).items():
        value = text(part(found, "parameters", key), unknown)
        if value is not None and value not in allowed:
            yield f"parameters.{key} is {value!r}; allowed: {', '.join(allowed)}"


def _secret(found: _Object, unknown: Unknown) -> Iterator[str]:
    for key, value in mapping(found.get("data")).items():
        written = text(value, unknown)
        if written is not None and not _BASE64.fullmatch("".join(written.split())):
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
    schedule = text(part(found, "spec", "schedule"), unknown)
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
    for index, one in enumerate(items(found.get("subjects"))):
        if part(one, "kind") == "ServiceAccount" and not part(one, "namespace"):
            yield f"subjects.{index}.namespace is missing; a service account has one"
        group = text(part(one, "apiGroup"), unknown)
        if part(one, "kind") in ("Group", "User") and group not in (None, "rbac.authorization.k8s.io"):
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


_VERBS = (
    *("*", "approve", "attest", "bind", "create", "delete", "deletecollection", "escalate", "get", "impersonate", "list", "patch"),
    *("proxy", "sign", "update", "use", "watch"),
)
"""The verbs of Kubernetes' own resources.

Source: https://kubernetes.io/docs/reference/access-authn-authz/authorization/ (as of 2026-11-28)
"""


def _role(found: _Object, unknown: Unknown) -> Iterator[str]:
    for index, rule in enumerate(items(found.get("rules"))):
        groups, names, verbs = ([str(one) for one in items(part(rule, key))] for key in ("apiGroups", "resources", "verbs"))
        if not groups or not set(groups) <= _OWN_GROUPS:
            continue
        for name in names:
            own = _GROUPS.get(name.partition("/")[0])
            others = ", ".join(map(repr, groups))
            if own is not None and own not in groups:
                yield f"rules.{index}.resources has {name!r}, which is in the group {own!r}; apiGroups has {others}"
            elif own is None and f"{name.lower()}s" in _GROUPS:
                yield f"rules.{index}.resources has {name!r}; the nearest is {name.lower()}s"
        strange = [verb for verb in verbs if verb not in _VERBS and ":" not in verb and not unknown(verb)]
        if strange and all(name.partition("/")[0] in _GROUPS for name in names):
            yield f"rules.{index}.verbs has {strange[0]!r}; allowed: {', '.join(_VERBS)}"


def _cluster_binding(found: _Object, unknown: Unknown) -> Iterator[str]:
    if part(found, "roleRef", "kind") == "Role":
        yield "roleRef.kind is 'Role'; allowed in a binding of the whole cluster: ClusterRole"
    yield from _binding(found, unknown)


def _ingress(found: _Object, unknown: Unknown) -> Iterator[str]:
    paths = [path for rule in items(part(found, "spec", "rules")) for path in items(part(rule, "http", "paths"))]
    for backend in (part(found, "spec", "defaultBackend"), *(part(path, "backend") for path in paths)):
        given = {"name", "number"} & set(mapping(part(backend, "service", "port")))
        if backend is not None and part(backend, "service") is not None and len(given) != 1:
            yield f"a backend has {' and '.join(sorted(given)) or 'neither name nor number'} of a port; allowed: one of both"


def _network_policy(found: _Object, unknown: Unknown) -> Iterator[str]:
    for way, ends in (("ingress", "from"), ("egress", "to")):
        for end in (one for rule in items(part(found, "spec", way)) for one in items(part(rule, ends))):
            block = text(part(end, "ipBlock", "cidr"), unknown)
            if block is not None and not _BLOCK.fullmatch(block):
                yield f"spec.{way} has the block {block!r}; allowed: a block with its mask, such as 10.0.0.0/16"


def _priority(found: _Object, unknown: Unknown) -> Iterator[str]:
    value = found.get("value")
    if isinstance(value, int) and value > _HIGHEST_PRIORITY:
        yield f"value is {value}; allowed: {_HIGHEST_PRIORITY} at most"


def _budget(found: _Object, unknown: Unknown) -> Iterator[str]:
    if {"maxUnavailable", "minAvailable"} <= set(mapping(found.get("spec"))):
        yield "spec has minAvailable and maxUnavailable; allowed: one of both"


_JUDGES: Mapping[str, Callable[[_Object, Unknown], Iterator[str]]] = {
    **dict.fromkeys(SELECTING, _selector),
    "ClusterRoleBinding": _cluster_binding,
    "RoleBinding": _binding,
    **dict.fromkeys(("ClusterRole", "Role"), _role),
    "CronJob": _cron,
    "Ingress": _ingress,
    "NetworkPolicy": _network_policy,
    "PersistentVolume": _volume,
    "PersistentVolumeClaim": _claim,
    "PodDisruptionBudget": _budget,
    "PriorityClass": _priority,
    "Secret": _secret,
    "Service": _service,
    "StorageClass": _storage_class,
}
