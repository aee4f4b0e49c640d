"""The preflight against an account that a test describes."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from hyperpod_constructs.custom_resources.handlers.checks import quotas
from hyperpod_constructs.custom_resources.handlers.errors import MESSAGE_LIMIT, OperationError
from hyperpod_constructs.custom_resources.handlers.preflight import SETTLE_SECONDS, Preflight
from hyperpod_constructs.custom_resources.handlers.resource import on_event
from hyperpod_constructs.facts import quotas as quota_facts

from .conftest import START, Clock
from .fake_aws import FakeAws, refused

STACK = "arn:aws:cloudformation:us-west-2:123456789012:stack/demo/1"
OWN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/aaaaaaaaaaaa"
OTHER = "arn:aws:sagemaker:us-west-2:123456789012:cluster/bbbbbbbbbbbb"
ROLE = "arn:aws:iam::123456789012:role/path/nodes"
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/big"
TYPE = "ml.p5.48xlarge"
TYPE_QUOTA = f"{TYPE} for cluster usage"
TRUST = {"Statement": [{"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}]}


def group(name: str = "workers", count: int = 4, **more: Any) -> dict[str, Any]:
    properties = {"InstanceTypes": [TYPE], "Addresses": "32", "Interfaces": "32", "Subnets": ["subnet-1"]}
    return {"Name": name, "Count": str(count), **properties, **more}


def cluster(arn: str, groups: Mapping[str, int], **more: Any) -> dict[str, Any]:
    listed = [{"InstanceGroupName": name, "InstanceType": TYPE, "CurrentCount": count} for name, count in groups.items()]
    known = {"ClusterArn": arn, "ClusterName": "demo" if arn == OWN else "other", "ClusterStatus": "InService"}
    return {**known, "InstanceGroups": listed, "VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}, **more}


class Account:
    """An account in which everything fits; a test takes something away."""

    def __init__(self) -> None:
        self.quotas: dict[str, float] = {
            TYPE_QUOTA: 10,
            quotas.NODES_OF_A_CLUSTER: 100,
            quotas.NODES_OF_ALL_CLUSTERS: 100,
            quotas.VOLUME_SIZE: 1024,
            quotas.INTERFACES: 5000,
        }
        self.clusters: list[dict[str, Any]] = []
        self.resources: dict[str, str] = {}
        self.interfaces = 0
        self.clock = Clock()
        missing = refused("DescribeStackResource", "ValidationError", "Resource Cluster does not exist for stack demo")
        self.missing = missing
        self.aws = FakeAws(
            {
                "DescribeStackResource": self._resource,
                "DescribeStacks": self._stacks("UPDATE_IN_PROGRESS"),
                "ListClusters": lambda **_: {"ClusterSummaries": [self._summary(found) for found in self.clusters]},
                "DescribeCluster": lambda **asked: next(
                    found for found in self.clusters if found["ClusterArn"] == asked["ClusterName"]
                ),
                "ListServiceQuotas": lambda **_: {"Quotas": self._quotas()},
                "ListAWSDefaultServiceQuotas": {"Quotas": []},
                "DescribeSubnets": self.subnet(free=4000),
                "DescribeNetworkInterfaces": lambda **_: {"NetworkInterfaces": [{}] * self.interfaces},
                "DescribeInstanceTypeOfferings": self.offers("usw2-az1", "usw2-az2"),
                "GetRole": self.role(TRUST),
                "HeadBucket": {},
                "DescribeFileSystems": {"FileSystems": []},
            }
        )

    def run(self, *groups: dict[str, Any], kind: str = "Create", **properties: Any) -> list[str]:
        """The warnings of an operation.

        :raises OperationError: as CloudFormation shows it.
        """
        event = {
            "RequestType": kind,
            "StackId": STACK,
            "RequestId": "request-1",
            "LogicalResourceId": "Preflight",
            "ResourceProperties": {
                "TimeoutSeconds": "300",
                "Region": "us-west-2",
                "ClusterLogicalId": "Cluster",
                "Groups": list(groups or (group(),)),
                "Roles": [ROLE],
                "Bucket": "sagemaker-scripts",
                **properties,
            },
            **({} if kind == "Create" else {"PhysicalResourceId": "preflight|1"}),
        }
        answer = on_event(Preflight(self.aws, self.clock, self.clock.sleep), event, self.clock)
        return [line for line in answer["Data"]["Warnings"].split("\n") if line]

    def errors(self, *groups: dict[str, Any], **more: Any) -> str:
        with pytest.raises(OperationError) as failure:
            self.run(*groups, **more)
        return str(failure.value)

    def exists(self, groups: Mapping[str, int], **more: Any) -> None:
        """The stack's own cluster."""
        self.clusters.append(cluster(OWN, groups, **more))
        self.resources["Cluster"] = OWN

    @staticmethod
    def subnet(free: int) -> dict[str, Any]:
        return {"Subnets": [{"SubnetId": "subnet-1", "AvailabilityZoneId": "usw2-az1", "AvailableIpAddressCount": free}]}

    @staticmethod
    def offers(*zones: str) -> dict[str, Any]:
        return {"InstanceTypeOfferings": [{"InstanceType": TYPE.removeprefix("ml."), "Location": zone} for zone in zones]}

    @staticmethod
    def role(document: Any) -> dict[str, Any]:
        known = {
            "Path": "/",
            "RoleName": "nodes",
            "RoleId": "AROA0123456789ABCDEF0",
            "Arn": ROLE,
            "CreateDate": datetime.fromtimestamp(START, UTC),
        }
        return {
            "Role": {
                **known,
                "AssumeRolePolicyDocument": document if isinstance(document, str) else json.dumps(document),
            }
        }

    @staticmethod
    def _stacks(status: str) -> dict[str, Any]:
        return {"Stacks": [{"StackName": "demo", "CreationTime": datetime.fromtimestamp(START, UTC), "StackStatus": status}]}

    @staticmethod
    def _summary(found: Mapping[str, Any]) -> dict[str, Any]:
        names = ("ClusterArn", "ClusterName", "ClusterStatus")
        return {**{name: found[name] for name in names}, "CreationTime": datetime.fromtimestamp(START, UTC)}

    def _resource(self, *, StackName: str, LogicalResourceId: str) -> dict[str, Any]:  # noqa: N803  # the API's names
        assert StackName == STACK
        if LogicalResourceId not in self.resources:
            raise self.missing
        detail = {
            "LogicalResourceId": LogicalResourceId,
            "PhysicalResourceId": self.resources[LogicalResourceId],
            "ResourceType": "AWS::SageMaker::Cluster",
            "LastUpdatedTimestamp": datetime.fromtimestamp(START, UTC),
            "ResourceStatus": "CREATE_COMPLETE",
        }
        return {"StackResourceDetail": detail}

    def _quotas(self) -> list[dict[str, Any]]:
        return [
            {"QuotaName": name, "QuotaCode": f"L-{index:08X}", "Value": float(value)}
            for index, (name, value) in enumerate(self.quotas.items())
        ]


