"""Runs linters, each as its own program, over files and synthesized apps, and reads their findings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.lint.acknowledgements import Finding
from tests.presets import ROOT

REGIONS = ("us-west-2", "us-east-1")
_CFN_LINT = Path(sys.executable).parent / "cfn-lint"
_CHECKOV = ROOT / ".venv-checkov" / "bin" / "checkov"
_REQUIREMENTS = "tests/lint/checkov-requirements.txt"
_LATE = 180
NAG_REPORT = "cdk-nag.json"
"""In an assembly: the findings of cdk-nag. `synth` writes them; only that process loads cdk-nag."""


def program_environment(**more: str) -> dict[str, str]:
    """The environment of a program: this one with CDK's validation on and the tools of the virtual environment first."""
    inherited = {name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"}
    return {**inherited, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", **more}


def assert_succeeds(*command: str, text: str | None = None) -> None:
    environment = program_environment()
    done = subprocess.run(command, cwd=ROOT, env=environment, input=text, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stdout + done.stderr


def synthesize(directory: Path, preset: str, *settings: str) -> subprocess.Popen[str]:
    """Start the synthesis of a preset, in which the call of a deprecated API of the CDK is an error."""
    command = [sys.executable, "-m", "tests.lint.synth", str(directory), preset, *settings]
    return subprocess.Popen(  # noqa: S603
        command,
        cwd=ROOT,
        env=program_environment(JSII_DEPRECATED="fail"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def cdk(assemblies: Collection[Path]) -> list[Finding]:
    """The report of CDK's own validation, and every warning or error of a construct in the assembly."""
    return [finding for assembly in assemblies for finding in (*_validation_report(assembly), *_annotations(assembly))]


def cdk_nag(assemblies: Collection[Path]) -> list[Finding]:
    """AwsSolutions, as far as `synth` wrote it down."""
    return [
        Finding(tool="cdk-nag", **finding) for assembly in assemblies for finding in json.loads((assembly / NAG_REPORT).read_text())
    ]


def cfn_lint(assemblies: Collection[Path]) -> list[Finding]:
    """Errors, warnings and remarks, in each of `REGIONS`."""
    files = [str(file) for assembly in assemblies for file in _template_files(assembly)]
    levels = ["--include-checks", "I", "W", "E"]
    arguments = ["--format", "json", "--regions", *REGIONS, *levels, "--template", *files]
    matches = _report([str(_CFN_LINT), *arguments])
    return [
        Finding(
            tool="cfn-lint",
            rule=match["Rule"]["Id"],
            resource=_construct_path(Path(match["Filename"]), match["Location"]["Path"]),
            message=match["Message"],
        )
        for match in matches
    ]


def checkov(assemblies: Collection[Path]) -> list[Finding]:
    """Every failed check of the framework `cloudformation`; nothing is fetched.

    :raises RuntimeError: where checkov is not installed, or could not read a template.
    """
    if not _CHECKOV.is_file():
        raise RuntimeError(
            f"checkov is missing ({_CHECKOV}): it needs an environment of its own, because it pins an old boto3; make it with "
            f"python3 -m venv .venv-checkov && .venv-checkov/bin/pip install --requirement {_REQUIREMENTS}"
        )
    files = [part for assembly in assemblies for file in _template_files(assembly) for part in ("--file", str(file))]
    options = ["--framework", "cloudformation", "--skip-download", "--compact", "--soft-fail", "--output", "json"]
    report = _report([str(_CHECKOV), *options, *files], CKV_SKIP_PACKAGE_UPDATE_CHECK="True")
    if report["summary"]["parsing_errors"]:
        raise RuntimeError(f"checkov could not read {report['results']['parsing_errors']}")
    return [
        Finding(
            tool="checkov",
            rule=check["check_id"],
            resource=_construct_path(Path(check["file_abs_path"]), ["Resources", check["resource"].split(".")[-1]]),
            message=check["check_name"],
        )
        for check in report["results"]["failed_checks"]
    ]


def _report(command: list[str], **environment: str) -> Any:
    """The JSON that a linter prints; its exit code only says whether there are findings."""
    surroundings = program_environment(**environment)
    run = subprocess.run(command, env=surroundings, capture_output=True, text=True, timeout=_LATE)  # noqa: S603
    try:
        return json.loads(run.stdout)
    except json.JSONDecodeError:
        raise RuntimeError(f"{command[0]} printed no report (exit code {run.returncode}): {run.stderr[-2000:]}") from None


def _validation_report(assembly: Path) -> Iterator[Finding]:
    for plugin in json.loads((assembly / "validation-report.json").read_text())["pluginReports"]:
        for violation in plugin["violations"]:
            yield Finding(
                tool="cdk", rule=violation["ruleName"], resource=assembly.name, message=json.dumps(violation, sort_keys=True)
            )


def _annotations(assembly: Path) -> Iterator[Finding]:
    for _, path, entry in _metadata(assembly):
        if entry["type"] in ("aws:cdk:warning", "aws:cdk:error"):
            yield Finding(tool="cdk", rule=entry["type"], resource=path, message=str(entry["data"]))


def _construct_path(template: Path, location: list[Any]) -> str:
    """The construct of a place in a template; the stack, where the place is in no element."""
    stack = template.name.removesuffix(".template.json")
    logical_id = location[1] if len(location) > 1 else None
    for owner, path, entry in _metadata(template.parent):
        if owner == stack and entry["type"] == "aws:cdk:logicalId" and entry["data"] == logical_id:
            return path
    return stack


def _metadata(assembly: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Stack, construct path and entry of all metadata of an assembly."""
    for file in sorted(assembly.glob("*.metadata.json")):
        for path, entries in json.loads(file.read_text()).items():
            for entry in entries:
                yield file.name.removesuffix(".metadata.json"), path.lstrip("/"), entry


def _template_files(assembly: Path) -> list[Path]:
    return sorted(assembly.glob("*.template.json"))
