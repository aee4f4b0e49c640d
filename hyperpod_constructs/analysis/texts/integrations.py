"""What the task of a state calls: an operation of a service, by an optimized integration or by the SDK.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/integrate-services.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from hyperpod_constructs.analysis.texts.reading import HOLE, known, spelled
from hyperpod_constructs.facts.sdk_calls import Operation, by_sdk
from hyperpod_constructs.templates.values import Value

_CALL = re.compile(r"arn:[^:]+:states:::(aws-sdk:)?([A-Za-z0-9-]+):(\w+)((?:\.\w+(?::\d)?)?)")
_NAMES: Mapping[str, str] = {"stepfunctions": "sfn", "states": "sfn"}


class Integration(NamedTuple):
    """A call of a task.

    :param by_sdk: the SDK makes the call, and not an integration of its own.
    :param waits: how the task waits, such as `.sync`; empty for a task that takes the answer.
    :param operations: the operations of the service, by their names in small letters; `None` if it is not known.
    """

    by_sdk: bool
    service: str
    name: str
    waits: str
    operations: Mapping[str, Operation] | None

    @property
    def operation(self) -> Operation | None:
        """The operation, if the service has it."""
        return (self.operations or {}).get(self.name.lower())


def integration_of(resource: Value) -> Integration | None:
    """The call in the `Resource` of a task; `None` for another one."""
    match = _CALL.fullmatch(known(resource) or (spelled(resource) or "").replace(HOLE, "aws", 1))
    if match is None:
        return None
    sdk, service, name, waits = match.groups()
    return Integration(bool(sdk), service, name, waits, by_sdk(_NAMES.get(service.lower(), service)))


def waits_in(text: str) -> str:
    """How a task waits whose `Resource` this text is; empty for any other text."""
    match = _CALL.fullmatch(text)
    return match[4] if match is not None else ""