@pytest.fixture
def account() -> Iterator[Account]:
    account = Account()
    yield account
    assert account.aws.violations == []


def test_says_nothing_where_everything_fits(account: Account) -> None:
    assert account.run() == []


def test_the_names_of_quotas_are_those_of_the_facts() -> None:
    names = [
        name for name in vars(quotas) if name.isupper() and not name.startswith("_") and name not in ("ON_DEMAND", "PLAN", "SPOT")
    ]
    assert len(names) == 9
    for name in names:
        assert getattr(quotas, name) == getattr(quota_facts, name)


def test_fails_with_the_quota_its_use_and_the_command(account: Account) -> None:
    account.clusters.append(cluster(OTHER, {"workers": 8}))
    text = account.errors()
    assert "1 thing would stop this deployment, before anything was made" in text
    assert f"quota '{TYPE_QUOTA}' is 10, 8 in use, and this deployment adds 4 nodes" in text
    assert (
        "aws service-quotas request-service-quota-increase --region us-west-2 --service-code sagemaker "
        "--quota-code L-00000000 --desired-value 12" in text
    )


def test_nodes_of_a_cluster_that_is_being_deleted_do_not_count(account: Account) -> None:
    account.clusters.append(cluster(OTHER, {"workers": 8}, ClusterStatus="Deleting"))
    assert account.run() == []


