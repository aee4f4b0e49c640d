"""What a synthesis costs on any machine: calls into jsii, each a message to another process and its answer, and modules loaded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, Stack
from jsii._kernel.providers.process import _NodeProcess

from hyperpod_constructs import ClusterInstanceType, ClusterNetwork, HyperPodCluster, InstanceGroup, LifecycleScripts, LustreStorage
from hyperpod_constructs.node_software import lifecycle_scripts
from tests.conftest import ZONE
from tests.presets import ROOT, build

MOST_CALLS = {"announcement": 372, "kubernetes": 602}
"""By preset, of every synthesis of a process but the first, which also makes what stays. Of the first preset thirteen calls name
the policy of the upload by its content, so that the old one stays until the old scripts are deleted, and give interfaces by
network. Three load the rules while the CDK writes the templates.

Lower them when calls go. A change that raises one says what the new calls are for."""

UNUSED = ("aws_aps", "aws_budgets", "aws_cloudwatch")
"""Modules of the CDK for alarms, a budget and metrics of nodes, which neither default preset has."""

Count = Callable[[Callable[[], object]], int]


@pytest.fixture
def calls_of(monkeypatch: pytest.MonkeyPatch) -> Count:
    """Counts the calls of a function."""
    calls: list[object] = []
    send = _NodeProcess.send

    def counted(process: _NodeProcess, request: Any, response: Any) -> Any:
        calls.append(request)
        return send(process, request, response)

    monkeypatch.setattr(_NodeProcess, "send", counted)

    def count(function: Callable[[], object]) -> int:
        before = len(calls)
        function()
        return len(calls) - before

    return count


@pytest.mark.parametrize("preset", MOST_CALLS)
def test_a_preset_makes_no_more_calls_than_before(calls_of: Count, preset: str) -> None:
    build(preset).synth()
    assert calls_of(lambda: build(preset).synth()) <= MOST_CALLS[preset]


def test_a_further_group_makes_no_call(calls_of: Count) -> None:
    lifecycle_scripts._stack_piece()
    assert calls_of(lambda: _cluster(12)) == calls_of(lambda: _cluster(2))


def test_the_ids_of_a_network_are_read_once(calls_of: Count) -> None:
    stack = Stack(App(), "Stack")
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE)
    scripts = LifecycleScripts.none()
    with_network = calls_of(lambda: HyperPodCluster(stack, "One", network=network, lifecycle_scripts=scripts))
    without = calls_of(lambda: HyperPodCluster(stack, "Two", lifecycle_scripts=scripts))
    permissions, dependency = 7, 1
    assert with_network - without == permissions + dependency


def test_an_import_makes_no_call() -> None:
    """So the CDK's validator can start meanwhile: one call at a time goes to Node."""
    program = """
import aws_cdk
from jsii._kernel.providers.process import _NodeProcess

send, calls = _NodeProcess.send, []
_NodeProcess.send = lambda process, request, response: calls.append(request) or send(process, request, response)
import app, app_kubernetes, hyperpod_constructs
for name in hyperpod_constructs.__all__:
    getattr(hyperpod_constructs, name)
print(calls)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "[]\n"


def test_an_app_without_alarms_loads_no_module_for_them() -> None:
    program = "import sys, app, app_kubernetes; print([name for name in sys.argv[1:] if f'aws_cdk.{name}' in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program, *UNUSED], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "[]\n"


def _cluster(groups: int) -> None:
    app = App(context={"hyperpod:rules": False})
    stack = Stack(app, "Stack")
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE)
    LustreStorage(stack, "Lustre", network=network)
    names = [f"group-{number}" for number in range(groups)]
    kind = ClusterInstanceType.of("ml.p5.48xlarge")
    HyperPodCluster(
        stack,
        "Cluster",
        network=network,
        instance_groups=[InstanceGroup(name=name, instance_type=kind, count=1) for name in names],
    )
    app.synth()
