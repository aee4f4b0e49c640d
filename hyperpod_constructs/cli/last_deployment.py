"""The app and the assembly of the last deployment to a target, so that its stacks are taken down without another synthesis."""

from __future__ import annotations

import json
from pathlib import Path

from hyperpod_constructs.cli.assembly import Assembly
from hyperpod_constructs.cli.cdk import App
from hyperpod_constructs.cli.target import TargetName


def record(app: App, where: TargetName) -> None:
    """Write down which app the assembly of this target came from."""
    file = _file(where)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_text(app), "utf-8")


def last_assembly(app: App, where: TargetName) -> Assembly | None:
    """The assembly that was deployed last, if it came from this app; any app's if none is given.

    :param app: the app, with its settings as they were given.
    :param where: the target.
    """
    if app.assembly is not None or (app != App() and not _is_recorded(app, where)):
        return None
    try:
        return Assembly.read(where.assembly)
    except FileNotFoundError:
        return None


def _is_recorded(app: App, where: TargetName) -> bool:
    try:
        return _file(where).read_text("utf-8") == _text(app)
    except (OSError, ValueError):
        return False


def _text(app: App) -> str:
    return json.dumps({"app": app.command, "context": app.context})


def _file(where: TargetName) -> Path:
    return where.assembly.parent / "app.json"
