"""The add-ons of one control plane: which needs which, and which comes first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from hyperpod_constructs._support.deferred import check_together_at_synthesis
from hyperpod_constructs.facts.addon_versions import is_lower
from hyperpod_constructs.facts.addons import Nodes, addon_facts


@dataclass(frozen=True, kw_only=True, slots=True)
class Installed:
    """An add-on of a control plane.

    :param path: the path of `construct`.
    :param needs: the names of the add-ons that must be there before it.
    """

    construct: Construct
    path: str
    name: str
    version: str | None
    needs: tuple[str, ...]
    resource: eks.CfnAddon


class Prerequisites:
    """Puts add-ons in order, whichever is written first. `nodes` are the EC2 nodes of the control plane, for which they wait.

    :param complete: whether every add-on of the control plane is known.
    :param there: the add-ons that the control plane has already.
    """

    def __init__(self, *, complete: bool, there: Sequence[str] = ()) -> None:
        self._complete, self._there = complete, frozenset(there)
        self._installed: dict[str, Installed] = {}
        self._provided: dict[str, list[IDependable]] = {}
        self.nodes: list[IDependable] = []

    def add(self, addon: Installed) -> None:
        """Make an add-on wait for those that it needs, and those that need it wait for it.

        :raises ValueError: for a second add-on of the same name.
        """
        if addon.name in self._there:
            raise ValueError(
                f"{addon.path}: the control plane has the add-on {addon.name} already, as its argument addons says; "
                "a cluster has each add-on once: leave this construct out, or the name there"
            )
        other = self._installed.get(addon.name)
        if other is not None:
            raise ValueError(
                f"{addon.path}: the add-on {addon.name} is in {other.path} already; "
                "a cluster has each add-on once: take that construct, or remove it"
            )
        if not self._installed:
            check_together_at_synthesis(self._mistakes, resource=addon.resource)
        self._installed[addon.name] = addon
        if self.nodes and _waits_for_nodes(addon.name):
            addon.resource.node.add_dependency(*self.nodes)
        for needed in addon.needs:
            if needed in self._installed:
                addon.resource.add_resource_dependency(self._installed[needed].resource)
            for dependable in self._provided.get(needed, ()):
                addon.resource.node.add_dependency(dependable)
        for dependent in self._installed.values():
            if addon.name in dependent.needs:
                dependent.resource.add_resource_dependency(addon.resource)

    def provide(self, name: str, dependable: IDependable) -> None:
        """Let something else stand for an add-on."""
        self._provided.setdefault(name, []).append(dependable)
        for dependent in self._installed.values():
            if name in dependent.needs:
                dependent.resource.node.add_dependency(dependable)

    def has(self, name: str) -> bool:
        """Whether an add-on is there, in this app so far, or provided by something else."""
        return name in self._there or name in self._installed or name in self._provided

    def _mistakes(self) -> Iterator[tuple[Construct, str]]:
        """The add-ons that each one needs and that are missing or too old, in words."""
        for addon in self._installed.values():
            for mistake in (*self._missing(addon), *self._too_old(addon)):
                yield addon.construct, mistake

    def _missing(self, addon: Installed) -> Iterator[str]:
        for needed in addon.needs:
            if self._complete and not self.has(needed):
                yield (
                    f"the add-on {addon.name} needs the add-on {needed}, which this control plane does not have; "
                    f'write Addon(..., name="{needed}"), or control_plane.add_provided("{needed}", ...) if a chart brings it'
                )

    def _too_old(self, addon: Installed) -> Iterator[str]:
        facts = addon_facts(addon.name)
        least = {} if facts is None else {**facts.prerequisites, **facts.companions}
        for name, version in least.items():
            other = self._installed.get(name)
            if version is not None and other is not None and other.version is not None and is_lower(other.version, version):
                yield (
                    f"the add-on {addon.name} needs {name} v{version} or newer; {other.path} has {other.version}; "
                    f"raise its version, or leave it out for the default of EKS"
                )


def _waits_for_nodes(name: str) -> bool:
    facts = addon_facts(name)
    return facts is None or facts.nodes is not Nodes.NONE
