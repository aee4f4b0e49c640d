"""Kubernetes clusters of the templates.

Both `AWS::EKS::Cluster` and the custom resource of CDK's older construct library are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Cluster, clusters
from hyperpod_constructs.analysis.custom_resources import maker_itself, makers
from hyperpod_constructs.analysis.embedded import values_in
from hyperpod_constructs.analysis.networks import SUBNET, VPC
from hyperpod_constructs.analysis.security_groups import is_resource
from hyperpod_constructs.facts.addons import VPC_CNI
from hyperpod_constructs.facts.kubernetes import NAMING_CHARTS
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.documents import NESTED_STACK
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Text, Value, as_bool, as_items, as_str, at, parts_of, shown

_NATIVE = "AWS::EKS::Cluster"
_CUSTOM = "Custom::AWSCDK-EKS-Cluster"
ADDON = "AWS::EKS::Addon"
ACCESS_ENTRY = "AWS::EKS::AccessEntry"
_NODE_GROUP = "AWS::EKS::Nodegroup"
_ASSOCIATION = "AWS::EKS::PodIdentityAssociation"
MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
CHART = "Custom::AWSCDK-EKS-HelmChart"
_CUSTOM_RESOURCE = "AWS::CloudFormation::CustomResource"
# Other sources of nodes.
_NODE_SOURCES = (_NODE_GROUP, "AWS::EKS::FargateProfile", "Custom::AWSCDK-EKS-FargateProfile")
# Machines that may join a cluster by themselves.
_MACHINES = ("AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::Instance")
# Resources that run programs of the user, or wait for them, and so may install a chart.
_INSTALLERS = (
    "AWS::AutoScaling::AutoScalingGroup",
    "AWS::CloudFormation::WaitCondition",
    "AWS::CodeBuild::Project",
    "AWS::CodePipeline::Pipeline",
    "AWS::EC2::Instance",
    "AWS::EKS::Capability",
    "AWS::SSM::Association",
    "AWS::StepFunctions::StateMachine",
    _CUSTOM_RESOURCE,
)
# Custom resources that install nothing: this library's own and the CDK's.
_NO_INSTALLER = re.compile(
    r"Custom::(HyperPod(ClusterExtension|ClusterFields|ClusterLogGroup|DataRepositoryTask|FileSystemFields|NodeInventory"
    r"|OpenZfsQuotas|Preflight|ReadinessGate|ScriptsUpload|TrainingPlan)"
    r"|AWSCDK-EKS-(Cluster|FargateProfile|KubernetesObjectValue|KubernetesPatch)|AWSCDKOpenIdConnectProvider"
    r"|CDKBucketDeployment|CrossRegionExport(Reader|Writer)|LogRetention|S3AutoDeleteObjects|S3BucketNotifications"
    r"|VpcRestrictDefaultSG)"
)


def _functions_of(found: Iterable[Resource]) -> tuple[Resource, ...]:
    """The functions that make custom resources: first those that CloudFormation calls, then those behind the CDK's framework."""
    every = list(found)
    outer = (makers(one.template.model).get(one) for one in every)
    return tuple(dict.fromkeys(one for one in (*outer, *map(maker_itself, every)) if one is not None))


