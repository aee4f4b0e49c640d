"""Watches: what exists, then every change, until the client or the time ends."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from hyperpod_constructs.local.kubernetes import objects, status, values, wire
from hyperpod_constructs.local.kubernetes.connection import Call, chunk, disconnected, start
from hyperpod_constructs.local.kubernetes.objects import Objects, Request
from hyperpod_constructs.local.kubernetes.resources import ResourceType
from hyperpod_constructs.local.kubernetes.store import Change, Watcher
from hyperpod_constructs.local.kubernetes.views import chosen, formed, selection

Object = dict[str, Any]

MOST_WATCHES, MOST_OF_ONE_USER = 500, 200
_WATCH_SECONDS, _BOOKMARK_SECONDS = 600, 30.0
_INITIAL_END = {"k8s.io/initial-events-end": "true"}


class Watches:
    """The watches of one cluster, so many at most."""

    def __init__(self, served: Objects) -> None:
        self._objects = served
        self._open: Counter[str] = Counter()

    async def serve(self, call: Call, request: Request) -> None:
        """Answer one watch to its end.

        :raises ApiError: 429 for too many, 410 for a revision that is forgotten.
        """
        user = call.user.name
        if self._open.total() >= MOST_WATCHES or self._open[user] >= MOST_OF_ONE_USER:
            raise status.too_many_requests(f"the double serves at most {MOST_WATCHES} watches, {MOST_OF_ONE_USER} of one user")
        key, store = request.kind.key, self._objects.store
        watcher = store.watch(key)
        self._open[user] += 1
        try:
            first = self._first_changes(call, request)
            await call.send(start(HTTPStatus.OK, wire.JSON_TYPE))
            gone = asyncio.create_task(disconnected(call.receive))
            gone.add_done_callback(lambda _: watcher.cut())
            try:
                await self._stream(call, request, watcher, first)
            finally:
                gone.cancel()
        finally:
            self._open[user] -= 1
            self._open += Counter()  # forgets users without a watch
            store.unwatch(key, watcher)

    def _first_changes(self, call: Call, request: Request) -> list[Object]:
        """The events that a watch begins with: what exists, or what has changed since a revision."""
        store, kind, query = self._objects.store, request.kind, call.query
        version, initial = query.get("resourceVersion", ""), query.flag("sendInitialEvents")
        if initial or version in ("", "0"):
            events = [_event("ADDED", formed(kind, obj, call)) for obj in chosen(self._objects, call, request)]
            return [*events, _bookmark(kind, store.revision, _INITIAL_END)] if initial else events
        changes = store.since(kind.key, query.number("resourceVersion"))
        if changes is None:
            raise status.expired(f"too old resource version: {version} ({store.revision})")
        test = selection(call, kind)
        seen = (_seen(change, kind, call, request.namespace, test) for change in changes)
        return [event for event in seen if event is not None]

    async def _stream(self, call: Call, request: Request, watcher: Watcher, first: list[Object]) -> None:
        test, kind = selection(call, request.kind), request.kind
        seconds = min(call.query.number("timeoutSeconds") or _WATCH_SECONDS, _WATCH_SECONDS)
        end = time.monotonic() + seconds
        for begin in range(0, len(first), 100):
            await chunk(call.send, b"".join(values.compact(event) + b"\n" for event in first[begin : begin + 100]))
        while (left := end - time.monotonic()) > 0 and not watcher.overrun:
            change = await watcher.get(min(left, _BOOKMARK_SECONDS))
            event = None if change is None else _seen(change, kind, call, request.namespace, test)
            if change is None and not watcher.overrun and call.query.flag("allowWatchBookmarks"):
                event = _bookmark(kind, self._objects.store.revision, {})
            if event is not None:
                await chunk(call.send, values.compact(event) + b"\n")
        await call.send({"type": "http.response.body", "body": b""})


def _seen(change: Change, kind: ResourceType, call: Call, namespace: str, test: Callable[[Object], bool]) -> Object | None:
    """The event of a change for one client; an object that begins or ceases to be selected comes or goes for it."""
    if namespace and change.object["metadata"].get("namespace") != namespace:
        return None
    is_selected = change.type != "DELETED" and test(change.object)
    was_selected = change.before is not None and test(change.before)
    if not is_selected and not was_selected:
        return None
    word = "MODIFIED" if is_selected and was_selected else "ADDED" if is_selected else "DELETED"
    return _event(word, formed(kind, objects.versioned(kind, change.object), call))


def _event(word: str, obj: Object) -> Object:
    return {"type": word, "object": obj}


def _bookmark(kind: ResourceType, revision: int, annotations: Mapping[str, str]) -> Object:
    metadata = {
        "resourceVersion": str(revision),
        "creationTimestamp": None,
        **({"annotations": annotations} if annotations else {}),
    }
    return _event("BOOKMARK", {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": metadata})
