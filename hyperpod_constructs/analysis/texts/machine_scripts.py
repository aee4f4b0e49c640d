"""The scripts of a shell that machines run when they start: user data of instances, and scripts of notebooks and domains."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.build_commands import PROJECT
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.shell import Command, commands_of
from hyperpod_constructs.analysis.texts.slip import WholeJudge, entries
from hyperpod_constructs.templates.dependencies import raw_at
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import Text

_SHELL = re.compile(r"#!\s*(?:/usr)?/bin/(?:env )?(?:ba)?sh\b")
_PLACES = (("UserData",), ("LaunchTemplateData", "UserData"), ("StudioLifecycleConfigContent",))
_OF_NOTEBOOKS = ("OnCreate", "OnStart")
_MACHINES = (
    *("AWS::EC2::Instance", "AWS::EC2::LaunchTemplate"),
    *("AWS::SageMaker::NotebookInstanceLifecycleConfig", "AWS::SageMaker::StudioLifecycleConfig"),
)


def of_scripts(build: WholeJudge, machine: WholeJudge) -> Mapping[str, WholeJudge]:
    """The judges of all types with scripts of a shell: one for builds, and one for what machines run when they start."""
    return {PROJECT: build, **dict.fromkeys(_MACHINES, machine)}


def scripts_of(resource: Resource) -> Iterator[tuple[Path, tuple[Command, ...]]]:
    """The places of scripts in a resource, with their commands; those that are not understood are passed over."""
    for path, text in texts_of(resource):
        commands = commands_of(text)
        if commands is not None:
            yield path, commands


def texts_of(resource: Resource) -> Iterator[tuple[Path, str]]:
    """The places of scripts in a resource, with the scripts as they are written; what only the deployment knows is a mark."""
    several = [(key, index, "Content") for key in _OF_NOTEBOOKS for index, _ in entries(resource.get(key))]
    for path in (*_PLACES, *several):
        raw = raw_at(resource, path)
        encoded = isinstance(raw, dict) and set(raw) == {"Fn::Base64"}
        value = resource.template.resolver.resolve(raw["Fn::Base64"]) if isinstance(raw, dict) and encoded else None
        text, _ = marked(value) if isinstance(value, str | Text) else (None, {})
        if text is not None and _SHELL.match(text):
            yield path, text
