"""A kubeconfig for each target, and the token that kubectl gets for the embedded AWS."""

from __future__ import annotations

import base64
import json
import stat
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from hyperpod_constructs.cli import kubernetes_token
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.kubeconfig import kubeconfig
from hyperpod_constructs.cli.kubernetes_token import token
from hyperpod_constructs.cli.target import Target, TargetName
from hyperpod_constructs.local import server
from hyperpod_constructs.local.ministack_eks import Authenticator
from hyperpod_constructs.local.signatures import Credential
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import ARN, CLUSTER, NOW, answer_stack, refuse_stack, write_assembly

EKS = "arn:aws:eks:us-west-2:111122223333:cluster/training"
ADMINS = "arn:aws:iam::111122223333:role/admins"
ON_EKS = {**CLUSTER, "Orchestrator": {"Eks": {"ClusterArn": EKS}}}
DESCRIBED: dict[str, Any] = {
    "name": "training",
    "status": "ACTIVE",
    "version": "1.35",
    "endpoint": "https://example.eks.amazonaws.com",
    "certificateAuthority": {"data": base64.b64encode(b"a certificate").decode()},
}


def answer_kubernetes(target: StubbedTarget, **changed: Any) -> None:
    target.answer("eks", "describe_cluster", {"cluster": {**DESCRIBED, **changed}}, name="training")


def answer_outputs(target: StubbedTarget, **outputs: str) -> None:
    """The deployed app has one stack, with these outputs."""
    refuse_stack(target, "HyperPod-Foundation")
    found = [{"OutputKey": key, "OutputValue": value} for key, value in outputs.items()]
    stack = {"StackName": "HyperPod-Cluster", "StackStatus": "CREATE_COMPLETE", "CreationTime": NOW, "Outputs": found}
    target.answer("cloudformation", "describe_stacks", {"Stacks": [stack]}, StackName="HyperPod-Cluster")


def _write(target: StubbedTarget, where: TargetName, **given: Any) -> dict[str, Any]:
    kubeconfig(target, where, **{"cluster": "training", "role": ADMINS, "file": Path("mine"), **given})
    found: dict[str, Any] = json.loads((given.get("file") or Path("mine")).read_text("utf-8"))
    return found


def _user(content: dict[str, Any]) -> dict[str, Any]:
    (user,) = content["users"]
    command: dict[str, Any] = user["user"]["exec"]
    return command


def test_the_file_is_for_its_owner_alone_and_holds_no_secret(
    target: StubbedTarget, workdir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workdir / "mine").write_text('{"clusters": [{"name": "old"}]}')
    (workdir / "mine").chmod(0o644)
    answer_kubernetes(target)
    content = _write(target, TargetName.AWS)
    assert stat.S_IMODE((workdir / "mine").stat().st_mode) == 0o600
    assert content["clusters"] == [
        {
            "name": "training",
            "cluster": {
                "server": "https://example.eks.amazonaws.com",
                "certificate-authority-data": DESCRIBED["certificateAuthority"]["data"],
            },
        }
    ]
    assert content["current-context"] == "training"
    assert content["users"][0]["user"].keys() == {"exec"}
    assert capsys.readouterr().out == f"export KUBECONFIG={workdir / 'mine'}\n"
    assert [path.name for path in workdir.iterdir()] == ["mine"]


