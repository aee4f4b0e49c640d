from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.operate import place
from hyperpod_constructs.cli.target import AwsAccount
from tests.cli.conftest import StubbedTarget
from tests.cli.terminal import in_terminal

OFFER_ID = f"tpo-{'0123456789abcdef' * 4}"
ZONES = {"AvailabilityZones": [{"ZoneName": "us-west-2b", "ZoneId": "usw2-az1"}]}
COMMAND = (
    "aws sagemaker create-training-plan --region us-west-2 --training-plan-name p5-48xlarge-20270115"
    f" --training-plan-offering-id {OFFER_ID}"
)


def block(**members: Any) -> dict[str, Any]:
    return {
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 4,
        "AvailabilityZone": "us-west-2b",
        "StartTime": datetime(2027, 1, 15, 8, tzinfo=UTC),
        "EndTime": datetime(2027, 1, 17, 8, tzinfo=UTC),
        **members,
    }


def offer(*blocks: dict[str, Any], **members: Any) -> dict[str, Any]:
    found = {
        "TrainingPlanOfferingId": OFFER_ID,
        "TargetResources": ["hyperpod-cluster"],
        "DurationHours": 48,
        "UpfrontFee": "1231849.5",
        "CurrencyCode": "USD",
        "ReservedCapacityOfferings": list(blocks) or [block()],
    } | members
    return {name: value for name, value in found.items() if value is not None}


