"""`hyperpod reach`: the ways of nodes, as text and as JSON, and the exit codes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli.commands import app
from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import slurm


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")


def reached(tmp_path: Path, changes: Mapping[str, Any], *arguments: str) -> tuple[int, str, str]:
    """The exit code, the output and the errors for a template."""
    file = tmp_path / "training.json"
    file.write_text(json.dumps(edited(slurm(), changes)), "utf-8")
    result = CliRunner().invoke(app, ["reach", str(file), *arguments])
    return result.exit_code, result.stdout, result.stderr


def test_groups_that_fare_the_same_are_one_paragraph(tmp_path: Path) -> None:
    workers = slurm()["Resources"]["Cluster"]["Properties"]["InstanceGroups"][2]
    code, output, _ = reached(tmp_path, {"Cluster/InstanceGroups/3": {**workers, "InstanceGroupName": "others"}})
    assert code == 0
    assert output.splitlines()[0] == "controller in NodeSubnet"
    assert "workers, others in NodeSubnet" in output.splitlines()
    assert "  slurmd@others             yes\n" in output
    assert "  ssmmessages               yes\n" in output
    assert "sagemaker.api" not in output


def test_the_hop_at_which_a_way_ends_is_shown(tmp_path: Path) -> None:
    code, output, _ = reached(tmp_path, {"PublicDefaultRoute": REMOVED})
    assert code == 1
    assert (
        "  logs                      no\n    x Nat is in PublicSubnet, which has no route to an\n      internet gateway\n" in output
    )
    assert max(map(len, output.splitlines())) <= 60


def test_one_target_shows_every_hop(tmp_path: Path) -> None:
    code, output, _ = reached(tmp_path, {}, "workers", "ssm")
    assert code == 0
    assert output.splitlines() == [
        "workers in NodeSubnet",
        "  ssm                       yes",
        "    TCP 443 from the nodes to ssm",
        "    + NodeSubnet has a route to NAT gateway Nat",
        "    + Nat is in PublicSubnet",
        "    + NodeGroup lets TCP 443 out to the internet",
    ]


def test_json_has_every_hop(tmp_path: Path) -> None:
    code, output, _ = reached(tmp_path, {"S3Endpoint": REMOVED, "NodeDefaultRoute": REMOVED}, "workers", "s3", "--format", "json")
    (found,) = json.loads(output)
    assert code == 1
    assert (found["group"], found["subnet"], found["target"], found["fatal"], found["reached"]) == (
        "workers",
        "NodeSubnet",
        "s3",
        True,
        False,
    )
    assert [(hop["resource"], hop["passes"]) for hop in found["ways"][0]["hops"]] == [("NodeSubnet", False)]


def test_a_call_that_nodes_do_without_fails_only_if_asked_for(tmp_path: Path) -> None:
    closed = {"NodeDefaultRoute/NatGatewayId": REMOVED, "NodeDefaultRoute/TransitGatewayId": "tgw-1"}
    assert reached(tmp_path, closed)[0] == 0
    assert "?" in reached(tmp_path, closed, "workers", "sts")[1]
    image = {f"Cluster/InstanceGroups/{index}/LifeCycleConfig": REMOVED for index in range(3)}
    alone = {"NodeDefaultRoute": REMOVED, **image}
    assert reached(tmp_path, alone, "workers", "sts")[0] == 1
    assert reached(tmp_path, alone, "workers", "st?")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("worker",), "no group 'worker'; this input has controller, login and workers"), (("*", "sqs"), "no target 'sqs'; these")],
)
def test_fails_for_a_name_that_is_not_there(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    code, _, errors = reached(tmp_path, {}, *arguments)
    assert (code, message in errors) == (2, True)


def test_fails_without_nodes_in_a_vpc(tmp_path: Path) -> None:
    code, _, errors = reached(tmp_path, {"Cluster/VpcConfig": REMOVED})
    assert (code, "no group whose nodes are in a VPC" in errors) == (2, True)
