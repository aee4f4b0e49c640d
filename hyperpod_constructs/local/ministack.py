"""The adapter of ministack, which has no plug-in interface: its private names stand here and in the modules `ministack_*.py`.

The version is pinned exactly, and a contract test guards each name.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol, cast
from urllib.parse import parse_qs

import ministack.app  # type: ignore[import-untyped]
from ministack.core import iam_actions, lambda_runtime, responses, router  # type: ignore[import-untyped]
from ministack.core.concurrency import run_reentrant  # type: ignore[import-untyped]
from ministack.services import s3, scheduler  # type: ignore[import-untyped]

from hyperpod_constructs.local.aws_service import AwsError, Caller
from hyperpod_constructs.local.judging import Judge, Request, Response, answered, target

Handler = Callable[..., Coroutine[Any, Any, Response]]
Parameters = Mapping[str, list[str]]
"""The parameters of a request of the query protocol."""

log = logging.getLogger(__name__)

asgi_application = ministack.app.app


def caller(endpoint: str) -> Caller:
    """Who calls, in the context of the current request or stack operation."""
    return Caller(account=responses.get_account_id(), region=responses.get_region(), endpoint=endpoint)


class Served(Protocol):
    """A service of ours on the wire."""

    def operation(self, request: Request) -> str | None:
        """The operation that `answer` gives this request to; None if it refuses the request."""

    def answer(self, request: Request) -> Response:
        """Answer one request."""


def serve(name: str, service: Served, *, target_prefix: str = "") -> None:
    """Serve a service of ours under its signing name. IAM is asked about the operation that the service says it will answer.

    It answers in a thread of its own, so it may block and may call back to the endpoint. `target_prefix` is that of the
    X-Amz-Target header of JSON services.
    """
    native = iam_actions.extract_iam_action

    def action(asked: str, *request: Any) -> str | None:
        # ministack takes any `Action` and any X-Amz-Target for the action, also where the service reads neither.
        if asked != name:
            return cast("str | None", native(asked, *request))
        operation = service.operation(cast(Request, request))
        return None if operation is None else f"{name}:{operation}"

    async def handle(method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, list[str]]) -> Response:
        response: Response = await run_reentrant(service.answer, (method, path, headers, body, query))
        return response

    iam_actions.extract_iam_action = action
    ministack.app.SERVICE_HANDLERS[name] = handle
    if target_prefix:
        router.SERVICE_PATTERNS[name] = {"target_prefixes": [f"{target_prefix}."], "host_patterns": []}
    iam_actions.SERVICE_TO_IAM_NAMESPACE[name] = name


def serve_operations(name: str, service: Served, operations: frozenset[str]) -> None:
    """Let a service of ours answer some operations of a JSON service of ministack, which does not know these."""
    native = ministack.app.SERVICE_HANDLERS[name]

    async def handle(method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, list[str]]) -> Response:
        request = (method, path, headers, body, query)
        mine = target(headers) in operations
        response: Response = await (run_reentrant(service.answer, request) if mine else native(*request))
        return response

    ministack.app.SERVICE_HANDLERS[name] = handle


def judge_requests(judges: Mapping[str, Judge]) -> None:
    """Refuse what the models of these services forbid, before a handler sees it. Call it once every handler is in place.

    An error of a handler is answered in AWS's shape, and stays an error of ours.
    """
    for name, judge in judges.items():
        ministack.app.SERVICE_HANDLERS[name] = _judged(judge, ministack.app.SERVICE_HANDLERS[name])


def _judged(judge: Judge, answer: Handler) -> Handler:
    async def handle(*request: Any) -> Response:
        refusal = judge.refusal(cast(Request, request)) if judge.reads(cast(Request, request)) else None
        if refusal is not None:
            return refusal
        try:
            response = await answer(*request)
        except Exception:
            log.exception("a handler failed")
            response = answered(judge.protocol, AwsError("InternalFailure", "the embedded aws failed; its log tells why", 500))
        return judge.excuse(cast(Request, request)) or response if response[0] >= 500 else response

    return handle


def refuse_first(name: str, refusal: Callable[[Parameters], Awaitable[Response | None]]) -> None:
    """Ask for a refusal of a service of the query protocol before its handler answers."""
    answer = ministack.app.SERVICE_HANDLERS[name]

    async def handle(method: str, path: str, headers: Mapping[str, str], body: bytes, query: Mapping[str, list[str]]) -> Response:
        found = {**dict(query), **parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)}
        response: Response = await refusal(found) or await answer(method, path, headers, body, query)
        return response

    ministack.app.SERVICE_HANDLERS[name] = handle


def reset() -> None:
    """Forget the state of every ministack service and end the Lambda workers."""
    ministack.app._reset_all_state()


def end_lambda_workers() -> None:
    """End the processes of the warm Lambda functions."""
    lambda_runtime.reset()


def encrypt_with_aws_managed_key() -> None:
    """Let `aws:kms` without a key mean the account's key aws/s3, as on AWS; ministack refuses such an upload."""
    native = s3._resolve_sse_write_headers

    def resolve(headers: dict[str, str], bucket: str) -> Any:
        key = "x-amz-server-side-encryption-aws-kms-key-id"
        if headers.get("x-amz-server-side-encryption") == "aws:kms" and not headers.get(key):
            arn = f"arn:aws:kms:{responses.get_region()}:{responses.get_account_id()}:alias/aws/s3"
            headers = {**headers, key: arn}
        return native(headers, bucket)

    s3._resolve_sse_write_headers = resolve


def keep_targets_of_schedules() -> None:
    """Let a schedule keep its target with all members: ministack stores and later sends it as it came, without reading them."""
    native = scheduler._create_schedule
    scheduler._create_schedule = lambda name, body: native(name, copy.deepcopy(body))
