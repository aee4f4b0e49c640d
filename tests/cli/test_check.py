from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from hyperpod_constructs.cli.commands import app
from hyperpod_constructs.rules.checking import load_catalogue
from tests.presets import build
from tests.rules.catalogue.templates import slurm

runner = CliRunner()
KEYS = ["rule", "level", "template", "resource", "construct", "path", "found", "allowed", "message", "why", "fix", "source"]

Write = Callable[..., Path]


def untrusted() -> dict[str, Any]:
    """One error: a role that SageMaker cannot assume."""
    template = slurm()
    statement = template["Resources"]["Role"]["Properties"]["AssumeRolePolicyDocument"]["Statement"][0]
    statement["Principal"]["Service"] = "ec2.amazonaws.com"
    return template


def suspicious() -> dict[str, Any]:
    """One warning: a policy that passes any role."""
    template = slurm()
    statement = {"Effect": "Allow", "Action": "iam:PassRole", "Resource": "*"}
    properties = {"PolicyName": "p", "Roles": ["deployer"], "PolicyDocument": {"Statement": [statement]}}
    template["Resources"]["Deployer"] = {"Type": "AWS::IAM::Policy", "Properties": properties}
    return template


@pytest.fixture
def write(workdir: Path) -> Write:
    """A template in a file of the current directory."""

    def written(template: dict[str, Any], name: str = "t.json") -> Path:
        Path(name).write_text(json.dumps(template, indent=1))
        return Path(name)

    return written


def run(*arguments: object) -> Result:
    return runner.invoke(app, ["check", *map(str, arguments)])


@pytest.mark.parametrize(
    ("template", "fail_on", "code"),
    [
        (slurm, "warning", 0),
        (suspicious, "error", 0),
        (suspicious, "warning", 1),
        (untrusted, "error", 1),
        (untrusted, "warning", 1),
    ],
)
@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_the_exit_code_tells_ci(write: Write, template: Callable[[], dict[str, Any]], fail_on: str, code: int, form: str) -> None:
    result = run(write(template()), "--fail-on", fail_on, "--format", form)
    assert result.exit_code == code


def test_errors_fail_unless_told_otherwise(write: Write) -> None:
    assert run(write(suspicious())).exit_code == 0
    assert run(write(untrusted())).exit_code == 1


def test_text_says_what_where_why_and_how(write: Write) -> None:
    file = write(untrusted())
    lines = file.read_text().splitlines()
    number = next(index for index, line in enumerate(lines, start=1) if '"Role": {' in line)
    head, message, place, fix, source, _, total = run(file).stdout.splitlines()
    assert head == "error HP-ROL-001 Role"
    assert message.startswith("  the role of groups 'controller', 'login', 'workers' of Cluster cannot be assumed")
    assert "cannot be assumed by sagemaker.amazonaws.com" in message
    assert message.endswith("; the request is refused, or what the service does with the role fails: it cannot assume it")
    assert place == f"  at      Properties/AssumeRolePolicyDocument (t.json:{number})"
    assert fix.startswith("  fix     let the role's")
    assert source.startswith("  source  https://docs.aws.amazon.com/")
    assert total == f"1 error in 1 template with {len(untrusted()['Resources'])} resources"


def test_text_of_a_clean_template_is_one_line(write: Write) -> None:
    assert run(write(slurm())).stdout == f"no findings in 1 template with {len(slurm()['Resources'])} resources\n"


def test_json_is_a_list_of_findings(write: Write) -> None:
    (found,) = json.loads(run(write(untrusted()), "--format", "json").stdout)
    assert list(found) == KEYS
    assert (found["rule"], found["level"], found["template"], found["resource"]) == ("HP-ROL-001", "error", "t.json", "Role")
    assert found["why"] == load_catalogue()["HP-ROL-001"].why
    assert found["found"] == [{"Service": "ec2.amazonaws.com"}]
    assert json.loads(run(write(slurm()), "--format", "json").stdout) == []


