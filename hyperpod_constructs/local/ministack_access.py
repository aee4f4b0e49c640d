"""Access to ministack's internals: its keys, its answers to strangers, and unguessable credentials of functions.

Like `ministack.py`, it names private parts; a contract test guards each.
"""

from __future__ import annotations

import secrets
import threading
import uuid
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, unquote

import ministack.app  # type: ignore[import-untyped]
from ministack.core import iam_evaluator, lambda_runtime, responses, router  # type: ignore[import-untyped]
from ministack.services import lambda_svc, s3, sts  # type: ignore[import-untyped]
from ministack.services.cloudformation import custom_resource, wait_conditions  # type: ignore[import-untyped]

from hyperpod_constructs.local.access import Response
from hyperpod_constructs.local.judging import Request
from hyperpod_constructs.local.signatures import Credential, Received, Refused

ANSWERS = "/_ministack/cfn-response/"


class Ministack:
    """ministack, as the guard sees it; `access.Behind` has the questions."""

    def credential(self, key_id: str) -> Credential | None:
        if iam_evaluator.is_root_access_key(key_id):
            return None
        account = responses._account_from_sts_session(key_id) or _account_of_user(key_id)
        found = iam_evaluator.resolve_credential(key_id, account) if account else None
        if isinstance(found, iam_evaluator.CredentialResolutionError):
            raise Refused(found.code, found.message)
        return None if found is None else Credential(found.secret_access_key, found.session_token)

    def claimed_key(self, received: Received) -> str:
        return str(router.extract_access_key_id(_headers(received), _query(received)))

    def __init__(self, asks_about_token: Callable[[str, str], bool] = lambda method, path: False) -> None:
        self._asks_about_token = asks_about_token

    def awaits(self, method: str, path: str) -> bool:
        """A custom resource or a wait condition waits; AWS presigns such a URL, so its sender has no key either. A control plane
        asks about tokens at an address of its own.
        """
        if self._asks_about_token(method, path):
            return True
        if method != "PUT":
            return False
        if path.startswith(ANSWERS):
            return path.removeprefix(ANSWERS) in custom_resource._pending
        signals = wait_conditions.SIGNAL_PATH
        return path.startswith(signals) and bool(wait_conditions.has_handle(path.removeprefix(signals)))

    def refusal(self, received: Received, refused: Refused) -> Response:
        headers, query = _headers(received), _query(received)
        service = router.detect_service(received.method, unquote(received.path), headers, query)
        failure = iam_evaluator.AuthError(refused.code, refused.message)
        answer: Response = ministack.app._credential_failure(service, "", str(uuid.uuid4()), failure, headers)
        return answer


def _account_of_user(key_id: str) -> str | None:
    try:
        account: str | None = iam_evaluator.find_iam_access_key_account(key_id)
    except iam_evaluator.AmbiguousAccessKeyError:
        return None
    return account


def _headers(received: Received) -> dict[str, str]:
    return {name: ", ".join(received.values(name)) for name, _ in received.headers}


def _query(received: Received) -> dict[str, list[str]]:
    return parse_qs(received.query, keep_blank_values=True)


def user_id(request: Request) -> str:
    """The value of `aws:userid` for who signed a request; the account's id for its root user."""
    _, _, headers, _, query = request
    identity = iam_evaluator.resolve_caller_identity(router.extract_access_key_id(headers, query))
    return str(identity["userId"]) if identity else ""


def trust_the_guard() -> None:
    """Leave presigned URLs to the guard: S3 knows only the keys that IAM and STS gave out, and not the owner's."""
    s3._verify_presigned_sigv4 = lambda *request: None


def give_functions_sessions_of_their_roles() -> None:
    """Run functions with random credentials of their roles, whether policies are evaluated or not.

    ministack gives them the account's root key without `auth`, and with it a secret that is computed from the function's name.
    """
    lock, given = threading.Lock(), dict[tuple[str, str], dict[str, str]]()

    def credentials(config: dict[str, Any]) -> dict[str, str]:
        who = (str(config.get("FunctionArn", "")), str(config.get("Role", "")))
        with lock:
            if given.get(who, {}).get("AWS_ACCESS_KEY_ID") not in sts._sessions:
                given[who] = _session(config)
            return dict(given[who])

    lambda_runtime.execution_credentials = credentials
    lambda_svc.execution_credentials = credentials


def _session(config: dict[str, Any]) -> dict[str, str]:
    """Credentials of the function's role, which STS knows until the next reset."""
    account, _ = lambda_runtime._account_region_from_function_config(config)
    role, name = str(config.get("Role", "")).rsplit("/", 1)[-1], str(config.get("FunctionName", "function"))[:64]
    key_id, secret, token = f"ASIA{secrets.token_hex(8).upper()}", secrets.token_hex(20), secrets.token_hex(64)
    session = {
        "Arn": f"arn:aws:sts::{account}:assumed-role/{role}/{name}",
        "UserId": f"{role}:{name}",
        "SecretAccessKey": secret,
        "SessionToken": token,
    }
    sts.register_session(key_id, session)
    return {"AWS_ACCESS_KEY_ID": key_id, "AWS_SECRET_ACCESS_KEY": secret, "AWS_SESSION_TOKEN": token}
