"""Calls of AWS's SDK by schedules of EventBridge: operations that change something, with the parameters that they need.

Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hyperpod_constructs.analysis.schema.violation import listed, meant
from hyperpod_constructs.analysis.texts.arns import service_of
from hyperpod_constructs.analysis.texts.parameter_kinds import misfits
from hyperpod_constructs.analysis.texts.reading import HOLE, from_json, spelled
from hyperpod_constructs.analysis.texts.slip import Judge, Slip, Slips, WholeJudge
from hyperpod_constructs.facts.sdk_calls import Operation, by_sdk
from hyperpod_constructs.facts.state_language import only_reads
from hyperpod_constructs.facts.texts import Language
from hyperpod_constructs.templates.model import Resource
from hyperpod_constructs.templates.values import ABSENT, Text, Value

_CALL = re.compile(r"arn:[^:]+:scheduler:::aws-sdk:([a-z0-9-]+):(\w+)")


def target(resource: Resource) -> Slips:
    """The call of a schedule: an operation that changes something, with the parameters that it needs."""
    arn = (spelled(resource.get("Target", "Arn")) or "").replace(HOLE, "aws", 1)
    found = _CALL.fullmatch(arn)
    operations = None if found is None else by_sdk(found[1])
    if found is None:
        if service_of(resource.get("Target", "Arn")) in _OF_JSON:
            yield from _input(resource.get("Target", "Input"), None)
        return
    path, name = ("Target", "Arn"), found[2]
    if only_reads(name):
        yield Slip(
            f"{name} only reads, which a schedule cannot do", "an operation that changes something, or a function", path, arn
        )
    elif operations is not None and name.lower() not in operations:
        names = [one.name[0].lower() + one.name[1:] for one in operations.values()]
        yield Slip(f"{found[1]} has no operation {name}{meant(name, names)}", "an operation of the service", path, arn)
    elif operations is not None:
        yield from _input(resource.get("Target", "Input"), operations[name.lower()])


def _input(value: Value, operation: Operation | None) -> Slips:
    """The input of a schedule: JSON, with the parameters of the operation."""
    path = ("Target", "Input")
    data = {} if value is ABSENT else from_json(value) if isinstance(value, str | Text) else None
    if isinstance(data, Slip):
        yield data.below(*path)
    elif isinstance(data, Mapping) and operation is not None and not any(HOLE in name for name in data):
        given = {name.lower() for name in data}
        lacking = [name for name in operation.required if name.lower() not in given]
        if lacking:
            message = f"{operation.name} is called without {lacking[0]}{meant(lacking[0], data)}"
            yield Slip(message, listed(operation.required), path if data else ("Target",), dead=True)
            return
        for name, says, allowed in misfits(data, operation):
            yield Slip(f"{operation.name} is called with {name}, which {says}", allowed, path, dead=True)
            return


_OF_JSON = ("events", "lambda", "states")
"""Services of targets that take JSON."""
JUDGES: Mapping[Language, Judge] = {}
WHOLES: Mapping[str, WholeJudge] = {"AWS::Scheduler::Schedule": target}
