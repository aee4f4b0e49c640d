"""Functions in JavaScript that answer for a custom resource: CloudFormation waits until they send an answer to its address.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/crpg-ref-requests.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource, resource_of
from hyperpod_constructs.templates.values import ABSENT

_FUNCTION = "AWS::Lambda::Function"
_CUSTOM = ("Custom::", "AWS::CloudFormation::CustomResource")
_IMPORT = re.compile(r"^\s*(?:import|from|(?:const|let|var)\b[^\n]*\brequire\()[^\n]*$", re.MULTILINE)
_MAY_ANSWER = re.compile(r"response|cfn|crhelper|invoke|execution|send|publish|url|exec|eval|\*", re.IGNORECASE)
"""Words of code that answers, hands the request on, or runs what nobody knows."""


def function(resource: Resource) -> Slips:
    """Code in the template that surely sends no answer to the custom resources that wait for it."""
    text, runtime = spelled(resource.get("Code", "ZipFile")), known(resource.get("Runtime")) or ""
    whole = text and HOLE not in text and runtime.startswith("nodejs") and resource.get("Layers") is ABSENT
    if whole and not _MAY_ANSWER.search(_IMPORT.sub("", text or "")):
        waiting = [one for one in resource.template.model.resources() if _waits(one, resource)]
        if waiting:
            message = f"the code sends no answer, and {waiting[0].logical_id} waits for one until its time is over"
            yield Slip(message, "code that answers, such as by cfnresponse.send", ("Code", "ZipFile"), dead=True)


def _waits(one: Resource, function: Resource) -> bool:
    return one.type.startswith(_CUSTOM) and resource_of(one.get("ServiceToken"), _FUNCTION) is function


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {_FUNCTION: function}
