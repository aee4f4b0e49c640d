"""Draws `status.svg`, `watch.svg` and `nodes.svg` of the docs: what commands on a cluster print in a terminal, as given."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.operate import watch
from hyperpod_constructs.cli.target import AwsAccount
from tests.cli.conftest import StubbedTarget
from tests.docs.pages import ROOT

DOCS = ROOT / "docs"
COLUMNS = 88
PICTURES = {"status.svg": ("status",), "watch.svg": ("status", "--watch"), "nodes.svg": ("nodes", "--group", "workers")}
"""Arguments of the drawn command, by the name of its picture."""

_ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcde01234yz"
_GROUPS = (
    ("controller", "ml.m5.xlarge", "Controller", 1),
    ("login", "ml.m5.xlarge", "Login", 1),
    ("workers", "ml.p5.48xlarge", "Compute", 4),
)
_LOST = "EC2 instance is unreachable"
_HOME = "\x1b[H"
_MOVES = re.compile(r"\x1b\[[KJ]|\x1b\[0m\Z")
_FETCHED = re.compile(r"@font-face \{\{.*?\}\}\s*|<!--.*?-->\s*", re.DOTALL)
_TEXT = re.compile(r"<text [^>]*>([^<]*)</text>")


def picture(arguments: Sequence[str]) -> str:
    """A command and what a terminal shows of it at last, as an SVG that fetches nothing."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.assemble(("$ ", "bold green"), f"hyperpod {' '.join(arguments)}"))
    console.print(Text.from_ansi(_printed(arguments)))
    form = _FETCHED.sub("", CONSOLE_SVG_FORMAT).replace("Fira Code, monospace", "monospace")
    drawn = console.export_svg(title="", code_format=form, unique_id=f"hyperpod-{arguments[0]}")
    return "".join(f"{line.rstrip()}\n" for line in drawn.splitlines())


def texts(svg: str) -> list[str]:
    """The texts of a picture. Coordinates are those of the installed version of rich."""
    return _TEXT.findall(svg)


def main() -> int:
    """Write the pictures; the number of failures, which is 0."""
    for name, arguments in PICTURES.items():
        (DOCS / name).write_text(picture(arguments), "utf-8")
    return 0


class _Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def _printed(arguments: Sequence[str]) -> str:
    """The output of a command on the cluster; of a `--watch` the second look, which AWS throttles."""
    terminal, size = _Terminal(), {"COLUMNS": str(COLUMNS), "LINES": "40", "TERM": "xterm-256color"}
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE")}
    with (
        mock.patch.dict(os.environ, kept | size, clear=True),
        mock.patch.object(AwsAccount, "of_caller", return_value=_account()),
        mock.patch.dict(watch.show.__kwdefaults__, sleep=mock.Mock(side_effect=(None, KeyboardInterrupt))),
        contextlib.redirect_stdout(terminal),
    ):
        app([*arguments, "--cluster", "trainer", "--target", "aws"], standalone_mode=False)
    return _MOVES.sub("", terminal.getvalue().rpartition(_HOME)[2]).rstrip("\n")


def _account() -> StubbedTarget:
    target = StubbedTarget()
    target.answer("sagemaker", "describe_cluster", _cluster())
    target.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": _nodes()})
    zone = {"SubnetId": "subnet-1", "AvailabilityZone": "us-west-2a", "AvailabilityZoneId": "usw2-az2"}
    target.answer("ec2", "describe_subnets", {"Subnets": [zone]})
    target.refuse("sagemaker", "describe_cluster", "ThrottlingException", "Rate exceeded")
    return target


def _cluster() -> dict[str, Any]:
    groups = [
        {
            "InstanceGroupName": name,
            "InstanceType": type,
            "Status": "InService",
            "CurrentCount": count,
            "TargetCount": count,
            "SlurmConfig": {"NodeType": role},
        }
        for name, type, role, count in _GROUPS
    ]
    return {
        "ClusterArn": _ARN,
        "ClusterName": "trainer",
        "ClusterStatus": "InService",
        "NodeRecovery": "Automatic",
        "VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
        "InstanceGroups": groups,
    }


def _nodes() -> list[dict[str, Any]]:
    """Nodes that have run for three days; the last but one has failed. Half an hour keeps their ages from turning."""
    launched = datetime.now(UTC) - timedelta(days=3, hours=4, minutes=30)
    kinds = [(name, type) for name, type, _, count in _GROUPS for _ in range(count)]
    return [
        {
            "InstanceGroupName": name,
            "InstanceId": f"i-{0x7A5C0E1D2B3F4 * (number + 3):017x}",
            "InstanceType": type,
            "LaunchTime": launched,
            "InstanceStatus": {"Status": "Failure", "Message": _LOST} if number == len(kinds) - 2 else {"Status": "Running"},
        }
        for number, (name, type) in enumerate(kinds)
    ]
