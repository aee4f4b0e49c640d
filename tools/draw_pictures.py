"""Draws the pictures of the documentation: `docs/overview.svg` and `docs/floors.svg`.

python tools/draw_pictures.py           # writes them
python tools/draw_pictures.py --check   # exits 1 if one is not current

Boxes bring their own background and the rest is a grey that shows on white and on black, so one file serves light and dark pages.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"

BLUE, GREEN, ORANGE, PURPLE, SLATE = "#1f5fa8", "#1a7048", "#a6490f", "#6b3fa0", "#4a5560"
GREY = "#7d8590"
_ARROWHEAD = 8
_SMALL = 'font-size="14"'

_SUBJECTS = {
    "cli": "the hyperpod command",
    "patterns": "SlurmCluster: wiring and defaults",
    "observability": "alarms, events, metrics, dashboards, budget",
    "eks": "what only a cluster on Kubernetes needs",
    "cluster": "the cluster and its instance groups",
    "custom_resources": "one module for each gap in the API",
    "encryption": "one key for all that a cluster stores",
    "rules": "mistakes in a template",
    "cost": "US dollars by the hour",
    "plan": "effects of an update",
    "analysis": "networks, permissions and clusters in a template",
    "templates": "templates as resolved, typed data",
    "_support": "jsii, tokens, arguments, printable text",
    "facts": "figures and limits of AWS, each with its source",
}
_COLOURS = {
    "cli": SLATE,
    "patterns": BLUE,
    "observability": BLUE,
    "eks": BLUE,
    "cluster": BLUE,
    "storage": BLUE,
    "custom_resources": BLUE,
    "encryption": BLUE,
    "_support": SLATE,
    "facts": GREEN,
}
_LOCAL = "local"
_LOWEST = ("_support", "facts")


class Box(NamedTuple):
    """A rectangle with a bold title and lines below it."""

    x: int
    y: int
    width: int
    height: int
    colour: str
    title: str
    lines: tuple[str, ...] = ()

    def drawn(self) -> str:
        middle, spacing = self.x + self.width / 2, 19
        first = self.y + self.height / 2 + 5 - spacing * len(self.lines) / 2
        texts = [_text(middle, first, self.title, 'font-weight="600"')]
        texts += [_text(middle, first + spacing * (number + 1), line, _SMALL) for number, line in enumerate(self.lines)]
        frame = f'<rect x="{self.x}" y="{self.y}" width="{self.width}" height="{self.height}" rx="8" fill="{self.colour}"/>'
        return "\n".join([frame, *texts])


def _text(x: float, y: float, text: str, attributes: str = "", colour: str = "#ffffff", anchor: str = "middle") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}" {attributes}>{escape(text)}</text>'


def _arrow(*points: tuple[int, int]) -> str:
    """A line along these points, with a head at its end."""
    path = " ".join(f"{x},{y}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{GREY}" stroke-width="2" marker-end="url(#head)"/>'


def _picture(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    head = (
        f'<marker id="head" markerWidth="{_ARROWHEAD}" markerHeight="{_ARROWHEAD}" refX="7" refY="4" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{GREY}"/></marker>'
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="16" role="img">',
            f"<title>{escape(title)}</title>",
            f"<defs>{head}</defs>",
            *parts,
            "</svg>\n",
        ]
    )


def overview() -> str:
    """From the user's lines to running jobs."""
    boxes = (
        Box(4, 96, 150, 80, BLUE, "Your app", ("15 lines of Python",)),
        Box(190, 96, 190, 80, BLUE, "Constructs", ("network, storage, role,", "scripts, instance groups")),
        Box(416, 96, 150, 80, SLATE, "Template", ("CloudFormation",)),
        Box(376, 4, 230, 60, PURPLE, "check · plan · cost", ("before anything is deployed",)),
        Box(656, 50, 210, 70, ORANGE, "AWS", ("your account",)),
        Box(656, 152, 210, 70, GREEN, "Embedded AWS", ("this machine, no account",)),
        Box(906, 96, 170, 80, SLATE, "Nodes", ("Slurm, health checks,", "jobs that resume")),
    )
    arrows = (
        _arrow((154, 136), (188, 136)),
        _arrow((380, 136), (414, 136)),
        _arrow((491, 96), (491, 66)),
        _arrow((566, 136), (610, 136), (610, 85), (654, 85)),
        _arrow((566, 136), (610, 136), (610, 187), (654, 187)),
        _arrow((866, 85), (886, 85), (886, 120), (904, 120)),
        _arrow((866, 187), (886, 187), (886, 152), (904, 152)),
        _text(600, 208, "cdk deploy", _SMALL, GREY),
    )
    title = "An app of 15 lines becomes a template, which is checked and then deployed to AWS or to the embedded AWS"
    return _picture(1080, 228, title, [*arrows, *(box.drawn() for box in boxes)])


def layers() -> list[list[str]]:
    """The packages of each floor from the top, as import-linter holds the imports to them in pyproject.toml."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    found = next(contract["layers"] for contract in contracts if contract["id"] == "floors")
    return [re.findall(r"\w+", layer) for layer in found]


def floors() -> str:
    """The packages, each above those that it may import; `local` stands on the two lowest floors, and `cli` on `local` too."""
    step, height, width, gap = 44, 38, 860, 8
    storeys = [[name for name in names if name != _LOCAL] for names in layers()]
    upper = len(storeys) - len(_LOWEST)
    side = 96
    parts = [Box(width - side - 4, 4 + step, side, step * (upper - 1) - 6, ORANGE, _LOCAL).drawn()]
    for row, names in enumerate(storeys):
        whole = width - 8 if row == 0 or row >= upper else width - 8 - side - gap
        share, y = (whole - gap * (len(names) - 1)) // len(names), 4 + row * step
        colour = _COLOURS.get(names[0], PURPLE)
        if len(names) > 1:
            parts += [Box(4 + number * (share + gap), y, share, height, colour, name).drawn() for number, name in enumerate(names)]
        else:
            parts += [Box(4, y, share, height, colour, "").drawn(), *_caption(y + 25, names[0], _SUBJECTS[names[0]])]
    title = "The packages of the library: each imports from lower floors only, and local from the two lowest only"
    return _picture(width, 4 + step * len(storeys), title, parts)


def _caption(y: int, name: str, subject: str) -> tuple[str, str]:
    return _text(20, y, name, 'font-weight="600"', anchor="start"), _text(190, y, subject, _SMALL, anchor="start")


PICTURES: dict[str, Callable[[], str]] = {"overview.svg": overview, "floors.svg": floors}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the pictures; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a picture is not current")
    check = parser.parse_args(arguments).check
    stale = [name for name, draw in PICTURES.items() if _written(name) != draw()]
    if check and stale:
        sys.stderr.write(f"{', '.join(stale)} not current: run python tools/draw_pictures.py\n")
        return 1
    for name in stale:
        (DOCS / name).write_text(PICTURES[name](), encoding="utf-8")
    return 0


def _written(name: str) -> str | None:
    path = DOCS / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
