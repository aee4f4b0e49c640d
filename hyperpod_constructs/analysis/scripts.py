"""Scripts of a shell in templates beside those of builds: where they are written, what they find, and who runs them.

They stand in user data of instances, in configurations of notebooks and of Studio, in documents of Systems Manager, in commands of
containers, and in the properties of what uploads scripts for nodes of a cluster.

Sources: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html,
https://docs.aws.amazon.com/sagemaker/latest/dg/notebook-lifecycle-config.html,
https://docs.aws.amazon.com/systems-manager/latest/userguide/documents-command-ssm-plugin-reference.html,
https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_ContainerDefinition.html and
https://docs.aws.amazon.com/batch/latest/APIReference/API_ContainerProperties.html (as of 2026-11-29)
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import zip_longest
from typing import NamedTuple

from hyperpod_constructs.analysis.clusters import Group, quoted
from hyperpod_constructs.analysis.embedded import is_small, marked
from hyperpod_constructs.analysis.ends import ends
from hyperpod_constructs.analysis.iam import ROLE
from hyperpod_constructs.analysis.node_programs import ENTRIES, LIFE_CYCLE, Programs, Started, programs_of
from hyperpod_constructs.analysis.node_roles import role_uses
from hyperpod_constructs.analysis.paths import place_in
from hyperpod_constructs.analysis.shell import COMMAND, NO_FILES, SHELLS, Beside, Run, is_shell, run_of
from hyperpod_constructs.templates.dependencies import raw_at, references
from hyperpod_constructs.templates.errors import TemplateError
from hyperpod_constructs.templates.model import Model, Resource, resource_of
from hyperpod_constructs.templates.values import (
    UNKNOWN,
    Part,
    Text,
    Value,
    as_items,
    as_str,
    at,
    frozen,
    joined,
    parts_of,
)

Path = tuple[str | int, ...]

_LONGEST, _MOST_STARTS = 1 << 16, 8
_DOCUMENT, _GROUP = "AWS::SSM::Document", "AWS::EKS::Nodegroup"
_PARAMETER, _HIDDEN = re.compile(r"\{\{[^{}]*\}\}"), chr(0xE200 + 499)
"""A parameter in a document of Systems Manager, and the mark in its place."""
_RUN_SHELL_SCRIPT = "AWS-RunShellScript"
_STEPS: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("aws:runShellScript", None, ("runCommand",)),
    ("aws:runCommand", _RUN_SHELL_SCRIPT, ("Parameters", "commands")),
)
"""Actions of steps with scripts: the document that they run, and the place of the lines in their inputs."""
_WORD = re.compile(r"[A-Za-z_]\w*")


class Home(Enum):
    """Where a script runs, which decides what it finds."""

    BOOT = "a machine, before anybody logs in"
    SERVICE = "a machine, by a service on it"
    CONTAINER = "a container, whose image may set any variable"
    ANYWHERE = "where somebody starts it later, who may set any variable"


class Script(NamedTuple):
    """A script.

    :param path: its place in the properties of the resource.
    :param marks: what the marks in it stand for.
    :param given: the variables that the template gives it.
    :param entry: whether it is surely run; another script may run it otherwise.
    :param skipped: whether another script runs it under a condition, so that some machines may not.
    :param files: the files beside it that a shell may read, by their names.
    :param starts: the arguments of those who start it, each list once.
    """

    resource: Resource
    path: Path
    text: str
    marks: Mapping[str, Part]
    home: Home = Home.BOOT
    given: Mapping[str, Value] = {}
    entry: bool = True
    skipped: bool = False
    files: Mapping[str, Beside] = NO_FILES
    starts: tuple[tuple[Value, ...], ...] = ()

    @property
    def run(self) -> Run | None:
        """What it runs, with the arguments that all give who start it; `None` if it is not understood. Computed once."""
        key = (Script, self.resource, self.path, repr(self.starts))
        return self.resource.template.model.cached(key, lambda: self._run(_agreed(self.starts)))

    @property
    def runs(self) -> tuple[Run, ...]:
        """What it runs for each list of arguments; nothing if it is not understood. Computed once."""
        key = (Script, "runs", self.resource, self.path, repr(self.starts))
        return self.resource.template.model.cached(key, lambda: tuple(self._each()))

    def _each(self) -> Iterator[Run]:
        if self.run is not None and len(self.starts) < 2:
            yield self.run
        elif self.run is not None:
            yield from filter(None, map(self._run, self.starts[:_MOST_STARTS]))

    def _run(self, arguments: Iterable[Value]) -> Run | None:
        numbered = {str(place): value for place, value in enumerate(arguments, 1)}
        return run_of((self.text,), {**self.given, **numbered}, self.marks, self.files)


class Runner(NamedTuple):
    """Who runs a script.

    :param role: the role as which it calls AWS.
    :param user: who has the role, in words; empty for the resource with the script.
    :param groups: the groups of nodes on which it runs.
    """

    role: Resource
    user: str = ""
    groups: tuple[Group, ...] = ()


def scripts_in(resource: Resource) -> Iterator[Script]:
    """The scripts in a resource of a type that has some."""
    return _READERS[resource.type](resource) if resource.type in _READERS else iter(())


def scripts_for(group: Group) -> Iterator[Script]:
    """The scripts for a shell among what is uploaded for a group of nodes."""
    programs = programs_of(group)
    names = [as_str(group.get(LIFE_CYCLE, key)) for key in ENTRIES]
    read = ((name, marked(file.text)) for name, file in programs.files.items())
    beside = {name: Beside(text, marks) for name, (text, marks) in read if text is not None}
    for file in programs.files.values():
        text, marks = marked(file.text)
        if text is not None and is_shell(text) and len(text) <= _LONGEST:
            starts = programs.starts(file.name)
            is_sure = file.name in names or any(one.surely for one in starts)
            given = dict(_handed_down(file.name, programs, beside))
            home = Home.BOOT if starts or file.name in names else Home.ANYWHERE
            arguments = {repr(found): found for found in map(_given, starts)}
            yield Script(
                *(file.resource, file.path, text, marks, home, given, is_sure, not is_sure, beside, tuple(arguments.values()))
            )


def _given(start: Started) -> tuple[Value, ...]:
    """The arguments with which a file is started; in a shell, a word that only the run knows may be any number of them."""
    found = start.arguments or ()
    known = next((place for place, one in enumerate(found) if one is UNKNOWN), len(found))
    return found if start.by.endswith(".py") else (*found[:known], *(UNKNOWN for _ in found[known:]))


def _agreed(starts: Sequence[tuple[Value, ...]]) -> Iterator[Value]:
    """The arguments that all give who start a script."""
    for several in zip_longest(*starts, fillvalue=UNKNOWN):
        yield several[0] if all(one == several[0] for one in several) else UNKNOWN


def _handed_down(name: str, programs: Programs, files: Mapping[str, Beside]) -> Iterator[tuple[str, Value]]:
    """The variables that the files which start a script set for it; where they are not known, any that these name.

    A star stands for any variable: a shell that reads a file which is not known may export what is in it.
    """
    starts = programs.starts(name)
    known = [one.environment for one in starts if one.environment is not None]
    for variable in dict.fromkeys(variable for one in known for variable in one):
        values = [one.get(variable, UNKNOWN) for one in known]
        is_known = len(known) == len(starts) and all(value == values[0] for value in values)
        yield variable, values[0] if is_known else UNKNOWN
    starting = {one.by for one in starts if one.environment is None}
    for text in (one.text for by, one in files.items() if by in starting):
        yield from (("*", UNKNOWN),) if is_shell(text) else ()
        yield from ((variable, UNKNOWN) for variable in _WORD.findall(text))


def with_runners(model: Model) -> Iterator[tuple[Script, Runner]]:
    """The scripts whose role is a resource of the model, each with who runs it."""
    for resource in model.resources(*_READERS):
        for script in scripts_in(resource):
            yield from ((script, Runner(role)) for role in dict.fromkeys(_roles(resource)))
    for use in role_uses(model):
        is_only = len(use.groups) == len(use.groups[0].cluster.groups)
        found = {(one.resource, one.path): one for group in use.groups for one in scripts_for(group) if is_only or not one.skipped}
        for place, script in found.items():
            groups = tuple(group for group in use.groups if any((one.resource, one.path) == place for one in scripts_for(group)))
            yield script, Runner(use.role, f"{quoted(groups)} of {use.cluster.logical_id}", groups)


_OF_TARGETS = tuple(f"{place}>IamInstanceProfile>Roles/*" for place in ("InstanceId", "Targets/[Key=InstanceIds]/Values/*"))
_ROLES: Mapping[str, tuple[str, ...]] = {
    "AWS::Batch::JobDefinition": ("ContainerProperties/JobRoleArn",),
    "AWS::EC2::Instance": ("IamInstanceProfile>Roles/*",),
    "AWS::EC2::LaunchTemplate": (
        *("LaunchTemplateData/IamInstanceProfile/Arn>Roles/*", "LaunchTemplateData/IamInstanceProfile/Name>Roles/*"),
    ),
    "AWS::ECS::TaskDefinition": ("TaskRoleArn",),
    "AWS::SSM::Association": _OF_TARGETS,
}
"""The ways to the role of a script, from the resource with the script."""
_USERS: Mapping[str, tuple[tuple[str, str, str], ...]] = {
    "AWS::EC2::LaunchTemplate": ((_GROUP, "LaunchTemplate", "NodeRole"),),
    "AWS::SageMaker::NotebookInstanceLifecycleConfig": (("AWS::SageMaker::NotebookInstance", "LifecycleConfigName", "RoleArn"),),
    "AWS::SageMaker::StudioLifecycleConfig": (
        ("AWS::SageMaker::Domain", "DefaultUserSettings", "DefaultUserSettings/ExecutionRole"),
        ("AWS::SageMaker::UserProfile", "UserSettings", "UserSettings/ExecutionRole"),
    ),
    _DOCUMENT: tuple(("AWS::SSM::Association", "Name", way) for way in _OF_TARGETS),
}
"""The types that name a resource with a script, the property in which they do, and the ways from them to the role."""


def _roles(resource: Resource) -> Iterator[Resource]:
    found = [end.value for way in _ROLES.get(resource.type, ()) for end in ends(resource, way)]
    for type_, name, way in _USERS.get(resource.type, ()):
        users = (one for one in resource.template.model.resources(type_) if resource in references(one.get(name)))
        found += [end.value for user in users for end in ends(user, way)]
    yield from (role for one in found if (role := resource_of(one, ROLE)) is not None)


def _encoded(home: Home, *paths: str) -> Callable[[Resource], Iterator[Script]]:
    """The scripts in base64 at some places."""

    def read(resource: Resource) -> Iterator[Script]:
        for place, value in (one for path in paths for one in place_in(resource.get(), path)):
            raw = raw_at(resource, place)
            encoded = isinstance(raw, dict) and set(raw) == {"Fn::Base64"}
            plain = resource.template.resolver.resolve(raw["Fn::Base64"]) if isinstance(raw, dict) and encoded else _decoded(value)
            text, marks = marked(plain) if isinstance(plain, str | Text) else (None, {})
            if text is not None and is_shell(text):
                yield Script(resource, place, text, marks, home)

    return read


def _decoded(value: Value) -> str | None:
    try:
        return b64decode("".join(str(value).split()), validate=True).decode() if isinstance(value, str) else None
    except (binascii.Error, ValueError):
        return None


def _of_document(document: Resource) -> Iterator[Script]:
    """The scripts in a document of Systems Manager; its parameters are not known."""
    content = document.get("Content")
    text, marks = marked(content) if isinstance(content, str | Text) else (None, {})
    data = content if isinstance(content, Mapping) else _parsed(text)
    for place, step in place_in(data, "mainSteps/*"):
        for action, name, key in _STEPS:
            if as_str(at(step, "action")) == action and as_str(at(step, "inputs", "DocumentName")) == name:
                yield from _of_lines(document, at(step, "inputs", *key), ("Content", *place, "inputs", *key), marks)
    for place, lines in place_in(data, "runtimeConfig/aws:runShellScript/properties/*/runCommand"):
        yield from _of_lines(document, lines, ("Content", *place), marks)


def _of_association(association: Resource) -> Iterator[Script]:
    """The commands that Systems Manager runs on instances."""
    if as_str(association.get("Name")) == _RUN_SHELL_SCRIPT:
        yield from _of_lines(association, association.get("Parameters", "commands"), ("Parameters", "commands"), {})


def _of_lines(resource: Resource, lines: Value, path: Path, marks: Mapping[str, Part]) -> Iterator[Script]:
    """The script of some lines, in a text with these marks."""
    whole = joined(part for one in as_items(lines) or () for part in (*parts_of(one), "\n"))
    text, own = marked(whole) if isinstance(whole, str | Text) else (None, {})
    if text and len(text) <= _LONGEST:
        place = path if own or not isinstance(resource.get("Content"), str | Text) else ("Content",)
        yield Script(resource, place, _PARAMETER.sub(_HIDDEN, text), {**marks, **own}, Home.SERVICE)


def _parsed(text: str | None) -> Value:
    from hyperpod_constructs.templates.yaml_reading import parsed  # few templates need it

    try:
        data = parsed(text or "")
    except TemplateError:
        return UNKNOWN
    return frozen(data) if is_small(data) else UNKNOWN


def _of_containers(path: str) -> Callable[[Resource], Iterator[Script]]:
    """The scripts that containers are told to run in a shell."""

    def read(resource: Resource) -> Iterator[Script]:
        for place, container in place_in(resource.get(), path):
            words = [(key, index, one) for key in ("EntryPoint", "Command") for index, one in _items(at(container, key))]
            program, option = ((as_str(one) or "") for _, _, one in (*words, ("", 0, ""), ("", 0, ""))[:2])
            if len(words) > 2 and program.rpartition("/")[2] in SHELLS and COMMAND.fullmatch(option):
                key, index, value = words[2]
                text, marks = marked(value) if isinstance(value, str | Text) else (None, {})
                if text is not None:
                    yield Script(resource, (*place, key, index), text, marks, Home.CONTAINER, _environment(container))

    return read


def _items(value: Value) -> Sequence[tuple[int, Value]]:
    return list(enumerate(as_items(value) or ()))


def _environment(container: Value) -> Mapping[str, Value]:
    pairs = [(as_str(at(one, "Name")), at(one, "Value")) for one in as_items(at(container, "Environment")) or ()]
    secret = [(as_str(at(one, "Name")), UNKNOWN) for one in as_items(at(container, "Secrets")) or ()]
    return {name: value for name, value in (*pairs, *secret) if name is not None}


_READERS: Mapping[str, Callable[[Resource], Iterator[Script]]] = {
    "AWS::Batch::JobDefinition": _of_containers("ContainerProperties"),
    "AWS::EC2::Instance": _encoded(Home.BOOT, "UserData"),
    "AWS::EC2::LaunchTemplate": _encoded(Home.BOOT, "LaunchTemplateData/UserData"),
    "AWS::ECS::TaskDefinition": _of_containers("ContainerDefinitions/*"),
    "AWS::SageMaker::NotebookInstanceLifecycleConfig": _encoded(Home.SERVICE, "OnCreate/*/Content", "OnStart/*/Content"),
    "AWS::SageMaker::StudioLifecycleConfig": _encoded(Home.SERVICE, "StudioLifecycleConfigContent"),
    "AWS::SSM::Association": _of_association,
    _DOCUMENT: _of_document,
}
TYPES = tuple(_READERS)
"""The types of resources with scripts."""
