"""What is read back of a cluster on Kubernetes."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_constructs.cli import readback_kubernetes as module
from hyperpod_constructs.cli.kubernetes_api import KubernetesError
from hyperpod_constructs.cli.readback import show
from hyperpod_constructs.cli.target import TargetName
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ASKED
from tests.cli.samples import ARN, NODES, NOW
from tests.cli.test_kubeconfig import ADMINS, ON_EKS, answer_kubernetes, answer_outputs
from tests.cli.test_readback import CLUSTER_RESOURCE

POLICY = "arn:aws:sagemaker:us-west-2:111122223333:cluster-scheduler-config/abcdefabcdef"
OBJECTS: dict[str, dict[str, Any]] = {
    "/apis/kueue.x-k8s.io": {"preferredVersion": {"groupVersion": "kueue.x-k8s.io/v1beta1"}},
    "/apis/kueue.x-k8s.io/v1beta1/clusterqueues": {
        "items": [
            {
                "metadata": {"name": "hyperpod-ns-research-clusterqueue"},
                "spec": {
                    "resourceGroups": [
                        {
                            "flavors": [
                                {
                                    "resources": [
                                        {"name": "cpu", "nominalQuota": "960"},
                                        {"name": "nvidia.com/gpu", "nominalQuota": "40"},
                                    ]
                                }
                            ]
                        }
                    ]
                },
            }
        ]
    },
    "/apis/kueue.x-k8s.io/v1beta1/localqueues": {
        "items": [
            {
                "metadata": {"name": "hyperpod-ns-research-localqueue", "namespace": "hyperpod-ns-research"},
                "spec": {"clusterQueue": "hyperpod-ns-research-clusterqueue"},
                "status": {"pendingWorkloads": 2},
            }
        ]
    },
}


class _Api:
    """Answers from `OBJECTS`."""

    def __init__(self, cluster: Any, token: str) -> None:
        assert token == "a token"

    def get(self, path: str) -> dict[str, Any]:
        return OBJECTS[path]


def _quota(team: str, resource: dict[str, Any]) -> dict[str, Any]:
    return {
        "ComputeQuotaArn": "arn:aws:sagemaker:us-west-2:111122223333:compute-quota/abcdefabcdef",
        "ComputeQuotaId": "abcdefabcdef",
        "Name": team,
        "Status": "Created",
        "CreationTime": NOW,
        "ComputeQuotaConfig": {"ComputeQuotaResources": [resource]},
        "ComputeQuotaTarget": {"TeamName": team, "FairShareWeight": 7},
    }


def _answer(target: StubbedTarget) -> None:
    target.answer("sagemaker", "describe_cluster", ON_EKS, ClusterName=ARN)
    target.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": NODES}, **{**ASKED, "ClusterName": ARN})
    answer_kubernetes(target)
    target.answer("eks", "list_addons", {"addons": ["vpc-cni", "coredns"]}, clusterName="training")
    for name, health in (("vpc-cni", []), ("coredns", [{"code": "InsufficientNumberOfReplicas", "message": "no\nnode"}])):
        addon = {"addonName": name, "addonVersion": "v1", "status": "ACTIVE", "health": {"issues": health}}
        target.answer("eks", "describe_addon", {"addon": addon}, clusterName="training", addonName=name)
    summary = {
        "ClusterSchedulerConfigArn": POLICY,
        "ClusterSchedulerConfigId": "abcdefabcdef",
        "Name": "scheduler",
        "CreationTime": NOW,
        "Status": "Created",
    }
    target.answer("sagemaker", "list_cluster_scheduler_configs", {"ClusterSchedulerConfigSummaries": [summary]}, ClusterArn=ARN)
    classes = [{"Name": "low", "Weight": 10}, {"Name": "high", "Weight": 90}]
    policy = {**summary, "ClusterSchedulerConfigVersion": 1, "SchedulerConfig": {"PriorityClasses": classes}}
    target.answer("sagemaker", "describe_cluster_scheduler_config", policy, ClusterSchedulerConfigId="abcdefabcdef")
    quotas = [
        _quota("research", {"InstanceType": "ml.p5.48xlarge", "Count": 5}),
        _quota("product", {"InstanceType": "ml.g5.48xlarge", "Accelerators": 4, "MemoryInGiB": 96.5}),
    ]
    target.answer("sagemaker", "list_compute_quotas", {"ComputeQuotaSummaries": quotas}, ClusterArn=ARN)


@pytest.fixture(autouse=True)
def no_deployment(workdir: Any) -> None:
    """No assembly names a role."""


def _shown(target: StubbedTarget, capsys: pytest.CaptureFixture[str], where: TargetName = TargetName.LOCAL) -> list[list[str]]:
    show(target, [CLUSTER_RESOURCE], where=where)
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_addons_teams_priorities_and_queues_are_shown(
    target: StubbedTarget, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KubernetesApi", _Api)
    monkeypatch.setattr(module, "token", lambda target, name, role: "a token")
    _answer(target)
    lines = _shown(target, capsys)
    assert ["kubernetes", "training"] in lines
    assert ["vpc-cni", "v1", "ACTIVE"] in lines
    assert ["coredns", "v1", "ACTIVE:", "no", "node"] in lines
    assert ["priorities", "high", "90,", "low", "10", "(Created)"] in lines
    assert ["research", "hyperpod-ns-research", "5", "x", "ml.p5.48xlarge", "7", "Created"] in lines
    assert ["product", "hyperpod-ns-product", "4", "accelerators", "96.5", "GiB", "x", "ml.g5.48xlarge", "7", "Created"] in lines
    queue = ["hyperpod-ns-research-localqueue", "hyperpod-ns-research", "40", "nvidia.com/gpu", "2", "0"]
    assert queue in lines
    assert lines[-2:] == [["a", "shell", "with", "kubectl:"], ["hyperpod", "connect"]]
    target.assert_all_asked()


def test_queues_that_cannot_be_read_are_said_to_be(
    target: StubbedTarget, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Any, path: str) -> Any:
        raise KubernetesError("401 Unauthorized")

    monkeypatch.setattr(_Api, "get", refuse)
    monkeypatch.setattr(module, "KubernetesApi", _Api)
    monkeypatch.setattr(module, "token", lambda target, name, role: "a token")
    _answer(target)
    lines = _shown(target, capsys, TargetName.AWS)
    assert ["queues", "not", "shown:", "401", "Unauthorized"] in lines
    assert lines[-1] == ["hyperpod", "connect", "--target", "aws"]


def test_a_role_that_may_not_be_taken_does_not_fail_a_deployment(
    target: StubbedTarget, capsys: pytest.CaptureFixture[str], workdir: Any
) -> None:
    from tests.cli.samples import write_assembly

    write_assembly(workdir / "build/aws/cdk.out")
    _answer(target)
    answer_outputs(target, AdminRoleArn=ADMINS)
    target.refuse("sts", "assume_role", "AccessDenied", "not authorized to perform: sts:AssumeRole")
    lines = _shown(target, capsys, TargetName.AWS)
    assert any(line[:3] == ["queues", "not", "shown:"] and "sts:AssumeRole" in line for line in lines)
