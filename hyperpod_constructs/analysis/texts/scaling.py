"""Targets of Application Auto Scaling: their ids are of what is scaled, and a table that is scaled has units.

Source: https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.arn_forms import FORMS
from hyperpod_constructs.facts.scaling_targets import IDS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.dependencies import references
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import Reference, Text, Value

_NAME = re.compile(r"[A-Z]+")
_TABLE = "AWS::DynamoDB::Table"
_ID = "ResourceId"


def target(resource: Resource) -> Slips:
    """The id of a target is of the kind that its dimension says."""
    dimension = known(resource.get("ScalableDimension"))
    form = IDS.get(":".join(dimension.split(":")[:2])) if dimension else None
    value = resource.get(_ID)
    if form is not None and _is_other(value, form):
        yield Slip(f"{_ID} is {quoted(value)}, and {dimension} is of {form}", form, (_ID,), value)
    elif dimension and dimension.startswith("dynamodb:"):
        table = next((one for one in references(value) if one.type == _TABLE), None)
        if table is not None and known(table.get("BillingMode")) == "PAY_PER_REQUEST":
            message = f"{table.logical_id} is paid by request, and has no units to scale"
            yield Slip(message, "a table of the mode PROVISIONED", (_ID,), value)


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
    if not any(isinstance(one, Reference) and target_of(one).type in FORMS for one in parts):
        return spelled(value)
    return "".join(one if isinstance(one, str) else _name(one) for one in parts)


def _name(part: Value) -> str:
    form = FORMS.get(target_of(part).type) if isinstance(part, Reference) else None
    if form is None or not isinstance(part, Reference):
        return HOLE
    return "x" if part.attribute in form.names else form.form if part.attribute in form.arns else "x/x"


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::ApplicationAutoScaling::ScalableTarget": target}
