"""Writes the table of `docs/settings.md`: every setting of the reference app with its defaults and its meaning.

python tools/generate_settings_table.py           # writes the table
python tools/generate_settings_table.py --check   # exits 1 if the page is not current
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Sequence
from dataclasses import fields
from enum import StrEnum
from pathlib import Path

from app_settings import DEFAULT_PRESETS, OF_ONE_ORCHESTRATOR, PRESETS, Settings

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
_TABLE = re.compile(r"^\|.*\n(?:\|.*\n)*", re.MULTILINE)
_PARAMETER = re.compile(r"^:param (\w+): (.*?)(?=^:|\Z)", re.MULTILINE | re.DOTALL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the table; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is not current")
    check = parser.parse_args(arguments).check
    written = PAGE.read_text(encoding="utf-8")
    current = _TABLE.sub(lambda _: table(), written, count=1)
    if check and written != current:
        sys.stderr.write(f"{PAGE.name} is not current: run python tools/generate_settings_table.py\n")
        return 1
    if not check:
        PAGE.write_text(current, encoding="utf-8")
    return 0


def table() -> str:
    """The table in Markdown: a row for the preset, then one for each field of `Settings`."""
    defaults = {name: f" (default of `{orchestrator}`)" for orchestrator, name in DEFAULT_PRESETS.items()}
    head = ["key", *(f"preset `{name}`{defaults.get(name, '')}" for name in PRESETS), "meaning"]
    meanings = _meanings()
    rows = [["`preset`", *(f"`{name}`" for name in PRESETS), "The defaults of the other keys."]]
    rows += [_row(field.name, meanings[field.name]) for field in fields(Settings)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ["---"] * len(head), *rows))


def _meanings() -> dict[str, str]:
    """The parameters in the docstring of `Settings`."""
    text = inspect.getdoc(Settings) or ""
    return {name: " ".join(meaning.split()) for name, meaning in _PARAMETER.findall(text)}


def _row(key: str, meaning: str) -> list[str]:
    return [f"`{key}`", *(_value(preset, key) for preset in PRESETS.values()), meaning[0].upper() + meaning[1:]]


def _value(preset: Settings, key: str) -> str:
    if OF_ONE_ORCHESTRATOR.get(key, preset.orchestrator) is not preset.orchestrator:
        return "-"
    return _shown(getattr(preset, key))


def _shown(value: object) -> str:
    if value in (None, ()):
        return "not given"
    if isinstance(value, tuple):
        return f"`{','.join(map(str, value))}`"
    if isinstance(value, StrEnum):
        return f"`{value}`"
    return f"`{str(value).lower() if isinstance(value, bool) else getattr(value, 'name', value)}`"


if __name__ == "__main__":
    sys.exit(main())