@dataclass(frozen=True)
class EksCluster:
    """A Kubernetes cluster of the model."""

    resource: Resource

    @classmethod
    def of(cls, value: Value) -> EksCluster | None:
        """The cluster of a name or an ARN, if it is in the model."""
        parts = value.references if isinstance(value, Text) else (value,)
        found = next((one for one in (resource_of(part, _NATIVE, _CUSTOM) for part in parts) if one is not None), None)
        return None if found is None else cls(found)

    @property
    def path(self) -> tuple[str | int, ...]:
        """Its place in the resource: it is the whole."""
        return ()

    @property
    def version(self) -> str | None:
        """The version of Kubernetes, such as `1.33`, if it is written."""
        return as_str(self.resource.get(*self.version_path))

    @property
    def authentication_mode(self) -> str | None:
        """The authentication mode of the Kubernetes API; `CONFIG_MAP` where none is written, the default of EKS."""
        value = self.resource.get(*self.authentication_path)
        return "CONFIG_MAP" if value is ABSENT else as_str(value)

    @property
    def authentication_path(self) -> tuple[str, ...]:
        """The place of the authentication mode."""
        return ("AccessConfig", "AuthenticationMode") if self._native else ("Config", "accessConfig", "authenticationMode")

    @property
    def version_path(self) -> tuple[str, ...]:
        """The place of the version."""
        return ("Version",) if self._native else ("Config", "version")

    @property
    def services_path(self) -> tuple[str, ...]:
        """The place of the block of its services."""
        older = ("Config", "kubernetesNetworkConfig", "serviceIpv4Cidr")
        return ("KubernetesNetworkConfig", "ServiceIpv4Cidr") if self._native else older

    def network_path(self, key: str) -> tuple[str, ...]:
        """The place of a setting of its network, such as `SubnetIds`."""
        older = ("Config", "resourcesVpcConfig", key[:1].lower() + key[1:])
        return ("ResourcesVpcConfig", key) if self._native else older

    def in_network(self, key: str, type_: str) -> tuple[Resource, ...] | None:
        """The resources of a type in a list of its network; `None` if one is not of the model."""
        items = as_items(self.resource.get(*self.network_path(key)))
        found = [resource_of(item, type_) for item in items or ()]
        return None if items is None or None in found else tuple(one for one in found if one is not None)

    @property
    def vpcs(self) -> tuple[Resource, ...]:
        """The VPCs of its subnets that are in the model."""
        found = (resource_of(one.get("VpcId"), VPC) for one in self.in_network("SubnetIds", SUBNET) or ())
        return tuple(dict.fromkeys(vpc for vpc in found if vpc is not None))

    @cached_property
    def parts(self) -> tuple[Resource, ...]:
        """The add-ons, access entries, identities and nodes that name it."""
        return tuple(one for kind in _OF_CLUSTERS for one in self._naming(kind))

    @cached_property
    def access_entries(self) -> tuple[Resource, ...]:
        """Its access entries in the templates."""
        return self._naming(ACCESS_ENTRY)

    @cached_property
    def node_groups(self) -> tuple[Resource, ...]:
        """The node groups that EKS manages for it."""
        return self._naming(_NODE_GROUP)

    @cached_property
    def addons(self) -> dict[str, Resource]:
        """Its add-ons by name."""
        found = {as_str(addon.get("AddonName")): addon for addon in self._naming(ADDON)}
        return {name: addon for name, addon in found.items() if name is not None}

    def installed(self, names: Iterable[str]) -> list[Resource]:
        """Its add-ons with one of these names."""
        return [self.addons[name] for name in names if name in self.addons]

    def lacks_addon(self, name: str) -> bool:
        """Whether the templates surely make it without an add-on of this name."""
        unnamed = any(as_str(addon.get("AddonName")) in (name, None) for addon in self._model.resources(ADDON))
        return self._model.complete and not unnamed

    def may_bring(self, name: str) -> bool:
        """Whether a chart, a manifest or Auto Mode can bring what an add-on would; HyperPod's own chart only by its values."""
        charts = any(not installs(chart, "hyperpod") or name in str(shown(chart.get("Values"))) for chart in self.charts)
        return self.is_automatic or charts or any(name in str(shown(one.get("Manifest"))) for one in self.manifests)

    @cached_property
    def pod_identities(self) -> tuple[Resource, ...]:
        """The associations of its service accounts with roles, without those of add-ons."""
        return self._naming(_ASSOCIATION)

    @property
    def gives_identities(self) -> bool:
        """Whether pods get roles by the pod identity agent: by an association, or by one that is written in an add-on."""
        return bool(self.pod_identities) or any(as_items(one.get("PodIdentityAssociations")) for one in self.addons.values())

    @cached_property
    def charts(self) -> tuple[Resource, ...]:
        """The Helm charts that CDK installs into it."""
        return self._naming(CHART)

    @cached_property
    def hyperpod_charts(self) -> tuple[Resource, ...]:
        """What installs HyperPod's chart into it: a chart of the CDK, or a custom resource of the user that says so.

        The only chart that a custom resource installs is HyperPod's where no other one says so: nothing else brings it.
        """
        foreign = (one for one in self._model.resources() if is_foreign(one) and one.type not in (CHART, MANIFEST))
        own = [one for one in foreign if self.is_meant_by(one) and _says_chart(one, "")]
        named = [one for one in own if _says_chart(one, "hyperpod")]
        found = (*(chart for chart in self.charts if installs(chart, "hyperpod")), *named)
        return found or (tuple(own) if len(own) == 1 and not self.charts else ())

    def is_meant_by(self, custom: Resource) -> bool:
        """Whether a custom resource, or a variable of its function, names the cluster."""
        function = makers(self._model).get(custom)
        variables = ABSENT if function is None else function.get("Environment", "Variables")
        return self.resource in references(custom.get()) or self.resource in references(variables)

    @cached_property
    def manifests(self) -> tuple[Resource, ...]:
        """The objects of Kubernetes that CDK applies to it."""
        return self._naming(MANIFEST)

    @cached_property
    def waits(self) -> tuple[Resource, ...]:
        """The waits of the CDK for values of objects in it."""
        return self._naming("Custom::AWSCDK-EKS-KubernetesObjectValue")

    @cached_property
    def appliers(self) -> tuple[Resource, ...]:
        """The functions of the CDK that install its charts and apply its objects: the framework's, and the one with kubectl."""
        return _functions_of((*self.charts, *self.manifests, *self.waits))

    @cached_property
    def installers(self) -> tuple[Resource, ...]:
        """The functions that install HyperPod's chart, and those that install and apply for the CDK."""
        return tuple(dict.fromkeys((*self.appliers, *_functions_of(self.hyperpod_charts))))

    @property
    def lacks_charts(self) -> bool:
        """Whether the templates surely make it, and nothing in them can install a chart into it."""
        made = self.resource.exists is True and self._model.complete
        return made and not any(map(_may_install, self._model.resources()))

    @property
    def lacks_nodes(self) -> bool:
        """Whether HyperPod surely brings its only nodes."""
        if not self._model.complete or not self._native:
            return False
        automatic = self.resource.get("ComputeConfig", "Enabled")
        sources = self._model.resources(*_NODE_SOURCES, *_MACHINES)
        return (automatic is ABSENT or as_bool(automatic) is False) and not sources

    @property
    def sources_of_nodes(self) -> tuple[Resource, ...]:
        """All that brings it nodes; none if others may, such as machines that join by themselves."""
        if not self._model.complete or not self._native or self.is_automatic or self._model.resources(*_MACHINES):
            return ()
        groups = (one for type_ in _NODE_SOURCES for one in self._naming(type_))
        return (*groups, *(cluster.resource for cluster, eks in joined(self._model) if eks == self))

    @property
    def is_automatic(self) -> bool:
        """Whether it is, or can be, in Auto Mode, which replaces some add-ons."""
        mode = self.resource.get("ComputeConfig", "Enabled")
        return not (mode is ABSENT or as_bool(mode) is False)

    @property
    def _native(self) -> bool:
        return self.resource.type == _NATIVE

    @property
    def _model(self) -> Model:
        return self.resource.template.model

    def is_named_by(self, resource: Resource) -> bool:
        """Whether the property `ClusterName` of a resource is surely its name."""
        return self._is_named(resource.get("ClusterName"))

    def _naming(self, type_: str) -> tuple[Resource, ...]:
        """Resources of a type that name it."""
        return tuple(resource for resource in self._model.resources(type_) if self._is_named(resource.get("ClusterName")))

    def _is_named(self, value: Value) -> bool:
        name = as_str(self.resource.get("Name")) if self._native else None
        return is_resource(value, self.resource) is True or (name is not None and as_str(value) == name)


