"""The service's Helm chart: what must run in a Kubernetes cluster before HyperPod takes it.

AWS publishes it in no chart repository. AWS's own templates install it from a pinned revision of a Git repository.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hyperpod_constructs.facts.data import rows
from hyperpod_constructs.facts.instance_types import InstanceType
from hyperpod_constructs.facts.mistake import Mistake, fixed_by

REPOSITORY = "https://github.com/aws/sagemaker-hyperpod-cli"
PATH = "helm_chart/HyperPodHelmChart"
"""Where the chart lies in the repository (as of 2026-11-22).

Source: https://github.com/aws/sagemaker-hyperpod-cli/tree/main/helm_chart/HyperPodHelmChart
"""

REVISION = "f57185916d4f7d2fa85caf6a03c04fd17172d330"
"""The revision that AWS's templates install (as of 2026-11-22). Git's hash names its content, versions of dependencies included.

Source: https://github.com/aws/sagemaker-hyperpod-cluster-setup/tree/main/eks/cloudformation
"""

RELEASE = "hyperpod-dependencies"
RELEASE_NAMESPACE = "kube-system"
"""Name and namespace of the release in AWS's templates (as of 2026-11-22).

Source: https://github.com/aws/sagemaker-hyperpod-cluster-setup/tree/main/eks/cloudformation
"""

CREATED_NAMESPACE = "aws-hyperpod"
"""The namespace of the service's agents, which must keep this name; the sub-chart deep-health-check makes it (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html
"""

FETCH = "hyperpod chart fetch"
"""The command that puts the chart into the user's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A chart that the service's chart declares and does not contain.

    :param version: as the service's newest chart declares it; a revision's own Chart.yaml decides.
    :param repository: `https` for a chart repository, `oci` for a registry.
    :param parent: the sub-chart that declares it; empty for the service's chart itself.
    :param sha256: hash of the archive; `None` if no public source states it.
    """

    name: str
    version: str
    repository: str
    parent: str = ""
    sha256: str | None = None


DEPENDENCIES = (
    Dependency(name="cert-manager", version="v1.18.2", repository="oci://quay.io/jetstack/charts"),
    Dependency(name="nvidia-device-plugin", version="0.16.1", repository="https://nvidia.github.io/k8s-device-plugin"),
    Dependency(name="aws-efa-k8s-device-plugin", version="0.5.20", repository="https://aws.github.io/eks-charts"),
    Dependency(name="gpu-operator", version="v26.3.1", repository="https://helm.ngc.nvidia.com/nvidia", parent="gpu-operator"),
)
"""What must be fetched beside the revision (as of 2026-11-22). Only MIG needs the last one.

Source: https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/Chart.yaml
"""


class SubChart(NamedTuple):
    """A part of the service's chart.

    :param on: whether it is installed unless the values say otherwise.
    :param key: the value that turns it on and off.
    """

    name: str
    on: bool
    key: str


SUB_CHARTS = (
    SubChart("aws-efa-k8s-device-plugin", True, "aws-efa-k8s-device-plugin.devicePlugin.enabled"),
    SubChart("cert-manager", False, "cert-manager.enabled"),
    SubChart("cluster-role-and-bindings", False, "cluster-role-and-bindings.enabled"),
    SubChart("deep-health-check", True, "deep-health-check.enabled"),
    SubChart("gpu-operator", False, "gpu-operator.enabled"),
    SubChart("health-monitoring-agent", True, "health-monitoring-agent.enabled"),
    SubChart("hyperpod-inference-operator", False, "inferenceOperators.enabled"),
    SubChart("hyperpod-patching", True, "hyperpod-patching.enabled"),
    SubChart("job-auto-restart", True, "job-auto-restart.enabled"),
    SubChart("mlflow", False, "mlflow.enabled"),
    SubChart("mpi-operator", True, "mpi-operator.enabled"),
    SubChart("namespaced-role-and-bindings", False, "namespaced-role-and-bindings.enabled"),
    SubChart("neuron-device-plugin", True, "neuron-device-plugin.devicePlugin.enabled"),
    SubChart("nvidia-device-plugin", True, "nvidia-device-plugin.devicePlugin.enabled"),
    SubChart("storage", False, "storage.enabled"),
    SubChart("team-role-and-bindings", False, "team-role-and-bindings.enabled"),
    SubChart("training-operators", True, "trainingOperators.enabled"),
)
"""The sub-charts with their conditions and defaults (as of 2026-11-22).

