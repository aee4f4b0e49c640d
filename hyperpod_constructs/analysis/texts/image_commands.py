"""Commands of builds for images and charts in ECR: somebody has logged in, and a repository takes the tag at each run.

Sources: https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html,
https://docs.aws.amazon.com/AmazonECR/latest/userguide/registry_auth.html and
https://docs.aws.amazon.com/AmazonECR/latest/userguide/push-oci-artifact.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.build_commands import PROJECT, build_of, starters_of
from hyperpod_constructs.analysis.cli_calls import Line, lines_in
from hyperpod_constructs.analysis.shell import Run
from hyperpod_constructs.analysis.shell_words import Command, Word, plain
from hyperpod_constructs.analysis.texts.reading import known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.cli import IMAGE_FLAGS, OF_CONTAINERS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import Reference, Value, joined, parts_of, shown

_REPOSITORY, _PATH = "AWS::ECR::Repository", ("Source", "BuildSpec")
_HOST, _OCI, _OF_AWS = re.compile(r"\.dkr\.ecr\.|\bpublic\.ecr\.aws/"), "oci://", "aws/codebuild/"
_CLOCKS, _TIMES = ("AWS::Events::Rule", "AWS::Scheduler::Schedule"), ("cron(", "rate(")
_MOVING = ("latest", "stable", "main", "master", "dev")
"""Tags that each build pushes again."""
_LOGS_IN = re.compile(r"login|credential|creds?(?:Helpers|Store)|\.docker\b|auth\.json|authorization-token|DOCKER_(?:AUTH_)?CONFIG")
_SETTINGS = frozenset({"DOCKER_AUTH_CONFIG", "DOCKER_CONFIG", "REGISTRY_AUTH_FILE"})
_OTHERS = ("batch-delete-image", "delete-repository", "describe-images", "list-images", "put-image-tag-mutability")
"""Commands by which a build knows or changes the tags that are there."""
_PLAIN = frozenset(
    {
        *("[", "[[", "apt-get", "aws", "cat", "cd", "chmod", "cp", "date", "dnf", "echo", "exit", "export", "false", "find", "git"),
        *("grep", "gunzip", "gzip", "head", "helm", "jq", "kubectl", "ls", "mkdir", "mv", "printf", "pwd", "rm", "sed", "set"),
        *("sleep", "tail", "tar", "test", "touch", "tr", "true", "unzip", "wc", "yum", *OF_CONTAINERS),
    }
)
"""Programs that log in to nothing unless their words say so; any other one may."""


class _Use(NamedTuple):
    """An image, or a chart, in a command of a build.

    :param verb: what the command does with it.
    """

    verb: str
    image: Value
    command: Command

    @property
    def tag(self) -> str | None:
        """The tag, if it is known."""
        last = parts_of(self.image)[-1]
        _, colon, tag = last.rpartition(":") if isinstance(last, str) else ("", "", "")
        return tag if colon and tag and "/" not in tag else None

    @property
    def is_of_ecr(self) -> bool:
        """Whether it surely is in ECR."""
        first = parts_of(self.image)[0]
        own = isinstance(first, Reference) and first.attribute == "RepositoryUri"
        return own or _HOST.search(spelled(self.image) or "") is not None


def build(project: Resource) -> Slips:
    """The first use of an image without a login, and the first push of a tag that is there already."""
    run = build_of(project)
    uses = [] if run is None else [use for one in run.commands for use in _uses(run, one)]
    if run is not None:
        yield from list(_without_login(project, run, uses) or _there_already(project, run, uses))[:1]


def _uses(run: Run, command: Command) -> Iterator[_Use]:
    """The images that a command pulls or pushes, or the chart."""
    for line in lines_in((command,), command.name, IMAGE_FLAGS) if command.name in OF_CONTAINERS else ():
        words = [line.word(place) for place in range(len(line.words)) if line.word(place) != "image"]
        if words[:1] in (["pull"], ["push"]) and len(line.words) > 1:
            yield _Use(words[0], run.value(line.words[-1]), command)
        elif "build" in words[:2] and "push" in line.options:
            yield from (_Use("push", run.value(one), command) for one in _tagged(command))
    for line in lines_in((command,), "helm"):
        yield from (_Use(line.word(0), chart, command) for chart in _charts(run, line))


def _tagged(command: Command) -> Iterator[Word]:
    """The images of a build, by its options."""
    for word, behind in zip(command.words, (*command.words[1:], ()), strict=True):
        first = str(word[0]) if word and isinstance(word[0], str) else ""
        if plain(word) in ("-t", "--tag"):
            yield behind
        elif first.startswith("--tag="):
            yield (first.removeprefix("--tag="), *word[1:])


def _charts(run: Run, line: Line) -> Iterator[Value]:
    """The chart of a command of Helm in a registry, without its scheme."""
    for value in (run.value(one) for one in line.words[1:]):
        first, *others = parts_of(value)
        if line.word(0) in ("install", "pull", "push", "upgrade") and isinstance(first, str) and first.startswith(_OCI):
            yield joined([first.removeprefix(_OCI), *others])


def _without_login(project: Resource, run: Run, uses: list[_Use]) -> list[Slip]:
    """A use of ECR before any command that may log in to it."""
    use = next((one for one in uses if one.is_of_ecr and not one.command.guarded), None)
    image = known(project.get("Environment", "Image")) or ""
    if use is None or not image.startswith(_OF_AWS) or not _SETTINGS.isdisjoint({*run.given, *run.set}):
        return []
    before = run.commands[: next(place for place, one in enumerate(run.commands) if one is use.command)]
    if any(_may_log_in(one) for one in before):
        return []
    says = f"{use.command.name} {use.verb} uses ECR, and no command before it logs in"
    allowed = "aws ecr get-login-password | docker login --username AWS --password-stdin REGISTRY before it"
    return [Slip(says, allowed, _PATH, dead=True)]


def _may_log_in(command: Command) -> bool:
    texts = [str(piece) for word in (*command.words, *command.read) for piece in word if isinstance(piece, str)]
    return bool(command.words) and (command.name not in _PLAIN or any(map(_LOGS_IN.search, texts)))


def _there_already(project: Resource, run: Run, uses: list[_Use]) -> list[Slip]:
    """A push of the same tag at each run to a repository that takes it once."""
    words = {plain(word) for one in run.commands for word in one.words}
    for use in uses if words.isdisjoint(_OTHERS) else ():
        repository = _repository(project, use.image) if use.verb == "push" and use.tag is not None else None
        if repository is not None and known(repository.get("ImageTagMutability")) == "IMMUTABLE" and _is_pushed_again(project, use):
            says = f"each build pushes the tag {use.tag}, and {repository.logical_id} takes a tag once"
            return [Slip(says, "a tag of its own for each build, or MUTABLE", _PATH, dead=True)]
    return []


def _is_pushed_again(project: Resource, use: _Use) -> bool:
    """Whether builds surely push a tag more than once."""
    written = any(isinstance(word[-1], str) and word[-1].endswith(f":{use.tag}") for word in use.command.words if word)
    may_be_other = any("environmentvariables" in str(shown(one.get())).lower() for one in starters_of(project))
    if use.command.guarded or (may_be_other and not written):
        return False
    return use.tag in _MOVING or (use.command.alone and _is_timed(project))


def _is_timed(project: Resource) -> bool:
    """Whether a schedule starts a build, itself or by what starts it."""
    starters = {*starters_of(project)}
    timed = (
        one for one in project.template.model.resources(*_CLOCKS) if (known(one.get("ScheduleExpression")) or "").startswith(_TIMES)
    )
    return any(one in starters or not starters.isdisjoint(references(one.get())) for one in timed)


def _repository(project: Resource, image: Value) -> Resource | None:
    """The repository of an image, by a part that refers to it or by its name."""
    named = (resource_of(part, _REPOSITORY) for part in parts_of(image) if isinstance(part, Reference))
    name = (spelled(image) or "").partition("/")[2].rpartition(":")[0]
    by_name = (one for one in project.template.model.resources(_REPOSITORY) if name and known(one.get("RepositoryName")) == name)
    return next((one for one in named if one is not None), None) or next(by_name, None)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {PROJECT: build}