_OF_CLUSTERS = (ADDON, ACCESS_ENTRY, _ASSOCIATION, _NODE_GROUP, "AWS::EKS::FargateProfile")


class Misnamed(NamedTuple):
    """A resource that names a Kubernetes cluster which nothing makes, beside the one of the model."""

    resource: Resource
    path: tuple[str, ...]
    name: str
    eks: EksCluster


def named_elsewhere(model: Model) -> Iterator[Misnamed]:
    """The only resource that names a Kubernetes cluster which nothing makes, where all others name the one of the model."""
    made = eks_clusters(model)
    charts = [one for one in model.resources() if is_foreign(one) and one.get("ClusterName") is not ABSENT]
    parts = [*model.resources(*_OF_CLUSTERS), *filter(_says_chart, charts)]
    if len(made) == 1 and model.complete and as_str(made[0].resource.get("Name")) is not None:
        own = set(made[0].parts) | {one for one in made[0].hyperpod_charts if made[0].is_named_by(one)}
        others = [one for one in parts if as_str(one.get("ClusterName")) is not None]
        strange = [one for one in others if one not in own]
        if len(strange) == 1 and len(own.intersection(parts)) == len(parts) - 1 > 0:
            yield Misnamed(strange[0], ("ClusterName",), as_str(strange[0].get("ClusterName")) or "", made[0])
        joining = [one for one in clusters(model) if one.on_eks and _name_in(one.eks_arn) is not None]
        if parts and len(joining) == 1 and len(clusters(model)) == 1 and eks_of(joining[0]) is None:
            path = ("Orchestrator", "Eks", "ClusterArn")
            yield Misnamed(joining[0].resource, path, _name_in(joining[0].eks_arn) or "", made[0])
        yield from (one for chart in charts if made[0].is_named_by(chart) for one in _values_elsewhere(chart, made[0]))


