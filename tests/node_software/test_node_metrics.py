"""The figures of nodes: their settings, what nodes get to know of them, and what the cluster permits for them."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2

from hyperpod_constructs import (
    ClusterInstanceType,
    ClusterNetwork,
    LifecycleScripts,
    LustreStorage,
    ManagedPrometheus,
    NodeMetrics,
    NodeMetricSet,
    SlurmCluster,
)
from hyperpod_constructs.facts.prometheus import NODE_FIGURES
from tests.conftest import only, resources, synthesize
from tests.presets import ROOT

TRN1 = ClusterInstanceType.TRN1_32XLARGE


@pytest.fixture
def make(stack: Stack, network: ClusterNetwork, lustre: LustreStorage) -> Any:
    def cluster(**given: Any) -> SlurmCluster:
        return SlurmCluster(stack, "Slurm", network=network, file_system=lustre, worker_type=TRN1, worker_count=2, **given)

    return cluster


def told(stack: Stack) -> Any:
    """The key `metrics` of the rendered configuration, with `?` in place of what only the deployment knows."""
    synthesize(stack)
    text = only(stack, "Custom::HyperPodScriptsUpload")["Properties"]["Configuration"]
    parts = text["Fn::Join"][1] if isinstance(text, dict) else [text]
    return json.loads("".join(part if isinstance(part, str) else "?" for part in parts))["software"].get("metrics")


def statements(stack: Stack) -> list[dict[str, Any]]:
    policies = [found["Properties"]["PolicyDocument"] for found in resources(stack, "AWS::IAM::Policy").values()]
    return [statement for policy in policies for statement in policy["Statement"]]


def test_nodes_tell_nothing_unless_they_are_asked(stack: Stack, make: Any) -> None:
    make()
    assert told(stack) is None


def test_the_defaults_are_cloudwatch_and_loopback(stack: Stack, make: Any) -> None:
    make(node_metrics=NodeMetrics())
    assert told(stack) == {
        "interval_seconds": 60,
        "sets": ["gpu", "memory", "neuron", "efa", "disk"],
        "port": 9190,
        "address": "127.0.0.1",
        "cloudwatch": {"namespace": "HyperPod/Nodes", "region": "?", "per_node": True},
    }
    (put,) = [one for one in statements(stack) if one["Action"] == "cloudwatch:PutMetricData"]
    assert put["Condition"] == {"StringEquals": {"cloudwatch:namespace": "HyperPod/Nodes"}}
    assert not any("aps:" in str(one["Action"]) for one in statements(stack))


def test_nodes_write_to_one_workspace_of_prometheus(stack: Stack, make: Any) -> None:
    prometheus = ManagedPrometheus(stack, "Prometheus")
    make(node_metrics=NodeMetrics(remote_write=prometheus, cloudwatch=False, sets=[NodeMetricSet.NEURON]))
    metrics = told(stack)
    assert "cloudwatch" not in metrics
    assert metrics["remote_write"] == {"url": "https://aps-workspaces.?.?/workspaces/?/api/v1/remote_write", "region": "?"}
    (write,) = [one for one in statements(stack) if one["Action"] == "aps:RemoteWrite"]
    assert write["Resource"] == stack.resolve(prometheus.workspace_arn)
    assert not any(one["Action"] == "cloudwatch:PutMetricData" for one in statements(stack))


def test_what_is_rendered_is_what_nodes_read(stack: Stack, make: Any) -> None:
    scraper = ec2.SecurityGroup.from_security_group_id(stack, "Scraper", "sg-0123456789abcdef0")
    make(node_metrics=NodeMetrics(remote_write=ManagedPrometheus(stack, "Prometheus"), scraper=scraper, per_node=False))
    sys.path.insert(0, str(ROOT / "lifecycle"))
    try:
        from node_setup.software import parse_software
    finally:
        sys.path.remove(str(ROOT / "lifecycle"))
    known = json.loads(json.dumps(told(stack)).replace("?", "us-west-2"))
    parsed = parse_software({"metrics": known}).metrics
    assert parsed is not None
    assert (parsed.address, parsed.port, parsed.interval_seconds) == ("0.0.0.0", 9190, 60)
    assert parsed.remote_write is not None
    assert parsed.cloudwatch is not None


def test_only_the_scraper_reaches_the_page_over_the_network(stack: Stack, make: Any) -> None:
    scraper = ec2.SecurityGroup.from_security_group_id(stack, "Scraper", "sg-0123456789abcdef0")
    make(node_metrics=NodeMetrics(scraper=scraper, port=9191))
    assert told(stack)["address"] == "0.0.0.0"
    rules = [found["Properties"] for found in resources(stack, "AWS::EC2::SecurityGroupIngress").values()]
    (rule,) = [one for one in rules if one.get("FromPort") == 9191]
    assert (rule["SourceSecurityGroupId"], rule["ToPort"], rule["IpProtocol"]) == ("sg-0123456789abcdef0", 9191, "tcp")


def test_a_closed_network_gets_the_endpoint_of_prometheus(make_stack: Any) -> None:
    stack = make_stack()
    network = ClusterNetwork(stack, "Network", availability_zone_id="usw2-az4", internet=False)
    metrics = NodeMetrics(remote_write=ManagedPrometheus(stack, "Prometheus"))
    lustre = LustreStorage(stack, "Lustre", network=network)
    SlurmCluster(stack, "Slurm", network=network, file_system=lustre, worker_type=TRN1, worker_count=1, node_metrics=metrics)
    endpoints = [str(found["Properties"]["ServiceName"]) for found in resources(stack, "AWS::EC2::VPCEndpoint").values()]
    assert sum(1 for name in endpoints if re.search(r"\.aps-workspaces\b", name)) == 1
    assert sum(1 for name in endpoints if re.search(r"\.monitoring\b", name)) == 1


def test_a_network_with_internet_gets_none(stack: Stack, make: Any) -> None:
    make(node_metrics=NodeMetrics(remote_write=ManagedPrometheus(stack, "Prometheus")))
    synthesize(stack)
    assert [one for one in resources(stack, "AWS::EC2::VPCEndpoint").values() if "aps" in str(one)] == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"interval_seconds": 5}, "interval_seconds is 5; allowed: 15 to 3600; write interval_seconds=15"),
        ({"port": 80}, "port is 80; allowed: 1024 to 65535"),
        ({"namespace": "AWS/Nodes"}, "namespace is 'AWS/Nodes'; allowed: 1 to 255 letters"),
        ({"sets": []}, "NodeMetrics: sets is empty; allowed: each of gpu, memory, neuron, efa, disk once"),
        ({"sets": [NodeMetricSet.GPU, NodeMetricSet.GPU]}, "NodeMetrics: sets has gpu twice"),
        ({"sets": ["cpu"]}, "sets"),
    ],
)
def test_fails_for_settings_that_nodes_would_refuse(given: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        NodeMetrics(**given)


def test_tokens_are_taken(stack: Stack) -> None:
    seconds: Any = CfnParameter(stack, "Seconds", type="Number").value_as_number
    name = CfnParameter(stack, "Name").value_as_string
    assert NodeMetrics(interval_seconds=seconds, namespace=name).namespace == name


def test_fails_beside_scripts_with_a_software_of_their_own(make: Any) -> None:
    with pytest.raises(ValueError, match=r"Slurm: node_metrics stands beside lifecycle_scripts, .*NodeSoftware\(metrics="):
        make(node_metrics=NodeMetrics(), lifecycle_scripts=LifecycleScripts.from_asset())


def test_the_figures_of_the_facts_are_those_that_nodes_send() -> None:
    sys.path.insert(0, str(ROOT / "lifecycle"))
    try:
        from node_metrics.figures import SETS
    finally:
        sys.path.remove(str(ROOT / "lifecycle"))
    assert {name: sorted(figures) for name, figures in SETS.items()} == {
        name: sorted(figures) for name, figures in NODE_FIGURES.items()
    }
