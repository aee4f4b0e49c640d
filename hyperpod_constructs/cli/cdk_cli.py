"""The installed CDK CLI: where it is, and whether it can read the assemblies of this library's CDK."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from hyperpod_constructs.cli.console import CliError

CLI_VERSION = "2.1148.1"
INSTALL = f"npm install --global aws-cdk@{CLI_VERSION}"

_OLDEST = (2, 1147, 0)
"""`minimumCliVersion` in the assemblies of aws-cdk-lib 2.275.0, the oldest that this library supports."""
_NEXT_MAJOR = (3, 0, 0)
"""npm's `latest` is 3.0.0, an accidental publish: it cannot read an assembly, and asks for an upgrade."""
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
_SECONDS = 60


def executable() -> Path:
    """The CDK CLI beside this Python, else the one on PATH.

    :raises CliError: if neither exists.
    """
    beside = Path(sys.executable).parent / "cdk"
    found = str(beside) if beside.is_file() else shutil.which("cdk")
    if found is None:
        raise CliError(f"the CDK CLI is not installed: {INSTALL}")
    return Path(found)


def check_cli() -> None:
    """Refuse a CDK CLI that cannot read the assemblies.

    :raises CliError: if it is missing, or older or newer than the supported ones; the text names the version to install.
    """
    program = executable()
    text = _version(program)
    match = _VERSION.match(text)
    if match is None:
        raise CliError(f"{program} does not say its version (found {text!r}): install one that does: {INSTALL}")
    if not _OLDEST <= tuple(map(int, match.groups())) < _NEXT_MAJOR:
        oldest = ".".join(map(str, _OLDEST))
        raise CliError(
            f"{program} is version {match[0]} of the CDK CLI, which cannot read the app's assembly; "
            f"allowed: {oldest} or newer, below 3 (3.0.0, the latest of npm, was published by mistake): {INSTALL}"
        )


def _version(program: Path) -> str:
    """The version in the npm package of the program, else the one that it prints; a start of Node takes half a second."""
    package = program.resolve().parent.parent / "package.json"
    try:
        described = json.loads(package.read_text("utf-8"))
        if described["name"] == "aws-cdk":
            return str(described["version"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    try:
        done = subprocess.run([str(program), "--version"], capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CliError(f"{program} does not start ({error}): {INSTALL}") from None
    return done.stdout.strip()