def test_kubectl_asks_the_aws_cli(target: StubbedTarget, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_kubernetes(target)
    monkeypatch.setenv("AWS_PROFILE", "research")
    command = _user(_write(target, TargetName.AWS))
    line = "--region us-west-2 eks get-token --cluster-name training --output json --role-arn " + ADMINS
    assert (command["command"], command["args"]) == ("aws", line.split())
    assert command["env"] == [{"name": "AWS_PROFILE", "value": "research"}]


def test_kubectl_asks_this_library_about_the_embedded_aws(target: StubbedTarget, workdir: Path) -> None:
    answer_kubernetes(target)
    command = _user(_write(target, TargetName.LOCAL, role=None))
    assert command["command"] == sys.executable
    module = ["-P", "-m", "hyperpod_constructs.cli.kubernetes_token"]
    write_assembly(workdir / "build/local/cdk.out")
    assert command["args"] == [*module, str(workdir / "build/local"), "training"]


def test_the_deployed_cluster_and_its_administrators_are_found(target: StubbedTarget, workdir: Path) -> None:
    write_assembly(workdir / "build/aws/cdk.out")
    refuse_stack(target, "HyperPod-Foundation")
    answer_stack(target, "HyperPod-Cluster", [("Cluster", "AWS::SageMaker::Cluster", ARN)])
    target.answer("sagemaker", "describe_cluster", ON_EKS, ClusterName=ARN)
    answer_outputs(target, Other="x", AdminRoleArn=ADMINS)
    answer_kubernetes(target)
    kubeconfig(target, TargetName.AWS, cluster=None, role=None, file=None)
    content = json.loads((workdir / "build/aws/kubeconfig").read_text("utf-8"))
    assert _user(content)["args"][-2:] == ["--role-arn", ADMINS]
    target.assert_all_asked()


def test_an_app_without_administrators_lets_the_caller_in(target: StubbedTarget, workdir: Path) -> None:
    write_assembly(workdir / "build/aws/cdk.out")
    answer_outputs(target, Other="x")
    answer_kubernetes(target)
    assert "--role-arn" not in _user(_write(target, TargetName.AWS, role=None))["args"]


def test_fails_for_a_cluster_on_slurm(target: StubbedTarget, workdir: Path) -> None:
    write_assembly(workdir / "build/local/cdk.out")
    refuse_stack(target, "HyperPod-Foundation")
    answer_stack(target, "HyperPod-Cluster", [("Cluster", "AWS::SageMaker::Cluster", ARN)])
    target.answer("sagemaker", "describe_cluster", CLUSTER, ClusterName=ARN)
    with pytest.raises(CliError, match="runs Slurm, not Kubernetes: open a shell on its controller with hyperpod connect"):
        kubeconfig(target, TargetName.LOCAL, cluster=None, role=None, file=None)


def test_fails_for_an_unknown_cluster(target: StubbedTarget, workdir: Path) -> None:
    target.refuse("eks", "describe_cluster", "ResourceNotFoundException", "No cluster found for name: training.")
    with pytest.raises(CliError, match="there is no EKS cluster 'training' in us-west-2: name another with --cluster"):
        _write(target, TargetName.AWS)


def test_fails_for_a_cluster_without_an_endpoint(target: StubbedTarget, workdir: Path) -> None:
    answer_kubernetes(target, status="CREATING", endpoint="")
    with pytest.raises(CliError, match="is CREATING and has no endpoint yet: wait until it is ACTIVE"):
        _write(target, TargetName.AWS)
    assert not (workdir / "mine").exists()


@pytest.mark.parametrize("text", ["apiVersion: v1\nclusters: []\n", '{"clusters": [{"name": "one"}, {"name": "two"}]}', "[]"])
def test_fails_for_a_file_of_somebody_else(target: StubbedTarget, workdir: Path, text: str) -> None:
    """It may hold the way to other clusters."""
    (workdir / "mine").write_text(text)
    answer_kubernetes(target)
    with pytest.raises(CliError, match="mine is there and was not written by this command; name another file with --file"):
        _write(target, TargetName.AWS)
    assert (workdir / "mine").read_text() == text


def test_a_file_that_cannot_be_written_leaves_nothing(target: StubbedTarget, workdir: Path) -> None:
    (workdir / "mine").mkdir()
    answer_kubernetes(target)
    with pytest.raises(CliError, match="mine is there"):
        _write(target, TargetName.AWS)
    assert [path.name for path in workdir.iterdir()] == ["mine"]


def _parameters(given: str) -> dict[str, list[str]]:
    encoded = given.removeprefix("k8s-aws-v1.")
    return parse_qs(urlsplit(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()).query)


def test_a_token_opens_its_cluster_and_no_other(target: StubbedTarget) -> None:
    judge = Authenticator("http://127.0.0.1:4566", lambda key: Credential("none") if key == "none" else None)
    given = token(target, "training")
    assert judge.knows(given, "training")
    assert not judge.knows(given, "other")
    assert _parameters(given)["X-Amz-Expires"] == ["60"]


def test_a_token_of_a_role_is_signed_with_its_session(target: StubbedTarget) -> None:
    session = {"AccessKeyId": "ASIA" + "A" * 12, "SecretAccessKey": "x", "SessionToken": "session", "Expiration": NOW}
    target.answer("sts", "assume_role", {"Credentials": session}, RoleArn=ADMINS, RoleSessionName="hyperpod-kubeconfig")
    parameters = _parameters(token(target, "training", ADMINS))
    assert parameters["X-Amz-Security-Token"] == ["session"]
    assert parameters["X-Amz-SignedHeaders"] == ["host;x-k8s-aws-id"]


def test_kubectl_gets_a_credential(
    target: StubbedTarget, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    running = {Path("/state"): target}
    monkeypatch.setattr(server, "running", running.get)
    monkeypatch.setattr(kubernetes_token, "datetime", SimpleNamespace(now=lambda zone: datetime(2026, 1, 2, tzinfo=UTC)))
    assert kubernetes_token.main(["/state", "training"]) == 0
    credential = json.loads(capsys.readouterr().out)
    assert credential["kind"] == "ExecCredential"
    assert credential["status"]["token"].startswith("k8s-aws-v1.")
    assert credential["status"]["expirationTimestamp"] == "2026-01-02T00:14:00Z"


def test_fails_when_the_embedded_aws_is_gone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    gone: Target | None = None
    monkeypatch.setattr(server, "running", lambda state: gone)
    assert kubernetes_token.main(["/state", "training"]) == 1
    assert "the embedded AWS of /state does not run" in capsys.readouterr().err
