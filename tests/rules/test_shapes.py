"""Correct templates in the shapes that public repositories have: nobody who wrote the newer ones had read the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_constructs.rules.checking import check
from hyperpod_constructs.templates.model import load

SHAPES = sorted((Path(__file__).parent / "shapes").iterdir())
WITHOUT_A_CHART = ("addons.yaml", "karpenter.yaml")
"""Their chart of HyperPod is installed by hand, of which the rule tells whoever forgot it."""


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_the_shapes_of_public_templates_are_clean(shape: Path) -> None:
    found = check(load(sorted(shape.iterdir()) if shape.is_dir() else [shape]))
    told = [f"{one.rule} {one.resource} {one.path}: {one.message}" for one in found if one.rule != "HP-EKS-017"]
    assert told == []
    assert len(found) == (shape.name in WITHOUT_A_CHART)


def test_there_are_31_shapes() -> None:
    assert len(SHAPES) >= 31
