"""Rules of Config judge what the recorder of their region records.

Source: https://docs.aws.amazon.com/config/latest/developerguide/select-resources.html
"""

from __future__ import annotations

from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import listed
from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge, entries
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, as_bool

_RULE, _RECORDER = "AWS::Config::ConfigRule", "AWS::Config::ConfigurationRecorder"
_TYPES = ("Scope", "ComplianceResourceTypes")


def rule(resource: Resource) -> Slips:
    """A rule of which no type of resources is recorded by the one recorder of its template."""
    recorders = [one for one in resource.template.resources if one.type == _RECORDER]
    asked = [known(one) for _, one in entries(resource.get(*_TYPES))]
    recorded = _recorded(recorders[0]) if len(recorders) == 1 else None
    if recorded is not None and asked and None not in asked and not {*asked} & recorded:
        message = f"{recorders[0].logical_id} does not record {listed(asked)}, and the rule judges nothing else"
        yield Slip(message, listed(sorted(recorded)), _TYPES, dead=True)


def _recorded(recorder: Resource) -> set[str] | None:
    """The types that a recorder records; `None` if it records all, or if they are not known."""
    group = ("RecordingGroup",)
    types = [known(one) for _, one in entries(recorder.get(*group, "ResourceTypes"))]
    is_list = (
        recorder.get(*group, "ExclusionByResourceTypes") is ABSENT and as_bool(recorder.get(*group, "AllSupported")) is not True
    )
    return {str(one) for one in types} if types and None not in types and is_list else None


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_RULE: rule}
