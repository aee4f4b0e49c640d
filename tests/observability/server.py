"""A real Prometheus that scrapes a node with every kind of device, and takes what others write."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import yaml
from node_metrics.daemon import Daemon
from node_metrics.identity import Identity
from node_metrics.server import Page
from node_setup.software import METRIC_SETS, Metrics

from hyperpod_constructs.observability.prometheus import NODE_RULES
from tests.node_metrics.machines import full_machine
from tests.patience import until

WHO = Identity("c1a2b3c4d5e6", "workers", "i-0123456789abcdef0", "ip-10-1-0-5")
SETTINGS = Metrics(1, METRIC_SETS, "127.0.0.1", 9190, None, None)


def program(name: str) -> str:
    """The path of a program; a machine without it skips, a CI machine fails."""
    found = shutil.which(name)
    if found is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"run tools/setup_nodes.sh: {name} is not installed")
    return found


@dataclass(frozen=True)
class Prometheus:
    url: str
    page: Page

    def get(self, path: str, **query: str) -> Any:
        """The data of an answer of the API."""
        address = f"{self.url}/api/v1/{path}?{urlencode(query)}"
        with urllib.request.urlopen(address, timeout=60) as answer:
            document = json.load(answer)
        assert document["status"] == "success", document
        return document["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series that an expression finds now."""
        found: list[dict[str, Any]] = self.get("query", query=expression)["result"]
        return found


@contextmanager
def running(directory: Path) -> Iterator[Prometheus]:
    """Prometheus on loopback, after some scrapes of the node."""
    binary = program("prometheus")
    with Page("127.0.0.1", 0) as page:
        thread = threading.Thread(target=page.serve_forever, args=[0.05], daemon=True)
        thread.start()
        Daemon(full_machine(), SETTINGS, WHO, page).look()
        port = _free_port()
        (directory / "prometheus.yml").write_text(yaml.safe_dump(_configuration(page.server_address[1])))
        shutil.copy(NODE_RULES, directory)
        options = ["--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.enable-remote-write-receiver"]
        command = [binary, *options, f"--web.listen-address=127.0.0.1:{port}"]
        log = (directory / "log").open("wb")
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=directory)  # noqa: S603
        prometheus = Prometheus(f"http://127.0.0.1:{port}", page)
        try:
            until(lambda: _scraped(prometheus, server, directory / "log"))
            yield prometheus
        finally:
            server.terminate()
            server.wait(60)
            log.close()
            page.shutdown()
            thread.join()


def _configuration(port: int) -> dict[str, Any]:
    labels = {"cluster": WHO.cluster, "instance_group": WHO.group, "instance": WHO.name}
    return {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [NODE_RULES.name],
        "scrape_configs": [{"job_name": "nodes", "static_configs": [{"targets": [f"127.0.0.1:{port}"], "labels": labels}]}],
    }


def _scraped(prometheus: Prometheus, server: subprocess.Popen[bytes], log: Path) -> bool:
    assert server.poll() is None, log.read_text(errors="replace")
    try:
        found = prometheus.query("count_over_time(up[1m]) >= 3")
        rules = prometheus.get("rules")["groups"]
    except OSError:
        return False
    return bool(found) and all(rule["health"] == "ok" for group in rules for rule in group["rules"])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
