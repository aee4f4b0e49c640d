"""Builds that work on a Kubernetes cluster by `kubectl` and `helm`, as their own role.

Sources: https://docs.aws.amazon.com/eks/latest/userguide/create-kubeconfig.html and https://helm.sh/docs/helm/
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hyperpod_constructs.analysis.build_commands import builds
from hyperpod_constructs.analysis.cli_calls import Line, lines_of
from hyperpod_constructs.analysis.kubernetes import EksCluster, eks_clusters
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.facts.cli import CHANGING, HELM_FLAGS, INSTALLING
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import Value, as_str

_ASSUMING = ("profile", "role-arn")


class ClusterBuild(NamedTuple):
    """A build that works on a Kubernetes cluster."""

    project: Resource
    build: Run
    eks: EksCluster

    @property
    def charts(self) -> tuple[Line, ...]:
        """Its commands that install charts."""
        return tuple(line for line in lines_of(self.build, "helm", HELM_FLAGS) if line.word(0) in INSTALLING)

    @property
    def changes(self) -> bool:
        """Whether it surely changes objects of the cluster."""
        return bool(self.charts) or any(line.word(0) in CHANGING for line in lines_of(self.build, "kubectl"))

    @property
    def installs_hyperpod(self) -> bool:
        """Whether it installs HyperPod's chart."""
        return any("hyperpodhelmchart" in line.word(2).lower() for line in self.charts)


def cluster_builds(model: Model) -> tuple[ClusterBuild, ...]:
    """The builds that work on Kubernetes clusters of a model; computed once."""
    return model.cached(cluster_builds, lambda: tuple(_found(model)))


def _found(model: Model) -> Iterator[ClusterBuild]:
    for project, build in builds(model) if eks_clusters(model) else ():
        named = list(_named(model, build))
        uses = any(one.name in ("helm", "kubectl") for one in build.commands)
        if len(named) == 1 and uses:
            yield ClusterBuild(project, build, named[0])


def _named(model: Model, build: Run) -> Iterator[EksCluster]:
    """The clusters whose settings a build fetches for its own role."""
    for line in lines_of(build, "aws"):
        name = line.options.get("name")
        own = not any(one in line.options for one in _ASSUMING)
        if line.word(0) == "eks" and line.word(1) == "update-kubeconfig" and isinstance(name, tuple) and own:
            yield from _of_name(model, build.value(name))


def _of_name(model: Model, name: Value) -> Iterator[EksCluster]:
    text, found = as_str(name), EksCluster.of(name)
    if found is not None:
        yield found
    elif text is not None:
        yield from (one for one in eks_clusters(model) if as_str(one.resource.get("Name")) == text)
