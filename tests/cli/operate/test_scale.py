from __future__ import annotations

import json
from typing import Any

import pytest

from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate import group_requests
from hyperpod_constructs.cli.operate.jobs import Job, Jobs
from hyperpod_constructs.cli.operate.owner import holder
from hyperpod_constructs.cli.operate.place import Place
from hyperpod_constructs.cli.operate.reading import Cluster, Group, Node
from hyperpod_constructs.cli.operate.scale import _Scaling
from hyperpod_constructs.cli.target import TargetName
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.conftest import ARN, ASKED, CLUSTER, node, run

ROLE = "arn:aws:iam::111122223333:role/nodes"
SCRIPTS = {"SourceS3Uri": "s3://sagemaker-scripts/v1/", "OnCreate": "on_create.sh"}
CONTROLLER, WORKERS = ({**group, "ExecutionRole": ROLE} for group in CLUSTER["InstanceGroups"])
WORKERS = {**WORKERS, "LifeCycleConfig": SCRIPTS, "CurrentImageId": "ami-0123456789abcdef0", "MinCount": 1}
WHOLE: dict[str, Any] = {**CLUSTER, "InstanceGroups": [{**CONTROLLER, "CurrentImageReleaseVersion": "1.0.1"}, WORKERS]}
KEPT = {
    "InstanceGroupName": "workers",
    "InstanceType": "ml.p5.48xlarge",
    "ExecutionRole": ROLE,
    "LifeCycleConfig": SCRIPTS,
    "SlurmConfig": {"NodeType": "Compute"},
    "OverrideVpcConfig": {"Subnets": ["subnet-2"], "SecurityGroupIds": ["sg-1"]},
    "TrainingPlanArn": WORKERS["TrainingPlanArn"],
    "ImageId": "ami-0123456789abcdef0",
    "MinInstanceCount": 1,
}
SAME = {
    "InstanceGroupName": "controller",
    "InstanceType": "ml.m5.xlarge",
    "ExecutionRole": ROLE,
    "InstanceCount": 1,
    "SlurmConfig": {"NodeType": "Controller"},
}
SCALED = {"Mode": "Enable", "Status": "InService"}
NODES = [node(2), node(3)]
GROUPS = [{"InstanceGroupName": "controller"}, {"InstanceGroupName": "workers", "InstanceCount": 4}]
TEMPLATE = json.dumps({"Resources": {"Cluster9EE0221C": {"Properties": {"InstanceGroups": GROUPS}}}})


def no_stack(account: StubbedTarget) -> None:
    account.refuse("cloudformation", "describe_stack_resources", "ValidationError", f"Stack for {ARN} does not exist")


def there_is(account: StubbedTarget, cluster: dict[str, Any] = WHOLE) -> None:
    account.answer("sagemaker", "describe_cluster", cluster)
    no_stack(account)
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": NODES}, **ASKED, InstanceGroupNameContains="workers")


def capacity(account: StubbedTarget, free: int = 4000) -> None:
    named = {"TrainingPlanArn": WORKERS["TrainingPlanArn"], "TrainingPlanName": "spring", "Status": "Active"}
    plan = {**named, "AvailableInstanceCount": 6, "TotalInstanceCount": 8}
    account.answer(
        "sagemaker",
        "describe_training_plan",
        {**plan, "AvailableInstanceCount": 6, "TotalInstanceCount": 8},
        TrainingPlanName="spring",
    )
    account.answer("ec2", "describe_subnets", {"Subnets": [{"AvailableIpAddressCount": free}]}, SubnetIds=["subnet-2"])


def updated(account: StubbedTarget, count: int) -> None:
    account.answer("sagemaker", "describe_cluster", WHOLE, ClusterName=ARN)
    groups = [SAME, {**KEPT, "InstanceCount": count}]
    account.answer("sagemaker", "update_cluster", {"ClusterArn": ARN}, ClusterName=ARN, InstanceGroups=groups)


def scale(count: int, *arguments: str, group: str = "workers") -> Any:
    return run("scale", group, str(count), "--cluster", "trainer", *arguments)


