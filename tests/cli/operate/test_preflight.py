"""`hyperpod preflight` on the default preset and on a template with literal names, in an account that a test describes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.target import AwsAccount
from hyperpod_constructs.custom_resources.handlers.checks import quotas
from tests.cli.conftest import StubbedTarget
from tests.cli.operate.entries import template as template_of
from tests.handlers.fake_aws import FakeAws, refused
from tests.presets import PRESETS, build

ACCOUNT = "123456789012"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/nodes"
PLAN = f"arn:aws:sagemaker:us-west-2:{ACCOUNT}:training-plan/spring"
HOSTILE = "no\x1b[2J\x9b1m\nerror  everything is lost | <b>"
STATEMENT = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}


class Account:
    """An account in which everything fits, behind the command's target."""

    def __init__(self) -> None:
        self.quotas: dict[str, float] = {
            "ml.m5.xlarge for cluster usage": 10,
            "ml.trn1.32xlarge for cluster usage": 10,
            quotas.NODES_OF_A_CLUSTER: 100,
            quotas.NODES_OF_ALL_CLUSTERS: 100,
            quotas.VOLUME_SIZE: 1024,
            quotas.INTERFACES: 5000,
            "Lustre Persistent_2 file systems": 100,
            "Lustre Persistent_2 storage capacity": 100_800,
        }
        role = {"Path": "/", "RoleName": "nodes", "RoleId": "AROA0123456789ABCDEF0", "Arn": ROLE, "CreateDate": 0}
        subnet = {"SubnetId": "subnet-1", "AvailabilityZoneId": "usw2-az4", "AvailableIpAddressCount": 4000}
        self.aws = FakeAws(
            {
                "DescribeStackResource": refused("DescribeStackResource", "ValidationError", "Stack 'x' does not exist"),
                "ListClusters": {"ClusterSummaries": []},
                "ListServiceQuotas": lambda **_: {"Quotas": self._quotas()},
                "ListAWSDefaultServiceQuotas": {"Quotas": []},
                "DescribeSubnets": {"Subnets": [subnet]},
                "DescribeNetworkInterfaces": {"NetworkInterfaces": []},
                "DescribeInstanceTypeOfferings": {
                    "InstanceTypeOfferings": [{"InstanceType": "trn1.32xlarge", "Location": "usw2-az4"}]
                },
                "GetRole": {"Role": {**role, "AssumeRolePolicyDocument": json.dumps({"Statement": [STATEMENT]})}},
                "HeadBucket": {},
                "DescribeFileSystems": {"FileSystems": []},
            }
        )

    def refuse(self, operation: str, code: str, message: str, status: int = 400) -> None:
        self.aws.answers[operation] = refused(operation, code, message, status)

    def _quotas(self) -> list[dict[str, Any]]:
        return [{"QuotaName": name, "QuotaCode": "L-12345678", "Value": value} for name, value in self.quotas.items()]


