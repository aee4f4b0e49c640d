"""Calls of services in code: the operation of a client or a resource of boto3, and the parameters as far as they are known.

Source: https://docs.aws.amazon.com/boto3/latest/guide/clients.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hyperpod_constructs.analysis.code_runs.things import Client, Thing, value_of
from hyperpod_constructs.facts.sdk_calls import Operation, by_client
from hyperpod_constructs.facts.sdk_existing import REPLACING, refusal
from hyperpod_constructs.templates.values import UNKNOWN, Value, is_known

OTHERS = "**"
"""Stands for parameters whose names are not known."""
_MANAGED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "copy": ("copyobject", ("CopySource", "Bucket", "Key")),
    "download_file": ("getobject", ("Bucket", "Key", "Filename")),
    "download_fileobj": ("getobject", ("Bucket", "Key", "Fileobj")),
    "upload_file": ("putobject", ("Filename", "Bucket", "Key")),
    "upload_fileobj": ("putobject", ("Fileobj", "Bucket", "Key")),
}
"""Methods of clients that make several calls: the operation that they need, and their parameters in order.

Source: https://docs.aws.amazon.com/boto3/latest/reference/services/s3.html (as of 2026-12-01)
"""
_RESOURCES: Mapping[tuple[str, str], str] = {("dynamodb", "Table"): "TableName", ("sns", "Topic"): "TopicArn"}
"""Resources of boto3 by their service, each with the parameter that names it."""


class CodeCall(NamedTuple):
    """A call in the code of a function.

    :param parameters: those that are known, by their names in small letters.
    """

    operation: Operation
    parameters: Mapping[str, Value]

    @property
    def spelled(self) -> str:
        """The call as a text: two calls of one text do the same."""
        return f"{self.operation.action} {self.parameters!r}"

    @property
    def refusal(self) -> str | None:
        """The exception with which it fails once it was made before; `None` for a call that does not, or that is not known."""
        replaces = self.parameters.get(REPLACING.get(self.operation.action, "").lower(), False)
        known = all(is_known(self.parameters.get(one.lower(), UNKNOWN)) for one in self.operation.required)
        return refusal(self.operation) if known and replaces is False and OTHERS not in self.parameters else None


def resource_of_client(client: Client, method: str, given: Sequence[Thing]) -> Client | None:
    """The resource that a method of a service gives; `None` for another method."""
    parameter = _RESOURCES.get((client.service, method))
    return Client(client.service, {parameter.lower(): value_of(given[0])}) if parameter is not None and given else None


def call_of(client: Client, method: str, given: Sequence[Thing], named: Mapping[str, Thing]) -> CodeCall | None:
    """The call that a method makes; `None` for what is no operation of the service."""
    managed, order = _MANAGED.get(method, (method.replace("_", ""), ()))
    operation = (by_client(client.service) or {}).get(managed)
    if operation is None:
        return None
    others = {OTHERS: UNKNOWN} if len(given) > len(order) else {}
    placed = dict(zip(order, given, strict=False))
    parameters = {name.lower(): value_of(one) for name, one in (*placed.items(), *named.items())}
    return CodeCall(operation, {**client.parameters, **parameters, **others})
