"""What the API server checks of built-in kinds beyond their schemas: closed lists of values, cross-references, fixed fields."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperpod_constructs.facts.kubernetes import RBAC
from hyperpod_constructs.local.kubernetes import metadata, selectors, status
from hyperpod_constructs.local.kubernetes.resources import Key
from hyperpod_constructs.local.kubernetes.status import Cause, invalid_value
from hyperpod_constructs.local.kubernetes.values import at

Object = Mapping[str, Any]
_IMMUTABLE = "field is immutable"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_CONFIG_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', "
    "regex used for validation is '[-._a-zA-Z0-9]+')"
)
_MOST_DATA = 1024 * 1024
_PULL = ("Always", "IfNotPresent", "Never")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_SERVICES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")


def problems(key: Key, obj: Object) -> Iterator[Cause]:
    """What is wrong with an object that its schema allows."""
    check = _KINDS.get(key)
    return check(obj) if check is not None else iter(())


def changes(key: Key, before: Object, after: Object) -> Iterator[Cause]:
    """What an update may not change."""
    for path in _FIXED.get(key, ()):
        keys = path.split(".")
        if (old := at(before, *keys)) != (new := at(after, *keys)) and old is not None:
            yield invalid_value(path, new, _IMMUTABLE)
    if key in (Key("", "configmaps"), Key("", "secrets")) and before.get("immutable"):
        names = ("data", "binaryData", "immutable")
        for name in names:
            if before.get(name) != after.get(name):
                yield status.forbidden_field(name, "field is immutable when `immutable` is set")
    if key == Key("apps", "statefulsets"):
        allowed = {"replicas", "ordinals", "template", "updateStrategy", "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}
        allowed |= {"revisionHistoryLimit"}
        old_spec, new_spec = before.get("spec") or {}, after.get("spec") or {}
        if any(old_spec.get(name) != new_spec.get(name) for name in (old_spec.keys() | new_spec.keys()) - allowed):
            names_text = "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit',"
            names_text += " 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'"
            yield status.forbidden_field("spec", f"updates to statefulset spec for fields other than {names_text} are forbidden")


def _one_of(path: str, value: Any, supported: tuple[str, ...]) -> Iterator[Cause]:
    if value is not None and value not in supported:
        yield status.unsupported(path, value, supported)


def _pod_spec(path: str, spec: Any, restarts: tuple[str, ...] = ("Always", "OnFailure", "Never")) -> Iterator[Cause]:
    if not isinstance(spec, Mapping):
        return
    if not spec.get("containers"):
        yield status.required(f"{path}.containers")
    volumes: set[Any] = set()
    for index, volume in enumerate(spec.get("volumes") or ()):
        if (name := volume.get("name")) in volumes:
            yield status.duplicate(f"{path}.volumes[{index}].name", name)
        volumes.add(name)
    names: set[str] = set()
    for field in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(field) or ()):
            yield from _container(f"{path}.{field}[{index}]", container, names, volumes)
    if spec.get("restartPolicy") not in (None, *restarts):
        yield status.unsupported(f"{path}.restartPolicy", spec["restartPolicy"], restarts)
    yield from metadata.label_problems(f"{path}.nodeSelector", spec.get("nodeSelector") or {})
    for index, toleration in enumerate(spec.get("tolerations") or ()):
        yield from _one_of(f"{path}.tolerations[{index}].operator", toleration.get("operator"), ("Equal", "Exists"))
        effects = ("NoSchedule", "PreferNoSchedule", "NoExecute")
        yield from _one_of(f"{path}.tolerations[{index}].effect", toleration.get("effect") or None, effects)


def _container(path: str, container: Object, names: set[str], volumes: set[Any]) -> Iterator[Cause]:
    name = container.get("name", "")
    if not name:
        yield status.required(f"{path}.name")
    elif detail := metadata.label_problem(name):
        yield invalid_value(f"{path}.name", name, detail)
    elif name in names:
        yield status.duplicate(f"{path}.name", name)
    names.add(name)
    if not container.get("image"):
        yield status.required(f"{path}.image")
    yield from _one_of(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), _PULL)
    for index, port in enumerate(container.get("ports") or ()):
        yield from _port(f"{path}.ports[{index}].containerPort", port.get("containerPort"))
        yield from _one_of(f"{path}.ports[{index}].protocol", port.get("protocol"), _PROTOCOLS)
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        if mount.get("name") not in volumes:
            yield Cause(f"{path}.volumeMounts[{index}].name", "FieldValueNotFound", f"Not found: {status.shown(mount.get('name'))}")
        if not mount.get("mountPath"):
            yield status.required(f"{path}.volumeMounts[{index}].mountPath")
    yield from _resources(f"{path}.resources", container.get("resources") or {})


def _resources(path: str, resources: Object) -> Iterator[Cause]:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, wanted in requests.items():
        if name in limits and amount(wanted) > amount(limits[name]):
            detail = f"must be less than or equal to {name} limit of {limits[name]}"
            yield invalid_value(f"{path}.requests", wanted, detail)
    for name in (name for name in requests if "/" in name):
        if name not in limits:
            yield status.required(f"{path}.limits", "Limit must be set for non overcommitable resources")
        elif amount(requests[name]) != amount(limits[name]):
            yield invalid_value(f"{path}.requests", requests[name], f"must be equal to {name} limit of {limits[name]}")


_SUFFIX = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}


def amount(quantity: str) -> float:
    """A quantity as a number; the schema has checked its form."""
    found = re.fullmatch(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)([numkMGTPE]?)(i?)", quantity)
    if found is None:
        return 0.0
    if found[3]:
        return float(found[1]) * 1024.0 ** ("KMGTPE".index(found[2]) + 1) if found[2] in "KMGTPE" else 0.0
    return float(found[1]) * _SUFFIX.get(found[2], 1.0)


def _port(path: str, port: Any) -> Iterator[Cause]:
    if isinstance(port, int) and not 1 <= port <= 65535:
        yield invalid_value(path, port, "must be between 1 and 65535, inclusive")


def _workload(obj: Object) -> Iterator[Cause]:
    spec = obj.get("spec") or {}
    selector, labels = spec.get("selector"), at(spec, "template", "metadata", "labels") or {}
    replicas = spec.get("replicas")
    if isinstance(replicas, int) and replicas < 0:
        yield invalid_value("spec.replicas", replicas, "must be greater than or equal to 0")
    if selector is not None and not (selector.get("matchLabels") or selector.get("matchExpressions")):
        yield invalid_value("spec.selector", selector, "empty selector is invalid for deployment")
    elif selector is not None and not selectors.matches(selector, labels):
        yield invalid_value("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
    yield from metadata.label_problems("spec.template.labels", labels)
    yield from _pod_spec("spec.template.spec", at(spec, "template", "spec"), ("Always",))


def _job(obj: Object) -> Iterator[Cause]:
    spec = obj.get("spec") or {}
    for name in ("parallelism", "completions", "backoffLimit"):
        if isinstance(spec.get(name), int) and spec[name] < 0:
            yield invalid_value(f"spec.{name}", spec[name], "must be greater than or equal to 0")
    pod = at(spec, "template", "spec")
    if isinstance(pod, Mapping) and pod.get("restartPolicy") == "Always":
        yield status.unsupported("spec.template.spec.restartPolicy", "Always", ("OnFailure", "Never"))
        pod = {**pod, "restartPolicy": "Never"}
    yield from _pod_spec("spec.template.spec", pod)


def _cron_job(obj: Object) -> Iterator[Cause]:
    schedule = str(at(obj, "spec", "schedule") or "")
    if not schedule.startswith("@") and len(schedule.split()) != 5:
        yield invalid_value("spec.schedule", schedule, f"expected exactly 5 fields, found {len(schedule.split())}: {schedule}")
    yield from _one_of("spec.concurrencyPolicy", at(obj, "spec", "concurrencyPolicy"), ("Allow", "Forbid", "Replace"))


def _data(obj: Object) -> Iterator[Cause]:
    size = 0
    for field in ("data", "binaryData"):
        for name, value in (obj.get(field) or {}).items():
            size += len(value)
            if re.fullmatch(_CONFIG_KEY, name, re.ASCII) is None:
                yield invalid_value(f"{field}[{name}]", name, _CONFIG_KEY_TEXT)
            elif len(name) > 253:
                yield invalid_value(f"{field}[{name}]", name, "must be no more than 253 bytes")
    if size > _MOST_DATA * (4 / 3 if obj.get("kind") == "Secret" else 1):
        yield status.too_long("", _MOST_DATA)


def _secret(obj: Object) -> Iterator[Cause]:
    yield from _data(obj)
    needed = {"kubernetes.io/tls": ("tls.crt", "tls.key"), "kubernetes.io/dockerconfigjson": (".dockerconfigjson",)}
    for name in needed.get(obj.get("type", ""), ()):
        if name not in (obj.get("data") or {}):
            yield status.required(f"data[{name}]")


def _service(obj: Object) -> Iterator[Cause]:
    spec = obj.get("spec") or {}
    kind, ports = spec.get("type"), spec.get("ports") or ()
    yield from _one_of("spec.type", kind, _SERVICES)
    if not ports and kind != "ExternalName" and spec.get("clusterIP") != "None":
        yield status.required("spec.ports")
    for index, port in enumerate(ports):
        yield from _port(f"spec.ports[{index}].port", port.get("port"))
        yield from _one_of(f"spec.ports[{index}].protocol", port.get("protocol"), _PROTOCOLS)
        if len(ports) > 1 and not port.get("name"):
            yield status.required(f"spec.ports[{index}].name")
    yield from metadata.label_problems("spec.selector", spec.get("selector") or {})


def _role(obj: Object) -> Iterator[Cause]:
    for index, rule in enumerate(obj.get("rules") or ()):
        path = f"rules[{index}]"
        if not rule.get("verbs"):
            yield status.required(f"{path}.verbs", "verbs must contain at least one value")
        if rule.get("nonResourceURLs"):
            if obj.get("kind") == "Role":
                yield invalid_value(
                    f"{path}.nonResourceURLs", rule["nonResourceURLs"], "namespaced rules cannot apply to non-resource URLs"
                )
            continue
        if not rule.get("apiGroups"):
            yield status.required(f"{path}.apiGroups", "resource rules must supply at least one api group")
        if not rule.get("resources"):
            yield status.required(f"{path}.resources", "resource rules must supply at least one resource")


def _binding(obj: Object) -> Iterator[Cause]:
    role = obj.get("roleRef") or {}
    yield from _one_of("roleRef.apiGroup", role.get("apiGroup"), (RBAC,))
    kinds = ("Role", "ClusterRole") if obj.get("kind") == "RoleBinding" else ("ClusterRole",)
    yield from _one_of("roleRef.kind", role.get("kind"), kinds)
    if not role.get("name"):
        yield status.required("roleRef.name")
    for index, subject in enumerate(obj.get("subjects") or ()):
        yield from _one_of(f"subjects[{index}].kind", subject.get("kind"), ("ServiceAccount", "User", "Group"))
        if not subject.get("name"):
            yield status.required(f"subjects[{index}].name")
        if subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
            yield status.required(f"subjects[{index}].namespace")


def _claim(obj: Object) -> Iterator[Cause]:
    modes = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
    if not at(obj, "spec", "accessModes"):
        yield status.required("spec.accessModes", "at least 1 access mode is required")
    for mode in at(obj, "spec", "accessModes") or ():
        yield from _one_of("spec.accessModes", mode, modes)
    if obj.get("kind") == "PersistentVolumeClaim" and not at(obj, "spec", "resources", "requests", "storage"):
        yield status.required("spec.resources[storage]")
    if obj.get("kind") == "PersistentVolume" and not at(obj, "spec", "capacity", "storage"):
        yield status.required("spec.capacity")


def _pod(obj: Object) -> Iterator[Cause]:
    return _pod_spec("spec", obj.get("spec"))


def _priority(obj: Object) -> Iterator[Cause]:
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    if value > 1_000_000_000 and not name.startswith("system-"):
        yield status.forbidden_field("value", "maximum allowed value of a user defined priority is 1000000000")
    yield from _one_of("preemptionPolicy", obj.get("preemptionPolicy"), ("PreemptLowerPriority", "Never"))


def _webhooks(obj: Object) -> Iterator[Cause]:
    for index, hook in enumerate(obj.get("webhooks") or ()):
        path = f"webhooks[{index}]"
        if hook.get("name", "").count(".") < 2:
            detail = "should be a domain with at least three segments separated by dots"
            yield invalid_value(f"{path}.name", hook.get("name", ""), detail)
        if hook.get("sideEffects") not in ("None", "NoneOnDryRun"):
            yield status.unsupported(f"{path}.sideEffects", hook.get("sideEffects"), ("None", "NoneOnDryRun"))
        client = hook.get("clientConfig") or {}
        if ("url" in client) == ("service" in client):
            yield status.required(f"{path}.clientConfig", "exactly one of url or service is required")


_KINDS: Mapping[Key, Callable[[Object], Iterator[Cause]]] = {
    Key("", "pods"): _pod,
    Key("", "configmaps"): _data,
    Key("", "secrets"): _secret,
    Key("", "services"): _service,
    Key("", "persistentvolumeclaims"): _claim,
    Key("", "persistentvolumes"): _claim,
    Key("apps", "deployments"): _workload,
    Key("apps", "statefulsets"): _workload,
    Key("apps", "daemonsets"): _workload,
    Key("apps", "replicasets"): _workload,
    Key("batch", "jobs"): _job,
    Key("batch", "cronjobs"): _cron_job,
    Key("scheduling.k8s.io", "priorityclasses"): _priority,
    Key("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): _webhooks,
    Key("admissionregistration.k8s.io", "validatingwebhookconfigurations"): _webhooks,
    Key(RBAC, "roles"): _role,
    Key(RBAC, "clusterroles"): _role,
    Key(RBAC, "rolebindings"): _binding,
    Key(RBAC, "clusterrolebindings"): _binding,
}
_FIXED: Mapping[Key, tuple[str, ...]] = {
    Key("apps", "deployments"): ("spec.selector",),
    Key("apps", "daemonsets"): ("spec.selector",),
    Key("apps", "replicasets"): ("spec.selector",),
    Key("batch", "jobs"): ("spec.selector", "spec.template", "spec.completionMode"),
    Key("", "secrets"): ("type",),
    Key("", "services"): ("spec.clusterIP",),
    Key("", "persistentvolumeclaims"): ("spec.accessModes", "spec.volumeMode", "spec.selector", "spec.storageClassName"),
    Key("scheduling.k8s.io", "priorityclasses"): ("value", "preemptionPolicy"),
    Key("storage.k8s.io", "storageclasses"): ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"),
    Key("apiextensions.k8s.io", "customresourcedefinitions"): ("spec.group", "spec.scope", "spec.names.plural", "spec.names.kind"),
    Key(RBAC, "rolebindings"): ("roleRef",),
    Key(RBAC, "clusterrolebindings"): ("roleRef",),
}
