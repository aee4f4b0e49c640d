"""The adapter of ministack's EKS: its TokenReview webhook, and its access policies as RBAC objects, for the control planes of ours.

Like `ministack.py`, it names private parts; a contract test guards each. ministack runs a control plane in a container of Docker:
here each control plane of ours is such a container, and answers the few commands that ministack runs in it.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import re
import secrets
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import ministack.app  # type: ignore[import-untyped]
from botocore.auth import SIGV4_TIMESTAMP
from ministack.core import iam_evaluator, router  # type: ignore[import-untyped]
from ministack.services import eks  # type: ignore[import-untyped]

from hyperpod_constructs.facts.kubernetes import RBAC, TOKEN_PREFIX
from hyperpod_constructs.local.aws_service import Caller
from hyperpod_constructs.local.claims import refusing_nonsense
from hyperpod_constructs.local.judging import Request
from hyperpod_constructs.local.kubernetes.interface import ObjectsApi
from hyperpod_constructs.local.signatures import Claim, Credential, Received, Refused, claim

log = logging.getLogger(__name__)

REVIEWS = "/_ministack/eks-auth/"
LONGEST_TOKEN = 16384
HOLDS, EARLY = timedelta(minutes=15), timedelta(minutes=5)
"""How long a token holds, and how far its clock may be ahead; kubectl keeps a token for 14 minutes."""

_RBAC = f"{RBAC}/v1"
_KINDS = {"clusterrolebinding": "ClusterRoleBinding", "rolebinding": "RoleBinding"}
_ADDRESS = re.compile(rf"{REVIEWS}([0-9]{{12}})/([A-Za-z0-9-]+)/([A-Za-z0-9_.-]+)/([A-Za-z0-9_-]{{16,}})")


class Authenticator:
    """Lets the principals of access entries into control planes; `control_planes.Access` has the questions.

    :param endpoint: the address of the embedded AWS, for which `aws eks get-token` signs in a shell and in a function.
    :param credential: what belongs to an access key id; None if nobody has it.
    """

    def __init__(self, endpoint: str, credential: Callable[[str], Credential | None]) -> None:
        self._endpoint = endpoint
        self._host = endpoint.partition("://")[2]
        self._credential = credential
        self._apis: dict[str, ObjectsApi] = {}

    def install(self) -> None:
        """Take the places of Docker and of the check of tokens in ministack."""
        review = eks._authenticate_token_review

        def authenticate(name: str, account: str, region: str, asked: dict[str, Any], secret: str = "") -> Any:
            token = (asked.get("spec") or {}).get("token") if isinstance(asked.get("spec"), dict) else None
            # Without the evaluation of policies ministack lets everybody in: here nobody without a key gets that far.
            if not ministack.app.AUTH and not self.knows(token, name):
                return eks._token_review_response(asked)
            return review(name, account, region, asked, secret)

        eks._get_docker = lambda: _Docker(self._apis)
        eks._verify_eks_token = self.principal_of
        eks._authenticate_token_review = authenticate

    def awaits(self, method: str, path: str) -> bool:
        """Whether a control plane asks about a token: its address ends with the secret that it was started with."""
        asked = _ADDRESS.fullmatch(path)
        if method != "POST" or asked is None:
            return False
        account, region, name, secret = asked.groups()
        known = eks._clusters.get_scoped(account, region, name)
        return known is not None and secrets.compare_digest(secret, known["_auth_token"])

    def knows(self, token: Any, cluster: str) -> bool:
        """Whether somebody with a key has signed the token for this cluster."""
        try:
            return self._signer(token, cluster) is not None
        except Refused as refused:
            log.info("a token for %s is refused: %s", cluster, refused.message)
            return False

    def principal_of(self, token: Any, cluster: str) -> Any:
        """Who has signed the token for this cluster, as ministack's IAM knows it; None for a token that is not valid."""
        try:
            signer = self._signer(token, cluster)
        except Refused as refused:
            log.info("a token for %s is refused: %s", cluster, refused.message)
            return None
        account = iam_evaluator.find_iam_access_key_account(signer.key_id) or eks._account_from_sts_session(signer.key_id)
        found = iam_evaluator.resolve_credential(signer.key_id, account, signer.token) if account else None
        return None if isinstance(found, iam_evaluator.CredentialResolutionError) else found

    def _signer(self, token: Any, cluster: str) -> Claim:
        """The claim in a token: a presigned GetCallerIdentity with the cluster's name in a signed header.

        :raises Refused: for a token that is none, is too old, is for another host or cluster, or that no known key has signed.
        """
        with refusing_nonsense():
            received = _presigned(token, cluster)
            claimed = claim(received)
            signed_at = datetime.strptime(claimed.timestamp, SIGV4_TIMESTAMP).replace(tzinfo=UTC)
            claimed.check(received, signed_at)
            if not -EARLY <= datetime.now(UTC) - signed_at <= HOLDS:
                raise Refused("RequestExpired", "the token has expired")
            parameters = dict(received.parameters())
            host = received.header("host")
            if host not in (self._host, f"sts.{claimed.region}.amazonaws.com") or claimed.service != "sts":
                raise Refused("SignatureDoesNotMatch", f"the token is for {host}, not for sts")
            if parameters.get("Action") != "GetCallerIdentity" or "x-k8s-aws-id" not in claimed.signed:
                raise Refused("SignatureDoesNotMatch", "the token is no GetCallerIdentity for a cluster")
            credential = self._credential(claimed.key_id)
            if credential is None:
                raise Refused("UnrecognizedClientException", "nobody has the key that signed the token")
            claimed.verify_head(received, credential)
            claimed.verify_body(received, b"", credential)
            return claimed

    def open(self, caller: Caller, cluster: str) -> str:
        """Take a cluster on; the address at which its control plane asks about tokens."""
        secret = secrets.token_urlsafe(32)
        record = {"name": cluster, "status": "CREATING", "_docker_id": None, "_auth_token": secret}
        eks._clusters.set_scoped(caller.account, caller.region, cluster, record)
        return f"{self._endpoint}{REVIEWS}{caller.account}/{caller.region}/{cluster}/{secret}"

    def attach(self, caller: Caller, cluster: str, api: ObjectsApi) -> None:
        """Write RBAC objects for access policies, now and whenever a namespace comes."""
        record = eks._clusters.get_scoped(caller.account, caller.region, cluster)
        if record is None:
            return
        container = f"{caller.account}/{caller.region}/{cluster}"
        self._apis[container] = api
        record.update(status="ACTIVE", _docker_id=container)
        self._reconcile(caller, cluster)

    def close(self, caller: Caller, cluster: str) -> None:
        """Forget a cluster with its entries and policies."""
        eks._stop_access_policy_reconciler(cluster, caller.account, caller.region)
        self._apis.pop(f"{caller.account}/{caller.region}/{cluster}", None)
        eks._clusters.pop_scoped(*_scope(caller), cluster, None)
        for store in (eks._access_entries, eks._access_policies):
            for key in [key for key, _ in store.all_items() if key[:2] == _scope(caller) and key[2].startswith(f"{cluster}\x00")]:
                store.pop_scoped(*key, None)

    def set_entry(self, caller: Caller, cluster: str, entry: Mapping[str, Any]) -> None:
        """Let the principal of an access entry in."""
        key = eks._ae_key(cluster, entry["principalArn"])
        eks._access_entries.set_scoped(*_scope(caller), key, dict(entry))

    def remove_entry(self, caller: Caller, cluster: str, principal: str) -> None:
        """Let a principal in no more."""
        eks._access_entries.pop_scoped(*_scope(caller), eks._ae_key(cluster, principal), None)
        prefix = f"{cluster}\x00{principal}\x00"
        for key in [key for key, _ in eks._access_policies.all_items() if key[:2] == _scope(caller) and key[2].startswith(prefix)]:
            eks._access_policies.pop_scoped(*key, None)
        self._reconcile(caller, cluster)

    def set_policy(self, caller: Caller, cluster: str, principal: str, policy: str, scope: Mapping[str, Any]) -> None:
        """Give a principal what a policy allows, before the call returns."""
        associated = {"policyArn": policy, "accessScope": {"namespaces": [], **scope}}
        eks._access_policies.set_scoped(*_scope(caller), eks._ap_key(cluster, principal, policy), associated)
        self._reconcile(caller, cluster)

    def remove_policy(self, caller: Caller, cluster: str, principal: str, policy: str) -> None:
        """Take a policy away."""
        eks._access_policies.pop_scoped(*_scope(caller), eks._ap_key(cluster, principal, policy), None)
        self._reconcile(caller, cluster)

    def _reconcile(self, caller: Caller, cluster: str) -> None:
        if f"{caller.account}/{caller.region}/{cluster}" in self._apis:
            eks._reconcile_access_policy_rbac(cluster, *_scope(caller))
            eks._schedule_access_policy_reconcile(cluster, *_scope(caller))


