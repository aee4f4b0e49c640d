"""`hyperpod cost --actual`, on answers of Cost Explorer that are given."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner, Result

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.operate.actual_cost import MOST_PAGES, Scope, read, scope_of
from tests.cli.conftest import StubbedTarget
from tests.plan.templates import resource, template

TODAY = date(2026, 11, 24)
SCOPE = Scope("project", ("trainer",))


def day(number: int, *costs: tuple[str, str], unit: str = "USD") -> dict[str, Any]:
    groups = [{"Keys": [name], "Metrics": {"UnblendedCost": {"Amount": amount, "Unit": unit}}} for name, amount in costs]
    period = {"Start": f"2026-11-{number:02}", "End": f"2026-11-{number + 1:02}"}
    return {"TimePeriod": period, "Total": {}, "Groups": groups, "Estimated": True}


def yesterday(*costs: tuple[str, str]) -> dict[str, Any]:
    end = datetime.now(UTC).date()
    return {**day(1, *costs), "TimePeriod": {"Start": (end - timedelta(days=1)).isoformat(), "End": end.isoformat()}}


def answer(target: StubbedTarget, *days: dict[str, Any], token: str | None = None, **expected: Any) -> None:
    more = {} if token is None else {"NextPageToken": token}
    target.answer("ce", "get_cost_and_usage", {"ResultsByTime": list(days), **more}, **expected)


def question(**members: Any) -> dict[str, Any]:
    tags = {"Tags": {"Key": "project", "Values": ["trainer"], "MatchOptions": ["EQUALS"]}}
    account = {"Dimensions": {"Key": "LINKED_ACCOUNT", "Values": ["111122223333"]}}
    return {
        "TimePeriod": {"Start": "2026-11-17", "End": "2026-11-24"},
        "Granularity": "DAILY",
        "Metrics": ["UnblendedCost"],
        "GroupBy": [{"Type": "DIMENSION", "Key": "SERVICE"}],
        "Filter": {"And": [tags, account]},
        **members,
    }


def run(workdir: Path, *arguments: str, target: str = "aws") -> Result:
    path = workdir / "template.json"
    path.write_text(json.dumps(template(Nat=resource("AWS::EC2::NatGateway"))))
    return CliRunner().invoke(app, ["cost", str(path), "--actual", "--stack", "Trainer", "--target", target, *arguments])


@pytest.mark.parametrize("region", ["us-west-2", "eu-central-1", "cn-north-1"])
def test_boto3_finds_the_one_endpoint_of_the_partition(region: str) -> None:
    session = boto3.session.Session(aws_access_key_id="none", aws_secret_access_key="none")
    expected = "https://ce.cn-northwest-1.amazonaws.com.cn" if region == "cn-north-1" else "https://ce.us-east-1.amazonaws.com"
    assert session.client("ce", region_name=region).meta.endpoint_url == expected


def test_days_and_pages_are_summed_by_service(target: StubbedTarget) -> None:
    answer(target, day(17, ("SageMaker", "0")), day(22, ("SageMaker", "24.5"), ("FSx", "1E-7")), token="more", **question())
    answer(target, day(23, ("SageMaker", "23.5"), ("Credits", "-1")), **question(NextPageToken="more"))
    found = read(target, SCOPE, 7, TODAY)
    target.assert_all_asked()
    assert found.by_service == (("SageMaker", Decimal(48)), ("FSx", Decimal("1e-7")), ("Credits", Decimal(-1)))
    assert (found.costly_since, found.hours, found.requests) == (date(2026, 11, 22), 48, 2)
    assert found.as_json()["services"][0] == {"service": "SageMaker", "usd": 48.0, "usd_per_hour": 1.0, "usd_per_month": 730.0}


@pytest.mark.parametrize("amount", ["", "NaN", "Infinity", "1e999999999", "9" * 5000, "1,5", "٣"])
def test_fails_for_an_amount_that_is_no_number(target: StubbedTarget, amount: str) -> None:
    answer(target, day(22, ("SageMaker", amount)))
    with pytest.raises(CliError, match="no number of US dollars"):
        read(target, SCOPE, 7, TODAY)


def test_fails_for_another_currency_and_for_a_day_that_is_none(target: StubbedTarget) -> None:
    answer(target, day(22, ("SageMaker", "1"), unit="CNY"))
    answer(target, {**day(22, ("SageMaker", "1")), "TimePeriod": {"Start": "soon", "End": "later"}})
    answer(target, day(24, ("SageMaker", "1")))
    for message in ("answers in CNY", "the day 'soon'", "the day 2026-11-24; asked for: 2026-11-17 to 2026-11-23"):
        with pytest.raises(CliError, match=message):
            read(target, SCOPE, 7, TODAY)


def test_fails_for_pages_without_end(target: StubbedTarget) -> None:
    for number in range(MOST_PAGES):
        answer(target, token=str(number))
    with pytest.raises(CliError, match=f"more than {MOST_PAGES} pages"):
        read(target, SCOPE, 7, TODAY)
    target.assert_all_asked()


def test_fails_for_the_same_page_again(target: StubbedTarget) -> None:
    answer(target, token="again")
    answer(target, token="again")
    with pytest.raises(CliError, match="same page token twice"):
        read(target, SCOPE, 7, TODAY)


def test_the_actual_cost_follows_the_estimate(account: StubbedTarget, workdir: Path) -> None:
    answer(account, yesterday(("Sage\x1b[2JMaker " + "x" * 500, "24")))
    result = run(workdir)
    assert result.exit_code == 0
    assert "Nat " in result.output
    assert "\x1b" not in result.output
    assert "x" * 80 not in result.output
    assert "1 request to Cost Explorer: 0.01 USD" in result.output


def test_no_cost_says_which_tag_to_activate(account: StubbedTarget, workdir: Path) -> None:
    answer(account)
    result = run(workdir)
    assert result.exit_code == 0
    assert "Activate aws:cloudformation:stack-name as a cost allocation tag" in result.output


def test_json_and_markdown_have_both(account: StubbedTarget, workdir: Path) -> None:
    answer(account, yesterday(("SageMaker|x", "24")))
    answer(account, yesterday(("SageMaker|x", "24")))
    found = json.loads(run(workdir, "--format", "json").stdout)
    assert (found["resources"][0]["resource"], found["actual"]["usd"], found["actual"]["values"]) == ("Nat", 24.0, ["Trainer"])
    assert "| SageMaker&#124;x | 24.00 |" in run(workdir, "--format", "markdown").stdout


def test_fails_without_the_permission_and_names_the_statement(account: StubbedTarget, workdir: Path) -> None:
    said = "User: arn:aws:iam::111122223333:user/a is not authorized to perform: ce:GetCostAndUsage on resource: *"
    account.refuse("ce", "get_cost_and_usage", "AccessDeniedException", said)
    result = run(workdir)
    assert result.exit_code == 1
    assert '{"Effect": "Allow", "Action": "ce:GetCostAndUsage", "Resource": "*"}' in result.output
    assert "Nat " in result.output


def test_fails_where_cost_explorer_was_never_turned_on(account: StubbedTarget, workdir: Path) -> None:
    account.refuse("ce", "get_cost_and_usage", "DataUnavailableException", "no data")
    assert "has no data of this account yet: turn it on" in run(workdir).output


def test_the_embedded_aws_costs_nothing_and_need_not_run(workdir: Path) -> None:
    result = run(workdir, target="local")
    assert result.exit_code == 0
    assert "the embedded AWS costs nothing" in result.output
    assert json.loads(run(workdir, "--format", "json", target="local").stdout)["actual"] is None


def test_the_stacks_of_an_assembly_or_a_tag(tmp_path: Path) -> None:
    properties = {"templateFile": "T.json", "stackName": "trainer"}
    stack = {"type": "aws:cloudformation:stack", "environment": "aws://unknown-account/unknown-region", "properties": properties}
    (tmp_path / "manifest.json").write_text(json.dumps({"version": "1", "artifacts": {"T": stack}}))
    (tmp_path / "T.json").write_text(json.dumps(template(Nat=resource("AWS::EC2::NatGateway"))))
    assert scope_of([tmp_path], [], None) == Scope("aws:cloudformation:stack-name", ("trainer",))
    assert scope_of([tmp_path], [], "project=a=b") == Scope("project", ("a=b",))
    for stacks, tag in (((), "project"), (("S",), "project=a")):
        with pytest.raises(CliError, match="write KEY=VALUE"):
            scope_of([tmp_path], stacks, tag)


def test_fails_if_nothing_names_a_stack(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="write --stack NAME"):
        scope_of([tmp_path / "template.json"], [], None)