def test_an_own_cluster_that_somebody_deleted_counts_no_more(account: Account) -> None:
    account.exists({"workers": 8})
    account.aws.answers["DescribeCluster"] = refused("DescribeCluster", "ResourceNotFound")
    account.clusters.clear()
    assert account.run(group(count=10)) == []
    assert "this deployment adds 11 nodes" in account.errors(group(count=11))


def test_an_own_cluster_that_cannot_be_read_is_a_warning(account: Account) -> None:
    account.exists({"workers": 8})
    account.aws.answers["DescribeCluster"] = refused("DescribeCluster")
    warnings = account.run()
    assert any(line.startswith("- the stack's own cluster not checked: DescribeCluster: AccessDenied") for line in warnings), (
        warnings
    )


@pytest.mark.parametrize("status", ["DELETE_COMPLETE", "CREATE_FAILED"])
def test_a_cluster_that_the_stack_has_lost_is_not_its_own(account: Account, status: str) -> None:
    account.exists({"workers": 8})
    found = account._resource(StackName=STACK, LogicalResourceId="Cluster")
    found["StackResourceDetail"]["ResourceStatus"] = status
    account.aws.answers["DescribeStackResource"] = found
    assert "is 10, 8 in use, and this deployment adds 4 nodes" in account.errors()


def test_a_cluster_that_goes_while_it_is_listed_does_not_count(account: Account) -> None:
    account.clusters.append(cluster(OTHER, {"workers": 8}))
    account.aws.answers["DescribeCluster"] = refused("DescribeCluster", "ResourceNotFound")
    assert account.run() == []


@pytest.mark.parametrize(
    "market",
    [{"TrainingPlanArn": "arn:aws:sagemaker:us-west-2:123456789012:training-plan/p"}, {"CapacityRequirements": {"Spot": {}}}],
)
def test_nodes_of_a_plan_or_on_spot_do_not_use_the_quota_on_demand(account: Account, market: dict[str, Any]) -> None:
    theirs = cluster(OTHER, {"workers": 8})
    theirs["InstanceGroups"][0] |= market
    account.clusters.append(theirs)
    assert account.run() == []


def test_all_findings_come_in_one_error(account: Account) -> None:
    account.quotas |= {TYPE_QUOTA: 0, quotas.NODES_OF_A_CLUSTER: 2, quotas.NODES_OF_ALL_CLUSTERS: 3, quotas.VOLUME_SIZE: 100}
    account.quotas[quotas.INTERFACES] = 100
    account.aws.answers |= {
        "DescribeSubnets": account.subnet(free=127),
        "DescribeInstanceTypeOfferings": account.offers("usw2-az2"),
        "GetRole": account.role({"Statement": []}),
        "HeadBucket": refused("HeadBucket", "404", "Not Found", 404),
    }
    text = account.errors(group(VolumeGb="500"))
    assert "9 things would stop this deployment" in text
    for part in (TYPE_QUOTA, "per SageMaker HyperPod cluster' is 2", "across SageMaker HyperPod clusters' is 3"):
        assert part in text
    assert len(text.encode()) <= MESSAGE_LIMIT


def test_each_finding_is_in_the_log_when_they_do_not_fit(account: Account, caplog: pytest.LogCaptureFixture) -> None:
    groups = [group(f"group-{number}", 1, InstanceTypes=[f"ml.g5.{number}xlarge"]) for number in range(20)]
    account.quotas |= {f"ml.g5.{number}xlarge for cluster usage": 0 for number in range(20)}
    account.aws.answers["DescribeInstanceTypeOfferings"] = {"InstanceTypeOfferings": []}
    caplog.set_level(logging.ERROR, "custom_resource")
    text = account.errors(*groups)
    assert len(text.encode()) <= MESSAGE_LIMIT
    shown = text.count("for cluster usage")
    assert 3 < shown < 20
    assert f"- {20 - shown} more in the log" in text
    assert sum(record.message.startswith("preflight: quota 'ml.g5") for record in caplog.records) == 20


