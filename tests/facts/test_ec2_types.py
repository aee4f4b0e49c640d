"""Instance types of EC2."""

from __future__ import annotations

import pytest

from hyperpod_constructs.facts.ec2_types import impossible_type


@pytest.mark.parametrize("name", ["m7g.2xlarge", "p5.48xlarge", "u7i-12tb.224xlarge", "m99.large"])
def test_a_type_is_possible(name: str) -> None:
    assert impossible_type(name) is None


@pytest.mark.parametrize(
    ("name", "said"),
    [("m7g.3xlarge", "the family m7g has no size 3xlarge"), ("m7g2xlarge", "is no instance type"), ("M7g.large", "is no")],
)
def test_a_type_is_impossible(name: str, said: str) -> None:
    assert said in (impossible_type(name) or "")
