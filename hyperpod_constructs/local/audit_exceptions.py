"""Properties that a template may set although no handler here reads them, each with the reason why that is no lie."""

from __future__ import annotations

from collections.abc import Mapping

EXCEPTIONS: Mapping[tuple[str, str], str] = {}
"""(type, property path) to the reason."""
