"""Service models that are read once in a process: botocore reads and decodes them for each session, longer than most tests take."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from botocore.loaders import JSONFileLoader, Loader

CHANGED = "s3"
"""The service whose model botocore changes when it is used: each session reads it anew."""


def read_once() -> None:
    """From now on, a file that botocore has read stays as it was read, and so does the list of services in a folder."""
    read = JSONFileLoader.load_file
    listed = Loader.list_available_services
    files: dict[str, Any] = {}

    def load_file(self: JSONFileLoader, file_path: str) -> Any:
        if file_path in files:
            return files[file_path]
        found = read(self, file_path)
        if found is not None and CHANGED not in Path(file_path).parts:
            files[file_path] = found
        return found

    @cache
    def services(places: tuple[str, ...], kind: str) -> list[str]:
        return listed(Loader(list(places), include_default_search_paths=False), kind)

    def list_available_services(self: Loader, type_name: str) -> list[str]:
        return list(services(tuple(self.search_paths), type_name))

    JSONFileLoader.load_file = load_file  # type: ignore[method-assign]
    Loader.list_available_services = list_available_services  # type: ignore[method-assign]
