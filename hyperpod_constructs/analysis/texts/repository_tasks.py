"""Data repository tasks that state machines and code start: their paths are on the side that they read, in linked directories.

Source: https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryTask.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.function_code import FUNCTION, calls_of
from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.state_machines import STATE_MACHINE, definition, definition_key, states
from hyperpod_constructs.analysis.texts.integrations import integration_of
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.repository_links import directories_overlap
from hyperpod_constructs.facts.repository_tasks import EXPORT, path_mistake
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value

_CREATE, _SYSTEM, _LINK = "fsx:CreateDataRepositoryTask", "AWS::FSx::FileSystem", "AWS::FSx::DataRepositoryAssociation"
_OLD_LINKS = ("ExportPath", "ImportPath")
"""Properties of a file system by which all of it is linked, without an association."""
_COMPUTED = ("{%", "$")


class _Wrong(NamedTuple):
    """A path that a task does not take."""

    path: Value
    says: str
    allowed: str


def machine(resource: Resource) -> Slips:
    """The tasks of a state machine."""
    key = definition_key(resource)
    for state in states(definition(resource)):
        call = integration_of(state.value.get("Resource", ABSENT))
        operation = None if call is None else call.operation
        for field in ("Parameters", "Arguments") if operation is not None and operation.action == _CREATE else ():
            parameters = {name.lower(): value for name, value in mapping(state.value.get(field, ABSENT)).items()}
            for wrong in _wrong_paths(parameters):
                path = (key, *state.path, field, "Paths") if isinstance(resource.get(key), Mapping) else (key,)
                yield Slip(f"the task of the state {state.name!r}: {wrong.says}", wrong.allowed, path, wrong.path, dead=True)


def code(function: Resource) -> Slips:
    """The tasks that the code of a function starts."""
    for call in calls_of(function):
        for wrong in _wrong_paths(call.parameters) if call.operation.action == _CREATE else ():
            yield Slip(f"the code starts a task: {wrong.says}", wrong.allowed, ("Code", "ZipFile"), wrong.path, dead=True)


def _wrong_paths(parameters: Mapping[str, Value]) -> Iterator[_Wrong]:
    """The first path that a task does not take."""
    kind, system = known(parameters.get("type", ABSENT)), resource_of(parameters.get("filesystemid", ABSENT), _SYSTEM)
    linked = _linked(system) if kind == EXPORT and system is not None else ()
    for _, path in entries(parameters.get("paths", ABSENT)) if kind is not None else ():
        text = known(path)
        if not text or text.startswith(_COMPUTED):
            continue
        mistake = path_mistake("Paths", kind or "", text)
        if mistake is not None:
            yield _Wrong(path, mistake.message, mistake.fix.partition(";")[0])
            return
        if linked and not any(directories_overlap(f"/{text}", one) for one in linked):
            yield _Wrong(path, f"{text!r} is in no directory that is linked to a bucket", listed(one.strip("/") for one in linked))
            return


def _linked(system: Resource) -> tuple[str, ...]:
    """The linked directories of a file system; none if they may be others."""
    model = system.template.model
    if not model.complete or any(system.get("LustreConfiguration", one) is not ABSENT for one in _OLD_LINKS):
        return ()
    links = [one for one in model.resources(_LINK) if resource_of(one.get("FileSystemId"), _SYSTEM) in (system, None)]
    found = [known(one.get("FileSystemPath")) for one in links]
    return tuple(one for one in found if one) if all(found) else ()


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {STATE_MACHINE: machine, FUNCTION: code}
