"""Manifests that builds apply: variables, references among objects, people, identities and nodes."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from hyperpod_constructs.analysis.applied_manifests import applied_in, applies_known_objects
from hyperpod_constructs.analysis.object_places import unplaced_objects
from hyperpod_constructs.analysis.shell import run_of
from hyperpod_constructs.analysis.texts import applied_objects, identities
from hyperpod_constructs.templates.model import Model

ROLE = "arn:aws:iam::123456789012:role/nodes"
NAME = {"Ref": "Control"}

VOLUME = """
apiVersion: v1
kind: PersistentVolume
metadata: {name: lustre-volume}
spec: {capacity: {storage: 1Gi}, storageClassName: ""}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: lustre, namespace: $SPACE}
spec: {volumeName: lustre-volume, storageClassName: ""}
"""
JOB = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: train-$RUN, namespace: $SPACE}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          serviceAccountName: trainer
          nodeSelector: {example.com/pool: gpu}
          containers:
            - name: pytorch
              image: $IMAGE
              command: [sh, -c, "echo $RUN"]
              resources: {limits: {nvidia.com/gpu: 8}}
"""
BINDING = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: submit}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: submitters}]
"""
SERVICE = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: server}
spec:
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      containers: [{name: a, image: b, envFrom: [{configMapRef: {name: settings}}]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {A: b}
---
apiVersion: v1
kind: Service
metadata: {name: server}
spec: {selector: {app: server}, ports: [{port: 80}]}
"""


def applying(*manifests: str, options: str = "", word: str = "EOF") -> str:
    return "".join(f"kubectl{options} apply -f - <<{word}\n{one.strip()}\nEOF\n" for one in manifests)


def build(*commands: str, login: str = "aws eks update-kubeconfig --name $NAME") -> dict[str, Any]:
    lines = "".join(f"      - |\n{textwrap.indent(one, ' ' * 8)}\n" for one in (login, *commands))
    given = {"NAME": NAME, "SPACE": "team-a", "RUN": {"Ref": "AWS::StackId"}, "IMAGE": "a:1"}
    properties = {
        "Source": {"Type": "NO_SOURCE", "BuildSpec": f"version: 0.2\nphases:\n  build:\n    commands:\n{lines}"},
        "Environment": {"EnvironmentVariables": [{"Name": key, "Value": one} for key, one in given.items()]},
    }
    return {"Type": "AWS::CodeBuild::Project", "Properties": properties}


def model_with(*builds: dict[str, Any], groups: list[dict[str, Any]] | None = None, **others: Any) -> Model:
    given = groups or [group(**{"example.com/pool": "gpu"})]
    cluster = {"Orchestrator": {"Eks": {"ClusterArn": {"Fn::GetAtt": ["Control", "Arn"]}}}, "InstanceGroups": given}
    return Model.of(
        {
            "t": {
                "Resources": {
                    "Control": {"Type": "AWS::EKS::Cluster"},
                    "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": cluster},
                    **{f"Build{index}": one for index, one in enumerate(builds)},
                    **others,
                }
            }
        }
    )


