from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hyperpod_constructs import ClusterInstanceType, HyperPodChart, HyperPodChartValues, SubChart
from hyperpod_constructs.facts.chart import EFA_TYPES, NVIDIA_TYPES, SUB_CHARTS
from tests.eks.archives import chart_yaml
from tests.eks.conftest import STAND_IN, Render, named, types_of

G7, M5, P5 = ClusterInstanceType.G7_48XLARGE, ClusterInstanceType.M5_XLARGE, ClusterInstanceType.P5_48XLARGE
TRN2 = ClusterInstanceType.TRN2_3XLARGE
REGION = "us-west-2"


@pytest.fixture(scope="module")
def chart() -> HyperPodChart:
    return HyperPodChart.from_directory(STAND_IN)


def test_every_sub_chart_of_the_facts_can_be_named() -> None:
    assert [one.value for one in SubChart] == [one.name for one in SUB_CHARTS]


def test_values_hold_only_what_differs(chart: HyperPodChart) -> None:
    assert HyperPodChartValues().render(chart, region=REGION, instance_types=[P5, M5]) == {"global": {"region": REGION}}


def test_values_are_compared_and_replaced() -> None:
    values = HyperPodChartValues(turned_off=[SubChart.MPI_OPERATOR])
    assert values == HyperPodChartValues(turned_off=[SubChart.MPI_OPERATOR])
    assert replace(values, mig=True) != values


def test_a_type_that_the_lists_leave_out_is_added(chart: HyperPodChart, render: Render) -> None:
    values = HyperPodChartValues().render(chart, region=REGION, instance_types=[G7, P5, TRN2, M5])
    objects = render(STAND_IN, values)
    assert types_of(named(objects, "DaemonSet", "hyperpod-dependencies-nvidia-device-plugin")) == [*NVIDIA_TYPES, G7.name]
    efa = types_of(named(objects, "DaemonSet", "hyperpod-dependencies-aws-efa-k8s-device-plugin"))
    assert efa == [*EFA_TYPES, G7.name, TRN2.name]


def test_a_list_of_other_labels_stays(tmp_path: Path) -> None:
    expressions = "[{key: zone, operator: In, values: [a]}, {key: node.kubernetes.io/instance-type, operator: In, values: [b]}]"
    (tmp_path / "Chart.yaml").write_bytes(chart_yaml("outer"))
    (tmp_path / "values.yaml").write_text(f"global: {{}}\nnvidia-device-plugin: {{affinity: {{terms: {expressions}}}}}\n")
    values = HyperPodChartValues().render(HyperPodChart.from_directory(tmp_path), region=REGION, instance_types=[G7])
    found = values["nvidia-device-plugin"]["affinity"]["terms"]
    assert [one["values"] for one in found] == [["a"], ["b", G7.name]]


def test_sub_charts_are_turned_on_and_off_by_their_conditions(chart: HyperPodChart, render: Render) -> None:
    values = HyperPodChartValues(
        turned_on=[SubChart.CERT_MANAGER, SubChart.HYPERPOD_INFERENCE_OPERATOR],
        turned_off=[SubChart.AWS_EFA_K8S_DEVICE_PLUGIN, SubChart.TRAINING_OPERATORS],
    )
    rendered = values.render(chart, region=REGION)
    assert rendered["inferenceOperators"] == {"enabled": True}
    names = {one["metadata"]["name"] for one in render(STAND_IN, rendered)}
    assert {"stand-in-cert-manager", "stand-in-hyperpod-inference-operator"} <= names
    assert {"hyperpod-dependencies-aws-efa-k8s-device-plugin", "pytorchjobs.kubeflow.org"} & names == set()


def test_mig_takes_the_gpu_operator_with_the_images_of_the_region(chart: HyperPodChart, render: Render) -> None:
    objects = render(STAND_IN, HyperPodChartValues(mig=True).render(chart, region=REGION))
    operator = named(objects, "DaemonSet", "gpu-operator")
    assert operator["spec"]["template"]["spec"]["containers"][0]["image"] == f"stand-in.invalid/{REGION}/gpu-operator:0"
    assert "hyperpod-dependencies-nvidia-device-plugin" not in {one["metadata"]["name"] for one in objects}


def test_fails_for_mig_without_images_in_the_region(chart: HyperPodChart) -> None:
    with pytest.raises(ValueError, match="no images for eu-west-3; it has them for us-east-1, us-west-2"):
        HyperPodChartValues(mig=True).render(chart, region="eu-west-3")
    with pytest.raises(ValueError, match="mig=True needs a stack with a region"):
        HyperPodChartValues(mig=True).render(chart, region="${Token[AWS.Region.4]}")


