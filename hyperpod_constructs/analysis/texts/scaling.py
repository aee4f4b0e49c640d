"""Targets of Application Auto Scaling, whose ids are of what is scaled; tables with units, and variants that endpoints have.

Sources: https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/endpoint-auto-scaling-zero-instances.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.references.forms import gives_arn
from hyperpod_constructs.analysis.schema.violation import listed, quoted
from hyperpod_constructs.analysis.texts.endpoints import ENDPOINT, config_of, unknown_variant, variants_of
from hyperpod_constructs.analysis.texts.metrics import asked_of, published
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries, mapping
from hyperpod_constructs.analysis.typo import typo_of
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.scaling_targets import BURSTABLE, IDS, NAMED, NAMES
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, resource_of, target_of
from hyperpod_constructs.templates.values import ABSENT, Reference, Text, Value, as_int

_NAME = re.compile(r"[A-Z]+")
_TABLE = "AWS::DynamoDB::Table"
_TARGET, _POLICY = "AWS::ApplicationAutoScaling::ScalableTarget", "AWS::ApplicationAutoScaling::ScalingPolicy"
_ID = "ResourceId"


def target(resource: Resource) -> Slips:
    """The id of a target is of the kind that its dimension says."""
    dimension = known(resource.get("ScalableDimension"))
    kind = ":".join((dimension or "").split(":")[:2])
    form, value = IDS.get(kind), resource.get(_ID)
    if form is not None and _is_other(value, form):
        yield Slip(f"{_ID} is {quoted(value)}, and {dimension} is of {form}", form, (_ID,), value)
    elif form is not None and (stranger := _stranger(value, kind)) is not None:
        message = f"{_ID} names {stranger.logical_id}, an {stranger.type}, and {dimension} is of {form}"
        yield Slip(message, f"the name of an {NAMED[kind][0]}", (_ID,), value)
    elif kind in NAMES and (near := _misspelled(resource, kind, value)) is not None:
        message = f"no {NAMED[kind][0]} is called {(known(value) or '').split('/')[1]}; the nearest is {near}"
        yield Slip(message, near, (_ID,), value)
    elif dimension and dimension.startswith("sagemaker:variant:"):
        yield from _variant(resource, dimension, value)
    elif dimension and dimension.startswith("dynamodb:"):
        table = next((one for one in references(value) if one.type == _TABLE), None)
        if table is not None and known(table.get("BillingMode")) == "PAY_PER_REQUEST":
            message = f"{table.logical_id} is paid by request, and has no units to scale"
            yield Slip(message, "a table of the mode PROVISIONED", (_ID,), value)


def _variant(resource: Resource, dimension: str, value: Value) -> Slips:
    """A variant that the endpoint has; one without servers has no instances to scale."""
    config, name = config_of(_endpoint(resource, value)), (spelled(value) or "").rpartition("/")[2]
    yield from unknown_variant(config, name, (_ID,), value)
    found = variants_of(config).get(name, {})
    if (
        config is not None
        and dimension.endswith(":DesiredInstanceCount")
        and "ServerlessConfig" in found
        and "InstanceType" not in found
    ):
        message = f"the variant {name} of {config.logical_id} has no servers, and no count of them"
        wanted = "sagemaker:variant:DesiredProvisionedConcurrency"
        yield Slip(message, wanted, ("ScalableDimension",), dimension, doubts=((_ID,),))
    elif config is not None and dimension.endswith(":DesiredInstanceCount"):
        yield from _instances(resource, config, name, found)


def _instances(resource: Resource, config: Resource, name: str, variant: Mapping[str, Value]) -> Slips:
    """Instances that can be scaled, and to none only where components or a queue wait for some."""
    kind = known(variant.get("InstanceType", ABSENT)) or ""
    if kind.startswith(BURSTABLE):
        message = f"the variant {name} of {config.logical_id} has instances of {kind}, which are not scaled"
        yield Slip(message, "a variant with other instances", (_ID,), resource.get(_ID))
    waits = config.get("AsyncInferenceConfig") is not ABSENT or variant.get("ModelName", ABSENT) is ABSENT
    if as_int(resource.get("MinCapacity")) == 0 and variant and not waits:
        message = f"the variant {name} of {config.logical_id} has a model of its own, and always an instance"
        yield Slip(message, "1 or more; 0 for a variant of components, or one that is asynchronous", ("MinCapacity",), 0)


def policy(resource: Resource) -> Slips:
    """A metric that a policy follows is published, and is that of what it scales."""
    path = ("TargetTrackingScalingPolicyConfiguration", "CustomizedMetricSpecification")
    metric = resource.get(*path)
    if not isinstance(metric, Mapping):
        return
    yield from published(asked_of(metric, *path, model=resource.template.model))
    scaled = resource_of(resource.get("ScalingTargetId"), _TARGET)
    mine = {one for one in references(scaled.get(_ID)) if one.type == ENDPOINT} if scaled is not None else set()
    for index, one in entries(metric.get("Dimensions", ABSENT)):
        named = {other for other in references(mapping(one).get("Value", ABSENT)) if other.type == ENDPOINT}
        if mine and named and not mine & named:
            names = listed(other.logical_id for other in mine)
            message = f"the metric is of {listed(other.logical_id for other in named)}, and the policy scales {names}"
            yield Slip(message, names, (*path, "Dimensions", index, "Value"), mapping(one).get("Value", ABSENT), dead=True)


def _endpoint(resource: Resource, value: Value) -> Value:
    """The properties of the endpoint that an id names, by a reference or by the text of its name."""
    named = [one for one in references(value) if one.type == ENDPOINT]
    found = (spelled(value) or "").split("/")
    if not named and len(found) == 4:
        named = [one for one in resource.template.model.resources(ENDPOINT) if known(one.get("EndpointName")) == found[1]]
    return named[0].get() if len(named) == 1 else ABSENT


def _misspelled(resource: Resource, kind: str, value: Value) -> str | None:
    """The name that was meant, where an id has nearly that of a resource."""
    parts = (known(value) or "").split("/")
    names = [known(one.get(NAMES[kind])) for one in resource.template.model.resources(*NAMED[kind])]
    return typo_of(parts[1], [one for one in names if one]) if len(parts) > 1 else None


def _stranger(value: Value, kind: str) -> Resource | None:
    """A resource of another type than those that an id names."""
    named = (target_of(one) for one in (value.parts if isinstance(value, Text) else ()) if isinstance(one, Reference))
    return next((one for one in named if kind in NAMED and one.type.startswith("AWS::") and one.type not in NAMED[kind]), None)


def _is_other(value: Value, form: str) -> bool:
    """Whether an id surely has another form: it is the name or the ARN of a resource, or begins or ends otherwise."""
    if isinstance(value, Reference):
        return target_of(value).type.startswith("AWS::") and not target_of(value).type.startswith("AWS::CloudFormation::")
    text = _with_names(value)
    if not text or text.startswith(HOLE):
        return False
    kind = _NAME.split(form)[0]
    if HOLE in text:
        return not text.startswith(kind) and not kind.startswith(text.partition(HOLE)[0])
    return re.fullmatch(_NAME.sub("[^/]+", form), text) is None


def _with_names(value: Value) -> str | None:
    """A text in which a letter stands for each name of a resource, and an ARN for what gives something else."""
    parts = value.parts if isinstance(value, Text) else ()
    if not any(isinstance(one, Reference) and (target_of(one).type in FORMS or gives_arn(one)) for one in parts):
        return spelled(value)
    return "".join(one if isinstance(one, str) else _name(one) for one in parts)


def _name(part: Value) -> str:
    form = FORMS.get(target_of(part).type) if isinstance(part, Reference) else None
    if form is None or not isinstance(part, Reference):
        return "x/x" if isinstance(part, Reference) and gives_arn(part) else HOLE
    return "x" if part.attribute in form.names else form.form if part.attribute in form.arns else "x/x"


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_TARGET: target, _POLICY: policy}
