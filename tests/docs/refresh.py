"""Writes what the pages show, and everything else in them that is generated: `python -m tests.docs.refresh`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.docs import terminal_pictures
from tests.docs.pages import PAGES
from tests.docs.shown import refreshed, write_templates
from tests.leaves import page as properties_page
from tools import draw_pictures, generate_rule_table, generate_settings_table


def main() -> int:
    """The number of programs that failed."""
    with tempfile.TemporaryDirectory() as directory:
        write_templates(Path(directory))
        for shown in PAGES:
            shown.write_text(refreshed(shown.read_text("utf-8"), Path(directory)), "utf-8")
    terminal_pictures.main()
    return sum(tool.main([]) for tool in (draw_pictures, generate_rule_table, generate_settings_table, properties_page))


if __name__ == "__main__":
    sys.exit(main())
