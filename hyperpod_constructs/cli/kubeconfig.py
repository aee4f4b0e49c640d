"""`hyperpod kubeconfig`: a file by which kubectl finds an EKS cluster. It holds no secret: kubectl runs a program for a token."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkstemp
from typing import Any

from hyperpod_constructs.cli.assembly import Assembly
from hyperpod_constructs.cli.cloudformation import stack_description
from hyperpod_constructs.cli.console import CliError, say
from hyperpod_constructs.cli.deployed import deployed_cluster
from hyperpod_constructs.cli.target import LOCAL_STATE, Target, TargetName
from hyperpod_constructs.facts.kubernetes import CREDENTIAL_API

ADMINISTRATORS = "AdminRoleArn"
"""The output of a stack that names the role of the administrators, as the reference app has it."""


def kubeconfig(target: Target, where: TargetName, *, cluster: str | None, role: str | None, file: Path | None) -> None:
    """Write a kubeconfig, and print the line that makes kubectl use it.

    :param target: the account of the cluster.
    :param where: the same by name.
    :param cluster: name of the EKS cluster; that of the deployed HyperPod cluster unless given.
    :param role: ARN of the role that kubectl takes; the administrators' of the deployed app unless given.
    :param file: where it is written; a file in `build` unless given.
    :raises CliError: if there is no such cluster, or it has no endpoint yet.
    """
    name = kubernetes_of_deployed(target, where) if cluster is None else cluster
    written = write(target, where, name, administrators(target, where) if role is None else role, file)
    say(f"export KUBECONFIG={shlex.quote(str(written))}")


def write(target: Target, where: TargetName, name: str, role: str | None, file: Path | None = None) -> Path:
    """Write a kubeconfig that its owner alone can read, in the place of the one before; its absolute path."""
    content = json.dumps(_content(described(target, name), _command(target, where, name, role)), indent=2)
    path = (where.assembly.parent / "kubeconfig" if file is None else file).absolute()
    if path.is_dir() or (path.is_file() and not _is_ours(path)):
        raise CliError(f"{path} is there and was not written by this command; name another file with --file, or remove it")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(f"{content}\n")
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def _is_ours(path: Path) -> bool:
    """Whether a file names one cluster alone, as this command writes it: another one may hold the way to many."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and len(content.get("clusters") or ()) == 1


def kubernetes_name(cluster: Mapping[str, Any]) -> str | None:
    """The name of the EKS cluster of a HyperPod cluster, as DescribeCluster has it; None for Slurm."""
    arn = cluster.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn")
    return None if arn is None else str(arn).rpartition("/")[2]


def administrators(target: Target, where: TargetName) -> str | None:
    """The role of the administrators that the deployed app names in an output; None if it names none."""
    try:
        stacks = Assembly.read(where.assembly).stacks
    except FileNotFoundError:
        return None
    found = [stack_description(target, stack.name) for stack in stacks]
    outputs = [output for stack in found if stack is not None for output in stack.get("Outputs", [])]
    return next((str(output["OutputValue"]) for output in outputs if output["OutputKey"] == ADMINISTRATORS), None)


def kubernetes_of_deployed(target: Target, where: TargetName) -> str:
    """The name of the EKS cluster of the deployed HyperPod cluster.

    :raises CliError: if none is deployed, or if it runs Slurm.
    """
    deployed = deployed_cluster(target, where)
    name = kubernetes_name(target.client("sagemaker").describe_cluster(ClusterName=deployed))
    if name is None:
        raise CliError(f"{deployed} runs Slurm, not Kubernetes: open a shell on its controller with hyperpod connect")
    return name


def described(target: Target, name: str) -> dict[str, Any]:
    """An EKS cluster whose API can be reached.

    :raises CliError: if there is none of this name, or it has no endpoint yet.
    """
    client = target.client("eks")
    try:
        found: dict[str, Any] = client.describe_cluster(name=name)["cluster"]
    except client.exceptions.ResourceNotFoundException:
        raise CliError(f"there is no EKS cluster {name!r} in {target.region}: name another with --cluster") from None
    if not found.get("endpoint") or not found.get("certificateAuthority", {}).get("data"):
        raise CliError(f"the EKS cluster {name} is {found['status']} and has no endpoint yet: wait until it is ACTIVE")
    return found


def _command(target: Target, where: TargetName, name: str, role: str | None) -> dict[str, Any]:
    """The program that gives kubectl a token."""
    if where is TargetName.LOCAL:
        module = ["-P", "-m", "hyperpod_constructs.cli.kubernetes_token"]
        rest = [str(LOCAL_STATE.absolute()), name, *([] if role is None else [role])]
        return {"apiVersion": CREDENTIAL_API, "command": sys.executable, "args": [*module, *rest], "interactiveMode": "Never"}
    arguments = ["--region", target.region, "eks", "get-token", "--cluster-name", name, "--output", "json"]
    found: dict[str, Any] = {
        "apiVersion": CREDENTIAL_API,
        "command": "aws",
        "args": [*arguments, *([] if role is None else ["--role-arn", role])],
        "interactiveMode": "IfAvailable",
        "installHint": "install the AWS CLI: https://aws.amazon.com/cli/",
    }
    profile = os.environ.get("AWS_PROFILE")
    return found if not profile else {**found, "env": [{"name": "AWS_PROFILE", "value": profile}]}


def _content(cluster: Mapping[str, Any], command: Mapping[str, Any]) -> dict[str, Any]:
    name = cluster["name"]
    server = {"server": cluster["endpoint"], "certificate-authority-data": cluster["certificateAuthority"]["data"]}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": server}],
        "users": [{"name": name, "user": {"exec": command}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
