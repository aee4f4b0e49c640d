"""Jobs of AWS Batch: their sizes on Fargate, and queues of one kind of environments.

Sources: https://docs.aws.amazon.com/batch/latest/APIReference/API_ResourceRequirement.html and
https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.batch import FARGATE_MEMORY, ON_FARGATE, ON_INSTANCES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, as_float

_DEFINITION, _QUEUE, _ENVIRONMENT = "AWS::Batch::JobDefinition", "AWS::Batch::JobQueue", "AWS::Batch::ComputeEnvironment"
_NEEDS = ("ContainerProperties", "ResourceRequirements")


def definition(resource: Resource) -> Slips:
    """The vCPUs and the memory of a job on Fargate go together."""
    if [known(one) for _, one in entries(resource.get("PlatformCapabilities"))] != ["FARGATE"]:
        return
    sizes = {known(mapping(one).get("Type", ABSENT)): (index, mapping(one)) for index, one in entries(resource.get(*_NEEDS))}
    if "VCPU" not in sizes or "MEMORY" not in sizes:
        return
    (_, cores), (index, memory) = sizes["VCPU"], sizes["MEMORY"]
    number, size = as_float(cores.get("Value", ABSENT)), as_float(memory.get("Value", ABSENT))
    if number is not None and number not in FARGATE_MEMORY:
        path = (*_NEEDS, sizes["VCPU"][0], "Value")
        yield Slip(f"a job on Fargate has {number:g} vCPUs", listed(f"{one:g}" for one in FARGATE_MEMORY), path)
    elif number is not None and size is not None and size not in FARGATE_MEMORY[number]:
        message = f"a job on Fargate with {number:g} vCPUs has {size:g} MiB"
        yield Slip(message, listed(FARGATE_MEMORY[number]), (*_NEEDS, index, "Value"), memory["Value"])


def queue(resource: Resource) -> Slips:
    """The environments of a queue are all of instances, or all of Fargate."""
    orders = list(entries(resource.get("ComputeEnvironmentOrder")))
    found = [(index, resource_of(mapping(one).get("ComputeEnvironment", ABSENT), _ENVIRONMENT)) for index, one in orders]
    kinds = [(index, known(one.get("ComputeResources", "Type"))) for index, one in found if one is not None]
    for index, kind in kinds[1:]:
        if {kinds[0][1] in ON_FARGATE, kind in ON_FARGATE} == {True, False} and {kind, kinds[0][1]} <= {*ON_FARGATE, *ON_INSTANCES}:
            path = ("ComputeEnvironmentOrder", index, "ComputeEnvironment")
            yield Slip(f"a queue has environments of {kinds[0][1]} and of {kind}", "environments of one kind", path)
            return


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_DEFINITION: definition, _QUEUE: queue}
