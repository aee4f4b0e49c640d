"""The communication backend follows from the type of the nodes and from what is installed."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from common.backend import NCCL, SMDDP, choose

INSTALLED = [SMDDP.rsplit(".", count)[0] for count in range(4)]


def test_no_gpu_means_gloo_on_every_type() -> None:
    assert [choose(family, gpu=False).name for family in ("p4d", "p5", "c5", "")] == ["gloo"] * 4
    assert choose("p4d", gpu=False).reason == "this node has no GPU"


@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize(
    ("family", "suited"), [("p4d", True), ("p4de", True), ("p5", False), ("p5en", False), ("g5", False), ("", False)]
)
def test_smddp_only_where_it_imports_and_the_type_is_p4d_or_p4de(
    monkeypatch: pytest.MonkeyPatch, family: str, suited: bool, installed: bool
) -> None:
    for name in INSTALLED:
        monkeypatch.setitem(sys.modules, name, ModuleType(name) if installed else None)
    chosen = choose(family, gpu=True)
    assert chosen.name == ("smddp" if suited and installed else NCCL)
    if not suited:
        assert chosen.reason == f"SMDDP is for p4d and p4de, this node is {family or 'of an unknown type'}"
    elif not installed:
        assert f"this node is {family}, but SMDDP does not import" in chosen.reason
    else:
        assert chosen.reason == f"this node is {family}, and SMDDP imports"


def test_a_broken_installation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> ModuleType:
        raise OSError("libsmddp.so: cannot open shared object file")

    monkeypatch.setattr("importlib.import_module", fail)
    assert choose("p4d", gpu=True).reason.endswith("does not import: libsmddp.so: cannot open shared object file")
