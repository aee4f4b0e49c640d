"""Builds: their specification, and the phases of components.

Sources: https://docs.aws.amazon.com/codebuild/latest/userguide/build-spec-ref.html and
https://docs.aws.amazon.com/imagebuilder/latest/userguide/toe-use-documents.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import listed, meant, nearest
from hyperpod_constructs.analysis.texts.reading import HOLE, from_yaml, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.builds import BUILD_KEYS, BUILD_PHASES, BUILD_VERSIONS, IMAGE_ACTIONS, IMAGE_PHASES, PHASE_KEYS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value

_PROJECT = "AWS::CodeBuild::Project"
_COMPONENT, _PIPELINE = "AWS::ImageBuilder::Component", "AWS::ImageBuilder::ImagePipeline"
_ARM, _NEITHER = re.compile(r"(a1|[a-z]+\d+g[a-z]*)\."), ("mac", "p6e")
"""Instance types with processors of ARM, and the beginnings of types of which this does not tell it."""
_LIKE = 0.5
"""How alike an action is at least that was meant."""


def project(resource: Resource) -> Slips:
    """The specification of a build."""
    yield from (slip.below("Source", "BuildSpec") for slip in _specification(resource.get("Source", "BuildSpec")))


def _specification(value: Value) -> Slips:
    """A specification that stands in the template; a file is named by its path."""
    text = spelled(value)
    found = from_yaml(value) if text is not None and "\n" in text else None
    if isinstance(found, Slip):
        yield found
    elif isinstance(found, Mapping):
        yield from list(_form(found))[:1]


def _form(found: Mapping[str, Value]) -> Slips:
    version, phases = found.get("version", ABSENT), found.get("phases", ABSENT)
    if version is ABSENT or (not _is_open(version) and str(version) not in BUILD_VERSIONS):
        message = "the specification has no version" if version is ABSENT else f"the specification has the version {version}"
        yield Slip(message, listed(BUILD_VERSIONS), dead=True)
    for key in found:
        if key not in BUILD_KEYS and (near := nearest(key, BUILD_KEYS)) is not None:
            yield Slip(f"a build has no {key}; the nearest is {near}", listed(BUILD_KEYS), dead=True)
    for name, phase in phases.items() if isinstance(phases, Mapping) else ():
        if name not in BUILD_PHASES and not _is_open(name):
            yield Slip(f"a build has no phase {name}{meant(name, BUILD_PHASES)}", listed(BUILD_PHASES), dead=True)
        elif isinstance(phase, Mapping) and not {"commands", "runtime-versions", "steps", "finally"} & {*phase}:
            near = next((key for key in phase if nearest(key, PHASE_KEYS) is not None), None)
            yield Slip(f"the phase {name} has no commands{f', but {near}' if near else ''}", "commands", dead=True)


def _is_open(value: Value) -> bool:
    return HOLE in str(value)


def component(resource: Resource) -> Slips:
    """The phases of a component are those that Image Builder runs."""
    found = from_yaml(resource.get("Data"))
    if isinstance(found, Slip):
        yield found.below("Data")
    elif isinstance(found, Mapping):
        names = [known(mapping(one).get("name", ABSENT)) for _, one in entries(found.get("phases", ABSENT))]
        wrong = next((one for one in names if one and one not in IMAGE_PHASES and "container" not in one.lower()), None)
        if wrong is not None:
            yield Slip(
                f"Image Builder runs no phase {wrong}{meant(wrong, IMAGE_PHASES)}", listed(IMAGE_PHASES), ("Data",), dead=True
            )
        elif not names:
            yield Slip("the component has no phases", listed(IMAGE_PHASES), ("Data",))
        else:
            yield from _actions(found)


def _actions(component: Mapping[str, Value]) -> Slips:
    """The first step with an action that there is not, where another one was surely meant."""
    phases = [mapping(one) for _, one in entries(component.get("phases", ABSENT))]
    steps = [mapping(one) for phase in phases for _, one in entries(phase.get("steps", ABSENT))]
    for name in (known(one.get("action", ABSENT)) for one in steps):
        near = nearest(name, IMAGE_ACTIONS, _LIKE) if name and name not in IMAGE_ACTIONS and not _is_open(name) else None
        if near is not None:
            yield Slip(f"a step has no action {name}; the nearest is {near}", listed(IMAGE_ACTIONS), ("Data",), dead=True)
            return


def image_pipeline(resource: Resource) -> Slips:
    """The instances that build an image have the processors of the image on which it stands."""
    recipe, place = resource_of(resource.get("ImageRecipeArn")), resource_of(resource.get("InfrastructureConfigurationArn"))
    parent = "" if recipe is None else spelled(recipe.get("ParentImage")) or ""
    of_arm = "arm64" in parent if "arm64" in parent or "x86" in parent else None
    types = [] if place is None else [known(one) for _, one in entries(place.get("InstanceTypes"))]
    if of_arm is None or None in types:
        return
    wrong = [one for one in types if one and not one.startswith(_NEITHER) and (_ARM.match(one) is not None) is not of_arm]
    if recipe is not None and place is not None and wrong and len(wrong) == len(types):
        message = f"{place.logical_id} builds on {listed(wrong)}, and the image of {recipe.logical_id} is for other processors"
        yield Slip(message, "types with the processors of the parent image", ("InfrastructureConfigurationArn",), dead=True)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_PROJECT: project, _COMPONENT: component, _PIPELINE: image_pipeline}
