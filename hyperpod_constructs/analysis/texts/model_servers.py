"""Endpoints whose instances have the accelerators that the containers of their models take.

Source: https://docs.djl.ai/master/docs/serving/serving/docs/lmi/deployment_guide/configurations.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hyperpod_constructs.analysis.texts.reading import known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.instance_types import instance_type, is_instance_type
from hyperpod_constructs.facts.model_servers import FOR_GPUS, SHARES, WITHOUT_ACCELERATORS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_int, at

_CONFIG, _MODEL = "AWS::SageMaker::EndpointConfig", "AWS::SageMaker::Model"


def config(resource: Resource) -> Slips:
    """The variants of a configuration, each once."""
    for index, variant in entries(resource.get("ProductionVariants")):
        given = mapping(variant)
        name, model = known(given.get("InstanceType", ABSENT)) or "", resource_of(given.get("ModelName", ABSENT), _MODEL)
        said = None if model is None else next(_unfit(model, name), None)
        if said is not None:
            yield Slip(said, "a type with as many accelerators", ("ProductionVariants", index, "InstanceType"), name)


def _unfit(model: Resource, instance: str) -> Iterator[str]:
    """What the containers of a model take that an instance does not have, in words."""
    most = _accelerators(instance)
    for one in _containers(model) if most is not None else ():
        for variable in SHARES:
            asked = as_int(at(one, "Environment", variable))
            if asked is not None and most is not None and asked > most:
                yield f"{variable} of {model.logical_id} is {asked}, and an {instance} has {most or 'no'} accelerators"
        image = spelled(at(one, "Image"))
        if not most and image is not None and FOR_GPUS.fullmatch(image):
            yield f"the image of {model.logical_id} is for GPUs, and an {instance} has none"


def _containers(model: Resource) -> Iterator[Mapping[str, Value]]:
    yield mapping(model.get("PrimaryContainer"))
    yield from (mapping(one) for _, one in entries(model.get("Containers")))


def _accelerators(instance: str) -> int | None:
    """The accelerators of an instance; `None` if they are not known."""
    if WITHOUT_ACCELERATORS.fullmatch(instance):
        return 0
    facts = instance_type(instance) if is_instance_type(instance) else None
    return None if facts is None or facts.accelerator is None else facts.accelerator.count


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_CONFIG: config}
