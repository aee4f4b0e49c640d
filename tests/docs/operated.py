"""What commands on a running cluster print, as the page about them shows it: on a double of an account, in 100 columns."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.operate import clusters, remote, ssh_config
from hyperpod_constructs.cli.operate.jobs import Job, Jobs
from hyperpod_constructs.cli.operate.remote import Done
from tests.cli.operate.entries import HOST_KEY, ON_CLUSTERS, Stage
from tests.cli.operate.fleet import Fleet

COLUMNS = 100
NOW = datetime(2026, 11, 24, 10, 30, tzinfo=UTC)
_ASKING = ("batches", "scale", "update_software")
_SCRIPTS = ("copying the environment", "mounted /fsx", "slurmd has started")


def is_operated(command: Sequence[str]) -> bool:
    """Whether these words name a command on a running cluster."""
    return command[1] in ON_CLUSTERS or command[1] == "clusters"


def printed(command: Sequence[str]) -> list[str]:
    """The output of a command on the cluster `trainer`, whose questions are answered with yes."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        _fill(Stage(Path(folder), patched).fleet(clusters=2, workers=4))
        (Path(folder) / "train.py").write_text("")
        patched.setattr(remote, "run", _node_says)
        patched.setattr(ssh_config, "_program", lambda: "hyperpod")
        patched.setattr(clusters, "datetime", mock.Mock(now=lambda zone: NOW))
        for module in _ASKING:
            patched.setattr(f"hyperpod_constructs.cli.operate.{module}.somebody_is_there", lambda: True)
            patched.setattr(f"hyperpod_constructs.cli.operate.{module}.jobs_on", _jobs)
        named = [] if command[1] == "clusters" else ["--cluster", "trainer"]
        runner = CliRunner(env={"COLUMNS": str(COLUMNS), "HYPERPOD_TARGET": "aws"})
        result = runner.invoke(app, [*command[1:], *named], input="y\n")
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.stdout.splitlines()]


def _fill(fleet: Fleet) -> None:
    fleet.created = NOW - timedelta(days=23, hours=4)
    worker = fleet.listed[1]["InstanceId"]
    times = [NOW - timedelta(minutes=minutes) for minutes in (2, 9)]
    about = {"ClusterArn": "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcde01234yz", "ClusterName": "trainer"}
    known: list[dict[str, Any]] = [
        {"EventLevel": "Info", "Description": "Instance was successfully provisioned"},
        {"EventLevel": "Error", "Description": "Scaling failed: insufficient capacity in usw2-az1"},
    ]
    fleet.events = [
        {**event, **about, "EventId": f"{number:08x}-0000-4000-8000-000000000000", "ResourceType": "Instance", "EventTime": time}
        | {"InstanceGroupName": "workers", "InstanceId": worker}
        for number, (event, time) in enumerate(zip(known, times, strict=True))
    ]
    stream, first = f"LifecycleConfig/workers/{worker}", int(NOW.timestamp() * 1000)
    fleet.lines = [
        {"eventId": str(number), "logStreamName": stream, "timestamp": first + 4000 * number, "message": text}
        for number, text in enumerate(_SCRIPTS)
    ]


def _node_says(place: object, cluster: object, node: object, user: str, text: str) -> Done:
    said = HOST_KEY if "ssh_host" in text else "/fsx/code/train.py"
    return Done(f"hyperpod-copy|{said}\n", 0)


def _jobs(*_: object) -> Jobs:
    return Jobs((Job("412", "ada", "pretrain", "ip-10-1-0-[2-5]"),))
