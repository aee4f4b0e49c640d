"""Objects of Kubernetes: their versions, names and fields, and fields that go together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs.facts import kubernetes_kinds
from hyperpod_constructs.facts.kubernetes_objects import object_mistakes
from tools.generate_kubernetes_facts import TABLE, render

CONTAINER: dict[str, Any] = {"name": "a", "image": "trainer:1"}
PODS = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [CONTAINER]}}
CAPACITY = {"capacity": {"storage": "1Gi"}}
SIZED = {"resources": {"requests": {"storage": "1Gi"}}}
SPEC = {"replicas": 1, "selector": {"matchLabels": {"app": "a"}}, "template": PODS}


def written(kind: str = "Deployment", version: str = "apps/v1", **metadata: Any) -> dict[str, Any]:
    spec = {"spec": SPEC} if kind == "Deployment" else {}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "trainer", **metadata}, **spec}


@pytest.mark.parametrize(
    ("found", "place"),
    [
        (written(version="v1"), "apiVersion"),
        (written(version="extensions/v1beta1"), "apiVersion"),
        (written(name="My_Trainer"), "metadata.name"),
        (written(namespace="Team A"), "metadata.namespace"),
        (written(labels={"a/b/c": "d"}), "metadata.labels"),
        (written(labels={"a": 1}), "metadata.labels"),
        ({**written(), "spec": {**SPEC, "replicas": -1}}, "spec.replicas"),
        ({**written("PersistentVolumeClaim", "v1"), "spec": {"accessModes": ["ReadWriteAll"], **SIZED}}, "spec.accessModes.0"),
        (
            {
                **written("PersistentVolume", "v1"),
                "spec": {"persistentVolumeReclaimPolicy": "Keep", "capacity": {"storage": "1Gi"}},
            },
            "spec.persistentVolumeReclaimPolicy",
        ),
    ],
)
def test_what_kubernetes_refuses_about_an_object(found: dict[str, Any], place: str) -> None:
    assert next(object_mistakes(found, lambda _: False)).startswith(place)


@pytest.mark.parametrize(
    "found",
    [
        written(labels={"example.com/team": "a.b_c"}, namespace="team-a"),
        written("Role", "rbac.authorization.k8s.io/v1", name="system:Trainer"),
        written("Job", "batch.volcano.sh/v1alpha1"),
        written("HyperPodPyTorchJob", "sagemaker.amazonaws.com/v1"),
    ],
)
def test_what_kubernetes_takes_about_an_object(found: dict[str, Any]) -> None:
    assert list(object_mistakes(found, lambda _: False)) == []


RBAC = "rbac.authorization.k8s.io/v1"


def pods(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [*(containers or (CONTAINER,))], **spec}}


def deployment(template: dict[str, Any] | None = None, **selector: str) -> dict[str, Any]:
    spec = {"selector": {"matchLabels": selector or {"app": "a"}}, "template": template or pods()}
    return {**written(), "spec": spec}


def job(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {**written("Job", "batch/v1"), "spec": {"template": pods(*containers, restartPolicy="Never", **spec)}}


def devices(asked: Any, most: Any) -> dict[str, Any]:
    given = {"requests": {"nvidia.com/gpu": asked}, "limits": {"nvidia.com/gpu": most}}
    return {**CONTAINER, "resources": {key: value for key, value in given.items() if None not in value.values()}}


def service(*ports: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {**written("Service", "v1"), "spec": {"ports": [*ports], **spec}}


def volume(driver: str, **spec: Any) -> dict[str, Any]:
    csi = {"driver": driver, "volumeHandle": "fs-1", "volumeAttributes": {"dnsname": "a", "mountname": "b"}}
    return {**written("PersistentVolume", "v1"), "spec": {"csi": csi, "capacity": {"storage": "1Gi"}, **spec}}


def role(group: str, resource: str) -> dict[str, Any]:
    return {**written("Role", RBAC), "rules": [{"apiGroups": [group], "resources": [resource], "verbs": ["get"]}]}


SCHEME = "service.beta.kubernetes.io/aws-load-balancer-scheme"


PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def ingress(**port: Any) -> dict[str, Any]:
    return plain("Ingress", "networking.k8s.io/v1", spec={"defaultBackend": {"service": {"name": "web", "port": port}}})


def network_policy(block: str) -> dict[str, Any]:
    spec = {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": block}}]}]}
    return plain("NetworkPolicy", "networking.k8s.io/v1", spec=spec)


def allowing(verb: str) -> dict[str, Any]:
    return {**written("Role", RBAC), "rules": [{"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", verb]}]}


def binding(**subject: str) -> dict[str, Any]:
    given = {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}, "subjects": [subject]}
    return {**written("RoleBinding", RBAC), **given}


def cron(schedule: str) -> dict[str, Any]:
    return {**written("CronJob", "batch/v1"), "spec": {"schedule": schedule, "jobTemplate": {"spec": job()["spec"]}}}


def plain(kind: str, version: str, **fields: Any) -> dict[str, Any]:
    return {**written(kind, version), **fields}


WRONG = {
    "a field of another place": (
        deployment(pods({**CONTAINER, "nodeSelector": {}})),
        "spec.template.spec.containers.0.nodeSelector",
    ),
    "a field without its letter": (
        deployment(pods(container=[])),
        "spec.template.spec.container is unknown; the nearest is containers",
    ),
    "a field that is needed": (
        deployment({"spec": {"containers": [{"image": "a"}]}}),
        "spec.template.spec.containers.0.name is missing",
    ),
    "a number as a text": (
        deployment(pods({**CONTAINER, "ports": [{"containerPort": "80"}]})),
        "spec.template.spec.containers.0.ports",
    ),
    "a word": (service({"port": 80}, type="LoadBalancers"), "spec.type is 'LoadBalancers'"),
    "a protocol": (service({"port": 80, "protocol": "HTTP"}), "spec.ports.0.protocol is 'HTTP'"),
    "an older version": (written("HorizontalPodAutoscaler", "autoscaling/v2beta2"), "apiVersion is 'autoscaling/v2beta2'"),
    "a selector": (deployment(None, app="b"), "spec.selector.matchLabels has app: b"),
    "pods that always start again": ({**job(), "spec": {"template": pods()}}, "spec.template.spec.restartPolicy is 'Always'"),
    "pods that never do": (deployment(pods(restartPolicy="Never")), "spec.template.spec.restartPolicy is 'Never'"),
    "a part of a device": (job(devices(None, "0.5")), "spec.template.spec.containers.0.resources.limits.nvidia.com/gpu is '0.5'"),
    "a device without limit": (job(devices(1, None)), "spec.template.spec.containers.0.resources.limits has no nvidia.com/gpu"),
    "devices below the limit": (job(devices(1, 2)), "spec.template.spec.containers.0.resources.requests.nvidia.com/gpu is 1"),
    "a name of two containers": (job(CONTAINER, CONTAINER), "spec.template.spec has two containers"),
    "a mount of no volume": (
        job({**CONTAINER, "volumeMounts": [{"name": "b", "mountPath": "/b"}]}),
        "spec.template.spec.containers.0.vol",
    ),
    "ports without names": (service({"port": 80}, {"port": 81}), "spec.ports.0.name is missing"),
    "a port twice": (service({"port": 80, "name": "a"}, {"port": 80, "name": "b"}), "spec.ports has 80/TCP twice"),
    "a service without ports": (service(), "spec.ports is missing"),
    "a driver": (
        volume("fsx.csi.amazonaws.com"),
        "spec.csi.driver is 'fsx.csi.amazonaws.com'; the nearest driver is 'fsx.csi.aws.com'",
    ),
    "attributes of a driver": (volume("s3.csi.aws.com"), "spec.csi.volumeAttributes.bucketName is missing"),
    "a volume of one node": (volume("ebs.csi.aws.com", accessModes=["ReadWriteMany"]), "spec.accessModes has 'ReadWriteMany'"),
    "a provisioner": (plain("StorageClass", "storage.k8s.io/v1", provisioner="ebs.csi.aws"), "provisioner is 'ebs.csi.aws'"),
    "a schedule of six fields": (cron("0 3 * * ? *"), "spec.schedule is '0 3 * * ? *'"),
    "an hour": (cron("0 24 * * *"), "spec.schedule is '0 24 * * *'"),
    "an account without namespace": (binding(kind="ServiceAccount", name="a"), "subjects.0.namespace is missing"),
    "a group of another API": (binding(kind="Group", name="a", apiGroup="v1"), "subjects.0.apiGroup is 'v1'"),
    "a resource of another group": (role("", "deployments"), "rules.0.resources has 'deployments', which is in the group 'apps'"),
    "a priority": (plain("PriorityClass", "scheduling.k8s.io/v1", value=2_000_000_000), "value is 2000000000"),
    "an amount": (
        plain("ResourceQuota", "v1", spec={"hard": {"requests.nvidia.com/gpu": "8 GPUs"}}),
        "spec.hard.requests.nvidia.com/gpu",
    ),
    "a port above the last": (service({"port": 80808}), "spec.ports.0.port is 80808"),
    "a medium": (
        job(volumes=[{"name": "shm", "emptyDir": {"medium": "RAM"}}]),
        "spec.template.spec.volumes.0.emptyDir.medium is 'RAM'",
    ),
    "a type of volumes": (
        plain("StorageClass", "storage.k8s.io/v1", provisioner="ebs.csi.aws.com", parameters={"type": "gp5"}),
        "parameters.type is 'gp5'",
    ),
    "a plain secret": (plain("Secret", "v1", data={"token": "hello world!"}), "data.token is not in base64"),
    "pods of another kind": (
        {
            **written("PyTorchJob", "kubeflow.org/v1"),
            "spec": {"pytorchReplicaSpecs": {"Worker": {"template": pods(restart="Never")}}},
        },
        "spec.pytorchReplicaSpecs.Worker.template.spec.restart is unknown",
    ),
    "a port by name and number": (ingress(name="http", number=80), "a backend has name and number of a port"),
    "a block without a mask": (network_policy("10.0.0.0"), "spec.ingress has the block '10.0.0.0'"),
    "less than none": ({**job(), "spec": {**job()["spec"], "parallelism": -2}}, "spec.parallelism is -2; allowed: 0 or more"),
    "a binding of the cluster to a role": (
        {**binding(kind="Group", name="a"), "kind": "ClusterRoleBinding"},
        "roleRef.kind is 'Role'",
    ),
    "a name of an account": (job(serviceAccountName="Trainer_A"), "spec.template.spec.serviceAccountName is 'Trainer_A'"),
    "a weight": (job(affinity={"podAffinity": {PREFERRED: [{"weight": 500, "podAffinityTerm": {"topologyKey": "a"}}]}}), "spec"),
    "a volume without a size": (plain("PersistentVolume", "v1", spec={}), "spec.capacity.storage is missing"),
    "a preemption": (
        plain("PriorityClass", "scheduling.k8s.io/v1", value=1, preemptionPolicy="Always"),
        "preemptionPolicy is 'Always'",
    ),
    "a container without an image": (job({"name": "a"}), "spec.template.spec.containers.0.image is missing"),
    "a name of a container": (job({**CONTAINER, "name": "Trainer"}), "spec.template.spec.containers.0.name is 'Trainer'"),
    "a name of a port": (
        job({**CONTAINER, "ports": [{"containerPort": 80, "name": "HTTP"}]}),
        "spec.template.spec.containers.0.ports has the name 'HTTP'",
    ),
    "a probe in two ways": (
        job({**CONTAINER, "readinessProbe": {"tcpSocket": {"port": 80}, "grpc": {"port": 80}}}),
        "spec.template.spec.containers.0.readinessProbe has grpc and tcpSocket",
    ),
    "a probe in no way": (job({**CONTAINER, "livenessProbe": {}}), "spec.template.spec.containers.0.livenessProbe has no handler"),
    "a toleration with a value too much": (
        job(tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]),
        "spec.template.spec.tolerations.0 has the operator Exists and a value",
    ),
    "a toleration without a key": (job(tolerations=[{"effect": "NoSchedule"}]), "spec.template.spec.tolerations.0 has no key"),
    "a kind": (written("Deployments"), "kind is 'Deployments'; the nearest is Deployment"),
    "a kind in other letters": (written("configMap", "v1"), "kind is 'configMap'; the nearest is ConfigMap"),
    "an object without a name": (plain("ConfigMap", "v1", metadata={"namespace": "a"}), "metadata.name is missing"),
    "a verb": (allowing("read"), "rules.0.verbs has 'read'"),
    "a resource in the singular": (role("", "pod"), "rules.0.resources has 'pod'; the nearest is pods"),
    "a claim without a size": (plain("PersistentVolumeClaim", "v1", spec={}), "spec.resources.requests.storage is missing"),
    "a class of EFS": (
        plain("StorageClass", "storage.k8s.io/v1", provisioner="efs.csi.aws.com", parameters={"provisioningMode": "efs-ap"}),
        "parameters.fileSystemId is missing",
    ),
    "a profile of pods": (
        written("Namespace", "v1", labels={"pod-security.kubernetes.io/enforce": "strict"}),
        "metadata.labels.pod-security.kubernetes.io/enforce is 'strict'; allowed: privileged, baseline, restricted",
    ),
    "a role of an account": (
        written("ServiceAccount", "v1", annotations={"eks.amazonaws.com/role-arn": "trainer"}),
        "metadata.annotations.eks.amazonaws.com/role-arn is 'trainer'",
    ),
    "a kind of balancer": (
        {**service({"port": 80}), "metadata": {"name": "a", "annotations": {SCHEME: "private"}}},
        f"metadata.annotations.{SCHEME} is 'private'; allowed: internal, internet-facing",
    ),
    "two limits of a budget": (
        plain("PodDisruptionBudget", "policy/v1", spec={"minAvailable": 1, "maxUnavailable": 1}),
        "spec has minAvailable and maxUnavailable",
    ),
}


@pytest.mark.parametrize(("found", "said"), WRONG.values(), ids=[*WRONG])
def test_what_is_wrong_in_the_fields_of_an_object(found: dict[str, Any], said: str) -> None:
    assert next(object_mistakes(found, lambda _: False)).startswith(said)


SET = {**deployment(), "kind": "StatefulSet"}
STATE = {"serviceName": "a", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}]}
RIGHT: dict[str, dict[str, Any]] = {
    "a deployment": deployment(pods({**CONTAINER, "ports": [{"containerPort": 80, "name": "http"}]})),
    "a set with its own volumes": {
        **SET,
        "spec": {**SET["spec"], **STATE, "template": pods({**CONTAINER, "volumeMounts": [{"name": "data", "mountPath": "/a"}]})},
    },
    "a job with devices": job(devices(8, "8"), volumes=[]),
    "a job with restarts": {**job(), "spec": {"template": pods(restartPolicy="OnFailure")}},
    "services": service({"port": 80, "targetPort": "http"}, type="LoadBalancer"),
    "a service without an address": service(clusterIP="None"),
    "a service of one port by two protocols": service(
        {"port": 53, "name": "a", "protocol": "UDP"}, {"port": 53, "name": "b", "protocol": "TCP"}
    ),
    "a volume of Lustre": volume("fsx.csi.aws.com", accessModes=["ReadWriteMany"]),
    "a volume of another maker": volume("csi.weka.io"),
    "a schedule": cron("*/15 0-6/2,22 1 jan MON-FRI"),
    "a short schedule": cron("@daily"),
    "an account": binding(kind="ServiceAccount", name="a", namespace="b"),
    "pods of another API": role("metrics.k8s.io", "pods"),
    "a resource of any group": role("*", "deployments"),
    "a secret": plain("Secret", "v1", data={"token": "aGVsbG8="}, stringData={"user": "me!"}),
    "pods of another maker": {**written("RayCluster", "ray.io/v1"), "spec": {"template": pods(restart="Never")}},
    "a verb of another API": {
        **written("ClusterRole", RBAC),
        "rules": [{"apiGroups": ["policy"], "resources": ["podsecuritypolicies"], "verbs": ["use", "any"]}],
    },
    "an object with a generated name": plain("ConfigMap", "v1", metadata={"generateName": "a-"}),
    "a kind of its own": written("Node", "v1"),
    "a toleration of all": job(tolerations=[{"operator": "Exists"}]),
    "an ingress": ingress(number=80),
    "a block": network_policy("10.0.0.0/16"),
    "a priority without a value": plain("PriorityClass", "scheduling.k8s.io/v1", preemptionPolicy="Never"),
    "a probe": job({**CONTAINER, "livenessProbe": {"exec": {"command": ["true"]}, "periodSeconds": 5}}),
    "logs of pods": role("", "pods/log"),
}


@pytest.mark.parametrize("found", RIGHT.values(), ids=[*RIGHT])
def test_what_is_right_in_the_fields_of_an_object(found: dict[str, Any]) -> None:
    assert list(object_mistakes(found, lambda _: False)) == []


def test_fields_that_only_the_deployment_knows_are_not_said() -> None:
    found = {**job(), "spec": {"template": pods(devices("?", "?"), {"name": "?", "image": "?"}, restartPolicy="?")}}
    assert list(object_mistakes(found, lambda value: value == "?")) == []


def test_every_word_is_of_a_field_that_takes_a_text() -> None:
    for place in kubernetes_kinds.WORDS:
        definition, _, field = place.rpartition(".")
        row = next(line for line in TABLE.read_text("utf-8").splitlines() if line.startswith(f"{definition}\t"))
        assert {f"{field}:s", f"{field}:s!", f"{field}:[s]"} & set(row.partition("\t")[2].split()), place


def test_the_table_is_what_the_tool_writes() -> None:
    assert Path(TABLE).read_text("utf-8") == render()
