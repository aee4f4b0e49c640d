"""The code map is held to the folders; import-linter holds the picture of the floors to the imports."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT

MAP = re.findall(r"^\| (`[^|]+) \|", (ROOT / "docs" / "architecture.md").read_text("utf-8"), re.MULTILINE)
PATHS = {path for cell in MAP for path in re.findall(r"`([^`]+)`", cell)}
PACKAGE = ROOT / "hyperpod_constructs"


def _parts() -> dict[str, str]:
    """The folders and modules of the package, as the map writes them."""
    found = [path for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    return {path.stem: f"hyperpod_constructs/{path.name}{'/' * path.is_dir()}" for path in found if path.name != "__init__.py"}


def test_the_map_names_folders_and_modules_that_exist() -> None:
    assert [path for path in PATHS if (ROOT / path).is_dir() != path.endswith("/") or not (ROOT / path).exists()] == []


def test_every_part_of_the_package_and_every_folder_is_on_the_map() -> None:
    shown = [path for path in ROOT.iterdir() if not path.name.startswith(".")]
    folders = {f"{path.name}/" for path in shown if any(path.glob("*.py")) or any(path.glob("*.md"))}
    assert {*_parts().values(), *folders} - {"hyperpod_constructs/"} <= PATHS
