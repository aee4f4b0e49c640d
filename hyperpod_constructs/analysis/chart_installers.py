"""What installs HyperPod's chart into a Kubernetes cluster: a chart, a custom resource, or one whose function starts a build."""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_constructs.analysis.cluster_builds import cluster_builds
from hyperpod_constructs.analysis.first_calls import called_first
from hyperpod_constructs.analysis.kubernetes import EksCluster
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource


def chart_installers(eks: EksCluster) -> tuple[Resource, ...]:
    """The resources that install HyperPod's chart when they are made."""
    model = eks.resource.template.model
    projects = [one.project for one in cluster_builds(model) if one.eks == eks and one.installs_hyperpod]
    return tuple(dict.fromkeys((*eks.hyperpod_charts, *(starter for one in projects for starter in _starters(one)))))


def _starters(project: Resource) -> Sequence[Resource]:
    """The resources whose function starts a build; of several with that function, those that name the build."""
    found = [one for one, programs in called_first(project.template.model).items() if project in programs]
    return found if len(found) == 1 else [one for one in found if project in references(one.get())]
