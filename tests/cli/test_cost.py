"""`hyperpod cost`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hyperpod_constructs.cli.commands import app
from tests.plan.templates import cluster, group, lustre, resource, template

runner = CliRunner()


@pytest.fixture
def written(workdir: Path) -> Path:
    path = workdir / "template.json"
    nat = resource("AWS::EC2::NatGateway")
    path.write_text(
        json.dumps(template(Nat=nat, Cluster=cluster(group(count=2)), Files=lustre(), Bucket=resource("AWS::S3::Bucket")))
    )
    return path


def prices(directory: Path, **given: Any) -> str:
    path = directory / "prices.json"
    path.write_text(json.dumps(given))
    return str(path)


def test_resources_and_total_by_the_hour_and_by_the_month(written: Path) -> None:
    result = runner.invoke(app, ["cost", str(written)])
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["Nat", "NAT", "gateway", "0.045", "33"] in lines
    assert ["Cluster", "workers:", "2", "x", "ml.trn1.32xlarge", "43.000", "31,390"] in lines
    assert ["total", "43.045", "31,423"] in lines
    assert "not the SageMaker price" in result.stdout
    assert "  objects in S3\n" in result.stdout


def test_the_users_own_prices(written: Path) -> None:
    mine = prices(written.parent, label="mine", nat_gateway_hour=1, lustre_persistent_2_gb_month={"250": 0.5})
    result = runner.invoke(app, ["cost", str(written), "--prices", mine, "--format", "json"])
    document = json.loads(result.stdout)
    found = {row["what"]: row["usd_per_hour"] for row in document["resources"]}
    assert found["NAT gateway"] == 1
    assert found["workers: 2 x ml.trn1.32xlarge"] == 43
    assert found["LUSTRE file system of 2400 GiB, 250 MB/s per TiB"] == pytest.approx(2400 * 0.5 / 730)
    assert document["label"].startswith("mine; other prices: EC2 on-demand")


def test_samples_are_priced_for_a_number_of_series(workdir: Path) -> None:
    on_eks = cluster(group(count=2), Orchestrator={"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k"}})
    addon = resource("AWS::EKS::Addon", AddonName="amazon-sagemaker-hyperpod-observability", ClusterName="k")
    path = workdir / "observed.json"
    path.write_text(json.dumps(template(Cluster=on_eks, Addon=addon)))
    without = runner.invoke(app, ["cost", str(path)])
    assert "their price needs the number of series of a node" in without.stdout
    given = runner.invoke(app, ["cost", str(path), "--series-per-node", "1000"])
    assert "samples in Prometheus: 2 x 1000 series, every 30 s" in given.stdout
    for wrong in ("-1", "10000001", "many"):
        assert runner.invoke(app, ["cost", str(path), "--series-per-node", wrong]).exit_code == 2


def test_json(written: Path) -> None:
    document = json.loads(runner.invoke(app, ["cost", str(written), "--format", "json"]).stdout)
    assert set(document) == {"label", "usd_per_hour", "usd_per_month", "unpriced", "resources"}
    assert document["usd_per_hour"] == 43.045
    assert document["resources"][0] == {
        "template": str(written),
        "resource": "Nat",
        "construct": None,
        "type": "AWS::EC2::NatGateway",
        "what": "NAT gateway",
        "usd_per_hour": 0.045,
        "usd_per_month": 32.85,
    }
    assert "objects in S3" in document["unpriced"]


def test_several_templates_together(written: Path) -> None:
    other = written.parent / "other.json"
    other.write_text(json.dumps(template(Nat=resource("AWS::EC2::NatGateway"))))
    document = json.loads(runner.invoke(app, ["cost", str(written), str(other), "--format", "json"]).stdout)
    assert document["usd_per_hour"] == pytest.approx(43.09)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "is a JSON object"),
        ('{"nat": 1}', "'nat' is not a price; allowed: alarm_month, composite_alarm_month, dashboard_month"),
        ('{"nat_gateway_hour": "1"}', "nat_gateway_hour is '1'; allowed: a number"),
        ('{"instance_hour": {"ml.m5.large": -1}}', "instance_hour.ml.m5.large is -1; allowed: a number"),
        ('{"instance_hour": 1}', "instance_hour is 1; allowed: an object"),
        ('{"training_plan_hour": {"p5": 1}}', "training_plan_hour has 'p5', which is not an instance type"),
        ('{"instance_hour": {"m5.large": 1}}', "instance_hour has 'm5.large', which is not an instance type"),
        ('{"instance_hour": {"ml.m5.large": {"a": 1}}}', "instance_hour.ml.m5.large is {'a': 1}; allowed: a number"),
        ('{"nat_gateway_hour": {"a": 1}}', "nat_gateway_hour is {'a': 1}; allowed: a number"),
        ('{"nat_gateway_hour": NaN}', "NaN is not a number"),
        ('{"nat_gateway_hour": 1e999}', "1e999 is not a number"),
        ('{"nat_gateway_hour": 1' + "0" * 400 + "}", "allowed: a number"),
        ("[" * 100_000, "cannot be read as JSON"),
    ],
)
def test_fails_for_prices_that_make_no_sense(written: Path, content: str, message: str) -> None:
    path = written.parent / "prices.json"
    path.write_text(content)
    result = runner.invoke(app, ["cost", str(written), "--prices", str(path)])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_fails_for_a_file_that_is_not_a_template(workdir: Path) -> None:
    result = runner.invoke(app, ["cost", str(workdir / "missing.json")])
    assert result.exit_code == 2
    assert "missing.json" in result.stderr


def test_a_template_from_standard_input(written: Path) -> None:
    result = runner.invoke(app, ["cost", "-", "--format", "json"], input=written.read_text())
    assert json.loads(result.stdout)["usd_per_hour"] == 43.045


def test_markdown(written: Path) -> None:
    lines = runner.invoke(app, ["cost", str(written), "--format", "markdown"]).stdout.splitlines()
    assert lines[:2] == ["| resource | what | USD/hour | USD/month |", "| --- | --- | ---: | ---: |"]
    assert "| <code>Nat</code> | NAT gateway | 0.045 | 33 |" in lines
    assert "| **total** |  | **43.045** | **31,423** |" in lines
    assert "- objects in S3" in lines


@pytest.mark.parametrize(("limit", "code"), [("31422.84", 1), ("31422.85", 0), ("-1", 2), ("nan", 2), ("inf", 2)])
def test_a_cost_above_the_threshold_can_fail(written: Path, limit: str, code: int) -> None:
    result = runner.invoke(app, ["cost", str(written), "--fail-above", limit])
    assert result.exit_code == code
    assert ("the cost is 31,422.85 USD a month, above 31,422.84 (--fail-above)" in result.stderr) == (code == 1)


@pytest.mark.parametrize(("price", "hour"), [(30, 60.0), (0, 0.0)])
def test_the_users_own_price_of_a_training_plan(workdir: Path, price: int, hour: float) -> None:
    path = workdir / "template.json"
    planned = {**group(count=2), "TrainingPlanArn": {"Fn::ImportValue": "plan"}}
    path.write_text(json.dumps(template(Cluster=cluster(planned))))
    mine = prices(workdir, training_plan_hour={"ml.trn1.32xlarge": price})
    document = json.loads(runner.invoke(app, ["cost", str(path), "--prices", mine, "--format", "json"]).stdout)
    assert document["unpriced"] == []
    (row,) = document["resources"]
    assert (row["what"], row["usd_per_hour"]) == ("workers: 2 x ml.trn1.32xlarge of a training plan, paid up front", hour)
