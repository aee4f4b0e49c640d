"""The service's Helm chart: its region, parts that go together, and the instance types that its device plugins serve."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from hyperpod_constructs.analysis.chart_names import unfit_names
from hyperpod_constructs.analysis.clusters import Cluster, given
from hyperpod_constructs.analysis.embedded import settings_in
from hyperpod_constructs.analysis.governance import quotas
from hyperpod_constructs.analysis.kubernetes import EksCluster, installs, is_foreign, joined
from hyperpod_constructs.facts import chart as facts
from hyperpod_constructs.facts.instance_types import instance_type, is_instance_type
from hyperpod_constructs.facts.mistake import Mistake
from hyperpod_constructs.facts.quota_amounts import Allocation, unserved_partition
from hyperpod_constructs.rules.finding import Hit, hit
from hyperpod_constructs.rules.rule import error, warning
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import as_str, shown

_GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
_CHART = "https://github.com/aws/sagemaker-hyperpod-cli/tree/main/helm_chart/HyperPodHelmChart"


class Chart(NamedTuple):
    """An installation of the service's chart beside a HyperPod cluster, with known values."""

    resource: Resource
    cluster: Cluster
    eks: EksCluster
    values: Mapping[str, Any]
    path: tuple[str | int, ...] = ("Values",)


def _charts(model: Model) -> Iterator[Chart]:
    for cluster, eks in joined(model):
        for resource in eks.hyperpod_charts:
            key = next((one for one in resource.properties if one.lower().endswith("values")), "Values")
            written = resource.get(key)
            values = {} if given(written) is False and installs(resource, "hyperpod") else settings_in(written)
            if isinstance(values, dict):
                yield Chart(resource, cluster, eks, values, (key,))


_chart_warning = partial(warning, on=_charts)


@_chart_warning(
    "HP-CHT-001",
    title="HyperPod's chart is for the region of its stack",
    why="the images of its agents lie in a registry of each region: another region's come slowly, or not at all",
    fix=facts.other_region.fix,
    allowed="the region of the stack",
    source=_CHART,
)
def the_chart_is_for_its_region(chart: Chart) -> Mistake | None:
    region = chart.resource.template.environment.region
    return None if region is None else facts.region_mistake(chart.values, region)


@_chart_warning(
    "HP-CHT-005",
    title="the health monitoring agent has an image in the region",
    why="for another region the chart names an image that does not exist: nodes are never watched, and faults stay",
    fix=facts.no_agent.fix,
    allowed="a region with an image, or no agent",
    source=_CHART,
)
def the_agent_has_an_image(chart: Chart) -> Mistake | None:
    region = chart.resource.template.environment.region
    return None if region is None else facts.agent_mistake(chart.values, region)


_chart_error = partial(error, on=_charts)


@_chart_error(
    "HP-CHT-002",
    title="one part of HyperPod's chart serves the GPUs, and no add-on installs the same",
    why="two device plugins count each GPU twice, and pods get the same one; what is there already fails the installation",
    fix=facts.two_plugins.fix,
    allowed="gpu-operator or nvidia-device-plugin; a part of the chart or an add-on",
    source=_CHART,
)
def what_the_chart_installs_is_there_once(chart: Chart) -> Iterator[Mistake]:
    plugins = facts.plugins_mistake(chart.values)
    yield from () if plugins is None else (plugins,)
    yield from facts.addon_mistakes(chart.values, chart.eks.addons)


@_chart_error(
    "HP-CHT-006",
    title="the health monitoring agent has its namespace",
    why="Kubernetes refuses an agent in a namespace that does not exist, and the installation of the chart fails",
    fix=facts.no_namespace.fix,
    allowed="deep-health-check beside health-monitoring-agent",
    source=_CHART,
)
def the_agent_has_its_namespace(chart: Chart) -> Mistake | None:
    return facts.namespace_mistake(chart.values)


@error(
    "HP-CHT-007",
    title="namespaces, releases and service accounts of charts have names that Kubernetes takes",
    why="Helm and Kubernetes refuse the name, the installation fails, and the stack rolls back",
    fix="write a name of lowercase letters, digits and hyphens",
    allowed="a name such as kube-system",
    source="https://kubernetes.io/docs/concepts/overview/working-with-objects/names/",
)
def names_are_taken(model: Model) -> Iterator[Hit]:
    for one in dict.fromkeys(unfit_names(model)):
        yield hit(one.resource, one.message, *one.path, allowed=one.allowed)


@_chart_warning(
    "HP-CHT-003",
    title="device plugins run on the instance types of the cluster",
    why="the chart lists the types that each plugin serves: on another, Kubernetes sees neither GPUs nor EFA, and jobs "
    "stay pending",
    fix=facts.unserved_type.fix,
    allowed="types in the lists of nvidia-device-plugin and aws-efa-k8s-device-plugin",
    source=_CHART,
)
def plugins_serve_the_types(chart: Chart) -> Iterator[Mistake]:
    names = dict.fromkeys(name for group in chart.cluster.groups for name in group.type_names or ())
    for name in filter(is_instance_type, names):
        mistake, off = facts.unserved(chart.values, instance_type(name)), facts.switched_off(chart.values, instance_type(name))
        if off is not None and not _may_come_otherwise(chart, off[0].removeprefix("aws-").partition("-")[0]):
            yield off[1]
        elif mistake is not None:
            yield mistake


def _may_come_otherwise(chart: Chart, name: str) -> bool:
    """Whether something else of the templates may install a plugin: Auto Mode, or what has its name in a custom resource."""
    others = (one for one in chart.resource.template.model.resources() if is_foreign(one) and one is not chart.resource)
    return chart.eks.is_automatic or any(name in str(shown(one.get())).lower() for one in others)


@_chart_warning(
    "HP-CHT-008",
    title="clusters that replace faulty nodes have the health monitoring agent",
    why="without the agent no fault of a node is seen: the node stays, and jobs fail on it again",
    fix=facts.no_watch.fix,
    allowed="health-monitoring-agent.enabled true beside NodeRecovery Automatic",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-resiliency-health-monitoring-agent.html",
)
def faults_are_seen(chart: Chart) -> Mistake | None:
    if as_str(chart.cluster.get("NodeRecovery")) != "Automatic" or _may_come_otherwise(chart, "health-monitoring"):
        return None
    return facts.watch_mistake(chart.values, chart.resource.template.environment.region)


@_chart_warning(
    "HP-CHT-004",
    title="clusters with quotas of parts of GPUs have the GPU operator",
    why="the operator divides the GPUs: without it no node has the part, and jobs that ask for one stay pending",
    fix="turn gpu-operator on and nvidia-device-plugin off (in the CDK: HyperPodChartValues(mig=True))",
    allowed="gpu-operator.enabled true",
    source=f"{_GUIDE}sagemaker-hyperpod-eks-gpu-partitioning.html",
)
def parts_of_gpus_are_there(chart: Chart) -> Hit | None:
    own = [one for one in quotas(chart.resource.template.model) if one.cluster is chart.cluster]
    divided = [quota.team for quota in own if any(map(_is_part, quota.entries))]
    if not divided or facts.turned_on(chart.values, "gpu-operator") is not False:
        return None
    names = ", ".join(divided)
    return hit(chart, f"gpu-operator of HyperPod's chart is off, and the quotas of {names} are for parts of GPUs")


def _is_part(entry: tuple[tuple[str | int, ...], Allocation]) -> bool:
    """Whether an entry of a quota is for parts of GPUs that its type has."""
    _, wanted = entry
    return wanted.partition is not None and unserved_partition(wanted.instance_type, wanted.partition) is None
