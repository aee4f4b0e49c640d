"""No rule finds anything in a correct template."""

from __future__ import annotations

import pytest

from tests.presets import PRESETS
from tests.rules.catalogue.cases import edited
from tests.rules.catalogue.templates import eks, findings_by_name, preset, rules_of, slurm


def test_templates_of_other_tools_are_clean() -> None:
    assert rules_of(slurm()) == []
    assert rules_of(eks()) == []
    assert rules_of(slurm(), edited(eks(), {"Cluster/ClusterName": "other"})) == []


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_clean(name: str) -> None:
    assert findings_by_name(preset(name)) == []


@pytest.mark.parametrize("name", PRESETS)
def test_each_stack_of_a_preset_is_clean_alone(name: str) -> None:
    for stack, template in preset(name).items():
        assert findings_by_name({stack: template}) == []
