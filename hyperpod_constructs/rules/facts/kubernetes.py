"""Kubernetes clusters of the templates, as rules on HyperPod read them.

Both ``AWS::EKS::Cluster`` and the custom resource of CDK's older construct library are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from hyperpod_constructs.rules.facts.clusters import Cluster, clusters
from hyperpod_constructs.rules.facts.security_groups import is_resource
from hyperpod_constructs.rules.template.model import Model, Resource
from hyperpod_constructs.rules.template.values import ABSENT, Text, Value, as_bool, as_str, resource_of

NATIVE = "AWS::EKS::Cluster"
_CUSTOM = "Custom::AWSCDK-EKS-Cluster"
ADDON = "AWS::EKS::Addon"
_ASSOCIATION = "AWS::EKS::PodIdentityAssociation"
_CHART = "Custom::AWSCDK-EKS-HelmChart"
# What brings nodes of its own, each with the property that names the cluster.
_NODE_SOURCES = ("AWS::EKS::Nodegroup", "AWS::EKS::FargateProfile", "Custom::AWSCDK-EKS-FargateProfile")


@dataclass(frozen=True)
class EksCluster:
    """A Kubernetes cluster of the model."""

    resource: Resource

    @classmethod
    def of(cls, value: Value) -> EksCluster | None:
        """The cluster that a value names, if it is in the model."""
        parts = value.references if isinstance(value, Text) else (value,)
        found = next((one for one in (resource_of(part, NATIVE, _CUSTOM) for part in parts) if one is not None), None)
        return None if found is None else cls(found)

    @property
    def version(self) -> str | None:
        """The version of Kubernetes, such as ``1.33``, if it is written."""
        return as_str(self.resource.get(*self.version_path))

    @property
    def authentication_mode(self) -> str | None:
        """Who may use the Kubernetes API by what; ``CONFIG_MAP`` where nothing is written, as the API of EKS takes it."""
        value = self.resource.get(*self.authentication_path)
        return "CONFIG_MAP" if value is ABSENT else as_str(value)

    @property
    def authentication_path(self) -> tuple[str, ...]:
        """Where the authentication mode is written."""
        return ("AccessConfig", "AuthenticationMode") if self._native else ("Config", "accessConfig", "authenticationMode")

    @property
    def version_path(self) -> tuple[str, ...]:
        """Where the version is written."""
        return ("Version",) if self._native else ("Config", "version")

    @cached_property
    def addons(self) -> dict[str, Resource]:
        """Its add-ons by name."""
        found = {as_str(addon.get("AddonName")): addon for addon in self._naming(ADDON)}
        return {name: addon for name, addon in found.items() if name is not None}

    @cached_property
    def pod_identities(self) -> tuple[Resource, ...]:
        """The associations of its service accounts with roles, those of add-ons left out."""
        return self._naming(_ASSOCIATION)

    @cached_property
    def charts(self) -> tuple[Resource, ...]:
        """The Helm charts that CDK installs into it."""
        return self._naming(_CHART)

    @property
    def lacks_nodes(self) -> bool:
        """Whether nothing but HyperPod brings nodes into it, for sure."""
        if not self._model.complete or not self._native:
            return False
        automatic = self.resource.get("ComputeConfig", "Enabled")
        sources = self._model.resources(*_NODE_SOURCES, "AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::Instance")
        return (automatic is ABSENT or as_bool(automatic) is False) and not sources

    @property
    def is_automatic(self) -> bool:
        """Whether it is, or can be, in Auto Mode, which brings what add-ons bring elsewhere."""
        mode = self.resource.get("ComputeConfig", "Enabled")
        return not (mode is ABSENT or as_bool(mode) is False)

    @property
    def _native(self) -> bool:
        return self.resource.type == NATIVE

    @property
    def _model(self) -> Model:
        return self.resource.template.model

    def _naming(self, type_: str) -> tuple[Resource, ...]:
        """Resources of a type that name it."""
        return tuple(resource for resource in self._model.resources(type_) if self._is_named(resource.get("ClusterName")))

    def _is_named(self, value: Value) -> bool:
        name = as_str(self.resource.get("Name")) if self._native else None
        return is_resource(value, self.resource) is True or (name is not None and as_str(value) == name)


def eks_clusters(model: Model) -> tuple[EksCluster, ...]:
    """The Kubernetes clusters of a model."""
    return model.cached("EKS clusters", lambda: tuple(map(EksCluster, model.resources(NATIVE, _CUSTOM))))


def joined(model: Model) -> Iterator[tuple[Cluster, EksCluster]]:
    """HyperPod clusters with the Kubernetes cluster that they join, where that is in the model."""
    for cluster in clusters(model):
        eks = EksCluster.of(cluster.eks_arn) if cluster.on_eks else None
        if eks is not None:
            yield cluster, eks