def test_sarif_has_what_its_schema_requires(write: Write) -> None:
    log = json.loads(run(write(untrusted()), "--format", "sarif").stdout)
    assert log["version"] == "2.1.0"
    (only,) = log["runs"]
    driver = only["tool"]["driver"]
    assert driver["name"] == "hyperpod-constructs"
    assert [rule["id"] for rule in driver["rules"]] == sorted(load_catalogue())
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in driver["rules"])
    (result,) = only["results"]
    assert result["level"] == "error"
    assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "HP-ROL-001"
    assert result["message"]["text"]
    assert result["properties"]["why"] == load_catalogue()["HP-ROL-001"].why
    former = {rule["id"]: rule["deprecatedIds"] for rule in driver["rules"] if "deprecatedIds" in rule}
    assert former["HP-FSN-001"] == ["HP-FSX-020"]
    (location,) = result["locations"]
    assert location["physicalLocation"]["artifactLocation"] == {"uri": "t.json"}
    assert location["physicalLocation"]["region"]["startLine"] > 1
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "t.json:Role:Properties/AssumeRolePolicyDocument"


def test_sarif_names_files_elsewhere_by_their_whole_uri(write: Write, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("elsewhere") / "t.json"
    file.write_text(json.dumps(untrusted()))
    (result,) = json.loads(run(file, "--format", "sarif").stdout)["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == file.as_uri()


def test_github_gets_one_command_on_one_line(write: Write) -> None:
    command, total = run(write(untrusted()), "--format", "github").stdout.splitlines()
    assert command.startswith("::error file=t.json,line=")
    assert ",title=HP-ROL-001 Role::Properties/AssumeRolePolicyDocument: the role of groups" in command
    assert "%0Afix: " in command
    assert total == "1 error"


def test_yaml_has_lines_too(workdir: Path) -> None:
    lines = [
        "Parameters:",
        "  Cluster: {Type: String}",
        "Resources:",
        "  Role:",
        "    Type: AWS::IAM::Role",
        "  Cluster:",
        "    Type: AWS::SageMaker::Cluster",
        "    Properties:",
        "      InstanceGroups: [{InstanceGroupName: a, ExecutionRole: !Ref Role}]",
    ]
    Path("t.yaml").write_text("\n".join(lines))
    commands = [line for line in run("t.yaml", "--format", "github").stdout.splitlines() if "HP-REF-012" in line]
    assert [command.partition(",title")[0] for command in commands] == ["::error file=t.yaml,line=6"]


def test_several_templates_are_one_deployment(write: Write) -> None:
    network, cluster = slurm(), untrusted()
    role = cluster["Resources"].pop("Role")
    network["Resources"] = {"Role": role, "Scripts": cluster["Resources"]["Scripts"]}
    network["Outputs"] = {"Role": {"Value": {"Fn::GetAtt": ["Role", "Arn"]}, "Export": {"Name": "role"}}}
    for group in cluster["Resources"]["Cluster"]["Properties"]["InstanceGroups"]:
        group["ExecutionRole"] = {"Fn::ImportValue": "role"}
    found = json.loads(run(write(network, "a.json"), write(cluster, "b.json"), "--format", "json").stdout)
    assert [(one["rule"], one["template"]) for one in found if one["rule"] == "HP-ROL-001"] == [("HP-ROL-001", "a.json")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "t.json: cannot be read: No such file or directory"),
        ("{", "t.json:1: is not JSON"),
        ("[]", "t.json: a template is a mapping with Resources, but this is a list"),
        ('{"a": 1}', "t.json: a template is a mapping with a mapping Resources, but this one has none"),
        ('{"Resources": {}, "Outputs": []}', "t.json: Outputs of a template is a mapping of names, but this is a list"),
    ],
)
def test_fails_for_unusable_input_in_one_line(workdir: Path, content: str | None, message: str) -> None:
    if content is not None:
        Path("t.json").write_text(content)
    result = run("t.json")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"hyperpod: {message}")
    assert len(result.stderr.splitlines()) == 1