def _values_elsewhere(chart: Resource, eks: EksCluster) -> Iterator[Misnamed]:
    """The values of a chart with the name of another cluster than the one that it is installed into."""
    for name, path in NAMING_CHARTS.items():
        given = as_str(at(values_in(chart.get("Values")), *path)) if as_str(chart.get("Chart")) == name else None
        if given not in (None, "", as_str(eks.resource.get("Name"))):
            yield Misnamed(chart, ("Values", *path), given or "", eks)


def installs(chart: Resource, name: str) -> bool:
    """Whether a name is in the release, the chart or the repository of a Helm chart; case does not count."""
    texts = (part for key in ("Release", "Chart", "Repository") for part in parts_of(chart.get(key)))
    return any(isinstance(text, str) and name in text.lower() for text in texts)


def _says_chart(resource: Resource, name: str = "hyperpod") -> bool:
    """Whether a custom resource is of a chart with this name by its type, its logical id or the texts in it."""
    text = f"{resource.type} {resource.logical_id} {shown(resource.get())}".lower()
    return name in text and any(word in text for word in ("chart", "helm"))


def is_foreign(resource: Resource) -> bool:
    """Whether a resource is a custom one that may install something in a Kubernetes cluster."""
    custom = resource.type.startswith("Custom::") or resource.type == _CUSTOM_RESOURCE
    return custom and _NO_INSTALLER.fullmatch(resource.type) is None


def _may_install(resource: Resource) -> bool:
    """Whether a resource may install a chart; one of another maker may do anything, and so may a nested stack that is not known."""
    if resource.type == NESTED_STACK:
        return resource.nested is None
    foreign = not resource.type.startswith("AWS::") and _NO_INSTALLER.fullmatch(resource.type) is None
    return foreign or resource.type in _INSTALLERS


def eks_clusters(model: Model) -> tuple[EksCluster, ...]:
    """The Kubernetes clusters of a model."""
    return model.cached("EKS clusters", lambda: tuple(map(EksCluster, model.resources(_NATIVE, _CUSTOM))))


def eks_of(cluster: Cluster) -> EksCluster | None:
    """The Kubernetes cluster of the model that a HyperPod cluster joins: by a reference, or by the name in the ARN."""
    name, made = _name_in(cluster.eks_arn), eks_clusters(cluster.resource.template.model)
    named = (one for one in made if name is not None and as_str(one.resource.get("Name")) == name)
    return EksCluster.of(cluster.eks_arn) or next(named, None)


def _name_in(arn: Value) -> str | None:
    """The name in the ARN of a Kubernetes cluster, if it is written."""
    last = next(reversed(parts_of(arn)), None)
    return (last.partition(":cluster/")[2] or None) if isinstance(last, str) else None


def joined(model: Model) -> Iterator[tuple[Cluster, EksCluster]]:
    """HyperPod clusters with the Kubernetes cluster that they join, if it is in the model."""
    for cluster in clusters(model):
        eks = eks_of(cluster) if cluster.on_eks else None
        if eks is not None:
            yield cluster, eks


def cni_has_own_role(model: Model) -> bool:
    """Whether the VPC CNI can have a role of its own: by its add-on, or by its service account."""
    addons = [addon for addon in model.resources("AWS::EKS::Addon") if as_str(addon.get("AddonName")) in (VPC_CNI, None)]
    values = [addon.get(key) for addon in addons for key in ("ServiceAccountRoleArn", "PodIdentityAssociations")]
    accounts = [as_str(one.get("ServiceAccount")) for one in model.resources("AWS::EKS::PodIdentityAssociation")]
    return any(value is not ABSENT for value in values) or any(account in ("aws-node", None) for account in accounts)
