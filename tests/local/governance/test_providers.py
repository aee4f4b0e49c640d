"""AWS::SageMaker::ClusterSchedulerConfig and AWS::SageMaker::ComputeQuota: CloudFormation's calls of the API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_constructs.local.audit import RecordingDict
from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.governance.providers import ComputeQuotaProvider, SchedulerConfigProvider
from hyperpod_constructs.local.hyperpod.service import HyperPod
from tests.local.governance.governed import ON_EKS, TYPE, NotedQueues
from tests.local.hyperpod_requests import cluster, group
from tests.local.in_process import InProcessClient
from tests.local.moto_cloud import CALLER, Cloud, moto_cloud

Properties = dict[str, Any]


class Account:
    """Clients of a HyperPod with a cluster on EKS. Nothing takes time."""

    def __init__(self, cloud: Cloud) -> None:
        cloud.faults.slow_creation = 0.0
        self.queues = NotedQueues()
        self.sagemaker = InProcessClient(HyperPod(cloud.faults, cloud.client, queues=self.queues))
        wanted = cluster(cloud, Orchestrator=ON_EKS, InstanceGroups=[group(cloud, "workers", None)])
        self.cluster = self.sagemaker.create_cluster(**wanted)["ClusterArn"]
        self.sagemaker.requests.clear()

    def __call__(self, service: str, caller: Caller) -> Any:
        return self.sagemaker

    def called(self) -> list[str]:
        """The changing operations so far."""
        return [name for name, _ in self.sagemaker.requests if not name.startswith(("Describe", "List"))]


@pytest.fixture
def account() -> Iterator[Account]:
    with moto_cloud() as cloud:
        yield Account(cloud)


@pytest.fixture
def quotas(account: Account) -> ComputeQuotaProvider:
    return ComputeQuotaProvider(account, timeout=5)


@pytest.fixture
def policies(account: Account) -> SchedulerConfigProvider:
    return SchedulerConfigProvider(account, timeout=5)


def quota(account: Account, team: str = "research", **members: Any) -> Properties:
    entries = [{"InstanceType": TYPE, "Accelerators": "4", "VCpu": "1.5"}]
    return {
        "Name": team,
        "ClusterArn": account.cluster,
        "ComputeQuotaConfig": {"ComputeQuotaResources": entries},
        "ComputeQuotaTarget": {"TeamName": team},
        "Tags": [{"Key": "a", "Value": "1"}],
        **members,
    }


def policy(account: Account, **members: Any) -> Properties:
    config = {"PriorityClasses": [{"Name": "high", "Weight": "90"}]}
    return {"Name": "ours", "ClusterArn": account.cluster, "SchedulerConfig": config, **members}


def create(provider: Any, properties: Properties) -> Any:
    return provider.create(properties, "Thing", "Stack", CALLER)


def test_every_property_of_a_quota_is_read(account: Account, quotas: ComputeQuotaProvider) -> None:
    entry = {"InstanceType": TYPE, "AcceleratorPartition": {"Type": "mig-1g.10gb", "Count": 1}}
    sharing = {"Strategy": "LendAndBorrow", "BorrowLimit": 5, "AbsoluteBorrowLimits": [entry]}
    config = {"ComputeQuotaResources": [entry], "ResourceSharingConfig": sharing, "PreemptTeamTasks": "Never"}
    target = {"TeamName": "research", "FairShareWeight": 3}
    wanted = quota(account, ComputeQuotaConfig=config, ComputeQuotaTarget=target, ActivationState="Disabled", Description="d")
    recorder = RecordingDict(wanted)
    made = create(quotas, recorder)
    assert list(recorder.unread()) == []
    assert made.physical_id.startswith("arn:aws:sagemaker:us-west-2:123456789012:compute-quota/")
    assert made.attributes["ComputeQuotaArn"] == made.physical_id
    assert made.attributes["ComputeQuotaId"] == made.physical_id[-12:]
    assert (made.attributes["ComputeQuotaVersion"], made.attributes["Status"]) == ("1", "Created")
    assert {"CreationTime", "LastModifiedTime"} <= made.attributes.keys()


def test_every_property_of_a_policy_is_read(account: Account, policies: SchedulerConfigProvider) -> None:
    config = {"PriorityClasses": [{"Name": "high", "Weight": 9}], "FairShare": "Disabled", "IdleResourceSharing": "Enabled"}
    recorder = RecordingDict(policy(account, SchedulerConfig=config, Description="d", Tags=[{"Key": "a", "Value": "1"}]))
    made = create(policies, recorder)
    assert list(recorder.unread()) == []
    assert made.physical_id.startswith("arn:aws:sagemaker:us-west-2:123456789012:cluster-scheduler-config/")
    assert made.attributes["ClusterSchedulerConfigId"] == made.physical_id[-12:]


def test_an_update_takes_the_newest_version(account: Account, quotas: ComputeQuotaProvider) -> None:
    old = quota(account, Description="one")
    new = {**quota(account, ActivationState="Disabled"), "Tags": [{"Key": "b", "Value": "2"}]}
    made = create(quotas, old)
    account.sagemaker.update_compute_quota(ComputeQuotaId=made.physical_id[-12:], TargetVersion=1, Description="by hand")
    updated = quotas.update(made.physical_id, old, new, "Stack", CALLER)
    assert (updated.physical_id, updated.attributes["ComputeQuotaVersion"]) == (made.physical_id, "3")
    found = account.sagemaker.describe_compute_quota(ComputeQuotaId=made.physical_id[-12:])
    assert (found["ActivationState"], found["Description"]) == ("Disabled", "")
    assert account.sagemaker.list_tags(ResourceArn=made.physical_id)["Tags"] == [{"Key": "b", "Value": "2"}]


def test_a_change_of_tags_alone_makes_no_version(account: Account, quotas: ComputeQuotaProvider) -> None:
    made = create(quotas, quota(account))
    updated = quotas.update(made.physical_id, quota(account), quota(account, Tags=[]), "Stack", CALLER)
    assert updated.attributes["ComputeQuotaVersion"] == "1"
    assert account.called() == ["CreateComputeQuota", "DeleteTags"]


def test_another_team_is_a_new_quota_after_the_old_one(account: Account, quotas: ComputeQuotaProvider) -> None:
    old, new = quota(account), {**quota(account, "other"), "Name": "research"}
    made = create(quotas, old)
    updated = quotas.update(made.physical_id, old, new, "Stack", CALLER)
    assert updated.physical_id != made.physical_id
    assert account.called() == ["CreateComputeQuota", "DeleteComputeQuota", "CreateComputeQuota"]
    (left,) = account.sagemaker.list_compute_quotas()["ComputeQuotaSummaries"]
    assert left["ComputeQuotaArn"] == updated.physical_id


def test_a_failed_creation_leaves_nothing(account: Account, quotas: ComputeQuotaProvider) -> None:
    account.queues.problems = [ValueError("the webhook does not answer")]
    with pytest.raises(AwsError, match="AWS::SageMaker::ComputeQuota' with name research failed: the webhook does not answer"):
        create(quotas, quota(account))
    assert account.sagemaker.list_compute_quotas()["ComputeQuotaSummaries"] == []


def test_a_failed_update_can_be_rolled_back(account: Account, policies: SchedulerConfigProvider) -> None:
    old, new = policy(account), policy(account, SchedulerConfig={"FairShare": "Disabled"})
    made = create(policies, old)
    account.queues.problems = [ValueError("no")]
    with pytest.raises(AwsError, match="with name ours failed: no"):
        policies.update(made.physical_id, old, new, "Stack", CALLER)
    back = policies.update(made.physical_id, new, old, "Stack", CALLER)
    found = account.sagemaker.describe_cluster_scheduler_config(
        ClusterSchedulerConfigId=back.attributes["ClusterSchedulerConfigId"]
    )
    assert (found["Status"], found["SchedulerConfig"]["FairShare"]) == ("Updated", "Enabled")


def test_a_second_policy_is_the_services_refusal(account: Account, policies: SchedulerConfigProvider) -> None:
    create(policies, policy(account))
    with pytest.raises(ClientError, match="the cluster has a scheduling policy already"):
        create(policies, policy(account, Name="another"))


def test_a_failed_deletion_tells_the_cause(account: Account, quotas: ComputeQuotaProvider) -> None:
    made = create(quotas, quota(account))
    account.queues.problems = [ValueError("pods are left")]
    with pytest.raises(AwsError, match="failed: pods are left"):
        quotas.delete(made.physical_id, quota(account), CALLER)
    quotas.delete(made.physical_id, quota(account), CALLER)
    quotas.delete(made.physical_id, quota(account), CALLER)