Source: https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/Chart.yaml
"""

ADDONS: Mapping[str, str] = {"cert-manager": "cert-manager", "hyperpod-inference-operator": "amazon-sagemaker-hyperpod-inference"}
"""The add-ons that install the same as a sub-chart, so that the second installation fails (as of 2026-11-29).

Sources: https://docs.aws.amazon.com/eks/latest/userguide/community-addons.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html
"""

AGENT_ACCOUNTS: Mapping[str, str] = {
    "ap-northeast-1": "533267052152",
    "ap-south-1": "011528288864",
    "ap-southeast-1": "905418428165",
    "ap-southeast-2": "851725636348",
    "ap-southeast-3": "971422672635",
    "ap-southeast-4": "084375568333",
    "ca-central-1": "843976229209",
    "eu-central-1": "211125453373",
    "eu-north-1": "654654141839",
    "eu-south-2": "626887787726",
    "eu-west-1": "533267293120",
    "eu-west-2": "011528288831",
    "sa-east-1": "025066253954",
    "us-east-1": "767398015722",
    "us-east-2": "851725546812",
    "us-west-1": "011528288828",
    "us-west-2": "905418368575",
}
"""The account of the health monitoring agent's image in each region (as of 2026-11-22). For any other region the chart names an
image that does not exist.

Source: https://github.com/aws/sagemaker-hyperpod-cli/tree/main/helm_chart/HyperPodHelmChart/charts/health-monitoring-agent
"""


def _listed(name: str) -> tuple[str, ...]:
    found = (row for row in rows("chart_types.tsv") if row[0] == name)
    return tuple(f"{family}.{size}" for _, family, sizes in found for size in sizes.split())


NVIDIA_TYPES = _listed("nvidia")
EFA_TYPES = _listed("efa")
"""The types on which the device plugins run, in lists that the values can replace."""

NEURON_TYPES = _listed("neuron")
AGENT_TYPES = _listed("agent")
"""The types on which the Neuron device plugin and the health monitoring agent run. The templates fix them; no value does."""

NVIDIA_LIST = ("nvidia-device-plugin", "affinity")
EFA_LIST = ("aws-efa-k8s-device-plugin", "supportedInstanceLabels", "values")
"""Where these lists stand in the values (as of 2026-11-22).

Source: https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/values.yaml
"""

TYPE_LABEL = "node.kubernetes.io/instance-type"
"""The label of a node with its type; on HyperPod the type keeps its `ml.` (as of 2026-11-22).

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html
"""


@fixed_by(f"run `{FETCH}`")
def no_chart(place: str) -> str:
    """A synth without the service's chart."""
    return f"the service's Helm chart is not in {place}"


@fixed_by(f"run `{FETCH}`, or `helm dependency update` in that directory")
def incomplete_chart(place: str, missing: Sequence[str]) -> str:
    """A chart without some of the charts that it declares. Helm engines may render it without a word."""
    return f"the chart in {place} is incomplete: it declares {', '.join(missing)}, and has no such chart in its charts folder"


@fixed_by("write the region of the stack as global.region, or leave it out")
def other_region(region: str, own: str) -> str:
    """A chart for nodes of another region.

    :param own: the region of the stack.
    """
    return f"global.region of HyperPod's chart is {region}, and the stack is in {own}"


@fixed_by("turn health-monitoring-agent off, or take another region")
def no_agent(region: str) -> str:
    """A region for which the chart names an image that does not exist."""
    return f"the health monitoring agent has no image in {region}; it has one in {', '.join(AGENT_ACCOUNTS)}"


@fixed_by("turn nvidia-device-plugin off beside the GPU operator (in the CDK: HyperPodChartValues(mig=True))")
def two_plugins() -> str:
    """Two parts of the chart that do the same."""
    return "gpu-operator and nvidia-device-plugin of HyperPod's chart are both on, and both serve the GPUs"


@fixed_by("leave deep-health-check on")
def no_namespace() -> str:
    """A part of the chart without the namespace in which it runs."""
    return f"deep-health-check of HyperPod's chart is off; it makes the namespace {CREATED_NAMESPACE} of health-monitoring-agent"


@fixed_by("name the type in the list of the plugin (in the CDK: HyperPodDependencies(instance_types=[...]))")
def unserved_type(plugin: str, kind: str) -> str:
    """A type on whose nodes a device plugin does not run."""
    return f"{plugin} of HyperPod's chart does not run on {kind}"


