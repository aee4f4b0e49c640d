"""A node with every kind of device."""

from __future__ import annotations

import pytest
from node_health.checks.context import Context
from node_health.memory import Memory
from node_health.settings import Settings

from ..node_health.doubles import Machine
from .machines import full_machine


@pytest.fixture
def machine() -> Machine:
    return full_machine()


@pytest.fixture
def context(machine: Machine) -> Context:
    return Context(machine, Settings(), Memory(machine), None, machine.monotonic() + 60)
