"""The service's Helm chart in an EKS cluster, installed before HyperPod's nodes join it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from aws_cdk import Annotations, Duration
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from hyperpod_constructs._support.arguments import checked
from hyperpod_constructs._support.tokens import is_unknown
from hyperpod_constructs._support.tree import placed, region_of
from hyperpod_constructs.cluster.instance_type import ClusterInstanceType
from hyperpod_constructs.eks.base import KubernetesControlPlane
from hyperpod_constructs.eks.chart import HyperPodChart
from hyperpod_constructs.eks.chart_files import ChartError
from hyperpod_constructs.eks.chart_tree import merged
from hyperpod_constructs.eks.chart_values import HyperPodChartValues, SubChart, is_on, unserved
from hyperpod_constructs.facts import chart as facts
from hyperpod_constructs.facts.limits import Limit

_MOST_MINUTES = 15
"""Source: https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_eks_v2.HelmChart.html"""

ReleaseName = Annotated[
    str,
    Limit(
        shortest=1,
        longest=53,
        pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        words="1 to 53 lowercase letters, digits and hyphens",
        example=facts.RELEASE,
    ),
]


class HyperPodDependencies(Construct):
    """The service's Helm chart: device plugins, health monitoring, RBAC and operators that HyperPod's nodes need.

    The HyperPod cluster waits for it, and the service refuses a cluster without it. A change upgrades the release in place.

    Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html
    """

    @checked
    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        control_plane: KubernetesControlPlane,
        chart: HyperPodChart,
        values: HyperPodChartValues | None = None,
        instance_types: Sequence[ClusterInstanceType] = (),
        release: ReleaseName = facts.RELEASE,
        timeout: Duration | None = None,
    ) -> None:
        """Install the chart.

        :param control_plane: the cluster that takes it.
        :param chart: the chart: `HyperPodChart.from_cache()` after `hyperpod chart fetch`, or `HyperPodChart.from_directory(…)`.
        :param values: what the installation changes; the chart's own defaults unless given.
        :param instance_types: the types of the nodes; the device plugins are extended to those that they leave out.
        :param release: name of the release; that of AWS's templates unless given. Do not change it: the first release would
            stay, and Helm refuses to take over its objects.
        :param timeout: time for the installation, up to 15 minutes; 15 minutes unless given.
        :raises ValueError: for values that the chart does not take, a region without an image of the health monitoring agent, or a
            longer timeout.
        """
        super().__init__(scope, id)
        placed(self, scope, id)
        limit = Duration.minutes(_MOST_MINUTES) if timeout is None else timeout
        if limit.to_seconds() > _MOST_MINUTES * 60:
            raise ValueError(f"{self.node.path}: timeout is {limit.to_human_string()}; allowed: up to {_MOST_MINUTES} minutes")
        self._chart = chart
        self._values = self._rendered(HyperPodChartValues() if values is None else values, instance_types)
        self._warn(instance_types)
        #: The release, to make other resources wait for the chart.
        self.resource: eks.HelmChart = eks.HelmChart(
            self,
            "Resource",
            cluster=control_plane.cluster,
            chart_asset=self._asset(),
            release=release,
            namespace=facts.RELEASE_NAMESPACE,
            create_namespace=False,
            timeout=limit,
            values=self._values,
        )
        control_plane.add_awaited(self)

    @property
    def chart(self) -> HyperPodChart:
        """The chart that is installed."""
        return self._chart

    @property
    def values(self) -> dict[str, Any]:
        """What the release changes of the chart's own values."""
        return self._values

    def _rendered(self, values: HyperPodChartValues, instance_types: Sequence[ClusterInstanceType]) -> dict[str, Any]:
        region = region_of(self)
        try:
            rendered = values.render(self._chart, region=region, instance_types=instance_types)
            self._check_agent(region, merged(self._chart.default_values, rendered))
        except ChartError as error:
            raise ChartError(f"{self.node.path}: {error}") from error
        return rendered

    def _check_agent(self, region: str, values: dict[str, Any]) -> None:
        """The agent's image lies in an account of the service, another one in each region."""
        agent = SubChart.HEALTH_MONITORING_AGENT
        given = values.get(agent) or {}
        known = facts.AGENT_ACCOUNTS
        if (
            region in known
            or is_unknown(region)
            or given.get("hmaimage")
            or given.get("region")
            or not is_on(self._chart, values, agent)
        ):
            return
        raise ChartError(
            f"the chart has no image of {agent} for {region}, only for {', '.join(known)}; "
            f'give one by values=HyperPodChartValues(more={{"{agent}": {{"hmaimage": "…"}}}})'
        )

    def _warn(self, instance_types: Sequence[ClusterInstanceType]) -> None:
        if self._chart.is_stand_in:
            self._annotate("stand-in", "this chart stands in for the service's on the embedded AWS; nothing in it runs on nodes")
        for sub_chart, sentence in unserved(instance_types):
            if is_on(self._chart, merged(self._chart.default_values, self._values), sub_chart):
                self._annotate(sub_chart, f"{sentence}; no value of the chart changes it")

    def _annotate(self, topic: str, text: str) -> None:
        Annotations.of(self).add_warning_v2(f"hyperpod-constructs:chart-{topic}", text)

    def _asset(self) -> assets.Asset:
        """The packed chart. Its bytes, and so its hash, are the same on every machine."""
        with tempfile.TemporaryDirectory() as folder:
            packed = Path(folder) / "chart.zip"
            packed.write_bytes(self._chart.packed)
            return assets.Asset(self, "Chart", path=str(packed))
