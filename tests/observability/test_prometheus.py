"""The real Prometheus: it reads the page of a node, answers every query of the dashboards, and knows the alert rules."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from node_metrics.catalogue import CATALOGUE, Sample
from node_metrics.remote_write import Writer
from node_setup.software import RemoteWrite

from hyperpod_constructs import node_dashboards
from hyperpod_constructs.observability.prometheus import NODE_RULES
from tests.node_metrics.machines import full_machine
from tests.observability.server import WHO, Prometheus, program, running
from tests.patience import until

VARIABLES = {"$cluster": WHO.cluster, "$group": WHO.group, "$instance": WHO.name, "$__rate_interval": "30s"}
OWN = "ALERTS|scrape_.*|up"


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    with running(tmp_path_factory.mktemp("prometheus")) as made:
        yield made


def queries() -> list[Any]:
    boards = {name: json.loads(path.read_text("utf-8")) for name, path in node_dashboards().items()}
    return [
        pytest.param(target["expr"], id=f"{name}: {panel['title']} {target['refId']}")
        for name, board in boards.items()
        for panel in board["panels"]
        for target in panel["targets"]
    ]


def test_every_metric_is_scraped_under_its_name_and_kind(prometheus: Prometheus) -> None:
    names = set(prometheus.get("label/__name__/values"))
    assert {name for name in names if not re.match(OWN, name)} == set(CATALOGUE)
    told = prometheus.get("metadata")
    assert {name: told[name][0]["type"] for name in CATALOGUE} == {name: metric.kind for name, metric in CATALOGUE.items()}


@pytest.mark.parametrize("expression", queries())
def test_every_query_of_a_dashboard_finds_something(prometheus: Prometheus, expression: str) -> None:
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    assert prometheus.query(expression) != []


def test_promtool_reads_the_page(prometheus: Prometheus) -> None:
    """Promtool finds fault with the style of names, which are the exporters'; a page that it cannot read ends with 1."""
    command = [program("promtool"), "check", "metrics"]
    done = subprocess.run(command, input=prometheus.page.text, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode in (0, 3), done.stderr


def test_alert_rules_do_what_they_say() -> None:
    tests = Path(__file__).parent / "alert_rules.yaml"
    done = subprocess.run(  # noqa: S603
        [program("promtool"), "test", "rules", str(tests)], capture_output=True, text=True, check=False, cwd=tests.parent
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tested() -> None:
    rules = [rule["alert"] for group in yaml.safe_load(NODE_RULES.read_text("utf-8"))["groups"] for rule in group["rules"]]
    cases = yaml.safe_load((Path(__file__).parent / "alert_rules.yaml").read_text("utf-8"))["tests"]
    asked = [case for test in cases for case in test["alert_rule_test"]]
    assert {case["alertname"] for case in asked if case["exp_alerts"]} == set(rules)
    assert {case["alertname"] for case in asked if not case["exp_alerts"]} == set(rules)


def test_the_fault_of_a_gpu_is_an_alert(prometheus: Prometheus) -> None:
    until(lambda: prometheus.query('ALERTS{alertname="GpuRowsCannotBeRemapped", alertstate="firing", gpu="1"}') != [])


def test_prometheus_takes_what_a_node_writes(prometheus: Prometheus) -> None:
    machine = full_machine()
    (now,) = prometheus.query("vector(time())")
    machine.cluster.time = float(now["value"][1])
    samples = [Sample("node_memory_MemTotal_bytes", {}, 123456789.5), Sample("DCGM_FI_DEV_GPU_UTIL", {"gpu": "0", "UUID": "é"}, 97)]
    assert Writer(machine, RemoteWrite(f"{prometheus.url}/api/v1/write", None), WHO).write(samples) is None
    (memory,) = prometheus.query('node_memory_MemTotal_bytes{job="hyperpod"}')
    assert memory["metric"] == {
        "__name__": "node_memory_MemTotal_bytes",
        "job": "hyperpod",
        "cluster": WHO.cluster,
        "instance": WHO.name,
        "instance_group": WHO.group,
    }
    assert memory["value"][1] == "123456789.5"
    (gpu,) = prometheus.query('DCGM_FI_DEV_GPU_UTIL{job="hyperpod", UUID="é"}')
    assert gpu["value"][1] == "97"
