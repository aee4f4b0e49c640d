from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_constructs.cli.shadowed import other_program


def program(directory: Path, text: str) -> Path:
    directory.mkdir()
    path = directory / "hyperpod"
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


def test_only_a_program_of_another_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = program(tmp_path / "own", "from hyperpod_constructs.cli.main import main")
    twin = program(tmp_path / "twin", "from hyperpod_constructs.cli.main import main")
    other = program(tmp_path / "other", "from hyperpod_cli import main")
    found = {}
    for first in (own, twin, other):
        monkeypatch.setenv("PATH", f"{first.parent}:{own.parent}")
        found[first] = other_program(str(own))
    assert found == {own: None, twin: None, other: str(other)}


def test_no_program_on_the_path_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert other_program("hyperpod") is None
