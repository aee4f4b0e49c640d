"""Puts the programs of a node on the path: they are not a package of this project."""

from __future__ import annotations

import sys

from tests.presets import ROOT

sys.path.insert(0, str(ROOT / "lifecycle"))
