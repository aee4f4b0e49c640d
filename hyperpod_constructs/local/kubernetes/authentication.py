"""Who asks: bearer tokens by the TokenReview webhook, and impersonation."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import ssl
import time
import urllib.error
import urllib.request
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from hyperpod_constructs.local.kubernetes import status
from hyperpod_constructs.local.kubernetes.authorization import MASTERS, Act, Authorizer, User
from hyperpod_constructs.local.kubernetes.status import Named

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
_AUTHENTICATED = "system:authenticated"
_KEPT = 256
_FOUND_SECONDS, _UNKNOWN_SECONDS = 10.0, 2.0
_WEBHOOK_SECONDS = 10.0
_LONGEST_TOKEN = 16 * 1024
_LARGEST_ANSWER = 256 * 1024
_MOST_QUESTIONS = 8

Headers = Iterable[tuple[bytes, bytes]]


class Authenticator:
    """Knows the administrator's token, and asks the webhook about all others; it keeps the answers for a few seconds."""

    def __init__(self, administrator: str, webhook: str) -> None:
        self._administrator = administrator
        self._webhook = webhook
        self._known: OrderedDict[bytes, tuple[float, User | None]] = OrderedDict()
        self._asking = asyncio.Semaphore(_MOST_QUESTIONS)

    async def user(self, headers: Headers) -> User:
        """Who sends these headers.

        :raises ApiError: 401 for a token of nobody.
        """
        given = [value for name, value in headers if name == b"authorization"]
        if not given:
            return ANONYMOUS
        scheme, _, token = given[0].decode("latin-1").strip().partition(" ")
        token = token.strip()
        if len(given) > 1 or scheme.lower() != "bearer" or not token or len(token) > _LONGEST_TOKEN:
            raise status.unauthorized()
        user = await self.of_token(token)
        if user is None:
            raise status.unauthorized()
        return user

    async def of_token(self, token: str) -> User | None:
        """Whose token this is."""
        if hmac.compare_digest(token.encode(), self._administrator.encode()):
            return User("hyperpod:administrator", (MASTERS, _AUTHENTICATED))
        key = hashlib.sha256(token.encode()).digest()
        until, user = self._known.get(key, (0.0, None))
        if time.monotonic() < until:
            return user
        async with self._asking:
            user = await asyncio.to_thread(self._ask, token)
        self._known[key] = (time.monotonic() + (_UNKNOWN_SECONDS if user is None else _FOUND_SECONDS), user)
        self._known.move_to_end(key)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return user

    def _ask(self, token: str) -> User | None:
        if not self._webhook:
            return None
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        request = urllib.request.Request(self._webhook, json.dumps(review).encode(), {"Content-Type": "application/json"})
        handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
        if urlsplit(self._webhook).scheme == "https":
            handlers.append(urllib.request.HTTPSHandler(context=ssl._create_unverified_context()))
        try:
            with urllib.request.build_opener(*handlers).open(request, timeout=_WEBHOOK_SECONDS) as answer:
                found = json.loads(answer.read(_LARGEST_ANSWER))["status"]
            if found.get("authenticated") is not True:
                return None
            user = found["user"]
            groups = tuple(str(group) for group in user.get("groups") or ())
            return User(str(user["username"]), (*groups, _AUTHENTICATED), str(user.get("uid", "")), user.get("extra") or {})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, urllib.error.URLError):
            return None


def impersonated(user: User, headers: Headers, authorizer: Authorizer) -> User:
    """The user that the headers ask to act as.

    :raises ApiError: 400 without a name, 403 without the right to.
    """
    wanted = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers if name.startswith(b"impersonate-")]
    if not wanted:
        return user
    name = next((value for key, value in wanted if key == "impersonate-user"), "")
    if not name:
        raise status.bad_request("requested impersonation without impersonating a user")
    groups = [value for key, value in wanted if key == "impersonate-group"]
    extra: dict[str, list[str]] = {}
    acts = [_act_of_user(name), *(Act("impersonate", "", "groups", "", group) for group in groups)]
    for key, value in wanted:
        if key == "impersonate-uid":
            acts.append(Act("impersonate", "authentication.k8s.io", "uids", "", value))
        elif key.startswith("impersonate-extra-"):
            field = unquote(key.removeprefix("impersonate-extra-"))
            extra.setdefault(field, []).append(value)
            acts.append(Act("impersonate", "authentication.k8s.io", f"userextras/{field}", "", value))
    for act in acts:
        if not authorizer.allows(user, act):
            raise status.forbidden(
                Named(act.group, act.resource, "", act.name),
                f'User "{user.name}" cannot impersonate resource "{act.resource}" in API group "{act.group}"'
                + (f' in the namespace "{act.namespace}"' if act.namespace else " at the cluster scope"),
            )
    uid = next((value for key, value in wanted if key == "impersonate-uid"), "")
    if name.startswith("system:serviceaccount:") and not groups:
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{name.split(':')[2]}"]
    return User(name, (*groups, *(() if name == ANONYMOUS.name else (_AUTHENTICATED,))), uid, extra)


def _act_of_user(name: str) -> Act:
    parts = name.split(":")
    if name.startswith("system:serviceaccount:") and len(parts) == 4:
        return Act("impersonate", "", "serviceaccounts", parts[2], parts[3])
    return Act("impersonate", "", "users", "", name)


def from_review(found: Mapping[str, Any]) -> User:
    """The user of an access review."""
    groups = found.get("groups") or ()
    return User(str(found.get("user", "")), tuple(str(group) for group in groups), str(found.get("uid", "")))
