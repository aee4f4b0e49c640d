"""Commands whose modules are loaded when they are named: `hyperpod check` waits for none of the others."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import typer
from typer.core import TyperGroup

_OPERATE = "hyperpod_constructs.cli.operate"
_PANEL = "Running clusters"
_MODULES: Mapping[str, str] = {
    "chart": "hyperpod_constructs.cli.chart",
    "clean": "hyperpod_constructs.cli.clean",
    "preflight": "hyperpod_constructs.cli.preflight",
    "local": "hyperpod_constructs.cli.local",
    "training-plan": "hyperpod_constructs.cli.training_plan",
    "clusters": f"{_OPERATE}.clusters",
    "status": f"{_OPERATE}.status",
    "nodes": f"{_OPERATE}.nodes",
    "events": f"{_OPERATE}.events",
    "logs": f"{_OPERATE}.logs",
    "connect": f"{_OPERATE}.connect",
    "ssh-config": f"{_OPERATE}.ssh_config",
    "copy": f"{_OPERATE}.copy",
    "reboot": f"{_OPERATE}.reboot",
    "replace": f"{_OPERATE}.replace",
    "remove": f"{_OPERATE}.remove",
    "health-check": f"{_OPERATE}.health_check",
    "update-software": f"{_OPERATE}.update_software",
    "scale": f"{_OPERATE}.scale",
    "export-logs": f"{_OPERATE}.export_logs",
    "job": f"{_OPERATE}.job",
}
"""By command: the module with its `app`, a command or a group of commands."""


class LazyCommands(TyperGroup):
    """The commands that a program declares, and those of the modules above."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands, those of the modules last."""
        return [*super().list_commands(ctx), *_MODULES]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of this name, loaded; `None` if there is none."""
        module = _MODULES.get(cmd_name)
        if module is None:
            return super().get_command(ctx, cmd_name)
        if cmd_name not in self.commands:
            command: Any = typer.main.get_command(importlib.import_module(module).app)
            command.name = cmd_name
            if module.startswith(_OPERATE):
                command.rich_help_panel = _PANEL
            self.commands[cmd_name] = command
        return self.commands[cmd_name]
