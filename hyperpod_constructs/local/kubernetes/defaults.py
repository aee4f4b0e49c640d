"""Defaults of built-in kinds that clients rely on."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_constructs.facts.kubernetes import RBAC
from hyperpod_constructs.local.kubernetes.resources import Key
from hyperpod_constructs.local.kubernetes.values import at

Object = dict[str, Any]
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_MODES = ("configMap", "secret", "projected", "downwardAPI")


def fill(key: Key, obj: Object) -> None:
    """Set the defaults of an object, in place."""
    function = _KINDS.get(key)
    if function is not None:
        function(obj)


def _set(target: Any, **values: Any) -> None:
    if isinstance(target, dict):
        for name, value in values.items():
            target.setdefault(name, value)


def _pod_spec(spec: Any) -> None:
    if not isinstance(spec, dict):
        return
    _set(
        spec, restartPolicy="Always", dnsPolicy="ClusterFirst", schedulerName="default-scheduler", terminationGracePeriodSeconds=30
    )
    _set(spec, securityContext={})
    if spec.get("serviceAccountName"):
        spec["serviceAccount"] = spec["serviceAccountName"]
    for container in [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]:
        _container(container)
    for volume in spec.get("volumes") or ():
        if len(volume) == 1:
            volume["emptyDir"] = {}
        for kind in _MODES:
            _set(volume.get(kind), defaultMode=420)
        _set(volume.get("hostPath"), type="")


def _container(container: Object) -> None:
    image = str(container.get("image", ""))
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    latest = "@" not in image and tag in ("", "latest")
    _set(container, imagePullPolicy="Always" if latest else "IfNotPresent", resources={})
    _set(container, terminationMessagePath="/dev/termination-log", terminationMessagePolicy="File")
    for port in container.get("ports") or ():
        _set(port, protocol="TCP")
    limits = at(container, "resources", "limits") or {}
    if limits:
        container["resources"]["requests"] = {**limits, **(container["resources"].get("requests") or {})}
    for variable in container.get("env") or ():
        _set(at(variable, "valueFrom", "fieldRef"), apiVersion="v1")
    for probe in filter(None, (container.get(name) for name in _PROBES)):
        _set(probe, timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3)
        _set(probe.get("httpGet"), path="/", scheme="HTTP")


def _template(obj: Object, *path: str) -> None:
    _pod_spec(at(obj, "spec", *path, "template", "spec"))


def _pod(obj: Object) -> None:
    _pod_spec(obj.get("spec"))
    _set(obj.get("spec"), enableServiceLinks=True, serviceAccountName="default", serviceAccount="default")
    _set(obj.setdefault("status", {}), phase="Pending", qosClass=_quality(obj))


def _quality(obj: Object) -> str:
    resources = [container.get("resources") or {} for container in at(obj, "spec", "containers") or ()]
    if not any(one.get("requests") or one.get("limits") for one in resources):
        return "BestEffort"
    guaranteed = all(
        one.get("limits", {}).keys() >= {"cpu", "memory"} and one.get("requests") == one.get("limits") for one in resources
    )
    return "Guaranteed" if guaranteed else "Burstable"


def _deployment(obj: Object) -> None:
    spec = obj.get("spec")
    _set(spec, replicas=1, revisionHistoryLimit=10, progressDeadlineSeconds=600, strategy={})
    strategy = at(obj, "spec", "strategy")
    _set(strategy, type="RollingUpdate")
    if at(strategy, "type") == "RollingUpdate":
        _set(strategy, rollingUpdate={})
        _set(strategy["rollingUpdate"], maxUnavailable="25%", maxSurge="25%")
    _template(obj)


def _stateful_set(obj: Object) -> None:
    _set(obj.get("spec"), replicas=1, revisionHistoryLimit=10, podManagementPolicy="OrderedReady", updateStrategy={})
    _set(at(obj, "spec", "updateStrategy"), type="RollingUpdate")
    _template(obj)


def _daemon_set(obj: Object) -> None:
    _set(obj.get("spec"), revisionHistoryLimit=10, updateStrategy={})
    strategy = at(obj, "spec", "updateStrategy")
    _set(strategy, type="RollingUpdate")
    if at(strategy, "type") == "RollingUpdate":
        _set(strategy, rollingUpdate={})
        _set(strategy["rollingUpdate"], maxUnavailable=1, maxSurge=0)
    _template(obj)


def _replica_set(obj: Object) -> None:
    _set(obj.get("spec"), replicas=1)
    _template(obj)


def _job_spec(spec: Any) -> None:
    _set(
        spec,
        backoffLimit=6,
        completionMode="NonIndexed",
        suspend=False,
        manualSelector=None,
        podReplacementPolicy="TerminatingOrFailed",
    )
    if isinstance(spec, dict):
        if spec["manualSelector"] is None:
            del spec["manualSelector"]
        if "completions" not in spec and "parallelism" not in spec:
            spec["completions"] = 1
        _set(spec, parallelism=1)
        _pod_spec(at(spec, "template", "spec"))


def _job(obj: Object) -> None:
    spec = obj.get("spec")
    _job_spec(spec)
    uid = obj["metadata"].get("uid")
    if uid and isinstance(spec, dict) and not spec.get("manualSelector") and "selector" not in spec:
        labels = {"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": obj["metadata"].get("name", "")}
        spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
        metadata = spec.setdefault("template", {}).setdefault("metadata", {})
        metadata["labels"] = {**(metadata.get("labels") or {}), **labels}


def _cron_job(obj: Object) -> None:
    _set(obj.get("spec"), concurrencyPolicy="Allow", suspend=False, successfulJobsHistoryLimit=3, failedJobsHistoryLimit=1)
    template = at(obj, "spec", "jobTemplate", "spec", "template", "spec")
    _pod_spec(template)


def _service(obj: Object) -> None:
    spec = obj.get("spec")
    _set(spec, type="ClusterIP", sessionAffinity="None")
    if not isinstance(spec, dict) or spec["type"] == "ExternalName":
        return
    _set(spec, internalTrafficPolicy="Cluster", ipFamilies=["IPv4"], ipFamilyPolicy="SingleStack")
    if spec["type"] in ("LoadBalancer", "NodePort"):
        _set(spec, externalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer":
        _set(spec, allocateLoadBalancerNodePorts=True)
    for port in spec.get("ports") or ():
        _set(port, protocol="TCP", targetPort=port.get("port"))
    _set(obj, status={"loadBalancer": {}})


def _secret(obj: Object) -> None:
    _set(obj, type="Opaque")
    for name, value in (obj.pop("stringData", None) or {}).items():
        obj.setdefault("data", {})[name] = base64.b64encode(str(value).encode()).decode()


def _namespace(obj: Object) -> None:
    _set(obj, spec={}, status={})
    _set(obj["spec"], finalizers=["kubernetes"])
    _set(obj["status"], phase="Active")
    metadata = obj["metadata"]
    metadata["labels"] = {**(metadata.get("labels") or {}), "kubernetes.io/metadata.name": metadata.get("name", "")}


def _binding(obj: Object) -> None:
    _set(obj.get("roleRef"), apiGroup=RBAC)
    for subject in obj.get("subjects") or ():
        _set(subject, **({} if subject.get("kind") == "ServiceAccount" else {"apiGroup": RBAC}))


def _webhooks(obj: Object) -> None:
    for hook in obj.get("webhooks") or ():
        _set(hook, failurePolicy="Fail", matchPolicy="Equivalent", timeoutSeconds=10, namespaceSelector={}, objectSelector={})
        _set(at(hook, "clientConfig", "service"), port=443)
        for rule in hook.get("rules") or ():
            _set(rule, scope="*")
        if obj.get("kind", "").startswith("Mutating"):
            _set(hook, reinvocationPolicy="Never")


def _claim(obj: Object) -> None:
    _set(obj.get("spec"), volumeMode="Filesystem")
    _set(obj, status={"phase": "Pending"})


def _volume(obj: Object) -> None:
    _set(obj.get("spec"), volumeMode="Filesystem", persistentVolumeReclaimPolicy="Retain")
    _set(obj, status={"phase": "Available"})


def _definition(obj: Object) -> None:
    _set(obj.get("spec"), conversion={"strategy": "None"})
    names = at(obj, "spec", "names")
    kind = str(at(names, "kind") or "")
    _set(names, singular=kind.lower(), listKind=f"{kind}List")


def _storage_class(obj: Object) -> None:
    _set(obj, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _policy(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    _set(spec, podSelector={})
    if "policyTypes" not in spec:
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _node(obj: Object) -> None:
    _set(obj, spec={}, status={})


_KINDS: Mapping[Key, Callable[[Object], None]] = {
    Key("", "pods"): _pod,
    Key("", "podtemplates"): lambda obj: _pod_spec(at(obj, "template", "spec")),
    Key("", "replicationcontrollers"): _replica_set,
    Key("", "services"): _service,
    Key("", "secrets"): _secret,
    Key("", "namespaces"): _namespace,
    Key("", "nodes"): _node,
    Key("", "persistentvolumeclaims"): _claim,
    Key("", "persistentvolumes"): _volume,
    Key("apps", "deployments"): _deployment,
    Key("apps", "statefulsets"): _stateful_set,
    Key("apps", "daemonsets"): _daemon_set,
    Key("apps", "replicasets"): _replica_set,
    Key("batch", "jobs"): _job,
    Key("batch", "cronjobs"): _cron_job,
    Key("autoscaling", "horizontalpodautoscalers"): lambda obj: _set(obj.get("spec"), minReplicas=1),
    Key("networking.k8s.io", "networkpolicies"): _policy,
    Key("storage.k8s.io", "storageclasses"): _storage_class,
    Key("scheduling.k8s.io", "priorityclasses"): lambda obj: _set(obj, preemptionPolicy="PreemptLowerPriority", value=0),
    Key("apiextensions.k8s.io", "customresourcedefinitions"): _definition,
    Key("admissionregistration.k8s.io", "mutatingwebhookconfigurations"): _webhooks,
    Key("admissionregistration.k8s.io", "validatingwebhookconfigurations"): _webhooks,
    Key(RBAC, "rolebindings"): _binding,
    Key(RBAC, "clusterrolebindings"): _binding,
}
