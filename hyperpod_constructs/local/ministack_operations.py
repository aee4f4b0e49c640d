"""One reading of a request for IAM and for ministack's handlers. Like `ministack.py`, it names private parts of ministack."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import cast

import ministack.app  # type: ignore[import-untyped]
from botocore.model import ServiceModel
from ministack.core import iam_actions, router  # type: ignore[import-untyped]

from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.judging import Response, answered
from hyperpod_constructs.local.operations import Operations, Parameters, Wire

Headers = dict[str, str]

INFLATED = 70_167_211
"""Bytes of a compressed body, unpacked."""

NAMES: Mapping[str, Wire] = {
    "airflow": Wire("mwaa"),
    "documentdb": Wire("docdb"),
    "elasticfilesystem": Wire("efs"),
    "elasticloadbalancing": Wire("elbv2"),
    "elasticmapreduce": Wire("emr"),
    "monitoring": Wire("cloudwatch"),
    "s3": Wire("s3", ("/v20180820/", "s3control")),
    "servicequotas": Wire("service-quotas"),
    "ses": Wire("ses", ("/v2/", "sesv2")),
    "states": Wire("stepfunctions"),
    "tagging": Wire("resourcegroupstaggingapi"),
}
"""botocore's names of the services that ministack names otherwise."""

_PERMISSIONS = {
    "iotjobsdata:StartCommandExecution": "iot:StartCommandExecution",
    "lambda:Invoke": "lambda:InvokeFunction",
    "lambda:InvokeAsync": "lambda:InvokeFunction",
    "lambda:InvokeWithResponseStream": "lambda:InvokeFunction",
    "lambda:GetLayerVersionByArn": "lambda:GetLayerVersion",
}
"""Actions of IAM that are not named as their operation. Source: the Service Authorization Reference."""

_OF_THEIR_OWN = frozenset({"s3", "apigateway"})
"""Services whose actions ministack finds from method, path and query, because they are not named as the operations."""


def read_requests_once(models: Callable[[str], ServiceModel], own: frozenset[str]) -> None:
    """Refuse requests with more than one reading, and ask IAM about the one. Call it once our own services are served.

    An operation that nobody knows needs a permission for the whole service: ministack allows it to everybody.

    :param own: our services, which say themselves what they answer.
    """
    operations = Operations(models, NAMES)
    dispatch, parameters_of, action_of = (
        ministack.app._dispatch_service_request,
        ministack.app._routing_params,
        iam_actions.extract_iam_action,
    )

    async def dispatch_one(
        method: str, path: str, headers: Headers, body: bytes, query: Mapping[str, list[str]], request_id: str
    ) -> Response:
        service = router.detect_service(method, path, headers, parameters(method, path, headers, body, query))
        try:
            if service != "s3":
                body = _inflated(body, headers)
            operations.refuse_ambiguous(service, method, path, headers, body, query)
        except AwsError as error:
            return answered(operations.protocol(service, path), error)
        response: Response = await dispatch(method, path, headers, body, query, request_id)
        return response

    def parameters(method: str, path: str, headers: Headers, body: bytes, query: Mapping[str, list[str]]) -> Parameters:
        if operations.takes_forms(router.detect_service(method, path, headers, query), path):
            return cast(Parameters, parameters_of(method, path, headers, body, query))
        return query

    def action(service: str, method: str, path: str, headers: Headers, body: bytes, query: Parameters) -> str:
        space = iam_actions.SERVICE_TO_IAM_NAMESPACE.get(service) or service
        if service in own:
            found = action_of(service, method, path, headers, body, query)
            return cast(str, found) if found is not None else f"{space}:UnknownOperation"
        if service in _OF_THEIR_OWN or not operations.knows(service, path):
            plain = {name: values for name, values in query.items() if name != "Action"}
            return cast("str | None", action_of(service, method, path, {}, b"", plain)) or f"{space}:UnknownOperation"
        name = operations.named(service, method, path, headers, query) or "UnknownOperation"
        return _PERMISSIONS.get(f"{space}:{name}", f"{space}:{name}")

    ministack.app._dispatch_service_request = dispatch_one
    ministack.app._routing_params = parameters
    iam_actions.extract_iam_action = action


def _inflated(body: bytes, headers: Headers) -> bytes:
    """The body without its compression, which leaves the headers too.

    :raises AwsError: for one that unpacks to too much, and for one that cannot be unpacked.
    """
    encodings = [one.strip() for one in headers.get("content-encoding", "").split(",") if one.strip()]
    packed = [one for one in encodings if "gzip" in one.lower()]  # as the handlers look for it: `x-gzip` and `gzip;q=1` too
    if not packed:
        return body
    unpacking = zlib.decompressobj(wbits=31)
    try:
        found = unpacking.decompress(body, INFLATED)
    except zlib.error as error:
        raise AwsError("SerializationException", f"the body is not gzip: {error}") from error
    if not unpacking.eof or unpacking.unused_data:
        raise AwsError("RequestEntityTooLarge", f"the body must be one gzip member of at most {INFLATED} bytes", 413)
    headers["content-encoding"] = ", ".join(one for one in encodings if one not in packed)
    return found
