"""One reading of a request for IAM and for ministack's handlers. Like `ministack.py`, it names private parts of ministack."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any, cast

import ministack.app  # type: ignore[import-untyped]
from botocore.model import ServiceModel
from ministack.core import iam_actions, router  # type: ignore[import-untyped]

from hyperpod_constructs.local.access import EMULATOR
from hyperpod_constructs.local.aws_service import AwsError
from hyperpod_constructs.local.judging import Response, answered
from hyperpod_constructs.local.operations import Operations, Parameters, Wire

Headers = dict[str, str]

INFLATED = 70_167_211
"""Bytes of a compressed body, unpacked."""

NAMES: Mapping[str, Wire] = {
    "apigateway": Wire("apigateway", ("/v2/", "apigatewayv2")),
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

_BEFORE_DISPATCH = frozenset({"rds-data", "s3control", "sesv2"})
"""APIs that ministack answers before it dispatches, and asks IAM about itself."""

_OF_THEIR_OWN = frozenset({"s3", "apigateway"})
"""Services whose actions ministack finds from method, path and query, because they are not named as the operations."""


def read_requests_once(models: Callable[[str], ServiceModel], own: frozenset[str], auth: bool) -> None:
    """Refuse requests with more than one reading, and ask IAM about the one. Call it once our own services are served.

    With `auth`, only operations of the models are answered, and the emulator's own paths, which the guard keeps for the owner. What
    has another address has none: catalogs of Iceberg, registries of images, APIs, function URLs, load balancers, sign-in pages, and
    GraphQL. ministack would judge these itself, or not at all.

    :param own: our services, which say themselves what they answer.
    :param auth: whether IAM is evaluated.
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
            if auth and service not in own and service != "s3" and not EMULATOR.match(path):
                _refuse_nameless(operations, service, method, path, headers, parameters(method, path, headers, body, query))
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
    if auth:
        _leave_the_rest_to_the_dispatcher(operations)


def _leave_the_rest_to_the_dispatcher(operations: Operations) -> None:
    """Keep ministack from answering before it dispatches, but for the emulator's own paths and the APIs that it asks IAM about."""
    early, late = ministack.app._handle_pre_body_request, ministack.app._handle_post_body_shortcuts
    special = ministack.app._handle_special_data_plane_request

    async def before_body(method: str, path: str, *rest: Any) -> Any:
        return await early(method, path, *rest) if EMULATOR.match(path) else None

    async def behind_body(method: str, path: str, *rest: Any) -> Any:
        return await late(method, path, *rest) if EMULATOR.match(path) else None

    async def before_dispatch(
        method: str, path: str, headers: Headers, body: bytes, query: Mapping[str, list[str]], *rest: Any, **more: Any
    ) -> Any:
        service = router.detect_service(method, path, headers, query)
        if operations.api(service, path) not in _BEFORE_DISPATCH:
            return None
        try:
            operations.refuse_ambiguous(service, method, path, headers, body, query)
            _refuse_nameless(operations, service, method, path, headers, query)
        except AwsError as error:
            return answered(operations.protocol(service, path), error)
        return await special(method, path, headers, body, query, *rest, **more)

    ministack.app._handle_pre_body_request = before_body
    ministack.app._handle_post_body_shortcuts = behind_body
    ministack.app._handle_special_data_plane_request = before_dispatch


def _refuse_nameless(
    operations: Operations, service: str, method: str, path: str, headers: Headers, parameters: Parameters
) -> None:
    """Refuse a request of which the model of its service knows no operation.

    :raises AwsError: with what was asked, and what is answered.
    """
    if operations.named(service, method, path, headers, parameters) is None:
        raise AwsError(
            "AccessDeniedException",
            f"{method} {path[:100]} is no operation of the API {operations.api(service, path)}, for which it is signed: with auth,"
            " the embedded AWS answers only operations, which a policy can allow",
            403,
        )


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
