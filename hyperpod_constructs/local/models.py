"""The service models of botocore: the shapes of requests and responses."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from botocore.loaders import JSONFileLoader, Loader
from botocore.model import ServiceModel


class _Files(JSONFileLoader):
    """Decodes each file once; that of EC2 takes a third of a second. Nobody changes a model, so it may be shared."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = {}

    def load_file(self, file_path: str) -> Any:
        """The content; None if there is no such file."""
        found = self._found.get(file_path)
        if found is None:
            found = self._found[file_path] = super().load_file(file_path)
        return found


_FILES = _Files()


def loader(data: Path | None, *, installed: bool) -> Loader:
    """A loader of the models in a botocore data folder.

    :param data: the folder, which comes first; none when `None`.
    :param installed: whether the models of the installed botocore follow.
    """
    paths = [] if data is None else [str(data)]
    return Loader(extra_search_paths=paths, file_loader=_FILES, include_default_search_paths=installed)


class ServiceModels:
    """Models from one botocore data folder; the installed botocore's unless another is given.

    :raises ValueError: if the folder does not exist.
    """

    def __init__(self, data: Path | None = None) -> None:
        if data is not None and not data.is_dir():
            raise ValueError(f"models: no such folder: {data}; give a botocore data folder, such as .../botocore/data")
        self._loader = loader(data, installed=data is None)
        self.service = lru_cache(maxsize=None)(self._service)

    def _service(self, name: str) -> ServiceModel:
        return ServiceModel(self._loader.load_service_model(name, "service-2"), service_name=name)
