"""`hyperpod plan`."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hyperpod_constructs.cli.commands import app
from tests.cli.conftest import StubbedTarget
from tests.cli.samples import NOW
from tests.cli.terminal import in_terminal
from tests.plan.templates import Template, cluster, group, lustre, resource, template

runner = CliRunner()
BEFORE = template(Files=lustre(StorageCapacity=1200), Cluster=cluster(group(count=4)), Nat=resource("AWS::EC2::NatGateway"))
STACK = "HyperPod-Foundation"
YAML = """
Resources:
  Files:
    Type: AWS::FSx::FileSystem
    Properties:
      FileSystemType: LUSTRE
      StorageCapacity: 1200
      SubnetIds: [!Sub "SUBNET"]
"""


def changed(**resources: Any) -> Template:
    return {"Resources": {**BEFORE["Resources"], **resources}}


def invoke(workdir: Path, new: Template, *options: str) -> Result:
    (workdir / "old.json").write_text(json.dumps(BEFORE))
    (workdir / "new.json").write_text(json.dumps(new))
    return runner.invoke(app, ["plan", "old.json", "new.json", *options])


def test_no_changes(workdir: Path) -> None:
    result = invoke(workdir, BEFORE)
    assert result.exit_code == 0
    assert result.stdout.startswith("no changes\n")


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (lustre(StorageCapacity=2400), 0),
        (lustre(keep=True, StorageCapacity=1200, SubnetIds=["x"]), 3),
        (lustre(StorageCapacity=1200, SubnetIds=["x"]), 4),
        (lustre(StorageCapacity=600), 5),
    ],
)
def test_the_exit_code_is_the_worst_effect(workdir: Path, files: dict[str, Any], code: int) -> None:
    assert invoke(workdir, changed(Files=files)).exit_code == code


def test_a_line_for_each_change_with_its_reason(workdir: Path) -> None:
    result = invoke(workdir, changed(Files=lustre(StorageCapacity=600), Cluster=cluster(group(count=1))))
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["effect", "resource", "property", "change", "USD/hour"]
    assert lines[1][:5] == ["refused", "Files", "StorageCapacity", "1200", "->"]
    assert lines[2] == ["rolling", "Cluster", "InstanceGroups/workers/InstanceCount", "4", "->", "1", "-64.500"]
    assert "  why       a file system can grow, never shrink\n" in result.stdout
    assert "  instead   keep the capacity" in result.stdout
    assert "worst effect: refused" in result.stdout


def test_of_a_changed_object_only_the_difference_is_shown(workdir: Path) -> None:
    configurations = ({"OnCreate": "on_create.sh", "SourceS3Uri": f"s3://bucket/{name}"} for name in ("a", "b"))
    scripts = [group(LifeCycleConfig=configuration) for configuration in configurations]
    (workdir / "old.json").write_text(json.dumps(template(Cluster=cluster(scripts[0]))))
    (workdir / "new.json").write_text(json.dumps(template(Cluster=cluster(scripts[1]))))
    result = runner.invoke(app, ["plan", "old.json", "new.json"])
    assert '{"SourceS3Uri": "s3://bucket/a"} -> {"SourceS3Uri": "s3://bucket/b"}' in result.stdout


def test_a_long_value_is_shortened(workdir: Path) -> None:
    result = invoke(workdir, changed(Files=lustre(StorageCapacity=1200, KmsKeyId="k" * 100)))
    assert f" - -> {'k' * 39}…\n" in result.stdout


def test_what_is_new_without_a_price_is_counted(workdir: Path) -> None:
    result = invoke(workdir, changed(One=resource("AWS::IAM::Role"), Two=resource("AWS::IAM::Role")))
    assert "2 resources without a price of their own are created\n" in result.stdout


def test_what_cannot_be_created_is_shown_with_its_reason(workdir: Path) -> None:
    role = resource("AWS::IAM::Role", RoleName="a")
    (workdir / "old.json").write_text(json.dumps(template(One=role)))
    (workdir / "new.json").write_text(json.dumps(template(Other=role)))
    result = runner.invoke(app, ["plan", "old.json", "new.json"])
    assert result.exit_code == 5
    assert "refused: Other\n  why       One leaves the template" in result.stdout


def test_the_cost_before_and_after(workdir: Path) -> None:
    result = invoke(workdir, changed(Cluster=cluster(group(count=6))))
    assert "cost: 86.045 -> 129.045 USD an hour (+43.000 an hour, +31,390 a month)" in result.stdout


def test_what_is_kept_goes_on_to_cost(workdir: Path) -> None:
    (workdir / "prices.json").write_text(json.dumps({"lustre_persistent_2_gb_month": {"250": 0.73}}))
    (workdir / "old.json").write_text(json.dumps(template(Files=lustre(keep=True, StorageCapacity=1200))))
    (workdir / "new.json").write_text(json.dumps(template(Files=lustre(keep=True, StorageCapacity=1200, SubnetIds=["x"]))))
    result = runner.invoke(app, ["plan", "old.json", "new.json", "--prices", "prices.json", "--format", "json"])
    cost = json.loads(result.stdout)["cost"]
    assert (cost["usd_per_hour_old"], cost["usd_per_hour_new"], cost["usd_per_hour_kept"]) == (1.2, 2.4, 1.2)


def test_a_change_without_a_known_price_is_marked(workdir: Path) -> None:
    result = invoke(workdir, changed(Files=lustre(StorageCapacity=2400)))
    assert re.search(r"StorageCapacity +1200 -> 2400 +\?$", result.stdout, re.MULTILINE)
    assert "without changes of unknown price, marked ?" in result.stdout


def test_json(workdir: Path) -> None:
    result = invoke(workdir, changed(Cluster=cluster(group(count=2))), "--format", "json")
    document = json.loads(result.stdout)
    assert set(document) == {"effect", "exit_code", "rows", "notes", "cost"}
    assert (document["effect"], document["exit_code"]) == ("rolling", 0)
    (row,) = document["rows"]
    assert (row["resource"], row["property"], row["old"], row["new"]) == ("Cluster", "InstanceGroups/workers/InstanceCount", 4, 2)
    assert row["usd_per_hour_change"] == -43
    assert document["cost"]["usd_per_month_change"] == -31390


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a plan needs two paths"),
        (["old.json"], "found 1"),
        (["old.json", "missing.json"], "missing.json"),
        (["old.json", "broken.json"], "broken.json"),
        (["old.json", "old.json", "--prices", "missing.json"], "missing.json"),
        (["old.json", "new.json", "--deployed", "Stack"], "one path too many"),
    ],
)
def test_fails_for_unusable_input_in_one_line(workdir: Path, arguments: list[str], message: str) -> None:
    (workdir / "old.json").write_text(json.dumps(BEFORE))
    (workdir / "broken.json").write_text("{")
    result = runner.invoke(app, ["plan", *arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_of_a_changed_list_only_the_items_that_differ_are_shown(workdir: Path) -> None:
    one, other = (resource("Custom::Thing", Groups=[{"Name": "a", "Count": 1}, {"Name": "b", "Count": n}]) for n in (1, 2))
    (workdir / "old.json").write_text(json.dumps(template(Thing=one)))
    (workdir / "new.json").write_text(json.dumps(template(Thing=other)))
    result = runner.invoke(app, ["plan", "old.json", "new.json"])
    assert '[{"Count": 1}] -> [{"Count": 2}]' in result.stdout


@pytest.mark.parametrize("command", [["plan", "old.json", "new.json"], ["cost", "new.json"]])
def test_a_terminal_of_80_columns_holds_every_line(workdir: Path, command: list[str]) -> None:
    (workdir / "old.json").write_text(json.dumps(BEFORE))
    (workdir / "new.json").write_text(json.dumps(changed(Files=lustre(SubnetIds=["x"]), Cluster=cluster(group(count=1)))))
    lines = in_terminal(command, columns=80)
    too_long = [line for line in lines if len(line) > 80 and "https://" not in line]
    assert too_long == []
    assert any("Cluster" in line for line in lines)


def test_the_cost_of_a_resource_with_several_changes_is_that_of_all(workdir: Path) -> None:
    both = changed(Cluster=cluster(group(count=6, ThreadsPerCore=1)))
    lines = invoke(workdir, both).stdout.splitlines()[1:3]
    assert [line.endswith("+43.000 in all") for line in lines] == [True, False]


def test_in_a_terminal_a_change_is_below_its_resource(workdir: Path) -> None:
    (workdir / "old.json").write_text(json.dumps(BEFORE))
    (workdir / "new.json").write_text(json.dumps(changed(Cluster=cluster(group(count=1)))))
    lines = [line.split() for line in in_terminal(["plan", "old.json", "new.json"], columns=80)]
    row = lines.index(["rolling", "Cluster", "-64.500"])
    assert lines[row + 1] == ["InstanceGroups/workers/InstanceCount:", "4", "->", "1"]


class Deployment:
    """A stack that a stubbed CloudFormation has, and an assembly in the current directory."""

    def __init__(self, target: StubbedTarget, directory: Path) -> None:
        self._target = target
        self._directory = directory

    def answer(self, body: str, **description: Any) -> None:
        stack = {"StackName": STACK, "StackStatus": "CREATE_COMPLETE", "CreationTime": NOW, **description}
        self._target.answer("cloudformation", "describe_stacks", {"Stacks": [stack]}, StackName=STACK)
        self._target.answer("cloudformation", "get_template", {"TemplateBody": body}, StackName=STACK, TemplateStage="Original")

    def assembly(self, new: Template, name: str = "cdk.out") -> None:
        folder = self._directory / name
        folder.mkdir(parents=True)
        artifacts = {}
        for stack, body in {"Foundation": new, "Other": template(More=lustre())}.items():
            (folder / f"{stack}.template.json").write_text(json.dumps(body))
            artifacts[stack] = {
                "type": "aws:cloudformation:stack",
                "environment": "aws://unknown-account/unknown-region",
                "properties": {"templateFile": f"{stack}.template.json", "stackName": f"HyperPod-{stack}"},
                "displayName": stack,
            }
        (folder / "manifest.json").write_text(json.dumps({"version": "55.0.0", "artifacts": artifacts}))


@pytest.fixture
def deployment(target: StubbedTarget, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    monkeypatch.setattr("hyperpod_constructs.cli.commands.running_embedded_aws", lambda: target)
    return Deployment(target, workdir)


def test_a_template_is_compared_with_the_stack_that_it_is_named_like(deployment: Deployment, workdir: Path) -> None:
    deployment.assembly(changed(Files=lustre(StorageCapacity=600)))
    (workdir / "HyperPod-Foundation.json").write_text(json.dumps(BEFORE))
    assert runner.invoke(app, ["plan", "HyperPod-Foundation.json", "cdk.out"]).exit_code == 5


def test_fails_for_a_template_of_no_stack(deployment: Deployment, workdir: Path) -> None:
    deployment.assembly(template())
    (workdir / "old.json").write_text(json.dumps(BEFORE))
    for paths in (["old.json", "cdk.out"], ["cdk.out", "old.json"]):
        result = runner.invoke(app, ["plan", *paths])
        assert result.exit_code == 2
        assert "has none of the new stacks" in result.stderr


def test_a_deployed_stack_with_the_assembly_in_this_directory(deployment: Deployment) -> None:
    deployment.answer(json.dumps(BEFORE))
    deployment.assembly(changed(Files=lustre(StorageCapacity=600)))
    result = runner.invoke(app, ["plan", "--deployed", STACK])
    assert result.exit_code == 5
    assert "More" not in result.stdout


@pytest.mark.parametrize(("newest", "code"), [("cdk.out", 5), ("build/local/cdk.out", 0)])
def test_the_newest_assembly_is_taken_and_named(deployment: Deployment, workdir: Path, newest: str, code: int) -> None:
    deployment.answer(json.dumps(BEFORE))
    deployment.assembly(BEFORE, "build/local/cdk.out")
    deployment.assembly(changed(Files=lustre(StorageCapacity=600)))
    for assembly in ("cdk.out", "build/local/cdk.out"):
        seconds = 2_000_000_000 if assembly == newest else 1_000_000_000
        os.utime(workdir / assembly / "manifest.json", (seconds, seconds))

    result = runner.invoke(app, ["plan", "--deployed", STACK])

    assert result.exit_code == code
    assert result.stderr.startswith(f"new: {newest}, synthesized 2033-05-1")


def test_a_deployed_stack_with_a_template(deployment: Deployment, workdir: Path) -> None:
    deployment.answer(YAML.replace("SUBNET", "subnet-1"))
    (workdir / "new.yaml").write_text(YAML.replace("SUBNET", "subnet-2"))
    assert runner.invoke(app, ["plan", "--deployed", STACK, "new.yaml"]).exit_code == 4


def test_parameters_have_the_values_of_the_deployed_stack(deployment: Deployment, workdir: Path) -> None:
    body = {
        "Parameters": {"Size": {"Type": "Number", "Default": 1200}},
        "Resources": {"Files": lustre(StorageCapacity={"Ref": "Size"})},
    }
    deployment.answer(json.dumps(body), Parameters=[{"ParameterKey": "Size", "ParameterValue": "4800"}])
    (workdir / "new.json").write_text(json.dumps(template(Files=lustre(StorageCapacity=2400))))
    result = runner.invoke(app, ["plan", "--deployed", STACK, "new.json"])
    assert result.exit_code == 5
    assert "4800 -> 2400" in result.stdout


def test_a_stack_by_its_id_in_the_app(deployment: Deployment) -> None:
    deployment.answer(json.dumps(BEFORE))
    deployment.assembly(changed(Files=lustre(StorageCapacity=600)))
    assert runner.invoke(app, ["plan", "--deployed", "Foundation"]).exit_code == 5


def test_a_stack_of_the_same_name_in_another_region_is_another(deployment: Deployment, workdir: Path) -> None:
    deployment.answer(json.dumps(BEFORE))
    deployment.assembly(BEFORE)
    manifest = workdir / "cdk.out" / "manifest.json"
    content = json.loads(manifest.read_text())
    elsewhere, here = content["artifacts"]["Foundation"], content["artifacts"]["Other"]
    elsewhere["environment"] = "aws://unknown-account/us-east-1"
    here["environment"] = "aws://unknown-account/us-west-2"
    here["properties"]["stackName"] = STACK
    manifest.write_text(json.dumps(content))
    result = runner.invoke(app, ["plan", "--deployed", STACK])
    assert result.exit_code == 4
    assert "data loss: Files" in result.stdout


def test_one_template_for_two_stacks(deployment: Deployment, target: StubbedTarget, workdir: Path) -> None:
    (workdir / "new.json").write_text(json.dumps(BEFORE))
    deployment.answer(json.dumps(changed(Files=lustre(StorageCapacity=2400))))
    target.answer(
        "cloudformation",
        "describe_stacks",
        {"Stacks": [{"StackName": "Second", "CreationTime": NOW, "StackStatus": "CREATE_COMPLETE"}]},
    )
    target.answer("cloudformation", "get_template", {"TemplateBody": json.dumps(BEFORE)})
    result = runner.invoke(app, ["plan", "--deployed", STACK, "--deployed", "Second", "new.json", "--format", "json"])
    assert result.exit_code == 5
    assert {row["template"] for row in json.loads(result.stdout)["rows"]} == {STACK}


def test_nested_stacks_of_a_deployed_stack_are_read(deployment: Deployment, target: StubbedTarget, workdir: Path) -> None:
    outer = template(Nested=resource("AWS::CloudFormation::Stack", TemplateURL="inner.json"))
    (workdir / "new.json").write_text(json.dumps(outer))
    (workdir / "inner.json").write_text(json.dumps(template(Files=lustre(SubnetIds=["x"]))))
    deployment.answer(json.dumps(outer))
    detail = {
        "LogicalResourceId": "Nested",
        "PhysicalResourceId": "arn:nested",
        "ResourceType": "AWS::CloudFormation::Stack",
        "LastUpdatedTimestamp": NOW,
        "ResourceStatus": "CREATE_COMPLETE",
    }
    where = {"StackName": STACK, "LogicalResourceId": "Nested"}
    target.answer("cloudformation", "describe_stack_resource", {"StackResourceDetail": detail}, **where)
    body = json.dumps(template(Files=lustre()))
    target.answer("cloudformation", "get_template", {"TemplateBody": body}, StackName="arn:nested", TemplateStage="Original")
    result = runner.invoke(app, ["plan", "--deployed", STACK, "new.json"])
    assert result.exit_code == 4
    assert "data loss: Files SubnetIds" in result.stdout


def test_fails_for_a_stack_that_is_not_deployed(deployment: Deployment, target: StubbedTarget) -> None:
    deployment.assembly(BEFORE)
    target.refuse("cloudformation", "describe_stacks", "ValidationError", f"Stack with id {STACK} does not exist")
    result = runner.invoke(app, ["plan", "--deployed", STACK])
    assert result.exit_code == 2
    assert f"there is no stack '{STACK}' in account 111122223333, region us-west-2" in result.stderr


def test_fails_for_a_stack_that_the_assembly_does_not_have(deployment: Deployment) -> None:
    deployment.assembly(BEFORE)
    result = runner.invoke(app, ["plan", "--deployed", "Nobody"])
    assert result.exit_code == 2
    assert "it has HyperPod-Foundation, HyperPod-Other" in result.stderr


def test_fails_without_an_assembly(deployment: Deployment) -> None:
    result = runner.invoke(app, ["plan", "--deployed", STACK])
    assert result.exit_code == 2
    assert "run `cdk synth` first" in result.stderr


def test_the_account_is_asked_with_target_aws(
    deployment: Deployment, target: StubbedTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperpod_constructs.cli.commands.AwsAccount.of_caller", lambda: target)
    deployment.answer(json.dumps(BEFORE))
    deployment.assembly(BEFORE)
    assert runner.invoke(app, ["plan", "--deployed", STACK, "--target", "aws"]).exit_code == 0
    target.assert_all_asked()


def test_a_pipe_folds_at_columns(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = invoke(workdir, changed(Files=lustre(StorageCapacity=600))).stdout.splitlines()
    monkeypatch.setenv("COLUMNS", "60")
    narrow = invoke(workdir, changed(Files=lustre(StorageCapacity=600))).stdout.splitlines()
    assert max(map(len, wide)) > 100
    folded = [line for line in narrow if line.startswith("  ") and "https:" not in line]
    assert len(folded) > 3
    assert max(map(len, folded)) <= 60
    assert [line for line in (*wide, *narrow) if line != line.rstrip()] == []


def test_a_template_from_standard_input(workdir: Path) -> None:
    (workdir / "old.json").write_text(json.dumps(BEFORE))
    new = json.dumps(changed(Files=lustre(StorageCapacity=2400)))
    result = runner.invoke(app, ["plan", "old.json", "-", "--format", "json"], input=new)
    assert (result.exit_code, json.loads(result.stdout)["rows"][0]["resource"]) == (0, "Files")


def test_fails_for_two_templates_from_one_standard_input(workdir: Path) -> None:
    result = runner.invoke(app, ["plan", "-", "-"], input="{}")
    assert (result.exit_code, "there is one standard input" in result.stderr) == (2, True)


def test_markdown_shows_the_plan_and_obeys_no_name(workdir: Path) -> None:
    files = lustre(StorageCapacity=1200, KmsKeyId="`x` | <b> [y](http://z) @team")
    result = invoke(workdir, changed(Files=files, Cluster=cluster(group(count=6))), "--format", "markdown")
    lines = result.stdout.splitlines()
    assert result.exit_code == 4
    assert lines[0] == "### Plan: data loss"
    assert lines[2:4] == ["| effect | resource | property | change | USD/hour |", "| --- | --- | --- | --- | ---: |"]
    loss = next(line for line in lines if "KmsKeyId" in line)
    assert loss.count("|") == 6
    assert "<b>" not in result.stdout
    assert "@" not in result.stdout
    assert "[y]" not in result.stdout
    assert any(line.startswith("- **data loss** <code>Files KmsKeyId</code>: ") and "Instead: " in line for line in lines)
    assert any(line.startswith("Cost: 86.045 -") and "+31,390 a month)" in line for line in lines)


def test_markdown_without_changes(workdir: Path) -> None:
    assert "No changes." in invoke(workdir, BEFORE, "--format", "markdown").stdout.splitlines()


@pytest.mark.parametrize(
    ("count", "files", "limit", "code"),
    [
        (6, lustre(StorageCapacity=1200), "31389", 1),
        (6, lustre(StorageCapacity=1200), "31390", 0),
        (2, lustre(StorageCapacity=1200), "0", 0),
        (6, lustre(StorageCapacity=600), "0", 5),
    ],
    ids=["above", "at the limit", "cheaper", "the effect comes first"],
)
def test_an_increase_of_the_cost_can_fail(workdir: Path, count: int, files: dict[str, Any], limit: str, code: int) -> None:
    result = invoke(workdir, changed(Files=files, Cluster=cluster(group(count=count))), "--fail-above", limit)
    assert result.exit_code == code
    assert ("the increase of the cost is 31,390.00 USD a month, above" in result.stderr) == (code in (1, 5))
