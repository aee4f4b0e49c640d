"""Scripts of nodes that call programs of the other orchestrator."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.analysis.texts.node_scripts import WHOLES
from tests.analysis.test_node_programs import FILES, made
from tests.templates.models import by_id

EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/a"}}
SLURM: dict[str, Any] = {"Slurm": {}}


def said(script: str, orchestrator: dict[str, Any]) -> list[Any]:
    files = {**dict.fromkeys(FILES), "start.sh": f"#!/bin/bash\nset -e\n{script}\n"}
    cluster = by_id(made(files, Orchestrator=orchestrator), "Cluster")
    return [slip.message for slip in WHOLES[cluster.type](cluster)]


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("systemctl restart slurmd", "slurmd"),
        ("systemctl enable --now slurmctld.service", "slurmctld"),
        ("service slurmdbd restart", "slurmdbd"),
        ("until scontrol ping; do sleep 5; done", "scontrol"),
        ("/opt/slurm/bin/sinfo -h", "sinfo"),
        ("sudo -u ubuntu squeue", "squeue"),
        ("wait_for() { scontrol ping; }\nwait_for", "scontrol"),
        ("sinfo\nsqueue", "sinfo"),
    ],
)
def test_fails_slurm_on_nodes_of_kubernetes(script: str, what: str) -> None:
    (message,) = said(script, EKS)
    assert f"calls {what} of Slurm in line" in message
    assert said(script, SLURM) == []


@pytest.mark.parametrize("script", ["systemctl restart kubelet", "systemctl start kubelet.service", "nodeadm init"])
def test_fails_the_kubelet_on_nodes_of_slurm(script: str) -> None:
    (message,) = said(script, SLURM)
    assert "of Kubernetes in line 3, which nodes of Slurm do not have" in message
    assert said(script, EKS) == []


@pytest.mark.parametrize(
    "script",
    [
        "systemctl restart slurmd || true",
        "if scontrol ping; then echo a; fi",
        "command -v sinfo && sinfo",
        "command -v sinfo || exit 0\nsinfo",
        "[[ -x /opt/slurm/bin/sinfo ]] || exit 0\nsinfo",
        "apt-get install -y slurm-client\nsinfo",
        "systemctl is-active slurmd && systemctl restart slurmd",
        "systemctl status slurmd",
        "test -d /opt/slurm || exit 0\nsystemctl restart slurmd",
        "echo sinfo",
        "systemctl restart containerd",
    ],
)
def test_scripts_that_ask_first_or_bring_it(script: str) -> None:
    assert said(script, EKS) == []
