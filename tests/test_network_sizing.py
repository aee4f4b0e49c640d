"""Blocks by the most nodes: interface arithmetic, room for file systems, several zones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack

from hyperpod_constructs import ClusterInstanceType, ClusterNetwork, LustreStorage, SlurmCluster
from tests.conftest import ZONE, resources

P5, TRN1, M5 = ClusterInstanceType.P5_48XLARGE, ClusterInstanceType.TRN1_32XLARGE, ClusterInstanceType.M5_XLARGE


def node_block(stack: Stack, name: str = "Node") -> str:
    (subnet,) = [one for id, one in resources(stack, "AWS::EC2::Subnet").items() if f"Network{name}Subnet" in id]
    return str(subnet["Properties"]["CidrBlock"])


@pytest.mark.parametrize(
    ("max_nodes", "pods", "block"),
    [
        ({M5: 1}, False, "10.1.0.0/25"),  # 1 + 64 + 5 = 70
        ({M5: 3, P5: 5}, False, "10.1.0.0/24"),  # 3 + 160 + 64 + 5 = 232
        ({M5: 3, P5: 6}, False, "10.1.0.0/23"),  # 3 + 192 + 64 + 5 = 264
        ({P5: 64}, False, "10.1.0.0/20"),  # 2048 + 69
        ({P5: 64}, True, "10.1.0.0/19"),  # 64 * 81 + 69 = 5253
        ({TRN1: 64}, False, "10.1.0.0/22"),  # 512 + 69
        ({P5: 2045}, False, "10.1.0.0/16"),  # 65440 + 69 = 65509
        ({P5: 0}, False, "10.1.0.0/25"),
    ],
)
def test_the_block_is_the_smallest_that_holds_nodes_and_file_systems(
    stack: Stack, max_nodes: Mapping[Any, int], pods: bool, block: str
) -> None:
    ClusterNetwork(stack, "Network", availability_zone_id=ZONE, max_nodes=max_nodes, pods=pods)
    assert node_block(stack) == block


@pytest.mark.parametrize(
    ("cidr", "block"),
    [
        ("10.1.0.0/16", "10.2.0.0/20"),  # EC2 takes none of 10.0.0.0/16 beside it
        ("10.9.0.0/16", "10.0.0.0/20"),
        ("192.168.0.0/16", "100.64.0.0/20"),
        ("172.16.0.0/16", "100.64.0.0/20"),
        ("100.64.0.0/16", "100.65.0.0/20"),
    ],
)
def test_the_block_goes_with_that_of_the_vpc(stack: Stack, cidr: str, block: str) -> None:
    ClusterNetwork(stack, "Network", availability_zone_id=ZONE, cidr=cidr, max_nodes={P5: 64})
    assert node_block(stack) == block


def test_subnets_in_further_zones_have_blocks_that_growth_of_another_does_not_move(make_stack: Callable[..., Stack]) -> None:
    def blocks(first: int) -> list[str]:
        stack = make_stack("us-west-2")
        network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE, max_nodes={P5: first})
        network.add_node_subnet("Second", max_nodes={TRN1: 8}, availability_zone_id="usw2-az1")
        network.add_node_subnet("Third", max_nodes={M5: 100}, pods=True, availability_zone_id="usw2-az2")
        return [node_block(stack, name) for name in ("Node", "Second", "Third")]

    assert blocks(4) == ["10.1.0.0/24", "10.2.0.0/24", "10.3.0.0/21"]
    assert blocks(400) == ["10.1.0.0/18", "10.2.0.0/24", "10.3.0.0/21"]


def test_a_block_starts_at_a_16_that_no_other_block_touches(stack: Stack) -> None:
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE)
    network.add_node_subnet("Second", cidr="10.2.128.0/20", availability_zone_id="usw2-az1")
    network.add_node_subnet("Third", max_nodes={M5: 1}, availability_zone_id="usw2-az2")
    assert node_block(stack, "Third") == "10.3.0.0/25"


def test_more_nodes_than_it_was_made_for_are_found_at_the_synthesis() -> None:
    stack = Stack(App(), "Stack", env=Environment(account="123456789012", region="us-west-2"))
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE, max_nodes={M5: 1, P5: 4})
    storage = LustreStorage(stack, "Lustre", network=network)
    SlurmCluster(stack, "Slurm", network=network, file_system=storage, worker_type=P5, worker_count=9)

    with pytest.raises(RuntimeError, match=r"has 251 addresses, and 291 are needed: controller 1, workers 288"):
        resources(stack)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_nodes": {P5: 64}, "node_cidr": "10.1.0.0/16"}, "node_cidr '10.1.0.0/16' beside max_nodes, which makes the block"),
        ({"max_nodes": {}}, "max_nodes is empty; write the most nodes by type, or node_cidr"),
        (
            {"max_nodes": {P5: 2000, TRN1: 200}},
            "max_nodes needs 65664 addresses (ml.p5.48xlarge 64000, ml.trn1.32xlarge 1600, file systems 64), and the largest "
            "subnet, a /16, has 65531; lower the numbers, or spread the nodes over subnets by add_node_subnet",
        ),
        (
            {"max_nodes": {replace(P5, network_cards=None): 1}},
            "max_nodes has ml.p5.48xlarge, whose number of network cards is not known; tell it by dataclasses.replace",
        ),
        ({"max_nodes": {P5: 1}, "cidr": "ten"}, "cidr 'ten' is not an IPv4 block"),
        ({"max_nodes": {P5: -1}}, "max_nodes"),
    ],
)
def test_fails_on_nodes_that_no_block_can_be_made_for(stack: Stack, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Network: ") as caught:
        ClusterNetwork(stack, "Network", availability_zone_id=ZONE, **parameters)
    assert message in str(caught.value)


def test_fails_on_values_of_the_deployment(stack: Stack) -> None:
    count = CfnParameter(stack, "Count", type="Number").value_as_number
    kind = ClusterInstanceType.of(CfnParameter(stack, "Kind").value_as_string)
    cidr = CfnParameter(stack, "Cidr").value_as_string
    unknown: list[dict[str, Any]] = [{"max_nodes": {P5: count}}, {"max_nodes": {kind: 4}}, {"max_nodes": {P5: 4}, "cidr": cidr}]
    for parameters in unknown:
        with pytest.raises(ValueError, match="known only at the deployment; write node_cidr in its place"):
            ClusterNetwork(stack, "Network", availability_zone_id=ZONE, **parameters)
        stack.node.try_remove_child("Network")


def test_fails_on_a_further_subnet_without_a_size(stack: Stack) -> None:
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE)
    with pytest.raises(ValueError, match=r"^Stack/Network/X: neither cidr nor max_nodes is given; write cidr="):
        network.add_node_subnet("X", availability_zone_id="usw2-az1")
    with pytest.raises(ValueError, match=r"^Stack/Network/X: cidr '10\.2\.0\.0/16' beside max_nodes"):
        network.add_node_subnet("X", cidr="10.2.0.0/16", max_nodes={P5: 1}, availability_zone_id="usw2-az1")


def test_fails_in_a_vpc_without_a_free_place(stack: Stack) -> None:
    network = ClusterNetwork(stack, "Network", availability_zone_id=ZONE)
    network._blocks += [f"10.{number}.0.0/16" for number in range(2, 256)]
    network._blocks += [f"100.{number}.0.0/16" for number in range(64, 128)]
    with pytest.raises(ValueError, match=r"no free /16 in 10\.0\.0\.0/8 or 100\.64\.0\.0/10; write cidr"):
        network.add_node_subnet("X", max_nodes={P5: 1}, availability_zone_id="usw2-az1")