def test_further_values_win(chart: HyperPodChart, render: Render) -> None:
    more = {
        "aws-efa-k8s-device-plugin": {"supportedInstanceLabels": {"values": ["ml.mine"]}},
        "health-monitoring-agent": {"hmaimage": "mine:1"},
        "global": {"anything": {"goes": True}},
    }
    objects = render(STAND_IN, HyperPodChartValues(more=more).render(chart, region=REGION, instance_types=[G7]))
    assert types_of(named(objects, "DaemonSet", "hyperpod-dependencies-aws-efa-k8s-device-plugin")) == ["ml.mine"]
    agent = named(objects, "DaemonSet", "health-monitoring-agent")
    assert agent["spec"]["template"]["spec"]["containers"][0]["image"] == "mine:1"


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"nvidia-device-plugn": {}}, "unknown key 'nvidia-device-plugn'; the nearest is 'nvidia-device-plugin'"),
        ({"mpi-operator": {"enable": True}}, "unknown key 'mpi-operator.enable'; the nearest is 'mpi-operator.enabled'"),
        ({"health-monitoring-agent": {"hmaImage": "x"}}, r"the nearest is 'health-monitoring-agent\.hmaimage'"),
        ({"cert-manager": {"crds": {"enable": True}}}, r"the nearest is 'cert-manager\.crds\.enabled'"),
        ({"cert-manager": None}, "cert-manager is None, which does not reach the chart"),
        ({"gpu-operator": {"enabled": True}}, "both serve GPUs; write mig=True"),
        ({"deep-health-check": {"enabled": False}}, "makes the namespace aws-hyperpod"),
        ({"namespace": {"name": "mine"}}, "namespace.name is 'mine'; the service finds its agents in the namespace aws-hyperpod"),
        ({"namespace": "mine"}, "namespace.name is missing; the service finds"),
        ({"deep-health-check": {"namespace": {"name": "mine"}}}, r"deep-health-check\.namespace\.name is 'mine'; .*leave the key"),
        ({"health-monitoring-agent": {"namespace": "mine"}}, r"health-monitoring-agent\.namespace is 'mine'"),
    ],
)
def test_fails_for_values_that_the_chart_does_not_take(chart: HyperPodChart, more: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        HyperPodChartValues(more=more).render(chart, region=REGION)


def test_the_namespace_may_be_made_elsewhere_under_its_name(chart: HyperPodChart) -> None:
    more = {"namespace": {"create": False, "name": "aws-hyperpod"}}
    assert HyperPodChartValues(more=more).render(chart, region=REGION)["namespace"] == more["namespace"]


def test_any_key_goes_where_the_chart_s_own_value_is_empty(chart: HyperPodChart) -> None:
    more = {"nvidia-device-plugin": {"tolerations": [{"operator": "Exists"}]}}
    assert HyperPodChartValues(more=more).render(chart, region=REGION)["nvidia-device-plugin"] == more["nvidia-device-plugin"]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"turned_on": [SubChart.MLFLOW], "turned_off": [SubChart.MLFLOW]}, "mlflow is in turned_on and in turned_off"),
        ({"mig": True, "turned_off": [SubChart.GPU_OPERATOR]}, "mig=True needs gpu-operator"),
        ({"mig": True, "turned_on": [SubChart.NVIDIA_DEVICE_PLUGIN]}, "mig=True replaces nvidia-device-plugin"),
    ],
)
def test_fails_for_sub_charts_that_are_on_and_off(given: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        HyperPodChartValues(**given)


def test_fails_for_a_sub_chart_that_this_chart_lacks(tmp_path: Path) -> None:
    (tmp_path / "Chart.yaml").write_bytes(chart_yaml("outer"))
    chart = HyperPodChart.from_directory(tmp_path)
    with pytest.raises(ValueError, match="cannot turn mlflow on or off"):
        HyperPodChartValues(turned_on=[SubChart.MLFLOW]).render(chart, region=REGION)


@pytest.mark.parametrize(("name", "command"), [("gpu-operator", "hyperpod chart fetch --gpu-operator"), ("mlflow", "helm dep")])
def test_fails_for_a_sub_chart_without_its_own_charts_only_while_it_is_on(tmp_path: Path, name: str, command: str) -> None:
    declared = {"name": name, "version": "1.0.0", "repository": "", "condition": f"{name}.enabled"}
    inner = tmp_path / "charts" / name
    inner.mkdir(parents=True)
    (tmp_path / "Chart.yaml").write_bytes(chart_yaml("outer", dependencies=[declared]))
    (tmp_path / "values.yaml").write_text(f"{name}: {{enabled: false}}\n")
    (inner / "Chart.yaml").write_bytes(
        chart_yaml(name, dependencies=[{"name": "deep", "version": "2.0.0", "repository": "oci://r"}])
    )
    chart = HyperPodChart.from_directory(tmp_path)
    assert HyperPodChartValues().render(chart, region=REGION)
    with pytest.raises(ValueError, match=rf"{name} is on, and lacks {name}/deep 2\.0\.0; run `{command}"):
        HyperPodChartValues(turned_on=[SubChart(name)]).render(chart, region=REGION)