def test_a_default_counts_where_no_value_was_applied(account: Account) -> None:
    account.quotas.pop(TYPE_QUOTA)
    account.aws.answers["ListAWSDefaultServiceQuotas"] = {"Quotas": [{"QuotaName": TYPE_QUOTA, "QuotaCode": "L-7", "Value": 0.0}]}
    assert "--quota-code L-7 --desired-value 4" in account.errors()


def test_an_unlisted_quota_is_a_warning(account: Account) -> None:
    account.quotas.pop(TYPE_QUOTA)
    [warning] = account.run()
    assert f"'{TYPE_QUOTA}' is not in the list of Service Quotas in us-west-2" in warning


@pytest.mark.parametrize(
    ("operation", "what"),
    [
        ("DescribeStackResource", "the stack's own cluster"),
        ("ListClusters", "existing clusters"),
        ("ListServiceQuotas", "quotas of SageMaker"),
        ("DescribeSubnets", "subnets"),
        ("DescribeNetworkInterfaces", "network interfaces"),
        ("DescribeInstanceTypeOfferings", "zones of the instance types"),
        ("GetRole", f"role {ROLE}"),
        ("HeadBucket", "bucket sagemaker-scripts"),
    ],
)
def test_what_may_not_be_looked_at_is_a_warning(account: Account, operation: str, what: str) -> None:
    account.aws.answers[operation] = refused(operation, status=403)
    warnings = account.run()
    assert any(line.startswith(f"- {what} not checked: {operation}: AccessDenied") for line in warnings), warnings


@pytest.mark.parametrize("status", [301, 400])
def test_a_bucket_of_another_region_exists(account: Account, status: int) -> None:
    elsewhere = refused("HeadBucket", str(status), "Moved", status)
    account.aws.answers["HeadBucket"] = elsewhere
    assert account.run() == [f"- bucket sagemaker-scripts not checked: HeadBucket: {status}: Moved"]
    elsewhere.response["ResponseMetadata"]["HTTPHeaders"] = {"x-amz-bucket-region": "eu-central-1"}
    assert account.run() == []


def test_a_fresh_policy_is_waited_for_once(account: Account) -> None:
    account.aws.answers |= {name: refused(name) for name in ("ListClusters", "ListServiceQuotas", "GetRole")}
    account.run()
    assert SETTLE_SECONDS / 2 < sum(account.clock.slept) <= SETTLE_SECONDS + 15


def test_a_fresh_policy_that_settles_is_no_warning(account: Account) -> None:
    def listed(**_: Any) -> dict[str, Any]:
        if account.clock.now < START + 10:
            raise refused("ListClusters")
        return {"ClusterSummaries": []}

    account.aws.answers["ListClusters"] = listed
    assert account.run() == []


def test_without_its_own_cluster_known_nothing_about_numbers_is_proven(account: Account) -> None:
    account.exists({"workers": 8})
    account.aws.answers["DescribeStackResource"] = refused("DescribeStackResource")
    assert any(f"quota '{TYPE_QUOTA}' is 10" in line for line in account.run(group(count=8)))


def test_a_shortage_without_a_look_at_others_is_still_proven(account: Account) -> None:
    account.aws.answers["ListClusters"] = refused("ListClusters")
    assert f"quota '{TYPE_QUOTA}' is 10, 0 in use, and this deployment adds 11" in account.errors(group(count=11))


def test_an_update_counts_running_nodes_as_granted(account: Account) -> None:
    account.exists({"workers": 8})
    account.quotas[TYPE_QUOTA] = 8
    account.aws.answers["DescribeSubnets"] = account.subnet(free=0)
    assert account.run(group(count=8), kind="Update") == []
    account.aws.answers["DescribeSubnets"] = account.subnet(free=31)
    text = account.errors(group(count=9), kind="Update")
    assert "is 8, 8 in use, and this deployment adds 1 nodes" in text
    assert "31 addresses are free, and this deployment takes 32 (group 'workers' 32)" in text


def test_an_update_without_growth_asks_for_no_quota(account: Account) -> None:
    account.exists({"workers": 8})
    account.run(group(count=4), kind="Update")
    assert not account.aws.calls["ListServiceQuotas"]
    assert not account.aws.calls["DescribeInstanceTypeOfferings"]


