"""Puts the programs of a node on the path: they are not a package of this project."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lifecycle"))
