"""Values of the service's Helm chart: what an installation changes of the chart's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from hyperpod_constructs._support.arguments import checked, checked_value
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.eks.chart import HyperPodChart
from hyperpod_constructs.eks.chart_files import ChartError
from hyperpod_constructs.eks.chart_tree import merged, read_values
from hyperpod_constructs.facts import chart as facts

_REGIONAL = "regional-values/values-"


class SubChart(StrEnum):
    """The parts of the service's chart that can be turned on and off.

    Source: https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/Chart.yaml
    """

    AWS_EFA_K8S_DEVICE_PLUGIN = "aws-efa-k8s-device-plugin"
    CERT_MANAGER = "cert-manager"
    CLUSTER_ROLE_AND_BINDINGS = "cluster-role-and-bindings"
    DEEP_HEALTH_CHECK = "deep-health-check"
    GPU_OPERATOR = "gpu-operator"
    HEALTH_MONITORING_AGENT = "health-monitoring-agent"
    HYPERPOD_INFERENCE_OPERATOR = "hyperpod-inference-operator"
    HYPERPOD_PATCHING = "hyperpod-patching"
    JOB_AUTO_RESTART = "job-auto-restart"
    MLFLOW = "mlflow"
    MPI_OPERATOR = "mpi-operator"
    NAMESPACED_ROLE_AND_BINDINGS = "namespaced-role-and-bindings"
    NEURON_DEVICE_PLUGIN = "neuron-device-plugin"
    NVIDIA_DEVICE_PLUGIN = "nvidia-device-plugin"
    STORAGE = "storage"
    TEAM_ROLE_AND_BINDINGS = "team-role-and-bindings"
    TRAINING_OPERATORS = "training-operators"


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class HyperPodChartValues:
    """What an installation of the service's chart changes. Two of them can be compared, and `dataclasses.replace` makes another.

    :param turned_on: sub-charts that are off by themselves.
    :param turned_off: sub-charts that are on by themselves.
    :param mig: whether NVIDIA's GPU operator divides GPUs; no unless given. The NVIDIA device plugin is then off, as it would serve
        them a second time.
    :param more: any further values by the chart's own keys; they win.
    :raises ValueError: for a sub-chart that is on and off, and for `mig` without the GPU operator or with the device plugin.
    """

    turned_on: Sequence[SubChart] = ()
    turned_off: Sequence[SubChart] = ()
    mig: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if both := sorted(set(self.turned_on) & set(self.turned_off)):
            raise ValueError(f"chart values: {', '.join(both)} is in turned_on and in turned_off; leave it in one of them")
        if self.mig and SubChart.GPU_OPERATOR in self.turned_off:
            raise ValueError("chart values: mig=True needs gpu-operator, which is in turned_off; leave it out there")
        if self.mig and SubChart.NVIDIA_DEVICE_PLUGIN in self.turned_on:
            raise ValueError("chart values: mig=True replaces nvidia-device-plugin, which is in turned_on; leave it out there")

    def switches(self) -> dict[SubChart, bool]:
        """The sub-charts that are turned on and off here."""
        found = dict.fromkeys(self.turned_on, True) | dict.fromkeys(self.turned_off, False)
        if self.mig:
            found |= {SubChart.GPU_OPERATOR: True, SubChart.NVIDIA_DEVICE_PLUGIN: False}
        return {sub_chart: found[sub_chart] for sub_chart in sorted(found)}

    @checked
    def render(self, chart: HyperPodChart, *, region: str, instance_types: Sequence[ClusterInstanceType] = ()) -> dict[str, Any]:
        """The values for Helm: only what differs from the chart's own.

        :param chart: the chart that takes them.
        :param region: the region of the cluster; may be a token, but not with `mig`.
        :param instance_types: the types of the nodes; the device plugins are extended to those that they leave out.
        :raises ValueError: for a key that the chart does not know, with the nearest; for another name of the service's namespace;
            and for sub-charts that do not go together.
        """
        _check_keys(self.more, chart.default_values, ())
        values: dict[str, Any] = {"global": {"region": region}}
        for sub_chart, is_on in self.switches().items():
            _set(values, _condition(chart, sub_chart), is_on)
        if self.mig:
            values = merged(values, _regional(chart, region))
        values = merged(merged(values, _extended(chart, instance_types)), self.more)
        everything = merged(chart.default_values, values)
        _check_namespace(chart.default_values, everything, ())
        _check_parts(chart, everything)
        return values


def _condition(chart: HyperPodChart, sub_chart: str) -> tuple[str, ...]:
    """The path of the value that turns a sub-chart on."""
    for one in chart.tree.declared:
        if one.name == sub_chart and one.condition:
            return tuple(one.condition.split(",")[0].strip().split("."))
    known = sorted(one.name for one in chart.tree.declared if one.condition)
    raise ChartError(f"chart values: the chart in {chart.place} cannot turn {sub_chart} on or off; it knows {', '.join(known)}")


def _set(values: dict[str, Any], path: Sequence[str], value: object) -> None:
    for key in path[:-1]:
        values = values.setdefault(key, {})
    values[path[-1]] = value


def _get(values: Any, path: Sequence[str]) -> Any:
    """A value by its path; `None` without it."""
    for key in path:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def is_on(chart: HyperPodChart, values: Mapping[str, Any], sub_chart: str) -> bool:
    """Whether Helm installs a sub-chart under these values.

    :param values: all of them, the chart's own included.
    """
    declared = next((one for one in chart.tree.declared if one.name == sub_chart), None)
    if declared is None:
        return False
    paths = [path.strip().split(".") for path in declared.condition.split(",") if path.strip()]
    found = [value for value in (_get(values, path) for path in paths) if isinstance(value, bool)]
    return found[0] if found else True


def _check_namespace(known: Any, given: Any, path: tuple[str, ...]) -> None:
    """Refuse another name for the namespace of the service's agents, wherever the chart's own values have that name."""
    if isinstance(known, Mapping):
        for key, value in known.items():
            _check_namespace(value, given.get(key) if isinstance(given, Mapping) else None, (*path, key))
    elif known == facts.CREATED_NAMESPACE != given:
        found = "missing" if given is None else repr(given)
        raise ChartError(
            f"chart values: {'.'.join(path)} is {found}; the service finds its agents in the namespace "
            f"{facts.CREATED_NAMESPACE} only, so leave the key out"
        )


def _check_parts(chart: HyperPodChart, values: Mapping[str, Any]) -> None:
    on = {name for name in chart.tree.charts if is_on(chart, values, name)}
    if {SubChart.GPU_OPERATOR, SubChart.NVIDIA_DEVICE_PLUGIN} <= on:
        raise ChartError("chart values: gpu-operator and nvidia-device-plugin both serve GPUs; write mig=True, which turns one off")
    if SubChart.DEEP_HEALTH_CHECK not in on and SubChart.HEALTH_MONITORING_AGENT in on:
        raise ChartError(
            f"chart values: deep-health-check makes the namespace {facts.CREATED_NAMESPACE}, in which health-monitoring-agent "
            "runs; leave deep-health-check on"
        )
    for name in sorted(on):
        if lacking := chart.missing_below(name):
            command = f"{facts.FETCH} --gpu-operator" if name == SubChart.GPU_OPERATOR else "helm dependency update"
            raise ChartError(f"chart values: {name} is on, and lacks {', '.join(map(str, lacking))}; run `{command}`")


def _regional(chart: HyperPodChart, region: str) -> dict[str, Any]:
    """The values of the GPU operator for a region: its images lie in a registry of each."""
    operator = chart.tree.charts[SubChart.GPU_OPERATOR]
    names = [name for name in operator.files if name.startswith(_REGIONAL)]
    known = sorted(name.removeprefix(_REGIONAL).removesuffix(".yaml") for name in names)
    if is_unknown(region):
        raise ChartError(
            "chart values: mig=True needs a stack with a region, as the images lie in another registry in each; give env="
        )
    if region not in known:
        raise ChartError(f"chart values: the GPU operator has no images for {region}; it has them for {', '.join(known)}")
    return {SubChart.GPU_OPERATOR.value: read_values(operator.files, f"{_REGIONAL}{region}.yaml", chart.place)}


def _extended(chart: HyperPodChart, instance_types: Sequence[ClusterInstanceType]) -> dict[str, Any]:
    """The lists of the device plugins with the types in use that they leave out; nothing where none is left out."""
    found: dict[str, Any] = {}
    gpus = [one.name for one in instance_types if one.accelerator is not None and one.accelerator.kind == "gpu"]
    for path, names in (
        (facts.NVIDIA_LIST, gpus),
        (facts.EFA_LIST, [one.name for one in instance_types if one.efa_interfaces]),
    ):
        before = _get(chart.default_values, path)
        after = _with_types(before, names)
        if after != before:
            _set(found, path, after)
    return found


def _with_types(listed: Any, names: Sequence[str]) -> Any:
    """A list of types, or an affinity with such lists, with these types too."""
    if isinstance(listed, Mapping):
        is_other = "key" in listed and listed["key"] != facts.TYPE_LABEL
        return dict(listed) if is_other else {key: _with_types(value, names) for key, value in listed.items()}
    if isinstance(listed, list) and all(isinstance(one, str) for one in listed):
        return [*listed, *sorted(set(names) - set(listed))]
    return [_with_types(one, names) for one in listed] if isinstance(listed, list) else listed


def _check_keys(given: Mapping[str, Any], known: Mapping[str, Any], path: tuple[str, ...]) -> None:
    """Refuse a key that the chart's own values do not have. Below an empty value any key goes, as its form is not known."""
    for key, value in given.items():
        where = ".".join((*path, str(key)))
        if key not in known:
            nearest = get_close_matches(str(key), known, n=1, cutoff=0.0)[0]
            raise ChartError(f"chart values: unknown key {where!r}; the nearest is {'.'.join((*path, nearest))!r}")
        if value is None:
            raise ChartError(f"chart values: {where} is None, which does not reach the chart; leave the key out")
        under = known[key]
        if isinstance(value, Mapping) and isinstance(under, Mapping) and under and key != "global":
            _check_keys(value, under, (*path, key))


def unserved(instance_types: Sequence[ClusterInstanceType]) -> Iterator[tuple[str, str]]:
    """Sub-charts that leave out a type in use, which no value changes: each with a sentence.

    :param instance_types: the types of the nodes.
    """
    kinds = {one.name: one.accelerator.kind for one in instance_types if one.accelerator is not None}
    agent = sorted(name for name in kinds if name not in facts.AGENT_TYPES)
    neuron = sorted(name for name, kind in kinds.items() if kind == "neuron" and name not in facts.NEURON_TYPES)
    if agent:
        yield SubChart.HEALTH_MONITORING_AGENT, f"the chart's health-monitoring-agent does not run on {', '.join(agent)}"
    if neuron:
        yield SubChart.NEURON_DEVICE_PLUGIN, f"the chart's neuron-device-plugin does not run on {', '.join(neuron)}"
