from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from aws_cdk import App, CfnResource, Environment, Stack


@dataclass
class Group:
    name: str
    node_type: str | None
    count: int
    deep_health_checks: Sequence[object] = ()


@dataclass
class Cluster:
    """A cluster as the gate sees it, over a bare CloudFormation resource."""

    resource: CfnResource
    cluster_name: str | None
    instance_groups: list[Group] = field(default_factory=list)

    @property
    def cluster_arn(self) -> str:
        return self.resource.get_att("ClusterArn").to_string()


MakeCluster = Callable[..., Cluster]


@pytest.fixture
def app() -> App:
    return App()


@pytest.fixture
def stack(app: App) -> Stack:
    return Stack(app, "Stack", env=Environment(account="123456789012", region="us-west-2"))


@pytest.fixture
def make_cluster() -> MakeCluster:
    def make(stack: Stack, id: str = "Cluster", name: str = "demo", workers: int = 4) -> Cluster:
        resource = CfnResource(stack, id, type="AWS::SageMaker::Cluster")
        groups = [
            Group("controller", "Controller", 1),
            Group("login", "Login", 2),
            Group("workers", "Compute", workers),
        ]
        return Cluster(resource, name, groups)

    return make