def principal(request: Request) -> str:
    """The user or role that signed a request; the role of a session. Empty for the root user."""
    _, _, headers, _, query = request
    identity = iam_evaluator.resolve_caller_identity(router.extract_access_key_id(headers, query))
    arn = identity["userArn"] if identity else ""
    return str(eks._role_arn_from_assumed_role(arn) or arn)


def _scope(caller: Caller) -> tuple[str, str]:
    return caller.account, caller.region


def _presigned(token: Any, cluster: str) -> Received:
    if not isinstance(token, str) or not token.startswith(TOKEN_PREFIX) or len(token) > LONGEST_TOKEN:
        raise Refused("InvalidToken", "this is no token of aws eks get-token")
    encoded = token.removeprefix(TOKEN_PREFIX)
    try:
        url = urlsplit(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("ascii"))
    except (binascii.Error, UnicodeError) as error:
        raise Refused("InvalidToken", "the token cannot be read") from error
    if url.path not in ("", "/") or url.scheme not in ("http", "https"):
        raise Refused("InvalidToken", "the token is for another path")
    return Received("GET", "/", url.query, (("host", url.netloc), ("x-k8s-aws-id", cluster)))


class _Docker:
    """What ministack asks of Docker."""

    def __init__(self, apis: Mapping[str, ObjectsApi]) -> None:
        self.containers = _Containers(apis)


