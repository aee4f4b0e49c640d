"""`resource_config.json` in bad states: late, stale, cut, large."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest
from node_setup.config import parse_config
from node_setup.errors import NodeSetupError
from node_setup.role import Role, await_role, read_role

from .conftest import instances
from .machine import CONFIG, TestClock

PARSED = parse_config(CONFIG)


def document(groups: Any) -> dict[str, Any]:
    return {"ClusterConfig": {"ClusterName": "demo", "ClusterArn": "arn:aws:sagemaker:x:1:cluster/abc"}, "InstanceGroups": groups}


class LateClock(TestClock):
    """Writes the next version of the file while the reader sleeps."""

    __test__ = False

    def __init__(self, path: Path, versions: list[str]) -> None:
        super().__init__()
        self.path = path
        self.versions = versions

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.versions:
            self.path.write_text(self.versions.pop(0), encoding="utf-8")


def awaited(path: Path, versions: list[str], seconds: float = 60) -> Role:
    clock = LateClock(path, versions)
    return await_role(path, PARSED, ["10.1.0.5"], clock.monotonic() + seconds, clock)


def test_a_late_cut_and_stale_file_is_read_again(tmp_path: Path) -> None:
    whole = json.dumps(document([instances("controller", "10.1.0.4"), instances("workers", "10.1.0.5")]))
    stale = json.dumps(document([{"Name": "workers", "Instances": None}]))
    role = awaited(tmp_path / "resource_config.json", [whole[:40], "", "[]", stale, whole])
    assert (role.group, role.node_type, role.address) == ("workers", "Compute", "10.1.0.5")
    assert role.controllers == ["10.1.0.4"]
    assert role.cluster == "abc"


def test_fails_when_the_file_stays_cut(tmp_path: Path) -> None:
    with pytest.raises(NodeSetupError, match=r"resource_config.json: is not JSON"):
        awaited(tmp_path / "resource_config.json", ["{"])


def test_a_node_that_is_never_listed_has_no_role(tmp_path: Path) -> None:
    role = awaited(tmp_path / "resource_config.json", [json.dumps(document(None))])
    assert role.group is None
    assert str(role).startswith("role: unknown")


def test_a_node_among_thousands_is_found_quickly(tmp_path: Path) -> None:
    path = tmp_path / "resource_config.json"
    many = [{"CustomerIpAddress": f"10.{number // 250}.{number % 250}.7", "InstanceId": f"i-{number}"} for number in range(5000)]
    path.write_text(json.dumps(document([{"Name": "workers", "Instances": many}])), encoding="utf-8")
    started = time.perf_counter()
    role = read_role(path, PARSED, ["10.19.249.7"])
    assert role.instance_id == "i-4999"
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("seed", range(40))
def test_every_listed_node_finds_its_own_group_and_no_other_does(tmp_path: Path, seed: int) -> None:
    """Properties over random clusters; groups without instances, instances without an address."""
    chance = random.Random(seed)
    path = tmp_path / "resource_config.json"
    places: dict[str, str] = {}
    groups = []
    for name in chance.sample(list(PARSED.groups), chance.randint(1, 3)):
        members: list[dict[str, Any]] = []
        for _ in range(chance.randint(0, 30)):
            address = f"10.{chance.randint(0, 255)}.{chance.randint(0, 255)}.{chance.randint(1, 254)}"
            if address not in places:
                places[address] = name
                members.append({"CustomerIpAddress": address})
        members.insert(0, {"CustomerIpAddress": None})
        groups.append({"Name": name, "Instances": chance.choice([members, members, None]) if len(members) == 1 else members})
    path.write_text(json.dumps(document(groups)), encoding="utf-8")
    for address, name in places.items():
        assert read_role(path, PARSED, ["192.168.0.1", address]).group == name
    assert read_role(path, PARSED, ["192.168.0.1"]).group is None
    expected = [address for address, name in places.items() if name == "controller"]
    assert read_role(path, PARSED, []).controllers == expected


@pytest.mark.parametrize("seed", range(40))
def test_a_file_cut_anywhere_is_an_error_with_its_path_or_no_error(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    text = json.dumps(document([instances("controller", "10.1.0.4"), instances("workers", "10.1.0.5")]))
    path = tmp_path / "resource_config.json"
    path.write_text(text[: chance.randint(0, len(text) - 1)], encoding="utf-8")
    with pytest.raises(NodeSetupError, match=r"resource_config.json: "):
        read_role(path, PARSED, ["10.1.0.5"])
