from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Duration, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk.assertions import Annotations, Match, Template

from hyperpod_constructs import (
    ClusterInstanceType,
    ExistingControlPlane,
    HyperPodChart,
    HyperPodChartValues,
    HyperPodDependencies,
    SubChart,
)
from tests.eks import LAYER
from tests.eks.conftest import STAND_IN, Render, named

RELEASE = "Custom::AWSCDK-EKS-HelmChart"


class Host:
    """A cluster with a provider of kubectl, and what HyperPod waits for."""

    def __init__(self, region: str | None = "us-west-2") -> None:
        self.app = App()
        environment = None if region is None else Environment(account="111122223333", region=region)
        self.stack = Stack(self.app, "Kubernetes", env=environment)
        role = iam.Role.from_role_arn(self.stack, "Role", "arn:aws:iam::111122223333:role/kubectl")
        layer = lambda_.LayerVersion.from_layer_version_arn(self.stack, "Layer", LAYER)
        self.control_plane = ExistingControlPlane(
            self.stack, "ControlPlane", cluster_name="training", kubectl_role=role, kubectl_layer=layer
        )

    def install(self, **more: Any) -> HyperPodDependencies:
        chart = more.pop("chart", None) or HyperPodChart.from_directory(STAND_IN)
        return HyperPodDependencies(self.stack, "Dependencies", control_plane=self.control_plane, chart=chart, **more)

    def release(self) -> dict[str, Any]:
        (found,) = Template.from_stack(self.stack).find_resources(RELEASE).values()
        properties: dict[str, Any] = found["Properties"]
        return properties

    def warnings(self) -> list[str]:
        found = Annotations.from_stack(self.stack).find_warning("/Kubernetes/Dependencies", Match.any_value())
        return [str(one.entry.data) for one in found]


def test_the_release_is_called_as_in_the_templates_of_aws() -> None:
    host = Host()
    dependencies = host.install()
    found = host.release()
    assert (found["Release"], found["Namespace"], found["Timeout"]) == ("hyperpod-dependencies", "kube-system", "900s")
    assert "CreateNamespace" not in found or found["CreateNamespace"] in (False, "false")
    assert json.loads(found["Values"]) == dependencies.values == {"global": {"region": "us-west-2"}}
    assert list(host.control_plane.awaited) == [dependencies]


def test_the_asset_is_the_packed_chart(render: Render) -> None:
    host = Host()
    chart = host.install().chart
    found = host.release()["ChartAssetURL"]
    key = (found if isinstance(found, str) else json.dumps(found)).rsplit("/", 1)[1].split(".")[0]
    host.app.synth()
    packed = Path(host.app.outdir) / f"asset.{key}.zip"
    assert hashlib.sha256(packed.read_bytes()).hexdigest() == chart.sha256
    assert named(render(packed, json.loads(host.release()["Values"])), "Namespace", "aws-hyperpod")


def test_an_unknown_region_is_left_to_the_deployment() -> None:
    host = Host(region=None)
    host.install()
    assert host.release()["Values"] == {"Fn::Join": ["", ['{"global":{"region":"', {"Ref": "AWS::Region"}, '"}}']]}


def test_types_and_values_reach_the_release() -> None:
    host = Host()
    values = HyperPodChartValues(turned_off=[SubChart.MPI_OPERATOR])
    host.install(values=values, instance_types=[ClusterInstanceType.G7_48XLARGE], release="mine", timeout=Duration.minutes(3))
    found = host.release()
    assert (found["Release"], found["Timeout"]) == ("mine", "180s")
    rendered = json.loads(found["Values"])
    assert rendered["mpi-operator"] == {"enabled": False}
    assert rendered["aws-efa-k8s-device-plugin"]["supportedInstanceLabels"]["values"][-1] == "ml.g7.48xlarge"


def test_warns_that_the_chart_is_a_stand_in() -> None:
    host = Host()
    host.install()
    (found,) = host.warnings()
    assert "stands in for the service's" in found


def test_warns_of_types_that_no_value_serves() -> None:
    host = Host()
    host.install(instance_types=[ClusterInstanceType.G7_48XLARGE, ClusterInstanceType.TRN2_3XLARGE, ClusterInstanceType.M5_XLARGE])
    found = " ".join(host.warnings())
    assert "health-monitoring-agent does not run on ml.g7.48xlarge; no value" in found
    assert "neuron-device-plugin does not run on ml.trn2.3xlarge; no value" in found


def test_does_not_warn_of_a_sub_chart_that_is_off() -> None:
    host = Host()
    off = HyperPodChartValues(turned_off=[SubChart.NEURON_DEVICE_PLUGIN])
    host.install(values=off, instance_types=[ClusterInstanceType.TRN2_3XLARGE])
    assert "neuron" not in " ".join(host.warnings())


def test_fails_for_a_region_without_an_image_of_the_agent() -> None:
    with pytest.raises(
        ValueError, match=r"^Kubernetes/Dependencies: .* no image of health-monitoring-agent for ap-south-2, only for"
    ):
        Host("ap-south-2").install()


@pytest.mark.parametrize(
    "values",
    [
        HyperPodChartValues(more={"health-monitoring-agent": {"hmaimage": "mine:1"}}),
        HyperPodChartValues(more={"health-monitoring-agent": {"region": "us-west-2"}}),
        HyperPodChartValues(turned_off=[SubChart.HEALTH_MONITORING_AGENT]),
    ],
    ids=["image", "region", "off"],
)
def test_a_region_without_an_image_needs_none_of_it(values: HyperPodChartValues) -> None:
    host = Host("ap-south-2")
    assert host.install(values=values).values["global"] == {"region": "ap-south-2"}


def test_fails_with_the_place_of_a_wrong_value() -> None:
    with pytest.raises(ValueError, match=r"^Kubernetes/Dependencies: chart values: unknown key 'mlfow'; the nearest is 'mlflow'"):
        Host().install(values=HyperPodChartValues(more={"mlfow": {}}))


def test_fails_for_a_longer_timeout() -> None:
    with pytest.raises(ValueError, match=r"^Kubernetes/Dependencies: timeout is 16 minutes; allowed: up to 15 minutes"):
        Host().install(timeout=Duration.minutes(16))


def test_fails_for_a_release_of_another_form() -> None:
    with pytest.raises(ValueError, match="release is 'My Release'; allowed: 1 to 53 lowercase letters"):
        Host().install(release="My Release")


def test_tokens_are_taken() -> None:
    host = Host(region=None)
    text = CfnParameter(host.stack, "Text").value_as_string
    number: Any = CfnParameter(host.stack, "Number", type="Number").value_as_number
    values = HyperPodChartValues(more={"mlflow": {"enabled": text}})
    host.install(release=text, timeout=Duration.seconds(number), values=values, instance_types=[ClusterInstanceType.of(text)])
    found = host.release()
    assert found["Release"] == {"Ref": "Text"}
    assert found["Timeout"] == {"Fn::Join": ["", [{"Ref": "Number"}, "s"]]}
