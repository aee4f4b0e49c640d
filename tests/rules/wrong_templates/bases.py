"""Correct templates of several shapes, each as other tools write them; by file name, fresh at every call."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from hyperpod_constructs.templates.reading import read_template
from tests.rules.catalogue.templates import eks, preset, slurm

Templates = dict[str, dict[str, Any]]

_DIRECTORY = Path(__file__).parent / "templates"
_FOREIGN = {
    "official": ("official.yaml",),
    "exported": ("exported.json",),
    "closed": ("closed.yaml",),
    "karpenter": ("karpenter.yaml",),
    "nested": ("nested/main.yaml", "nested/network.yaml", "nested/storage.yaml", "nested/cluster.yaml"),
}
BASES = ("announcement", "llm", "slurm", "eks", *_FOREIGN)


def base(name: str) -> Templates:
    """The templates of a base, that of the root stack first."""
    return deepcopy(_base(name))


@cache
def _base(name: str) -> Templates:
    if name in _FOREIGN:
        return {Path(file).name: read_template(_DIRECTORY / file) for file in _FOREIGN[name]}
    if name in ("slurm", "eks"):
        return {f"{name}.json": slurm() if name == "slurm" else eks()}
    return {f"{stack}.json": template for stack, template in preset(name).items()}
