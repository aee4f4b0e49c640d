"""The real kubectl and Helm of the CDK's kubectl layer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperpod_constructs.local.kubernetes.client import HttpsApi, KubernetesError
from tests.local.kubernetes.conftest import VERSION, Clients
from tests.local.kubernetes.manifests import GROUP, config_map, custom, definition, deployment


def test_kubectl_applies_changes_and_deletes(clients: Clients, namespace: str) -> None:
    """Client-side apply is a no-op the second time; the third changes one field by a strategic merge patch."""
    first = deployment("web", namespace)
    assert clients.kubectl("apply", "-f", "-", stdin=first) == "deployment.apps/web created\n"
    assert clients.kubectl("apply", "-f", "-", stdin=first) == "deployment.apps/web unchanged\n"
    assert (
        clients.kubectl("apply", "-f", "-", stdin=deployment("web", namespace, image="app:2")) == "deployment.apps/web configured\n"
    )
    found = json.loads(clients.kubectl("get", "deployment", "web", "-n", namespace, "-o", "json"))
    [container] = found["spec"]["template"]["spec"]["containers"]
    assert (container["image"], container["imagePullPolicy"], found["metadata"]["generation"]) == ("app:2", "IfNotPresent", 2)
    assert "deleted" in clients.kubectl("delete", "deployment", "web", "-n", namespace)
    assert "not found" in clients.kubectl("get", "deployment", "web", "-n", namespace, fails=True)


def test_kubectl_applies_on_the_server_and_names_conflicts(clients: Clients, namespace: str) -> None:
    """A field that another manager owns is a conflict that names both; force takes it over."""
    clients.kubectl("apply", "--server-side", "--field-manager", "one", "-f", "-", stdin=deployment("web", namespace))
    other = deployment("web", namespace, replicas=3)
    message = clients.kubectl("apply", "--server-side", "--field-manager", "two", "-f", "-", stdin=other, fails=True)
    assert 'Apply failed with 1 conflict: conflict with "one" using apps/v1: .spec.replicas' in message
    clients.kubectl("apply", "--server-side", "--field-manager", "two", "--force-conflicts", "-f", "-", stdin=other)
    assert clients.kubectl("get", "deployment", "web", "-n", namespace, "-o", "jsonpath={.spec.replicas}") == "3"


def test_kubectl_prints_tables(clients: Clients, namespace: str) -> None:
    """The columns are the server's."""
    clients.kubectl("apply", "-f", "-", stdin=deployment("web", namespace))
    header, row = clients.kubectl("get", "deploy", "-n", namespace).splitlines()
    assert header.split() == ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"]
    assert row.split()[:4] == ["web", "0/2", "0", "0"]


def test_kubectl_creates_by_typed_clients(clients: Clients, namespace: str) -> None:
    """These commands send protobuf, whatever the server offers."""
    clients.kubectl("create", "configmap", "c", "-n", namespace, "--from-literal=a=b")
    clients.kubectl("create", "secret", "generic", "s", "-n", namespace, "--from-literal=a=b")
    clients.kubectl("create", "serviceaccount", "robot", "-n", namespace)
    clients.kubectl("create", "quota", "q", "-n", namespace, "--hard=cpu=2,pods=3")
    clients.kubectl("create", "role", "r", "-n", namespace, "--verb=get,list", "--resource=pods", "--resource-name=one")
    clients.kubectl("create", "rolebinding", "b", "-n", namespace, "--role=r", f"--serviceaccount={namespace}:robot")
    assert clients.kubectl("get", "cm", "c", "-n", namespace, "-o", "jsonpath={.data.a}") == "b"
    assert clients.kubectl("get", "secret", "s", "-n", namespace, "-o", "jsonpath={.data.a} {.type}") == "Yg== Opaque"
    assert clients.kubectl("get", "quota", "q", "-n", namespace, "-o", "jsonpath={.spec.hard}") == '{"cpu":"2","pods":"3"}'
    [rule] = json.loads(clients.kubectl("get", "role", "r", "-n", namespace, "-o", "json"))["rules"]
    assert rule == {"apiGroups": [""], "resources": ["pods"], "resourceNames": ["one"], "verbs": ["get", "list"]}
    robot = f"system:serviceaccount:{namespace}:robot"
    assert clients.kubectl("auth", "can-i", "get", "pods/one", "-n", namespace, "--as", robot) == "yes\n"