def test_fails_for_a_directory_that_is_no_assembly(workdir: Path) -> None:
    result = run(".")
    assert result.exit_code == 2
    assert "without manifest.json" in result.stderr


def assembly_of(template: dict[str, Any], plugin: str, reason: str) -> None:
    """An assembly in the current directory, whose app accepted the warning of `suspicious`."""
    violation = {"ruleName": "HP-ROL-006", "reason": reason, "violatingConstructs": [{"constructPath": "Stack/Deployer"}]}
    template["Resources"]["Deployer"]["Metadata"] = {"aws:cdk:path": "Stack/Deployer"}
    artifact = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "Stack.template.json"}}
    files = {
        "manifest": {"artifacts": {"Stack": artifact}},
        "validation-report": {"pluginReports": [{"pluginName": plugin, "suppressedViolations": [violation]}]},
        "Stack.template": template,
    }
    for name, content in files.items():
        Path(f"{name}.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("plugin", "reason", "total"),
    [
        ("hyperpod", "the deployer is trusted", "no findings"),
        ("hyperpod", "", "1 warning"),
        ("other", "the deployer is trusted", "1 warning"),
    ],
)
def test_what_the_app_accepted_is_accepted(workdir: Path, plugin: str, reason: str, total: str) -> None:
    assembly_of(suspicious(), plugin, reason)
    assert run(".").stdout.splitlines()[-1].startswith(f"{total} in 1 template")


def test_what_one_app_accepted_is_not_accepted_for_another(workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, reason in (("one", "the deployer is trusted"), ("other", "")):
        Path(name).mkdir()
        with monkeypatch.context() as context:
            context.chdir(name)
            assembly_of(suspicious(), "hyperpod", reason)
    for paths in (["one", "other"], ["other", "one"]):
        (found,) = json.loads(run(*paths, "--format", "json").stdout)
        assert found["template"] == "other/Stack"
        assert "other/Stack.template.json:" in run(*paths).stdout


def test_fails_for_a_report_that_is_no_json(workdir: Path) -> None:
    assembly_of(suspicious(), "hyperpod", "the deployer is trusted")
    Path("validation-report.json").write_text("{")
    assert run(".").exit_code == 2


def test_help_has_examples(workdir: Path) -> None:
    text = " ".join(run("--help").stdout.split())
    assert "hyperpod check cdk.out" in text
    assert "Exit codes: 0 clean" in text


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("assembly")
    build("announcement", directory).synth()
    return directory


def test_the_reference_app_is_clean_and_checked_without_jsii(assembly: Path) -> None:
    code = (
        "import sys\n"
        "from hyperpod_constructs.cli.commands import app\n"
        f"code = app(['check', {str(assembly)!r}, '--fail-on', 'warning'], standalone_mode=False)\n"
        "heavy = {'aws_cdk', 'jsii', 'boto3', 'botocore'} & sys.modules.keys()\n"
        "print('heavy:', *heavy)\n"
        "sys.exit(code)\n"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")}
    result = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    report, heavy = result.stdout.splitlines()
    assert report.startswith("no findings in 2 templates")
    assert heavy == "heavy:"


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_a_template_from_standard_input(workdir: Path, form: str) -> None:
    result = runner.invoke(app, ["check", "-", "--format", form], input=json.dumps(untrusted(), indent=1))
    assert result.exit_code == 1
    assert "HP-ROL-" in result.stdout
    assert runner.invoke(app, ["check", "-"]).exit_code == 2


def test_any_text_is_printed_where_the_terminal_knows_ascii_only(workdir: Path) -> None:
    template = untrusted()
    template["Resources"]["Role"]["Metadata"] = {"aws:cdk:path": "Größe…/Resource"}
    (workdir / "template.json").write_text(json.dumps(template))
    program = "from hyperpod_constructs.cli.main import main; main()"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-c", program, "check", "template.json"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (1, "")
    assert "Gr\\xf6\\xdfe..." in done.stdout