def group(taints: list[dict[str, str]] | None = None, /, **labels: str) -> dict[str, Any]:
    configuration = {"Labels": labels, **({} if taints is None else {"Taints": taints})}
    kind = {"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2}
    return {"InstanceGroupName": "gpu", "ExecutionRole": ROLE, "KubernetesConfig": configuration, **kind}


def said(*manifests: str, word: str = "EOF", options: str = "") -> list[str]:
    model = model_with(build(applying(*manifests, word=word, options=options), "helm upgrade --install a a.tgz"))
    return [slip.message for one in model.resources("AWS::CodeBuild::Project") for slip in applied_objects.build(one)]


@pytest.mark.parametrize(
    ("manifest", "old", "new", "message"),
    [
        (VOLUME, "volumeName: lustre-volume", "volumeName: other", "names the PersistentVolume 'other', which nothing makes"),
        (VOLUME, "name: lustre-volume}", "name: $RUN}", None),
        (VOLUME, "volumeName: lustre-volume", "volumeName: $RUN", None),
        (VOLUME, "volumeName: lustre-volume, ", "", None),
        (SERVICE, "{name: settings}}]}", "{name: setting}}]}", "names the ConfigMap 'setting', which nothing makes"),
        (SERVICE, "{name: settings}}]}", "{name: setting, optional: true}}]}", None),
        (SERVICE, "selector: {app: server}, ports", "selector: {app: web}, ports", "spec.selector is app=web, which no pods have"),
        (SERVICE, "selector: {app: server}, ports", "selector: {role: web}, ports", None),
        (SERVICE, "{name: settings}\ndata", "{name: settings, namespace: b}\ndata", None),
    ],
)
def test_objects_name_objects_that_are_there(manifest: str, old: str, new: str, message: str | None) -> None:
    assert said(manifest) == []
    assert old in manifest
    found = said(manifest.replace(old, new))
    assert [message in one for one in found] == [True] if message else found == []


def test_an_object_that_a_command_makes_is_there() -> None:
    wrong = VOLUME.replace("volumeName: lustre-volume", "volumeName: other")
    model = model_with(build(applying(wrong), "kubectl get pv other"))
    assert [slip for one in model.resources("AWS::CodeBuild::Project") for slip in applied_objects.build(one)] == []


@pytest.mark.parametrize("options", ["", " --namespace team-a", " -n $SPACE"])
def test_fails_a_manifest_that_keeps_variables(options: str) -> None:
    (message,) = said(JOB, word="'EOF'", options=options)
    assert message == "the build applies $IMAGE as it stands: the manifest is quoted by the word behind <<"


@pytest.mark.parametrize(
    "manifest",
    [
        BINDING,
        JOB.replace("$IMAGE", "a").replace("train-$RUN", "train").replace("$SPACE", "a"),
        JOB.replace("$IMAGE", "$OTHER").replace("train-$RUN", "train").replace("$SPACE", "a"),
    ],
)
def test_a_quoted_manifest_may_have_variables_of_others(manifest: str) -> None:
    assert said(manifest, word="'EOF'") == []


def test_a_text_that_another_program_fills_keeps_nothing() -> None:
    text = f"cat > job.yaml <<'EOF'\n{JOB.strip()}\nEOF\n"
    run = run_of((f"{text}kubectl apply -f job.yaml",), {"IMAGE": "a"}, {})
    filled = run_of((f"{text}sed -i s/a/b/ job.yaml\nkubectl apply -f job.yaml",), {"IMAGE": "a"}, {})
    assert run is not None
    assert filled is not None
    assert [one.kept for one in applied_in(run)] == [("IMAGE",)]
    assert [one.kept for one in applied_in(filled)] == [()]


@pytest.mark.parametrize(
    ("script", "known"),
    [
        (applying(BINDING), True),
        (f"cat <<EOF | kubectl apply -f -\n{BINDING}\nEOF\n", True),
        (f"cat <<EOF | envsubst | kubectl apply -f -\n{BINDING}\nEOF\n", False),
        ("kubectl apply -f other.yaml", False),
        ("kubectl apply -k folder", False),
        ("kubectl create namespace a", False),
        (f"{applying(BINDING)}helm install a b", False),
        (f"{applying(BINDING)}kubectl get pods", True),
    ],
)
def test_what_a_script_applies_is_known_or_not(script: str, known: bool) -> None:
    run = run_of((script,), {}, {})
    assert run is not None
    assert applies_known_objects(run) is known


def entry(*names: str, **others: Any) -> dict[str, Any]:
    properties = {"ClusterName": NAME, "PrincipalArn": ROLE, "KubernetesGroups": list(names)}
    return {"Type": "AWS::EKS::AccessEntry", "Properties": properties, **others}


@pytest.mark.parametrize(
    ("groups", "others", "message"),
    [
        (["trainers"], {}, "no binding of the manifests is for the group trainers; no access entry has submitters"),
        (["submitters"], {}, None),
        (["submitters", "trainers"], {}, None),
        (["hyperpod-ns-a-namespace-level-group"], {}, None),
        ([{"Ref": "AWS::StackName"}], {}, None),
        (["trainers"], {"Second": entry("submitters")}, None),
        (["trainers"], {"Provider": {"Type": "AWS::EKS::IdentityProviderConfig"}}, None),
    ],
)
def test_groups_of_entries_have_bindings(groups: list[Any], others: dict[str, Any], message: str | None) -> None:
    model = model_with(build(applying(BINDING)), Entry=entry(*groups), **others)
    found = [slip.message for one in model.resources("AWS::EKS::AccessEntry") for slip in identities.entry(one)]
    assert found == ([] if message is None else [message])


def association(namespace: str, account: str) -> dict[str, Any]:
    properties = {"ClusterName": NAME, "Namespace": namespace, "ServiceAccount": account, "RoleArn": ROLE}
    return {"Type": "AWS::EKS::PodIdentityAssociation", "Properties": properties}


@pytest.mark.parametrize(
    ("namespace", "account", "message"),
    [
        ("team-a", "trainer", None),
        ("team-b", "trainer", "the pods with the service account trainer are in team-a, and none is in team-b"),
        ("team-a", "train", "the pods in team-a have the service account trainer, and none has train"),
        ("team-a", "external-dns", None),
        ("kube-system", "external-dns", None),
    ],
)
def test_identities_are_those_of_pods(namespace: str, account: str, message: str | None) -> None:
    model = model_with(build(applying(JOB)), Identity=association(namespace, account))
    found = [slip.message for one in model.resources("AWS::EKS::PodIdentityAssociation") for slip in identities.association(one)]
    assert found == ([] if message is None else [message])


def test_pods_without_a_namespace_are_in_that_of_the_command() -> None:
    without = JOB.replace(", namespace: $SPACE", "")
    model = model_with(build(applying(without, options=" -n team-a")), Identity=association("team-b", "trainer"))
    (found,) = [slip for one in model.resources("AWS::EKS::PodIdentityAssociation") for slip in identities.association(one)]
    assert "are in team-a" in found.message


AFFINITY = """          affinity:
            nodeAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
                nodeSelectorTerms:
                  - matchExpressions: [{key: example.com/pool, operator: In, values: [gpu, fast]}]
"""
TAINT = [{"Key": "example.com/team", "Value": "a", "Effect": "NoSchedule"}]
OF_DEVICE = [{"Key": "nvidia.com/gpu", "Value": "present", "Effect": "NoSchedule"}]
SELECTOR = "          nodeSelector: {example.com/pool: gpu}\n"


@pytest.mark.parametrize(
    ("manifest", "nodes", "message"),
    [
        (JOB, group(**{"example.com/pool": "gpu"}), None),
        (JOB, group(**{"example.com/pool": "fast"}), "no group of nodes has the label example.com/pool=gpu"),
        (JOB.replace(SELECTOR, AFFINITY), group(**{"example.com/pool": "fast"}), None),
        (JOB.replace(SELECTOR, AFFINITY), group(**{"example.com/pool": "slow"}), "the label example.com/pool=gpu or fast"),
        (JOB, group(**{"example.com/other": "gpu"}), None),
        (JOB.replace(SELECTOR, ""), group(TAINT, **{"example.com/pool": "gpu"}), "its pods do not tolerate the taints of gpu"),
        (JOB.replace(SELECTOR, ""), group(OF_DEVICE, **{"example.com/pool": "gpu"}), None),
        (JOB.replace("replicas: 2", "replicas: 3"), group(**{"example.com/pool": "gpu"}), "ask for 24 of nvidia.com/gpu together"),
        (JOB.replace("replicas: 2", "replicas: $RUN"), group(**{"example.com/pool": "gpu"}), None),
        (
            JOB.replace("replicas: 2", "replicas: 3").replace("spec:\n  py", "spec:\n  elasticPolicy: {minReplicas: 1}\n  py"),
            group(**{"example.com/pool": "gpu"}),
            None,
        ),
    ],
)
@pytest.mark.parametrize("chart", ["", "helm upgrade --install exporter exporter.tgz"])
def test_pods_find_nodes(manifest: str, nodes: dict[str, Any], message: str | None, chart: str) -> None:
    if message is None or chart or "other" not in str(nodes):
        found = [one.message for one in unplaced_objects(model_with(build(applying(manifest), chart), groups=[nodes]))]
        is_foreign = "other" in str(nodes) and not chart
        assert is_foreign or ([message in one for one in found] == [True] if message else found == [])


@pytest.mark.parametrize("command", ["kubectl label node a example.com/pool=gpu", "helm upgrade --install karpenter a/karpenter"])
def test_nodes_of_others_may_have_any_labels(command: str) -> None:
    model = model_with(build(applying(JOB), command), groups=[group(**{"example.com/pool": "fast"})])
    assert [*unplaced_objects(model)] == []