def test_kubectl_creates_what_runs_by_typed_clients(clients: Clients, namespace: str) -> None:
    """Jobs, and a job from the template of another kind; what nobody set stays away."""
    clients.kubectl("create", "job", "train", "-n", namespace, "--image=busybox", "--", "sh", "-c", "exit 0")
    job = json.loads(clients.kubectl("get", "job", "train", "-n", namespace, "-o", "json"))
    pod = job["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert (container["image"], container["command"]) == ("busybox", ["sh", "-c", "exit 0"])
    assert pod["restartPolicy"] == "Never"
    assert not {"hostNetwork", "nodeName"} & pod.keys()
    clients.kubectl("create", "cronjob", "nightly", "-n", namespace, "--image=busybox", "--schedule=0 3 * * *", "--", "date")
    clients.kubectl("create", "job", "now", "-n", namespace, "--from=cronjob/nightly")
    found = clients.kubectl("get", "job", "now", "-n", namespace, "-o", "jsonpath={.spec.template.spec.containers[0].command}")
    assert json.loads(found) == ["date"]
    clients.kubectl("create", "deployment", "web", "-n", namespace, "--image=nginx", "--replicas=2", "--port=80")
    clients.kubectl("create", "service", "clusterip", "web", "-n", namespace, "--tcp=80:http")
    assert clients.kubectl("get", "service", "web", "-n", namespace, "-o", "jsonpath={.spec.ports[0].targetPort}") == "http"
    clients.kubectl("create", "pdb", "web", "-n", namespace, "--selector=app=web", "--min-available=50%")
    assert clients.kubectl("get", "pdb", "web", "-n", namespace, "-o", "jsonpath={.spec.minAvailable}") == "50%"
    assert clients.kubectl("get", "deployment", "web", "-n", namespace, "-o", "jsonpath={.spec.replicas}") == "2"


def test_kubectl_ends_a_namespace_with_its_content(clients: Clients, api: HttpsApi) -> None:
    """The command waits until the namespace is gone."""
    clients.kubectl("create", "namespace", "ends")
    clients.kubectl("create", "configmap", "c", "-n", "ends", "--from-literal=a=b")
    assert 'namespace "ends" deleted' in clients.kubectl("delete", "namespace", "ends")
    with pytest.raises(KubernetesError, match='namespaces "ends" not found'):
        api.get("v1", "Namespace", "ends")


def test_kubectl_scales_labels_and_waits(clients: Clients, namespace: str, api: HttpsApi) -> None:
    """Subresources, merge patches, selectors and watches."""
    clients.kubectl("apply", "-f", "-", stdin=deployment("web", namespace))
    clients.kubectl("scale", "deployment", "web", "-n", namespace, "--replicas=5")
    clients.kubectl("label", "deployment", "web", "-n", namespace, "tier=front")
    found = json.loads(clients.kubectl("get", "deployments", "-n", namespace, "-l", "tier in (front,back),!x", "-o", "json"))
    assert [item["spec"]["replicas"] for item in found["items"]] == [5]
    conditions = [{"type": "Available", "status": "True"}]
    api.patch("apps/v1", "Deployment", "web", {"status": {"conditions": conditions}}, namespace, "status")
    assert "condition met" in clients.kubectl(
        "wait", "--for=condition=Available", "deployment/web", "-n", namespace, "--timeout=20s"
    )


def test_kubectl_is_told_what_is_wrong(clients: Clients, namespace: str) -> None:
    """Unknown fields, wrong types and wrong names are refused in the API server's words."""
    wrong = config_map("Bad_Name", namespace, a="b")
    message = clients.kubectl("apply", "-f", "-", stdin=wrong, fails=True)
    assert (
        'The ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain' in message
    )
    unknown = deployment("web", namespace)
    unknown["spec"]["replica"] = 3
    message = clients.kubectl("apply", "-f", "-", stdin=unknown, fails=True)
    assert 'strict decoding error: unknown field "spec.replica"' in message
    typed = deployment("web", namespace)
    typed["spec"]["replicas"] = "3"
    message = clients.kubectl("apply", "-f", "-", stdin=typed, fails=True)
    assert "cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32" in message


def test_kubectl_tries_without_storing(clients: Clients, namespace: str) -> None:
    """A dry run on the server judges and stores nothing."""
    clients.kubectl("apply", "--dry-run=server", "-f", "-", stdin=config_map("c", namespace, a="b"))
    assert "not found" in clients.kubectl("get", "configmap", "c", "-n", namespace, fails=True)


def test_kubectl_explains_and_knows_the_version(clients: Clients) -> None:
    """From OpenAPI version 3, and from the address of the version."""
    assert "FIELD: replicas <integer>" in clients.kubectl("explain", "deployment.spec.replicas")
    found = json.loads(clients.kubectl("version", "-o", "json"))
    assert found["serverVersion"]["gitVersion"].startswith(f"v{VERSION}.")


def test_kubectl_works_with_custom_resources(clients: Clients, namespace: str) -> None:
    """A new kind is served at once, with its printer columns, short names and merge patches, and goes with its definition."""
    columns = [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}]
    crd = definition("lines", "Line", additionalPrinterColumns=columns)
    crd["spec"]["names"]["shortNames"] = ["ln"]
    clients.kubectl("apply", "-f", "-", stdin=crd)
    clients.kubectl("wait", "--for=condition=Established", f"crd/lines.{GROUP}", "--timeout=20s")
    clients.kubectl("apply", "-f", "-", stdin=custom("one", namespace, "Line", size=1))
    clients.kubectl("apply", "-f", "-", stdin=custom("one", namespace, "Line", size=7))
    assert [line.split() for line in clients.kubectl("get", "ln", "-n", namespace).splitlines()] == [["NAME", "SIZE"], ["one", "7"]]
    assert "FIELD: size <integer>" in clients.kubectl("explain", "lines.spec.size")
    message = clients.kubectl("apply", "-f", "-", stdin=custom("one", namespace, "Line", size=3), fails=True)
    assert "spec.size: Invalid value" in message
    assert "size cannot shrink" in message
    clients.kubectl("delete", "crd", f"lines.{GROUP}")
    assert "could not find the requested resource" in clients.kubectl("get", "lines", "-n", namespace, fails=True)


