"""What runs on the nodes of a group: the scripts of its life cycle, and the uploaded files that these start, with their arguments.

Shell and Python are followed, and never executed. A file that is started under a condition is not sure to run.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm-slurm-base-config.html
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hyperpod_constructs.analysis.answered_values import answered
from hyperpod_constructs.analysis.clusters import Group
from hyperpod_constructs.analysis.code_runs.machine import Failure
from hyperpod_constructs.analysis.code_runs.runs import Code, Way, unknown
from hyperpod_constructs.analysis.code_runs.runs import Run as CodeRun
from hyperpod_constructs.analysis.code_runs.things import Thing, value_of
from hyperpod_constructs.analysis.code_runs.way import Around
from hyperpod_constructs.analysis.embedded import marked
from hyperpod_constructs.analysis.node_data import data_for, misnamed
from hyperpod_constructs.analysis.own_folders import HERE
from hyperpod_constructs.analysis.schema.violation import Path
from hyperpod_constructs.analysis.shell import Beside, Run, exported, is_shell, run_of
from hyperpod_constructs.analysis.shell_words import plain
from hyperpod_constructs.analysis.uploads import Upload, is_body, key_of, puts_of, uploads_of
from hyperpod_constructs.templates.model import Model, Resource
from hyperpod_constructs.templates.values import UNKNOWN, Part, Text, Value, as_str, parts_of, placed_leaves, shown

if TYPE_CHECKING:
    import ast

LIFE_CYCLE, URI, ENTRIES = "LifeCycleConfig", "SourceS3Uri", ("OnCreate", "OnInitComplete")
_SHELLS, _PYTHONS = ("bash", "dash", "sh", "source", "."), ("python", "python3")
_LONGEST, _MOST_FILES = 1 << 16, 100
_MOST_FOLLOWED = 10
"""Groups for which a file is followed with the data of their own nodes; for the others these are unknown."""
_LEAVING = ("cd", "pushd")
"""Commands behind which names of files are those of another folder."""
_NOT_THERE = ("FileNotFoundError", "IOError", "OSError")
"""What Python raises for a file that is not there."""
_MAKING = ("git", "tar", "unzip")
_SET = re.compile(r"\b([A-Z][A-Z0-9_]*)=")
"""A variable that a shell sets, maybe for the programs that it starts."""
_COPYING, _ALL_OF_IT = ("aws", "cp", "rsync", "scp"), ("--recursive", "-R", "-a", "-r", "sync")
"""Commands that may make files without their names, and others that do so with one of these words."""


class NodeFile(NamedTuple):
    """A text that is uploaded for a group.

    :param name: its place in the folder that nodes get.
    :param path: its place in the properties of the resource.
    """

    name: str
    resource: Resource
    path: Path
    text: str | Text


class Started(NamedTuple):
    """A file that another one starts, or opens.

    :param arguments: the words behind its name; `None` where it is opened.
    :param by: the name of the other file.
    :param surely: whether it does so whatever happens, but for failures.
    :param environment: the variables that it finds; `None` if there may be any.
    """

    name: str
    arguments: tuple[Value, ...] | None
    by: str
    surely: bool
    environment: Mapping[str, Value] | None = None


_ENTRY = Started("", (), "", surely=True, environment={})
"""How the service starts a script."""


class Strayed(NamedTuple):
    """A file that another one starts from a folder where nobody puts it.

    :param by: the name of the other file.
    """

    name: str
    folder: str
    by: str


class Ran(NamedTuple):
    """A command.

    :param by: the name of the file that runs it.
    """

    words: tuple[Value, ...]
    by: str


class _Found(NamedTuple):
    """What a file does.

    :param started: what it starts and opens.
    :param makes: whether it may make files.
    :param failure: what surely fails in it.
    :param ran: the commands that it may run.
    """

    started: Sequence[Started] = ()
    makes: bool = True
    failure: Failure | None = None
    ran: Sequence[Ran] = ()


@dataclass(frozen=True, slots=True)
class Programs:
    """What runs on the nodes of a group.

    :param files: the uploaded files by their names.
    :param started: what they start and open, as far as they are followed.
    :param makes: whether something may make further files without their names.
    :param failures: the files that surely run and fail, each with what fails first.
    :param strayed: the uploaded files that are started from other folders than theirs.
    :param ran: the commands that they may run, those of each file in their order.
    """

    files: Mapping[str, NodeFile]
    started: tuple[Started, ...]
    makes: bool
    failures: tuple[tuple[str, Failure], ...] = ()
    strayed: tuple[Strayed, ...] = ()
    ran: tuple[Ran, ...] = ()

    def starts(self, name: str) -> tuple[Started, ...]:
        """How a file is started; nothing for one that the service itself starts, or nobody."""
        return tuple(one for one in self.started if one.name == name and one.arguments is not None)


def programs_of(group: Group) -> Programs:
    """What runs on the nodes of a group; computed once."""
    return group.resource.template.model.cached((programs_of, group.resource, group.path), lambda: _programs_of(group))


def _programs_of(group: Group) -> Programs:
    uploaded = _uploaded_for(group)
    files = uploaded.files
    waiting = [(name, True) for key in ENTRIES if (name := as_str(group.get(LIFE_CYCLE, key))) in files and name is not None]
    strayed = list[Strayed]()
    seen, found, makes = {name for name, _ in waiting}, list[Started](), False
    failures: list[tuple[str, Failure]] = []
    ran: list[Ran] = []
    for name, surely in waiting:
        start = next((one for one in found if one.name == name and one.arguments is not None), _ENTRY)
        one = uploaded.does(start._replace(name=name), group)
        failures += [] if one.failure is None or not surely else [(name, one.failure)]
        strayed += uploaded.strayed(name)
        makes, ran = makes or one.makes, [*ran, *one.ran]
        for other in one.started:
            found.append(other._replace(surely=other.surely and surely))
            if other.name in files and other.name not in seen and other.arguments is not None:
                seen.add(other.name)
                waiting.append((other.name, other.surely and surely))
    return Programs(files, tuple(found), makes, tuple(failures), tuple(strayed), tuple(ran))


class _Data(dict[str, Callable[[], Thing]]):
    """The data of files, which notices whether a program looks for one that is there."""

    is_read = False

    def get(self, name: str, default: Any = None) -> Any:
        """The maker of the data."""
        self.is_read = self.is_read or name in self
        return super().get(name, default)


class _Uploaded:
    """What is uploaded for groups with one address, and what its files do: most do the same for all of them."""

    def __init__(self, files: Iterable[NodeFile]) -> None:
        self.files = {one.name: one for one in files}
        read = ((name, marked(one.text)) for name, one in self.files.items())
        self.beside = {name: Beside(text, marks) for name, (text, marks) in read if text is not None}
        texts = [one.text for one in self.beside.values() if len(one.text) <= _LONGEST]
        self._around = Around(
            variables={name: UNKNOWN for text in texts for name in _SET.findall(text)},
            files={one.name: one.text for one in self.files.values()},
            lacking=misnamed(texts),
        )
        self._found: dict[tuple[str, str], _Found] = {}
        self._followed = Counter[str]()
        self._strayed: dict[str, tuple[Strayed, ...]] = {}

    def does(self, start: Started, group: Group) -> _Found:
        """What a file that is started does on the nodes of a group."""
        name, key = start.name, (start.name, repr((start.arguments, start.environment)))
        if key not in self._found:
            is_known = self._followed[name] < _MOST_FOLLOWED
            data = _Data(data_for(group) if is_known else {})
            found = self._started_by(start, replace(self._around, arguments=start.arguments or (), data=data))
            self._followed[name] += 1
            if data.is_read:
                return found
            self._found[key] = found
        return self._found[key]

    def _started_by(self, start: Started, around: Around) -> _Found:
        text, marks = marked(self.files[start.name].text)
        if text is None or len(text) > _LONGEST:
            return _Found()
        if is_shell(text) or start.name.endswith(".sh"):
            return _by_shell(start, text, marks, self.beside)
        if not start.name.endswith(".py"):
            return _Found()
        known = {**around.variables, **(start.environment or {})}
        return _by_python(start.name, text, replace(around, holes=marks, variables=known))

    def strayed(self, name: str) -> tuple[Strayed, ...]:
        """What a file starts from folders where nobody puts it."""
        if name not in self._strayed:
            self._strayed[name] = (*_strayed(self.files[name], self.files),)
        return self._strayed[name]


def _uploaded_for(group: Group) -> _Uploaded:
    uri, model = answered(group.get(LIFE_CYCLE, URI)), group.resource.template.model
    key = tuple(None if part is UNKNOWN else part for part in parts_of(uri))
    return model.cached((_uploaded_for, key), lambda: _Uploaded(_files_for(model, uri)))


def _files_for(model: Model, uri: Value) -> Iterator[NodeFile]:
    """The texts among what is uploaded to an address."""
    for upload in uploads_of(model, uri):
        folder = key_of(uri).strip("/")
        leaves = list(placed_leaves(upload.resource.get()))[:_MOST_FILES]
        bodies: Iterable[tuple[str, Path, Value]]
        if upload.key is not None:
            bodies = ((upload.key, path, leaf) for path, leaf in leaves if is_body(str(path[0])) or _is_script(leaf))
        else:
            written = list(_written(upload.resource, leaves))
            place = _folder_of(upload, folder)
            bodies = written or ((f"{place}/{path[-1]}", path, leaf) for path, leaf in leaves if len(path) > 1 or _is_script(leaf))
        for key, path, text in bodies:
            if isinstance(text, str | Text) and key.strip("/").startswith(f"{folder}/" if folder else ""):
                yield NodeFile(key.strip("/")[len(folder) :].lstrip("/"), upload.resource, path, text)


def _folder_of(upload: Upload, folder: str) -> str:
    """The folder to which a resource uploads, if it is in the folder of the scripts; else that itself."""
    prefix = (upload.prefix or "").strip("/")
    return prefix if folder and prefix.startswith(f"{folder}/") else folder


def _written(resource: Resource, leaves: Sequence[tuple[Path, Value]]) -> Iterator[tuple[str, Path, Value]]:
    """The texts that the code of a custom resource writes, with their keys and their places in its properties."""
    for call in puts_of(resource):
        key, body = as_str(call.parameters.get("key")), call.parameters.get("body")
        path = next((path for path, leaf in leaves if isinstance(body, str | Text) and repr(leaf) == repr(body)), None)
        if key is not None and path is not None:
            yield key, path, body


def _is_script(leaf: Value) -> bool:
    return isinstance(leaf, str | Text) and is_shell(str(parts_of(leaf)[0]))


def _by_shell(start: Started, text: str, marks: Mapping[str, Part], files: Mapping[str, Beside]) -> _Found:
    numbered = {str(place): value for place, value in enumerate(start.arguments or (), 1)}
    run, found, makes = run_of((text,), {**(start.environment or {}), **numbered}, marks, files), list[Started](), False
    if run is None:
        return _Found()
    environment = _environment(start, run, files)
    ran = [Ran(tuple(run.value(word) for word in one.words), start.name) for one in run.called]
    for command, (words, _) in zip(run.called, ran, strict=True):
        copies = command.name in _COPYING and any(plain(word) in _ALL_OF_IT for word in command.arguments)
        makes = makes or copies or command.name in _MAKING
        if command.name in _LEAVING and not _is_at_home(run):
            return _Found(found, ran=ran)
        own = _own_file(words)
        if own is not None:
            own_variables = {name: run.value(word) for name, word in command.given}
            known = None if environment is None else {**environment, **own_variables}
            found.append(Started(own[0], own[1], start.name, command.alone, known))
        taken = (run.value(word) for word in command.files if not command.guarded)
        opened = (path.removeprefix("./") for path in map(as_str, taken) if path)
        found += (Started(one, None, start.name, surely=False) for one in opened if "/" not in one)
    return _Found(found, makes, ran=ran)


def _is_at_home(run: Run) -> bool:
    """Whether a script goes to its own folder."""
    return any(one.name in _LEAVING and HERE in (as_str(run.value(word)) for word in one.arguments) for one in run.commands)


def _environment(start: Started, run: Run, files: Mapping[str, Beside]) -> Mapping[str, Value] | None:
    """The variables that programs find which a script starts; `None` if there may be any."""
    if start.environment is None or "*" in run.set:
        return None
    names = frozenset(exported(run.commands, files))
    own = run.set if "*" in names else names
    return {**start.environment, **{name: run.values.get(name, UNKNOWN) for name in own}}


def _strayed(file: NodeFile, files: Mapping[str, NodeFile]) -> Iterator[Strayed]:
    """The first file beside a shell script that it starts from another folder, where nothing says that it is put there."""
    text, marks = marked(file.text)
    is_read = text is not None and len(text) <= _LONGEST and is_shell(text)
    run = run_of((text,), {}, marks) if text is not None and is_read else None
    folder = ""
    for command in run.commands if run is not None and not _is_at_home(run) else ():
        words = tuple(run.value(word) for word in command.words) if run is not None else ()
        if command.name in _LEAVING:
            place = as_str(words[1]) if len(words) == 2 and command.alone and not command.guarded else None
            folder = place if place is not None and place.startswith("/") else ""
        own = _own_file(words) if folder and command.alone and not command.guarded else None
        if command.name in (*_MAKING, *_COPYING):
            return
        if own is not None and own[0] in files:
            is_only = text is not None and text.count(own[0]) == 1
            if is_only and sum(str(shown(one.text)).count(folder) for one in files.values()) == 1:
                yield Strayed(own[0], folder, file.name)
            return


def _by_python(name: str, text: str, around: Around) -> _Found:
    from hyperpod_constructs.analysis.code_runs.parsing import parsed_code  # few templates have code

    tree = parsed_code(text)
    if tree is None:
        return _Found()
    run = _followed(tree, replace(around, name="__main__"))
    failing = [way.failures[0] for way in run.ways if way.failures]
    found: dict[tuple[str, str], Started] = {}
    ran: dict[str, Ran] = {}
    for way in run.ends:
        commands = [tuple(map(value_of, words)) for words in way.commands]
        ran |= {repr(words): Ran(words, name) for words in commands}
        for own in (one for words in commands if (one := _own_file(words)) is not None):
            surely = run.is_whole and all(_starts(other.commands, own[0]) for other in run.ends)
            found.setdefault((own[0], repr(own[1])), Started(own[0], own[1], name, surely))
    fine = [one for one in run.ways if not one.raises and (not one.caught or one.expected)]
    for opened in dict.fromkeys(opened for way in run.ways for opened in way.opened):
        if not any(_does_without(one, opened) for one in fine):
            found.setdefault((opened, ""), Started(opened, None, name, surely=False))
    failure = failing[0] if run.is_whole and failing and not fine else None
    return _Found(list(found.values()), not run.is_whole, failure, list(ran.values()))


def _does_without(way: Way, name: str) -> bool:
    """Whether a program goes on where a file is not there."""
    return name not in way.opened and not {*_NOT_THERE}.isdisjoint(way.expected)


def _followed(tree: ast.Module, around: Around) -> CodeRun:
    """What a program does; one with too many ways is followed once more, with less that it knows."""
    run = Code(tree, around).run(None, None, "", unknown)
    return run if run.is_whole else Code(tree, replace(around, data={})).run(None, None, "", unknown)


def _starts(commands: tuple[tuple[object, ...], ...], name: str) -> bool:
    return any(own is not None and own[0] == name for own in (_own_file(tuple(map(value_of, words))) for words in commands))


def _own_file(words: tuple[Value, ...]) -> tuple[str, tuple[Value, ...]] | None:
    """The file in the folder of the scripts that a command starts, with its arguments; `None` for another command."""
    program = as_str(words[0]) if words else None
    if program is None:
        return None
    rest = words[1:]
    if program.rpartition("/")[2] in (*_SHELLS, *_PYTHONS):
        while rest and str(as_str(rest[0]) or "").startswith("-"):
            if as_str(rest[0]) in ("-c", "-m"):
                return None
            rest = rest[1:]
        program, rest = (as_str(rest[0]) if rest else None) or "", rest[1:]
    elif not program.startswith("./"):
        return None
    name = program.removeprefix("./")
    return (name, rest) if name and "/" not in name and not name.startswith("-") else None
