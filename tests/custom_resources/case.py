"""What a test must know of one custom resource; `test_faults.py` and `tests/deploy` know the rest.

A case is one module in `cases/`, named like the handler's, with one subclass of `Case`.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any

from constructs import Construct

from hyperpod_constructs.custom_resources import handlers
from tests.custom_resources import cases
from tests.custom_resources.world import World


class Variant(Enum):
    """The properties with which a resource is built."""

    WORKING = "working"
    CHANGED = "changed"
    """Other values; the same physical id."""
    RENAMED = "renamed"
    """Values with which it is another resource: another physical id."""
    BROKEN = "broken"
    """Values with which a creation fails, and an update from `WORKING`."""


class Case(ABC):
    """One custom resource. The attributes below are reasons: text for the reader of a test that then expects something else."""

    not_renamed: str = ""
    """Why there is no `RENAMED`: why no change of properties changes the physical id."""

    failure: str = ""
    """A part of the error with which `BROKEN` fails."""

    survives: Mapping[str, str] = {}
    """"Create" or "Update" to the reason why it succeeds with `BROKEN`."""

    unneeded: Mapping[str, str] = {}
    """Action, such as "iam:PassRole", to the reason why no operation of a test fails without it."""

    wide: Mapping[str, str] = {}
    """Action to the reason why it is allowed for resources of others too."""

    rare: Sequence[tuple[str, str, Mapping[str, Any]]] = ()
    """Calls of `unneeded` actions that share no statement with others: service, operation and parameters."""

    unnoticed: Mapping[str, str] = {}
    """Start of a path in an answer, such as "DescribeCluster.InstanceGroups.", to the reason why no handler can notice that a
    member below is missing: the service leaves it out where it is not set."""

    blind: str = ""
    """Why an operation that fails with `BROKEN` may succeed if it cannot look."""

    @property
    def name(self) -> str:
        """The name of the handler's module."""
        return type(self).__module__.rpartition(".")[2]

    def prepare(self, world: World) -> None:  # noqa: B027  # a case may need nothing
        """Make what must exist before the resource, and things of others beside it. Called once for a world; keep names and ids in
        `world.names`, which is empty before.
        """

    @abstractmethod
    def build(self, scope: Construct, world: World, variant: Variant) -> None:
        """Make the construct, one custom resource, in `scope`. Values that exist in the world are literals from `world.names`."""

    @abstractmethod
    def read(self, world: World) -> Mapping[str, Any]:
        """All that the resource could make, change or delete in the world, its own and that of others, by a stable name, with the
        content. Without generated ids and times, and without what no deletion removes: the history of ended tasks, for example.
        """


@cache
def all_cases() -> tuple[Case, ...]:
    """The cases, in the order of their names."""
    modules = [importlib.import_module(f"{cases.__name__}.{found.name}") for found in pkgutil.iter_modules(cases.__path__)]
    return tuple(_case(module) for module in modules)


def _case(module: Any) -> Case:
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__]
    [case] = [kind() for kind in kinds if issubclass(kind, Case)]
    return case


@cache
def handler_modules() -> tuple[str, ...]:
    """The names of the modules with entry points of functions; `resource` has those that all of them share."""
    names = [found.name for found in pkgutil.iter_modules(handlers.__path__) if found.name != "resource"]
    return tuple(name for name in names if hasattr(importlib.import_module(f"{handlers.__name__}.{name}"), "on_event"))