def _chart(directory: Path) -> str:
    chart = directory / "chart"
    (chart / "templates").mkdir(parents=True)
    (chart / "crds").mkdir()
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: demo\nversion: 0.1.0\n")
    (chart / "values.yaml").write_text("size: 1\n")
    (chart / "crds" / "crd.yaml").write_text(json.dumps(definition("pools", "Pool")))
    (chart / "templates" / "pool.yaml").write_text(
        f"apiVersion: {GROUP}/v1\nkind: Pool\nmetadata: {{name: pool}}\nspec: {{size: {{{{ .Values.size }}}}}}\n"
    )
    (chart / "templates" / "map.yaml").write_text(
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {size: "{{ .Values.size }}"}\n'
    )
    return str(chart)


def test_helm_installs_upgrades_rolls_back_and_uninstalls(clients: Clients, api: HttpsApi, tmp_path: Path) -> None:
    """A chart with a definition, in a namespace that Helm makes."""
    chart, release = _chart(tmp_path), ("demo", "-n", "helm-demo")
    try:
        clients.helm("install", release[0], chart, *release[1:], "--create-namespace", "--wait", "--timeout", "30s")
        clients.helm("upgrade", release[0], chart, *release[1:], "--set", "size=4", "--wait", "--timeout", "30s")
        assert api.get("v1", "ConfigMap", "settings", "helm-demo")["data"] == {"size": "4"}
        assert api.get(f"{GROUP}/v1", "Pool", "pool", "helm-demo")["spec"] == {"size": 4, "mode": "fair"}
        message = clients.helm("upgrade", release[0], chart, *release[1:], "--set", "size=200", fails=True)
        assert "spec.size in body should be less than or equal to 100" in message
        message = clients.helm("rollback", release[0], "1", *release[1:], fails=True)
        assert "size cannot shrink" in message
        revisions = json.loads(clients.helm("history", *release, "-o", "json"))
        assert [one["status"] for one in revisions][:2] in (["superseded", "deployed"], ["superseded", "superseded"])
        clients.helm("uninstall", *release, "--wait", "--timeout", "30s")
        assert api.list(f"{GROUP}/v1", "Pool", "helm-demo") == []
    finally:
        api.delete("v1", "Namespace", "helm-demo")
        api.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"pools.{GROUP}")