class _Containers:
    def __init__(self, apis: Mapping[str, ObjectsApi]) -> None:
        self._apis = apis

    def list(self, **filters: Any) -> Sequence[Any]:
        """None that ministack should stop: the service ends its own control planes."""
        return ()

    def get(self, identifier: str) -> _Container:
        return _Container(self._apis[identifier])


class _Container:
    """A control plane, as a container in which ministack runs kubectl."""

    def __init__(self, api: ObjectsApi) -> None:
        self._api = api

    def exec_run(self, command: Sequence[str]) -> tuple[int, bytes]:
        """Do what a command would do; its exit code and output."""
        try:
            items = self._do(list(command))
        except Exception as error:  # whatever it is, ministack logs it and tries again
            return 1, str(error).encode()
        return 0, json.dumps({"items": items}).encode()

    def _do(self, command: list[str]) -> list[dict[str, Any]]:
        match command:
            case ["kubectl", "get", "namespaces", *_]:
                return self._api.list("v1", "Namespace")
            case ["kubectl", "get", kind, "-l", selector, *_]:
                return self._api.list(_RBAC, _KINDS[kind], label_selector=selector)
            case ["kubectl", "delete", kind, name]:
                self._api.delete(_RBAC, _KINDS[kind], name)
            case ["kubectl", "delete", kind, name, "--namespace", namespace]:
                self._api.delete(_RBAC, _KINDS[kind], name, namespace)
            case ["sh", "-c", script] if script.endswith("| base64 -d | kubectl apply -f -"):
                self._apply(json.loads(base64.b64decode(script.split("'")[3]))["items"])
            case _:
                raise ValueError(f"ministack runs a command that is not known here: {command}")
        return []

    def _apply(self, items: Sequence[dict[str, Any]]) -> None:
        """Apply each item, whatever becomes of the others.

        :raises RuntimeError: with every failure, so that ministack tries all of them again.
        """
        failures = [failure for item in items if (failure := self._failure(item))]
        if failures:
            # ministack ends here, before it takes away what no policy gives any more.
            self._keep({eks._binding_key(item) for item in items})
            raise RuntimeError("; ".join(failures))

    def _failure(self, item: dict[str, Any]) -> str:
        try:
            self._put(item)
        except Exception as error:  # any refusal is for this item alone
            kind, namespace, name = eks._binding_key(item)
            log.warning("%s %s of an access policy is not applied: %s", kind, "/".join(filter(None, (namespace, name))), error)
            return f"{kind} {name}: {error}"
        return ""

    def _put(self, item: dict[str, Any]) -> None:
        """Apply an item; a binding that somebody has made with another role, which cannot change, is made again."""
        _, namespace, name = eks._binding_key(item)
        try:
            self._api.apply(item)
        except Exception:
            found = self._api.list(_RBAC, item["kind"], namespace or None)
            if not any(one["metadata"]["name"] == name and one.get("roleRef") != item.get("roleRef") for one in found):
                raise
            self._api.delete(_RBAC, item["kind"], name, namespace or None)
            self._api.apply(item)

    def _keep(self, keys: Set[tuple[str, str, str]]) -> None:
        """Delete the bindings of policies but these."""
        for kind in _KINDS.values():
            for found in self._api.list(_RBAC, kind, label_selector=f"{eks._ACCESS_POLICY_BINDING_LABEL}=true"):
                if (key := eks._binding_key(found)) not in keys:
                    self._api.delete(_RBAC, kind, key[2], key[1] or None)