def test_it_raises_the_count_and_keeps_everything_else(account: StubbedTarget) -> None:
    there_is(account)
    capacity(account)
    updated(account, 8)
    result = scale(8)
    account.assert_all_asked()
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "workers (ml.p5.48xlarge): count 2 -> 8, 2 running",
        "capacity: the training plan spring has 6 of 8 instances free, 6 are wanted",
        "capacity: the subnets have 4000 addresses free, the new nodes take 192",
        "The service scales workers to 8; follow it with: hyperpod status --watch --cluster trainer",
    ]


def test_too_few_addresses_are_counted_in_nodes(account: StubbedTarget) -> None:
    there_is(account)
    capacity(account, free=100)
    updated(account, 8)
    assert "take 192: 3 nodes too many" in scale(8).output


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1)])
def test_scaling_down_shows_what_is_lost_and_asks(
    account: StubbedTarget, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    there_is(account)
    updated(account, 1)
    monkeypatch.setattr("hyperpod_constructs.cli.operate.scale.somebody_is_there", lambda: True)
    monkeypatch.setattr("hyperpod_constructs.cli.operate.scale.typer.confirm", lambda question: answer == "y")
    monkeypatch.setattr("hyperpod_constructs.cli.operate.scale.jobs_on", lambda *asked: Jobs((Job("7", "ada", "train", "n1"),)))
    result = scale(1)
    assert result.exit_code == code
    assert "7    ada   train  n1" in result.output
    assert "1 of 2 nodes end, and the service chooses which." in result.output
    assert ("nothing was done" in result.output) == (code == 1)


def test_fails_to_scale_down_where_nobody_can_be_asked(account: StubbedTarget) -> None:
    there_is(account)
    assert "this would scale workers down from 2 to 1, and nobody is there to ask: add --yes" in scale(1).output


def test_a_script_is_not_asked(account: StubbedTarget) -> None:
    there_is(account)
    updated(account, 1)
    assert scale(1, "--yes").exit_code == 0
    account.assert_all_asked()


def owned(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", WHOLE)
    resource = {"StackName": "Trainer", "LogicalResourceId": "Cluster9EE0221C", "PhysicalResourceId": ARN}
    kind = {"ResourceType": "AWS::SageMaker::Cluster", "ResourceStatus": "CREATE_COMPLETE", "Timestamp": "2026-11-01T00:00:00Z"}
    account.answer("cloudformation", "describe_stack_resources", {"StackResources": [resource | kind]}, PhysicalResourceId=ARN)
    account.answer("cloudformation", "get_template", {"TemplateBody": TEMPLATE})


def test_fails_for_a_count_that_a_stack_owns_and_says_what_to_change(account: StubbedTarget) -> None:
    owned(account)
    result = scale(8, "--yes")
    assert result.exit_code == 1
    assert (
        "the stack Trainer owns the count of workers, at Resources.Cluster9EE0221C.Properties.InstanceGroups[1].InstanceCount, "
        "and its next deployment would take a change back; nothing was done. The count is 2. The template says 4. In the code "
        "write count=8 for InstanceGroup(name='workers'), or worker_count=8 where the pattern makes the group; then hyperpod deploy"
    ) in result.output


def test_a_tag_names_the_stack_where_cloudformation_may_not_be_asked(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", WHOLE)
    account.refuse("cloudformation", "describe_stack_resources", "AccessDenied", "no")
    tags = {"Tags": [{"Key": "aws:cloudformation:stack-name", "Value": "Trainer"}]}
    account.answer("sagemaker", "list_tags", tags, ResourceArn=ARN, MaxResults=100)
    assert "the stack Trainer owns the count of workers, and its next deployment" in scale(8).output


def test_without_a_tag_the_missing_permission_is_named(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", WHOLE)
    sentence = "User: x is not authorized to perform: cloudformation:DescribeStackResources on resource: *"
    account.refuse("cloudformation", "describe_stack_resources", "AccessDenied", sentence)
    account.answer("sagemaker", "list_tags", {"Tags": []})
    assert '"Action": "cloudformation:DescribeStackResources"' in scale(8).output


def test_a_resource_that_a_deleted_stack_kept_has_no_owner(account: StubbedTarget) -> None:
    resource = {"StackName": "Trainer", "LogicalResourceId": "Cluster", "PhysicalResourceId": ARN}
    kind = {"ResourceType": "AWS::SageMaker::Cluster", "ResourceStatus": "DELETE_SKIPPED", "Timestamp": "2026-11-01T00:00:00Z"}
    account.answer("cloudformation", "describe_stack_resources", {"StackResources": [resource | kind]})
    assert holder(Place(account, TargetName.AWS), ARN) is None


@pytest.mark.parametrize(
    ("cluster", "group", "count", "message"),
    [
        (WHOLE, "workers", 6759, "COUNT is 6759; allowed: 0 to 6758"),
        (WHOLE, "workers", 0, "workers: a minimum of 1 nodes is above the count of 0"),
        (WHOLE, "controller", 2, "count 2 on the Controller group"),
        ({**WHOLE, "ClusterStatus": "Updating"}, "workers", 3, "trainer is Updating, and it is scaled only InService"),
        (
            {**WHOLE, "AutoScaling": {"Mode": "Enable", "Status": "InService"}},
            "workers",
            3,
            "Karpenter scales the groups of trainer",
        ),
        (WHOLE, "none", 3, "there is no instance group 'none' in trainer"),
    ],
)
def test_fails_before_it_changes_anything(
    account: StubbedTarget, cluster: dict[str, Any], group: str, count: int, message: str
) -> None:
    account.answer("sagemaker", "describe_cluster", cluster)
    result = scale(count, "--yes", group=group)
    assert result.exit_code == 1
    assert message in result.output


def test_the_present_count_changes_nothing(account: StubbedTarget) -> None:
    account.answer("sagemaker", "describe_cluster", WHOLE)
    result = scale(2)
    assert (result.exit_code, result.output) == (0, "workers has a count of 2 already; nothing was done\n")


def test_an_interruption_leaves_it_open(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    there_is(account)
    account.answer("sagemaker", "describe_cluster", WHOLE)

    def interrupted(**request: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(account.client("sagemaker"), "update_cluster", interrupted)
    assert "no answer came, so perhaps workers is scaled to 1" in scale(1, "--yes").output


def test_watching_ends_with_the_count(account: StubbedTarget) -> None:
    there_is(account)
    updated(account, 1)
    account.answer("sagemaker", "describe_cluster", WHOLE)
    account.answer("sagemaker", "list_cluster_nodes", {"ClusterNodeSummaries": NODES[:1]})
    result = scale(1, "--yes", "--watch")
    assert result.exit_code == 0
    assert result.output.endswith("1 of 1 nodes run, 1 are there\n")


def test_a_rolled_back_scaling_is_a_failure() -> None:
    scaling, nodes = _Scaling("workers", 3), [Node.of(one) for one in NODES]

    def cluster(status: str, target: int, failure: str | None = None) -> Cluster:
        whole = {**WHOLE, "InstanceGroups": [{**WORKERS, "TargetCount": target}]}
        return Cluster("trainer", ARN, status, failure, tuple(Group.of(one, whole) for one in whole["InstanceGroups"]), whole)

    assert scaling.look(cluster("Updating", 3), nodes)
    assert not scaling.look(cluster("InService", 2, "Insufficient capacity"), nodes)
    assert scaling.cause == "Insufficient capacity"


def test_a_member_that_this_botocore_does_not_know_is_not_dropped(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest model reads a drain policy in the answer, and this machine's does not."""
    known = {"InstanceGroups": [{"InstanceGroupName": "workers", "InstanceCount": 2}]}
    whole = {"InstanceGroups": [{**known["InstanceGroups"][0], "AutoPatchConfig": {"DrainPolicy": {"OnDrainTimeout": "Skip"}}}]}
    monkeypatch.setattr(group_requests, "_read", lambda *asked: (known, whole))
    cluster = Cluster("trainer", ARN, "InService", None, (), {})
    with pytest.raises(CliError, match=r"does not know AutoPatchConfig\.DrainPolicy\.OnDrainTimeout, and the update would drop it"):
        group_requests.with_count(Place(account, TargetName.AWS), cluster, "workers", 3, 0.0)
