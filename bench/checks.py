"""The rules, timed: `hyperpod check` beside cfn-lint on the same files, and a synthesis with and without the plug-in."""

from __future__ import annotations

import json
import sys
from collections.abc import Container, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from bench import children, synthesis
from bench.figures import Cost, Pairs, interleave
from tests.rules.catalogue.templates import slurm

GROUPS, RESOURCES = 100, 500
GOAL = 0.25
"""Of cfn-lint's time: 0.5 s and 1.5 s where cfn-lint takes 2 s and 6 s for the two sets of files."""
_BIN = Path(sys.executable).parent
# Exit codes of cfn-lint with findings, in bits: 2 errors, 4 warnings, 8 notices.
_CFN_LINT_SAYS = range(15)


def reference(directory: Path) -> list[Path]:
    """The templates of the default preset, as `cdk synth` writes them."""
    programs = synthesis.prepare(directory / "synthesis" / synthesis.SLURM)
    return sorted((programs.directory / "library.out").glob("*.template.json"))


def large(directory: Path) -> list[Path]:
    """One template with 100 instance groups, each with a role, a policy and a bucket of its own; 500 resources in all."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "large.template.json"
    path.write_text(json.dumps(_large()), "utf-8")
    return [path]


def compare(files: Sequence[Path], pairs: int) -> Pairs:
    """Costs of `hyperpod check` and of cfn-lint on these files, whole processes; neither finds an error.

    :raises ChildError: for a check that finds an error.
    """
    ours = [str(_BIN / "hyperpod"), "check", *map(str, files)]
    theirs = [str(_BIN / "cfn-lint"), "--", *map(str, files)]
    variables = children.environment()
    _cost(ours, variables), _cost(theirs, variables, _CFN_LINT_SAYS)
    return interleave(lambda: _cost(ours, variables), lambda: _cost(theirs, variables, _CFN_LINT_SAYS), pairs)


def plugin(directory: Path, pairs: int) -> Pairs:
    """Costs of a cold synthesis of the default preset with the rules and without, CDK's own validation on, as users have it."""
    programs = synthesis.prepare(directory / "synthesis" / synthesis.SLURM)
    return interleave(
        lambda: programs.synthesize(programs.library, validated=True),
        lambda: programs.synthesize(programs.library, validated=True, rules=False),
        pairs,
    )


def _cost(command: Sequence[str], variables: dict[str, str], allowed: Container[int] = (0,)) -> Cost:
    return children.run(command, variables, allowed=allowed)[0]


def _large() -> dict[str, Any]:
    template = slurm()
    resources = template["Resources"]
    groups = resources["Cluster"]["Properties"]["InstanceGroups"]
    pattern = groups[-1]
    for number in range(len(groups), GROUPS):
        own = {"Fn::GetAtt": [f"Role{number}", "Arn"]}
        groups.append(
            {**deepcopy(pattern), "InstanceGroupName": f"workers-{number}", "InstanceType": "ml.m5.xlarge", "ExecutionRole": own}
        )
        resources[f"Role{number}"] = deepcopy(resources["Role"])
    for number in range(GROUPS):
        resources[f"Data{number}"] = deepcopy(resources["Data"])
        resources[f"Subnet{number}"] = deepcopy(resources["PublicSubnet"])
        resources[f"Subnet{number}"]["Properties"]["CidrBlock"] = f"10.0.{128 + number}.0/24"
    for number in range(RESOURCES - len(resources)):
        rule = {"CidrIp": f"10.1.{number}.0/24", "FromPort": 443, "ToPort": 443, "IpProtocol": "tcp"}
        resources[f"Ingress{number}"] = {
            "Type": "AWS::EC2::SecurityGroupIngress",
            "Properties": {"GroupId": {"Fn::GetAtt": ["NodeGroup", "GroupId"]}, **rule},
        }
    return template
