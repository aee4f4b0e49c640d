from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from pathlib import Path

import pytest

from tests.lint import tools
from tests.lint.acknowledgements import Finding
from tests.presets import PRESETS

_RUN: dict[str, Callable[[Collection[Path]], list[Finding]]] = {
    "cdk": tools.cdk,
    "cfn-lint": tools.cfn_lint,
    "cdk-nag": tools.cdk_nag,
    "checkov": tools.checkov,
}

_GIVEN = {"llm": ("alarms_email=team@example.com", "monthly_budget_usd=1000")}
"""Settings beside a preset, so that the linters see what they make."""


@pytest.fixture(scope="session")
def assemblies(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Each preset, synthesized by a process of its own; an error of CDK's own validation ends it."""
    directory = tmp_path_factory.mktemp("assemblies")
    running = [(directory / preset, tools.synthesize(directory / preset, preset, *_GIVEN.get(preset, ()))) for preset in PRESETS]
    for assembly, process in running:
        _, errors = process.communicate(timeout=600)
        assert process.returncode == 0, f"{assembly.name}: {errors}"
    return [assembly for assembly, _ in running]


@pytest.fixture(scope="session")
def findings_of(assemblies: list[Path]) -> Callable[[str], list[Finding]]:
    """All findings of a tool, which runs once."""
    return cache(lambda tool: _RUN[tool](assemblies))
