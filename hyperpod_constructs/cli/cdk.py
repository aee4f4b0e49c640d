"""An app, and the runs of the CDK CLI for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_constructs.cli.assembly import Assembly
from hyperpod_constructs.cli.cdk_cli import executable
from hyperpod_constructs.cli.console import CliError
from hyperpod_constructs.cli.target import Target


@dataclass(frozen=True, slots=True)
class App:
    """An app to synthesize.

    :param command: its command; the one in cdk.json when None.
    :param context: settings of the form `key=value`.
    :raises CliError: if a setting has no key or no value.
    """

    command: str | None = None
    context: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for pair in self.context:
            key, equals, _ = pair.partition("=")
            if not equals or not key:
                raise CliError(f"context {pair!r} has no key or no value: write key=value, such as preset=llm")

    @property
    def assembly(self) -> Path | None:
        """The directory of an assembly in the place of a command, which needs no synthesis."""
        return Path(self.command) if self.command is not None and Path(self.command).is_dir() else None

    def value(self, key: str) -> str | None:
        """The setting from the command line, else from cdk.json, else None."""
        for pair in reversed(self.context):
            found, _, value = pair.partition("=")
            if found == key:
                return value
        value = _settings().get("context", {}).get(key)
        return None if value is None else str(value)


def _settings() -> dict[str, Any]:
    file = Path("cdk.json")
    if not file.is_file():
        return {}
    try:
        settings: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except json.JSONDecodeError as error:
        raise CliError(f"{file} is not valid JSON: {error}") from None
    return settings


def check_app(app: App) -> None:
    """Refuse an app that cannot be synthesized, before anything is started.

    :param app: the app.
    :raises CliError: if neither `--app` nor cdk.json names one.
    """
    if app.command is None and not _declares_app():
        raise CliError(f"no cdk.json in {Path.cwd()} names an app: go to the app's directory, or name the app with --app")


def _declares_app() -> bool:
    return Path("cdk.json").is_file() and "app" in _settings()


def synthesize(app: App, target: Target, directory: Path) -> Assembly:
    """Run `cdk synth` in the current directory.

    :param app: the app; if its command is the directory of an assembly, that assembly is read.
    :param target: the account to synthesize for.
    :param directory: where the assembly is written.
    :raises CliError: if it fails; its own message is on the terminal by then.
    """
    if app.assembly is not None:
        return _assembly_in(app.assembly)
    arguments = ["synth", "--quiet", "--output", str(directory), *_context(app)]
    if app.command is not None:
        arguments += ["--app", app.command]
    if run(arguments, target) != 0:
        raise CliError("the app was not synthesized: see its own message above")
    return Assembly.read(directory)


def _assembly_in(directory: Path) -> Assembly:
    try:
        return Assembly.read(directory)
    except FileNotFoundError:
        raise CliError(f"{directory} holds no assembly: name the directory that `cdk synth` wrote, or the app's command") from None


def _context(app: App) -> list[str]:
    return [argument for pair in app.context for argument in ("--context", pair)]


def bootstrap(target: Target, directory: Path) -> None:
    """Run `cdk bootstrap` outside of any app.

    :param target: the account to bootstrap.
    :param directory: where `bootstrap.log` is written.
    :raises CliError: if it fails, with the end of the log.
    """
    empty = directory / "bootstrap"
    empty.mkdir(parents=True, exist_ok=True)
    log = directory / "bootstrap.log"
    if run(["bootstrap", f"aws://{target.account}/{target.region}"], target, directory=empty, log=log) != 0:
        tail = "\n".join(log.read_text("utf-8", "replace").splitlines()[-15:])
        raise CliError(f"cdk bootstrap failed; the end of {log}:\n{tail}")


def run(arguments: Sequence[str], target: Target, *, directory: Path | None = None, log: Path | None = None) -> int:
    """Run the CDK CLI with the target's environment, and return its exit code.

    :param arguments: the command and its options.
    :param target: the account that it works on.
    :param directory: where it runs; the current directory unless given.
    :param log: the file of its output; the terminal unless given.
    """
    command = [str(executable()), *arguments, "--no-notices"]
    environment = target.environment()
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", os.defpath)])
    if log is None:
        return subprocess.run(command, env=environment, cwd=directory, check=False).returncode  # noqa: S603
    with log.open("wb") as output:
        return subprocess.run(  # noqa: S603
            command, env=environment, cwd=directory, stdout=output, stderr=subprocess.STDOUT, check=False
        ).returncode
