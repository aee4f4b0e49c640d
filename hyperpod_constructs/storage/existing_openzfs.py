"""OpenZFS file systems as nodes see them, and those from outside the app."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from hyperpod_constructs._support.arguments import checked_value
from hyperpod_constructs._support.values import FileSystemId, OpenZfsHost, VolumeId


class OpenZfsSource(Protocol):
    """The addresses by which a node mounts an OpenZFS file system."""

    @property
    def file_system_id(self) -> str: ...
    @property
    def dns_name(self) -> str: ...


@checked_value
@dataclass(frozen=True, kw_only=True, slots=True)
class ExistingOpenZfs:
    """An OpenZFS file system from outside this app; see `OpenZfsStorage.from_attributes`."""

    file_system_id: FileSystemId
    dns_name: OpenZfsHost
    root_volume_id: VolumeId | None = None
