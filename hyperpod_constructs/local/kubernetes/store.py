"""Objects in memory: revisions, changes since a revision, and watchers. Objects are never changed in place."""

from __future__ import annotations

import asyncio
import bisect
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from hyperpod_constructs.local.kubernetes.resources import Key

Object = dict[str, Any]
KEPT_CHANGES = 2000
MOST_WAITING = 1000
MOST_OBJECTS = 100_000


class Place(NamedTuple):
    """Where an object of a resource is; the namespace is empty for one of the cluster."""

    namespace: str
    name: str


class Change(NamedTuple):
    """One change: what happened, the object after it (for DELETED: the last one), and the one before."""

    type: str
    revision: int
    object: Object
    before: Object | None


class Watcher:
    """A bounded queue of changes for one client; a client that does not read is cut off."""

    def __init__(self) -> None:
        self._waiting: deque[Change] = deque()
        self._event = asyncio.Event()
        self.overrun = False

    def put(self, change: Change) -> None:
        """Add a change."""
        if len(self._waiting) >= MOST_WAITING:
            return self.cut()
        self._waiting.append(change)
        self._event.set()

    def cut(self) -> None:
        """End the watch."""
        self.overrun = True
        self._event.set()

    async def get(self, seconds: float) -> Change | None:
        """The next change within a time."""
        if not self._waiting and not self.overrun:
            self._event.clear()
            try:
                await asyncio.wait_for(self._event.wait(), max(0.0, seconds))
            except TimeoutError:
                return None
        return self._waiting.popleft() if self._waiting else None


@dataclass
class _Shelf:
    objects: dict[Place, Object]
    order: list[Place]
    changes: deque[Change]
    watchers: set[Watcher]


class Store:
    """All objects by resource, with one revision for all. For one thread."""

    def __init__(self) -> None:
        self.revision = 1
        self.size = 0
        self._shelves: dict[Key, _Shelf] = {}
        self._dependents: dict[str, dict[tuple[Key, Place], None]] = {}

    def _shelf(self, key: Key) -> _Shelf:
        return self._shelves.setdefault(key, _Shelf({}, [], deque(maxlen=KEPT_CHANGES), set()))

    def get(self, key: Key, place: Place) -> Object | None:
        """An object."""
        return self._shelf(key).objects.get(place)

    def select(self, key: Key, namespace: str = "", after: Place | None = None) -> Iterator[Object]:
        """Objects in the order of namespace and name, of one namespace or of all, behind a place."""
        shelf = self._shelf(key)
        start = bisect.bisect_right(shelf.order, after) if after is not None else 0
        if namespace:
            start = max(start, bisect.bisect_left(shelf.order, Place(namespace, "")))
        for place in shelf.order[start:]:
            if namespace and place.namespace != namespace:
                return
            yield shelf.objects[place]

    def in_namespace(self, namespace: str) -> Iterator[tuple[Key, Place]]:
        """All objects of a namespace."""
        for key in list(self._shelves):
            for item in list(self.select(key, namespace)):
                yield key, place_of(item)

    def put(self, key: Key, obj: Object) -> Object:
        """Keep a new or changed object under a new revision, and tell the watchers."""
        shelf, place = self._shelf(key), place_of(obj)
        before = shelf.objects.get(place)
        self.revision += 1
        kept = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.revision)}}
        if before is None:
            bisect.insort(shelf.order, place)
            self.size += 1
        else:
            self._unlink(key, before)
        shelf.objects[place] = kept
        for owner in _owners(kept):
            self._dependents.setdefault(owner, {})[key, place] = None
        self._tell(shelf, Change("ADDED" if before is None else "MODIFIED", self.revision, kept, before))
        return kept

    def remove(self, key: Key, place: Place) -> Object:
        """Remove an object; answers its last state under a new revision."""
        shelf = self._shelf(key)
        before = shelf.objects.pop(place)
        del shelf.order[bisect.bisect_left(shelf.order, place)]
        self.size -= 1
        self._unlink(key, before)
        self.revision += 1
        last = {**before, "metadata": {**before["metadata"], "resourceVersion": str(self.revision)}}
        self._tell(shelf, Change("DELETED", self.revision, last, before))
        return last

    def forget(self, key: Key) -> None:
        """Forget a resource that is served no longer, and end its watches."""
        shelf = self._shelves.pop(key, None)
        for watcher in shelf.watchers if shelf is not None else ():
            watcher.cut()

    def dependents(self, uid: str) -> list[tuple[Key, Place]]:
        """The objects that name an owner."""
        return list(self._dependents.get(uid, ()))

    def since(self, key: Key, revision: int) -> list[Change] | None:
        """The changes after a revision; None if they are no longer all kept."""
        changes = self._shelf(key).changes
        if len(changes) == changes.maxlen and changes and changes[0].revision > revision + 1:
            return None
        return [change for change in changes if change.revision > revision]

    def watch(self, key: Key) -> Watcher:
        """Begin to collect changes of a resource."""
        watcher = Watcher()
        self._shelf(key).watchers.add(watcher)
        return watcher

    def unwatch(self, key: Key, watcher: Watcher) -> None:
        """End it."""
        self._shelf(key).watchers.discard(watcher)

    def _tell(self, shelf: _Shelf, change: Change) -> None:
        shelf.changes.append(change)
        for watcher in shelf.watchers:
            watcher.put(change)

    def _unlink(self, key: Key, obj: Object) -> None:
        for owner in _owners(obj):
            known = self._dependents.get(owner, {})
            known.pop((key, place_of(obj)), None)
            if not known:
                self._dependents.pop(owner, None)


def place_of(obj: Object) -> Place:
    """Where an object belongs."""
    return Place(obj["metadata"].get("namespace", ""), obj["metadata"]["name"])


def _owners(obj: Object) -> list[str]:
    return [str(owner.get("uid")) for owner in obj["metadata"].get("ownerReferences") or ()]