def test_nodes_move_between_groups_of_one_type(account: Account) -> None:
    account.exists({"old": 8})
    account.quotas[TYPE_QUOTA] = 8
    assert account.run(group("new", 8), kind="Update") == []


@pytest.mark.parametrize("change", [{"ClusterName": "renamed"}, {"Groups": [group(count=8, Subnets=["subnet-2"])]}])
def test_a_replacement_needs_all_its_nodes_beside_the_old_ones(account: Account, change: dict[str, Any]) -> None:
    account.exists({"workers": 8})
    assert "is 10, 8 in use, and this deployment adds 8" in account.errors(group(count=8), kind="Update", **change)


@pytest.mark.parametrize("status", ["UPDATE_ROLLBACK_IN_PROGRESS", None])
def test_a_rollback_is_never_stopped(account: Account, status: str | None) -> None:
    account.aws.answers["DescribeStacks"] = refused("DescribeStacks") if status is None else account._stacks(status)
    assert any(f"quota '{TYPE_QUOTA}' is 10" in line for line in account.run(group(count=11), kind="Update"))


def test_a_group_of_several_types_fails_when_their_quotas_together_do_not_suffice(account: Account) -> None:
    account.quotas["ml.p5e.48xlarge for cluster usage"] = 2
    mixed = group(count=12, InstanceTypes=[TYPE, "ml.p5e.48xlarge"])
    assert account.run(mixed) == []
    assert "adds 13 nodes, and the quotas of its types leave 12 together" in account.errors({**mixed, "Count": "13"})


def test_spot_nodes_have_quotas_of_their_own(account: Account) -> None:
    spot = "ml.p5.48xlarge for cluster spot instance usage"
    account.quotas |= {spot: 2, quotas.SPOT_NODES_OF_ALL_CLUSTERS: 100, TYPE_QUOTA: 0}
    assert f"quota '{spot}' is 2, 0 in use, and this deployment adds 4" in account.errors(group(Spot="true"))


def test_file_systems_that_do_not_exist_take_addresses(account: Account) -> None:
    system = {"LogicalId": "Lustre", "Addresses": "10", "Subnet": "subnet-1"}
    account.aws.answers["DescribeSubnets"] = account.subnet(free=130)
    text = account.errors(FileSystems=[system])
    assert "file system Lustre 10" in text
    account.resources["Lustre"] = "fs-1"
    assert account.run(FileSystems=[system]) == []


def test_quotas_of_file_systems(account: Account) -> None:
    kind = "Lustre Persistent_2"
    account.quotas |= {f"{kind} file systems": 1, f"{kind} storage capacity": 2000}
    there = {"StorageCapacity": 1200, "LustreConfiguration": {"DeploymentType": "PERSISTENT_2"}}
    account.aws.answers["DescribeFileSystems"] = {"FileSystems": [there]}
    system = {"LogicalId": "Lustre", "Addresses": "2", "Subnet": "subnet-1", "Quota": kind, "CapacityGib": "1200"}
    text = account.errors(FileSystems=[system])
    assert f"quota '{kind} file systems' is 1, 1 in use, and this deployment adds 1 file systems" in text
    assert "storage capacity" not in text
    account.quotas[f"{kind} file systems"] = 2
    [warning] = account.run(FileSystems=[system])
    assert f"quota '{kind} storage capacity' is 2000, 1200 in use, and this deployment adds 1200 GiB" in warning


def test_interfaces_are_counted_until_the_answer_is_certain(account: Account) -> None:
    account.interfaces = 4900
    assert "network interfaces per region' is 5000, 4900 in use" in account.errors().lower()
    account.interfaces = 10
    assert account.run() == []


def test_a_type_that_ec2_lists_nowhere_is_a_warning(account: Account) -> None:
    account.aws.answers["DescribeInstanceTypeOfferings"] = account.offers()
    [warning] = account.run()
    assert f"EC2 lists {TYPE} in no zone of this region" in warning


