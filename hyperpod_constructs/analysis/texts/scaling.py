"""Targets of Application Auto Scaling: their ids begin with the kind of what is scaled.

Source: https://docs.aws.amazon.com/autoscaling/application/APIReference/API_RegisterScalableTarget.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import quoted
from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.scaling_targets import IDS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, target_of
from hyperpod_constructs.templates.values import Reference, Value

_NAME = re.compile(r"[A-Z]+")
_ID = "ResourceId"


def target(resource: Resource) -> Slips:
    """The id of a target is of the kind that its dimension says."""
    dimension = known(resource.get("ScalableDimension"))
    form = IDS.get(":".join(dimension.split(":")[:2])) if dimension else None
    value = resource.get(_ID)
    if form is not None and _is_other(value, form):
        yield Slip(f"{_ID} is {quoted(value)}, and {dimension} is of {form}", form, (_ID,), value)


def _is_other(value: Value, form: str) -> bool:
    """Whether an id surely has another form: it is the name or the ARN of a resource, or begins or ends otherwise."""
    if isinstance(value, Reference):
        return target_of(value).type.startswith("AWS::") and not target_of(value).type.startswith("AWS::CloudFormation::")
    text = spelled(value)
    if not text or text.startswith(HOLE):
        return False
    kind = _NAME.split(form)[0]
    if HOLE in text:
        return not text.startswith(kind) and not kind.startswith(text.partition(HOLE)[0])
    return re.fullmatch(_NAME.sub("[^/]+", form), text) is None


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::ApplicationAutoScaling::ScalableTarget": target}
