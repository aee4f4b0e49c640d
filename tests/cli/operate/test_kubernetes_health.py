"""Health labels of Kubernetes in `hyperpod nodes` and `status`, from a Kubernetes API that a test describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from hyperpod_constructs.cli.kubernetes_api import KubernetesError
from hyperpod_constructs.cli.operate import kubernetes_health as module
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ASKED, CLUSTER, SUBNETS, node, run
from tests.cli.test_kubeconfig import answer_kubernetes

EKS = {"Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:111122223333:cluster/training"}}}
SICK, WELL = "i-00000000000000002", "i-00000000000000003"
PREFIX = "sagemaker.amazonaws.com"


class Api:
    """A Kubernetes API whose answers are given; it notes the roles whose tokens it gets, and the queries."""

    pages: list[dict[str, Any] | str]
    roles: list[str | None]
    queries: list[dict[str, list[str]]]

    def __init__(self, cluster: object, token: str | None, *, seconds: float) -> None:
        type(self).roles.append(token)

    def get(self, path: str) -> dict[str, Any]:
        type(self).queries.append(parse_qs(urlsplit(path).query))
        page = type(self).pages.pop(0)
        if isinstance(page, str):
            raise KubernetesError(page)
        return page


def page(*names: str, more: str = "", **labels: str) -> dict[str, Any]:
    found = {f"{PREFIX}/{key.replace('_', '-')}": value for key, value in labels.items()}
    items = [{"metadata": {"name": name, "labels": found}} for name in names]
    return {"metadata": {"continue": more} if more else {}, "items": items}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch, workdir: Path) -> type[Api]:
    monkeypatch.setattr(module, "KubernetesApi", Api)
    monkeypatch.setattr(module, "token", lambda target, name, role: role)
    Api.pages, Api.roles, Api.queries = [], [], []
    return Api


def looked_at(account: StubbedTarget, **members: Any) -> None:
    account.answer("sagemaker", "describe_cluster", {**CLUSTER, **EKS, **members})
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": [node(2), node(3)]}, **ASKED)
    account.answer("ec2", "describe_subnets", SUBNETS)


def nodes(*arguments: str) -> Any:
    return run("nodes", "--cluster", "trainer", *arguments)


def test_an_unhealthy_node_says_what_kubernetes_knows(account: StubbedTarget, api: type[Api]) -> None:
    looked_at(account)
    answer_kubernetes(account)
    health = {"node_health_status": "UnschedulablePendingReplacement", "deep_health_check_status": "Failed"}
    api.pages = [page(f"hyperpod-{SICK}", "ip-10-0-0-1.ec2.internal", **health, fault_types="XidHardwareFailure")]
    sick, well = json.loads(nodes("-o", "json").stdout)
    said = "UnschedulablePendingReplacement, deep health checks Failed, XidHardwareFailure"
    assert (sick["node"], sick["kubernetes"], sick["status"]) == (SICK, said, f"Running; in Kubernetes {said}")
    assert (well["node"], well["kubernetes"], well["status"]) == (WELL, None, "Running")
    assert api.queries == [
        {"labelSelector": [f"{PREFIX}/node-health-status,{PREFIX}/node-health-status!=Schedulable"], "limit": ["500"]}
    ]


def test_it_needs_a_look(account: StubbedTarget, api: type[Api]) -> None:
    looked_at(account)
    answer_kubernetes(account)
    api.pages = [page(more="next"), page(f"hyperpod-{SICK}", node_health_status="UnschedulablePendingReboot\x1b[2J")]
    result = run("status", "--cluster", "trainer")
    assert f"{SICK}  workers  usw2-az1  Running; in Kubernetes UnschedulablePendingReboot" in result.stdout
    assert WELL not in result.stdout
    assert "\x1b" not in result.stdout
    assert api.queries[1]["continue"] == ["next"]


def test_only_the_unhealthy_are_listed(account: StubbedTarget, api: type[Api]) -> None:
    looked_at(account)
    answer_kubernetes(account)
    api.pages = [page(f"hyperpod-{SICK}", node_health_status="Unschedulable")]
    assert [row["node"] for row in json.loads(nodes("--unhealthy", "-o", "json").stdout)] == [SICK]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("403 nodes is forbidden\x1b[2J", "403 nodes is forbidden"),
        ("example does not answer: timed out", "example does not answer: timed out"),
    ],
)
def test_lists_go_on_without_and_say_so(account: StubbedTarget, api: type[Api], answer: str, reason: str) -> None:
    looked_at(account)
    answer_kubernetes(account)
    api.pages = [answer]
    result = nodes("-o", "json")
    assert (result.exit_code, len(json.loads(result.stdout))) == (0, 2)
    assert result.stderr.startswith(f"The health labels of Kubernetes are left out: {reason}")
    assert "\x1b" not in result.stderr


def test_without_the_permission_they_are_left_out(account: StubbedTarget, api: type[Api]) -> None:
    looked_at(account)
    account.refuse("eks", "describe_cluster", "AccessDeniedException", "not authorized to perform: eks:DescribeCluster")
    result = nodes()
    assert result.exit_code == 0
    assert "are left out: " in result.stderr
    assert "eks:DescribeCluster" in result.stderr


def test_who_is_not_admitted_takes_the_role_of_the_administrators(
    account: StubbedTarget, api: type[Api], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "administrators", lambda target, where: "arn:aws:iam::111122223333:role/admins")
    looked_at(account)
    answer_kubernetes(account)
    api.pages = ["401 Unauthorized", page(f"hyperpod-{SICK}", node_health_status="Unschedulable")]
    assert json.loads(nodes("-o", "json").stdout)[0]["kubernetes"] == "Unschedulable"
    assert api.roles == [None, "arn:aws:iam::111122223333:role/admins"]


def test_slurm_is_not_asked(account: StubbedTarget, api: type[Api]) -> None:
    looked_at(account, Orchestrator={})
    result = nodes("-o", "json")
    assert (result.exit_code, result.stderr, api.queries) == (0, "", [])


def test_a_watch_asks_no_more_after_a_refusal(account: StubbedTarget, api: type[Api], monkeypatch: pytest.MonkeyPatch) -> None:
    from hyperpod_constructs.cli.operate import watch

    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 2:
            raise KeyboardInterrupt

    assert watch.show.__kwdefaults__ is not None
    monkeypatch.setitem(watch.show.__kwdefaults__, "sleep", sleep)
    for _ in range(2):
        looked_at(account)
    answer_kubernetes(account)
    api.pages = ["403 no"]
    result = nodes("--watch")
    assert (result.exit_code, result.stderr.count("are left out"), len(api.queries)) == (130, 1, 1)
