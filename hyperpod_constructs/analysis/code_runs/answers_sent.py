"""Answers that code sends to CloudFormation: by `cfnresponse`, or as JSON to the address that the request has.

Source: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.code_runs.known_calls import OF_REQUEST
from hyperpod_constructs.analysis.code_runs.things import Named, Spelled, Thing

_OF_SEND = ("event", "context", "responseStatus", "responseData", "physicalResourceId")
_KEYS, _METHODS = ("Status", "Data", "PhysicalResourceId", "RequestId"), ("GET", "PATCH", "POST", "PUT")


class Sent(NamedTuple):
    """An answer to CloudFormation, by `cfnresponse` or by the code itself.

    :param request: the id of the request; `None` if it is not there.
    :param method: that of HTTP; empty if it is not known.
    """

    status: Thing
    data: Thing
    id: Thing
    line: int
    request: Thing = OF_REQUEST
    method: str = "PUT"


def answer_by_module(given: Sequence[Thing], named: Mapping[str, Thing], line: int) -> Sent:
    """The answer of a call of `cfnresponse.send`."""
    by_name = {**dict(zip(_OF_SEND, given, strict=False)), **named}
    status, data, id_ = (by_name.get(one) for one in _OF_SEND[2:])
    return Sent(status.name.rpartition(".")[2] if isinstance(status, Named) else status, data, id_, line)


def answer_of(name: str, things: Sequence[Thing], line: int) -> Sent | None:
    """The answer of a call of this name that gets the address; `None` if its body is not known."""
    bodies = [one.of for one in things if isinstance(one, Spelled)]
    if len(bodies) != 1 or bodies[0].is_open:
        return None
    words = [name.rpartition(".")[2].upper(), *(one.upper() for one in things if isinstance(one, str))]
    method = next((word for word in words if word in _METHODS), "")
    status, data, id_, request = (bodies[0].items.get(key) for key in _KEYS)
    return Sent(status, data, id_, line, request, method)
