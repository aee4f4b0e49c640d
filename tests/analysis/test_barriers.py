"""What bars internet gateways bars the way of NAT gateways too, unless it is excluded."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.ended_ways import ended_ways
from tests.analysis.test_ended_ways import NETWORK, OUT, PUBLIC
from tests.templates.models import model_of

NAT = "Nat: {Type: AWS::EC2::NatGateway, Properties: {SubnetId: !Ref Outer, AllocationId: eipalloc-1}},"


def option(mode: str) -> str:
    return f"Bar: {{Type: AWS::EC2::VPCBlockPublicAccessOptions, Properties: {{InternetGatewayBlockMode: {mode}}}}},"


def exclusion(place: str) -> str:
    own = f"{{InternetGatewayExclusionMode: allow-egress, {place}}}"
    return f"But: {{Type: AWS::EC2::VPCBlockPublicAccessExclusion, Properties: {own}}},"


@pytest.mark.parametrize(
    ("resources", "ends"),
    [
        ([], []),
        ([option("block-ingress")], []),
        ([option("block-bidirectional")], ["Bar"]),
        ([option("block-bidirectional"), exclusion("VpcId: !Ref Vpc")], []),
        ([option("block-bidirectional"), exclusion("SubnetId: !Ref Outer")], []),
        ([option("block-bidirectional"), exclusion("SubnetId: !Ref Subnet")], ["Bar"]),
    ],
)
def test_the_internet_is_barred_but_for_what_is_excluded(resources: list[str], ends: list[Any]) -> None:
    model = model_of(f"{{Resources: {{{NETWORK} {PUBLIC} {NAT} {OUT} {' '.join(resources)}}}}}")
    assert [one.way.end.resource.logical_id for one in ended_ways(model) if one.way.end is not None] == ends
