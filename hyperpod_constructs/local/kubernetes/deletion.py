"""Deletion: finalizers, dependents, namespaces and definitions that end. What controllers do in a cluster is done at once here."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hyperpod_constructs.local.kubernetes import values
from hyperpod_constructs.local.kubernetes.resources import DEFINITIONS, Key, Resources
from hyperpod_constructs.local.kubernetes.store import Place, Store, place_of

Object = dict[str, Any]
NAMESPACES = Key("", "namespaces")
_DEFINITIONS = Key(*DEFINITIONS)
BACKGROUND, FOREGROUND, ORPHAN = "Background", "Foreground", "Orphan"
_FOREGROUND_FINALIZER = "foregroundDeletion"


class _Task(NamedTuple):
    key: Key
    place: Place
    policy: str


class Deletion:
    """Deletes objects and what hangs on them. `forget` is called for a definition that is gone."""

    def __init__(self, store: Store, resources: Resources, forget: Callable[[Object], None]) -> None:
        self._store = store
        self._resources = resources
        self._forget = forget
        self._tasks: deque[_Task] = deque()

    def delete(self, key: Key, place: Place, policy: str = BACKGROUND) -> Object:
        """Delete an object; answers its last state, which has a deletion time if something still holds it."""
        last = self._delete(_Task(key, place, policy))
        self._work()
        return last

    def settle(self, key: Key, obj: Object) -> Object:
        """Remove an object whose deletion nothing holds any longer; called after every change."""
        if obj["metadata"].get("deletionTimestamp") and not self._held(key, obj):
            obj = self._remove(key, obj)
            self._work()
        return obj

    def _work(self) -> None:
        while self._tasks:
            self._delete(self._tasks.popleft())

    def _delete(self, task: _Task) -> Object:
        obj = self._store.get(task.key, task.place)
        if obj is None:
            return {}
        dependents = self._dependents(obj)
        if task.policy == ORPHAN:
            self._release(obj, dependents)
        marked = self._marked(task, obj, foreground=task.policy == FOREGROUND and bool(dependents))
        if marked is not obj:
            obj = self._store.put(task.key, marked)
        for key, place in dependents if task.policy == FOREGROUND else ():
            self._tasks.append(_Task(key, place, BACKGROUND))
        self._empty(task.key, obj)
        return obj if self._held(task.key, obj) else self._remove(task.key, obj)

    def _marked(self, task: _Task, obj: Object, *, foreground: bool) -> Object:
        """The object with a deletion time, where it does not go at once."""
        metadata = obj["metadata"]
        finalizers = metadata.get("finalizers") or []
        if foreground and _FOREGROUND_FINALIZER not in finalizers:
            finalizers = [*finalizers, _FOREGROUND_FINALIZER]
        if not finalizers and task.key not in (NAMESPACES, _DEFINITIONS):
            return obj
        if metadata.get("deletionTimestamp") and finalizers == (metadata.get("finalizers") or []):
            return obj
        changed = {**metadata, "deletionTimestamp": values.now(), "deletionGracePeriodSeconds": 0}
        if finalizers:
            changed["finalizers"] = finalizers
        obj = {**obj, "metadata": changed}
        return {**obj, "status": {**obj.get("status", {}), "phase": "Terminating"}} if task.key == NAMESPACES else obj

    def _empty(self, key: Key, obj: Object) -> None:
        """Delete what lies in a namespace or was made by a definition."""
        if key == NAMESPACES:
            for inner, place in self._store.in_namespace(obj["metadata"]["name"]):
                self._tasks.append(_Task(inner, place, BACKGROUND))
        elif key == _DEFINITIONS:
            made = _made_by(obj)
            self._tasks += [_Task(made, place_of(one), BACKGROUND) for one in list(self._store.select(made))]

    def _held(self, key: Key, obj: Object) -> bool:
        metadata = obj["metadata"]
        if metadata.get("finalizers"):
            return True
        if key == NAMESPACES:
            return next(self._store.in_namespace(metadata["name"]), None) is not None
        if key == _DEFINITIONS:
            return next(self._store.select(_made_by(obj)), None) is not None
        return False

    def _remove(self, key: Key, obj: Object) -> Object:
        dependents = self._dependents(obj)
        last = self._store.remove(key, place_of(obj))
        for inner, place in dependents:
            self._drop_owner(inner, place, obj)
        self._settle_owners(obj)
        if key == _DEFINITIONS:
            self._forget(last)
        self._settle_container(key, obj)
        return last

    def _settle_container(self, key: Key, obj: Object) -> None:
        namespace = obj["metadata"].get("namespace")
        if namespace:
            self._again(NAMESPACES, Place("", namespace))
        found = self._resources.of_key(key)
        if found is not None and found.custom:
            self._again(_DEFINITIONS, Place("", f"{key.plural}.{key.group}"))

    def _again(self, key: Key, place: Place) -> None:
        obj = self._store.get(key, place)
        if obj is not None and obj["metadata"].get("deletionTimestamp") and not self._held(key, obj):
            self._remove(key, obj)

    def _drop_owner(self, key: Key, place: Place, owner: Object) -> None:
        """What to do with a dependent of an object that is gone: it goes too, unless it has another owner."""
        obj = self._store.get(key, place)
        if obj is None:
            return
        rest = [one for one in obj["metadata"]["ownerReferences"] if one.get("uid") != owner["metadata"].get("uid")]
        if any(self._exists(one, place.namespace) for one in rest):
            self._store.put(key, {**obj, "metadata": {**obj["metadata"], "ownerReferences": rest}})
        else:
            self._tasks.append(_Task(key, place, BACKGROUND))

    def _release(self, owner: Object, dependents: list[tuple[Key, Place]]) -> None:
        """Take an owner out of its dependents."""
        for key, place in dependents:
            obj = self._store.get(key, place)
            if obj is not None:
                rest = [one for one in obj["metadata"]["ownerReferences"] if one.get("uid") != owner["metadata"].get("uid")]
                metadata = {**obj["metadata"], "ownerReferences": rest}
                if not rest:
                    del metadata["ownerReferences"]
                self._store.put(key, {**obj, "metadata": metadata})

    def _settle_owners(self, obj: Object) -> None:
        """Let an owner go that waited for its last dependent."""
        for reference in obj["metadata"].get("ownerReferences") or ():
            owner = self._owner(reference, obj["metadata"].get("namespace", ""))
            if owner is None or self._dependents(owner[1]):
                continue
            key, found = owner
            finalizers = found["metadata"].get("finalizers") or []
            if _FOREGROUND_FINALIZER in finalizers:
                rest = [one for one in finalizers if one != _FOREGROUND_FINALIZER]
                metadata = {**found["metadata"], "finalizers": rest}
                self._store.put(key, {**found, "metadata": metadata})
                self._tasks.append(_Task(key, place_of(found), BACKGROUND))

    def _dependents(self, owner: Object) -> list[tuple[Key, Place]]:
        """What names an object as its owner; nobody in another namespace can, or he would hold its deletion up."""
        namespace = owner["metadata"].get("namespace")
        found = self._store.dependents(owner["metadata"].get("uid", ""))
        return [(key, place) for key, place in found if not namespace or place.namespace == namespace]

    def _exists(self, reference: Mapping[str, Any], namespace: str) -> bool:
        return self._owner(reference, namespace) is not None

    def _owner(self, reference: Mapping[str, Any], namespace: str) -> tuple[Key, Object] | None:
        kind = self._resources.of_kind(reference.get("apiVersion", ""), reference.get("kind", ""))
        if kind is None:
            return None
        obj = self._store.get(kind.key, Place(namespace if kind.namespaced else "", reference.get("name", "")))
        return (kind.key, obj) if obj is not None and obj["metadata"].get("uid") == reference.get("uid") else None


def _made_by(definition: Object) -> Key:
    return Key(definition["spec"]["group"], definition["spec"]["names"]["plural"])
