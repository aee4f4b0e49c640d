"""Endpoints of SageMaker, their components and their monitors: what they name is there, and large and patient enough.

Source: https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_BlueGreenUpdatePolicy.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.reading import HOLE, known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.facts.instance_types import instance_type, is_instance_type
from hyperpod_constructs.facts.scaling_targets import MONITORS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT, Value, as_bool, as_float, as_int, at

ENDPOINT, _CONFIG = "AWS::SageMaker::Endpoint", "AWS::SageMaker::EndpointConfig"
_COMPONENT = "AWS::SageMaker::InferenceComponent"


def endpoint(resource: Resource) -> Slips:
    """A deployment has time for its own pauses."""
    path = ("DeploymentConfig", "BlueGreenUpdatePolicy")
    policy = resource.get(*path)
    most, last = (as_int(at(policy, key)) for key in ("MaximumExecutionTimeoutInSeconds", "TerminationWaitInSeconds"))
    total = (last or 0) + (as_int(at(policy, "TrafficRoutingConfiguration", "WaitIntervalInSeconds")) or 0)
    if most is not None and total >= most:
        message = f"the deployment waits {total} seconds, and ends after {most}"
        yield Slip(message, f"more than {total}", (*path, "MaximumExecutionTimeoutInSeconds"), most)


def component(resource: Resource) -> Slips:
    """A component is on a variant that its endpoint has, that has no model of its own, and whose instances it fits."""
    endpoint = resource_of(resource.get("EndpointName"), ENDPOINT)
    name = known(resource.get("VariantName")) or ""
    config = config_of(endpoint.get() if endpoint is not None else ABSENT)
    yield from unknown_variant(config, name, ("VariantName",), name)
    variant = variants_of(config).get(name, {})
    if config is not None and variant.get("ModelName", ABSENT) is not ABSENT:
        message = f"the variant {name} of {config.logical_id} has a model of its own, and takes no components"
        yield Slip(message, "a variant without ModelName", ("VariantName",), name)
    yield from _too_large(resource, known(variant.get("InstanceType", ABSENT)) or "")


def _too_large(resource: Resource, instance: str) -> Slips:
    """What a component asks for that an instance does not have."""
    facts = instance_type(instance) if is_instance_type(instance) else None
    if facts is None or facts.vcpus is None or facts.memory_gib is None:
        return
    path = ("Specification", "ComputeResourceRequirements")
    sizes: dict[str, float] = {
        "NumberOfAcceleratorDevicesRequired": 0 if facts.accelerator is None else facts.accelerator.count,
        "NumberOfCpuCoresRequired": facts.vcpus,
        "MinMemoryRequiredInMb": facts.memory_gib * 1024,
    }
    for key, most in sizes.items():
        asked = as_float(resource.get(*path, key))
        if asked is not None and asked > most:
            yield Slip(f"{key} is {asked:g}, and an {instance} has {most:g}", f"at most {most:g}", (*path, key), asked)


def monitor(resource: Resource) -> Slips:
    """An endpoint that is monitored captures what it is asked."""
    job = resource.type.rpartition("::")[2].removesuffix("JobDefinition")
    path = (f"{job}JobInput", "EndpointInput", "EndpointName")
    endpoint = resource_of(resource.get(*path), ENDPOINT)
    config = config_of(endpoint.get() if endpoint is not None else ABSENT)
    capture = ABSENT if config is None else config.get("DataCaptureConfig")
    off = as_bool(at(capture, "EnableCapture")) is False
    if config is not None and (capture is ABSENT or off):
        message = f"{config.logical_id} captures no data that could be monitored"
        yield Slip(message, "an endpoint with DataCaptureConfig", path, resource.get(*path), dead=True)


def config_of(endpoint: Value) -> Resource | None:
    """The configuration that the properties of an endpoint name."""
    return resource_of(at(endpoint, "EndpointConfigName"), _CONFIG)


def variants_of(config: Resource | None) -> Mapping[str, Mapping[str, Value]]:
    """The variants of a configuration by their names; none if one is not known."""
    variants = [mapping(one) for _, one in entries(config.get("ProductionVariants"))] if config is not None else []
    names = [known(one.get("VariantName", ABSENT)) for one in variants]
    return {name: one for name, one in zip(names, variants, strict=True) if name} if None not in names else {}


def unknown_variant(config: Resource | None, name: str, path: tuple[str, ...], value: Value) -> Slips:
    """A name that no variant of a configuration has."""
    names = list(variants_of(config))
    if config is not None and names and name and HOLE not in name and name not in names:
        yield Slip(f"{config.logical_id} has no variant {name}{meant(name, names)}", listed(names), path, value)


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {
    ENDPOINT: endpoint,
    _COMPONENT: component,
    **dict.fromkeys((f"AWS::SageMaker::{job}JobDefinition" for job in MONITORS), monitor),
}