@pytest.fixture(scope="module")
def preset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The assembly of the default preset."""
    directory = tmp_path_factory.mktemp("preset")
    build(PRESETS[0], directory).synth()
    return directory


@pytest.fixture
def account(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> Account:
    found = Account()
    monkeypatch.setattr(target, "account", ACCOUNT)
    monkeypatch.setattr(target, "client", found.aws)
    monkeypatch.setattr(AwsAccount, "of_caller", lambda **options: target)
    return found


def run(path: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["preflight", str(path), "--target", "aws", *options])


def rows(account: Account, path: Path, *options: str, code: int = 0) -> dict[str, list[str]]:
    """The findings by level."""
    result = run(path, "--output", "json", *options)
    assert result.exit_code == code, result.output
    assert account.aws.violations == []
    levels: dict[str, list[str]] = {"error": [], "warning": [], "skipped": []}
    for row in json.loads(result.stdout):
        levels[row["level"]].append(row["finding"])
    return levels


def written(directory: Path, **group: Any) -> Path:
    """The template with literal names; `group` changes its group."""
    template = template_of(ROLE)
    template["Resources"]["Cluster"]["Properties"]["InstanceGroups"][0] |= group
    path = directory / "cluster.json"
    path.write_text(json.dumps(template))
    return path


def test_references_of_the_preset_are_skipped_by_name(account: Account, preset: Path) -> None:
    found = rows(account, preset)
    assert (found["error"], found["warning"]) == ([], [])
    text = "\n".join(found["skipped"])
    assert "free addresses and zones of group 'workers' not checked: the subnets are known only at deployment" in text
    assert "the nodes' role not checked: it is known only at deployment (${SlurmClusterExecutionRole" in text
    assert "the bucket of the lifecycle scripts not checked" in text
    assert not {"DescribeSubnets", "GetRole", "HeadBucket"} & set(account.aws.calls)
    assert account.aws.calls["DescribeNetworkInterfaces"] == 1


def test_fails_for_a_small_quota(account: Account, preset: Path) -> None:
    account.quotas["ml.trn1.32xlarge for cluster usage"] = 3
    (error,) = rows(account, preset, code=1)["error"]
    assert "quota 'ml.trn1.32xlarge for cluster usage' is 3, 0 in use, and this deployment adds 4 nodes; ask for 4: aws" in error


def test_fails_for_the_quota_of_file_systems_in_another_stack(account: Account, preset: Path) -> None:
    account.quotas["Lustre Persistent_2 file systems"] = 0
    assert "'Lustre Persistent_2 file systems' is 0" in rows(account, preset, code=1)["error"][0]


def test_a_file_system_that_exists_needs_no_quota(account: Account, preset: Path) -> None:
    def resource(StackName: str, LogicalResourceId: str) -> dict[str, Any]:  # noqa: N803
        if StackName != "HyperPod-Foundation":
            raise refused("DescribeStackResource", "ValidationError", "Stack 'x' does not exist")
        known = {"LogicalResourceId": LogicalResourceId, "ResourceType": "AWS::FSx::FileSystem", "LastUpdatedTimestamp": 0}
        return {"StackResourceDetail": {**known, "PhysicalResourceId": "fs-1", "ResourceStatus": "CREATE_COMPLETE"}}

    account.aws.answers["DescribeStackResource"] = resource
    account.quotas["Lustre Persistent_2 file systems"] = 0
    assert rows(account, preset)["error"] == []


def test_a_missing_permission_is_a_warning_with_its_statement(account: Account, preset: Path) -> None:
    denied = "User: arn:aws:iam::1:user/me is not authorized to perform: servicequotas:ListServiceQuotas on resource: *"
    account.refuse("ListServiceQuotas", "AccessDeniedException", denied)
    found = rows(account, preset)
    assert found["error"] == []
    assert any(text.startswith("quotas of SageMaker not checked: ListServiceQuotas: AccessDenied") for text in found["warning"])
    statement = '{"Effect": "Allow", "Action": "servicequotas:ListServiceQuotas", "Resource": "*"}'
    assert [text for text in found["warning"] if statement in text] == [
        f"servicequotas:ListServiceQuotas is not allowed; this statement grants it: {statement}"
    ]


@pytest.mark.parametrize("form", ["table", "markdown", "json"])
def test_a_hostile_answer_stays_in_its_cell(account: Account, preset: Path, form: str) -> None:
    account.refuse("ListClusters", "ValidationException", HOSTILE)
    result = run(preset, "--output", form)
    assert result.exit_code == 0
    assert not any(control in result.output for control in "\x1b\x9b")
    assert not any(line.startswith("error") for line in result.output.splitlines())
    if form == "markdown":
        assert "<b>" not in result.output


def test_literal_names_are_looked_at(account: Account, tmp_path: Path) -> None:
    found = rows(account, written(tmp_path))
    assert (found["error"], found["warning"]) == ([], [])
    assert found["skipped"] == [
        "nodes that the cluster has already not counted: name the deployed stack with --stack, if there is one"
    ]
    assert {"DescribeSubnets", "GetRole", "HeadBucket", "DescribeInstanceTypeOfferings"} <= set(account.aws.calls)


def test_fails_for_a_role_and_a_bucket_that_do_not_exist(account: Account, tmp_path: Path) -> None:
    account.refuse("GetRole", "NoSuchEntity", "no role", 404)
    account.refuse("HeadBucket", "404", "Not Found", 404)
    errors = rows(account, written(tmp_path), "--stack", "training", code=1)["error"]
    assert [error.split(" does not exist")[0] for error in errors] == [
        f"role {ROLE}",
        "bucket sagemaker-scripts of the lifecycle scripts",
    ]


def test_what_the_deployment_makes_under_a_known_name_need_not_exist(account: Account, tmp_path: Path) -> None:
    template = template_of(ROLE)
    template["Resources"]["Role"] = {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "nodes"}}
    template["Resources"]["Scripts"] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": {"Ref": "Name"}}}
    template["Parameters"] = {"Name": {"Type": "String"}}
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(template))
    skipped = rows(account, path, "--stack", "training")["skipped"]
    assert skipped == [
        f"role {ROLE} not checked: a template here makes it",
        "bucket sagemaker-scripts not checked: a template here makes it",
    ]
    assert not {"GetRole", "HeadBucket"} & set(account.aws.calls)


def test_a_plan_that_is_not_known_leaves_the_group_out(account: Account, tmp_path: Path) -> None:
    account.quotas["ml.trn1.32xlarge for cluster usage"] = 0
    path = written(tmp_path, TrainingPlanArn={"Fn::ImportValue": "plan"})
    found = rows(account, path, "--stack", "training")
    assert found["error"] == []
    assert found["skipped"] == ["group 'workers' not checked: TrainingPlanArn is known only at deployment"]


def test_fails_for_a_training_plan_that_does_not_exist(account: Account, tmp_path: Path) -> None:
    account.refuse("DescribeTrainingPlan", "ResourceNotFound", "no plan")
    errors = rows(account, written(tmp_path, TrainingPlanArn=PLAN), "--stack", "training", code=1)["error"]
    assert [f"training plan {PLAN} does not exist" in error for error in errors] == [True]


def test_a_refused_look_at_the_stack_proves_nothing(account: Account, tmp_path: Path) -> None:
    account.quotas["ml.trn1.32xlarge for cluster usage"] = 0
    account.refuse("DescribeStackResource", "AccessDenied", "not authorized to perform: cloudformation:DescribeStackResource")
    found = rows(account, written(tmp_path), "--stack", "training")
    assert found["error"] == []
    assert any("quota 'ml.trn1.32xlarge for cluster usage' is 0" in text for text in found["warning"])


def test_fails_for_an_assembly_of_another_account(account: Account, target: StubbedTarget, preset: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(target, "account", "111122223333")
    result = run(preset)
    assert result.exit_code == 2
    assert f"is for account {ACCOUNT}, and this is 111122223333: write --profile" in result.output
    assert account.aws.calls.total() == 0


def test_fails_without_a_cluster(account: Account, tmp_path: Path) -> None:
    path = tmp_path / "bucket.json"
    path.write_text(json.dumps({"Resources": {"Bucket": {"Type": "AWS::S3::Bucket"}}}))
    result = run(path)
    assert result.exit_code == 2
    assert "no HyperPod cluster (AWS::SageMaker::Cluster)" in result.output


def test_the_table_ends_with_what_no_quota_tells(account: Account, tmp_path: Path) -> None:
    result = run(written(tmp_path), "--stack", "training")
    assert result.output == "no proven mistake; AWS may still lack free instances: capacity is not a quota, and no API tells\n"