@pytest.fixture
def account(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> StubbedTarget:
    monkeypatch.setattr(AwsAccount, "of_caller", lambda **options: target)
    return target


def run(*arguments: str, command: str = "search", where: str = "aws") -> Result:
    wanted = ["--instance-type", "ml.p5.48xlarge", "--count", "4", "--duration-hours", "48"] if command == "search" else []
    return CliRunner().invoke(app, ["training-plan", command, *wanted, "--target", where, *arguments])


def answer(target: StubbedTarget, *offers: dict[str, Any], **expected: Any) -> None:
    request = {
        "InstanceType": "ml.p5.48xlarge",
        "InstanceCount": 4,
        "DurationHours": 48,
        "TargetResources": ["hyperpod-cluster"],
        **expected,
    }
    target.answer("sagemaker", "search_training_plan_offerings", {"TrainingPlanOfferings": list(offers)}, **request)
    if offers:
        target.answer("ec2", "describe_availability_zones", ZONES)


def test_shows_offers_and_the_command_that_buys(account: StubbedTarget) -> None:
    answer(account, offer(), offer(TrainingPlanOfferingId="tpo-2"), StartTimeAfter=datetime(2027, 1, 15, tzinfo=UTC))
    shown = run("--start-after", "2027-01-15")
    assert shown.stdout.splitlines() == [
        "#  zone      start (UTC)       end (UTC)         hours  count     fee (USD)",
        "1  usw2-az1  2027-01-15 08:00  2027-01-17 08:00     48      4  1,231,849.50",
        "2  usw2-az1  2027-01-15 08:00  2027-01-17 08:00     48      4  1,231,849.50",
        "",
        "This command buys offer 1, for 1,231,849.50 USD at once, used or not; hyperpod never runs it:",
        "",
        COMMAND,
    ]
    account.assert_all_asked()


def test_the_command_of_another_offer(account: StubbedTarget) -> None:
    answer(account, offer(TrainingPlanOfferingId="tpo-1"), offer())
    assert run("--offer", "2").stdout.splitlines()[-1] == COMMAND
    answer(account, offer())
    assert "there is no offer 2: write --offer with a number from 1 to 1" in run("--offer", "2").stderr


def test_an_offer_may_be_in_several_blocks_and_without_a_fee(account: StubbedTarget) -> None:
    second = block(AvailabilityZone="us-west-2c", InstanceCount=2, StartTime=datetime(2027, 2, 1, tzinfo=UTC))
    answer(account, offer(block(), second, UpfrontFee=None, CurrencyCode=None))
    lines = run().stdout.splitlines()
    assert lines[0].endswith("fee")
    assert [line.split() for line in lines[1:3]] == [
        ["1", "usw2-az1", "2027-01-15", "08:00", "2027-01-17", "08:00", "48", "4", "-"],
        ["us-west-2c", "2027-02-01", "00:00", "2027-01-17", "08:00", "2"],
    ]


def test_currencies_stand_with_their_fees_if_they_differ(account: StubbedTarget) -> None:
    answer(account, offer(), offer(CurrencyCode="EUR", UpfrontFee="much"))
    lines = run().stdout.splitlines()
    assert lines[1].endswith("1,231,849.50 USD")
    assert lines[2].endswith("much EUR")


def test_zones_keep_their_names_without_the_permission(account: StubbedTarget) -> None:
    account.answer("sagemaker", "search_training_plan_offerings", {"TrainingPlanOfferings": [offer()]})
    account.refuse("ec2", "describe_availability_zones", "UnauthorizedOperation", "no")
    assert "us-west-2b" in run().stdout


def test_prints_json(account: StubbedTarget) -> None:
    answer(account, offer())
    assert json.loads(run("--json").stdout) == [
        {
            "offering_id": OFFER_ID,
            "hours": 48,
            "upfront_fee": "1231849.5",
            "currency": "USD",
            "blocks": [
                {
                    "instance_type": "ml.p5.48xlarge",
                    "instances": 4,
                    "zone": "usw2-az1",
                    "start": "2027-01-15T08:00:00Z",
                    "end": "2027-01-17T08:00:00Z",
                }
            ],
            "command": COMMAND,
        }
    ]


def test_fails_without_an_offer_and_says_what_to_vary(account: StubbedTarget) -> None:
    answer(account, StartTimeAfter=datetime(2027, 1, 15, 12, 30, tzinfo=UTC))
    failed = run("--start-after", "2027-01-15T12:30")
    assert failed.exit_code == 1
    assert (
        "no offer of 4 x ml.p5.48xlarge for 48 hours from 2027-01-15 12:30 UTC in us-west-2: vary --count (plans have"
        in failed.stderr
    )


def test_fails_for_a_type_that_nobody_sells(account: StubbedTarget) -> None:
    failed = run("--instance-type", "ml.m5.xlarge")
    assert (failed.exit_code, "ml.m5.xlarge is not sold by training plan: write one of ml.g6" in failed.stderr) == (1, True)


def test_fails_when_aws_refuses(account: StubbedTarget) -> None:
    account.refuse("sagemaker", "search_training_plan_offerings", "AccessDeniedException", "not allowed")
    failed = run()
    assert failed.exit_code == 1
    assert "SearchTrainingPlanOfferings is not allowed, and AWS does not say why" in failed.stderr


def test_fails_without_a_region_or_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    assert "no region is set" in run().stderr
    monkeypatch.setenv("AWS_REGION", "us-west-2")
    assert "no AWS credentials were found" in run(command="list").stderr


def test_the_embedded_aws_must_run(workdir: Path) -> None:
    assert "the embedded AWS does not run, so it has no cluster: deploy one first" in run(where="local").stderr


def test_the_embedded_aws_takes_no_money(target: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "running_embedded_aws", lambda: target)
    answer(target, offer())
    shown = run(where="local").stdout
    assert "In the embedded AWS nothing is paid" in shown
    assert 'used or not; the AWS CLI reaches it after eval "$(hyperpod local env)":' in shown


PLAN: dict[str, Any] = {
    "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/a-plan-with-a-long-name",
    "TrainingPlanName": "a-plan-with-a-long-name",
    "Status": "Scheduled",
    "StartTime": datetime(2027, 1, 15, 8, tzinfo=UTC),
    "EndTime": datetime(2027, 1, 17, 8, tzinfo=UTC),
    "TotalInstanceCount": 4,
    "AvailableInstanceCount": 3,
    "TargetResources": ["hyperpod-cluster"],
    "ReservedCapacitySummaries": [
        {
            "ReservedCapacityArn": "arn:aws:sagemaker:us-west-2:111122223333:reserved-capacity/a-plan",
            "InstanceType": "ml.p6-b200.48xlarge",
            "TotalInstanceCount": 4,
            "Status": "Scheduled",
            "AvailabilityZoneId": "usw2-az1",
        }
    ],
}


def test_lists_plans_of_all_pages(account: StubbedTarget) -> None:
    account.answer("sagemaker", "list_training_plans", {"TrainingPlanSummaries": [PLAN], "NextToken": "more"})
    account.answer("sagemaker", "list_training_plans", {"TrainingPlanSummaries": [PLAN]}, NextToken="more")
    lines = run(command="list").stdout.splitlines()
    assert lines[:3] == [
        "name                     status     instances            zone      start and end (UTC)",
        "a-plan-with-a-long-name  Scheduled  ml.p6-b200.48xlarge  usw2-az1  2027-01-15 08:00",
        "                                    3 of 4 free                    2027-01-17 08:00",
    ]
    assert len(lines) == 5


def test_lists_plans_as_json(account: StubbedTarget) -> None:
    account.answer("sagemaker", "list_training_plans", {"TrainingPlanSummaries": [PLAN]})
    [found] = json.loads(run("--json", command="list").stdout)
    assert (found["name"], found["end"], found["free"]) == ("a-plan-with-a-long-name", "2027-01-17T08:00:00Z", 3)
    assert found["blocks"][0]["instances"] == 4


def test_says_that_there_is_no_plan(account: StubbedTarget) -> None:
    account.answer("sagemaker", "list_training_plans", {"TrainingPlanSummaries": []})
    assert run(command="list").stdout == "there is no training plan in us-west-2; `hyperpod training-plan search` shows offers\n"


def test_tables_fit_into_80_columns(account: StubbedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    answer(account, offer(UpfrontFee="31849315.84", DurationHours=4368))
    account.answer("sagemaker", "list_training_plans", {"TrainingPlanSummaries": [PLAN]})
    lines = [*run().stdout.splitlines()[:2], *run(command="list").stdout.splitlines()]
    assert max(map(len, lines)) <= 80
    assert lines[1].endswith("4368      4  31,849,315.84")


def test_help_names_both_commands() -> None:
    shown = " ".join(in_terminal(["training-plan", "--help"], columns=80))
    assert "search" in shown
    assert "list" in shown
