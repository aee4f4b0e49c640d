"""Add-ons of the Kubernetes clusters in the templates, with their facts and the identities of their pods.

>>> [(addon.name, addon.version) for addon in addons(model)]
[('vpc-cni', 'v1.20.1-eksbuild.3')]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hyperpod_constructs.analysis.clusters import given
from hyperpod_constructs.analysis.embedded import parsed, values_in
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.kubernetes import ADDON, EksCluster, eks_clusters
from hyperpod_constructs.facts.addons import COREDNS, AddonFacts, ConfiguredRole, Identity, addon_facts
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import UNKNOWN, Value, as_items, as_str, at


@dataclass(frozen=True)
class Addon:
    """An add-on; `eks` is its cluster, if that is in the model."""

    resource: Resource
    name: str
    eks: EksCluster | None

    @property
    def path(self) -> tuple[str | int, ...]:
        """Its place in the resource: it is the whole."""
        return ()

    @property
    def facts(self) -> AddonFacts | None:
        """What is known of add-ons of this name."""
        return addon_facts(self.name)

    @property
    def version(self) -> str | None:
        """Its version, if that is written and known."""
        return as_str(self.resource.get("AddonVersion"))

    @property
    def configuration(self) -> Mapping[str, Any] | None:
        """Its configuration, if that is known; EKS takes JSON and YAML."""
        found = parsed(self.resource.get("ConfigurationValues"), yaml=True)
        return found if isinstance(found, dict) else None

    @cached_property
    def values(self) -> Value:
        """Its configuration in JSON, in which references stay references."""
        return values_in(self.resource.get("ConfigurationValues"))

    @property
    def needed(self) -> Mapping[str, str | None]:
        """The add-ons that must be there before it, with the lowest version of each."""
        return {} if self.facts is None else self.facts.prerequisites

    @cached_property
    def identities(self) -> tuple[tuple[Identity, tuple[Resource, ...]], ...]:
        """The service accounts of its pods that need a role, each with its associations outside the add-on."""
        accounts = () if self.facts is None else self.facts.identities
        return tuple((one, tuple(filter(lambda found: _is_of(found, one), self._associations))) for one in accounts)

    @property
    def given_identities(self) -> tuple[Resource, ...]:
        """The associations outside the add-on for its service accounts, also for those that need no role, in their namespace."""
        needed = (one for _, associations in self.identities for one in associations)
        accounts, namespace = ((), "") if self.facts is None else (self.facts.accounts, self.facts.namespace)
        here = (one for one in self._associations if as_str(one.get("Namespace")) in (namespace, None))
        others = (one for one in here if as_str(one.get("ServiceAccount")) in accounts)
        return tuple(dict.fromkeys((*needed, *others)))

    @property
    def roles(self) -> tuple[Resource, ...]:
        """The roles of its pods that are in the model, whichever way they are given."""
        own = [at(one, "RoleArn") for one in as_items(self.resource.get("PodIdentityAssociations")) or ()]
        outside = [one.get("RoleArn") for one in self.given_identities]
        found = [resource_of(value, ROLE) for value in (*own, self.resource.get("ServiceAccountRoleArn"), *outside)]
        return tuple(dict.fromkeys(role for role in found if role is not None))

    @property
    def configured_roles(self) -> Iterator[tuple[ConfiguredRole, Resource]]:
        """The roles of the model in its configuration."""
        for one in () if self.facts is None else self.facts.roles:
            role = resource_of(at(self.values, *one.at), ROLE)
            if role is not None:
                yield one, role

    @property
    def has_inline_identity(self) -> bool:
        """Whether its pods have an identity that is written in the add-on itself."""
        return bool(as_items(self.resource.get("PodIdentityAssociations")))

    @property
    def has_own_role(self) -> bool | None:
        """Whether a role is written in the add-on itself: as an association, or for its service account."""
        inline = given(self.resource.get("PodIdentityAssociations"))
        return self.has_inline_identity or inline is None or given(self.resource.get("ServiceAccountRoleArn")) is not False

    @property
    def _associations(self) -> tuple[Resource, ...]:
        """Those of its cluster, and of one that is not known."""
        if self.eks is None:
            return ()
        model = self.resource.template.model
        unknown = (one for one in model.resources("AWS::EKS::PodIdentityAssociation") if one.get("ClusterName") is UNKNOWN)
        return (*self.eks.pod_identities, *unknown)


def tolerates_nothing(addon: Resource) -> bool:
    """Whether the pods of CoreDNS surely have no tolerations beside their own."""
    written = addon.get("ConfigurationValues")
    values = parsed(written, yaml=True)
    plain = given(written) is False or (isinstance(values, dict) and "tolerations" not in values)
    return plain and as_str(addon.get("AddonName")) == COREDNS


def _is_of(association: Resource, identity: Identity) -> bool:
    """Whether an association is for a service account, or may be."""
    account, namespace = (as_str(association.get(key)) for key in ("ServiceAccount", "Namespace"))
    return account in (identity.service_account, None) and namespace in (identity.namespace, None)


def addons(model: Model) -> tuple[Addon, ...]:
    """The add-ons with known names; computed once."""
    return model.cached(Addon, lambda: tuple(_all(model)))


def _all(model: Model) -> Iterator[Addon]:
    of = {resource: eks for eks in eks_clusters(model) for resource in eks.addons.values()}
    for resource in model.resources(ADDON):
        name = as_str(resource.get("AddonName"))
        if name is not None:
            yield Addon(resource, name, of.get(resource))


def addons_of(eks: EksCluster) -> tuple[Addon, ...]:
    """The add-ons of a cluster."""
    return tuple(addon for addon in addons(eks.resource.template.model) if addon.eks == eks)