@pytest.mark.parametrize(
    ("statement", "trusted"),
    [
        (
            {"Effect": "Allow", "Principal": {"Service": ["ec2.amazonaws.com", "sagemaker.amazonaws.com"]}, "Action": ["sts:*"]},
            True,
        ),
        ({"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}, True),
        ({"Effect": "Allow", "NotPrincipal": {"AWS": "1"}, "Action": "sts:AssumeRole"}, True),
        ({"Effect": "Deny", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}, False),
        ({"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}, False),
        ({"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:TagSession"}, False),
    ],
)
def test_trust_of_the_role(account: Account, statement: dict[str, Any], trusted: bool) -> None:
    account.aws.answers["GetRole"] = account.role({"Statement": statement})
    if trusted:
        assert account.run() == []
    else:
        assert f"role {ROLE} does not trust sagemaker.amazonaws.com" in account.errors()


def test_a_role_that_does_not_exist(account: Account) -> None:
    account.aws.answers["GetRole"] = refused("GetRole", "NoSuchEntity", status=404)
    assert f"role {ROLE} does not exist" in account.errors()


def plan(**more: Any) -> dict[str, Any]:
    capacity = {"ReservedCapacityArn": "arn:aws:sagemaker:us-west-2:123456789012:reserved-capacity/x", "InstanceType": TYPE}
    zone = {"TotalInstanceCount": 4, "Status": "Active", "AvailabilityZoneId": "usw2-az1"}
    known = {"TrainingPlanArn": PLAN, "TrainingPlanName": "big", "Status": "Active", "TargetResources": ["hyperpod-cluster"]}
    return {**known, "TotalInstanceCount": 4, "ReservedCapacitySummaries": [{**capacity, **zone}], **more}


@pytest.mark.parametrize(
    ("members", "part"),
    [
        ({"Status": "Expired"}, "is Expired"),
        ({"EndTime": datetime.fromtimestamp(START - 1, UTC)}, "ended 2027"),
        ({"TargetResources": ["training-job"]}, "is for training-job"),
        ({"TotalInstanceCount": 3}, "has 3 instances, and the group wants 4"),
        (
            {"ReservedCapacitySummaries": [{**plan()["ReservedCapacitySummaries"][0], "InstanceType": "ml.p4d.24xlarge"}]},
            "holds ml.p4d",
        ),
        (
            {"ReservedCapacitySummaries": [{**plan()["ReservedCapacitySummaries"][0], "AvailabilityZoneId": "usw2-az3"}]},
            "lies in zone usw2-az3, and the subnets of the group in usw2-az1",
        ),
    ],
)
def test_a_training_plan_that_does_not_fit(account: Account, members: dict[str, Any], part: str) -> None:
    account.aws.answers["DescribeTrainingPlan"] = plan(**members)
    assert part in account.errors(group(TrainingPlan=PLAN))


def test_a_training_plan_that_does_not_exist(account: Account) -> None:
    account.aws.answers["DescribeTrainingPlan"] = refused("DescribeTrainingPlan", "ResourceNotFound")
    assert f"training plan {PLAN} does not exist" in account.errors(group(TrainingPlan=PLAN))


def test_a_plan_that_starts_later_and_its_quota_are_warnings(account: Account) -> None:
    account.quotas[TYPE_QUOTA] = 0
    account.aws.answers["DescribeTrainingPlan"] = plan(Status="Scheduled", AvailableInstanceCount=0)
    text = "\n".join(account.run(group(TrainingPlan=PLAN)))
    assert "is Scheduled and starts at an unknown time" in text
    assert "0 instances available" in text
    assert "whether it counts nodes of a training plan is not documented" in text


def test_wrong_properties_fail(account: Account) -> None:
    with pytest.raises(OperationError, match=r"property Groups\[0\].Count is 'many'; allowed: a whole number"):
        account.run({**group(), "Count": "many"})


def test_a_deletion_looks_at_nothing(account: Account) -> None:
    event = {"RequestType": "Delete", "PhysicalResourceId": "preflight|1", "ResourceProperties": {}}
    assert on_event(Preflight(account.aws, account.clock, account.clock.sleep), event, account.clock) == {
        "PhysicalResourceId": "preflight|1"
    }
    assert not account.aws.calls


def test_a_look_ends_in_time_when_a_service_does_not_answer(account: Account) -> None:
    account.aws.answers |= {name: refused(name, "ThrottlingException") for name in account.aws.answers}
    account.run()
    assert account.clock.now - START < 130
