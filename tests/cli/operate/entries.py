"""Every command on clusters, with what it takes to run it in a fleet. The matrices of tests run all of them.

A command of `hyperpod` without an entry fails a test: each is shown interrupted, throttled, in every terminal and at every size.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.lazy import LazyCommands
from hyperpod_constructs.cli.leftover_kinds import Family
from hyperpod_constructs.cli.operate import progress, remote, watch
from hyperpod_constructs.cli.operate.remote import Done
from hyperpod_constructs.cli.target import AwsAccount
from hyperpod_constructs.facts.cluster_actions import READ
from tests.cli.operate.fleet import Fleet
from tests.sleeping import replace_sleep

NODE = "i-00000000000000002"
HOST_KEY = f"ssh-ed25519 {'A' * 68}"


def template(role: str) -> dict[str, Any]:
    """A template with a cluster of one group, whose nodes have this role; each call answers another copy."""
    properties = {
        "ClusterName": "training",
        "VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]},
        "InstanceGroups": [
            {
                "InstanceGroupName": "workers",
                "InstanceCount": 4,
                "InstanceType": "ml.trn1.32xlarge",
                "ExecutionRole": role,
                "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/lifecycle", "OnCreate": "on_create.sh"},
            }
        ],
    }
    return {"Resources": {"Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}}}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """How a command is run.

    :ivar one: arguments that reach one node, or what else the command is for.
    :ivar all: arguments that reach all nodes of a cluster.
    :ivar changes: the calls that change something.
    :ivar goes_on: further arguments with which it goes on until Ctrl-C, or until the work is done.
    :ivar by_cluster: whether it takes `--cluster`.
    :ivar grant: the method of `cluster.grants` that gives its permissions.
    :ivar beyond: the actions that it needs beyond them.
    :ivar spared: the actions without which it goes on, and shows less.
    :ivar named: the actions without which it goes on, names the parts that are missing, and ends with 3.
    :ivar most_calls: the most calls beside those for the nodes: the cluster, its subnets, its stack, its plan, a group of one.
    :ivar case: whether its fleet is a case for support: a stack has the cluster, and a node has failed.
    :ivar asks_again: whether it asks again where AWS throttles it for a moment.
    :ivar undone: what an interruption says before something was changed.
    """

    one: tuple[str, ...] = ()
    all: tuple[str, ...] | None = None
    changes: frozenset[str] = frozenset()
    goes_on: tuple[str, ...] | None = None
    by_cluster: bool = True
    grant: str | None = "read"
    beyond: frozenset[str] = frozenset()
    spared: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    most_calls: int = 6
    case: bool = False
    asks_again: bool = False
    undone: str = "nothing was changed"

    def arguments(self, name: str, *, all: bool = False, cluster: str | None = "trainer") -> list[str]:
        own = self.all if all and self.all is not None else self.one
        where = ["--cluster", cluster] if self.by_cluster and cluster else []
        return [*name.split(), *own, *where, "--target", "aws"]


def _operation(call: str) -> Entry:
    return Entry(one=(NODE, "--yes"), all=("--group", "workers", "--yes"), changes=frozenset({call}), grant="manage_nodes")


_ZONES = frozenset({"ec2:DescribeSubnets"})
_LOOKS = frozenset(
    {
        "ec2:DescribeInstanceTypeOfferings",
        "ec2:DescribeSubnets",
        "iam:GetRole",
        "s3:ListBucket",
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusters",
        "servicequotas:ListServiceQuotas",
    }
)
_STACKS = frozenset({"cloudformation:DescribeStackResources", "cloudformation:GetTemplate", "cloudformation:ListExports"})
_SEARCHES = frozenset(
    {
        "cloudformation:DescribeStackEvents",
        "cloudformation:ListStacks",
        "logs:DescribeLogGroups",
        "sagemaker:DescribeCluster",
        "sagemaker:ListClusters",
    }
)
_CLEANS = frozenset(
    {
        "cloudformation:DescribeStackResources",
        "ec2:DeleteSecurityGroup",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSecurityGroups",
        "fsx:DeleteFileSystem",
        "fsx:DescribeFileSystems",
        "kms:DescribeKey",
        "kms:ListResourceTags",
        "kms:ScheduleKeyDeletion",
        "logs:DeleteLogGroup",
        "logs:ListTagsForResource",
        "s3:DeleteBucket",
        "s3:DeleteObjectVersion",
        "s3:GetBucketTagging",
        "s3:ListBucket",
        "s3:ListBucketVersions",
    }
)
_UNKNOWN = frozenset({"cloudformation:GetTemplate", "cloudwatch:GetMetricStatistics"})
ENTRIES = {
    "clusters": Entry(by_cluster=False, goes_on=("--watch",), grant=None, beyond=frozenset({"sagemaker:ListClusters"})),
    "status": Entry(goes_on=("--watch",), spared=_ZONES),
    "nodes": Entry(goes_on=("--watch",), spared=_ZONES),
    "events": Entry(spared=frozenset({"sagemaker:DescribeClusterEvent"})),
    "logs": Entry(one=("--node", NODE), all=("--node", "ip-10-1-0-1"), goes_on=("--follow",), grant="read_logs"),
    "export-logs": Entry(
        one=("--file", "case.tar.gz", "--force"),
        grant="read_logs",
        beyond=_STACKS,
        named=_STACKS | {"logs:FilterLogEvents", *(f"sagemaker:{name}" for name in READ if name != "DescribeCluster")},
        most_calls=11,
        case=True,
        asks_again=True,
        undone="no archive was written",
    ),
    "connect": Entry(one=(NODE,), all=("ip-10-1-0-1",), grant="connect"),
    "ssh-config": Entry(one=("--nodes",)),
    "copy": Entry(one=("data", f"{NODE}:/fsx/data"), all=("data", "ip-10-1-0-1:/fsx/data"), grant="connect"),
    "reboot": _operation("BatchRebootClusterNodes"),
    "replace": _operation("BatchReplaceClusterNodes"),
    "remove": _operation("BatchDeleteClusterNodes"),
    "health-check": _operation("StartClusterHealthCheck"),
    "update-software": Entry(
        one=("--group", "workers", "--yes"),
        all=("--yes",),
        changes=frozenset({"UpdateClusterSoftware"}),
        goes_on=(),
        grant="manage_nodes",
    ),
    "scale": Entry(
        one=("workers", "5", "--yes"),
        changes=frozenset({"UpdateCluster"}),
        goes_on=("--watch",),
        beyond=frozenset({"sagemaker:UpdateCluster", "cloudformation:DescribeStackResources"}),
        spared=_ZONES | {"sagemaker:DescribeTrainingPlan"},
    ),
    "preflight": Entry(one=("template.json",), by_cluster=False, grant=None, spared=_LOOKS),
    "cost": Entry(
        one=("template.json", "--actual", "--tag", "project=trainer"),
        by_cluster=False,
        grant=None,
        beyond=frozenset({"ce:GetCostAndUsage"}),
    ),
    "training-plan search": Entry(
        one=("--instance-type", "ml.p5.48xlarge", "--count", "4", "--duration-hours", "48"),
        by_cluster=False,
        grant=None,
        beyond=frozenset({"sagemaker:SearchTrainingPlanOfferings"}),
        spared=frozenset({"ec2:DescribeAvailabilityZones"}),
    ),
    "clean": Entry(
        one=("--stack", "HyperPod-Foundation", *(f"--delete={family}" for family in Family), "--with-data", "--yes"),
        changes=frozenset(
            {
                "DeleteFileSystem",
                "DeleteObjects",
                "DeleteBucket",
                "DeleteLogGroup",
                "ScheduleKeyDeletion",
                "DeleteSecurityGroup",
            }
        ),
        by_cluster=False,
        grant=None,
        beyond=_SEARCHES | _CLEANS,
        spared=_UNKNOWN,
        named=_CLEANS,
        asks_again=True,
    ),
    "training-plan list": Entry(by_cluster=False, grant=None, beyond=frozenset({"sagemaker:ListTrainingPlans"})),
}
ON_CLUSTERS = {name: entry for name, entry in ENTRIES.items() if entry.by_cluster}
GOING_ON = {name: entry for name, entry in ENTRIES.items() if entry.goes_on is not None}
CHANGING = {name: entry for name, entry in ENTRIES.items() if entry.changes}
_ELSEWHERE = {"deploy", "destroy", "kubeconfig", "check", "reach", "plan", "chart", "local", "job"}
"""Commands that are not about running clusters; their tests are their own."""


def table_of_commands() -> set[str]:
    """The commands of `hyperpod` that must have an entry, those within groups with the name of their group."""
    group: Any = typer.main.get_command(app)
    found = set()
    for name in LazyCommands.list_commands(group, None):
        command = group.get_command(None, name)
        found |= {f"{name} {one}" for one in command.commands} if hasattr(command, "commands") else {name}
    return {name for name in found if name.split()[0] not in _ELSEWHERE}


PLUGIN = r"""#!/bin/bash
printf '\nStarting session with SessionId: me-0123\n'
printf 'done\n'
printf '%s:0\n' "$(printf '%s' "${@: -1}" | grep -o 'exit-[0-9a-f]*')"
printf '\n\nExiting session with sessionId: me-0123.\n'
"""
"""An AWS CLI that says of every command that it was done."""


class Stage:
    """A directory with what the commands read, programs that stand for those of a workstation, and a node that answers scripts."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.programs = folder / "programs"
        self.programs.mkdir()
        for name, text in {"aws": PLUGIN, "session-manager-plugin": "#!/bin/sh\n", "scp": "#!/bin/sh\n"}.items():
            (self.programs / name).write_text(text)
            (self.programs / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{self.programs}{os.pathsep}{os.environ['PATH']}")
        (folder / "data").write_text("x")
        (folder / "template.json").write_text(json.dumps(template("arn:aws:iam::111122223333:role/nodes")))
        monkeypatch.chdir(folder)
        monkeypatch.setattr(remote, "run", _node_says)
        self.sleeps: list[float] = []

    def fleet(self, name: str | None = None, **settings: Any) -> Fleet:
        """A fleet that is the caller's account, as the command of this name wants it."""
        case = name is not None and ENTRIES[name].case
        fleet = Fleet(programs=self.programs, owned=case, **settings)
        if case and fleet.listed:
            fleet.fail()
        self._monkeypatch.setattr(AwsAccount, "of_caller", lambda **options: fleet)
        return fleet

    def sleep_until(self, number: int, then: Callable[[], None]) -> None:
        """Sleeps take no time; in the last of them something happens."""

        def sleep(seconds: float) -> None:
            self.sleeps.append(seconds)
            if len(self.sleeps) >= number:
                then()

        for function in (watch.show, progress.watch):
            assert function.__kwdefaults__ is not None
            self._monkeypatch.setitem(function.__kwdefaults__, "sleep", sleep)
        replace_sleep(self._monkeypatch, sleep)


def _node_says(place: object, cluster: object, node: object, user: str, text: str) -> Done:
    if "ssh_host" in text:
        return Done(f"hyperpod-copy|{HOST_KEY}\n", 0)
    return Done("hyperpod-copy|/fsx/data\n", 0)


def once(name: str) -> list[str]:
    """The arguments of a run that does not go on."""
    return [*ENTRIES[name].arguments(name), *(["--no-watch"] if name == "update-software" else [])]


def interrupt() -> None:
    raise KeyboardInterrupt


def invoke(arguments: list[str]) -> Result:
    """A command in a pipe; what it reads is a command of a shell."""
    return CliRunner().invoke(app, arguments, input="hostname\n")
