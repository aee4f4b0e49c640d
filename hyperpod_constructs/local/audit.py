"""The property audit: an unread property of a template is not honoured, and fails the deployment by name.

Handlers get their properties in containers that record every read. A container that was read key by key answers for every key.
A container that was passed on as a whole is for its receiver to judge.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperpod_constructs.local.changes import changed


class UnreadPropertyError(ValueError):
    """A template sets a property that the embedded AWS does not honour."""


class RecordingDict(dict[str, Any]):
    """A dictionary that records which keys were read. It is a real `dict`, since handlers and json ask for one."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        super().__init__({key: recording(value) for key, value in plain.items()})
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """As of `dict`; recorded."""
        self.read.add(key)
        return super().get(key, default)

    def pop(self, key: str, *default: Any) -> Any:
        """As of `dict`; recorded."""
        self.read.add(key)
        return super().pop(key, *default)

    def __iter__(self) -> Iterator[str]:
        return iter(list(super().keys()))

    def values(self) -> Any:
        """As of `dict`; everything counts as read."""
        return self.copy().values()

    def items(self) -> Any:
        """As of `dict`; everything counts as read."""
        return self.copy().items()

    def copy(self) -> dict[str, Any]:
        """As of `dict`; everything counts as read."""
        self.read.update(super().keys())
        return dict(super().items())

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return copy.deepcopy(self.copy(), memo)

    def __reduce__(self) -> Any:
        return dict, (self.copy(),)

    def unread(self) -> Iterator[str]:
        """The dotted paths of the unread keys."""
        for key, value in super().items():
            if key not in self.read:
                yield key
            else:
                yield from (f"{key}.{path}" for path in _unread_inside(value))


def recording(value: Any) -> Any:
    """The same value with every dictionary in it replaced by one that records."""
    if isinstance(value, Mapping):
        return RecordingDict(value)
    if isinstance(value, list):
        return [recording(item) for item in value]
    return value


def plain(value: Any) -> Any:
    """The value with ordinary containers; reads nothing."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in dict.items(value)}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def _unread_inside(value: Any) -> Iterator[str]:
    if isinstance(value, RecordingDict) and value.read:
        yield from value.unread()
    elif isinstance(value, list):
        for item in value:
            yield from _unread_inside(item)


def complain(type_name: str, logical_id: str, paths: list[str]) -> None:
    """Raise UnreadPropertyError if there is any such path."""
    if paths:
        raise UnreadPropertyError(
            f"the embedded aws does not honour {', '.join(sorted(set(paths)))} of {logical_id} ({type_name}): no handler reads it;"
            f" leave it out of what is deployed locally, or teach the handler of {type_name} to honour it"
        )


def audited(type_name: str, handler: Mapping[str, Any], during_update: Callable[[], bool]) -> dict[str, Any]:
    """The handler of a type with the audit around its `create` and `update`; what fails the audit is undone first."""
    create: Any = handler["create"]
    update, delete = handler.get("update"), handler.get("delete")
    change: Any = update
    with_logical_id = bool(handler.get("update_with_logical_id"))

    def audited_create(logical_id: str, properties: dict[str, Any], stack: str) -> Any:
        recorder = RecordingDict(properties)
        created = create(logical_id, recorder, stack)
        try:
            complain(type_name, logical_id, list(recorder.unread()))
        except UnreadPropertyError:
            if delete is not None and not during_update():
                arguments = (logical_id,) if handler.get("delete_with_logical_id") else ()
                delete(created[0], plain(properties), *arguments)
            raise
        return created

    def audited_update(
        physical_id: str, old: dict[str, Any], new: dict[str, Any], stack: str, logical_id: str | None = None
    ) -> Any:
        arguments = (logical_id,) if with_logical_id else ()
        recorder = RecordingDict(new)
        updated = change(physical_id, plain(old), recorder, stack, *arguments)
        removed = [key for key in old if key not in new and key not in recorder.read]
        unread = [path for path in recorder.unread() if changed(old, new, path.split("."))]
        try:
            complain(type_name, logical_id or physical_id, removed + unread)
        except UnreadPropertyError:
            if updated[0] == physical_id:
                change(physical_id, plain(new), plain(old), stack, *arguments)
            raise
        return updated

    wrapped = {**handler, "create": audited_create}
    if update is not None:
        wrapped["update"] = audited_update
        wrapped["update_with_logical_id"] = True
    return wrapped