@fixed_by("turn the plugin on, or install another one with the templates")
def no_plugin(plugin: str, kind: str) -> str:
    """A type with devices, and no plugin for them."""
    return f"{plugin} of HyperPod's chart is off, and {kind} has devices that only it offers to pods"


@fixed_by("turn the part of the chart off, or leave the add-on out")
def installed_twice(part: str, addon: str) -> str:
    """What the chart and an add-on install both."""
    return f"{part} of HyperPod's chart is on, and the add-on {addon} installs the same"


@fixed_by("leave health-monitoring-agent on, or write NodeRecovery: None")
def no_watch() -> str:
    """Nodes that the service is to replace by itself, and nothing that finds their faults."""
    return "health-monitoring-agent of HyperPod's chart is off, and only it finds the nodes that automatic recovery replaces"


def turned_on(values: Mapping[str, Any], name: str) -> bool | None:
    """Whether an installation has a sub-chart; `None` where its value is not known.

    :param values: those of the installation; the chart's own apply to the rest.
    """
    one = next(part for part in SUB_CHARTS if part.name == name)
    found = _at(values, one.key.split("."))
    return one.on if found is None else found if isinstance(found, bool) else None


def region_mistake(values: Mapping[str, Any], own: str) -> Mistake | None:
    """A chart that is not for the region of the stack.

    :param own: the region of the stack.
    """
    given = _at(values, ("global", "region"))
    return other_region(given, own) if isinstance(given, str) and given in AGENT_ACCOUNTS and given != own else None


def agent_mistake(values: Mapping[str, Any], own: str) -> Mistake | None:
    """An agent without an image in the region of the stack."""
    return no_agent(own) if own not in AGENT_ACCOUNTS and turned_on(values, "health-monitoring-agent") else None


def plugins_mistake(values: Mapping[str, Any]) -> Mistake | None:
    """Two device plugins for the same GPUs."""
    return two_plugins() if turned_on(values, "gpu-operator") and turned_on(values, "nvidia-device-plugin") else None


def switched_off(values: Mapping[str, Any], kind: InstanceType) -> tuple[str, Mistake] | None:
    """The plugin for devices of a type where the values turn it off, and nothing else in the chart offers them."""
    accelerator = None if kind.accelerator is None else kind.accelerator.kind
    needed = {
        "nvidia-device-plugin": accelerator == "gpu" and turned_on(values, "gpu-operator") is False,
        "neuron-device-plugin": accelerator == "neuron",
        "aws-efa-k8s-device-plugin": bool(kind.efa_interfaces),
    }
    off = (plugin for plugin, is_needed in needed.items() if is_needed and turned_on(values, plugin) is False)
    return next(((plugin, no_plugin(plugin, kind.name)) for plugin in off), None)


def addon_mistakes(values: Mapping[str, Any], addons: Collection[str]) -> Iterator[Mistake]:
    """The parts of the chart that add-ons install too."""
    return (installed_twice(part, addon) for part, addon in ADDONS.items() if addon in addons and turned_on(values, part))


def namespace_mistake(values: Mapping[str, Any]) -> Mistake | None:
    """An agent without its namespace."""
    gone = turned_on(values, "deep-health-check") is False
    return no_namespace() if gone and turned_on(values, "health-monitoring-agent") else None


def watch_mistake(values: Mapping[str, Any], region: str | None) -> Mistake | None:
    """Nodes without the agent, in a region that has its image.

    :param region: of the stack, if it is known.
    """
    lacks_image = region is not None and region not in AGENT_ACCOUNTS
    return no_watch() if turned_on(values, "health-monitoring-agent") is False and not lacks_image else None


def unserved(values: Mapping[str, Any], kind: InstanceType) -> Mistake | None:
    """A type with devices that no plugin of the chart offers; a list in the values takes the place of the chart's own."""
    gpu = kind.accelerator is not None and kind.accelerator.kind == "gpu" and not turned_on(values, "gpu-operator")
    for plugin, path, own, used in (
        ("nvidia-device-plugin", NVIDIA_LIST, NVIDIA_TYPES, gpu),
        ("aws-efa-k8s-device-plugin", EFA_LIST, EFA_TYPES, bool(kind.efa_interfaces)),
    ):
        given = _at(values, path)
        served = kind.name in own if given is None else kind.name in str(given)
        if used and turned_on(values, plugin) and not served:
            return unserved_type(plugin, kind.name)
    return None


def _at(values: Any, path: Sequence[str]) -> Any:
    for key in path:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values
