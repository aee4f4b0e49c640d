"""The floors of the package: `[tool.importlinter]` in pyproject.toml draws them, and import-linter reads the imports."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACTS = [
    contract["id"] for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
]


def lint(contract: str, directory: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--contract", contract]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True)  # noqa: S603


@pytest.mark.parametrize("contract", CONTRACTS)
def test_imports_keep_the_contract(contract: str) -> None:
    found = lint(contract, ROOT)
    assert found.returncode == 0, found.stdout
    assert "Contracts: 1 kept" in found.stdout
