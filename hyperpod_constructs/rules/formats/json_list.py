"""Findings as a JSON list of objects with the keys of `Finding.to_dict`."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hyperpod_constructs.rules.finding import Finding


def render(findings: Sequence[Finding]) -> str:
    """The list; empty where nothing was found."""
    return json.dumps([finding.to_dict() for finding in findings], indent=2)
