"""The blocks that a VPC can have together."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from hyperpod_constructs.facts import cidr_blocks


@pytest.mark.parametrize(
    ("block", "text"),
    [("10.0.0.0/15", "is a /15"), ("10.0.0.0/29", "is a /29"), ("169.254.8.0/24", "is link-local")],
)
def test_no_vpc_has_it(block: str, text: str) -> None:
    assert text in (cidr_blocks.mistake(IPv4Network(block)) or "")


@pytest.mark.parametrize("block", ["10.0.0.0/16", "172.31.0.0/28", "100.64.0.0/16", "198.19.0.0/16", "8.8.0.0/16"])
def test_a_vpc_has_it_alone(block: str) -> None:
    assert cidr_blocks.mistake(IPv4Network(block)) is None
    assert cidr_blocks.addition_mistake(IPv4Network(block), []) is None


@pytest.mark.parametrize(
    ("block", "existing", "why"),
    [
        ("10.0.128.0/17", ["10.0.0.0/16"], "overlaps 10.0.0.0/16"),
        ("10.0.0.0/16", ["10.1.0.0/16"], "beside a block of 10.0.0.0/15"),
        ("10.0.16.0/20", ["10.0.0.0/20"], "beside a block of 10.0.0.0/15"),
        ("10.0.0.0/16", ["10.2.0.0/16", "10.1.0.0/16"], "beside a block of 10.0.0.0/15"),
        ("172.16.0.0/16", ["10.0.0.0/16"], "beside a block of 10.0.0.0/8"),
        ("192.168.0.0/16", ["10.0.0.0/16"], "beside a block of 10.0.0.0/8"),
        ("198.19.0.0/20", ["10.0.0.0/16"], "beside a block of 10.0.0.0/8"),
        ("172.31.0.0/20", ["172.16.0.0/16"], "beside a block of 172.16.0.0/12"),
        ("10.0.0.0/16", ["192.168.0.0/16"], "beside a block of 192.168.0.0/16"),
        ("10.0.0.0/16", ["198.19.0.0/16"], "beside a block of 198.19.0.0/16"),
        ("10.0.0.0/16", ["100.64.0.0/16"], "beside a block of a public range or 100.64.0.0/10"),
        ("198.19.0.0/16", ["8.8.0.0/16"], "beside a block of a public range or 100.64.0.0/10"),
    ],
)
def test_it_cannot_be_added(block: str, existing: list[str], why: str) -> None:
    mistake = cidr_blocks.addition_mistake(IPv4Network(block), [IPv4Network(one) for one in existing])
    assert why in (mistake or "")


@pytest.mark.parametrize(
    ("block", "existing"),
    [
        ("10.1.0.0/16", ["10.0.0.0/16"]),
        ("10.0.0.0/16", ["10.2.0.0/16"]),
        ("100.64.0.0/16", ["10.0.0.0/16"]),
        ("198.18.0.0/16", ["10.0.0.0/16"]),
        ("172.17.0.0/16", ["172.31.0.0/16"]),
        ("10.2.0.0/16", ["10.0.0.0/16", "100.64.0.0/16"]),
        ("8.8.0.0/16", ["100.64.0.0/16"]),
    ],
)
def test_it_can_be_added(block: str, existing: list[str]) -> None:
    assert cidr_blocks.addition_mistake(IPv4Network(block), [IPv4Network(one) for one in existing]) is None
