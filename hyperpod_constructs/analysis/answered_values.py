"""Values with what the functions of custom resources answer for them, where their code says it.

>>> shown(answered(group.get("LifeCycleConfig", "SourceS3Uri")))
's3://${ScriptsBucket}/lifecycle'
"""

from __future__ import annotations

from hyperpod_constructs.analysis.custom_resources import made_by, makers
from hyperpod_constructs.analysis.function_code import answers_of
from hyperpod_constructs.templates.model import target_of
from hyperpod_constructs.templates.values import Part, Reference, Text, Value, joined, parts_of


def answered(value: Value) -> Value:
    """A text, with what the functions of custom resources surely answer in the place of their attributes."""
    return joined(part for one in parts_of(value) for part in _answer(one)) if isinstance(value, Text | Reference) else value


def _answer(part: Part) -> tuple[Part, ...]:
    resource = target_of(part) if isinstance(part, Reference) else None
    maker = None if resource is None else makers(resource.template.model).get(resource)
    known = answers_of(maker) if maker is not None and made_by(maker) == (resource,) else {}
    return parts_of(known.get(part.attribute or "", part)) if isinstance(part, Reference) else (part,)
