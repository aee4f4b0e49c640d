"""AWS CDK constructs for Amazon SageMaker HyperPod.

The public names stand in `__init__.pyi`. Each is imported when it is first used, so that importing the package starts no jsii.
"""

from __future__ import annotations

import ast
import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def _modules() -> dict[str, str]:
    """The module of each public name."""
    stub = ast.parse((Path(__file__).parent / "__init__.pyi").read_text("utf-8"))
    imports = [statement for statement in stub.body if isinstance(statement, ast.ImportFrom)]
    return {name.name: str(statement.module) for statement in imports for name in statement.names}


_MODULES = _modules()
__all__ = sorted(_MODULES)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without garbage collection: an import makes the CDK's classes, which stay, and the collector would search them many times."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    with _collector_paused():
        value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
