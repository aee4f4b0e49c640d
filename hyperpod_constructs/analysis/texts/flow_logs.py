"""The formats of flow logs.

Source: https://docs.aws.amazon.com/vpc/latest/userguide/flow-log-records.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.texts.reading import known
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.analysis.texts.typo import typo_of
from hyperpod_constructs.facts.flow_logs import FIELDS, OTHERS
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource

_FORMAT = "LogFormat"
_FIELD = re.compile(r"\$\{([^{}]{0,255})\}")


def flow_log(resource: Resource) -> Slips:
    """The format of a flow log: fields as `${field}`, each with a name that flow logs have."""
    text = known(resource.get(_FORMAT))
    if not text:
        return
    fields = _FIELD.findall(text)
    if not fields:
        yield Slip("the format of the flow log has no field", "fields such as ${srcaddr} ${dstaddr} ${action}", (_FORMAT,), text)
    for field in fields:
        near = OTHERS.get(field.lower()) or typo_of(field, FIELDS)
        if near:
            yield Slip(f"no flow log has the field {field}; the nearest is {near}", f"${{{near}}}", (_FORMAT,), text)
            return


JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::EC2::FlowLog": flow_log}
