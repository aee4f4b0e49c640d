"""torch without its compiler, until something compiles: a rank starts sooner, with less processor time and fewer files to read.

torch loads its compiler for each optimizer and for DistributedDataParallel, only to tell it what not to compile. Here, a stand-in
hears that. Any other use loads the compiler itself: `torch.compile` works as ever, but a function is compiled at its first call.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import torch

COMPILER = "torch._dynamo"
# Stands alone; FSDP reads it.
CONFIG = f"{COMPILER}.config"


class StandIn(ModuleType):
    """The compiler before its code runs: the few functions that eager execution calls. Another name makes the code run."""

    class eval_frame:  # noqa: N801
        class OptimizedModule:
            """The type of compiled modules: there is none yet."""

    utils = SimpleNamespace(get_optimize_ddp_mode=lambda: "ddp_optimizer")
    trace_rules = SimpleNamespace(clear_lru_cache=lambda: None)

    @staticmethod
    def graph_break(*_: Any, **__: Any) -> None:
        """Nothing is traced, so there is nothing to break."""

    @staticmethod
    def disable(function: Callable[..., Any] | None = None, *arguments: Any, **options: Any) -> Any:
        """The function; it asks the compiler as soon as that is loaded."""
        if function is None:
            return lambda given: StandIn.disable(given, *arguments, **options)

        asked: list[Callable[..., Any]] = []

        def call(*given: Any, **named: Any) -> Any:
            # While the code of the compiler still runs, it has no such function yet.
            compiler = None if asked or stands_in() else getattr(sys.modules[COMPILER], "disable", None)
            if compiler is not None:
                asked.append(compiler(function, *arguments, **options))
            return (asked[0] if asked else function)(*given, **named)

        return call

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        load(name)
        return getattr(self, name)


class Parts(MetaPathFinder, Loader):
    """Loads the compiler as a whole when one of its parts is imported."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name.startswith(f"{COMPILER}.") and name != CONFIG and stands_in() else None

    def exec_module(self, module: ModuleType) -> None:
        del sys.modules[module.__name__]
        load(module.__name__)
        import_module(module.__name__)


def stands_in() -> bool:
    return isinstance(sys.modules.get(COMPILER), StandIn)


def load(reason: str) -> None:
    """Makes the stand-in the compiler."""
    logging.info("torch's compiler is loaded for %s", reason)
    module = sys.modules[COMPILER]
    module.__class__ = ModuleType
    assert module.__spec__ is not None
    assert module.__spec__.loader is not None
    module.__spec__.loader.exec_module(module)


def compile_later(now: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.compile`, `now`, but a function waits for its first call: DeepSpeed decorates kernels that most jobs never call."""

    def later(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda given: later(given, **options)
        if not isinstance(model, FunctionType):
            return now(model, **options)
        compiled: list[Callable[..., Any]] = []

        @wraps(model)
        def call(*given: Any, **named: Any) -> Any:
            if not compiled:
                compiled.append(now(model, **options))
            return compiled[0](*given, **named)

        return call

    return later


def install() -> None:
    """Call it before the first optimizer. It changes nothing once the compiler is loaded."""
    spec = None if COMPILER in sys.modules else find_spec(COMPILER)
    if spec is None:
        return
    module = module_from_spec(spec)
    module.__class__ = StandIn
    sys.modules[COMPILER] = module
    sys.meta_path.insert(0, Parts())
    torch.compile = compile_later(torch.compile)
