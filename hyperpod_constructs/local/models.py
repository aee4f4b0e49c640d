"""The service models of botocore: the shapes of requests and responses."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from botocore.loaders import Loader
from botocore.model import ServiceModel


class ServiceModels:
    """Models from one botocore data folder; the installed botocore's unless another is given.

    :raises ValueError: if the folder does not exist.
    """

    def __init__(self, data: Path | None = None) -> None:
        if data is not None and not data.is_dir():
            raise ValueError(f"models: no such folder: {data}; give a botocore data folder, such as .../botocore/data")
        paths = [] if data is None else [str(data)]
        self._loader = Loader(extra_search_paths=paths, include_default_search_paths=data is None)
        self.service = lru_cache(maxsize=None)(self._service)

    def _service(self, name: str) -> ServiceModel:
        return ServiceModel(self._loader.load_service_model(name, "service-2"), service_name=name)
