"""What the pages show of `hyperpod`: the templates behind it, and what is printed of them in a terminal of 100 columns."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from hyperpod_constructs.rules.checking import load_catalogue
from tests.cli.terminal import in_terminal
from tests.docs.operated import is_operated
from tests.docs.operated import printed as run_on_cluster
from tests.rules.catalogue.cases import REMOVED, edited
from tests.rules.catalogue.templates import KEPT, slurm
from tests.rules.catalogue.text_bases import resource

COLUMNS = 100
_NOT_KEPT = {"FileSystem/.DeletionPolicy": REMOVED, "FileSystem/.UpdateReplacePolicy": REMOVED}
_NO_EFA_EGRESS = {"NodeSelfEgress": REMOVED, "FileSystem/.DependsOn": ["NodeSelfIngress"]}
_SHOWN = re.compile(r"^```text\n\$ (?P<command>hyperpod [^\n]+)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL)
_RULES = re.compile(r"\b\d+ rules\]")


_NO_ANSWERS = {
    "Acl": {"Type": "AWS::EC2::NetworkAcl", "Properties": {"VpcId": {"Ref": "Vpc"}}},
    "AclOfNodes": {
        "Type": "AWS::EC2::SubnetNetworkAclAssociation",
        "Properties": {"SubnetId": {"Ref": "NodeSubnet"}, "NetworkAclId": {"Ref": "Acl"}},
    },
    "Out": {
        "Type": "AWS::EC2::NetworkAclEntry",
        "Properties": {
            "NetworkAclId": {"Ref": "Acl"},
            "RuleNumber": 100,
            "RuleAction": "allow",
            "Egress": True,
            "Protocol": 6,
            "PortRange": {"From": 443, "To": 443},
            "CidrBlock": "0.0.0.0/0",
        },
    },
}
_LATE_BLOCK = {
    "Added": {
        "Type": "AWS::EC2::VPCCidrBlock",
        **KEPT,
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.1.0.0/16"},
    },
    "NodeSubnet/CidrBlock": "10.1.0.0/17",
}
_WRONG_TEXTS = {
    "Nightly": resource("AWS::Events::Rule", ScheduleExpression="cron(0 22 * * 1-5)"),
    "Failures": resource(
        "AWS::Events::Rule",
        EventPattern={
            "source": ["aws.sagemaker"],
            "detail-type": ["SageMaker HyperPod Cluster State Change"],
            "detail": {"ClusterStatus": ["FAILED"]},
        },
    ),
}


def write_templates(directory: Path) -> None:
    """The files that the shown commands name."""
    deployed = edited(slurm(), _NOT_KEPT)
    written = {
        "cluster": edited(slurm(), _NO_EFA_EGRESS),
        "training": edited(slurm(), {"FileSystem/StorageCapacity": 3000, **_NO_EFA_EGRESS}),
        "network": edited(slurm(), _NO_ANSWERS),
        "blocks": edited(slurm(), _LATE_BLOCK),
        "events": edited(slurm(), _WRONG_TEXTS),
        "old": deployed,
        "new": edited(deployed, {"FileSystem/LustreConfiguration/EfaEnabled": True}),
        "deployed": deployed,
        "changed": edited(deployed, {"FileSystem/KmsKeyId": "alias/ours", "Cluster/InstanceGroups/2/InstanceCount": 6}),
    }
    for name, template in written.items():
        (directory / f"{name}.json").write_text(json.dumps(template, indent=1), "utf-8")


def commands(markdown: str) -> list[str]:
    """The shown commands of a page."""
    return [match["command"] for match in _SHOWN.finditer(markdown)]


def refreshed(markdown: str, directory: Path) -> str:
    """A page whose shown outputs and number of rules are true; the templates are in `directory`."""

    def block(match: re.Match[str]) -> str:
        command = shlex.split(match["command"])
        operated = is_operated(command)
        printed = run_on_cluster(command) if operated else in_terminal(command[1:], columns=COLUMNS, directory=directory)
        output = "".join(f"{line.rstrip()}\n" for line in printed)
        return f"```text\n$ {match['command']}\n{output}```"

    return _RULES.sub(f"{len(load_catalogue())} rules]", _SHOWN.sub(block, markdown))
