"""Variables that the commands of builds and of scripts elsewhere take, and that nobody sets: a shell takes nothing for them.

Sources: https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-env-vars.html and
https://www.gnu.org/software/bash/manual/bash.html#Shell-Parameter-Expansion
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.build_commands import build_of
from hyperpod_constructs.analysis.custom_resources import FUNCTION
from hyperpod_constructs.analysis.embedded import is_mark
from hyperpod_constructs.analysis.schema.violation import listed, nearest
from hyperpod_constructs.analysis.scripts import Home, Script
from hyperpod_constructs.analysis.shell import variables_read
from hyperpod_constructs.analysis.shell_words import Command
from hyperpod_constructs.analysis.texts.build_starts import names_given
from hyperpod_constructs.analysis.texts.machine_scripts import of_scripts
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.builds import NOT_AT_BOOT, OF_IMAGES, STARTERS
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
    told = _given_at_start(project)
    known = {*found.set, *found.given, *(told or ())}
    lacking = [one for one in _read(found.commands) if one not in known and not _is_of_image(one)]
    used = {one.name for one in variables_read(found.commands)}
    spare = [one for one in found.given if one not in used]
    for name in lacking:
        near = next((one for one in spare if _is_like(one, name)), None)
        if near is not None or told is not None:
            message = f"the commands take the variable {name}, which neither the project nor a command sets"
            message += "" if near is None else f"; {near} is set, and no command takes it"
            yield Slip(message, listed(found.given) or "a variable of the project", ("Source", "BuildSpec"), dead=True)
            return


def _is_like(one: str, other: str) -> bool:
    """Whether two names are nearly one, or one has all words of the other."""
    words = [set(name.lower().split("_")) for name in (one, other)]
    return nearest(one, (other,)) is not None or words[0] <= words[1] or words[1] <= words[0]


def _read(commands: tuple[Command, ...]) -> list[str]:
    """The variables that commands take as they are."""
    named = dict.fromkeys(one.name for one in variables_read(commands) if one.plain and not one.is_argument)
    tested = {one.name for one in variables_read(commands) if not one.plain}
    return [one for one in named if one not in tested and not is_mark(one)]


def _is_of_image(name: str) -> bool:
    return OF_IMAGES.fullmatch(name) is not None


def _given_at_start(project: Resource) -> frozenset[str] | None:
    """The variables that those give a build who start it; `None` where nobody does in the templates, or any may be given."""
    users = [one for one in project.template.model.resources() if project in references(one.get())]
    starting = [one for one in users if not one.type.startswith(_OF_POLICIES)]
    given = [_given_by(one) for one in starting]
    return frozenset().union(*(one for one in given if one is not None)) if given and None not in given else None


def _given_by(starter: Resource) -> frozenset[str] | None:
    """The variables that a starter gives builds; `None` if they are not known."""
    if not _has_code(starter) or starter.type not in STARTERS:
        return None
    is_told = _OVERRIDES in str(shown(starter.get())).lower()
    return frozenset() if not is_told else names_given(starter) if starter.type == FUNCTION else None


def _has_code(starter: Resource) -> bool:
    """Whether the template says what a starter does."""
    return starter.type != FUNCTION or isinstance(starter.get("Code", "ZipFile"), str | Text)


def of_script(script: Script) -> Slips:
    """The variables of a script elsewhere; where an image may set some, one that another name is meant for."""
    run = script.run
    known = {*run.set, *run.given} if run is not None else {"*"}
    lacking = [one for one in _read(run.commands) if one not in known] if run is not None and "*" not in known else []
    used = {one.name for one in variables_read(run.commands)} if run is not None else set()
    for name in lacking:
        near = next((one for one in script.given if one not in used and _is_like(one, name)), None)
        if name in NOT_AT_BOOT and script.home is Home.BOOT:
            yield _slip(name, "which nothing sets before somebody logs in")
        elif near is not None:
            yield _slip(name, f"which nobody sets; {near} is set, and no command takes it")
        elif script.home not in (Home.ANYWHERE, Home.CONTAINER) and not _is_of_image(name):
            yield _slip(name, "which it does not set")
        else:
            continue
        return


def _slip(name: str, why: str) -> Slip:
    return Slip(f"the script takes the variable {name}, {why}", f"{name}=… before it, or ${{{name}:-}}", dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = of_scripts(build, of_script)
