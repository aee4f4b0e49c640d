"""Builds of images: a tag that moves is pushed to a repository whose tags move.

Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value

_PROJECT, _REPOSITORY = "AWS::CodeBuild::Project", "AWS::ECR::Repository"
_PUSH = re.compile(r"\bdocker (?:image )?push[ \t]+[\"']?([^\s\"':]{1,500}):([^\s\"'$]{1,128})(?=[\"'\s]|$)")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_MOVING = ("latest", "stable", "main", "master", "dev")
"""Tags that each build pushes again."""


def project(resource: Resource) -> Slips:
    """The images that a build pushes have tags that their repository takes."""
    variables = dict(_variables(resource.get("Environment", "EnvironmentVariables")))
    for image, tag in _PUSH.findall(spelled(resource.get("Source", "BuildSpec")) or ""):
        repository = _repository(resource, image, variables) if tag in _MOVING else None
        if repository is not None and known(repository.get("ImageTagMutability")) == "IMMUTABLE":
            message = f"each build pushes the tag {tag}, and {repository.logical_id} takes a tag once"
            yield Slip(message, "a tag of its own for each build, or MUTABLE", ("Source", "BuildSpec"), dead=True)
            return


def _variables(value: Value) -> list[tuple[str, Value]]:
    """The variables of a project with their values in the template."""
    given = [mapping(one) for _, one in entries(value)]
    plain = [one for one in given if known(one.get("Type", "PLAINTEXT")) == "PLAINTEXT"]
    return [(name, one.get("Value", ABSENT)) for one in plain if (name := known(one.get("Name", ABSENT))) is not None]


def _repository(project: Resource, image: str, variables: Mapping[str, Value]) -> Resource | None:
    """The repository of an image, by a variable that refers to it or by its name."""
    values = [variables.get(braced or bare, ABSENT) for braced, bare in _VARIABLE.findall(image)]
    named = next((found for value in values if (found := resource_of(value, _REPOSITORY)) is not None), None)
    written = _VARIABLE.sub(lambda one: known(variables.get(one[1] or one[2], ABSENT)) or HOLE, image)
    repositories = project.template.model.resources(_REPOSITORY) if named is None else ()
    by_name = {name: one for one in repositories if (name := known(one.get("RepositoryName"))) is not None}
    return named or by_name.get(written.partition("/")[2])


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_PROJECT: project}
