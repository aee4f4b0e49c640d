"""Definitions of SageMaker pipelines: steps that depend on steps, and read parameters and steps that are there; rules and schedules
that start them with parameters that they have.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/define-pipeline.html and
https://aws-sagemaker-mlops.github.io/sagemaker-model-building-pipeline-definition-JSON-schema/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Value, at

_PIPELINE, _BODY = "AWS::SageMaker::Pipeline", ("PipelineDefinition", "PipelineDefinitionBody")
_GIVEN = ("SageMakerPipelineParameters", "PipelineParameterList")
_BRANCHES = ("IfSteps", "ElseSteps")
_VERSION = "2020-12-01"
_DEEPEST = 20


def pipeline(resource: Resource) -> Slips:
    """The first name in a definition that is not there, or is there twice."""
    definition = from_json(resource.get(*_BODY))
    if not isinstance(definition, Mapping) or not isinstance(definition.get("Steps"), tuple):
        return
    version = known(definition.get("Version", ABSENT))
    if version not in (None, _VERSION):
        yield Slip(f"the version of the definition is {version!r}", _VERSION, _BODY)
        return
    steps = list(_steps(definition["Steps"], 0))
    names = [known(one.get("Name", ABSENT)) for one in steps]
    parameters = _parameters(resource)
    for slip in (*_twice(names), *_order(steps, names), *_reads(definition["Steps"], names, parameters)):
        yield slip.below(*_BODY)
        return


def starter(resource: Resource) -> Slips:
    """The targets of a rule, or that of a schedule, give a pipeline parameters that it has."""
    targets = [(("Targets", index), one) for index, one in entries(resource.get("Targets"))]
    for path, target in (*targets, (("Target",), resource.get("Target"))):
        started = next((one for one in references(at(target, "Arn")) if one.type == _PIPELINE), None)
        names = _parameters(started) if started is not None else [None]
        for index, one in entries(at(target, *_GIVEN)) if started is not None and None not in names else ():
            name = known(mapping(one).get("Name", ABSENT))
            if started is not None and name and name not in names:
                said = [text for text in names if text is not None]
                message = f"{started.logical_id} has no parameter {name!r}{meant(name, said)}"
                yield Slip(message, listed(said) or "no parameters", (*path, *_GIVEN, index, "Name"), name, dead=True)


def _parameters(pipeline: Resource) -> list[str | None]:
    """The names of a pipeline's parameters; `None` among them is not known."""
    definition = from_json(pipeline.get(*_BODY))
    if not isinstance(definition, Mapping):
        return [None]
    return [known(mapping(one).get("Name", ABSENT)) for _, one in entries(definition.get("Parameters", ABSENT))]


def _steps(value: Value, depth: int) -> Iterator[Mapping[str, Value]]:
    """The steps, and those in the branches of conditions."""
    for _, one in entries(value) if depth < _DEEPEST else ():
        yield mapping(one)
        for key in _BRANCHES:
            yield from _steps(mapping(mapping(one).get("Arguments", ABSENT)).get(key, ABSENT), depth + 1)


def _twice(names: list[str | None]) -> Iterator[Slip]:
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            yield Slip(f"two steps are named {name!r}", "a name for each step")


def _order(steps: list[Mapping[str, Value]], names: list[str | None]) -> Iterator[Slip]:
    for one in steps:
        for _, other in entries(one.get("DependsOn", ABSENT)):
            name = (known(other) or "").partition(".")[0]
            if name and None not in names and name not in names:
                said = [text for text in names if text is not None]
                yield Slip(f"a step depends on {name!r}, which is no step{meant(name, said)}", listed(said))


def _reads(value: Value, steps: list[str | None], parameters: list[str | None]) -> Iterator[Slip]:
    """What `Get` reads of parameters and steps."""
    for path in _gets(value, 0):
        kind, _, rest = path.partition(".")
        name = rest.partition(".")[0].partition("[")[0]
        known_ones = {"Parameters": parameters, "Steps": steps}.get(kind)
        if known_ones is None or HOLE in path or None in known_ones or name in known_ones:
            continue
        said = [text for text in known_ones if text is not None]
        yield Slip(f"the definition reads {path}, which is not there{meant(name, said)}", listed(said) or f"one of {kind}")


def _gets(value: Value, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping) and depth < 2 * _DEEPEST:
        if isinstance(value.get("Get"), str) and len(value) == 1:
            yield str(value["Get"])
        for one in value.values():
            yield from _gets(one, depth + 1)
    elif isinstance(value, tuple) and depth < 2 * _DEEPEST:
        for one in value:
            yield from _gets(one, depth + 1)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::Events::Rule": starter, _PIPELINE: pipeline, "AWS::Scheduler::Schedule": starter}
