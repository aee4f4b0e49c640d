"""Pipelines of CodePipeline: sources first, names once, and artifacts that an action before gives.

Sources: https://docs.aws.amazon.com/codepipeline/latest/userguide/reference-pipeline-structure.html and
https://docs.aws.amazon.com/codepipeline/latest/APIReference/API_OutputArtifact.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.arns import arn_of
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.release_pipelines import ARTIFACTS, CAPABILITIES, CONFIGURATION, FORMS, MODES, PATHS, SOURCE, VERSION
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value, as_int

_PIPELINE = "AWS::CodePipeline::Pipeline"


class _Action(NamedTuple):
    """An action with its place.

    :param at: the order in which it runs, by stage and number.
    """

    path: tuple[str | int, ...]
    at: tuple[int, int]
    value: Mapping[str, Value]

    @property
    def kind(self) -> tuple[str | None, str | None]:
        """Category and provider."""
        found = mapping(self.value.get("ActionTypeId", ABSENT))
        return known(found.get("Category", ABSENT)), known(found.get("Provider", ABSENT))

    def artifacts(self, key: str) -> list[tuple[tuple[str | int, ...], str | None]]:
        """The names of artifacts that it takes or gives, with their places."""
        items = entries(self.value.get(key, ABSENT))
        return [((*self.path, key, index, "Name"), known(mapping(one).get("Name", ABSENT))) for index, one in items]


def pipeline(resource: Resource) -> Slips:
    """The first mistake in the stages of a pipeline."""
    stages = [mapping(one) for _, one in entries(resource.get("Stages"))]
    actions = [
        _Action(("Stages", number, "Actions", index), (number, as_int(mapping(one).get("RunOrder", 1)) or 1), mapping(one))
        for number, stage in enumerate(stages)
        for index, one in entries(stage.get("Actions", ABSENT))
    ]
    found = [*_names(stages), *_sources(actions), *_artifacts(actions), *(slip for one in actions for slip in _settings(one))]
    yield from (found or list(_triggers(resource, actions)))[:1]


def _triggers(resource: Resource, actions: list[_Action]) -> Iterator[Slip]:
    """What starts a pipeline is a source of it."""
    names = [known(one.value.get("Name", ABSENT)) for one in actions if one.kind[0] == SOURCE]
    for index, one in entries(resource.get("Triggers")):
        name = known(mapping(mapping(one).get("GitConfiguration", ABSENT)).get("SourceActionName", ABSENT))
        if name is not None and None not in names and name not in names:
            path = ("Triggers", index, "GitConfiguration", "SourceActionName")
            yield Slip(f"no source is named {name!r}{meant(name, filter(None, names))}", listed(names), path, name)


def _names(stages: list[Mapping[str, Value]]) -> Iterator[Slip]:
    if len(stages) == 1:
        yield Slip("the pipeline has one stage", "two stages or more", ("Stages",))
    names = [known(one.get("Name", ABSENT)) for one in stages]
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            yield Slip(f"two stages are named {name!r}", "a name for each stage", ("Stages", index, "Name"), name)


def _sources(actions: list[_Action]) -> Iterator[Slip]:
    """Sources are the first stage, and nothing else is."""
    for one in actions:
        category, first = one.kind[0], one.at[0] == 0
        if category is not None and first != (category == SOURCE):
            says = f"the first stage has an action of the category {category}" if first else "a later stage has a source"
            yield Slip(says, "sources in the first stage, and only there", (*one.path, "ActionTypeId", "Category"), category)


def _artifacts(actions: list[_Action]) -> Iterator[Slip]:
    """What an action takes, one before gives; and what is given has one name."""
    given: dict[str, tuple[int, int]] = {}
    every = [name for one in actions for _, name in one.artifacts("OutputArtifacts")]
    for one in actions:
        for path, name in one.artifacts("OutputArtifacts"):
            if name is not None and name in given:
                yield Slip(f"two actions give an artifact {name!r}", "a name for each artifact", path, name)
            given[name or ""] = one.at
    for one in actions:
        for path, name in one.artifacts("InputArtifacts"):
            if name is not None and None not in every and (name not in given or given[name] >= one.at):
                before = [other for other in given if given[other] < one.at]
                message = f"no action before gives an artifact {name!r}{meant(name, before)}"
                yield Slip(message, listed(before) if before else "an artifact of an action before", path, name)


def _settings(action: _Action) -> Iterator[Slip]:
    """The number of artifacts, and what the configuration names."""
    category, provider = action.kind
    if category is None or provider is None:
        return
    numbers = ARTIFACTS.get((category, provider))
    for key, least, most in (
        (("InputArtifacts", numbers.least_in, numbers.most_in), ("OutputArtifacts", numbers.least_out, numbers.most_out))
        if numbers is not None
        else ()
    ):
        count = len(action.artifacts(key))
        if not least <= count <= most and isinstance(action.value.get(key, ()), tuple):
            allowed = f"{least} to {most}" if least != most else str(least)
            yield Slip(f"an action of {provider} has {count} {key}", allowed, (*action.path, key))
    given = action.value.get("Configuration", {})
    for name in CONFIGURATION.get((category, provider), ()):
        if isinstance(given, Mapping) and name not in given:
            message = f"an action of {provider} has no {name}{meant(name, given)}"
            yield Slip(message, listed(CONFIGURATION[category, provider]), (*action.path, "Configuration"))
    yield from (slip.below(*action.path) for slip in (*_kind(action), *_forms(action), *_stack(action), *_told(action)))


def _kind(action: _Action) -> Iterator[Slip]:
    """The version of an action of AWS, and the source of a build of several artifacts."""
    kind = mapping(action.value.get("ActionTypeId", ABSENT))
    version = known(kind.get("Version", ABSENT))
    if known(kind.get("Owner", ABSENT)) == "AWS" and version not in (None, VERSION):
        yield Slip(f"AWS has no version {version} of this action", VERSION, ("ActionTypeId", "Version"), version)
    given = mapping(action.value.get("Configuration", ABSENT))
    taken = [name for _, name in action.artifacts("InputArtifacts")]
    first = known(given.get("PrimarySource", ABSENT))
    if action.kind[1] == "CodeBuild" and len(taken) > 1 and "PrimarySource" not in given:
        yield Slip("a build of several artifacts has no PrimarySource", listed(filter(None, taken)), ("Configuration",))
    elif first is not None and None not in taken and first not in taken:
        yield Slip(f"the build takes no artifact {first!r}", listed(taken), ("Configuration", "PrimarySource"), first)


def _forms(action: _Action) -> Iterator[Slip]:
    """Settings of a source in their forms."""
    given = mapping(action.value.get("Configuration", ABSENT))
    for name, (form, words) in FORMS.items() if action.kind[0] == SOURCE else ():
        text = known(given.get(name, ABSENT))
        if text and re.fullmatch(form, text) is None:
            yield Slip(f"{name} is {text!r}", words, ("Configuration", name), text)


def _stack(action: _Action) -> Iterator[Slip]:
    """What an action of CloudFormation does, with what it needs, and the artifacts whose files it names."""
    given = mapping(action.value.get("Configuration", ABSENT))
    mode = known(given.get("ActionMode", ABSENT))
    if action.kind[1] != "CloudFormation":
        return
    if mode is not None and mode not in MODES:
        yield Slip(f"CloudFormation has no mode {mode}{meant(mode, MODES)}", listed(MODES), ("Configuration", "ActionMode"), mode)
    for name in MODES.get(mode or "", ()):
        if name not in given:
            yield Slip(f"the mode {mode} has no {name}{meant(name, given)}", listed(MODES[mode or ""]), ("Configuration",))
    words = known(given.get("Capabilities", "")) or ""
    wrong = next((one for one in re.split(r"[,\s]+", words) if one and one not in CAPABILITIES), None)
    if wrong is not None:
        message = f"there is no capability {wrong}{meant(wrong, CAPABILITIES)}"
        yield Slip(message, listed(CAPABILITIES), ("Configuration", "Capabilities"), words)
    taken = [name for _, name in action.artifacts("InputArtifacts")]
    for name in PATHS:
        artifact, found, _ = (known(given.get(name, ABSENT)) or "").partition("::")
        if artifact and None not in taken and (not found or artifact not in taken):
            message = f"{name} names no file of an artifact that the action takes"
            yield Slip(message, listed(f"{one}::FILE" for one in taken), ("Configuration", name))


def _told(action: _Action) -> Iterator[Slip]:
    """Who is told of an approval: a topic."""
    topic = mapping(action.value.get("Configuration", ABSENT)).get("NotificationArn", ABSENT)
    if action.kind[0] == "Approval" and topic is not ABSENT:
        yield from (slip.below("Configuration", "NotificationArn") for slip in arn_of(topic, ("sns",)))


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_PIPELINE: pipeline}
