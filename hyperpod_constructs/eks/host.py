"""What the parts of a Kubernetes cluster ask of its control plane."""

from __future__ import annotations

from typing import Any, Protocol

from constructs import IDependable


class KubernetesHost(Protocol):
    """An EKS cluster that takes manifests, such as an `EksControlPlane`."""

    @property
    def cluster(self) -> Any:
        """The CDK's `ICluster`, with a provider of kubectl and Helm; its own `Cluster` does not fit its interface for mypy."""
        ...


class ChartHost(KubernetesHost, Protocol):
    """An EKS cluster that takes charts, and HyperPod's nodes behind them."""

    def add_awaited(self, dependable: IDependable) -> None:
        """Let the HyperPod cluster wait for a resource or construct."""
        ...
