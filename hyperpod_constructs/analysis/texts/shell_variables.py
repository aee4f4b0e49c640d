"""Variables that the commands of builds and of scripts on machines take, and that nobody sets: a shell takes nothing for them.

Sources: https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-env-vars.html and
https://www.gnu.org/software/bash/manual/bash.html#Shell-Parameter-Expansion
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.build_commands import build_of
from hyperpod_constructs.analysis.embedded import is_mark
from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.shell import Command, variables_read, variables_set
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts, scripts_of
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.builds import OF_IMAGES, STARTERS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import Text, shown

_OVERRIDES = "nvironmentvariables"
"""Is in the names of all properties and parameters by which a starter gives a build variables."""
_OF_POLICIES = "AWS::IAM::"


def build(project: Resource) -> Slips:
    """The variables of a build: one that another name is meant for, or any where the templates themselves start the build."""
    found = build_of(project)
    if found is None or "*" in found.set:
        return
    lacking = [one for one in _read(found.commands) if one not in found.set and one not in found.given and not _is_of_image(one)]
    used = {one.name for one in variables_read(found.commands)}
    spare = [one for one in found.given if one not in used]
    for name in lacking:
        near = next((one for one in spare if _is_like(one, name)), None)
        if near is not None or _is_started_as_it_is(project):
            message = f"the commands take the variable {name}, which neither the project nor a command sets"
            told = message if near is None else f"{message}; {near} is set, and no command takes it"
            yield Slip(told, listed(found.given) or "a variable of the project", ("Source", "BuildSpec"), dead=True)
            return


def _is_like(one: str, other: str) -> bool:
    """Whether two names are nearly one, or one has all words of the other."""
    words = [set(name.lower().split("_")) for name in (one, other)]
    return nearest(one, (other,)) is not None or words[0] <= words[1] or words[1] <= words[0]


def _read(commands: tuple[Command, ...]) -> list[str]:
    """The variables that commands take as they are."""
    named = dict.fromkeys(one.name for one in variables_read(commands) if one.plain)
    tested = {one.name for one in variables_read(commands) if not one.plain}
    return [one for one in named if one not in tested and not is_mark(one)]


def _is_of_image(name: str) -> bool:
    return OF_IMAGES.fullmatch(name) is not None


def _is_started_as_it_is(project: Resource) -> bool:
    """Whether something in the templates starts a build, and nothing there gives it other variables."""
    users = [one for one in project.template.model.resources() if project in references(one.get())]
    starting = [one for one in users if not one.type.startswith(_OF_POLICIES)]
    told = all(one.type in STARTERS and _OVERRIDES not in str(shown(one.get())).lower() for one in starting if _has_code(one))
    return bool(starting) and told and all(map(_has_code, starting))


def _has_code(starter: Resource) -> bool:
    """Whether the template says what a starter does."""
    return starter.type != "AWS::Lambda::Function" or isinstance(starter.get("Code", "ZipFile"), str | Text)


def machine(resource: Resource) -> Slips:
    """The variables of each script that a machine runs when it starts."""
    for path, commands in scripts_of(resource):
        for name in _lacking(commands)[:1]:
            message = f"the script takes the variable {name}, which it does not set"
            yield Slip(message, f"{name}=… before it, or ${{{name}:-}}", path, dead=True)


def _lacking(commands: tuple[Command, ...]) -> list[str]:
    known = set(variables_set(commands))
    return [] if "*" in known else [one for one in _read(commands) if one not in known and not _is_of_image(one)]


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(build, machine)
